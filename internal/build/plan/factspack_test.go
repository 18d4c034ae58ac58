package plan

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
)

// fullClass returns facts in which no field has its zero value.
func fullClass(t *testing.T, in *input.Container) *Class {
	t.Helper()
	graph := NewGraph()
	calls := &Calls{graph, []methodCalls{
		{name: "h", descriptor: "()V", targets: []uint32{graph.number(inject.MethodRef{Class: "b/B", Name: "g",
			Descriptor: "()V"})}},
		{name: "f", descriptor: "(I)V", targets: []uint32{0, graph.number(inject.MethodRef{Class: "c/C", Name: "k",
			Descriptor: "()V"})}},
	}}
	blocked := &filter.Decision{Reason: filter.ReasonBlocked, Detail: "rule", Pending: "p"}
	c := &Class{
		At: input.NewClass(in, "META-INF/versions/9/a/A.class", 77), Name: "a/A",
		Unread:   &filter.Decision{Reason: filter.ReasonMalformed, Detail: in.Name + "!detail"},
		Methods:  []Method{{Name: "f", Descriptor: "(I)V", Decision: blocked, Index: 1, Access: 9, Line: 300}},
		Ancestry: inject.Ancestry{SuperName: "s/S", DeclaresFocus: true, BarsFocus: true}, Interfaces: []string{"i/I"},
		Access: 33, Native: true, Outlines: &Outlines{graph, []outlined{{0, 7, 3}},
			[]outlinedCall{outlinedCall(calls.methods[0].targets[0])*filter.CallKinds + outlinedCall(filter.CallStatic),
				1 * filter.CallKinds,
				outlinedCall(calls.methods[1].targets[1])*filter.CallKinds + outlinedCall(filter.CallVirtual)}},
		SourceFile: "A.java", Bodies: []Body{{0, 1 << 60}}, Warning: ": warning", FocusRefusal: "too large",
		Runtime: &RuntimeFaults{"with", "plain", "coroutines"}, Stripped: true, Foreign: true, Untouched: true, Stamped: true,
		Continued: &inject.MethodRef{Class: "a/F", Name: "load", Descriptor: "()V"},
		Library:   true, Uses: []inject.MethodRef{{Class: "l/L", Name: "g", Descriptor: "()V"}},
		Sum: 1<<63 + 5, Calls: calls, Rejection: &Rejection{Detail: "found",
			PreExisting: true, Unchecked: true}, FocusRejection: &Rejection{Detail: "found too"},
	}
	v := reflect.ValueOf(*c)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("%s is not set: is it packed?", v.Type().Field(i).Name)
		}
	}
	return c
}

// TestFactsArePacked packs facts of every kind in both forms, and reads them for an input of another path.
//
// Invariant: Facts about classes that are written to a scan file or the cache are read as they were.
func TestFactsArePacked(t *testing.T) {
	for _, complete := range []bool{false, true} {
		top := &input.Container{Name: "in.aar", Kind: input.Archive, Duplicates: []string{"x", "x"},
			Apart: []string{"y.jar"}}
		nested := &input.Container{Name: "in.aar!libs/x.jar", Outer: "libs/x.jar!"}
		was := []InputFacts{{Name: "in.aar", Containers: []*input.Container{top, nested},
			Classes: []*Class{fullClass(t, top), fullClass(t, nested)}}}
		read, ok := UnpackFacts(PackFacts(was, complete), complete, func(i int, name string) (int, string) {
			return 3,
				"moved/" + name
		})
		if !ok || len(read) != 1 || len(read[0].Classes) != 2 || len(read[0].Containers) != 2 {
			t.Fatalf("complete %v: read %+v", complete, read)
		}
		outer := read[0].Containers[1]
		if outer.Name != "moved/in.aar!libs/x.jar" || outer.Outer != nested.Outer || outer.Input != 3 {
			t.Errorf("container %+v", outer)
		}
		if got := len(read[0].Containers[0].Duplicates); complete != (got == 0) {
			t.Errorf("complete %v: %d duplicates", complete, got)
		}
		for i, got := range read[0].Classes {
			want := *was[0].Classes[i]
			if got.At.Container != read[0].Containers[i] || got.At.Name != want.At.Name ||
				got.At.Size != want.At.Size || got.At.Release != 9 {
				t.Errorf("place %+v", got.At)
			}
			want.At = got.At
			if got, want := outlineTexts(got), outlineTexts(&want); !reflect.DeepEqual(got, want) {
				t.Errorf("complete %v: outlines %v, want %v", complete, got, want)
			}
			want.Outlines = got.Outlines
			if complete {
				if !reflect.DeepEqual(got.CallsOf(), want.CallsOf()) {
					t.Errorf("calls %+v, want %+v", got.CallsOf(), want.CallsOf())
				}
				want.Calls = got.Calls
			} else {
				want.Unread = &filter.Decision{Reason: want.Unread.Reason, Detail: got.At.Container.Name + "!detail"}
				want.Sum, want.Calls = 0, nil
			}
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("complete %v: read %+v, want %+v", complete, *got, want)
			}
		}
	}
}

// outlineTexts returns the outlines of a class as text, for comparing those of two graphs.
func outlineTexts(c *Class) (texts []string) {
	for _, m := range c.Outlines.methods {
		size, calls, _ := c.Outlines.of(int(m.method))
		text := fmt.Sprintf("%s: %d", c.Methods[m.method].Name, size)
		for _, call := range calls {
			if call.kind() == filter.CallOwn {
				text += fmt.Sprintf(", own %d", call.target())
				continue
			}
			text += fmt.Sprintf(", %d %v", call.kind(), c.Outlines.graph.methods[call.target()])
		}
		texts = append(texts, text)
	}
	return texts
}
