package trace

import "slices"

// stackTable has the stacks of steady samples, and the names of their frames and of recorded calls: equal names have
// one number.
type stackTable struct {
	names    FrameNames
	nodes    []*stackNode // the first is nil
	numbers  map[string]int32
	texts    []string // by number
	methods  []Method // by number: what stands for a frame of that name; 0 if none was needed yet
	named    Method   // the next method without an ID
	ofMethod map[Method]int32
	seen     map[int32]bool  // names of calls that a sample has shown
	hidden   map[int32]bool  // names of calls that were open although a sample did not show them
	throwing map[Method]bool // methods of which a call was contradicted
	stacks   map[*stackNode]*stack
	kept     int // how many frames stacks has
	counts   *SampleCounts
	handler  Handler // gets the names of methods without an ID
	err      error   // its first error
}

// stackNode is a node of the table. It outlives the table, as samples refer to it that wait for their records.
type stackNode struct {
	before *stackNode
	frame  string
	depth  int
}

// stack is the frames of a sample: the numbers of their names, the outermost first, and whether the thread was in the
// recorder's own code.
type stack struct {
	frames []int32
	own    bool
	// cut is set if the outermost frames are missing.
	cut bool
}

const (
	// maxFrames is how many frames a stack has at most; the runtime writes no more.
	maxFrames = 1 << 12
	// maxKeptFrames is how many frames of stacks are kept for the next samples.
	maxKeptFrames = 1 << 20
	// noName is the number of a call without a name that frames may have.
	noName = -1
)

func newStackTable(names FrameNames, h Handler, counts *SampleCounts) *stackTable {
	return &stackTable{names: names, handler: h, nodes: []*stackNode{nil}, numbers: map[string]int32{}, named: FirstNamed,
		ofMethod: map[Method]int32{MethodNotRecorded: noName, MethodDispatch: noName}, seen: map[int32]bool{},
		hidden: map[int32]bool{}, throwing: map[Method]bool{}, stacks: map[*stackNode]*stack{}, counts: counts}
}

// take appends the nodes of a chunk.
func (t *stackTable) take(c *Stacks) {
	if c.Anew {
		t.nodes = []*stackNode{nil}
	}
	if c.Lost {
		return
	}
	for _, n := range c.Nodes {
		node := &stackNode{frame: n.Frame, depth: maxFrames + 1} // of a node that cannot be
		if n.Before < uint64(len(t.nodes)) {
			if node.before = t.nodes[n.Before]; node.before == nil {
				node.depth = 1
			} else {
				node.depth = node.before.depth + 1
			}
		}
		t.nodes = append(t.nodes, node)
	}
}

// node returns a node by its number; ok is false if it is not known.
func (t *stackTable) node(number uint64) (n *stackNode, ok bool) {
	if number >= uint64(len(t.nodes)) {
		return nil, false
	}
	n = t.nodes[number]
	return n, n == nil || n.depth <= maxFrames
}

// stack returns the frames of a node.
func (t *stackTable) stack(n *stackNode) *stack {
	if s := t.stacks[n]; s != nil {
		return s
	}
	var texts []string
	for at := n; at != nil; at = at.before {
		texts = append(texts, at.frame)
	}
	methods, own := t.names.Frames(texts)
	s := &stack{frames: make([]int32, len(methods)), own: own, cut: n != nil && n.depth == maxFrames}
	for i, m := range methods {
		s.frames[len(methods)-1-i] = t.number(m)
	}
	if t.kept += len(s.frames) + 1; t.kept > maxKeptFrames {
		clear(t.stacks)
		t.kept = len(s.frames) + 1
	}
	t.stacks[n] = s
	return s
}

// number returns the number of a name.
func (t *stackTable) number(name string) int32 {
	k, known := t.numbers[name]
	if !known {
		k = int32(len(t.texts))
		t.numbers[name] = k
		t.texts, t.methods = append(t.texts, name), append(t.methods, 0)
	}
	return k
}

// nameOf returns the number of a recorded call's name, noName if no frame can have it.
func (t *stackTable) nameOf(m Method) int32 {
	k, known := t.ofMethod[m]
	if !known {
		k = noName
		if name, ok := t.names.Name(m); ok {
			k = t.number(name.String())
		}
		t.ofMethod[m] = k
	}
	return k
}

// estimated returns the methods of frames, and introduces those that have no ID.
func (t *stackTable) estimated(frames []int32) []Method {
	if len(frames) == 0 {
		return nil
	}
	list := make([]Method, len(frames))
	for i, f := range frames {
		if t.methods[f] == 0 {
			m, ok := t.names.Find(t.texts[f])
			if !ok {
				m = t.named
				t.named++
				if err := t.handler.Named(m, t.texts[f]); t.err == nil {
					t.err = err
				}
			}
			t.methods[f] = m
		}
		list[i] = t.methods[f]
	}
	return list
}

// split compares frames with calls, the outermost call first. outside has the frames between each call and the one before
// it, inside those inside of the last one. If no call has a frame, inside begins with the first frame of a method that may
// be recorded.
func (t *stackTable) split(calls []Method, frames []int32) (outside [][]int32, inside []int32) {
	outside = make([][]int32, len(calls))
	next := 0
	for i, m := range calls {
		k := slices.Index(frames[next:], t.nameOf(m))
		if k >= 0 && next > 0 {
			outside[i] = frames[next : next+k]
		}
		next += k + 1
	}
	if next > 0 {
		return outside, frames[next:]
	}
	return outside, t.mayBeRecorded(frames)
}

// shows reports whether frames have all calls that have a name, in their order.
func (t *stackTable) shows(calls []Method, frames []int32) bool {
	next := 0
	for _, m := range calls {
		name := t.nameOf(m)
		if name == noName || m == MethodDispatch {
			continue
		}
		k := slices.Index(frames[next:], name)
		if k < 0 {
			return false
		}
		next += k + 1
	}
	return true
}

// mayBeRecorded returns the frames from the first one on that is of a method with an ID.
func (t *stackTable) mayBeRecorded(frames []int32) []int32 {
	from := slices.IndexFunc(frames, func(f int32) bool {
		_, ok := t.names.Find(t.texts[f])
		return ok
	})
	if from < 0 {
		return nil
	}
	return frames[from:]
}
