package group

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

const (
	// maxPaths is how many paths of calls of one recording are kept, those that took longest. Four times as many are
	// kept while it is read.
	maxPaths = 1 << 18
	// maxFrames is how many paths of two samples are shown.
	maxFrames = 20_000
)

// Frames are the calls of two samples, merged by path and by the names of methods.
type Frames struct {
	// Nodes has callers before what they call. Its first is the root, which stands for no method.
	Nodes []Frame
	// Hidden is how many paths that took little time are left out.
	Hidden int
}

// Frame is all calls of a method that were reached the same way. Times are nanoseconds for each unit of work.
type Frame struct {
	// Parent is the index of the caller, -1 of the root.
	Parent int
	// Class and Method name it in the newer sample if it is there, Descriptor is that of the method.
	Class, Method, Descriptor string
	// Old and New are the time with what it calls, OldSelf and NewSelf that without.
	Old, New, OldSelf, NewSelf float64
	// OldCalls and NewCalls are how often it was called.
	OldCalls, NewCalls float64
}

// pathFrame is a path of one sample.
type pathFrame struct {
	parent      int32
	key         string // methodKey
	total, self int64
	calls       uint64
}

type pathEdge struct {
	parent int32
	key    string
}

// pathFrames merges the paths of many recordings. Its zero value is empty.
type pathFrames struct {
	nodes []pathFrame
	index map[pathEdge]int32
}

func (f *pathFrames) child(parent int32, key string) int32 {
	if f.index == nil {
		f.index = map[pathEdge]int32{}
	}
	edge := pathEdge{parent, key}
	k, ok := f.index[edge]
	if !ok {
		k = int32(len(f.nodes))
		f.index[edge] = k
		f.nodes = append(f.nodes, pathFrame{parent: parent, key: key})
	}
	return k
}

// add takes over a recording's tree.
func (f *pathFrames) add(t *evidence.Tree, names *resolve.Names) {
	at := make([]int32, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if i == 0 {
			at[0] = f.child(-1, "")
			f.nodes[at[0]].total += n.Total
			continue
		}
		name, _ := names.Name(n.Method)
		at[i] = f.child(at[n.Parent], methodKey(name.Class, name.Method, name.Descriptor))
		to := &f.nodes[at[i]]
		to.total += n.Total
		to.self += n.Self
		to.calls += n.Calls
	}
}

// addPaths adds the calls of a segment to those of the recording. A unit that is a message is its method's call alone.
func (p *sampler) addPaths(s *trace.Segment) {
	if p.sample.Unit == UnitMessage {
		if s.Kind == trace.SegmentBetween {
			return
		}
		body := s.Body()
		s = &body
	}
	if p.tree.Add(s); len(p.tree.Nodes) > 4*maxPaths {
		p.tree.Trim(maxPaths)
	}
}

// endPaths takes over the calls of a recording.
func (p *sampler) endPaths() {
	grafted := p.Grafted()
	if len(grafted) == 0 || p.sample.Unit == UnitMessage {
		if len(p.tree.Nodes) > 0 {
			p.tree.Trim(maxPaths)
			p.sample.paths.add(&p.tree, p.names)
		}
		return
	}
	for _, t := range grafted {
		p.sample.paths.add(t.Tree, p.names)
	}
}

// compareFrames merges the paths of two samples; nil if they have none. is maps what a method was called in the older
// build to what it is called now, where a compiler counts.
func compareFrames(old, new *Sample, is map[string]string) *Frames {
	if len(old.paths.nodes)+len(new.paths.nodes) == 0 {
		return nil
	}
	var merged pathFrames
	merged.child(-1, "")
	frames := []Frame{{Parent: -1}}
	take := func(from *pathFrames, units int, rename map[string]string, set func(to *Frame, n *pathFrame, per float64)) {
		at := make([]int32, len(from.nodes))
		for i := range from.nodes {
			n := &from.nodes[i]
			if i > 0 {
				at[i] = merged.child(at[n.parent], cmp.Or(rename[n.key], n.key))
			}
			if int(at[i]) == len(frames) {
				f := Frame{Parent: int(at[n.parent])}
				f.Class, f.Method, f.Descriptor = splitKey(merged.nodes[at[i]].key)
				frames = append(frames, f)
			}
			set(&frames[at[i]], n, 1/float64(max(units, 1)))
		}
	}
	take(&new.paths, new.Units, nil, func(to *Frame, n *pathFrame, per float64) {
		to.New += float64(n.total) * per
		to.NewSelf += float64(n.self) * per
		to.NewCalls += float64(n.calls) * per
	})
	take(&old.paths, old.Units, is, func(to *Frame, n *pathFrame, per float64) {
		to.Old += float64(n.total) * per
		to.OldSelf += float64(n.self) * per
		to.OldCalls += float64(n.calls) * per
	})
	return limitFrames(frames, maxFrames)
}

// limitFrames keeps the frames that took longest in one of the samples, with all of their callers.
func limitFrames(all []Frame, limit int) *Frames {
	if len(all) <= limit {
		return &Frames{Nodes: all}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	took := func(i int) float64 { return max(all[i].Old, all[i].New) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(took(b), took(a)) })
	stays := make([]bool, len(all))
	for _, i := range order[:limit] {
		for ; i >= 0 && !stays[i]; i = all[i].Parent {
			stays[i] = true
		}
	}
	moved := make([]int, len(all))
	var f Frames
	for i := range all {
		if !stays[i] {
			f.Hidden++
			continue
		}
		moved[i] = len(f.Nodes)
		n := all[i]
		if i > 0 {
			n.Parent = moved[n.Parent]
		}
		f.Nodes = append(f.Nodes, n)
	}
	return &f
}
