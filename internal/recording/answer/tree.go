package answer

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Least says which calls of a tree are not worth showing: those that took less than both.
type Least struct {
	// Share is of the whole, from 0 to 1.
	Share float64
	// Nanos is a time.
	Nanos int64
}

// WriteTrees makes what is analyzed with these options write the tree of each recording, for people: calls below those
// that call them, the longest first. What is left out is summed up where it would stand. What is held grows with the
// number of different paths of one recording.
func WriteTrees(o *analysis.Options, w io.Writer, least Least) {
	var tree *treeOf
	o.Also = func(*analysis.Recording) (trace.Handler, error) {
		tree = new(treeOf)
		return tree, nil
	}
	o.End = func(r *analysis.Recording) error { return tree.write(w, r, least) }
}

// treeOf merges the calls of one recording by path, with what its samples show.
type treeOf struct {
	evidence.Tree
	sums.Paths
}

// Segment implements [trace.Handler].
func (t *treeOf) Segment(s *trace.Segment) error {
	t.Add(s)
	return t.Paths.Segment(s)
}

// graft puts the grafted calls of all threads into one tree, if there are samples.
func (t *treeOf) graft() {
	list := t.Grafted()
	if list == nil {
		return
	}
	type key struct {
		parent    int32
		method    trace.Method
		estimated bool
	}
	t.Tree = evidence.Tree{Nodes: []evidence.Node{{}}}
	index := map[key]int32{}
	for _, of := range list {
		at := make([]int32, len(of.Tree.Nodes))
		for i := range of.Tree.Nodes {
			n := &of.Tree.Nodes[i]
			if i > 0 {
				where := key{at[n.Parent], n.Method, n.Grafted.Estimated}
				k, known := index[where]
				if !known {
					k = int32(len(t.Nodes))
					index[where] = k
					t.Nodes = append(t.Nodes, evidence.Node{Method: n.Method, Parent: where.parent,
						Sibling: t.Nodes[where.parent].Child})
					t.Nodes[where.parent].Child = k
				}
				at[i] = k
			}
			sums.AddTo(&t.Nodes[at[i]], n)
		}
	}
}

// below returns what a node calls, the longest first.
func (t *treeOf) below(node int32, names *resolve.Names) (children []int32) {
	for k := t.Nodes[node].Child; k != 0; k = t.Nodes[k].Sibling {
		children = append(children, k)
	}
	slices.SortStableFunc(children, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Nodes[b].Total, t.Nodes[a].Total),
			resolve.CompareMethods(names.Method(t.Nodes[a].Method), names.Method(t.Nodes[b].Method)))
	})
	return children
}

func (t *treeOf) write(w io.Writer, r *analysis.Recording, least Least) error {
	b := bufio.NewWriter(w)
	t.graft()
	writeCompleteness(b, []*analysis.Recording{r})
	fmt.Fprintf(b, "%s:\n%12s %12s %7s %10s  %s\n", r.Name, "total", "self", "", "calls", "method")
	if len(t.Nodes) == 0 {
		return b.Flush()
	}
	whole := t.Nodes[0].Total
	limit := max(least.Nanos, int64(least.Share*float64(whole)))
	millis := func(nanos int64) string { return units.Millis(time.Duration(nanos)) }
	for left := [][]int32{t.below(0, r.Names)}; len(left) > 0; {
		depth := len(left) - 1
		if len(left[depth]) == 0 {
			left = left[:depth]
			continue
		}
		n, indent := &t.Nodes[left[depth][0]], strings.Repeat("  ", depth)
		if n.Total < limit {
			sum := int64(0)
			for _, k := range left[depth] {
				sum += t.Nodes[k].Total
			}
			fmt.Fprintf(b, "%12s %12s %7s %10s  %s(%s of less than %s each)\n", millis(sum), "", "", "", indent,
				units.Count(len(left[depth]), "call path"), millis(limit))
			left[depth] = nil
			continue
		}
		sum := sums.SumOf(n)
		fmt.Fprintf(b, "%12s %12s %7s %10s  %s%s%s%s\n", millis(n.Total), millis(n.Self),
			units.Percent(time.Duration(n.Total), time.Duration(whole)), callsText(&sum), indent,
			r.Names.Method(n.Method), markedText(n.Marked), restsText(&sum))
		below := t.below(left[depth][0], r.Names)
		left[depth] = left[depth][1:]
		left = append(left, below)
	}
	return b.Flush()
}
