package export

import (
	"github.com/tracegen/tracegen/trace"
)

// pageStacks are the estimated calls that samples of a recording show, as a tree: a stack is another one, 0 for none,
// with a method below it. The first has the number 1.
type pageStacks struct {
	list  [][2]int32
	index map[[2]int32]int32
}

// of returns the number of a stack below no other one.
func (p *pageStacks) of(methods []int32) int32 {
	at := int32(0)
	for _, m := range methods {
		key := [2]int32{at, m}
		k, known := p.index[key]
		if !known {
			if p.index == nil {
				p.index = map[[2]int32]int32{}
			}
			p.list = append(p.list, key)
			k = int32(len(p.list))
			p.index[key] = k
		}
		at = k
	}
	return at
}

// pageSample is a steady sample, or several in a row that are equal: when the first was taken, the innermost recorded
// call that was open, as its number among those of the thread, the time that it stands for, processor time or -1, the
// index of its state in pageStates, how many there are, and the stack below the call. Behind it are pairs for estimated
// calls that enclose recorded ones: how many calls above the innermost the enclosed one is, and the stack between it
// and its recorded caller.
type pageSample []int64

const (
	sampleNanos = iota
	sampleCall
	sampleWeight
	sampleCPU
	sampleState
	sampleCount
	sampleStack
	sampleBetween
)

// pageStates are the states in the order of their numbers in a [pageSample].
var pageStates = [...]string{"running", "waiting", "blocked", ""}

func stateOfSample(s trace.ThreadState) int64 {
	switch s.String() {
	case "RUNNABLE":
		return 0
	case "WAITING", "TIMED_WAITING":
		return 1
	case "BLOCKED":
		return 2
	}
	return 3
}

// maxPageSamples is how many samples of a thread a page has. Of more, every second one is left out, and the one before
// it stands for its time.
const maxPageSamples = 1 << 16

// sample adds the samples of a segment. numbers has the number of each of its calls on the thread.
func (p *page) sample(t *thread, pt *pageThread, s *trace.Segment, numbers []int64) {
	methods := func(list []trace.Method) int32 {
		numbers := make([]int32, len(list))
		for k, m := range list {
			numbers[k] = p.methods.of(t.of, m, 0)
		}
		return p.now.stacks.of(numbers)
	}
	begin := t.at(s.Begin)
	for k := range s.Samples {
		one := &s.Samples[k]
		sample := pageSample{t.at(one.Nanos), numbers[one.Call], one.Weight, one.CPU, stateOfSample(one.State), 1,
			int64(methods(one.Below))}
		for _, b := range one.Between {
			up := int64(0)
			for call := one.Call; call != b.Call; call = s.Calls[call].Parent {
				up++
			}
			sample = append(sample, up, int64(methods(b.Frames)))
		}
		end := t.at(s.End)
		if k+1 < len(s.Samples) {
			end = (sample[sampleNanos] + t.at(s.Samples[k+1].Nanos)) / 2
		}
		pt.sampled.add(begin, end, pageStates[sample[sampleState]])
		pt.addSample(sample)
		begin = end
	}
}

// addSample adds a sample, to the one before it if that says the same.
func (pt *pageThread) addSample(s pageSample) {
	if n := len(pt.samples); n > 0 && pt.samples[n-1].equal(s) {
		pt.samples[n-1].join(s, 1)
		return
	}
	if pt.samples = append(pt.samples, s); len(pt.samples) < maxPageSamples {
		return
	}
	half := pt.samples[:0]
	for k := 0; k+1 < len(pt.samples); k += 2 {
		pt.samples[k].join(pt.samples[k+1], 0)
		half = append(half, pt.samples[k])
	}
	pt.samples = half
}

func (p pageSample) equal(o pageSample) bool {
	if len(p) != len(o) || p[sampleCall] != o[sampleCall] {
		return false
	}
	for k := sampleState; k < len(p); k++ {
		if k != sampleCount && p[k] != o[k] {
			return false
		}
	}
	return (p[sampleCPU] < 0) == (o[sampleCPU] < 0)
}

// join makes the sample stand for the time of another one too, and for so many times as many samples.
func (p pageSample) join(o pageSample, times int64) {
	p[sampleWeight] += o[sampleWeight]
	p[sampleCount] += times * o[sampleCount]
	if p[sampleCPU] >= 0 {
		p[sampleCPU] += max(0, o[sampleCPU])
	}
}

// stateTimes are what a thread did, in the order of time.
type stateTimes []pageState

func (l *stateTimes) add(begin, end int64, state string) {
	if begin >= end {
		return
	}
	if n := len(*l); n > 0 && (*l)[n-1].End == begin && (*l)[n-1].State == state {
		(*l)[n-1].End = end
		return
	}
	*l = append(*l, pageState{begin, end, state})
}
