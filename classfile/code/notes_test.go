package code_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// far returns the offset of a goto_w that jumps n bytes.
func far(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func TestNotes(t *testing.T) {
	const static = classfile.AccStatic
	frames := func(parts ...any) map[string][]byte { return map[string][]byte{"StackMapTable": asm(parts...)} }
	jump := asm(code.Iconst0, code.Ifeq, 4, code.Nop, code.Return) // to 5, nop at 4
	for _, test := range []struct {
		name string
		assembled
		pc, length int
		want       string
	}{
		{"nothing moves far", assembled{bytecode: jump, attributes: frames(1, byte(5))}, 4, 3, "[]"},
		{"a full form that stays", assembled{bytecode: jump, attributes: frames(1, byte(255), 5, 0, 0)}, 4, 32000, "[]"},
		{"an extended form that is none too many", assembled{bytecode: jump, attributes: frames(1, byte(251), 5)}, 4,
			100, "[f 0 251]"},
		{"an extended form that stays needless", assembled{bytecode: jump, attributes: frames(1, byte(251), 5)}, 4, 5,
			"[]"},
		{"a short form that becomes extended", assembled{bytecode: jump, attributes: frames(1, byte(5))}, 4, 100, "[]"},
	} {
		test.assembled.access, test.maxStack, test.maxLocals = static, 2, 2
		r, err := moved(t, test.assembled, test.pc, test.length)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var notes []string
		for _, n := range r.notes {
			notes = append(notes, fmt.Sprintf("[%c %d %d]", n.Kind, n.Index, n.Value))
		}
		got := strings.Join(notes, " ")
		if got == "" {
			got = "[]"
		}
		if got != test.want {
			t.Errorf("%s: notes %s, want %s", test.name, got, test.want)
		}
		r.check()
	}
}

// TestReach has branches of two bytes just within their reach and just past it, forwards and backwards. Wide ones go
// anywhere.
//
// Invariant: The injector refuses a method or class just past each limit, and accepts it just before.
func TestReach(t *testing.T) {
	forward := asm(code.Iconst0, code.Ifeq, 4, code.Nop, code.Return) // 1 to 5
	backward := asm(code.Nop, code.Goto, 0xFFFF)                      // 1 to 0
	for _, test := range []struct {
		name     string
		bytecode []byte
		frames   []byte
		at       int
		length   int
		want     string
	}{
		{"forwards", forward, asm(1, byte(5)), 4, 32767 - 4, ""},
		{"too far forwards", forward, asm(1, byte(5)), 4, 32768 - 4,
			"method would be too large: the branch at 1 would lead over 32768 bytes, and two bytes hold at most 32767"},
		{"backwards", backward, asm(1, byte(0)), 1, 32768 - 1, ""},
		{"too far backwards", backward, asm(1, byte(0)), 1, 32769 - 1,
			"method would be too large: the branch at 1 would lead over 32769 bytes, and two bytes hold at most 32767"},
		{"wide", asm(code.GotoW, far(6), code.Nop, code.Return), asm(1, byte(6)), 5, 40000, ""},
	} {
		a := assembled{access: classfile.AccStatic, maxStack: 1, bytecode: test.bytecode,
			attributes: map[string][]byte{"StackMapTable": test.frames}}
		r, err := moved(t, a, test.at, test.length)
		if test.want != "" {
			if err == nil || err.Error() != test.want || !errors.Is(err, code.ErrTooLarge) {
				t.Errorf("%s: %v, want %s", test.name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		r.check()
	}
}

func TestRelocateErrors(t *testing.T) {
	attribute := func(name string, info ...any) assembled {
		return assembled{bytecode: asm(code.Nop, code.Return), attributes: map[string][]byte{name: asm(info...)}}
	}
	for _, test := range []struct {
		name string
		assembled
		length int
		want   string
	}{
		{"unknown attribute", attribute("com.example.Offsets"), 1,
			"unknown attribute inside Code: com.example.Offsets"},
		{"too long", assembled{bytecode: asm(code.Nop, code.Return)}, 65534,
			"method would be too large: code of 65536 bytes, the limit is 65535"},
		{"branch out of the code", assembled{bytecode: asm(code.Nop, code.Goto, 99)}, 1,
			"goto at 1 branches to 100, outside of the 4 bytes of code"},
		{"unknown opcode", assembled{bytecode: []byte{0, 0xFF}}, 1, "unknown opcode 0xff at 1"},
		{"padding", assembled{bytecode: asm(code.Nop, code.Lookupswitch, byte(0), byte(1), far(8), far(0))}, 1,
			"lookupswitch at 1 has padding that is not zero, which strip could not restore"},
		{"handler", assembled{bytecode: asm(code.Nop, code.Return), handlers: u2s(0, 1, 7, 0)}, 1,
			"exception table holds the position 7, outside of the 2 bytes of code"},
		{"lines", attribute("LineNumberTable", 1, 3, 1), 1,
			"LineNumberTable: holds the position 3, outside of the 2 bytes of code"},
		{"lines too few", attribute("LineNumberTable", 2, 0, 1), 1,
			"LineNumberTable: 6 bytes do not match the number of its entries"},
		{"variables", attribute("LocalVariableTable", 1, 1, 2, 1, 1, 0), 1,
			"LocalVariableTable: holds the position 3, outside of the 2 bytes of code"},
		{"ranges", attribute("CharacterRangeTable", 1, 0, 2, 0, 0, 0, 0, 0), 1,
			"CharacterRangeTable: holds the position 3, outside of the 2 bytes of code"},
		{"frames cut", attribute("StackMapTable", 2, byte(1)), 1, "StackMapTable: StackMapTable ends in frame 1 of 2"},
		{"frames cut in one", attribute("StackMapTable", 1, byte(251), byte(0)), 1,
			"StackMapTable: StackMapTable ends in frame 0 of 1"},
		{"frames reserved", attribute("StackMapTable", 1, byte(200)), 1,
			"StackMapTable: frame 0 of StackMapTable has the reserved frame_type 200"},
		{"frames malformed", attribute("StackMapTable", 1, byte(64), byte(9)), 1,
			"StackMapTable: frame 0 of StackMapTable has a malformed verification_type_info"},
		{"frames too many bytes", attribute("StackMapTable", 1, byte(1), byte(1)), 1,
			"StackMapTable: 1 bytes follow the last frame of StackMapTable"},
		{"frame outside", attribute("StackMapTable", 1, byte(2)), 1,
			"StackMapTable: frame 0 is at 2, outside of the 2 bytes of code"},
		{"annotation of a field", attribute("RuntimeVisibleTypeAnnotations", 1, byte(0x13), byte(0), 1, 0), 1,
			"RuntimeVisibleTypeAnnotations: type annotation has the target_type 0x13, which may not appear in code"},
		{"annotation cut", attribute("RuntimeVisibleTypeAnnotations", 1, byte(0x44), 0, byte(0), 1, 1, 1), 1,
			"RuntimeVisibleTypeAnnotations: ends in an entry"},
		{"annotations nested", attribute("RuntimeVisibleTypeAnnotations", 1, byte(0x44), 0, byte(0), 1, 1, 1,
			bytes.Repeat([]byte{'[', 0, 1}, 100)), 1,
			"RuntimeVisibleTypeAnnotations: annotations are nested too deeply"},
		{"annotation outside", attribute("RuntimeVisibleTypeAnnotations", 1, byte(0x44), 3, byte(0), 1, 0), 1,
			"RuntimeVisibleTypeAnnotations: holds the position 3, outside of the 2 bytes of code"},
	} {
		_, err := moved(t, test.assembled, 0, test.length)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.name, err, test.want)
		}
		if strings.Contains(test.want, "unknown attribute") != errors.Is(err, code.ErrUnknownAttribute) {
			t.Errorf("%s: wraps the wrong sentinel: %v", test.name, err)
		}
	}
	m := assembled{bytecode: asm(code.Goto, 3, code.Return)}.sample(t)
	pool := classfile.NewPoolBuilder(m.class.ConstantPool())
	for _, at := range [][]int{{-1}, {4}, {3, 0}} {
		var patch code.Patch
		for _, pc := range at {
			patch.Insertions = append(patch.Insertions, code.Insertion{PC: pc, Bytecode: nops(1)})
		}
		if _, _, err := relocated(m, patch, pool); err == nil {
			t.Errorf("code is inserted at %d of 4 bytes", at)
		}
	}
	for _, name := range []string{"StackMapTable", "CharacterRangeTable", "LineNumberTable"} {
		a := assembled{bytecode: asm(code.Return), attributes: map[string][]byte{name: nil}}
		if _, err := moved(t, a, 0, 1); err == nil || errors.Is(err, code.ErrUnknownAttribute) {
			t.Errorf("%s without its table: %v, want an error about the table", name, err)
		}
		a.attributes = map[string][]byte{name + "s": nil}
		if _, err := moved(t, a, 0, 1); !errors.Is(err, code.ErrUnknownAttribute) {
			t.Errorf("%ss: %v, want an unknown attribute", name, err)
		}
	}
}

// TestSubroutines runs a method with jsr and ret on a JVM. The method is a loop that calls a subroutine and adds up
// numbers.
func TestSubroutines(t *testing.T) {
	jdk := oracle.NeedJDK(t, 11)
	bytecode := asm(
		code.Iconst0, code.Istore1, // 0
		code.Jsr, 14, // 2: to 16
		code.Iload0, code.Ifgt, 0xFFFC, // 5, 6: back to 2
		code.Iload1, code.Ireturn, // 9, 10
		nops(5),                                                         // 11
		code.Astore2, code.Iload1, code.Iload0, code.Iadd, code.Istore1, // 16
		code.Iinc, byte(0), byte(0xFF), code.Ret, byte(2), // 21
	)
	a := assembled{major: 49, access: classfile.AccPublic | classfile.AccStatic, descriptor: "(I)I", maxStack: 2,
		maxLocals: 3, bytecode: bytecode}
	args := []string{"-Xverify:all", filepath.Join("testdata", "Run.java")}
	for _, at := range [][2]int{{11, 1}, {5, 32000}, {11, 32000}, {21, 32000}} {
		r, err := moved(t, a, at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		r.check()
		args = append(args, t.TempDir())
		fixture.Write(t, filepath.Join(args[len(args)-1], "T.class"), r.new.class.Bytes())
	}
	got := fixture.Run(t, exec.Command(jdk.Tool("java"), args...))
	if !strings.HasSuffix(got, strings.Repeat("5050\n", 4)) {
		t.Error(got)
	}
}
