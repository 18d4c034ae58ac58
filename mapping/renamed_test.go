package mapping

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping/r8"
)

// TestRenamed checks that a method with an original name has its ID under that name, and that the ID of a method
// without one stays taken.
//
// Invariant: A method that is only renamed keeps its ID, and the ID of a method without a name is retired.
func TestRenamed(t *testing.T) {
	by, err := r8.Parse("test", strings.NewReader(`com.example.Foo -> a.a:
    void one() -> a
    void two(com.example.Foo) -> b
com.example.Gone -> a.b:
`))
	if err != nil {
		t.Fatal(err)
	}
	earlier := mustAssign(t, methods("a/a|x|()V", "a/b|a|()V"), Options{Order: OrderCompact})
	shipped := mustAssign(t, methods("a/a|a|()V", "a/a|b|(La/a;)V", "kept/K|k|()V"),
		Options{Base: earlier, Order: OrderCompact, Focus: []Focus{{"a/a", FocusHook}}})
	base := Renamed(shipped, by)
	for _, row := range []struct{ residual, original Identity }{
		{Identity{"a/a", "a", "()V"}, Identity{"com/example/Foo", "one", "()V"}},
		{Identity{"a/a", "b", "(La/a;)V"}, Identity{"com/example/Foo", "two", "(Lcom/example/Foo;)V"}},
		{Identity{"kept/K", "k", "()V"}, Identity{"kept/K", "k", "()V"}},
	} {
		want, _ := shipped.ByMethod(row.residual)
		if got, ok := base.ByMethod(row.original); !ok || got != want {
			t.Errorf("%v has ID %d, had %d as %v", row.original, got, want, row.residual)
		}
	}
	if base.Len() != 3 || base.Headroom() != shipped.Headroom() || base.Focus()[0].Class != "com/example/Foo" {
		t.Errorf("%d methods, %d IDs left, focus %v", base.Len(), base.Headroom(), base.Focus())
	}
	// The retired a.a.x of an earlier build is not the method that has the name now, and must never match one.
	next := mustAssign(t, methods("a/a|x|()V", "a/b|a|()V", "com/example/Foo|x|()V", "com/example/Gone|a|()V",
		"com/example/Foo|one|()V"), Options{Base: base, Order: OrderCompact})
	old := map[uint32]bool{}
	for e := range earlier.All() {
		old[e.ID] = true
	}
	for e := range next.All() {
		if old[e.ID] {
			t.Errorf("%v has an ID of something else", e)
		}
	}
	again, err := Parse("again", written(t, next))
	if err != nil || written(t, again) != written(t, next) {
		t.Errorf("read again: %v", err)
	}
	for e := range again.Retired() {
		if old[e.ID] && !strings.HasPrefix(e.Class, "residual;a/") {
			t.Errorf("retired as %v", e)
		}
	}
	if twice := Renamed(base, by); twice.Headroom() != base.Headroom() ||
		strings.Contains(written(t, twice), "residual;residual;") {
		t.Error("renamed twice, it is not what it was")
	}
}

// TestRenamedClash checks that only one of several methods gets a name that all of them would get.
func TestRenamedClash(t *testing.T) {
	by, err := r8.Parse("test", strings.NewReader(`A -> a:
    void A.f() -> f
B -> b:
    void A.f() -> g
`))
	if err != nil {
		t.Fatal(err)
	}
	m := mustAssign(t, methods("a|f|()V", "b|g|()V"), Options{})
	base := Renamed(m, by)
	if base.Len() != 1 || base.Headroom() != m.Headroom() {
		t.Errorf("%d methods, %d IDs left of %d", base.Len(), base.Headroom(), m.Headroom())
	}
	if _, err := Parse("again", written(t, base)); err != nil {
		t.Error(err)
	}
}
