package trace

// Node is all calls of a method that were reached the same way.
type Node struct {
	// Method is what was called.
	Method Method
	// Parent, Child and Sibling are indices into [Tree.Nodes]: of the caller, of the first that it calls, and of
	// the next that its caller calls; 0, the root, stands for none.
	Parent, Child, Sibling int32
	// Calls is how many there were.
	Calls uint64
	// Total is their time in nanoseconds, Self what of it was spent in no call below; Longest is the longest
	// one's time.
	Total, Self, Longest int64
	// Marked is how many of the calls have any mark but [MarkResumed] and [MarkSuspended].
	Marked uint64
}

// Tree merges calls by the path that leads to them. Its zero value is empty. What it holds grows with the
// number of different paths, not with that of calls.
type Tree struct {
	// Nodes has the root first, which stands for no method; its Total is that of all outermost calls.
	Nodes []Node
	index map[edge]int32
	at    []int32 // per call of the stretch that is added: its node
}

// edge leads from a node to one below it.
type edge struct {
	parent int32
	method Method
}

// Add adds the calls of a stretch.
func (t *Tree) Add(s *Stretch) {
	if len(t.Nodes) == 0 {
		t.Nodes = append(t.Nodes, Node{})
		t.index = map[edge]int32{}
	}
	t.at = t.at[:0]
	for i := range s.Calls {
		c := &s.Calls[i]
		parent := int32(0)
		if c.Parent >= 0 {
			parent = t.at[c.Parent]
		}
		k := t.below(parent, c.Method)
		t.at = append(t.at, k)
		n, d := &t.Nodes[k], c.End-c.Begin
		n.Total += d
		n.Self += d
		n.Longest = max(n.Longest, d)
		if c.Marks&MarkResumed == 0 {
			n.Calls += uint64(c.Count)
		}
		if c.Marks&^(MarkResumed|MarkSuspended) != 0 {
			n.Marked++
		}
		if parent == 0 {
			t.Nodes[0].Total += d
		} else {
			t.Nodes[parent].Self -= d
		}
	}
}

// below returns the node of a method below parent, which is made if it is new.
func (t *Tree) below(parent int32, m Method) int32 {
	if k, ok := t.index[edge{parent, m}]; ok {
		return k
	}
	k := int32(len(t.Nodes))
	t.index[edge{parent, m}] = k
	t.Nodes = append(t.Nodes, Node{Method: m, Parent: parent, Sibling: t.Nodes[parent].Child})
	t.Nodes[parent].Child = k
	return k
}
