package types

import (
	"math/big"
	"slices"

	"github.com/tracegen/tracegen/classfile/code"
)

// subroutine is a call of a subroutine that has not returned (JVMS 4.10.2.5): the position at which the subroutine
// begins, and the locals that were read or written since the call.
type subroutine struct {
	entry   int
	touched *big.Int // a bit for each local
}

// touch records that a local was read or written, for all subroutines.
func (f *flowFacts) touch(local int) {
	for _, s := range f.subroutines {
		s.touched.SetBit(s.touched, local, 1)
	}
}

// words returns roughly how many words of memory clone takes.
func (f *flowFacts) words() int {
	n := 0
	for _, s := range f.subroutines {
		n += 8 + 2*len(s.touched.Bits())
	}
	return n
}

// clone returns a copy that shares no memory that touch changes.
func (f *flowFacts) clone() flowFacts {
	c := *f
	c.subroutines = slices.Clone(f.subroutines)
	for i, s := range c.subroutines {
		c.subroutines[i].touched = new(big.Int).Set(s.touched)
	}
	return c
}

// merge merges the facts of another path into f and reports whether f has changed. Of the subroutines, those remain
// that both paths are in, in the same order, with the locals that either path used.
func (f *flowFacts) merge(other *flowFacts) (changed bool) {
	constructed, mayNot := f.constructed && other.constructed, f.mayNotReturn || other.mayNotReturn
	changed = constructed != f.constructed || mayNot != f.mayNotReturn
	f.constructed, f.mayNotReturn = constructed, mayNot
	var common []subroutine
	rest := other.subroutines
	for _, mine := range f.subroutines {
		same := slices.IndexFunc(rest, func(theirs subroutine) bool { return theirs.entry == mine.entry })
		if same < 0 {
			changed = true
			continue
		}
		if theirs := rest[same].touched; new(big.Int).AndNot(theirs, mine.touched).Sign() != 0 {
			mine.touched.Or(mine.touched, theirs)
			changed = true
		}
		common = append(common, mine)
		rest = rest[same+1:]
	}
	f.subroutines = common
	return changed
}

// enterSubroutine records the call of a subroutine. A subroutine must not call itself.
func (f *inference) enterSubroutine() {
	in, _ := code.At(f.code.Bytecode, f.pc)
	entry, _ := in.Branch()
	for i := range f.now.subroutines {
		if f.now.subroutines[i].entry == entry {
			f.fail(ruleSubroutine, "no subroutine that calls itself", "one")
			return
		}
	}
	f.now.subroutines = append(f.now.subroutines, subroutine{entry, new(big.Int)})
}

// mergeReturn merges the state at a ret into the states after all calls of the subroutine that the return address
// belongs to.
func (f *inference) mergeReturn(row *opRow) {
	entry := f.locals[f.localOf(row)].index()
	locals, stack := withoutUninitialized(f.locals[:f.used]), withoutUninitialized(f.stack)
	for i := len(f.jsrs) - 1; i >= 0 && !f.failed(); i-- {
		call, err := code.At(f.code.Bytecode, f.jsrs[i])
		if err != nil {
			return
		}
		if target, _ := call.Branch(); target == entry {
			f.mergeOneReturn(call, entry, locals, stack)
		}
	}
}

// mergeOneReturn merges the state at the current ret into the state after one call of its subroutine, which begins at
// entry.
func (f *inference) mergeOneReturn(call code.Instruction, entry int, locals, stack []vtype) {
	if ret, ok := f.rets[call.PC]; ok && ret != f.pc {
		f.fail(ruleSubroutine, "one ret for a call of a subroutine", "two")
		return
	}
	if f.rets == nil {
		f.rets = map[int]int{}
	}
	f.rets[call.PC] = f.pc
	at := f.state(call.PC)
	if !at.reached {
		return // when it is reached, mergeTargets marks this ret again
	}
	depth := len(f.now.subroutines) - 1
	for depth >= 0 && f.now.subroutines[depth].entry != entry {
		depth--
	}
	if depth < 0 {
		f.fail(ruleSubroutine, "a return from a subroutine that was called", "another")
		return
	}
	returned := &f.now.subroutines[depth]
	after := make([]vtype, max(len(locals), len(at.locals)))
	for i := range after {
		from := at.locals
		if returned.touched.Bit(i) != 0 {
			from = locals
		}
		if i < len(from) {
			after[i] = from[i]
		}
	}
	facts := f.now
	facts.subroutines = facts.subroutines[:depth]
	next := call.PC + call.Size
	if next >= len(f.starts) {
		f.fail(ruleInference, "an instruction after a call of a subroutine", "the end of the code")
		return
	}
	f.mergeInto(next, after, stack, &facts)
}
