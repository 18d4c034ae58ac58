package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestLimitIsNoFault instruments a class that no check can decide about within its limits: 9,000 stores, each seen by
// each of 2,500 handlers.
//
// Invariant: A class for which a check reaches its limit is written unchanged, and does not count as rejected.
func TestLimitIsNoFault(t *testing.T) {
	const stores, handlers = 9000, 2500
	a := crafted.NewClass(48, "a/A", "java/lang/Object")
	m := crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 60000}
	for range stores / 2 {
		m.Code = append(m.Code, byte(code.Iconst0), byte(code.Istore0), byte(code.Fconst0), byte(code.Fstore0))
	}
	end := uint16(len(m.Code))
	m.Code = append(m.Code, byte(code.Return))
	for i := range uint16(handlers) {
		m.Code = append(m.Code, byte(code.Athrow))
		m.Handlers = append(m.Handlers, crafted.Handler{Start: 0, End: end, Handler: end + 1 + i})
	}
	a.Add(m)
	a.Add(crafted.Method{Access: crafted.Static | classfile.AccPublic, Name: "g", Descriptor: "()V",
		Code: crafted.Op(code.Return)})
	dir := t.TempDir()
	in, out := filepath.Join(dir, "A.class"), filepath.Join(dir, "out.class")
	fixture.Write(t, in, a.Bytes())
	c := Config{Inputs: []Input{{Path: in, Output: out}}, RuntimeExternal: true, Verify: VerifyFull,
		Filter: filter.New(filter.Options{Trivial: filter.None}), Inject: inject.Options{Exits: inject.ExitsNormal}}
	result, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(result.Warnings, "\n")
	if result.Unchecked != 1 || result.Introduced != 0 || result.PreExisting != 0 || result.Mapping.Len() != 0 ||
		strings.Contains(warnings, "report this") || !strings.Contains(warnings, "reached its limit") {
		t.Errorf("%d not checked, %d introduced, %d pre-existing, %d methods; warnings:\n%s", result.Unchecked,
			result.Introduced, result.PreExisting, result.Mapping.Len(), warnings)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != string(a.Bytes()) {
		t.Errorf("the class was changed, or is not there: %v", err)
	}
	for s := range result.Skipped {
		if s.Reason != filter.ReasonUnverifiable || !strings.Contains(s.Detail, "limit") {
			t.Errorf("skipped: %+v", s)
		}
	}
	if _, err := Scan(t.Context(), c, Origin{}, filepath.Join(dir, "p.scan")); err != nil {
		t.Fatal(err)
	}
	part, err := LoadPart(filepath.Join(dir, "p.scan"))
	if err != nil {
		t.Fatal(err)
	}
	if result, err = Assign(t.Context(), c, []*Part{part}, SlicesIn(dir)); err != nil || result.Unchecked != 1 {
		t.Errorf("assign: %+v, %v", result, err)
	}
}
