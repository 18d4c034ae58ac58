package inject_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// runtimeCalls returns the number of calls of the runtime in a method, and the length of its Code attribute.
func runtimeCalls(t *testing.T, c *classfile.Class, m *classfile.Member) (calls, length int) {
	t.Helper()
	body, ok, err := c.Code(m)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return 0, 0
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
	a, _ := classfile.FindAttribute(m.Attributes, "Code")
	return calls, len(a.Info)
}

// TestCost compares the Cost of each method and class with the calls and bytes in the output.
//
// Invariant: The calls and bytes that are reported as the cost of a method or class are those that are added to it.
func TestCost(t *testing.T) {
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
			ids := map[int]uint32{}
			for n, m := range acceptable(in, j.class) {
				if n%5 != 4 && j.class.Methods()[m].Name != "onWindowFocusChanged" || exits == inject.ExitsExact {
					ids[m] = []uint32{3, 100, 30_000, 32_768, 1_000_000}[n%5]
					request.Methods = append(request.Methods, inject.Traced{Method: m, ID: ids[m]})
				}
			}
			data, err := in.Rewrite(j.class, request)
			if err != nil {
				t.Fatal(err)
			}
			cost := in.Cost()
			out, err := classfile.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			byMethod := map[int]inject.MethodCost{}
			for _, m := range cost.Methods {
				byMethod[m.Method] = m
			}
			calls := 0
			for i := range out.Methods() {
				n, length := runtimeCalls(t, out, &out.Methods()[i])
				calls += n
				if i >= len(j.class.Methods()) {
					continue // the added method
				}
				_, before := runtimeCalls(t, j.class, &j.class.Methods()[i])
				want := inject.MethodCost{Method: i, Calls: n, Bytes: length - before}
				if n == 0 {
					want = inject.MethodCost{}
				} else if ids[i] > 32_767 {
					want.Bytes += 5
				}
				if byMethod[i] != want {
					t.Errorf("%s: method %d: got %+v, want %+v", j.class.Name(), i, byMethod[i], want)
				}
			}
			if cost.Calls != calls || cost.Bytes != len(data)-len(j.class.Bytes()) {
				t.Errorf("%s: got %d calls, %d bytes, want %d, %d",
					j.class.Name(), cost.Calls, cost.Bytes, calls, len(data)-len(j.class.Bytes()))
			}
			total += calls
		}
	}
	if total < 500 {
		t.Errorf("only %d calls in all", total)
	}
}
