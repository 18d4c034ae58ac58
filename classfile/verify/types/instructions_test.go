package types_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// writeJar writes class files, by their names, into a jar and returns its path.
func writeJar(t *testing.T, classes map[string][]byte) (path string) {
	files := map[string][]byte{}
	for name, data := range classes {
		files[name+".class"] = data
	}
	return fixture.Write(t, filepath.Join(t.TempDir(), "classes.jar"), fixture.ZipOf(t, files))
}

// instructions makes methods of few instructions. All have the same parameters, so that locals 0 to 7 are this, an int,
// a long, a float, a double and an array, and 8 and 9 are unset. Each is the only method of two classes, of which one
// is checked by type checking (version 52) and one by inference (version 49).
type instructions struct {
	t       *testing.T
	world   world
	every   int               // one class of so many is kept
	made    int               // classes so far
	classes map[string][]byte // those that are kept, by name
	correct map[string]bool   // the answer of the type checker for each
	text    map[string]string // the code of each
}

// try makes a method, and reports whether the type checker has no finding for one of its classes.
func (s *instructions) try(result string, stack uint16, parts ...[]any) (correct bool) {
	for _, major := range []uint16{52, 49} {
		a := crafted.NewClass(major, fmt.Sprintf("t/T%d", s.made), "far/Base")
		addOperands(a)
		m := faulty(stack, 10, append(slices.Concat(parts...), code.Return)...)
		m.Access, m.Descriptor = classfile.AccPublic, "(IJFD[I)"+strings.ReplaceAll(result, "This", a.Name)
		a.Add(m)
		ok := len(types.Check(a.Parse(s.t), s.world)) == 0
		correct = correct || ok
		if s.made++; s.made%s.every == 0 {
			s.classes[a.Name], s.correct[a.Name] = a.Bytes(), ok
			s.text[a.Name] = fmt.Sprintf("version %d, max_stack %d, result %s: %v", major, stack, result, parts)
		}
	}
	return correct
}

// addOperands adds the constants that the instructions use, and returns the index of one for each kind of instruction.
func addOperands(a *crafted.Class) (class, field, method, face, number, long uint16) {
	class = a.ClassIndex("java/lang/Object") // is constant 2
	field, method = a.Fieldref(a.Name, "x", "F"), a.Methodref(a.Name, "x", "(F)F")
	face, number = interfaceMethod(a, "x", "(F)F"), a.Constant(classfile.TagFloat, 0, 0, 0, 5)
	long = a.Constant(classfile.TagDouble, 0, 0, 0, 0, 0, 0, 0, 5)
	a.Count++
	return class, field, method, face, number, long
}

const (
	roomy = 12 // words on the stack, more than any of these methods needs
	pairs = 7  // the values of which all pairs are tried
)

// values are instructions that push one value of each type, or none.
func values() (all [][]any) {
	all = [][]any{{code.Iconst0}, {code.Lconst0}, {code.Fconst0}, {code.Dconst0}, {code.AconstNull}, {code.Aload0},
		{code.New, uint16(2)}}
	for component := 4; component <= 11; component++ {
		all = append(all, []any{code.Iconst0, code.Newarray, component})
	}
	return append(all, []any{code.Iconst0, code.Anewarray, uint16(2)}, nil)
}

// follow tries what may come after correct instructions: other types than theirs on the stack, and less room.
func (s *instructions) follow(parts ...[]any) {
	parts = slices.Clip(parts)
	for _, op := range []code.Op{code.Istore, code.Lstore, code.Fstore, code.Dstore, code.Astore} {
		s.try("V", roomy, append(parts, []any{op, 8})...)
	}
	for _, then := range [][]any{{code.Pop}, {code.Pop2}, {code.Iconst0, code.Aaload}, {code.Iconst0, code.Iaload}} {
		s.try("V", roomy, append(parts, then)...)
	}
	for room := range uint16(6) {
		s.try("V", room, parts...)
		s.try("V", room, append(parts, []any{code.Iconst0})...)
	}
}

// plain applies each instruction without operands, and each with a constant, to values of all types, alone and in
// pairs.
func (s *instructions) plain() {
	class, field, method, face, number, long := addOperands(crafted.NewClass(52, "T", "far/Base"))
	all := [][]any{{code.Ldc, int(number)}, {code.LdcW, number}, {code.Ldc2W, long},
		{code.Invokeinterface, face, 2, 0}, {code.Multianewarray, class, 1},
		{code.Getstatic, field}, {code.Putstatic, field}, {code.Getfield, field}, {code.Putfield, field},
		{code.Invokevirtual, method}, {code.Invokespecial, method}, {code.Invokestatic, method},
		{code.New, class}, {code.Anewarray, class}, {code.Checkcast, class}, {code.Instanceof, class}}
	for op := code.Nop; op.Known(); op++ {
		isLocal := op >= code.Iload0 && op <= code.Aload3 || op >= code.Istore0 && op <= code.Astore3
		if op.Size() == 1 && !isLocal && !op.IsReturn() {
			all = append(all, []any{op})
		}
	}
	for _, in := range all {
		for i, first := range values() {
			for j, second := range append(values()[:pairs], nil) {
				op := in[0].(code.Op)
				if i >= pairs && j < pairs && len(in) == 1 && (op < code.Iaload || op > code.Saload) {
					continue
				}
				if s.try("V", roomy, first, second, in) {
					s.follow(first, second, in)
				}
			}
		}
	}
}

// elements stores values of all types in arrays of all types, and loads elements below such values.
func (s *instructions) elements() {
	for op := code.Iastore; op <= code.Sastore; op++ {
		for _, array := range values() {
			for _, index := range [][]any{{code.Iconst0}, {code.Fconst0}} {
				for _, value := range values() {
					s.try("V", roomy, array, index, value, []any{op})
					s.try("V", roomy, array, index, value, []any{op - code.Iastore + code.Iaload})
				}
			}
		}
	}
}

// returns returns values of all types as results of all types, throws them, and branches by them.
func (s *instructions) returns() {
	for _, value := range values() {
		for op := code.Ireturn; op <= code.Return; op++ {
			for _, result := range []string{"V", "I", "Z", "J", "F", "D", "LThis;", "Ljava/lang/String;", "[I", "Lfar/Face;"} {
				s.try(result, roomy, value, []any{op})
			}
		}
		s.try("V", roomy, value, []any{code.Athrow})
		for op := code.Ifeq; op <= code.Ifnonnull; op++ {
			if op.Operand() != code.OperandBranch || op == code.Goto || op == code.Jsr {
				continue
			}
			for _, second := range values() {
				s.try("V", roomy, value, second, []any{op, uint16(3)})
			}
		}
	}
}

// locals loads values of all types from all locals, in each form of the instruction, also after a store into a local
// that is near.
func (s *instructions) locals() {
	const types, locals = 5, 10
	forms := func(first, short code.Op, kind, local int) (all [][]any) {
		op := first + code.Op(kind)
		all = [][]any{{op, local}, {code.Wide, op, uint16(local)}}
		if local < 4 {
			all = append(all, []any{short + code.Op(4*kind+local)})
		}
		return all
	}
	for local := range locals + 1 {
		s.try("V", roomy, []any{code.Iinc, local, 1})
		for kind := range types {
			for _, load := range forms(code.Iload, code.Iload0, kind, local) {
				if s.try("V", roomy, load) {
					s.follow(load)
				}
			}
			for _, value := range values()[:pairs] {
				for _, store := range forms(code.Istore, code.Istore0, kind, local) {
					if !s.try("V", roomy, value, store) {
						continue
					}
					for near := max(0, local-2); near <= local+2; near++ {
						s.try("V", roomy, value, store, []any{code.Iinc, near, 1})
						for kind := range types {
							s.try("V", roomy, value, store, []any{code.Iload + code.Op(kind), near})
						}
					}
				}
			}
		}
	}
}

// TestInstructions: the type checker accepts a method of few instructions if HotSpot links it. The methods have each
// instruction with operands of each type; one in 40 is tried, and in the share classes each.
func TestInstructions(t *testing.T) {
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	s := instructions{t: t, world: smallWorld(t), every: 41, classes: map[string][]byte{}, correct: map[string]bool{},
		text: map[string]string{}}
	if nightly.Runs("classes") {
		s.every = 1
	}
	s.plain()
	s.elements()
	s.returns()
	s.locals()
	base := crafted.NewClass(52, "far/Base", "java/lang/Object")
	face := crafted.NewClass(52, "far/Face", "java/lang/Object")
	face.Access = classfile.AccPublic | classfile.AccInterface | classfile.AccAbstract
	classes := maps.Clone(s.classes)
	classes[base.Name], classes[face.Name] = base.Bytes(), face.Bytes()
	jar := writeJar(t, classes)
	for _, jdk := range jdks {
		results := oracle.Link(t, jdk, []oracle.LinkJob{{ID: "instructions", Jar: jar}})
		if len(results) != len(classes) {
			t.Fatalf("JDK %d: %d of %d classes", jdk.Feature, len(results), len(classes))
		}
		linked, wrong := 0, 0
		for _, r := range results {
			name := strings.ReplaceAll(r.Class, ".", "/")
			links := r.Status == oracle.Linked
			if links {
				linked++
			}
			if want, ok := s.correct[name]; ok && want != links {
				if wrong++; wrong <= 10 {
					t.Errorf("JDK %d, %s: HotSpot says %s %s; accepted: %v", jdk.Feature, s.text[name], r.Status, r.Message, want)
				}
			}
		}
		t.Logf("JDK %d: %d of %d methods, of which %d link, %d wrong", jdk.Feature, len(s.classes), s.made, linked, wrong)
		if linked < len(classes)/20 || linked > len(classes)/2 {
			t.Errorf("JDK %d: %d of %d classes link", jdk.Feature, linked, len(classes))
		}
	}
}
