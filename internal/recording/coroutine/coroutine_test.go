package coroutine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func runModel(seed uint64, hashes int, exits, gate bool) *model {
	m := newModel(rand.New(rand.NewPCG(seed, 35)), hashes, exits, 1, 400)
	if gate {
		m.off, m.offAt = m.functions[m.r.IntN(len(m.functions))].id, int64(m.r.IntN(200))
	}
	m.run()
	return m
}

// TestModel joins random programs of coroutines. What is joined must be what the program has done.
func TestModel(t *testing.T) {
	for _, exits := range []bool{true, false} {
		t.Run(fmt.Sprintf("exits %t", exits), func(t *testing.T) {
			calls, suspensions := 0, 0
			for seed := range uint64(500) {
				m := runModel(seed, 1<<31, exits, false)
				c := newChecker(m, joined(t, m.chunks(damage{}), false))
				c.lies()
				c.whole()
				for _, text := range c.wrong {
					t.Errorf("seed %d: %s", seed, text)
				}
				if t.Failed() {
					t.FailNow()
				}
				calls, suspensions = calls+len(c.out.Calls), suspensions+c.claimed
			}
			t.Logf("measured: %d calls, %d suspensions", calls, suspensions)
		})
	}
}

// TestCoarseClock joins programs whose clock shows one time for many records.
func TestCoarseClock(t *testing.T) {
	for seed := range uint64(500) {
		m := newModel(rand.New(rand.NewPCG(seed, 36)), 1<<31, true, 1+int64(seed%50), 400)
		m.run()
		out := joined(t, m.chunks(damage{}), false)
		var got, want []string
		for i := range out.Calls {
			if x := &out.Calls[i]; !x.TailCall {
				got = append(got, x.signature())
			}
		}
		for _, x := range m.calls {
			if len(x.pieces) > 0 && !x.tail {
				want = append(want, x.signature())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestManyMarks joins 250,000 marks. The time is reported and has no bound, as it depends on the machine.
func TestManyMarks(t *testing.T) {
	m := newModel(rand.New(rand.NewPCG(1, 37)), 1<<31, true, 1, 1<<30)
	for m.marks() < 250_000 {
		m.budget = 100_000
		m.run()
	}
	chunks := m.chunks(damage{})
	begin := time.Now()
	out := joined(t, chunks, false)
	t.Logf("measured: %d marks, %d calls in %v with replay", m.marks(), len(out.Calls), time.Since(begin))
	if c := newChecker(m, out); true {
		c.lies()
		if len(c.wrong) > 0 {
			t.Error(c.wrong[0])
		}
	}
}

// TestLossesNeverJoinWrong loses records and marks of random programs. If continuations often have the same hash code,
// it loses no mark of their making.
//
// Invariant: Whatever else is lost, pieces that are joined are of one call, and what is said of its begin, its end, its
// caller and what it was suspended for is true.
func TestLossesNeverJoinWrong(t *testing.T) {
	for _, hashes := range []int{1 << 31, 200, 20, 3} {
		for k, d := range []damage{
			{},
			{records: 3, longest: 3}, {records: 3, longest: 40},
			{marks: 4, longest: 2}, {marks: 4, longest: 30},
			{records: 2, marks: 2, longest: 10},
			{main: true}, {main: true, records: 2, marks: 2, longest: 10},
			{}, {records: 2, marks: 2, longest: 10},
		} {
			gate := k > 7 // a method is switched off
			// A continuation that no mark shows cannot be distinguished from one with the same hash code.
			if d.made = hashes < 1<<31; d.made && d.main {
				continue
			}
			t.Run(fmt.Sprintf("%d hashes/%+v/gate %t", hashes, d, gate), func(t *testing.T) {
				calls, suspensions, all := 0, 0, 0
				for seed := range uint64(200) {
					m := runModel(seed, hashes, seed%2 == 0, gate)
					c := newChecker(m, joined(t, m.chunks(d), d.main))
					c.lies()
					for _, text := range c.wrong {
						t.Errorf("seed %d: %s", seed, text)
					}
					calls, suspensions = calls+len(c.out.Calls), suspensions+c.claimed
					for _, x := range m.calls {
						all += max(0, len(x.pieces)-1)
					}
				}
				t.Logf("measured: %d calls, %d of %d suspensions are joined", calls, suspensions, all)
			})
		}
	}
}
