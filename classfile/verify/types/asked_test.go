package types_test

import (
	"maps"
	"slices"
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
	shared := &types.Checker{Hierarchy: h, Asked: true} // it keeps answers from one class to the next
	answers := 0
	for _, c := range classes {
		all := noting{h, map[string]bool{}}
		alone := &types.Checker{Hierarchy: all, Asked: true}
		want := alone.Check(c)
		names := slices.Compact(slices.Sorted(slices.Values(want.Asked)))
		if diff := cmp.Diff(slices.Sorted(maps.Keys(all.asked)), names); diff != "" {
			t.Errorf("%s: the hierarchy was asked for others (-asked +noted):\n%s", c.Name(), diff)
		}
		answers += len(names)
		few := world{}
		for _, name := range names {
			if info := h[name]; info != nil {
				few[name] = info
			}
		}
		for what, checker := range map[string]*types.Checker{"with these only": {Hierarchy: few, Asked: true},
			"after other classes": shared} {
			got := checker.Check(c)
			slices.Sort(got.Asked)
			if diff := cmp.Diff(want.Findings, got.Findings); diff != "" {
				t.Errorf("%s, %s: other findings:\n%s", c.Name(), what, diff)
			}
			if diff := cmp.Diff(names, slices.Compact(got.Asked)); diff != "" {
				t.Errorf("%s, %s: other classes are noted:\n%s", c.Name(), what, diff)
			}
		}
	}
	if base := classes[len(classes)-4]; answers <= len(classes) || len(shared.Check(base).Findings) == 0 {
		t.Errorf("%d classes ask for %d others, %s for %v", len(classes), answers, base.Name(), shared.Check(base))
	}
	if got := (&types.Checker{Hierarchy: h}).Check(classes[0]).Asked; got != nil {
		t.Errorf("%v are noted, which is not wanted", got)
	}
}
