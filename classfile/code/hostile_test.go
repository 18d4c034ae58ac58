package code_test

import (
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
	// Each instruction is covered by many handlers and stores to another local.
	var stores, handlers []byte
	for len(stores) < 60000 {
		stores = append(stores, asm(code.Aload0, code.Wide, code.Astore, len(stores))...)
	}
	for i := range 65535 {
		handlers = append(handlers, u2s(0, len(stores), i%60000/5*5, 0)...)
	}
	m := assembled{name: "<init>", maxStack: 1, maxLocals: 65535, bytecode: asm(stores, code.Return),
		handlers: handlers}.sample(t)
	if _, err := code.Initialisation(m.class.ConstantPool(), &m.code); err == nil {
		t.Error("a constructor with 65,535 handlers over everything is followed to its end")
	}

}

// moved relocates the method with n nops inserted at pc.
func moved(t *testing.T, a assembled, pc, n int) (*relocation, error) {
	t.Helper()
	m := a.sample(t)
	patch := code.Patch{MaxStack: a.maxStack, Insertions: []code.Insertion{{PC: pc, Bytecode: nops(n)}}}
	return relocate(t, m, patch, classfile.NewPoolBuilder(m.class.ConstantPool()))
}
