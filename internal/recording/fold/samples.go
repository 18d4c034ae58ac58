package fold

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// foldedSample is a sample that fell in a folded call: the node of the call, 0 for one that took no time.
type foldedSample struct {
	trace.Sample
	node int32
}

// samplesByCall returns the samples of each call that has some.
func samplesByCall(all []trace.Sample) map[int32][]trace.Sample {
	if len(all) == 0 {
		return nil
	}
	by := map[int32][]trace.Sample{}
	for _, s := range all {
		by[s.Call] = append(by[s.Call], s)
	}
	return by
}

// take takes the samples of a call that is folded. What they show between calls is kept of callers that stay.
func (f *Folder) take(r *run, call, node int32, samples map[int32][]trace.Sample) {
	for _, s := range samples[call] {
		if f.From <= s.Nanos && s.Nanos < f.To {
			r.samples = append(r.samples, foldedSample{s, node})
		}
	}
}

// move moves the samples of a run into the calls that stand for those that they fell in. rest is the call that stands
// for calls that took no time.
func (f *Folder) move(r *run, rest int32) {
	for _, s := range r.samples {
		call := rest
		if s.node != 0 {
			call = r.nodes[s.node].at
		}
		out := s.Moved(func(from int32) int32 {
			switch {
			case from == s.Call:
				return call
			case int(from) < len(f.moved):
				return f.moved[from]
			}
			return -1
		})
		f.samples = append(f.samples, out)
	}
	clear(r.samples)
	r.samples = r.samples[:0]
}

// samplesOf returns all samples of the segment that is made; those of calls that stay are from the segment.
func (f *Folder) samplesOf(s *trace.Segment) []trace.Sample {
	list := slices.Clone(f.samples)
	for _, one := range s.Samples {
		if f.moved[one.Call] < 0 || one.Nanos < f.From || one.Nanos >= f.To {
			continue
		}
		list = append(list, one.Moved(func(call int32) int32 { return f.moved[call] }))
	}
	return inOrder(list)
}

// inOrder sorts samples by time.
func inOrder(list []trace.Sample) []trace.Sample {
	slices.SortStableFunc(list, func(a, b trace.Sample) int { return cmp.Compare(a.Nanos, b.Nanos) })
	return list
}
