package code_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// followBothWays returns the depths of a method. It checks that they are those along the paths of the code, whether
// Follow has followed these or the order of the code.
func followBothWays(t testing.TB, m sample) (*code.Depths, error) {
	t.Helper()
	var got, want code.Depths
	err := got.Follow(m.class.ConstantPool(), &m.code)
	wantErr := want.FollowPaths(m.class.ConstantPool(), &m.code)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%s: %v, along the paths %v", m.name, err, wantErr)
	}
	if err != nil {
		return &got, err
	}
	if got.Max != want.Max || got.Subroutines != want.Subroutines {
		t.Errorf("%s: greatest depth %d, subroutines %v; along the paths %d, %v",
			m.name, got.Max, got.Subroutines, want.Max, want.Subroutines)
	}
	for pc := range m.code.Bytecode {
		depth, reached := got.At(pc)
		if wantDepth, wantReached := want.At(pc); depth != wantDepth || reached != wantReached {
			t.Errorf("%s: at %d depth %d, %v; along the paths %d, %v", m.name, pc, depth, reached, wantDepth, wantReached)
		}
	}
	leaving, ok := got.AppendLeaving(nil)
	var wantLeaving []int
	for in := range code.Instructions(m.code.Bytecode) {
		if in.Op.IsReturn() || in.Op == code.Athrow {
			wantLeaving = append(wantLeaving, in.PC)
		}
	}
	if ok && !slices.Equal(leaving, wantLeaving) {
		t.Errorf("%s: leaves at %v, want %v", m.name, leaving, wantLeaving)
	}
	return &got, nil
}

// relocateBothWays applies a patch. It checks that the result is the same with and without the depths.
func relocateBothWays(t testing.TB, m sample, patch code.Patch, pool *classfile.PoolBuilder) (
	info []byte, notes []code.Note, err error) {
	t.Helper()
	var r, quick code.Relocator
	info, notes, err = r.Relocate(nil, m.class, m.method, &m.code, patch, pool)
	var depths code.Depths
	if depths.Follow(m.class.ConstantPool(), &m.code) != nil {
		return info, notes, err
	}
	patch.Depths = &depths
	quickInfo, quickNotes, quickErr := quick.Relocate(nil, m.class, m.method, &m.code, patch, pool)
	if fmt.Sprint(err) != fmt.Sprint(quickErr) || !bytes.Equal(info, quickInfo) || !slices.Equal(notes, quickNotes) {
		t.Errorf("%s: without depths\n%x, notes %v, error %v; with depths\n%x, notes %v, error %v",
			m.name, info, notes, err, quickInfo, quickNotes, quickErr)
	}
	return info, notes, err
}

// TestCorpusInOrder checks that the walk through the code in its order finds the same depths as the walk along its
// paths, and that nearly all released code is followed in its order.
//
// Invariant: The depths of the operand stack are the same whether code is followed in its order or along its paths.
func TestCorpusInOrder(t *testing.T) {
	nightly.Only(t, "classes")
	methods, inOrder := 0, 0
	check := func(m sample) {
		methods++
		if depths, err := followBothWays(t, m); err == nil && depths.InOrder() {
			inOrder++
		}
	}
	for _, m := range sampleMethods(t) {
		check(m)
	}
	if inOrder < methods*3/4 {
		t.Errorf("of %d sample methods %d were followed in order", methods, inOrder)
	}
	methods, inOrder = 0, 0
	eachCorpusMethod(t, 3, check)
	t.Logf("measured: %d methods, of which %d were followed in order", methods, inOrder)
	if inOrder < methods*19/20 {
		t.Error("that is less than 19 of 20")
	}
}

// TestInOrderRarely checks what followInOrder and the quick layout leave to the code for everything, and the forms of
// methods that no released code has.
func TestInOrderRarely(t *testing.T) {
	noFrames := map[string][]byte{"StackMapTable": u2s(0)}
	secondTable := assembly{bytecode: asm(code.Return), attributes: noFrames}.sample(t)
	secondTable.code.Attributes = append(secondTable.code.Attributes, secondTable.code.Attributes[0])
	oddSwitch := asm(code.Iconst0, code.Tableswitch, byte(0), byte(1), 0, 19, 0, 0, 0, 0, 0, 19, code.Return)
	for _, test := range []struct {
		name    string
		method  sample
		inOrder bool
	}{
		{"two tables", secondTable, false},
		{"a wide ret", assembly{bytecode: asm(code.Wide, code.Ret, 0, code.Return)}.sample(t), false},
		{"a wide iinc", assembly{bytecode: asm(code.Wide, code.Iinc, 0, 1, code.Return)}.sample(t), true},
		{"no frames", assembly{bytecode: asm(code.Return), attributes: noFrames}.sample(t), true},
		{"padding", assembly{bytecode: oddSwitch}.sample(t), true},
		{"goto_w", assembly{bytecode: asm(code.GotoW, 0, 5, code.Return)}.sample(t), false},
		{"a value below the stack", assembly{bytecode: asm(code.Putstatic, fieldInt, code.Return),
			attributes: map[string][]byte{"StackMapTable": asm(1, byte(3))}}.sample(t), false},
		{"arguments below the stack", assembly{bytecode: asm(code.Aload0, code.Invokevirtual, callWide, code.Pop2,
			code.Return)}.sample(t), false},
	} {
		depths, err := followBothWays(t, test.method)
		if depths.InOrder() != test.inOrder {
			t.Errorf("%s: in order %v, %v", test.name, depths.InOrder(), err)
		}
		for _, handler := range []*code.Handler{nil, {Bytecode: []byte{0xBF}, Throwable: classT, Ranges: [][2]int{{0, 1}}}} {
			patch := code.Patch{Handler: handler, Insertions: []code.Insertion{{Bytecode: nops(3), Entry: true}}}
			pool := classfile.NewPoolBuilder(test.method.class.ConstantPool())
			relocateBothWays(t, test.method, patch, pool)
		}
	}
}
