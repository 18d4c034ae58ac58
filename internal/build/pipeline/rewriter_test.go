package pipeline

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

const runtimeClass = "r/Runtime"

func options(change func(*rewriteOptions)) rewriteOptions {
	o := rewriteOptions{Inject: inject.Options{RuntimeClass: runtimeClass, Exits: inject.ExitsNormal},
		Expected: plan.Expected}
	if change != nil {
		change(&o)
	}
	return o
}

func method(name, code string) assembly.Method {
	return assembly.Method{Access: classfile.AccPublic | classfile.AccStatic, Name: name, Descriptor: "()V", Stack: 1,
		Code: code}
}

func both() plan.Task {
	return plan.Task{Request: inject.Request{Methods: []inject.Traced{{Method: 0, ID: 5}, {Method: 1, ID: 6}}}}
}

// TestApply carries out tasks that succeed, that the injector cannot carry out, and whose results a check rejects.
//
// Invariant: A class that cannot be rewritten, or whose rewritten bytes a check rejects, is returned as it was.
func TestApply(t *testing.T) {
	const full = "nops 65533 | return"
	tests := []struct {
		name    string
		code    string // of the second method
		task    plan.Task
		change  func(*rewriteOptions)
		calls   int
		failure string // what the rejection says; "" for none
	}{
		{name: "rewritten", code: "return", task: both(), calls: 4},
		{name: "nothing to insert", code: "return", task: plan.Task{Stripped: true}},
		{name: "too large", code: full, task: both(), failure: "g()V"},
		{name: "not equivalent", code: "aconst_null | athrow", task: both(), failure: "g()V",
			change: func(o *rewriteOptions) {
				o.Expected = func(i inject.Options, r inject.Request) equivalence.Instrumentation {
					i.Exits = inject.ExitsThrows
					return plan.Expected(i, r)
				}
			}},
		{name: "no module", code: "return", task: plan.Task{Requires: true}, failure: "Module",
			change: func(o *rewriteOptions) { o.Requires = "r" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := assembly.Class{Name: "a/A", Methods: []assembly.Method{method("f", "return"), method("g", test.code)}}.Parse()
			before := bytes.Clone(c.Bytes())
			r := newRewriter(options(test.change), nil)
			got := r.Apply(0, c, &test.task)
			if changed := !bytes.Equal(got.Data, before); changed != (test.calls > 0) || got.Calls != test.calls {
				t.Errorf("changed: %v, %d calls, want %d", changed, got.Calls, test.calls)
			}
			if test.failure == "" {
				if got.Failure != nil {
					t.Errorf("failure %+v", got.Failure)
				}
				return
			}
			if got.Failure == nil || !strings.Contains(got.Failure.Detail, test.failure) {
				t.Fatalf("failure %+v, want one that names %s", got.Failure, test.failure)
			}
			if got.Failure.PreExisting != (test.failure == "refused") {
				t.Errorf("pre-existing: %v", got.Failure.PreExisting)
			}
		})
	}
}

// TestReadChanged reads a class that is another one than the one that was scanned.
//
// Invariant: Decisions are applied only to the class that they were made for.
func TestReadChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "A.class")
	data := assembly.Class{Name: "a/A", Methods: []assembly.Method{method("f", "return")}}.Bytes()
	fixture.Write(t, path, data)
	in, err := input.Open(0, path, false)
	if err != nil {
		t.Fatal(err)
	}
	set := input.NewSet([]*input.Input{in})
	defer set.Close()
	reader := classReader{Set: set, Runtime: runtimeClass}
	for name, want := range map[string]bool{"f": true, "g": false} {
		facts := []*plan.Class{{Name: "a/A", Methods: []plan.Method{{Name: name, Descriptor: "()V"}}}}
		c, err := reader.Read(0, plan.ByNames(facts), false)
		if want && (err != nil || c.Name() != "a/A") {
			t.Errorf("the class of the scan: %v", err)
		}
		if !want && (err == nil || !strings.Contains(err.Error(), path+": changed")) {
			t.Errorf("another class: %v", err)
		}
	}
}
