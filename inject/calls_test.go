package inject_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// runtimeCalls returns the number of calls of the runtime in a method.
func runtimeCalls(t *testing.T, c *classfile.Class, m *classfile.Member) (calls int) {
	t.Helper()
	body, ok, err := c.Code(m)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return 0
	}
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			t.Fatal(err)
		}
		if in.Op != code.Invokestatic {
			continue
		}
		if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil && ref.Class == inject.DefaultRuntimeClass {
			calls++
		}
	}
	return calls
}

// TestCalls compares the number of calls of each class with the calls in the output.
//
// Invariant: As many calls of a class are reported as are inserted into it.
func TestCalls(t *testing.T) {
	activity := assembly.Class{Name: "app/Home", Super: "android/app/Activity", Methods: []assembly.Method{
		{Access: classfile.AccPublic, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2, Stack: 1,
			Code: "return"},
		{Access: static, Name: "f", Descriptor: "()V", Code: "return"},
	}}.Parse()
	bare := assembly.Class{Name: "app/Bare", Super: "android/app/Activity", Methods: []assembly.Method{
		{Access: static, Name: "f", Descriptor: "()V", Code: "return"},
	}}.Parse()
	type job struct {
		class *classfile.Class
		focus inject.Focus
	}
	jobs := []job{{activity, inject.FocusHook}, {bare, inject.FocusAdd}, {bare, inject.FocusNone}}
	for _, c := range realClasses(t) {
		jobs = append(jobs, job{c, inject.FocusNone})
	}
	total := 0
	for _, exits := range inject.ExitModes() {
		in := inject.New(inject.Options{Exits: exits})
		for _, j := range jobs {
			request := inject.Request{Focus: j.focus}
			for n, m := range acceptable(in, j.class) {
				if n%5 != 4 && j.class.Methods()[m].Name != "onWindowFocusChanged" || exits == inject.ExitsExact {
					id := []uint32{3, 100, 30_000, 32_768, 1_000_000}[n%5]
					request.Methods = append(request.Methods, inject.Traced{Method: m, ID: id})
				}
			}
			data, err := in.Rewrite(j.class, request)
			if err != nil {
				t.Fatal(err)
			}
			out := assembly.Parse(t, data)
			calls := 0
			for i := range out.Methods() {
				calls += runtimeCalls(t, out, &out.Methods()[i])
			}
			if in.Calls() != calls {
				t.Errorf("%s: got %d calls, want %d", j.class.Name(), in.Calls(), calls)
			}
			total += calls
		}
	}
	if total < 500 {
		t.Errorf("only %d calls in all", total)
	}
}
