package equivalence_test

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

var lockstepRounds = flag.Int("lockstep-rounds", 1, "how many times the mutants of TestLockstepOfMutants")

// compared counts what the tests of the lockstep compared.
type compared struct{ pairs, accepted, sure, asked int }

// compare checks a pair of classes with the lockstep and without, and reports a difference.
func (n *compared) compare(t *testing.T, what string, c, rewritten *classfile.Class,
	want equivalence.Instrumentation) {
	t.Helper()
	got, sure, asked := equivalence.CheckCounting(c, rewritten, want)
	exact := equivalence.CheckExactly(c, rewritten, want)
	if !slices.Equal(got, exact) {
		t.Errorf("%s, %s: the lockstep leads to %d findings, the exact path to %d: %v", c.Name(), what, len(got),
			len(exact), append(got, exact...))
	}
	n.pairs++
	n.sure += sure
	n.asked += asked
	if len(exact) == 0 {
		n.accepted++
	}
}

// realClasses returns up to n real classes, which are the same in each run.
func realClasses(t *testing.T, n int) (all []*classfile.Class) {
	classes := corpus.BenchClasses(t)
	step := max(1, len(classes)/n)
	for i := 0; i < len(classes); i += step {
		if c, err := classfile.Parse(classes[i]); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// TestLockstep holds that the lockstep decides nearly all methods of real classes, in the modes that it knows, as the
// exact path does.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstep(t *testing.T) {
	all := append(realClasses(t, 1000), crafted.All(t)...)
	for _, m := range crafted.Modes {
		var n compared
		for _, c := range all {
			if data, want, ok := m.Instrument(t, c); ok {
				n.compare(t, m.Name, c, parsed(t, data), want)
			}
		}
		if n.accepted != n.pairs {
			t.Errorf("%s: %d of %d accepted", m.Name, n.accepted, n.pairs)
		}
		// The committed sample has few methods, and the crafted classes more of what the lockstep leaves alone.
		want := n.asked * 8 / 10
		switch {
		case m.Options.Posts || m.Options.Exits == inject.ExitsExact:
			want = 0
		case n.asked < 1000:
			want = n.asked / 2
		}
		if n.sure < want || n.asked < 100 {
			t.Errorf("%s: %d of %d methods are decided in lockstep", m.Name, n.sure, n.asked)
		}
		t.Logf("measured: %s: %d of %d methods in lockstep", m.Name, n.sure, n.asked)
	}
}

func parsed(t *testing.T, data []byte) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLockstepOfMutants compares the verdicts of the lockstep with those of the exact path: on rewritten classes with a
// fault, on classes with a fault that were instrumented, and on pairs that have the same fault in both.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfMutants(t *testing.T) {
	classes := 30
	if testing.Short() {
		classes = 5
	}
	all := append(realClasses(t, classes), crafted.All(t)...)
	for _, m := range crafted.Modes {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, uint64(len(m.Name))))
			var rewritten, instrumented, twins compared
			for range *lockstepRounds {
				for _, c := range all {
					if len(c.Bytes()) > 8192 {
						continue
					}
					data, want, ok := m.Instrument(t, c)
					if !ok {
						continue
					}
					rewritten.mutateRewritten(t, rng, c, data, want)
					instrumented.mutateOriginal(t, rng, m, c)
					twins.mutateBoth(t, rng, c, data, want)
				}
			}
			for _, n := range []compared{rewritten, instrumented, twins} {
				if n.pairs < 300 {
					t.Errorf("only %d pairs", n.pairs)
				}
				t.Logf("measured: %d pairs, %d accepted, %d of %d methods in lockstep", n.pairs, n.accepted, n.sure, n.asked)
			}
			if m.Options.Exits != inject.ExitsExact && (instrumented.sure == 0 || twins.sure == 0) {
				t.Error("the lockstep was never sure of a method with a fault")
			}
		})
	}
}

// mutants yields classes with one fault each.
func mutants(c *classfile.Class, rng *rand.Rand, each int) func(yield func(mutate.Kind, *classfile.Class) bool) {
	return func(yield func(mutate.Kind, *classfile.Class) bool) {
		mutator := mutate.New(c, rng)
		mutator.Cross(mutator)
		for _, sort := range mutate.Sorts() {
			for _, kind := range mutate.Weighted(sort) {
				for range each {
					data, ok := mutator.Mutate(kind)
					if !ok {
						continue
					}
					if changed, err := classfile.Parse(data); err == nil && !yield(kind, changed) {
						return
					}
				}
			}
		}
	}
}

func (n *compared) mutateRewritten(t *testing.T, rng *rand.Rand, c *classfile.Class, data []byte,
	want equivalence.Instrumentation) {
	rewritten := parsed(t, data)
	for kind, changed := range mutants(rewritten, rng, 1) {
		n.compare(t, "rewritten, "+string(kind), c, changed, want)
	}
	for i := range rewritten.Methods() {
		n.resizeCode(t, rng, c, rewritten, i, want)
		info, ok := classfile.FindAttribute(rewritten.Methods()[i].Attributes, "Code")
		if !ok {
			continue
		}
		for range 10 {
			changed := slices.Clone(data)
			at := info.Offset + rng.IntN(len(info.Info))
			changed[at] += byte(1 + rng.IntN(255))
			if rng.IntN(2) == 0 { // small numbers are more often near to what was there
				changed[at] = data[at] + byte(rng.IntN(13)) - 6
			}
			if again, err := classfile.Parse(changed); err == nil {
				n.compare(t, "a byte of rewritten code", c, again, want)
			}
		}
	}
}

// resizeCode takes bytes out of the code of a rewritten method, doubles some, or adds others.
func (n *compared) resizeCode(t *testing.T, rng *rand.Rand, c, rewritten *classfile.Class, method int,
	want equivalence.Instrumentation) {
	info, ok := classfile.FindAttribute(rewritten.Methods()[method].Attributes, "Code")
	body, _, err := rewritten.Code(&rewritten.Methods()[method])
	if err != nil || !ok {
		return
	}
	for range 10 {
		length := 1 + rng.IntN(7)
		at := rng.IntN(len(body.Bytecode) + 1)
		if rng.IntN(4) == 0 {
			at = len(body.Bytecode)
		}
		bytecode := slices.Clone(body.Bytecode)
		switch end := min(at+length, len(bytecode)); rng.IntN(3) {
		case 0:
			bytecode = slices.Delete(bytecode, at, end)
		case 1:
			bytecode = slices.Insert(bytecode, at, bytecode[max(0, at-length):at]...)
		case 2:
			bytecode = slices.Insert(bytecode, at, make([]byte, length)...)
		}
		code := binary.BigEndian.AppendUint32(slices.Clone(info.Info[:4]), uint32(len(bytecode)))
		code = append(append(code, bytecode...), info.Info[8+len(body.Bytecode):]...)
		data, err := rewritten.Rewrite(classfile.Edit{KeepConstants: rewritten.ConstantPool().Len(),
			Codes: []classfile.CodeEdit{{Method: method, Info: code}}})
		if err != nil {
			t.Fatal(err)
		}
		n.compare(t, "code of another length", c, parsed(t, data), want)
	}
}

func (n *compared) mutateOriginal(t *testing.T, rng *rand.Rand, m crafted.Mode, c *classfile.Class) {
	in := m.Injector()
	for kind, changed := range mutants(c, rng, 1) {
		request := m.Request(in, changed)
		if len(request.Methods) == 0 {
			continue
		}
		data, err := in.Rewrite(changed, request)
		if err != nil {
			continue
		}
		if rewritten, err := classfile.Parse(data); err == nil {
			n.compare(t, "instrumented, "+string(kind), changed, rewritten, m.Expected(request))
		}
	}
}

// mutateBoth changes a byte of an instruction of the original, and the same byte of the rewritten class.
func (n *compared) mutateBoth(t *testing.T, rng *rand.Rand, c *classfile.Class, data []byte,
	want equivalence.Instrumentation) {
	pairs := twinBytes(t, c, parsed(t, data))
	for range min(40, len(pairs)) {
		pair := pairs[rng.IntN(len(pairs))]
		before, after := slices.Clone(c.Bytes()), slices.Clone(data)
		value := byte(rng.IntN(256))
		if rng.IntN(3) == 0 {
			value = before[pair[0]] + byte(rng.IntN(9)) - 4
		}
		before[pair[0]], after[pair[1]] = value, value
		original, err := classfile.Parse(before)
		if err != nil {
			continue
		}
		if rewritten, err := classfile.Parse(after); err == nil {
			n.compare(t, "both", original, rewritten, want)
		}
	}
}

// twinBytes returns pairs of offsets, in the original and in the rewritten class, of bytes of the same instructions and
// of attributes inside of Code that have the same length.
func twinBytes(t *testing.T, c, rewritten *classfile.Class) (pairs [][2]int) {
	block := c.ConstantPool().Len()
	twin := func(old, now, n int) {
		for i := range n {
			pairs = append(pairs, [2]int{old + i, now + i})
		}
	}
	for i := range c.Methods() {
		before, ok, err := c.Code(&c.Methods()[i])
		if err != nil || !ok {
			continue
		}
		after, _, err := rewritten.Code(&rewritten.Methods()[i])
		if err != nil {
			t.Fatal(err)
		}
		var own []code.Instruction // without the calls and what pushes the ID
		for in := range code.Instructions(after.Bytecode) {
			if in.Op == code.Invokestatic && int(in.Constant()) >= block && len(own) > 0 {
				own = own[:len(own)-1]
				continue
			}
			own = append(own, in)
		}
		at := 0
		for in := range code.Instructions(before.Bytecode) {
			if at == len(own) || own[at].Op != in.Op {
				break
			}
			twin(before.Offset+in.PC, after.Offset+own[at].PC, min(in.Size, own[at].Size))
			at++
		}
		twin(before.Offset-8, after.Offset-8, 4)
		for k := range min(len(before.Attributes), len(after.Attributes)) {
			a, b := &before.Attributes[k], &after.Attributes[k]
			if len(a.Info) == len(b.Info) {
				twin(a.Offset-6, b.Offset-6, len(a.Info)+6)
			}
		}
		twin(before.Offset+len(before.Bytecode), after.Offset+len(after.Bytecode),
			2+min(len(before.ExceptionTable), len(after.ExceptionTable)))
	}
	return pairs
}
