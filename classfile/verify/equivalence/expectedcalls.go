package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// atStart is where a method's one entry stands, but for some constructors.
var atStart = []int{0}

// checkDemands holds the calls of the method in hand to what was wanted: where they stand and what they need.
// before is the original's code, which the method's own is now known to be.
func (r *checker) checkDemands(before *classfile.Code, id uint32) {
	r.checkStack(before)
	if id == 0 {
		return // checkIDs has reported every call but the hook
	}
	var entered *code.Initialised
	entries := atStart
	if r.want.EntryAfterSuper && r.member.Name == "<init>" && r.original.SuperName() != "" {
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
	r.checkExits(before, entered)
	r.checkHandler(entered)
}

// checkIDs checks that every call reports the method's ID, and that the focus hook is there if wanted.
func (r *checker) checkIDs(id uint32, hooked bool) {
	hooks := 0
	for _, c := range r.calls {
		switch {
		case c.kind == callFocus:
			hooks++
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

// checkStack checks that max_stack grew by no more and no less than the calls need. Behind a jsr the depth
// is not known for sure, and one word more is enough in any case: that of the ID.
func (r *checker) checkStack(before *classfile.Code) {
	want := max(int(before.MaxStack), r.need)
	if r.subroutines {
		want = int(before.MaxStack) + 1
	}
	if int(r.code.MaxStack) != want || want < r.need {
		r.report(-1, ruleStack, fmt.Sprintf("%d (of the original %d, of the calls %d)", want, before.MaxStack, r.need), fmt.Sprint(r.code.MaxStack))
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

// checkExits checks that exit code stands before every instruction that must report, and before no other.
// entered is nil if the method counts as entered everywhere.
func (r *checker) checkExits(before *classfile.Code, entered *code.Initialised) {
	var covered []int32
	for _, e := range r.exits {
		demanded := e.op.IsReturn()
		if e.op == code.Athrow && r.want.ExitAtUncaughtThrow {
			if covered == nil {
				covered = r.countCovering(before)
			}
			demanded = covered[e.orig] == 0
		}
		demanded = demanded && (entered == nil || entered.At(e.orig))
		switch has := e.before != e.pc; {
		case demanded && !has:
			r.report(e.pc, ruleExit, fmt.Sprintf("exit code before %v", e.op), "none")
		case has && !demanded:
			r.report(e.before, ruleExit, fmt.Sprintf("no exit code before this %v", e.op), "exit code")
		}
	}
}

// countCovering counts for each position of the original the exception table entries that cover it.
func (r *checker) countCovering(before *classfile.Code) []int32 {
	n := len(before.Bytecode) + 1
	counts := slices.Grow(r.coverage[:0], n)[:n]
	clear(counts)
	for table := before.ExceptionTable; len(table) >= 8; table = table[8:] {
		start, end := int(binary.BigEndian.Uint16(table)), int(binary.BigEndian.Uint16(table[2:]))
		if start < end && end < n {
			counts[start]++
			counts[end]--
		}
	}
	for i := 1; i < n; i++ {
		counts[i] += counts[i-1]
	}
	r.coverage = counts
	return counts
}

// checkHandler checks the exact handler: its ranges are all code but entries, exits with their returns, and
// what runs before the method counts as entered. With nothing to cover there is none.
func (r *checker) checkHandler(entered *code.Initialised) {
	if !r.want.ExitHandler {
		if r.hasHandler {
			r.report(r.end, ruleHandler, "none", "one")
		}
		return
	}
	r.wantRanges = r.rangesToCover(r.wantRanges[:0], entered)
	table := r.code.ExceptionTable
	table = table[len(table)-8*r.handlers:]
	got, want := r.gotRanges[:0], r.wantRanges
	for ; len(table) > 0; table = table[8:] {
		got = append(got, [2]int{int(binary.BigEndian.Uint16(table)), int(binary.BigEndian.Uint16(table[2:]))})
	}
	r.gotRanges = got
	if !slices.Equal(got, want) {
		r.report(r.end, ruleHandler, fmt.Sprintf("the ranges %d", want), fmt.Sprint(got))
	}
	_, major := r.class.Version()
	frames := 0
	for i := range r.code.Attributes {
		if name := r.code.Attributes[i].Name; name == "StackMap" || name == "StackMapTable" {
			frames++
		}
	}
	if _, ok := classfile.FindAttribute(r.code.Attributes, "StackMapTable"); !ok && major >= firstFramesMajor {
		frames++
	}
	if r.hasHandler && r.handlerFrames != frames {
		r.report(r.end, ruleHandler, "a frame in every table of frames", fmt.Sprintf("%d of %d", r.handlerFrames, frames))
	}
}

// firstFramesMajor is the first class file version in which a handler needs a StackMapTable (JVMS 4.10.1).
const firstFramesMajor = 50

// rangesToCover appends the ranges of the exact handler, in the rewritten code.
func (r *checker) rangesToCover(ranges [][2]int, entered *code.Initialised) [][2]int {
	exits, edits := r.exits, r.edits
	for pc := 0; pc < r.end; {
		for len(edits) > 0 && edits[0].pc < pc {
			edits = edits[1:]
		}
		end := pc
		if len(edits) > 0 && edits[0].pc == pc {
			end = edits[0].end
			if edits[0].kind == editCut {
				pc = end
				continue
			}
		} else if _, size, err := code.Next(r.code.Bytecode, pc); err == nil {
			end = pc + size
		} else {
			return ranges[:0] // reported by recognise
		}
		for len(exits) > 0 && exits[0].pc < pc {
			exits = exits[1:]
		}
		reports := len(exits) > 0 && exits[0].pc == pc && exits[0].before != pc
		if inside := entered == nil || entered.At(int(r.places[pc]>>sideBits)); inside && !reports {
			if n := len(ranges); n > 0 && ranges[n-1][1] == pc {
				ranges[n-1][1] = end
			} else {
				ranges = append(ranges, [2]int{pc, end})
			}
		}
		pc = end
	}
	return ranges
}

// explain reports where the Code attribute that was rebuilt differs from the original's.
func (r *checker) explain(old *classfile.Member, info []byte) {
	before, _, err := r.original.Code(old)
	if err != nil {
		r.report(-1, ruleMethod, "an original with well-formed code", err.Error())
		return
	}
	rebuilt := r.rebuilt
	u2 := func(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
	if u2(rebuilt, 0) != u2(info, 0) {
		r.report(-1, ruleStack, fmt.Sprintf("%d when the calls are taken out", u2(info, 0)), fmt.Sprint(u2(rebuilt, 0)))
	}
	if u2(rebuilt, 2) != u2(info, 2) {
		r.report(-1, ruleCode, fmt.Sprintf("max_locals %d", u2(info, 2)), fmt.Sprint(u2(rebuilt, 2)))
	}
	own := rebuilt[8 : 8+int(binary.BigEndian.Uint32(rebuilt[4:]))]
	if at, differs := firstDifference(before.Bytecode, own); differs {
		r.report(r.nowAt(at), ruleCode, fmt.Sprintf("the original's code at %d when the calls are taken out", at), "another instruction or operand")
		return // positions below would only be wrong again
	}
	if at, differs := firstDifference(info[8+len(own):], rebuilt[8+len(own):]); differs {
		at += 8 + len(own)
		r.report(-1, ruleTable, "the tables of the original when the calls are taken out", r.partAt(&before, info, at))
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

// nowAt gives where the instruction that contained position orig of the original stands.
func (r *checker) nowAt(orig int) int {
	now := -1
	for pc, place := range r.places {
		if place&sideInst != 0 && int(place>>sideBits) <= orig {
			now = pc
		}
	}
	return now
}

// partAt names the part of a Code attribute's info that holds byte at.
func (r *checker) partAt(before *classfile.Code, info []byte, at int) string {
	base := before.Offset - 8
	for i := range before.Attributes {
		a := &before.Attributes[i]
		if start := a.Offset - base; at >= start-6 && at < start+len(a.Info) {
			return fmt.Sprintf("another %s, from its byte %d on", a.Name, max(0, at-start))
		}
	}
	if at >= len(info) {
		return "more than that"
	}
	return fmt.Sprintf("another exception table or attribute, from byte %d of Code on", at)
}
