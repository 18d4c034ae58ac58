package answer

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Calls merges the calls of many recordings by path, by the names of methods. Its zero value is empty. What it holds
// grows with the number of different paths.
type Calls struct {
	nodes []CallNode
	index map[callEdge]int32

	recordings []*analysis.Recording
}

// CallNode is all calls of a method that were reached the same way.
type CallNode struct {
	analysis.Step
	// Longest is the longest call's time.
	Longest int64
	// Children are what it calls, by their indices in the order of their Total, the greatest first.
	Children []int32
}

type callEdge struct {
	parent int32
	methodKey
}

// Connect makes the calls merge what is analyzed with these options. What they have for End is called after that.
func (c *Calls) Connect(o *analysis.Options) {
	var tree *treeOf
	o.Also = func(*analysis.Recording) (trace.Handler, error) {
		tree = new(treeOf)
		return tree, nil
	}
	end := o.End
	o.End = func(r *analysis.Recording) error {
		c.add(&tree.Tree, r)
		if end == nil {
			return nil
		}
		return end(r)
	}
}

// treeOf merges the calls of one recording by path, by their IDs.
type treeOf struct{ trace.Tree }

// Chunk implements [trace.Handler].
func (t *treeOf) Chunk(trace.Chunk) error { return nil }

// Named implements [trace.Handler].
func (t *treeOf) Named(trace.Method, string) error { return nil }

// Segment implements [trace.Handler].
func (t *treeOf) Segment(s *trace.Segment) error {
	t.Add(s)
	return nil
}

// add takes over a recording's tree.
func (c *Calls) add(t *trace.Tree, r *analysis.Recording) {
	if c.nodes == nil {
		c.nodes = []CallNode{{}}
		c.index = map[callEdge]int32{}
	}
	c.recordings = append(c.recordings, r)
	if len(t.Nodes) == 0 {
		return
	}
	at := make([]int32, len(t.Nodes))
	c.nodes[0].Total += t.Nodes[0].Total
	for i := 1; i < len(t.Nodes); i++ {
		from := &t.Nodes[i]
		m := r.Names.Method(from.Method)
		edge := callEdge{at[from.Parent], methodKey{Method: m.Key()}}
		if m.Unresolved {
			edge.digest = r.Digest
		}
		k, ok := c.index[edge]
		if !ok {
			k = int32(len(c.nodes))
			c.index[edge] = k
			c.nodes = append(c.nodes, CallNode{Step: analysis.Step{Method: m}})
			parent := &c.nodes[edge.parent]
			parent.Children = append(parent.Children, k)
		}
		at[i] = k
		n := &c.nodes[k]
		n.Total += from.Total
		n.Self += from.Self
		n.Calls += from.Calls
		n.Marked += from.Marked
		n.Longest = max(n.Longest, from.Longest)
	}
}

// Nodes returns the tree: the first node is the root, which stands for no method, and whose Total is that of all
// outermost calls.
func (c *Calls) Nodes() []CallNode {
	for i := range c.nodes {
		slices.SortStableFunc(c.nodes[i].Children, func(a, b int32) int {
			return cmp.Or(cmp.Compare(c.nodes[b].Total, c.nodes[a].Total),
				resolve.CompareMethods(c.nodes[a].Method, c.nodes[b].Method))
		})
	}
	return c.nodes
}
