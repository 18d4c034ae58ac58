package inject_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

func TestCheckRuntime(t *testing.T) {
	method := func(name, descriptor string, access uint16) assembly.Method {
		return assembly.Method{Access: access, Name: name, Descriptor: descriptor, Locals: 2, Code: "return"}
	}
	const atDescriptor = "(Landroid/app/Activity;Z)V"
	const postedDescriptor = "(Ljava/lang/Object;Ljava/lang/Object;I)V"
	const postedWhatDescriptor = "(Ljava/lang/Object;II)V"
	posted, postedWhat := method("posted", postedDescriptor, static), method("posted", postedWhatDescriptor, static)
	i, o, at := method("i", "(I)V", static), method("o", "(I)V", static), method("at", atDescriptor, static)
	for _, row := range []struct {
		name    string
		access  uint16
		methods []assembly.Method
		focus   bool
		posts   bool
		want    string
	}{
		{"all", 0, []assembly.Method{i, o, at}, true, false, ""},
		{"at is not needed", 0, []assembly.Method{i, o}, false, false, ""},
		{"at is needed", 0, []assembly.Method{i, o}, true, false, "runtime class R has no method at" + atDescriptor},
		{"posted", 0, []assembly.Method{i, o, posted, postedWhat}, false, true, ""},
		{"posted is needed", 0, []assembly.Method{i, o, postedWhat}, false, true, "runtime class R has no method posted" +
			postedDescriptor + ", which the probes of trace-posts call; use a runtime that has it"},
		{"posted with an int is needed", 0, []assembly.Method{i, o, posted}, false, true,
			"runtime class R has no method posted" + postedWhatDescriptor},
		{"posted is not needed", 0, []assembly.Method{i, o, method("posted", postedDescriptor, 0)}, false, false, ""},
		{"no i", 0, []assembly.Method{o}, false, false, "runtime class R has no method i(I)V"},
		{"no o", 0, []assembly.Method{i}, false, false, "runtime class R has no method o(I)V"},
		{"i of another descriptor", 0, []assembly.Method{method("i", "(J)V", static), o}, false, false,
			"runtime class R has no method i(I)V"},
		{"i not static", 0, []assembly.Method{method("i", "(I)V", classfile.AccPublic), o}, false, false,
			"method i(I)V of runtime class R is not public and static"},
		{"o not public", 0, []assembly.Method{i, method("o", "(I)V", classfile.AccStatic)}, false, false,
			"method o(I)V of runtime class R is not public and static"},
		{"at private", 0, []assembly.Method{i, o, method("at", atDescriptor, classfile.AccPrivate|classfile.AccStatic)},
			true, false, "method at" + atDescriptor + " of runtime class R is not"},
		{"class not public", classfile.AccFinal, []assembly.Method{i, o}, false, false, "runtime class R is not public"},
		{"an interface", classfile.AccPublic | classfile.AccInterface | classfile.AccAbstract, []assembly.Method{i, o},
			false, false, "runtime class R is an interface"},
	} {
		c := assembly.Class{Name: "R", Access: row.access, Methods: row.methods}.Parse()
		err := inject.CheckRuntime(c, row.focus, inject.Options{Posts: row.posts})
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}

// calling returns a method with that name and the descriptor ()V that calls each of the methods named.
func calling(name string, methods ...string) assembly.Method {
	var b strings.Builder
	for _, m := range methods {
		if strings.Contains(m, ":") {
			fmt.Fprintf(&b, "getstatic %s | pop | ", m)
		} else {
			fmt.Fprintf(&b, "invokestatic %s | ", m)
		}
	}
	return assembly.Method{Access: static, Name: name, Descriptor: "()V", Stack: 1, Code: b.String() + "return"}
}

func TestReached(t *testing.T) {
	runtime := func(methods ...string) assembly.Class {
		i := calling("i", methods...)
		i.Descriptor = "(I)V"
		return assembly.Class{Name: "r/Beat", Methods: []assembly.Method{i}}
	}
	class := func(name, super string, methods ...assembly.Method) assembly.Class {
		return assembly.Class{Name: name, Super: super, Methods: methods}
	}
	type paths = map[string]string
	for _, row := range []struct {
		name    string
		classes []assembly.Class
		want    paths
	}{
		{"nothing", []assembly.Class{runtime()}, paths{}},
		{"not among the inputs", nil, paths{}},
		{"a call, and one behind it", []assembly.Class{runtime("a/A.f()V"), class("a/A", "", calling("f", "a/B.g()V")),
			class("a/B", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> A.f -> B.g"}},
		{"another method of a class reached is not followed", []assembly.Class{runtime("a/A.f()V"),
			class("a/A", "", calling("f"), calling("g", "a/B.g()V")), class("a/B", "",
				calling("g"))}, paths{"a/A": "Beat.i -> A.f"}},
		{"the shortest path", []assembly.Class{runtime("a/A.f()V", "a/B.g()V"),
			class("a/A", "", calling("f", "a/B.g()V")), class("a/B", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> B.g"}},
		{"methods that call each other", []assembly.Class{runtime("a/A.f()V"),
			class("a/A", "", calling("f", "a/B.g()V")), class("a/B", "", calling("g", "a/A.f()V", "r/Beat.i(I)V"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> A.f -> B.g"}},
		{"found in a superclass", []assembly.Class{runtime("a/A.f()V"), class("a/A", "a/B"),
			class("a/B", "", calling("f", "a/C.h()V")), class("a/C", "", calling("h"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> A.f", "a/C": "Beat.i -> A.f -> C.h"}},
		{"the initialiser of a class called", []assembly.Class{runtime("a/A.f()V"),
			class("a/A", "", calling("f"), calling("<clinit>", "a/B.g()V")), class("a/B", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> A.f -> A.<clinit> -> B.g"}},
		{"the initialiser of a superclass", []assembly.Class{runtime("a/A.f()V"), class("a/A", "a/S", calling("f")),
			class("a/S", "", calling("<clinit>", "a/B.g()V")), class("a/B", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.f", "a/S": "Beat.i -> A.f -> A.<clinit> -> S.<clinit>",
				"a/B": "Beat.i -> A.f -> A.<clinit> -> S.<clinit> -> B.g"}},
		{"a superclass of which nothing runs", []assembly.Class{runtime("a/A.f()V"), class("a/A", "a/S", calling("f")),
			class("a/S", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.f"}},
		{"a static field's class is initialised", []assembly.Class{runtime("a/A.x:I"),
			class("a/A", "", calling("<clinit>", "a/B.g()V")), class("a/B", "", calling("g"))},
			paths{"a/A": "Beat.i -> A.<clinit>", "a/B": "Beat.i -> A.<clinit> -> B.g"}},
		{"the runtime's own initialiser", []assembly.Class{{Name: "r/Beat",
			Methods: []assembly.Method{calling("<clinit>", "a/A.f()V"),
				{Access: static, Name: "o", Descriptor: "(I)V", Locals: 1, Code: "return"}}},
			class("a/A", "", calling("f"))}, paths{"a/A": "Beat.i -> Beat.<clinit> -> A.f"}},
		{"classes that extend each other", []assembly.Class{runtime("a/A.none()V"), class("a/A", "a/B"),
			class("a/B", "a/A")},
			paths{"a/A": "Beat.i -> A.none", "a/B": "Beat.i -> A.none"}},
		{"every copy of a class", []assembly.Class{runtime("a/A.f()V"), class("a/A", "", calling("f", "a/B.g()V")),
			class("a/A", "", calling("f", "a/C.h()V")),
			class("a/B", "", calling("g")), class("a/C", "", calling("h"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> A.f -> B.g", "a/C": "Beat.i -> A.f -> C.h"}},
		{"of paths as short the first, whichever copy it goes through",
			[]assembly.Class{runtime("a/B.g()V", "a/A.f()V"),
				class("a/A", "", calling("f", "a/X.h()V")), class("a/B", "", calling("g", "a/X.h()V")), class("a/X", "",
					calling("h"))},
			paths{"a/A": "Beat.i -> A.f", "a/B": "Beat.i -> B.g", "a/X": "Beat.i -> A.f -> X.h"}},
		{"malformed code ends the path", []assembly.Class{runtime("a/A.f()V"),
			class("a/A", "", assembly.Method{Access: static, Name: "f", Descriptor: "()V", Code: "byte 254"})},
			paths{"a/A": "Beat.i -> A.f"}},
	} {
		// Neither the order of classes nor that of copies may matter.
		for range 2 {
			slices.Reverse(row.classes)
			find := func(name string) (found []inject.Calls, err error) {
				for _, c := range row.classes {
					if c.Name == name {
						found = append(found, inject.CallsOf(c.Parse()))
					}
				}
				return found, nil
			}
			got, err := inject.Reached(inject.Options{RuntimeClass: "r/Beat"}, find)
			if err != nil || !maps.Equal(got, row.want) {
				t.Errorf("%s: got %v, %v\nwant %v", row.name, got, err, row.want)
			}
		}
	}
	broken := errors.New("disk on fire")
	fails := func(string) ([]inject.Calls, error) { return nil, broken }
	if _, err := inject.Reached(inject.Options{RuntimeClass: "r/Beat"}, fails); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of find", err)
	}
}

// TestReachedThroughEverything checks that each entry point of the runtime is followed.
func TestReachedThroughEverything(t *testing.T) {
	at := calling("at", "a/C.f()V")
	at.Descriptor = "(Landroid/app/Activity;Z)V"
	i, o := calling("i", "a/A.f()V"), calling("o", "a/B.f()V")
	i.Descriptor, o.Descriptor = "(I)V", "(I)V"
	resumes := calling("resumes", "a/D.f()V")
	resumes.Descriptor = "(Ljava/lang/Object;I)V"
	runtime := assembly.Class{Name: "Beat", Methods: []assembly.Method{i, o, at, resumes}}
	options := inject.Options{RuntimeClass: "Beat", Coroutines: true}
	got, err := inject.Reached(options, func(name string) ([]inject.Calls, error) {
		switch {
		case name == "Beat":
			return []inject.Calls{inject.CallsOf(runtime.Parse())}, nil
		case strings.HasPrefix(name, "a/"):
			return []inject.Calls{inject.CallsOf(assembly.Class{Name: name,
				Methods: []assembly.Method{calling("f")}}.Parse())}, nil
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"a/A", "a/B", "a/C", "a/D"}) {
		t.Errorf("reached %v", got)
	}
}
