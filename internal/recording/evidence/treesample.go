package evidence

import "github.com/tracegen/tracegen/trace"

// TreeSamples are what the samples of a tree's calls show. The zero value has none.
type TreeSamples struct {
	// Frames are the paths of estimated calls: each is a call below another one, 0 for none. The first stands for no call.
	Frames []TreeFrame
	// Below are the samples, those merged that fell in the same node and show the same.
	Below []SamplesBelow
	// Between are the estimated calls that samples show between a node and its caller.
	Between []SamplesBetween

	frames  map[uint64]int32 // Frames by parent and method; nil if it has to be made, like the next two
	below   map[SampleKey]int32
	between map[uint64]int32 // Between by node and path
}

// TreeFrame is an estimated call below another one.
type TreeFrame struct {
	// Parent is the index of the outer one in [TreeSamples.Frames], 0 if it is the outermost one.
	Parent int32
	// Method is what was called.
	Method trace.Method
}

// SampleKey is what samples have in common that are merged.
type SampleKey struct {
	// Node is the node of the innermost recorded call.
	Node int32
	// Path is the innermost estimated call below it in [TreeSamples.Frames], 0 if there is none, and [PathUnknown].
	Path int32
	// State is what the thread was doing.
	State trace.ThreadState
}

// PathUnknown is the path of samples in calls that are left out of the tree, and of which there is no room for more.
// They say nothing of the own time of their node, but that they are in it or below it.
const PathUnknown = -1

// SamplesBelow are samples with the same key.
type SamplesBelow struct {
	SampleKey
	SampleWeight
	// CPU is how long the thread was on a processor since the sample before each, as far as that is known. CPUWeight is
	// the weight of the samples of which it is known.
	CPU       int64
	CPUWeight float64
}

// SamplesBetween are samples that show calls of one path between a node and its caller.
type SamplesBetween struct {
	// Node is the inner node, Path the innermost estimated call outside of it in [TreeSamples.Frames].
	Node, Path int32
	SampleWeight
}

// SampleWeight is how much samples say.
type SampleWeight struct {
	// Count is how many there are.
	Count int
	// Weight is the sum of their weights in nanoseconds, Squares that of the squares.
	Weight, Squares float64
}

// Add adds samples.
func (w *SampleWeight) Add(o SampleWeight) {
	w.Count += o.Count
	w.Weight += o.Weight
	w.Squares += o.Squares
}

const (
	// maxTreeFrames is how many frames a tree has room for, maxTreeSamples for how many different samples.
	maxTreeFrames  = 1 << 18
	maxTreeSamples = 1 << 17
)

// addSamples adds the samples of a segment whose calls have the nodes at.
func (t *Tree) addSamples(s *trace.Segment) {
	for i := range s.Samples {
		sample := &s.Samples[i]
		w := max(1, float64(sample.Weight))
		weight := SampleWeight{1, w, w * w}
		key := SampleKey{t.at[sample.Call], t.Samples.path(sample.Below), sample.State}
		t.Samples.add(SamplesBelow{SampleKey: key, SampleWeight: weight}, sample.CPU)
		call := sample.Call
		for k := len(sample.Between) - 1; k >= 0; k-- {
			b := &sample.Between[k]
			for call > b.Call {
				call = s.Calls[call].Parent
			}
			if path := t.Samples.path(b.Frames); call == b.Call && path > 0 {
				t.Samples.addBetween(SamplesBetween{t.at[call], path, weight})
			}
		}
	}
}

// path returns the index of the innermost of estimated calls, 0 for none, and [PathUnknown] if there is no room.
func (s *TreeSamples) path(methods []trace.Method) int32 {
	if len(methods) > 0 && s.frames == nil {
		s.frames = map[uint64]int32{}
		for k := 1; k < len(s.Frames); k++ {
			s.frames[pathTo(s.Frames[k].Parent, s.Frames[k].Method)] = int32(k)
		}
		if len(s.Frames) == 0 {
			s.Frames = append(s.Frames, TreeFrame{})
		}
	}
	at := int32(0)
	for _, m := range methods {
		k, known := s.frames[pathTo(at, m)]
		if !known {
			if len(s.Frames) >= maxTreeFrames {
				return PathUnknown
			}
			k = int32(len(s.Frames))
			s.frames[pathTo(at, m)] = k
			s.Frames = append(s.Frames, TreeFrame{at, m})
		}
		at = k
	}
	return at
}

// add adds samples. cpu is their time on a processor, -1 if that is not known.
func (s *TreeSamples) add(b SamplesBelow, cpu int64) {
	if s.below == nil {
		s.below = make(map[SampleKey]int32, len(s.Below))
		for k := range s.Below {
			s.below[s.Below[k].SampleKey] = int32(k)
		}
	}
	k, known := s.below[b.SampleKey]
	if !known && b.Path != PathUnknown && len(s.Below) >= maxTreeSamples {
		b.Path, b.State = PathUnknown, 0
		k, known = s.below[b.SampleKey]
	}
	if !known {
		k = int32(len(s.Below))
		s.below[b.SampleKey] = k
		s.Below = append(s.Below, SamplesBelow{SampleKey: b.SampleKey})
	}
	to := &s.Below[k]
	to.SampleWeight.Add(b.SampleWeight)
	if cpu >= 0 {
		to.CPU += cpu
		to.CPUWeight += b.Weight
	}
}

func (s *TreeSamples) addBetween(b SamplesBetween) {
	if s.between == nil {
		s.between = make(map[uint64]int32, len(s.Between))
		for k := range s.Between {
			s.between[pathTo(s.Between[k].Node, trace.Method(s.Between[k].Path))] = int32(k)
		}
	}
	key := pathTo(b.Node, trace.Method(b.Path))
	k, known := s.between[key]
	if !known {
		if len(s.Between) >= maxTreeSamples {
			return
		}
		k = int32(len(s.Between))
		s.between[key] = k
		s.Between = append(s.Between, SamplesBetween{Node: b.Node, Path: b.Path})
	}
	s.Between[k].SampleWeight.Add(b.SampleWeight)
}

// moved returns the samples of a tree that is made of the nodes of this one. to returns the new index of a node; left
// is set if it is left out and the index that of the nearest outer node, none if there is no such node either.
func (s *TreeSamples) moved(to func(node int32) (index int32, left, none bool)) TreeSamples {
	out := TreeSamples{Frames: s.Frames}
	for _, b := range s.Below {
		index, left, none := to(b.Node)
		if none {
			continue
		}
		if b.Node = index; left {
			b.Path, b.State = PathUnknown, 0
		}
		cpu, weight := b.CPU, b.CPUWeight
		out.add(SamplesBelow{SampleKey: b.SampleKey, SampleWeight: b.SampleWeight}, -1)
		at := &out.Below[out.below[b.SampleKey]]
		at.CPU, at.CPUWeight = at.CPU+cpu, at.CPUWeight+weight
	}
	for _, b := range s.Between {
		if index, left, none := to(b.Node); !none && !left {
			b.Node = index
			out.addBetween(b)
		}
	}
	return out
}
