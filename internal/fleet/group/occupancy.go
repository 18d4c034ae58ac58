package group

import (
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// occupancy says of some of a method's own time whether the thread ran or waited, in nanoseconds. Both are 0 if that is
// not known: recordings have stack samples and exact CPU times of stalls alone.
type occupancy struct{ ran, waited float64 }

func (o *occupancy) add(other occupancy) {
	o.ran += other.ran
	o.waited += other.waited
}

// waitingShare returns which share of the time the thread waited, from 0 to 1; -1 if it is not known.
func (o occupancy) waitingShare() float64 {
	if o.ran+o.waited == 0 {
		return -1
	}
	return o.waited / (o.ran + o.waited)
}

// observe takes what a stall shows of its methods. A stack sample stands for the time since the one before, and is
// about the innermost method on it that was traced. Of methods that no sample shows, the CPU time of the stall may say
// enough: a method that has most of the stall ran for most of that if the thread did.
func (s *Sample) observe(stall *analysis.Stall) {
	if stall.Tree == nil || len(stall.Tree.Nodes) == 0 {
		return
	}
	self := map[string]int64{} // by methodKey
	keys := map[string]string{}
	for _, n := range stall.Tree.Nodes[1:] {
		name, ok := stall.Names.Name(n.Method)
		if !ok {
			continue
		}
		key, id := methodKey(name.Class, name.Method, name.Descriptor), name.Class+"."+name.Method
		self[key] += n.Self
		// A frame does not say which of several methods of a name it is of.
		if other := keys[id]; other == "" || self[key] > self[other] {
			keys[id] = key
		}
	}
	shown := map[string]bool{}
	before := time.Duration(0)
	for _, sample := range stall.Samples {
		took := float64(max(sample.After-before, 1))
		before = sample.After
		for _, frame := range sample.Frames {
			key, traced := keys[foreign.FrameMethod(frame)]
			if !traced {
				continue
			}
			m := s.methodSample(key)
			switch sample.Activity {
			case foreign.ActivityUnknown:
			case foreign.ActivityRunning:
				m.occupancy.ran += took
			default:
				m.occupancy.waited += took
			}
			shown[key] = true
			break
		}
	}
	if stall.CPU < 0 {
		return
	}
	off := max(0, stall.Ran-stall.CPU)
	for key, nanos := range self {
		own := time.Duration(nanos)
		switch {
		case own <= 0 || shown[key]:
		case off <= own/2:
			s.methodSample(key).occupancy.ran += float64(nanos)
		case stall.CPU <= own/2:
			s.methodSample(key).occupancy.waited += float64(nanos)
		}
	}
}

// methodSample returns what is known of a method.
func (s *Sample) methodSample(key string) *methodSample {
	if s.methods == nil {
		s.methods = map[string]*methodSample{}
	}
	m := s.methods[key]
	if m == nil {
		m = &methodSample{}
		s.methods[key] = m
	}
	return m
}
