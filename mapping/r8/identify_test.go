package r8

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIdentify checks that every method gets a name of its own, in whatever order the methods are.
//
// Invariant: Every method of a renamed class gets one original name, which no other method gets.
func TestIdentify(t *testing.T) {
	m, err := Parse("test", `com.example.Foo -> a.b:
    1:1:void one(int):10:10 -> a
    2:2:void two(int):20:20 -> b
    3:3:void com.example.Util.gone(int):30:30 -> b
    void three(java.lang.String,com.example.Foo) -> c
    void kept() -> kept
    void d(long) -> e
com.example.Util -> a.c:
`)
	if err != nil {
		t.Fatal(err)
	}
	methods := []Method{
		{"a/b", "a", "(I)V"},         // exact
		{"a/b", "b", "(I)V"},         // two originals
		{"a/b", "c", "(La/b;)V"},     // the parameters changed: by name
		{"a/b", "c", "()V"},          // by name, too: but the method before has that name
		{"a/b", "kept", "()V"},       // exact
		{"a/b", "f", "(La/c;)La/b;"}, // not listed
		{"a/b", "e", "(J)V"},         // exact: d(long)
		{"a/b", "d", "(J)V"},         // not listed, and its own name is taken
		{"a/b", "<init>", "()V"},     // not listed
		{"a/b", "kept", "(I)V"},      // by name, which is taken
	}
	want := []Method{
		{"com/example/Foo", "one", "(I)V"},
		{"com/example/Foo", "two", "(I)V"},
		{"com/example/Foo", "c", "(Lcom/example/Foo;)V"},
		{"com/example/Foo", "three", "(Ljava/lang/String;Lcom/example/Foo;)V"},
		{"com/example/Foo", "kept", "()V"},
		{"com/example/Foo", "f", "(Lcom/example/Util;)Lcom/example/Foo;"},
		{"com/example/Foo", "d", "(J)V"},
		{"a/b", "d", "(J)V"},
		{"com/example/Foo", "<init>", "()V"},
		{"com/example/Foo", "kept", "(I)V"},
	}
	for seed := range uint64(20) {
		order := rand.New(rand.NewPCG(seed, 1)).Perm(len(methods))
		var shuffled []Method
		for _, i := range order {
			shuffled = append(shuffled, methods[i])
		}
		for k, got := range m.Identify(shuffled) {
			if got != want[order[k]] {
				t.Errorf("%v is %v, want %v", shuffled[k], got, want[order[k]])
			}
		}
	}
	if got := (&Mapping{}).Identify(methods); !slices.Equal(got, methods) {
		t.Errorf("by an empty mapping: %v", got)
	}
}
