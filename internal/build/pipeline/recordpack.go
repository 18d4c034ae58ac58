package pipeline

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// packRecord returns the record of an output as the cache has it. The bytes of the output have an entry of their own.
func packRecord(r *outputRecord) []byte {
	k := wire.NewPacker()
	k.Int(len(r.Inputs))
	for i := range r.Inputs {
		packInput(k, &r.Inputs[i])
	}
	k.Int(len(r.Warnings))
	for _, w := range r.Warnings {
		k.Int(w.Input)
		k.Text(w.Text)
	}
	packFiles(k, r.Files)
	return k.Bytes()
}

// readRecord reads what packRecord has written, for inputs with so many classes; nil if it is damaged.
func readRecord(data []byte, classes []int) *outputRecord {
	u := wire.NewUnpacker(data)
	r := &outputRecord{}
	if u.Count(1) != len(classes) {
		return nil
	}
	for _, n := range classes {
		r.Inputs = append(r.Inputs, readInput(u, n))
	}
	for range u.Count(2) {
		r.Warnings = append(r.Warnings, inputWarning{Input: u.Below(len(classes)), Text: u.Text()})
	}
	if r.Files = readFiles(u); !u.End() {
		return nil
	}
	return r
}

func packFiles(k *wire.Packer, files []output.File) {
	k.Int(len(files))
	for _, f := range files {
		k.Text(f.Name)
		k.Int(int(f.Mode))
		k.Uvarint(uint64(f.Size))
		k.Raw(f.Sum[:]...)
	}
}

func readFiles(u *wire.Unpacker) []output.File {
	var files []output.File
	for range u.Count(3 + len(cache.Checksum{})) {
		files = append(files, output.File{Name: u.Text(), Mode: fs.FileMode(u.Below(1 << 16)), Size: int64(u.Uvarint()),
			Sum: cache.Checksum(u.Raw(len(cache.Checksum{})))})
	}
	return files
}

func packInput(k *wire.Packer, in *inputRecord) {
	k.Uvarint(uint64(in.ClassBytes))
	k.Uvarint(uint64(in.OutputBytes))
	k.Int(in.Calls)
	k.Int(len(in.Classes))
	for _, c := range in.Classes {
		k.Int(c.Class)
		k.Int(c.Calls)
		k.Signed(c.Grown)
	}
	k.Int(len(in.Failures))
	for _, class := range slices.Sorted(maps.Keys(in.Failures)) {
		k.Int(class)
		plan.PackRejection(k, in.Failures[class])
	}
	k.Int(len(in.Unknown))
	for _, name := range slices.Sorted(maps.Keys(in.Unknown)) {
		k.Text(name)
	}
}

// readInput reads what packInput has written, of an input with so many classes.
func readInput(u *wire.Unpacker, classes int) inputRecord {
	in := inputRecord{ClassBytes: int64(u.Uvarint()), OutputBytes: int64(u.Uvarint()), Calls: u.Int()}
	for range u.Count(3) {
		in.Classes = append(in.Classes, classRecord{Class: u.Below(classes), Calls: u.Int(),
			Grown: int64(u.Signed())})
	}
	for range u.Count(4) {
		if in.Failures == nil {
			in.Failures = make(map[int]*plan.Rejection)
		}
		class := u.Below(classes)
		in.Failures[class] = plan.UnpackRejection(u)
	}
	for range u.Count(1) {
		if in.Unknown == nil {
			in.Unknown = make(map[string]bool)
		}
		in.Unknown[u.Text()] = true
	}
	return in
}
