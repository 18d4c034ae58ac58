package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Exits says which ways out of a method must have an exit call, besides every return.
type Exits struct {
	// UncaughtThrows demands an exit call before every athrow that no exception table entry of its method covers.
	UncaughtThrows bool
	// Handler demands one handler around the method, which has the exit call for every other way out. It implies
	// [Instrumentation.EntryAfterSuper], because no handler may cover code in which `this` is uninitialised.
	Handler bool
}

// checkExits checks that an exit call stands before every instruction that needs one, and before no other. entered says
// where a constructor has initialised `this`, and so has had its entry call; it is nil if the entry call is at the
// start. With coroutines, the call before an areturn of suspending code must take the result, and no other may.
func (r *checker) checkExits(old *classfile.Member, before *classfile.Code, entered *code.Initialised) {
	suspending := r.want.Coroutines && isSuspending(r.original, old)
	var covered []int32
	for _, e := range r.exits {
		demanded := e.op.IsReturn()
		if e.op == code.Athrow && r.want.Exits.UncaughtThrows {
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
		case has && e.result != (suspending && e.op == code.Areturn):
			r.report(e.before, ruleExit, "exit code that takes the result before an areturn of suspending code alone",
				fmt.Sprintf("before this %v: %v", e.op, e.result))
		}
	}
}

// countCovering returns, for each position of the original, the number of exception table entries that cover it.
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

// checkHandler checks the exact handler. It must cover all code, except for inserted calls, returns with an exit call,
// and what runs before the entry call. If nothing is left to cover, there must be no handler. entered is as for
// checkExits.
func (r *checker) checkHandler(entered *code.Initialised) {
	if !r.want.Exits.Handler {
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
		r.report(r.end, ruleHandler, "a frame in every table of frames",
			fmt.Sprintf("%d of %d", r.handlerFrames, frames))
	}
}

// firstFramesMajor is the first class file version in which a handler needs a StackMapTable (JVMS 4.10.1).
const firstFramesMajor = 50

// rangesToCover appends the ranges that the exact handler must cover, in positions of the rewritten code. A probe is
// covered if the call behind it is.
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
			return ranges[:0] // recognise has reported it
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
