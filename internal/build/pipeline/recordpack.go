package pipeline

import (
	"io/fs"
	"math"
	"slices"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// packRecord returns the record of an output as the cache has it. The bytes of the output have an entry of their own.
func packRecord(r *outputRecord) []byte {
	k := wire.NewPacker()
	r.pack(k, nil)
	return k.Bytes()
}

// readRecord reads what packRecord has written, for inputs with so many classes; nil if it is damaged.
func readRecord(data []byte, classes []int) *outputRecord {
	k, r := wire.NewUnpacker(data), &outputRecord{}
	if r.pack(k, classes); !k.End() {
		return nil
	}
	return r
}

// pack packs or unpacks the record. classes is how many classes the inputs have, if it is unpacked.
func (r *outputRecord) pack(k *wire.Codec, classes []int) {
	wire.List(k, &r.Inputs, 6, func(in *inputRecord) { in.pack(k) })
	if k.Reads() && !r.fits(classes) {
		k.Fail()
		return
	}
	wire.List(k, &r.Warnings, 2, func(w *inputWarning) {
		wire.Number(k, &w.Input, uint64(len(r.Inputs)-1))
		k.Text(&w.Text)
	})
	wire.List(k, &r.Files, 3+len(cache.Checksum{}), func(f *output.File) {
		k.Text(&f.Name)
		wire.Number(k, &f.Mode, uint64(fs.ModePerm))
		wire.Number(k, &f.Size, math.MaxInt64)
		k.Fixed(f.Sum[:])
	})
}

// fits reports whether a record can be that of inputs with so many classes.
func (r *outputRecord) fits(classes []int) bool {
	if len(r.Inputs) != len(classes) {
		return false
	}
	for i, n := range classes {
		in := &r.Inputs[i]
		if slices.ContainsFunc(in.Classes, func(c classRecord) bool { return c.Class >= n }) ||
			slices.ContainsFunc(in.Failures, func(f failure) bool { return f.Class >= n }) {
			return false
		}
	}
	return true
}

func (in *inputRecord) pack(k *wire.Codec) {
	wire.Number(k, &in.ClassBytes, math.MaxInt64)
	wire.Number(k, &in.OutputBytes, math.MaxInt64)
	wire.Number(k, &in.Calls, math.MaxInt32)
	wire.List(k, &in.Classes, 3, func(c *classRecord) {
		wire.Number(k, &c.Class, math.MaxInt32)
		wire.Number(k, &c.Calls, math.MaxInt32)
		wire.Number(k, &c.Grown, math.MaxUint64)
	})
	wire.List(k, &in.Failures, 3, func(f *failure) {
		wire.Number(k, &f.Class, math.MaxInt32)
		f.Pack(k)
	})
	k.Texts(&in.Unknown)
}
