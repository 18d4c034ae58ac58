package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestSamplesNeverLie loses runs of records of runs with exceptions that leave calls without exits, with methods that are
// switched off, and with samples. At each moment what was replayed must be what was true, but that it may say that
// something is not recorded, and that a call whose exit is missing may seem to last longer where no sample contradicts
// it. A call that samples have contradicted has not lasted longer than it did.
//
// Invariant: Whatever records are lost and whatever exits exceptions skip, at each moment the calls that replay shows as
// open were open in this order, but for those with MarkUnwound or MarkOpen alone; and the stack that a sample shows is the
// one of its moment.
//
// The 2,400 runs are in the share programs of make nightly; otherwise it makes a tenth of them.
func TestSamplesNeverLie(t *testing.T) {
	seeds := uint64(20)
	if nightly.Runs("programs") {
		seeds = 200
	}
	for _, g := range []model{
		{traced: 200, all: 250, depth: 12, interval: 20, throws: 10},
		{traced: 200, all: 250, depth: 12, interval: 20, throws: 10, gate: 10, blur: 5},
		{traced: 60, all: 80, depth: 12, interval: 10, throws: 10, gate: 10, blur: 5},
		{traced: 500, all: 600, depth: 20, interval: 10, throws: 5, gate: 10},
	} {
		for _, longest := range []int{0, 3, 30} {
			t.Run(fmt.Sprintf("%+v/%d", g, longest), func(t *testing.T) {
				contradicted, placed := uint64(0), 0
				for seed := range seeds {
					r := rand.New(rand.NewPCG(seed, 22))
					run := g.run(r, 400)
					parts := []Chunk{&Records{List: run.records}}
					missing := make([]bool, len(run.records))
					if longest > 0 {
						parts, missing = losing(r, run.records, 1+r.IntN(4), longest)
					}
					c := replayModel(t, g, append([]Chunk{run.chunk}, parts...)...)
					contradicted += c.repairs.Contradicted
					placed += checkSamples(t, seed, run, c, false)
					run.check(t, seed, g, c, missing)
					if t.Failed() {
						return
					}
				}
				t.Logf("measured: %d samples, %d calls contradicted", placed, contradicted)
			})
		}
	}
}

// shownCall is a call that replay shows as open at a moment.
type shownCall struct {
	method Method
	doubt  bool
}

// check holds the calls of a replay to the truth of each moment.
func (run *modelRun) check(t *testing.T, seed uint64, g model, c *namedCollect, missing []bool) {
	t.Helper()
	shown := make([][]shownCall, len(run.stacks)+1)
	for k := range c.segments {
		s := &c.segments[k]
		for i, call := range s.Calls {
			// A call that was not recorded may have followed one of the same method.
			doubt := call.Marks&MarkContradicted != 0 && run.unrecorded[call.Method] || call.Method == MethodNotRecorded || s.recursive(i) ||
				call.Marks&(MarkUnwound|MarkOpen|MarkCut) != 0 && call.Marks&MarkContradicted == 0
			end := call.End
			if call.Marks&MarkContradicted != 0 {
				end -= int64(6 * g.blur) // the last sample that shows it may be of a call that began later
			}
			for at := call.Begin; at < end && at < int64(len(run.stacks)); at++ {
				shown[at] = append(shown[at], shownCall{call.Method, doubt})
			}
		}
	}
	for at, truth := range run.stacks {
		if !mayBe(shown[at], truth) {
			t.Errorf("seed %d at %d: %v, but it was %v", seed, at, shown[at], truth)
			return
		}
	}
}

// mayBe reports whether the calls that are shown were open in this order, but for those in doubt.
func mayBe(shown []shownCall, truth []modelCall) bool {
	if len(shown) == 0 {
		return true
	}
	if shown[0].doubt && mayBe(shown[1:], truth) {
		return true
	}
	k := slices.IndexFunc(truth, func(c modelCall) bool { return c.method == shown[0].method })
	return k >= 0 && mayBe(shown[1:], truth[k+1:])
}
