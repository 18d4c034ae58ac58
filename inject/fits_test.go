package inject_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// bodies returns the methods with code, by index, and their codes.
func bodies(c *classfile.Class) (methods []int, all []classfile.Code) {
	for i := range c.Methods() {
		if body, ok, err := c.Code(&c.Methods()[i]); ok && err == nil {
			methods, all = append(methods, i), append(all, body)
		}
	}
	return methods, all
}

// refusedOnes returns classes with two methods, of which the second is refused with every ID and the first with
// none.
func refusedOnes() (classes []*classfile.Class) {
	good := assembly.Method{Access: static, Name: "good", Descriptor: "()V", Code: "return"}
	for _, m := range []assembly.Method{
		{Access: static, Name: "f", Descriptor: "()V", Code: "pop | return"},
		{Access: static, Name: "f", Descriptor: "()V", Code: "byte 254"},
		{Access: static, Name: "f", Descriptor: "()V", Code: "return", Attributes: []assembly.Attribute{{Name: "a.B"}}},
		{Access: static, Name: "f", Descriptor: "()V", Code: "return",
			Attributes: []assembly.Attribute{{Name: "LineNumberTable", Info: []byte{0, 1, 0, 9, 0, 0}}}},
		{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", Locals: 1, Code: "start: goto start"},
		inPadding(),
	} {
		classes = append(classes, assembly.Class{Name: "T", Methods: []assembly.Method{good, m}}.Parse())
	}
	return classes
}

// inPadding has a frame at a switch and one in its padding. A call of 6 bytes in front of them removes the padding
// and would change the order of the frames; a call of 4 bytes would not.
func inPadding() assembly.Method {
	return assembly.Method{Access: static, Name: "f", Descriptor: "(I)V", Stack: 1, Locals: 1,
		Code:       "iload_0 | byte 171 | nops 5 | byte 11 | nops 4 | return",
		Attributes: []assembly.Attribute{{Name: "StackMapTable", Info: []byte{0, 2, 1, 0}}}}
}

// TestFitsWithoutTrial checks that if FitsWithoutTrial returns true for a class, Try and Rewrite refuse the same
// methods, whatever the IDs.
//
// Invariant: For a class that needs no trial, rewriting refuses the methods that a trial would have refused.
func TestFitsWithoutTrial(t *testing.T) {
	fitting, refused := 0, 0
	classes := append(append(realClasses(t), nearTheLimits()...), refusedOnes()...)
	for _, options := range []inject.Options{{Exits: inject.ExitsNormal},
		{Exits: inject.ExitsThrows, ConstructorEntry: inject.EntryAfterSuper},
		{Exits: inject.ExitsExact}, {KeepCompilable: true}, {Posts: true}} {
		in := inject.New(options)
		for _, c := range classes {
			methods, code := bodies(c)
			if !in.FitsWithoutTrial(c, code) {
				continue
			}
			fitting++
			fails := map[int]bool{}
			for _, r := range in.Try(c, methods, inject.FocusNone) {
				fails[r.Method] = true
				refused++
			}
			for _, id := range []uint32{1, 6, 300, 70000} {
				for _, m := range methods {
					if _, err := in.Rewrite(c, traced(id, m)); (err != nil) != fails[m] {
						t.Errorf("%s: method %d with ID %d: %v; Try refuses it: %v",
							c.Name(), m, id, err, fails[m])
					}
				}
			}
		}
	}
	for i, c := range refusedOnes() {
		refusals := inject.New(inject.Options{Exits: inject.ExitsExact}).Try(c, []int{0, 1}, inject.FocusNone)
		if len(refusals) != 1 || refusals[0].Method != 1 {
			t.Errorf("class %d: refused %v, want method 1", i, refusals)
		}
	}
	if fitting < 100 || refused < 10 {
		t.Errorf("only %d classes fit without a trial, %d of their methods are refused", fitting, refused)
	}
}

// TestDoesNotFitWithoutTrial checks that FitsWithoutTrial returns false for classes that one more byte, constant or
// note takes past a limit.
//
// Invariant: For a class that needs no trial, rewriting refuses the methods that a trial would have refused.
func TestDoesNotFitWithoutTrial(t *testing.T) {
	for _, c := range nearTheLimits() {
		if _, code := bodies(c); inject.New(inject.Options{}).FitsWithoutTrial(c, code) {
			t.Errorf("%s with %d constants and %d bytes fits without a trial",
				c.Name(), c.ConstantPool().Len(), len(code[0].Bytecode))
		}
	}
	frames := make([]byte, 3*4100)
	frames[0], frames[1] = byte(4100>>8), byte(4100&0xff)
	notes := assembly.Class{Name: "T", Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
		Code:       "return",
		Attributes: []assembly.Attribute{{Name: "StackMapTable", Info: frames}}}}}.Parse()
	if _, code := bodies(notes); inject.New(inject.Options{}).FitsWithoutTrial(notes, code) {
		t.Error("a class whose frames may need more notes than a constant holds fits without a trial")
	}
	long := assembly.Class{Name: "T", Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
		Code: "nops 7990 | return"}}}.Parse()
	_, code := bodies(long)
	if !inject.New(inject.Options{}).FitsWithoutTrial(long, code) ||
		inject.New(inject.Options{KeepCompilable: true}).FitsWithoutTrial(long, code) {
		t.Error("the limit of HotSpot's compiler is applied without KeepCompilable, or not applied with it")
	}
}
