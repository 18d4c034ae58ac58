package inject_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// realClasses returns the classes in the repository's testdata, which compilers made.
func realClasses(t testing.TB) (classes []*classfile.Class) {
	t.Helper()
	committed := crafted.Committed(t)
	for _, name := range slices.Sorted(maps.Keys(committed)) {
		c := assembly.Parse(t, committed[name])
		if c.Name() != "module-info" {
			classes = append(classes, c)
		}
	}
	return classes
}

// tracedAll returns a request for all methods that can be instrumented, with IDs of all lengths.
func tracedAll(in *inject.Injector, c *classfile.Class) (request inject.Request) {
	for i, m := range acceptable(in, c) {
		id := [...]uint32{3, 100, 30_000, 1_000_000}[i%4]
		request.Methods = append(request.Methods, inject.Traced{Method: m, ID: id})
	}
	return request
}

// TestAppendRewrite checks that AppendRewrite appends what Rewrite returns, whatever memory it appends to.
//
// Invariant: Rewriting and checking one class after another allocates memory for the first ones only, and reused
// memory does not change the result.
func TestAppendRewrite(t *testing.T) {
	in := inject.New(inject.Options{})
	var memory []byte
	for _, c := range realClasses(t) {
		request := tracedAll(in, c)
		want, err := in.Rewrite(c, request)
		if err != nil {
			t.Fatal(err)
		}
		memory, err = in.AppendRewrite(append(memory[:0], "before"...), c, request)
		if err != nil || string(memory) != "before"+string(want) {
			t.Errorf("%s: the class differs (%v)", c.Name(), err)
		}
	}
}

// TestRewritingAllocatesNothing checks that rewriting a class and checking its equivalence allocate nothing once
// their memory is large enough.
//
// Invariant: Rewriting and checking one class after another allocates memory for the first ones only, and reused
// memory does not change the result.
func TestRewritingAllocatesNothing(t *testing.T) {
	in := inject.New(inject.Options{})
	var checker equivalence.Checker
	var memory []byte
	for _, c := range realClasses(t) {
		request := tracedAll(in, c)
		rewritten, err := in.Rewrite(c, request)
		if err != nil {
			t.Fatal(err)
		}
		again := assembly.Parse(t, rewritten)
		want := plan.Expected(inject.Options{}, request)
		allocations := testing.AllocsPerRun(2, func() {
			memory, err = in.AppendRewrite(memory[:0], c, request)
			if findings := checker.Check(c, again, want); err != nil || len(findings) > 0 {
				t.Fatal(err, findings)
			}
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations", c.Name(), allocations)
		}
	}
}

// acceptable returns the methods that Try does not refuse.
func acceptable(in *inject.Injector, c *classfile.Class) (methods []int) {
	for i := range c.Methods() {
		if _, ok, err := c.Code(&c.Methods()[i]); ok && err == nil {
			methods = append(methods, i)
		}
	}
	refused := map[int]bool{}
	for _, r := range in.Try(c, methods, inject.FocusNone) {
		refused[r.Method] = true
	}
	accepted := methods[:0]
	for _, m := range methods {
		if !refused[m] {
			accepted = append(accepted, m)
		}
	}
	return accepted
}

// nearTheLimits returns classes that are close to a limit, on both sides of it, by one byte or one constant.
func nearTheLimits() []*classfile.Class {
	var classes []*classfile.Class
	for _, size := range []int{65500, 65521, 65522, 65523} {
		classes = append(classes, assembly.Class{Name: "Long", Methods: []assembly.Method{
			{Access: static, Name: "f", Descriptor: "()V", Code: "nops " + strconv.Itoa(size) + " | return"},
			{Access: static, Name: "g", Descriptor: "(I)V", Stack: 1, Locals: 1,
				Code: "iload_0 | ifeq end | nops 30000 | iload_0 | ifne far | return | far: nops 2755 | end: return"},
		}}.Parse())
	}
	for constants := 65515; constants < 65528; constants++ {
		classes = append(classes, assembly.Class{Name: "Full", Constants: constants, Methods: []assembly.Method{
			{Access: static, Name: "f", Descriptor: "()V", Stack: 1, Code: "return"},
			{Access: static, Name: "g", Descriptor: "()V", Stack: 2, Code: "return"},
		}}.Parse())
	}
	return classes
}

// TestRewriteTakesWhatTryTakes checks that Rewrite does not fail for a method that Try accepts, whatever the IDs,
// and that the result is equivalent.
//
// Invariant: A method that a trial injection accepts is accepted with every ID.
func TestRewriteTakesWhatTryTakes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ids := []uint32{1, 5, 6, 127, 128, 32767, 32768, 1048573}
	id := func() uint32 {
		if n := random.IntN(2 * len(ids)); n < len(ids) {
			return ids[n]
		}
		return 1 + random.Uint32N(1048573)
	}
	classes := append(realClasses(t), nearTheLimits()...)
	var modes []inject.Options
	for _, exits := range inject.ExitModes() {
		for _, entry := range inject.ConstructorEntries() {
			modes = append(modes, inject.Options{Exits: exits, ConstructorEntry: entry},
				inject.Options{Exits: exits, ConstructorEntry: entry, Posts: true})
		}
	}
	rewritten := 0
	for _, mode := range modes {
		in := inject.New(mode)
		for _, c := range classes {
			accepted := acceptable(in, c)
			for range 2 {
				request := inject.Request{}
				for _, m := range accepted {
					request.Methods = append(request.Methods, inject.Traced{Method: m, ID: id()})
				}
				data, err := in.Rewrite(c, request)
				if err != nil {
					t.Errorf("%s with %d constants: %v", c.Name(), c.ConstantPool().Len(), err)
					break
				}
				out := assembly.Parse(t, data)
				if findings := equivalence.Check(c, out, plan.Expected(mode, request)); len(findings) > 0 {
					t.Errorf("%s: %v", c.Name(), findings[0])
				}
				rewritten += len(accepted)
			}
		}
	}
	if rewritten < 700 {
		t.Errorf("only %d methods were tried", rewritten)
	}
}

// TestPaddingAndReach has a method whose only branch is out of reach if the push takes two bytes, since the padding of
// the switch behind it is longest then, and with no other push. Try must refuse the method.
//
// Invariant: A method that a trial injection accepts is accepted with every ID.
func TestPaddingAndReach(t *testing.T) {
	// 0 iload_0, 1 ifeq far, 4 nops, 6 iload_0, 7 lookupswitch without padding, to end: 1 + 8 bytes. With calls of
	// 4, 5 and 6 bytes in front, the padding is 0, 3 and 2, so that the branch spans 32,765 bytes and that many more.
	method := func(length int) *classfile.Class {
		const far = 1 + 32765
		end := length - 1
		head := "iload_0 | ifeq far | nops 2 | iload_0 | byte 171"
		for i := 24; i >= 0; i -= 8 {
			head += fmt.Sprintf(" | byte %d", (end-7)>>i&0xff)
		}
		code := fmt.Sprintf("%s | nops %d | far: nops %d | return", head, 4+far-16, end-far)
		return assembly.Class{Name: "T", Major: 48, Constants: 300, Methods: []assembly.Method{
			{Access: static, Name: "f", Descriptor: "(I)V", Stack: 1, Locals: 1, Code: code}}}.Parse()
	}
	in := inject.New(inject.Options{})
	c := method(40000)
	if refusals := in.Try(c, []int{0}, inject.FocusNone); len(refusals) == 0 {
		t.Error("Try takes the method")
	}
	for _, id := range []uint32{1, 6, 300, 70000} {
		if _, err := in.Rewrite(c, traced(id, 0)); (id == 6) != (err != nil) {
			t.Errorf("ID %d: %v", id, err)
		}
	}
}
