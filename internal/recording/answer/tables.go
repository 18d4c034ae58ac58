package answer

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// WriteTable writes the methods as a table for people, at most top of them, 0 for all.
func (m *Methods) WriteTable(w io.Writer, by Order, top int) error {
	b := bufio.NewWriter(w)
	writeCompleteness(b, m.recordings)
	list := m.Sorted(by)
	fmt.Fprintf(b, "%12s %12s %10s %12s %6s  %s\n", "self", "total", "calls", "longest", "stalls", "method")
	for i, t := range list {
		if i == top && top > 0 {
			fmt.Fprintf(b, "... %s more\n", analysis.Count(len(list)-i, "method"))
			break
		}
		fmt.Fprintf(b, "%12s %12s %10d %12s %6d  %s%s%s\n", t.atLeast(t.Self), t.atLeast(t.Total), t.Calls,
			t.atLeast(t.Longest), t.Stalls, t.Method, markedText(t.Marked), leftOutText(t.LeftOut))
	}
	return b.Flush()
}

// writeCompleteness writes what is missing from recordings.
func writeCompleteness(w io.Writer, list []*analysis.Recording) {
	for _, r := range list {
		for _, line := range r.Completeness.Lines() {
			fmt.Fprintf(w, "!!! %s: %s\n", r.Name, line)
		}
	}
}

// atLeast returns a time of a method, with ≥ before it if it may be greater in truth.
func (t *MethodTotal) atLeast(nanos int64) string {
	text := analysis.Millis(time.Duration(nanos))
	if t.lossy {
		return "≥ " + text
	}
	return text
}

func leftOutText(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  [%s left out]", analysis.Several(n, "call", "s"))
}

func markedText(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  [%d repaired]", n)
}

// Least says which calls of a tree are not worth showing: those that took less than both.
type Least struct {
	// Share is of the whole, from 0 to 1.
	Share float64
	// Nanos is a time.
	Nanos int64
}

// WriteTree writes a tree for people: calls below those that call them, the longest first. What is left out is summed
// up where it would stand.
func (c *Calls) WriteTree(w io.Writer, least Least) error {
	b := bufio.NewWriter(w)
	writeCompleteness(b, c.recordings)
	nodes := c.Nodes()
	fmt.Fprintf(b, "%12s %12s %7s %10s  %s\n", "total", "self", "", "calls", "method")
	if len(nodes) == 0 {
		return b.Flush()
	}
	limit := max(least.Nanos, int64(least.Share*float64(nodes[0].Total)))
	type open struct {
		node int32
		next int // child
	}
	path := []open{{}}
	for len(path) > 0 {
		at := &path[len(path)-1]
		n := &nodes[at.node]
		if at.next == len(n.Children) {
			path = path[:len(path)-1]
			continue
		}
		child := &nodes[n.Children[at.next]]
		indent := strings.Repeat("  ", len(path)-1)
		if child.Total < limit {
			left := int64(0)
			for _, k := range n.Children[at.next:] {
				left += nodes[k].Total
			}
			fmt.Fprintf(b, "%12s %12s %7s %10s  %s(%s of less than %s each)\n", analysis.Millis(time.Duration(left)), "", "", "",
				indent,
				analysis.Count(len(n.Children)-at.next, "call path"), analysis.Millis(time.Duration(limit)))
			at.next = len(n.Children)
			continue
		}
		fmt.Fprintf(b, "%12s %12s %7s %10d  %s%s%s\n", analysis.Millis(time.Duration(child.Total)),
			analysis.Millis(time.Duration(child.Self)),
			analysis.Percent(time.Duration(child.Total),
				time.Duration(nodes[0].Total)), child.Calls, indent, child.Method, markedText(child.Marked))
		next := n.Children[at.next]
		at.next++
		path = append(path, open{node: next})
	}
	return b.Flush()
}
