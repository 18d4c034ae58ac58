package types_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// noting is a hierarchy that notes what it is asked for.
type noting struct {
	world
	asked map[string]bool
}

func (n noting) Lookup(name string) *types.ClassInfo {
	n.asked[name] = true
	return n.world[name]
}

// TestAsked checks classes with all others, and once more with only those that the first check has asked for.
//
// Invariant: What the type checker says of a class depends on no other classes than those that it names.
func TestAsked(t *testing.T) {
	h := world{}
	var classes []*classfile.Class
	add := func(c *classfile.Class) {
		h[c.Name()] = types.NewClassInfo(c)
		classes = append(classes, c)
	}
	for _, data := range crafted.Committed(t) {
		if c, err := classfile.Parse(data); err == nil {
			add(c)
		}
	}
	// Whether Sub overrides the final method depends on the class between them.
	final := assembly.Method{Access: classfile.AccPublic | classfile.AccFinal, Name: "f", Descriptor: "()V", Locals: 1,
		Code: "return"}
	open := final
	open.Access = classfile.AccPublic
	user := assembly.Method{Access: classfile.AccPublic, Name: "g", Descriptor: "(La/Other;)La/Sub;", Stack: 1, Locals: 2,
		Code: "aload_1 | areturn"}
	for _, c := range []assembly.Class{{Name: "a/Base", Methods: []assembly.Method{final, user}},
		{Name: "a/Between", Super: "a/Base"}, {Name: "a/Sub", Super: "a/Between", Methods: []assembly.Method{open}},
		{Name: "a/Other"}} {
		add(c.Parse())
	}
	shared := &types.Checker{Hierarchy: h} // it keeps answers from one class to the next
	answers := 0
	for _, c := range classes {
		all := noting{h, map[string]bool{}}
		want := types.Check(c, all)
		few := world{}
		for name := range all.asked {
			if info := h[name]; info != nil {
				few[name] = info
			}
		}
		answers += len(all.asked)
		if diff := cmp.Diff(want, types.Check(c, few)); diff != "" {
			t.Errorf("%s, with these only: other findings:\n%s", c.Name(), diff)
		}
		if diff := cmp.Diff(want, shared.Check(c).Findings); diff != "" {
			t.Errorf("%s, after other classes: other findings:\n%s", c.Name(), diff)
		}
	}
	if base := classes[len(classes)-4]; answers <= len(classes) || len(shared.Check(base).Findings) == 0 {
		t.Errorf("%d classes ask for %d others, %s for %v", len(classes), answers, base.Name(), shared.Check(base))
	}
}
