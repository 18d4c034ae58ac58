package mapping

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAssignedAnswersAsLoaded compares an assigned mapping that has retired methods with the same mapping after writing
// and loading it.
func TestAssignedAnswersAsLoaded(t *testing.T) {
	list := slices.Concat(synthetic(300), oddNames, methods("a/A|lambda$f$0|()V", "a/A$1|run|()V", "A|f|()V"))
	assigned := mustAssign(t, list[100:], Options{Base: mustAssign(t, list[:200], Options{})})
	loaded, err := Parse("m", written(t, assigned))
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -loaded +assigned\n%s", what, diff)
		}
	}
	same("All", slices.Collect(assigned.All()), slices.Collect(loaded.All()))
	same("Retired", slices.Collect(assigned.Retired()), slices.Collect(loaded.Retired()))
	same("IDUsage", assigned.IDUsage(), loaded.IDUsage())
	same("Headroom", assigned.Headroom(), loaded.Headroom())
	for _, text := range []string{"1-1048574", "**", "com.example.**#method3",
		"com.example.app.feature1.screen1.Presenter1#method3", "/[^.]lambda/", "a.A#lambda$f$0()V"} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		same("Find "+text, slices.Collect(assigned.Find(p)), slices.Collect(loaded.Find(p)))
	}
	for _, m := range append(list, Method{Identity: Identity{"no/Such", "f", "()V"}}) {
		got, gotOK := assigned.ByIdentity(m.Identity)
		want, wantOK := loaded.ByIdentity(m.Identity)
		same("ByIdentity", got, want)
		id, alive := assigned.ByMethod(m.Identity)
		if gotOK != wantOK || alive != (wantOK && !want.Retired) || alive && id != want.ID {
			t.Errorf("%v: %d %v %v, loaded %v", m, id, alive, gotOK, want)
		}
		again, ok := assigned.ByID(want.ID)
		same("ByID", again, want)
		if ok != wantOK {
			t.Errorf("ID %d: %v", want.ID, ok)
		}
	}
	if c := Compare(assigned, loaded); !c.Equal() || c.Kept != loaded.Len() || assigned.Freed(loaded) != 0 ||
		loaded.Freed(assigned) != 0 {
		t.Errorf("they differ: %+v", c)
	}
	for _, base := range []*Mapping{assigned, loaded} {
		next := written(t, mustAssign(t, list[50:150], Options{Base: base}))
		if want := written(t, mustAssign(t, list[50:150], Options{Base: loaded})); next != want {
			t.Errorf("another mapping on the base as it was assigned:\n%s", cmp.Diff(want, next))
		}
	}
}

// TestRepeated assigns methods that are repeated: all get the same ID, and the lowest access flags are stored.
func TestRepeated(t *testing.T) {
	list := methods("b/B|lambda$f$1|()V", "a/A|g|()V", "b/B|lambda$f$1|()V", "b/B|f|()V", "a/A|g|()V",
		"b/B|lambda$f$1|()V")
	bodies := []uint64{7, 1, 5, 0, 2, 0}
	for i := range list {
		list[i].Access = uint16(9 - i)
	}
	m, ids, err := AssignEach(Counts{Methods: len(list)}, func(yield func(Method, Facts) bool) {
		for i := range list {
			if !yield(list[i], Facts{Fingerprint: bodies[i]}) {
				return
			}
		}
	}, Options{Order: OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids, []uint32{3, 1, 3, 2, 1, 3}) {
		t.Errorf("IDs %v", ids)
	}
	text := written(t, m)
	for _, want := range []string{"\n1,5,a.A g ()V\n2,6,b.B f ()V\n3,4,b.B lambda$f$1 ()V\n",
		"# numbered 3 0000000000000005\n", ", 1 numbered\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
