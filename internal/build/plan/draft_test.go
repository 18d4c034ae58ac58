package plan

import (
	"reflect"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/input"
)

// TestDraftsAreImmutable makes drafts without classes that failed: the draft before, and the facts, stay as they were.
//
// Invariant: Each round of assigning IDs starts from the same facts, and from decisions that no round changes.
func TestDraftsAreImmutable(t *testing.T) {
	in := &input.Container{Name: "in.jar"}
	class := func(name string) *Class {
		return &Class{At: input.NewClass(in, name+".class", 1), Name: name, Methods: []Method{
			{Name: "f", Descriptor: "()V"}, {Name: "g", Descriptor: "()V", Index: 1}, {Name: "h", Descriptor: "()V",
				Index: 2}}}
	}
	facts, was := []*Class{class("a/A"), class("b/B"), class("c/C")}, []*Class{class("a/A"), class("b/B"),
		class("c/C")}
	draft, err := New(facts, nil, Options{Inputs: []string{"in.jar"}, RuntimeExternal: true,
		Filter: filter.New(filter.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	tasks := func(d *Draft) (list []Task) {
		p, err := d.Assign()
		if err != nil {
			t.Fatal(err)
		}
		for n := range facts {
			list = append(list, p.Task(n, nil))
		}
		return list
	}
	first := tasks(draft)
	second := draft.Without(map[int]*Rejection{1: {Detail: "bad"}})
	afterSecond := tasks(second)
	third := second.Without(map[int]*Rejection{2: {Detail: "bad before", PreExisting: true}})
	if third.Introduced != 1 || third.PreExisting != 1 || third.Changes(1) || third.Changes(2) || !third.Changes(0) {
		t.Errorf("third draft: %+v", third)
	}
	for i, want := range []int{3, 3, 0, 3, 0, 0} {
		list := [][]Task{first[:2], afterSecond[1:], tasks(third)[1:]}
		if got := len(list[i/2][i%2].Request.Methods); got != want {
			t.Errorf("round %d, task %d: %d methods, want %d", i/2+1, i%2, got, want)
		}
	}
	if !reflect.DeepEqual(tasks(draft), first) || !reflect.DeepEqual(tasks(second), afterSecond) {
		t.Error("a later draft has changed an earlier one")
	}
	for n := range facts {
		was[n].At = facts[n].At
	}
	if !reflect.DeepEqual(facts, was) {
		t.Error("a draft has changed the facts")
	}
}
