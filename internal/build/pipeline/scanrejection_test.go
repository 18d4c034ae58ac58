package pipeline

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestScanRejections has classes rejected, as [TestRejection] does: by the trial of a scan, and by Run when it writes.
// The outputs are the same. A rejection that only Instrument finds is an error, and nothing is written.
//
// Invariant: Three steps, with parts in any order and grouping, write the outputs, mapping and lists of one run.
func TestScanRejections(t *testing.T) {
	reject := func(always bool) {
		expected = plan.Expected
		if always {
			expected = expectingThrows
		}
	}
	t.Cleanup(func() { reject(false) })
	throws := func(name string) []byte {
		return assembly.Class{Name: name, Methods: []assembly.Method{
			{Access: classfile.AccStatic, Name: "g", Descriptor: "()V", Stack: 1, Code: "aconst_null | athrow"},
			{Access: classfile.AccStatic, Name: "f", Descriptor: "()V", Code: "return"}}}.Bytes()
	}
	good := assembly.Class{Name: "c/C", Methods: []assembly.Method{{Access: classfile.AccStatic, Name: "f",
		Descriptor: "()V", Code: "return"}}}.Bytes()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	fixture.Write(t, in, zipped(t, "b/B.class", throws("b/B"), "c/C.class", good, "r/R.class", throws("r/R"),
		"META-INF/A.SF", []byte{}))
	c := Config{Inputs: []Input{{Path: in, Output: filepath.Join(dir, "one.jar")}}, RuntimeExternal: true,
		Filter: filter.New(filter.Options{Trivial: filter.None}), Inject: inject.Options{Exits: inject.ExitsNormal}}
	file := func(name string) []byte {
		data := fixture.Read(t, filepath.Join(dir, name))
		return data
	}
	assigned := func() *Result {
		if _, err := Scan(t.Context(), c, Origin{}, filepath.Join(dir, "p.scan")); err != nil {
			t.Fatal(err)
		}
		part, err := LoadPart(filepath.Join(dir, "p.scan"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := Assign(t.Context(), c, []*Part{part}, SlicesIn(dir))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	reject(true)
	one, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	two := assigned()
	if one.Introduced != 2 || two.Introduced != 2 || one.Mapping.Digest() != two.Mapping.Digest() ||
		one.Mapping.Len() != 1 {
		t.Errorf("%d and %d classes put back, %d methods", one.Introduced, two.Introduced, one.Mapping.Len())
	}
	if warnings := strings.Join(two.Warnings, "\n"); strings.Count(warnings,
		"the rewritten class failed a check, and the class is written unchanged; please report this") != 2 {
		t.Errorf("warnings %s", warnings)
	}
	c.Inputs[0].Output = filepath.Join(dir, "two.jar")
	slice, err := LoadSlice(filepath.Join(dir, "p.slice"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Instrument(t.Context(), c, slice); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file("one.jar"), file("two.jar")) {
		t.Error("outputs differ")
	}
	// Of a class that changes, more is looked at than its CRC-32.
	content := slice.tasks.Pack()
	at := bytes.Index(content, binary.BigEndian.AppendUint64(nil, plan.ClassSum(good)))
	content[at+7] ^= 1
	tasks, ok := plan.UnpackSlice(content)
	if !ok {
		t.Fatal("the slice cannot be read")
	}
	if _, err := Instrument(t.Context(), c, &Slice{slice.origin, tasks}); err == nil ||
		!strings.Contains(err.Error(), "in.jar!c/C.class: not what was scanned") {
		t.Errorf("got %v", err)
	}

	reject(false)
	assigned()
	reject(true)
	c.Inputs[0].Output = filepath.Join(dir, "late.jar")
	if slice, err = LoadSlice(filepath.Join(dir, "p.slice")); err != nil {
		t.Fatal(err)
	}
	_, err = Instrument(t.Context(), c, slice)
	if err == nil || !strings.Contains(err.Error(), "in.jar!b/B.class: the rewritten class fails a check") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(c.Inputs[0].Output); err == nil {
		t.Error("an output is there")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("%d files are left: %v", len(entries), err)
	}
}
