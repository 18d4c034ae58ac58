package evidence

import (
	"fmt"
	"testing"
)

// TestLongest has a tree of which the calls of a hundredth and more are returned, and one that is deeper than asked.
func TestLongest(t *testing.T) {
	wide := &Tree{Nodes: []Node{{Child: 1, Total: 1000}, {Child: 2, Total: 1000}, {Parent: 1, Sibling: 3, Total: 9},
		{Parent: 1, Sibling: 4, Total: 10}, {Parent: 1, Total: 900}}}
	deep := &Tree{Nodes: []Node{{Child: 1, Total: 10}, {Child: 2, Total: 10}, {Parent: 1, Child: 3, Total: 10},
		{Parent: 2, Child: 4, Total: 10}, {Parent: 3, Total: 10}}}
	for _, c := range []struct {
		tree *Tree
		n    int
		want string
	}{{wide, 30, "1:0 3:1 4:1 "}, {deep, 3, "1:0 2:1 3:2 "}, {nil, 30, ""}, {&Tree{}, 30, ""}} {
		got := ""
		for k, depth := range c.tree.Longest(c.n) {
			got += fmt.Sprint(k, ":", depth, " ")
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
