package code_test

import (
	"encoding/binary"
	"testing"

	"github.com/tracegen/tracegen/classfile/code"
)

// TestFingerprint changes one thing after another in real methods: whatever is a part of the code changes the
// fingerprint, what is none does not.
//
// Invariant: The fingerprint of a method's code does not depend on the order of the constant pool.
func TestFingerprint(t *testing.T) {
	seen, methods := map[uint64]string{}, 0
	for _, m := range sampleMethods(t) {
		print := code.Fingerprint(m.class, &m.code)
		if print == 0 {
			t.Errorf("%s: none", m.name)
			continue
		}
		methods++
		seen[print] = m.name
		without := m.code
		without.Attributes, without.MaxStack, without.MaxLocals, without.Offset = nil, 0, 0, 0
		if code.Fingerprint(m.class, &without) != print {
			t.Errorf("%s: depends on more than the code", m.name)
		}
		for in := range code.Instructions(m.code.Bytecode) {
			changed := m.code
			changed.Bytecode = append([]byte(nil), m.code.Bytecode...)
			changed.Bytecode[in.PC] ^= 1
			if in.Op == code.LdcW || in.Op == code.Ldc {
				continue // the one for the other is no change, if the rest should fit
			}
			if code.Fingerprint(m.class, &changed) == print {
				t.Errorf("%s: another opcode at %d makes no difference", m.name, in.PC)
			}
		}
	}
	if len(seen) < methods/2 || methods < 50 {
		t.Errorf("%d fingerprints of %d methods", len(seen), methods)
	}
}

// TestFingerprinter: in the memory of the body before, readable or not, a body has the fingerprint that it has alone.
func TestFingerprinter(t *testing.T) {
	var keeper code.Fingerprinter
	for _, m := range sampleMethods(t) {
		cut := m.code
		cut.Bytecode = append(m.code.Bytecode[:len(m.code.Bytecode):len(m.code.Bytecode)], 0xFF)
		for range 2 {
			want, got := code.Fingerprint(m.class, &m.code), keeper.Fingerprint(m.class, &m.code)
			if got != want || keeper.Fingerprint(m.class, &cut) != 0 {
				t.Errorf("%s: %x, and %x alone", m.name, got, want)
			}
		}
	}
}

// TestFingerprintForms: the same operations, said otherwise, and what makes another operation.
func TestFingerprintForms(t *testing.T) {
	of := func(a assembly) uint64 {
		m := a.sample(t)
		return code.Fingerprint(m.class, &m.code)
	}
	base := of(assembly{bytecode: asm(code.Iconst0, code.Ifeq, 6, code.Goto, 3, code.Return)})
	for _, test := range []struct {
		name string
		assembly
		same bool
	}{
		{"goto_w", assembly{bytecode: asm(code.Iconst0, code.Ifeq, 8, code.GotoW, 0, 5, code.Return)}, true},
		{"another target", assembly{bytecode: asm(code.Iconst0, code.Ifeq, 3, code.Goto, 3, code.Return)}, false},
		{"a handler", assembly{bytecode: asm(code.Iconst0, code.Ifeq, 6, code.Goto, 3, code.Return), handlers: u2s(0, 1, 7, 0)}, false},
		{"a branch into an instruction", assembly{bytecode: asm(code.Iconst0, code.Ifeq, 5, code.Goto, 3, code.Return)}, false},
	} {
		if got := of(test.assembly); (got == base) != test.same {
			t.Errorf("%s: %x, and %x without", test.name, got, base)
		}
	}
	switches := func(op code.Op, words ...int) assembly {
		bytecode := asm(code.Iconst0, op, nops(2))
		for _, w := range words {
			bytecode = binary.BigEndian.AppendUint32(bytecode, uint32(w))
		}
		return assembly{bytecode: append(bytecode, byte(code.Return))}
	}
	for name, pair := range map[string][2]assembly{
		"lookupswitch's match": {switches(code.Lookupswitch, 19, 1, 7, 19), switches(code.Lookupswitch, 19, 1, 8, 19)},
		"tableswitch's range":  {switches(code.Tableswitch, 19, 3, 3, 19), switches(code.Tableswitch, 19, 4, 4, 19)},
	} {
		if a, b := of(pair[0]), of(pair[1]); a == b || a == 0 || b == 0 {
			t.Errorf("%s makes no difference: %x, %x", name, a, b)
		}
	}
	if of(assembly{bytecode: []byte{0xCA}}) != 0 || of(assembly{bytecode: asm(code.Ldc, byte(0), code.Return)}) != 0 {
		t.Error("code that cannot be read has a fingerprint")
	}
}
