package resolve

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// TestLabelsBySource shows what kotlinc has made of a function by its place in the source, unless another method would
// be called the same.
func TestLabelsBySource(t *testing.T) {
	methods := []struct{ class, name, descriptor, want string }{
		{"a/Feed$load$1", "invokeSuspend", "()V", "a.Feed.load{coroutine 1}"},
		{"a/Feed$load$2", "invoke", "()V", "a.Feed$load$2.invoke"},
		{"a/Feed$load$2", "emit", "()V", "a.Feed$load$2.emit"},
		{"a/Feed", "load-a1B2c3D", "(I)V", "a.Feed.load-a1B2c3D"},
		{"a/Feed", "load", "(I)V", "a.Feed.load"},
		{"a/Feed", "save-a1B2c3D", "(I)V", "a.Feed.save"},
		{"a/Feed", "save$default", "(J)V", "a.Feed.save{default}(long)"},
		{"a/Feed", "save$default", "(I)V", "a.Feed.save{default}(int)"},
		{"a/Feed$Companion", "make-impl", "(I)V", "a.Feed$Companion.make-impl"},
		{"a/Feed$Companion", "make", "(I)V", "a.Feed$Companion.make"},
	}
	var list []mapping.Method
	for _, m := range methods {
		identity := mapping.Identity{Class: m.class, Name: m.name, Descriptor: m.descriptor}
		list = append(list, mapping.Method{Identity: identity})
	}
	m, err := mapping.Assign(list, mapping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := NewNames(m, nil)
	for e := range m.All() {
		k := slices.IndexFunc(list, func(m mapping.Method) bool { return m.Identity == e.Identity })
		label, method := names.Label(trace.Method(e.ID)), names.Method(trace.Method(e.ID))
		if want := methods[k].want; label != want || method.Title() != want {
			t.Errorf("%s.%s: label %q, title %q, want %q", e.Class, e.Name, label, method.Title(), want)
		}
	}
}
