package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile/code"
)

// subroutine is a call of a subroutine that has not returned (JVMS 4.10.2.5): the position at which the subroutine
// begins, and the locals that were read or written since the call.
type subroutine struct {
	entry   int
	touched []uint64 // a bit for each local
}

// touch records that a local was read or written.
func (s *subroutine) touch(local int) {
	for len(s.touched) <= local/64 {
		s.touched = append(s.touched, 0)
	}
	s.touched[local/64] |= 1 << (local % 64)
}

// touches reports whether a local was read or written.
func (s *subroutine) touches(local int) bool {
	return local/64 < len(s.touched) && s.touched[local/64]>>(local%64)&1 != 0
}

// touch records that a local was read or written, for all subroutines.
func (f *flowFacts) touch(local int) {
	for i := range f.subroutines {
		f.subroutines[i].touch(local)
	}
}

// words returns roughly how many words of memory clone takes.
func (f *flowFacts) words() int {
	n := 0
	for i := range f.subroutines {
		n += 8 + 2*len(f.subroutines[i].touched)
	}
	return n
}

// clone returns a copy that shares no memory that touch changes.
func (f *flowFacts) clone() flowFacts {
	c := *f
	c.subroutines = slices.Clone(f.subroutines)
	for i := range c.subroutines {
		c.subroutines[i].touched = slices.Clone(c.subroutines[i].touched)
	}
	return c
}

// merge merges the facts of another path into f and reports whether f has changed. Of the subroutines, those remain
// that both paths are in, in the same order, with the locals that either path used.
func (f *flowFacts) merge(other *flowFacts) (changed bool) {
	constructed := f.constructed && other.constructed
	needs := f.needsConstruct || other.needsConstruct
	mayNot := f.mayNotReturn || other.mayNotReturn
	changed = constructed != f.constructed || needs != f.needsConstruct || mayNot != f.mayNotReturn
	f.constructed, f.needsConstruct, f.mayNotReturn = constructed, needs, mayNot
	var common []subroutine
	next := 0
	for i := range f.subroutines {
		mine := &f.subroutines[i]
		for j := next; j < len(other.subroutines); j++ {
			theirs := &other.subroutines[j]
			if theirs.entry != mine.entry {
				continue
			}
			for word, bits := range theirs.touched {
				if bits == 0 {
					continue
				}
				for len(mine.touched) <= word {
					mine.touched = append(mine.touched, 0)
				}
				changed = changed || bits&^mine.touched[word] != 0
				mine.touched[word] |= bits
			}
			common = append(common, *mine)
			next = j + 1
			break
		}
	}
	changed = changed || len(common) < len(f.subroutines)
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
	f.now.subroutines = append(f.now.subroutines, subroutine{entry: entry})
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
		if returned.touches(i) {
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
