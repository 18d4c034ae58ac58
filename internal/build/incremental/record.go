package incremental

import (
	"maps"
	"slices"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// stored is the record of one output as the cache keeps it. The bytes of the output have an entry of their own.
type stored struct {
	record *output.Record
	files  []fileRecord
}

// fileRecord is a file of the output: the only one, whose name is empty, or one of a directory. In their order, the
// contents are the output's bytes.
type fileRecord struct {
	name string // with slashes; that of a directory ends in one
	mode uint16 // permissions, of files in a directory
	size int64
	sum  cache.Checksum // of the content
}

func (s *stored) pack() []byte {
	k := wire.NewPacker()
	k.Int(len(s.record.Inputs))
	for i := range s.record.Inputs {
		packInput(k, &s.record.Inputs[i])
	}
	k.Int(len(s.record.Warnings))
	for _, w := range s.record.Warnings {
		k.Int(w.Input)
		k.Text(w.Text)
	}
	k.Int(len(s.files))
	for _, f := range s.files {
		k.Text(f.name)
		k.Int(int(f.mode))
		k.Uvarint(uint64(f.size))
		k.Raw(f.sum[:]...)
	}
	return k.Bytes()
}

func packInput(k *wire.Packer, in *output.InputRecord) {
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
		packFailure(k, class, in.Failures[class])
	}
	k.Int(len(in.Notes.Unknown))
	for _, name := range slices.Sorted(maps.Keys(in.Notes.Unknown)) {
		k.Text(name)
	}
	k.Int(len(in.Notes.Tolerated))
	for _, class := range slices.Sorted(maps.Keys(in.Notes.Tolerated)) {
		k.Int(class)
		k.Text(in.Notes.Tolerated[class])
	}
}

func packFailure(k *wire.Packer, class int, f plan.Failure) {
	k.Int(class)
	rejection := scan.Rejection{}
	if f.Rejection != nil {
		rejection = *f.Rejection
	}
	scan.PackRejection(k, &rejection)
	k.Int(len(f.Refusals))
	for _, r := range f.Refusals {
		k.Int(r.Method)
		scan.PackDecision(k, r.Decision)
	}
}

// readStored reads what pack has written, for inputs with so many classes; nil if it is damaged.
func readStored(data []byte, classes []int) *stored {
	u := wire.NewUnpacker(data)
	s := &stored{record: &output.Record{}}
	if u.Count(1) != len(classes) {
		return nil
	}
	for _, n := range classes {
		s.record.Inputs = append(s.record.Inputs, readInput(u, n))
	}
	for range u.Count(2) {
		s.record.Warnings = append(s.record.Warnings, output.Warning{Input: u.Below(len(classes)), Text: u.Text()})
	}
	for range u.Count(3 + len(cache.Checksum{})) {
		s.files = append(s.files, fileRecord{u.Text(), uint16(u.Below(1 << 16)), int64(u.Uvarint()),
			cache.Checksum(u.Raw(len(cache.Checksum{})))})
	}
	if !u.End() {
		return nil
	}
	return s
}

// readInput reads what packInput has written, of an input with so many classes.
func readInput(u *wire.Unpacker, classes int) output.InputRecord {
	in := output.InputRecord{ClassBytes: int64(u.Uvarint()), OutputBytes: int64(u.Uvarint()), Calls: u.Int()}
	for range u.Count(3) {
		in.Classes = append(in.Classes, output.ClassRecord{Class: u.Below(classes), Calls: u.Int(),
			Grown: int64(u.Signed())})
	}
	for range u.Count(4) {
		if in.Failures == nil {
			in.Failures = make(map[int]plan.Failure)
		}
		class := u.Below(classes)
		in.Failures[class] = readFailure(u)
	}
	for range u.Count(1) {
		if in.Notes.Unknown == nil {
			in.Notes.Unknown = make(map[string]bool)
		}
		in.Notes.Unknown[u.Text()] = true
	}
	for range u.Count(2) {
		if in.Notes.Tolerated == nil {
			in.Notes.Tolerated = make(map[int]string)
		}
		class := u.Below(classes)
		in.Notes.Tolerated[class] = u.Text()
	}
	return in
}

func readFailure(u *wire.Unpacker) plan.Failure {
	f := plan.Failure{Rejection: scan.UnpackRejection(u)}
	for range u.Count(4) {
		f.Refusals = append(f.Refusals, scan.Refusal{Method: u.Int(), Decision: scan.UnpackDecision(u)})
	}
	return f
}
