package incremental

import (
	"bytes"
	"testing"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/cache"
)

// FuzzStored reads any bytes as the record of an output.
//
// Invariant: What the cache has about an output is read as it was written; no bytes make its reader panic.
func FuzzStored(f *testing.F) {
	in := output.InputRecord{ClassBytes: 7, OutputBytes: 1 << 40, Calls: 3,
		Classes:  []output.ClassRecord{{Class: 1, Calls: 3, Grown: -5}},
		Failures: map[int]plan.Failure{0: {Rejection: &scan.Rejection{Detail: "d"}}},
		Notes:    typecheck.Notes{Unknown: map[string]bool{"a/B": true}, Tolerated: map[int]string{1: "fault"}}}
	s := stored{&output.Record{Inputs: []output.InputRecord{in}, Warnings: []output.Warning{{Text: "odd"}}},
		[]fileRecord{{name: "a/b", mode: 0o644, size: 1 << 33, sum: cache.Checksum{1}}}}
	f.Add(s.pack(), 2, 0)
	f.Add((&stored{record: &output.Record{}}).pack(), 0, 0)
	f.Fuzz(func(t *testing.T, data []byte, first, second int) {
		classes := []int{first, second}
		if second <= 0 {
			classes = classes[:1]
		}
		s := readStored(data, classes)
		if s == nil {
			return
		}
		packed := s.pack()
		again := readStored(packed, classes)
		if again == nil || !bytes.Equal(again.pack(), packed) {
			t.Errorf("%x is written as %x, which is read differently", data, packed)
		}
	})
}

// FuzzOutputDir reads any bytes as what earlier runs left in a directory of outputs.
//
// Invariant: What the cache has about a directory of outputs is read as it was written; no bytes make its reader panic.
func FuzzOutputDir(f *testing.F) {
	p := outputDir{outputs: map[string]leftOutput{"a.jar": {claimed: true, files: []leftFile{{name: "x",
		sum: cache.Checksum{2}}}}, "b": {directory: true}}}
	f.Add(p.pack())
	f.Add((&outputDir{}).pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		p := readOutputDir(data)
		if p == nil {
			return
		}
		packed := p.pack()
		again := readOutputDir(packed)
		if again == nil || !bytes.Equal(again.pack(), packed) {
			t.Errorf("%x is written as %x, which is read differently", data, packed)
		}
	})
}

// FuzzFacts reads any bytes as the class facts of an input.
//
// Invariant: The class facts in the cache are read as they were written; no bytes make their reader panic.
func FuzzFacts(f *testing.F) {
	one := scan.Pack([]scan.Input{{}}, false)
	f.Add(append([]byte{factsWhole}, scan.Pack(nil, false)...))
	f.Add(append([]byte{factsWhole}, one...))
	f.Add((&memory{}).packChanged(&past{old: &keptFacts{}, from: []int{}}, scan.Input{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if f, changed := readChanged(data, 0, "a.jar"); f != nil {
			f.fill(changed, changed)
			return
		}
		in := readWhole(data, 0, "a.jar")
		if in == nil {
			return
		}
		packed := append([]byte{factsWhole}, scan.Pack([]scan.Input{*in}, false)...)
		again := readWhole(packed, 0, "a.jar")
		if again == nil || !bytes.Equal(append([]byte{factsWhole}, scan.Pack([]scan.Input{*again}, false)...), packed) {
			t.Errorf("%x is written as %x, which is read differently", data, packed)
		}
	})
}

// FuzzHistory reads any bytes as what a run has left about the classes of an input, and about files.
//
// Invariant: What the cache has about classes and files is read as it was written; no bytes make its reader panic.
func FuzzHistory(f *testing.F) {
	h := history{output: cache.KeyOf("o"), inputs: []pastInput{{path: "/a.jar", count: 2, facts: cache.KeyOf("f")}, {}}}
	f.Add(h.pack())
	f.Add(packClasses([]pastClass{{fault: true}, {id: classID{1}, done: done{taskSum{2}, true},
		asked: typecheck.Asked{Unknown: []string{"a/B", "a/C"}, All: typecheck.NameSums("12345678")}}}))
	f.Add((&knownFiles{byPath: map[filePath]knownFile{{"a.jar", archiveSum}: {sum: cache.KeyOf("s"),
		state: fileState{size: 7, oldEnough: true}}}}).pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		if h := readHistory(data); h != nil {
			packed := h.pack()
			if again := readHistory(packed); again == nil || !bytes.Equal(again.pack(), packed) {
				t.Errorf("%x is written as %x, which is read differently", data, packed)
			}
		}
		if classes := readClasses(data); classes != nil {
			packed := packClasses(classes)
			if again := readClasses(packed); again == nil || !bytes.Equal(packClasses(again), packed) {
				t.Errorf("%x is written as %x, which is read differently", data, packed)
			}
		}
		if files := readFiles(data); files != nil {
			packed := (&knownFiles{byPath: files}).pack()
			if again := readFiles(packed); again == nil || !bytes.Equal((&knownFiles{byPath: again}).pack(), packed) {
				t.Errorf("%x is written as %x, which is read differently", data, packed)
			}
		}
	})
}
