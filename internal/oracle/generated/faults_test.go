package generated

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// faulty begins the names of variants with a planted fault, which are outputs in the mode exact.
const faulty = "exact, but "

// faults change the class files of outputs in the mode exact.
var faults = []struct {
	name  string
	plant func(t *testing.T, c *classfile.Class, body *classfile.Code)
}{
	{"no exits", func(t *testing.T, c *classfile.Class, body *classfile.Code) {
		for _, call := range calls(t, c, body) {
			if call.name == "o" {
				copy(body.Bytecode[call.pc:], []byte{byte(code.Pop), byte(code.Nop), byte(code.Nop)})
			}
		}
	}},
	{"entries and exits exchanged", func(t *testing.T, c *classfile.Class, body *classfile.Code) {
		index := map[string][]byte{}
		all := calls(t, c, body)
		for _, call := range all {
			index[call.name] = bytes.Clone(body.Bytecode[call.pc+1 : call.pc+3])
		}
		for _, call := range all {
			copy(body.Bytecode[call.pc+1:], index[map[string]string{"i": "o", "o": "i"}[call.name]])
		}
	}},
	// The handler of the mode exact pushes the ID, calls o, and throws again.
	{"exceptions dropped", func(t *testing.T, c *classfile.Class, body *classfile.Code) {
		end := len(body.Bytecode)
		all := calls(t, c, body)
		last := all[len(all)-1]
		if last.pc+4 != end || code.Op(body.Bytecode[end-1]) != code.Athrow || last.push > last.pc-2 {
			return
		}
		clear(body.Bytecode[last.push:])
		body.Bytecode[last.push] = byte(code.Pop)
		body.Bytecode[end-2], body.Bytecode[end-1] = byte(code.Iconst0), byte(code.Ireturn)
	}},
	{"other lines", func(_ *testing.T, _ *classfile.Class, body *classfile.Code) {
		for _, a := range body.Attributes {
			if a.Name != "LineNumberTable" {
				continue
			}
			for at := 4; at < len(a.Info); at += 4 {
				binary.BigEndian.PutUint16(a.Info[at:], binary.BigEndian.Uint16(a.Info[at:])+1)
			}
		}
	}},
}

// plantFaults returns a variant with each fault.
func plantFaults(t *testing.T, exact variant) (all []variant) {
	t.Helper()
	for _, f := range faults {
		v := variant{name: faulty + f.name}
		for _, c := range exact.classes {
			parsed := assembly.Parse(t, bytes.Clone(c.data))
			for k := range parsed.Methods() {
				m := &parsed.Methods()[k]
				body, ok, err := parsed.Code(m)
				if err != nil {
					t.Fatal(err)
				}
				if ok && m.Name != "<init>" && len(calls(t, parsed, &body)) > 0 {
					f.plant(t, parsed, &body) // writes into the bytes of the class
				}
			}
			v.classes = append(v.classes, class{c.name, parsed.Bytes()})
		}
		all = append(all, v)
	}
	return all
}

// A call is a call of the runtime: its method, its position, and that of the instruction before, which pushes the ID.
type call struct {
	name     string
	pc, push int
}

func calls(t *testing.T, c *classfile.Class, body *classfile.Code) (all []call) {
	t.Helper()
	push := 0
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			t.Fatal(err)
		}
		if in.Op == code.Invokestatic {
			ref, err := c.ConstantPool().Ref(in.Constant())
			if err != nil {
				t.Fatal(err)
			}
			if ref.Class == inject.DefaultRuntimeClass {
				all = append(all, call{ref.Name, in.PC, push})
			}
		}
		push = in.PC
	}
	return all
}

// checkFaults checks that the runner reports each kind of fault.
func checkFaults(t *testing.T, lines []string) {
	t.Helper()
	for _, f := range faults {
		found := map[string]bool{}
		for _, line := range lines {
			if row := strings.Split(line, "\t"); row[1] == faulty+f.name {
				found[row[0]] = true
			}
		}
		t.Logf("planted: %s: found in %d programs", f.name, len(found))
		if len(found) == 0 {
			t.Errorf("the runner does not report outputs that are %s%s", faulty, f.name)
		}
	}
}
