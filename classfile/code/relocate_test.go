package code_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// randomPatch returns a patch with insertions of random kinds and lengths in front of some instructions, and
// sometimes a handler. One of the insertions has longest bytes.
func randomPatch(random *rand.Rand, m sample, longest int, pool *classfile.PoolBuilder) code.Patch {
	var starts, behindBranches []int
	for in := range code.Instructions(m.code.Bytecode) {
		if n := len(starts); n > 0 && code.Op(m.code.Bytecode[starts[n-1]]).IsConditional() {
			behindBranches = append(behindBranches, n)
		}
		starts = append(starts, in.PC)
	}
	patch := code.Patch{MaxStack: m.code.MaxStack + uint16(random.IntN(3))}
	longAt := random.IntN(len(starts))
	if n := len(behindBranches); n > 0 {
		longAt = behindBranches[random.IntN(n)]
	}
	density := random.Float64() * random.Float64()
	for i, pc := range starts {
		for entry := true; ; entry = false {
			length := 1 + random.IntN(7)
			if i == longAt && !entry {
				length = longest
			}
			if length > 0 && (random.Float64() < density || i == longAt && !entry) {
				patch.Insertions = append(patch.Insertions,
					code.Insertion{PC: pc, Bytecode: make([]byte, length), Entry: entry})
			}
			if !entry {
				break
			}
		}
	}
	if random.IntN(4) == 0 {
		h := &code.Handler{Bytecode: []byte{0x57, 0xBF}, Throwable: pool.Class("java/lang/Throwable")}
		end := len(m.code.Bytecode)
		from := starts[random.IntN(len(starts))]
		h.Ranges = append(h.Ranges, [2]int{from, end})
		if from > 0 {
			h.Ranges = [][2]int{{0, from}, {from, end}}
		}
		patch.Handler = h
	}
	return patch
}

// TestRelocateSamples moves the methods of testdata, with insertions that are short and others over which few branches
// reach, and compares the result with the model.
//
// Invariant: Code that is moved means the same: every offset goes where an independent model says.
func TestRelocateSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	stretched := 0
	for _, m := range sampleMethods(t) {
		for round := range 24 {
			longest := 5
			if round%2 == 1 {
				longest = 32000 + random.IntN(768)
			}
			if relocateRandomly(t, random, m, longest) && longest > 5 {
				stretched++
			}
		}
	}
	if stretched < 100 {
		t.Errorf("only %d methods were stretched", stretched)
	}
}

// relocateRandomly checks a random patch of a method. It returns whether the method takes it.
func relocateRandomly(t *testing.T, random *rand.Rand, m sample, longest int) bool {
	t.Helper()
	pool := classfile.NewPoolBuilder(m.class.ConstantPool())
	patch := randomPatch(random, m, longest, pool)
	r, err := relocate(t, m, patch, pool)
	if errors.Is(err, code.ErrTooLarge) || errors.Is(err, code.ErrUnknownAttribute) {
		return false
	}
	if err != nil {
		t.Errorf("%s: %v", m.name, err)
		return false
	}
	r.check()
	return true
}

// TestRelocateNothing checks that without a patch the code stays as it is.
func TestRelocateNothing(t *testing.T) {
	for _, m := range sampleMethods(t) {
		pool := classfile.NewPoolBuilder(m.class.ConstantPool())
		info, notes, err := relocated(m, code.Patch{MaxStack: m.code.MaxStack}, pool)
		a, _ := classfile.FindAttribute(m.method.Attributes, "Code")
		if err != nil || len(notes) > 0 || !bytes.Equal(info, a.Info) || pool.Len() != m.class.ConstantPool().Len() {
			t.Errorf("%s: notes %v, error %v, same bytes: %v", m.name, notes, err, bytes.Equal(info, a.Info))
		}
	}
}
