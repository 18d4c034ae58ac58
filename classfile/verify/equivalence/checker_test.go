package equivalence_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

const beat = "dev/tracegen/runtime/AppMethodBeat"

// byHand is a class and what it should become, written without the injector.
type byHand struct {
	original, rewritten *crafted.Class
	before, after       crafted.Method // of the one method; added to the classes by check
	entry, exit         uint16         // Methodrefs of the rewritten class
	push                []byte         // what pushes the ID in calls that setCode makes
	want                equivalence.Instrumentation
}

// appendBlock appends the constants that instrumented code needs. They are new even if there are equal ones.
func appendBlock(a *crafted.Class) (i, o uint16) {
	a.Known = map[string]uint16{}
	return methodref2(a, beat, "i", "(I)V"), methodref2(a, beat, "o", "(I)V")
}

// methodref2 is Methodref with the class's name in front of everything, as a block has it.
func methodref2(a *crafted.Class, class, name, descriptor string) uint16 {
	a.ClassIndex(class)
	return a.Methodref(class, name, descriptor)
}

// newByHand has one branch, two returns, and every table that holds positions. constants adds others that both classes
// have.
func newByHand(constants ...func(a *crafted.Class)) *byHand {
	h := &byHand{push: crafted.Op(code.Bipush, 7), want: equivalence.Instrumentation{RuntimeClass: beat,
		Exits: equivalence.Exits{UncaughtThrows: true}, IDs: []uint32{7}}}
	for _, side := range []**crafted.Class{&h.original, &h.rewritten} {
		a := crafted.NewClass(52, "Hand", "java/lang/Object")
		for _, s := range []string{"Hand", "java/lang/Object"} {
			a.ClassIndex(s)
		}
		for _, s := range []string{"f", "(I)V", "Code", "StackMapTable", "LineNumberTable", "LocalVariableTable", "v",
			"I"} {
			a.Utf8(s)
		}
		for _, add := range constants {
			add(a)
		}
		*side = a
	}
	v, d := h.original.Utf8("v"), h.original.Utf8("I")
	h.before = crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1,
		Code: slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 5), crafted.Op(code.Return),
			crafted.Op(code.Return)),
		Attributes: []crafted.Attribute{crafted.Frames([]byte{5}),
			{Name: "LineNumberTable", Info: crafted.U2(3, 0, 1, 4, 2, 5, 3)}, {Name: "LocalVariableTable",
				Info: crafted.U2(1, 0, 6, v, d, 0)}}}
	known := h.rewritten.Known
	h.entry, h.exit = appendBlock(h.rewritten)
	h.rewritten.Known = known // what the class itself is written with
	h.after = crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1,
		Code: slices.Concat(h.call(h.entry), crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 6, 15),
			h.call(h.exit), crafted.Op(code.Return), h.call(h.exit), crafted.Op(code.Return)),
		Attributes: []crafted.Attribute{crafted.Frames([]byte{15}),
			{Name: "LineNumberTable", Info: crafted.U2(3, 0, 1, 9, 2, 15, 3)}, {Name: "LocalVariableTable",
				Info: crafted.U2(1, 0, 21, v, d, 0)}}}
	return h
}

// call returns an inserted call.
func (h *byHand) call(ref uint16) []byte {
	return slices.Concat(h.push, crafted.Op(code.Invokestatic, crafted.U2(ref)...))
}

// setCode makes own the code of the original, and writes the rewritten method with an entry call and an exit call
// before each of these positions of the original. It drops the attributes of both Code attributes.
func (h *byHand) setCode(own []byte, exits ...int) {
	h.before.Code, h.before.Attributes, h.after.Attributes = own, nil, nil
	h.after.Code = h.call(h.entry)
	from := 0
	for _, at := range exits {
		h.after.Code = slices.Concat(h.after.Code, own[from:at], h.call(h.exit))
		from = at
	}
	h.after.Code = append(h.after.Code, own[from:]...)
}

func (h *byHand) classes(t testing.TB) (original, rewritten *classfile.Class) {
	h.original.Add(h.before)
	h.rewritten.Add(h.after)
	return h.original.Parse(t), h.rewritten.Parse(t)
}

// TestFindings changes one thing at a time in a class that was instrumented by hand.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestFindings(t *testing.T) {
	const ofMethod = "Hand#f(I)V"
	for _, row := range []struct {
		name   string
		change func(h *byHand)
		want   []string // findings in order; none if it is right
	}{
		{"nothing", func(h *byHand) {}, nil},
		{"another ID wanted", func(h *byHand) { h.want.IDs[0] = 8 }, []string{
			ofMethod + "@0: equivalence: id: expected 8, found 7",
			ofMethod + "@9: equivalence: id: expected 8, found 7",
			ofMethod + "@15: equivalence: id: expected 8, found 7"}},
		{"another ID at one exit", func(h *byHand) { h.after.Code[16] = 9 }, []string{
			ofMethod + "@15: equivalence: id: expected 7, found 9"}},
		{"not to be traced", func(h *byHand) { h.want.IDs = nil }, []string{
			ofMethod + ": equivalence: method structure: expected the method unchanged, found a difference",
			ofMethod + "@0: equivalence: id: expected no calls, found a call with ID 7",
			ofMethod + "@9: equivalence: id: expected no calls, found a call with ID 7",
			ofMethod + "@15: equivalence: id: expected no calls, found a call with ID 7"}},
		{"branch past the exit", func(h *byHand) { h.after.Code[8] = 14 }, []string{
			ofMethod + "@20: equivalence: position: expected a branch target on its side of inserted code, " +
				"found 20, which is 5 on another side of inserted code"}},
		{"branch to the other return", func(h *byHand) { h.after.Code[8] = 3 }, []string{
			ofMethod + "@6: equivalence: code: expected the original's code at 3 without the calls, " +
				"found another instruction or operand"}},
		{"branch into inserted code", func(h *byHand) { h.after.Code[8] = 11 }, []string{
			ofMethod + "@17: equivalence: position: expected a branch target on its side of inserted code, " +
				"found 17, inside inserted code or an instruction"}},
		{"negated branch", func(h *byHand) { h.after.Code[6] = byte(code.Ifne) }, []string{
			ofMethod + "@6: equivalence: code: expected the original's code at 1 without the calls, " +
				"found another instruction or operand"}},
		{"frame past the exit", func(h *byHand) { h.after.Attributes[0] = crafted.Frames([]byte{20}) }, []string{
			ofMethod + "@20: equivalence: position: expected a frame on its side of inserted code, " +
				"found 20, which is 5 on another side of inserted code"}},
		{"first line after the entry", func(h *byHand) { h.after.Attributes[1].Info[3] = 5 }, []string{
			ofMethod + "@5: equivalence: position: expected a line's start_pc on its side of inserted code, " +
				"found 5, which is 0 on another side of inserted code"}},
		{"line number", func(h *byHand) { h.after.Attributes[1].Info[5] = 2 }, []string{
			ofMethod + ": equivalence: table: expected the tables of the original without the calls, " +
				"found another LineNumberTable, from its byte 5 on"}},
		{"variable too short", func(h *byHand) { h.after.Attributes[2].Info[5] = 20 }, []string{
			ofMethod + "@20: equivalence: position: expected a variable's end on its side of inserted code, " +
				"found 20, which is 5 on another side of inserted code"}},
		{"max_stack", func(h *byHand) { h.after.MaxStack = 2 }, []string{
			ofMethod + ": equivalence: max_stack: expected 1 without the calls, found 2"}},
		{"max_locals", func(h *byHand) { h.after.MaxLocals = 2 }, []string{
			ofMethod + ": equivalence: code: expected max_locals 1, found 2"}},
		{"calls exchanged", func(h *byHand) { h.after.Code[4], h.after.Code[13] = h.after.Code[13], h.after.Code[4] },
			nil},
		{"access flags", func(h *byHand) { h.after.Access = classfile.AccPrivate | classfile.AccStatic }, []string{
			ofMethod + ": equivalence: method structure: expected everything except the Code attribute as before, " +
				"found a difference"}},
		{"class flags", func(h *byHand) { h.rewritten.Access |= classfile.AccFinal }, []string{
			"Hand: equivalence: class structure: expected flags, names, interfaces and fields as before, " +
				"found a difference"}},
		{"version", func(h *byHand) { h.rewritten.Major++ }, []string{
			"Hand: equivalence: class structure: expected magic and version as before, found a difference"}},
		{"another method", func(h *byHand) { h.rewritten.Add(h.after) }, []string{
			"Hand: equivalence: class structure: expected 1 methods, found 2"}},
		{"unchanged", func(h *byHand) { h.after = h.before }, []string{
			ofMethod + ": equivalence: entry: expected calls with ID 7, found an unchanged method",
		}},
		{"a constant too many", func(h *byHand) { h.rewritten.Utf8("java/util/List") }, []string{
			"Hand: equivalence: constant pool: expected inserted code to use every new constant, " +
				"found no use of constant"}},
		{"another constant", func(h *byHand) { h.original.Pool[3] ^= 1 }, []string{
			"Hand: equivalence: constant pool: expected constant 1 as it was, found another"}},
		{"attribute", func(h *byHand) { h.after.Attributes[2].Name = "v" }, []string{
			ofMethod + ": equivalence: table: expected attributes whose layout is known, found v"}},
		{"table cut off", func(h *byHand) { h.after.Attributes[1].Info = crafted.U2(9, 0, 0) }, []string{
			ofMethod + ": equivalence: table: expected a well-formed LineNumberTable, found 6 malformed bytes"}},
		{"code cut off", func(h *byHand) { h.after.Code = h.after.Code[:19] }, []string{
			ofMethod + "@17: equivalence: code: expected an instruction, found invokestatic at 17"}},
		{"a push that is too long", func(h *byHand) { h.after.Code = pushWide(h.after.Code) }, []string{
			ofMethod + "@0: equivalence: id: expected 7 pushed by bipush, found sipush",
			ofMethod + "@15: equivalence: position: expected a frame on its side",
			ofMethod + "@15: equivalence: position: expected a line's start_pc on its side",
			ofMethod + "@21: equivalence: position: expected a variable's end on its side"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newByHand()
			row.change(h)
			original, rewritten := h.classes(t)
			got := equivalence.Check(original, rewritten, h.want)
			if row.name == "calls exchanged" { // which leads to many findings
				if len(got) == 0 {
					t.Error("no finding")
				}
				return
			}
			for i := range max(len(got), len(row.want)) {
				switch {
				case i >= len(row.want):
					t.Errorf("unexpected %v", got[i])
				case i >= len(got):
					t.Errorf("missing %s", row.want[i])
				case !strings.HasPrefix(got[i].String(), row.want[i]):
					t.Errorf("got  %v\nwant %s", got[i], row.want[i])
				}
			}
		})
	}
}

// pushWide replaces the first bipush by a sipush and aims the branch anew.
func pushWide(b []byte) []byte { return append([]byte{byte(code.Sipush), 0, 7}, b[2:]...) }

func TestByHandStrips(t *testing.T) {
	original, rewritten := newByHand().classes(t)
	stripped, removed, err := equivalence.Strip(rewritten, beat)
	if err != nil || removed != 3 || !bytes.Equal(stripped, original.Bytes()) {
		t.Errorf("removed %d calls, error %v, same bytes: %t", removed, err, bytes.Equal(stripped, original.Bytes()))
	}
}
