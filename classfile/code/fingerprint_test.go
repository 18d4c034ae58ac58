package code_test

import (
	"encoding/binary"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// fingerprint returns the fingerprint of a body of method m by a Fingerprinter that was not used before.
func fingerprint(m sample, body *classfile.Code) uint64 {
	return new(code.Fingerprinter).Fingerprint(m.class, body)
}

// TestFingerprint changes real methods in one place at a time. A change of the code must change the fingerprint; a
// change of anything else must not.
//
// Invariant: The fingerprint of a method's code does not depend on the order of the constant pool.
func TestFingerprint(t *testing.T) {
	seen, methods := map[uint64]string{}, 0
	for _, m := range sampleMethods(t) {
		print := fingerprint(m, &m.code)
		if print == 0 {
			t.Errorf("%s: none", m.name)
			continue
		}
		methods++
		seen[print] = m.name
		without := m.code
		without.Attributes, without.MaxStack, without.MaxLocals, without.Offset = nil, 0, 0, 0
		if fingerprint(m, &without) != print {
			t.Errorf("%s: depends on more than the code", m.name)
		}
		for in := range code.Instructions(m.code.Bytecode) {
			changed := m.code
			changed.Bytecode = append([]byte(nil), m.code.Bytecode...)
			changed.Bytecode[in.PC] ^= 1
			if in.Op == code.LdcW || in.Op == code.Ldc {
				continue // the flipped bit turns one into the other, which has the same fingerprint
			}
			if fingerprint(m, &changed) == print {
				t.Errorf("%s: another opcode at %d makes no difference", m.name, in.PC)
			}
		}
	}
	if len(seen) < methods/2 || methods < 50 {
		t.Errorf("%d fingerprints of %d methods", len(seen), methods)
	}
}

// TestFingerprinter checks that the fingerprint of a body does not depend on the bodies that the same Fingerprinter
// has read before, valid ones and malformed ones.
func TestFingerprinter(t *testing.T) {
	var keeper code.Fingerprinter
	for _, m := range sampleMethods(t) {
		cut := m.code
		cut.Bytecode = append(m.code.Bytecode[:len(m.code.Bytecode):len(m.code.Bytecode)], 0xFF)
		for range 2 {
			want, got := fingerprint(m, &m.code), keeper.Fingerprint(m.class, &m.code)
			if got != want || keeper.Fingerprint(m.class, &cut) != 0 {
				t.Errorf("%s: %x, and %x alone", m.name, got, want)
			}
		}
	}
}

// TestFingerprintForms compares code that does the same in another encoding, and code that does something else.
func TestFingerprintForms(t *testing.T) {
	of := func(a assembled) uint64 {
		m := a.sample(t)
		return fingerprint(m, &m.code)
	}
	base := of(assembled{bytecode: asm(code.Iconst0, code.Ifeq, 6, code.Goto, 3, code.Return)})
	for _, test := range []struct {
		name string
		assembled
		same bool
	}{
		{"goto_w", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 8, code.GotoW, 0, 5, code.Return)}, true},
		{"another target", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 3, code.Goto, 3, code.Return)}, false},
		{"a handler", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 6, code.Goto, 3, code.Return),
			handlers: u2s(0, 1, 7, 0)}, false},
		{"a branch into an instruction", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 5, code.Goto, 3, code.Return)},
			false},
	} {
		if got := of(test.assembled); (got == base) != test.same {
			t.Errorf("%s: %x, and %x without", test.name, got, base)
		}
	}
	switches := func(op code.Op, words ...int) assembled {
		bytecode := asm(code.Iconst0, op, nops(2))
		for _, w := range words {
			bytecode = binary.BigEndian.AppendUint32(bytecode, uint32(w))
		}
		return assembled{bytecode: append(bytecode, byte(code.Return))}
	}
	for name, pair := range map[string][2]assembled{
		"lookupswitch's match": {switches(code.Lookupswitch, 19, 1, 7, 19), switches(code.Lookupswitch, 19, 1, 8, 19)},
		"tableswitch's range":  {switches(code.Tableswitch, 19, 3, 3, 19), switches(code.Tableswitch, 19, 4, 4, 19)},
	} {
		if a, b := of(pair[0]), of(pair[1]); a == b || a == 0 || b == 0 {
			t.Errorf("%s makes no difference: %x, %x", name, a, b)
		}
	}
	if of(assembled{bytecode: []byte{0xCA}}) != 0 || of(assembled{bytecode: asm(code.Ldc, byte(0), code.Return)}) != 0 {
		t.Error("code that cannot be decoded has a fingerprint")
	}
}
