package code_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// TestHostile checks that input made for that purpose cannot take too much time or memory. Without limits, these
// methods would take minutes or gigabytes.
//
// Invariant: No method makes the analysis of code panic, and a malicious method costs no more than an ordinary one
// of its size.
func TestHostile(t *testing.T) {
	// Each branch gets out of reach only once the one behind it has been widened.
	const branches = 5000
	var chain []byte
	for i := range branches {
		chain = append(chain, asm(code.Goto, 32767-2*(branches-1-i))...)
	}
	chain = append(chain, nops(32770)...)
	_, err := moved(t, assembly{maxLocals: 1, bytecode: asm(chain, code.Return)}, 3*branches, 1)
	if !errors.Is(err, code.ErrTooLarge) {
		t.Errorf("branches that put each other out of reach: %v", err)
	}

	// Each instruction is covered by many handlers and stores to another local.
	var stores, handlers []byte
	for len(stores) < 60000 {
		stores = append(stores, asm(code.Aload0, code.Wide, code.Astore, len(stores))...)
	}
	for i := range 65535 {
		handlers = append(handlers, u2s(0, len(stores), i%60000/5*5, 0)...)
	}
	m := assembly{name: "<init>", maxStack: 1, maxLocals: 65535, bytecode: asm(stores, code.Return),
		handlers: handlers}.sample(t)
	if _, err := code.Initialisation(m.class.ConstantPool(), &m.code); err == nil {
		t.Error("a constructor with 65,535 handlers over everything is followed to its end")
	}

	// Many frames are added, each with many locals.
	locals := asm(byte(255), 0, 65535, []byte(strings.Repeat("\x01", 65535)), 0)
	var conditionals []byte
	for range 3000 {
		conditionals = append(conditionals, asm(code.Iconst0, code.Ifeq, 30000)...)
	}
	conditionals = append(conditionals, nops(31000)...)
	frames := asm(1, locals)
	a := assembly{maxStack: 1, maxLocals: 65535, bytecode: asm(conditionals, code.Return),
		attributes: map[string][]byte{"StackMapTable": frames}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err = moved(t, a, 12000, 9000); !errors.Is(err, code.ErrTooLarge) {
		t.Errorf("frames of 65,535 locals: %v", err)
	}
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 200<<20 {
		t.Errorf("%d MB allocated", spent>>20)
	}
}

// moved relocates the method with n nops inserted at pc.
func moved(t *testing.T, a assembly, pc, n int) (*relocation, error) {
	t.Helper()
	m := a.sample(t)
	patch := code.Patch{MaxStack: a.maxStack, Insertions: []code.Insertion{{PC: pc, Bytecode: nops(n)}}}
	return relocate(t, m, patch, classfile.NewPoolBuilder(m.class.ConstantPool()))
}

// TestUnsoundFrames widens branches in code that every verifier rejects, so that the types behind them have to be
// computed from it.
func TestUnsoundFrames(t *testing.T) {
	frames := asm(1, byte(64), byte(4)) // one at 0, long on the stack
	for _, test := range []struct {
		name string
		code []byte
		want string // the error, "" if the types can be computed nevertheless
	}{
		{"half a long is stored, and stored over", asm(code.Istore0, code.Iconst0, code.Istore0), ""},
		{"the stack underflows", asm(code.Pop2, code.Pop), "pop at 1: takes 1 words off a stack of 0"},
		{"an array of no class", asm(code.Iconst0, code.Anewarray, firstClass, code.Pop), ""},
		{"an element of no array", asm(code.AconstNull, code.Checkcast, firstClass, code.Iconst0, code.Aaload,
			code.Pop), ""},
		{"an element of a malformed array",
			asm(code.AconstNull, code.Checkcast, firstClass+2, code.Iconst0, code.Aaload, code.Pop),
			"malformed array class \"[L\""},
		{"an element of a malformed array of arrays",
			asm(code.AconstNull, code.Checkcast, firstClass+4, code.Iconst0, code.Aaload, code.Pop),
			"malformed array class \"[\""},
		{"a class that is none", asm(code.AconstNull, code.Checkcast, 1, code.Pop), "is Utf8, want Class"},
		{"a field that is none", asm(code.Getstatic, 1, code.Pop), "does not refer to a member"},
		{"a constant that is none", asm(code.Ldc, byte(0), code.Pop), "does not refer to a member"},
		{"a primitive array of no type", asm(code.Iconst0, code.Newarray, byte(99), code.Pop), "unknown array type 99"},
		{"a local that is not there", asm(code.Wide, code.Aload, 40000, code.Pop), "loads local 40000"},
		{"a local beyond all", asm(code.AconstNull, code.Wide, code.Astore, 65535), ""},
		{"a constructor of what is no new", asm(code.Dup2, code.Pop2, code.AconstNull, code.Invokespecial, superInit),
			""},
	} {
		bytecode := asm(test.code, code.Iconst0, code.Ifeq, 4, code.Nop, code.Return)
		a := assembly{access: classfile.AccStatic, maxStack: 4, maxLocals: 65535, bytecode: bytecode,
			classes: []string{"", "[L", "["}, attributes: map[string][]byte{"StackMapTable": frames}}
		_, err := moved(t, a, len(bytecode)-2, 33000)
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
