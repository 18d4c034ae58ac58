package evidence

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/tracegen/tracegen/trace"
)

// Node is all calls of a method that were reached the same way.
type Node struct {
	// Method is the called method.
	Method trace.Method
	// Parent, Child and Sibling are indices into [Tree.Nodes]: of the caller, of the first that it calls, and of
	// the next that its caller calls, in the order of their first calls; 0, the root, stands for none.
	Parent, Child, Sibling int32
	// Calls is how many there were.
	Calls uint64
	// Total is their time in nanoseconds, Self what of it was spent in no call below; Longest is the longest
	// one's time.
	Total, Self, Longest int64
	// Marked is how many of the calls have any mark but [trace.MarkResumed] and [trace.MarkSuspended].
	Marked uint64

	// Grafted is what samples say of it; the zero value in a tree of recorded calls alone.
	Grafted Grafted
}

// Grafted is what samples say of a node of a tree that joins recorded calls with samples: [Graft] makes it.
type Grafted struct {
	// Estimated is set if its path is known from samples alone: its times are estimated, and its Calls are 0.
	Estimated bool
	// Samples is how many samples its times rest on: Total of an estimated node, Self of a recorded one. If it is 0, Self
	// may contain the time of calls that were not recorded.
	Samples int
	// Pooled is set if the Samples are those of other calls of the same method: no sample fell in these.
	Pooled bool
	// TotalLow to TotalHigh and SelfLow to SelfHigh are what Total and Self are with a probability of 95 %; they are equal
	// to these if they are exact.
	TotalLow, TotalHigh, SelfLow, SelfHigh int64
	// Waiting and Blocked are the parts of Self in which the thread waited, and in which it waited for a lock. CPU is how
	// long the thread was on a processor meanwhile, -1 if that is not known. Unsampled is what of Self no sample says
	// anything of, if the nodes of several threads were added. The rest of Self is running, if there are Samples;
	// otherwise nothing is known.
	Waiting, Blocked, CPU, Unsampled int64
}

// Tree merges calls by the path that leads to them. Its zero value is empty. What it holds grows with the
// number of different paths, not with the number of calls.
type Tree struct {
	// Nodes has the root first, which stands for no method; its Total is the Total of all outermost calls. A node comes
	// behind its parent.
	Nodes []Node
	// Samples are what samples show of the calls.
	Samples TreeSamples

	last []int32          // per node: its last child, 0 for none
	path map[uint64]int32 // nodes by parent and method, see [pathTo]; nil if it has to be made
	at   []int32          // per call of the segment that is added: its node
}

// Longest returns the nodes with the longest calls, at most n and each of a hundredth of the whole at least, with the
// number of their callers. They are in the order of the first calls. t may be nil.
func (t *Tree) Longest(n int) iter.Seq2[int32, int] {
	return func(yield func(int32, int) bool) {
		if t == nil || len(t.Nodes) == 0 {
			return
		}
		var longest []int32 // a caller comes before what it calls, and takes as long at least
		for k := 1; k < len(t.Nodes); k++ {
			if t.Nodes[k].Total*100 >= t.Nodes[0].Total {
				longest = append(longest, int32(k))
			}
		}
		slices.SortStableFunc(longest, func(a, b int32) int { return cmp.Compare(t.Nodes[b].Total, t.Nodes[a].Total) })
		shown := map[int32]bool{}
		for _, k := range longest[:min(len(longest), n)] {
			shown[k] = true
		}
		var walk func(of int32, depth int) bool
		walk = func(of int32, depth int) bool {
			for k := t.Nodes[of].Child; k != 0; k = t.Nodes[k].Sibling {
				if shown[k] && !(yield(k, depth) && walk(k, depth+1)) {
					return false
				}
			}
			return true
		}
		walk(0, 0)
	}
}

// Add adds the calls of a segment, and its samples.
func (t *Tree) Add(s *trace.Segment) {
	if len(t.Nodes) == 0 {
		t.Nodes, t.last = append(t.Nodes, Node{}), append(t.last, 0)
	}
	if t.path == nil {
		t.path = make(map[uint64]int32, len(t.Nodes))
		for k := 1; k < len(t.Nodes); k++ {
			t.path[pathTo(t.Nodes[k].Parent, t.Nodes[k].Method)] = int32(k)
		}
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
		if c.Marks&trace.MarkResumed == 0 {
			n.Calls += uint64(c.Count)
		}
		if c.Marks&^(trace.MarkResumed|trace.MarkSuspended) != 0 {
			n.Marked++
		}
		if parent == 0 {
			t.Nodes[0].Total += d
		} else {
			t.Nodes[parent].Self -= d
		}
	}
	t.addSamples(s)
}

// pathTo returns what identifies the node of a method below parent.
func pathTo(parent int32, m trace.Method) uint64 { return uint64(uint32(parent))<<32 | uint64(m) }

// below returns the node of a method below parent, which is made if it is new.
func (t *Tree) below(parent int32, m trace.Method) int32 {
	k, known := t.path[pathTo(parent, m)]
	if !known {
		k = int32(len(t.Nodes))
		t.path[pathTo(parent, m)] = k
		t.link(Node{Method: m, Parent: parent})
	}
	return k
}

// link appends a node, as its parent's last child.
func (t *Tree) link(n Node) {
	k := int32(len(t.Nodes))
	t.Nodes, t.last = append(t.Nodes, n), append(t.last, 0)
	if before := t.last[n.Parent]; before != 0 {
		t.Nodes[before].Sibling = k
	} else {
		t.Nodes[n.Parent].Child = k
	}
	t.last[n.Parent] = k
}

// Trim leaves out all but some nodes if there are more than limit: it keeps the nodes with the greatest Total, with all
// their callers. The facts of the other nodes stay true, so the time of the removed nodes is in their callers' Total
// and in no Self.
func (t *Tree) Trim(limit int) {
	if len(t.Nodes) <= limit || limit < 1 {
		return
	}
	totals := make([]int64, len(t.Nodes)-1)
	for i := range totals {
		totals[i] = t.Nodes[i+1].Total
	}
	slices.Sort(totals)
	// Fewer than limit are greater than this, and of the equal ones the first stay.
	least := totals[len(totals)-limit]
	equal := limit - 1 - (len(totals) - sort.Search(len(totals), func(i int) bool { return totals[i] > least }))
	old := t.Nodes
	stays := make([]bool, len(old))
	for k := 1; k < len(old); k++ {
		stays[k] = old[k].Total > least || old[k].Total == least && equal > 0
		if old[k].Total == least {
			equal--
		}
	}
	for k := len(old) - 1; k > 0; k-- {
		if stays[k] {
			stays[old[k].Parent] = true
		}
	}
	t.keep(old, stays)
}

// keep makes the tree anew of the nodes that stay.
func (t *Tree) keep(old []Node, stays []bool) {
	moved := make([]int32, len(old))
	root := old[0]
	root.Child = 0
	t.Nodes, t.last, t.path, t.at = []Node{root}, []int32{0}, nil, nil
	for k := 1; k < len(old); k++ {
		if stays[k] {
			moved[k] = int32(len(t.Nodes))
			n := old[k]
			n.Parent, n.Child, n.Sibling = moved[n.Parent], 0, 0
			t.link(n)
		}
	}
	t.Samples = t.Samples.moved(func(k int32) (int32, bool, bool) {
		left := false
		for ; k > 0 && !stays[k]; k = old[k].Parent {
			left = true
		}
		return moved[k], left, k == 0
	})
}

// Sub returns the calls of a node and all below it, as a tree of their own.
func (t *Tree) Sub(node int32) Tree {
	moved := make([]int32, len(t.Nodes))
	var sub Tree
	for k := int(node); k < len(t.Nodes); k++ {
		n := t.Nodes[k]
		if k != int(node) && moved[n.Parent] == 0 {
			continue
		}
		if len(sub.Nodes) == 0 {
			sub.Nodes, sub.last = []Node{{Total: n.Total}}, []int32{0}
		}
		moved[k] = int32(len(sub.Nodes))
		n.Parent, n.Child, n.Sibling = moved[n.Parent], 0, 0
		if k == int(node) {
			n.Parent = 0
		}
		sub.link(n)
	}
	sub.Samples = t.Samples.moved(func(k int32) (int32, bool, bool) { return moved[k], false, moved[k] == 0 })
	return sub
}

// LongestChild returns the node of the longest calls below another, of equals the first that was called; 0 if there
// is none that took any time.
func (t *Tree) LongestChild(parent int32) int32 {
	longest, total := int32(0), int64(0)
	for k := t.Nodes[parent].Child; k != 0; k = t.Nodes[k].Sibling {
		if t.Nodes[k].Total > total {
			longest, total = k, t.Nodes[k].Total
		}
	}
	return longest
}
