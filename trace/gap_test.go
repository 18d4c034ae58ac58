package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// stacksAt returns for each tick the methods of the calls that are open between it and the next, the outermost first.
// The times of the records are their numbers.
func stacksAt(records []Record) [][]Method {
	stacks := make([][]Method, len(records))
	var open []Method
	for i, r := range records {
		if r.Entry() {
			open = append(open, Method(r.ID()))
		} else {
			open = open[:len(open)-1]
		}
		stacks[i] = slices.Clone(open)
	}
	return stacks
}

// replayedStacks is stacksAt for a replay.
func replayedStacks(c *collect, n int) [][]Method {
	stacks := make([][]Method, n)
	for k := range c.segments {
		for _, call := range c.segments[k].Calls {
			for at := call.Begin; at < call.End && at < int64(n); at++ {
				stacks[at] = append(stacks[at], call.Method)
			}
		}
	}
	return stacks
}

// matches reports whether the stack of a replay may be the true one: MethodNotRecorded stands for any calls.
func matches(replayed, truth []Method) bool {
	if len(replayed) == 0 {
		return len(truth) == 0
	}
	if m := replayed[0]; m != MethodNotRecorded {
		return len(truth) > 0 && truth[0] == m && matches(replayed[1:], truth[1:])
	}
	for k := range len(truth) + 1 {
		if matches(replayed[1:], truth[k:]) {
			return true
		}
	}
	return false
}

// losing returns the records without some runs of them, as a ring loses them that is overwritten, and which are
// missing.
func losing(r *rand.Rand, records []Record, runs, longest int) (parts []Chunk, missing []bool) {
	missing = make([]bool, len(records))
	for range runs {
		from := 1 + r.IntN(len(records)-1)
		for k := from; k < min(len(records), from+1+r.IntN(longest)); k++ {
			missing[k] = true
		}
	}
	for at, lost := 0, 0; at < len(records); {
		if missing[at] {
			at++
			lost++
			continue
		}
		end := at
		for end < len(records) && !missing[end] && (end == at || r.IntN(40) > 0) {
			end++
		}
		parts = append(parts, &Records{First: uint64(at), Overwritten: uint64(lost), List: records[at:end]})
		at, lost = end, 0
	}
	return parts, missing
}

// signs puts signs of life of the outermost calls between the parts of a trace, and reports of those that have ended.
func signs(r *rand.Rand, records []Record, parts []Chunk) (all []Chunk) {
	reported := -1
	for _, part := range parts {
		all = append(all, part)
		c := part.(*Records)
		now := int(c.First) + len(c.List) - 1
		depth, begin := 0, -1
		for i, record := range records[:now+1] {
			switch {
			case record.Entry():
				if depth == 0 {
					begin = i
				}
				depth++
			default:
				depth--
			}
			if depth == 0 && i > reported {
				all = append(all, &StallChunk{FirstRecord: uint64(begin), EndRecord: uint64(i + 1), Begin: int64(begin),
					Wall: uint64(i - begin)})
				reported = i
			}
		}
		if depth > 0 && r.IntN(2) > 0 {
			all = append(all, &Alive{Nanos: int64(now), Open: []OpenCall{{Begin: int64(begin)}}})
		}
	}
	return all
}

// TestLossesNeverLie loses runs of records of whole traces. At each moment what was replayed must be what was true,
// but that it may say that something is not recorded: so no path leads across a gap that was not there, no method has
// own time or total time that it has not, and what a method may have at most is enough.
//
// Invariant: Whatever records are lost, at each moment the calls that replay shows as open were open in this order;
// what is not known is a call of MethodNotRecorded.
func TestLossesNeverLie(t *testing.T) {
	for _, g := range []program{
		{methods: 1000, fanout: 4, depth: 15, message: 10, repeat: 1, step: 5},
		{methods: 1000, fanout: 4, depth: 15, repeat: 1, step: 5},
		{methods: 20, fanout: 4, depth: 15, message: 30, repeat: 1, step: 5},
		{methods: 5, fanout: 4, depth: 10, repeat: 1, step: 5},
	} {
		for _, longest := range []int{3, 30, 300} {
			t.Run(fmt.Sprintf("%+v/%d", g, longest), func(t *testing.T) {
				shown, known, wrong := 0, 0, 0
				for seed := range uint64(200) {
					r := rand.New(rand.NewPCG(seed, 11))
					records := g.numbered(r, 400)
					parts, missing := losing(r, records, 1+r.IntN(6), longest)
					parts = signs(r, records, parts)
					got := replayedChunks(t, parts...)
					stacks := replayedStacks(got, len(records))
					for at, truth := range stacksAt(records) {
						shown++
						if !slices.Contains(stacks[at], MethodNotRecorded) {
							known++
						}
						// Before the first record behind a gap and behind the last one nothing is known.
						if len(stacks[at]) == 0 && (missing[at] && len(truth) == 0 || !slices.Contains(missing[at+1:], false)) {
							continue
						}
						if !matches(stacks[at], truth) {
							wrong++
							t.Errorf("seed %d at %d: %v, but it was %v", seed, at, stacks[at], truth)
							break
						}
					}
				}
				t.Logf("measured: of %d moments %d are known, %d wrong", shown, known, wrong)
			})
		}
	}
}

// TestLetGo: a method that was let go has more calls than were counted, also when it is back.
func TestLetGo(t *testing.T) {
	s := completeness{gated: map[Method]*GatedCalls{}}
	for _, typ := range []struct {
		typ     uint16
		payload []byte
	}{{typeLeftOut, []byte{0, 2, 7, 5, 8, 6}}, {typeLetGo, []byte{0, 1, 7, 1}}, {typeLetGo, []byte{2, 1, 7, 0}}} {
		p := &payload{rest: typ.payload}
		c := decoders[typ.typ](p)
		if p.err != nil || len(p.rest) > 0 {
			t.Fatalf("%+v: %v, %d bytes are left", c, p.err, len(p.rest))
		}
		s.chunk(c)
	}
	if got, want := *s.of(7), (GatedCalls{Method: 7, LeftOut: 5, LetGo: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s.of(8).LetGo {
		t.Error("another method was let go")
	}
}

// TestCostChunk decodes what recording has cost; -1 is not known.
func TestCostChunk(t *testing.T) {
	p := &payload{rest: []byte{20, 1, 6}}
	c := decoders[typeCost](p)
	if want := (Cost{Process: 10, Recorder: -1, Agent: 3}); p.err != nil || len(p.rest) > 0 || *c.(*Cost) != want {
		t.Errorf("%+v: %v, %d bytes are left", c, p.err, len(p.rest))
	}
}
