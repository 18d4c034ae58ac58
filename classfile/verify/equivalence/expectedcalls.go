package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// atStart holds the position of the one entry call that all methods but some constructors have.
var atStart = []int{0}

// checkExpectedCalls compares the calls of the current method with those that were asked for: where they stand, and the
// max_stack that they need. before is the original's code. It is known to be equal to what is left of the method
// without the calls, so that data flow analyses of it also hold for the rewritten code.
func (r *checker) checkExpectedCalls(old *classfile.Member, before *classfile.Code, id uint32) {
	r.checkStack(before)
	r.checkInstanceReports(old, before)
	if id == 0 {
		return // checkIDs has reported every other call, except the focus call
	}
	var entered *code.Initialised
	entries := atStart
	if r.want.entryAfterSuper() && r.member.Name == "<init>" && r.original.SuperName() != "" {
		initialised, err := code.Initialisation(r.original.ConstantPool(), before)
		if err != nil {
			r.report(-1, ruleEntry, "a constructor whose paths can be followed", err.Error())
			return
		}
		entered, entries = &initialised, nil
		for _, pc := range initialised.Calls {
			if in, err := code.At(before.Bytecode, pc); err == nil {
				entries = append(entries, pc+in.Size)
			}
		}
	}
	r.checkEntries(entries)
	r.checkPosts()
	r.checkExits(old, before, entered)
	r.checkHandler(entered)
}

// checkIDs checks that every call has the method's ID, or that of the continuation, and that there is a focus call if
// and only if hooked is set.
func (r *checker) checkIDs(id uint32, hooked bool) {
	hooks := 0
	for _, c := range r.calls {
		switch {
		case c.kind == callFocus:
			hooks++
		case c.kind == callInstance:
			if int64(c.id) != int64(r.want.Continuation) {
				r.report(c.start, ruleID, fmt.Sprint(r.want.Continuation), fmt.Sprint(c.id))
			}
		case id == 0:
			r.report(c.start, ruleID, "no calls", fmt.Sprintf("a call with ID %d", c.id))
		case int64(c.id) != int64(id):
			r.report(c.start, ruleID, fmt.Sprint(id), fmt.Sprint(c.id))
		}
	}
	want := 0
	if hooked {
		want = 1
	}
	if hooks != want {
		r.report(-1, ruleFocus, fmt.Sprintf("%d calls of at", want), fmt.Sprint(hooks))
	}
}

// checkStack checks that max_stack grew by exactly what the calls need. In a method with jsr, the depth of the stack is
// not known for sure; there it must have grown by the words that one call needs, which is enough in any case.
func (r *checker) checkStack(before *classfile.Code) {
	want := max(int(before.MaxStack), r.need)
	if r.subroutines {
		want = int(before.MaxStack) + r.mostWords()
	}
	if int(r.code.MaxStack) != want || want < r.need {
		r.report(-1, ruleStack, fmt.Sprintf("%d (the original has %d, the calls need %d)", want, before.MaxStack, r.need),
			fmt.Sprint(r.code.MaxStack))
	}
}

func (r *checker) checkEntries(want []int) {
	got := r.entries[:0]
	for _, c := range r.calls {
		if c.kind == callEntry {
			got = append(got, c.orig)
		}
	}
	r.entries = got
	if !slices.Equal(got, want) {
		r.report(-1, ruleEntry, fmt.Sprintf("entries before the original's %d", want), fmt.Sprint(got))
	}
}

// reportDifference reports where the rebuilt Code attribute differs from the original's, whose info is given.
func (r *checker) reportDifference(old *classfile.Member, info []byte) {
	before, _, err := r.original.Code(old)
	if err != nil {
		r.report(-1, ruleMethod, "an original with well-formed code", err.Error())
		return
	}
	rebuilt := r.rebuilt
	u2 := func(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
	if u2(rebuilt, 0) != u2(info, 0) {
		r.report(-1, ruleStack, fmt.Sprintf("%d without the calls", u2(info, 0)), fmt.Sprint(u2(rebuilt, 0)))
	}
	if u2(rebuilt, 2) != u2(info, 2) {
		r.report(-1, ruleCode, fmt.Sprintf("max_locals %d", u2(info, 2)), fmt.Sprint(u2(rebuilt, 2)))
	}
	own := rebuilt[8 : 8+int(binary.BigEndian.Uint32(rebuilt[4:]))]
	if at, differs := firstDifference(before.Bytecode, own); differs {
		r.report(r.nowAt(at), ruleCode, fmt.Sprintf("the original's code at %d without the calls", at),
			"another instruction or operand")
		return // the differences in tables would only follow from this one
	}
	if at, differs := firstDifference(info[8+len(own):], rebuilt[8+len(own):]); differs {
		at += 8 + len(own)
		r.report(-1, ruleTable, "the tables of the original without the calls", r.partAt(&before, info, at))
	}
}

func firstDifference(a, b []byte) (at int, differs bool) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i, true
		}
	}
	return min(len(a), len(b)), len(a) != len(b)
}

// nowAt returns the position in the rewritten code of the instruction that contains position orig of the original.
func (r *checker) nowAt(orig int) int {
	now := -1
	for pc, place := range r.places {
		if place&sideInst != 0 && int(place>>sideBits) <= orig {
			now = pc
		}
	}
	return now
}

// partAt describes, for a finding, the part of a Code attribute's info that contains byte at.
func (r *checker) partAt(before *classfile.Code, info []byte, at int) string {
	base := before.Offset - 8
	for i := range before.Attributes {
		a := &before.Attributes[i]
		if start := a.Offset - base; at >= start-6 && at < start+len(a.Info) {
			return fmt.Sprintf("another %s, from its byte %d on", a.Name, max(0, at-start))
		}
	}
	if at >= len(info) {
		return "more bytes"
	}
	return fmt.Sprintf("another exception table or attribute, from byte %d of Code on", at)
}
