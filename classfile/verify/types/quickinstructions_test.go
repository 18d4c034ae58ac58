package types_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// instructions compares the two paths for methods of few instructions. All methods have the same parameters, so that
// locals 0 to 7 are this, an int, a long, a float, a double and an array, and 8 and 9 are unset.
type instructions struct {
	quickPaths
	t *testing.T
}

func newInstructions(t *testing.T) *instructions {
	s := &instructions{t: t}
	s.quick = &types.Checker{Hierarchy: smallWorld(t), Frames: true}
	s.full = s.quick.OnFullPath()
	return s
}

// run compares a method, and reports whether it is correct by frames, and by inference.
func (s *instructions) run(result string, stack uint16, parts ...[]any) (correct [2]bool) {
	for i, major := range []uint16{52, 49} {
		a := crafted.NewClass(major, "T", "far/Base")
		addOperands(a)
		m := faulty(stack, 10, append(slices.Concat(parts...), code.Return)...)
		m.Access, m.Descriptor = classfile.AccPublic, "(IJFD[I)"+result
		a.Add(m)
		correct[i] = s.compare(s.t, a.Parse(s.t)) == 0
	}
	return correct
}

// addOperands adds the constants that the instructions use, and returns the index of one for each kind of instruction.
func addOperands(a *crafted.Class) (class, field, method, face, number, long uint16) {
	class = a.ClassIndex("java/lang/Object") // is constant 2
	field, method = a.Fieldref("T", "x", "F"), a.Methodref("T", "x", "(F)F")
	face, number = interfaceMethod(a, "x", "(F)F"), a.Constant(classfile.TagFloat, 0, 0, 0, 5)
	long = a.Constant(classfile.TagDouble, 0, 0, 0, 0, 0, 0, 0, 5)
	a.Count++
	return class, field, method, face, number, long
}

const roomy = 12 // words on the stack, more than any of these methods needs

// values are instructions that push one value of each type.
func values() (all [][]any) {
	all = [][]any{{code.Iconst0}, {code.Lconst0}, {code.Fconst0}, {code.Dconst0}, {code.AconstNull}, {code.Aload0},
		{code.New, uint16(2)}}
	for component := 4; component <= 11; component++ {
		all = append(all, []any{code.Iconst0, code.Newarray, component})
	}
	return append(all, []any{code.Iconst0, code.Anewarray, uint16(2)})
}

// plainOpcodes are those without operands, but for returns and loads and stores of locals.
func plainOpcodes() (all []code.Op) {
	for op := code.Nop; op.Known(); op++ {
		isLocal := op >= code.Iload0 && op <= code.Aload3 || op >= code.Istore0 && op <= code.Astore3
		if op.Size() == 1 && !isLocal && !op.IsReturn() {
			all = append(all, op)
		}
	}
	return all
}

// follow compares what may come after correct instructions: other types than theirs on the stack, and less room.
func (s *instructions) follow(parts ...[]any) {
	parts = slices.Clip(parts)
	for _, op := range []code.Op{code.Istore, code.Lstore, code.Fstore, code.Dstore, code.Astore} {
		s.run("V", roomy, append(parts, []any{op, 8})...)
	}
	for _, then := range [][]any{{code.Pop}, {code.Pop2}, {code.Iconst0, code.Aaload}, {code.Iconst0, code.Iaload}} {
		s.run("V", roomy, append(parts, then)...)
	}
	for room := range uint16(6) {
		s.run("V", room, parts...)
		s.run("V", room, append(parts, []any{code.Iconst0})...)
	}
}

// TestQuickPathOfInstructions applies each instruction without operands to values of all types, alone and in pairs, and
// then looks at what it has left.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfInstructions(t *testing.T) {
	s := newInstructions(t)
	const pairs = 7 // the values of which all pairs are tried
	for _, op := range plainOpcodes() {
		after := []any{op}
		try := func(before ...[]any) {
			if all := append(before, after); s.run("V", roomy, all...) != [2]bool{} {
				s.follow(all...)
			}
		}
		try()
		for i, first := range values() {
			try(first)
			for _, second := range values()[:min(pairs, len(values()))] {
				if i < pairs || op >= code.Iaload && op <= code.Saload {
					try(first, second)
				}
			}
		}
	}
	t.Logf("%d methods, %d of them rejected", s.checked, s.rejected)
	if s.rejected < 10_000 || s.checked-s.rejected < 2000 {
		t.Errorf("%d methods, %d of them rejected, are too few", s.checked, s.rejected)
	}
}

// TestQuickPathOfOperands applies each instruction with a constant to values of all types, alone and in pairs.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfOperands(t *testing.T) {
	s := newInstructions(t)
	class, field, method, face, number, long := addOperands(crafted.NewClass(52, "T", "far/Base"))
	instructions := [][]any{{code.Ldc, int(number)}, {code.LdcW, number}, {code.Ldc2W, long},
		{code.Invokeinterface, face, 2, 0}, {code.Multianewarray, class, 1}}
	for op, operand := range map[code.Op]uint16{code.Getstatic: field, code.Putstatic: field, code.Getfield: field,
		code.Putfield: field, code.Invokevirtual: method, code.Invokespecial: method, code.Invokestatic: method,
		code.New: class, code.Anewarray: class, code.Checkcast: class, code.Instanceof: class} {
		instructions = append(instructions, []any{op, operand})
	}
	for _, instruction := range instructions {
		for _, first := range append(values(), nil) {
			for _, second := range append(values()[:7], nil) {
				if s.run("V", roomy, first, second, instruction) != [2]bool{} {
					s.follow(first, second, instruction)
				}
			}
		}
	}
	if s.rejected < 2000 || s.checked-s.rejected < 500 {
		t.Errorf("%d methods, %d of them rejected, are too few", s.checked, s.rejected)
	}
}

// TestQuickPathOfHighOperands has classes whose index begins with a byte that would be the type of an array.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfHighOperands(t *testing.T) {
	s := newInstructions(t)
	for high := uint16(4); high <= 11; high++ {
		a := crafted.NewClass(52, "T", "far/Base")
		for n := byte(0); a.Count < high<<8; n++ {
			a.Constant(classfile.TagInteger, byte(a.Count>>8), byte(a.Count), 0, n)
		}
		class := a.ClassIndex("far/Other")
		for _, op := range []code.Op{code.New, code.Anewarray, code.Checkcast, code.Instanceof} {
			for _, then := range [][]any{{code.Arraylength}, {code.Pop}, {code.AconstNull, code.Arraylength}} {
				m := faulty(roomy, 1, append([]any{code.Iconst0, op, class}, append(then, code.Return)...)...)
				a.Methods = []crafted.Method{m}
				s.compare(t, a.Parse(t))
			}
		}
	}
	if s.rejected < 8*6 || s.checked == s.rejected {
		t.Errorf("%d methods, %d of them rejected", s.checked, s.rejected)
	}
}

// TestQuickPathOfElements stores values of all types in arrays of all types, and loads elements below such values.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfElements(t *testing.T) {
	s := newInstructions(t)
	for op := code.Iastore; op <= code.Sastore; op++ {
		for _, array := range values() {
			for _, index := range [][]any{{code.Iconst0}, {code.Fconst0}} {
				for _, value := range values() {
					s.run("V", roomy, array, index, value, []any{op})
					s.run("V", roomy, array, index, value, []any{op - code.Iastore + code.Iaload})
				}
			}
		}
		for _, value := range values() {
			s.run("V", roomy, value, []any{op})
			s.run("V", roomy, value, value, []any{op})
		}
	}
	for _, array := range values() {
		for _, value := range values() {
			s.run("V", roomy, array, []any{code.Iconst0}, value, []any{code.Arraylength})
		}
	}
	if s.rejected < 2000 || s.checked-s.rejected < 50 {
		t.Errorf("%d methods, %d of them rejected, are too few", s.checked, s.rejected)
	}
}

// TestQuickPathOfReturns returns values of all types as results of all types, and branches by them.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfReturns(t *testing.T) {
	s := newInstructions(t)
	for _, value := range append(values(), nil) {
		for op := code.Ireturn; op <= code.Return; op++ {
			for _, result := range []string{"V", "I", "Z", "J", "F", "D", "LT;", "Ljava/lang/String;", "[I", "Lfar/Face;"} {
				s.run(result, roomy, value, []any{op})
			}
		}
		s.run("V", roomy, value, []any{code.Athrow})
		for op := code.Ifeq; op <= code.Ifnonnull; op++ {
			if op.Operand() == code.OperandBranch && op != code.Goto && op != code.Jsr {
				s.run("V", roomy, value, []any{op, uint16(3)})
				for _, second := range append(values(), nil) {
					s.run("V", roomy, value, second, []any{op, uint16(3)})
				}
			}
		}
	}
	if s.rejected < 2000 || s.checked-s.rejected < 100 {
		t.Errorf("%d methods, %d of them rejected, are too few", s.checked, s.rejected)
	}
}

// TestQuickPathOfLocals loads values of all types from all locals, in each form of the instruction, also after a store
// into a local that is near.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathOfLocals(t *testing.T) {
	s := newInstructions(t)
	const types, locals = 5, 10
	forms := func(first, short code.Op, kind, local int) (all [][]any) {
		op := first + code.Op(kind)
		all = [][]any{{op, local}, {code.Wide, op, uint16(local)}}
		if local < 4 {
			all = append(all, []any{short + code.Op(4*kind+local)})
		}
		return all
	}
	loads := func(kind, local int) [][]any { return forms(code.Iload, code.Iload0, kind, local) }
	stores := func(kind, local int) [][]any { return forms(code.Istore, code.Istore0, kind, local) }
	for local := range locals + 1 {
		s.run("V", roomy, []any{code.Iinc, local, 1})
		for kind := range types {
			for _, load := range loads(kind, local) {
				if s.run("V", roomy, load) != [2]bool{} {
					s.follow(load)
				}
			}
			for _, value := range values()[:7] {
				for form, store := range stores(kind, local) {
					if s.run("V", roomy, value, store) == [2]bool{} {
						continue
					}
					if form > 0 { // it does what the first form does
						s.run("V", roomy, value, store, loads(kind, local)[form])
						continue
					}
					for near := max(0, local-2); near <= local+2; near++ {
						s.run("V", roomy, value, store, []any{code.Iinc, near, 1})
						for kind := range types {
							s.run("V", roomy, value, store, []any{code.Iload + code.Op(kind), near})
						}
					}
				}
			}
		}
	}
	if s.rejected < 2000 || s.checked-s.rejected < 500 {
		t.Errorf("%d methods, %d of them rejected, are too few", s.checked, s.rejected)
	}
}
