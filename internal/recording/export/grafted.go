package export

import (
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/sums"
)

// grafted has the calls of a thread, merged by path and divided among what samples show.
type grafted struct {
	*sums.ThreadPaths
	thread *thread
}

// grafted returns the grafted calls of each thread, when the recording has been read; nil if it has no samples.
func (r *recording) grafted() []grafted {
	var list []grafted
	for _, p := range r.paths.Grafted() {
		if t := r.threads[p.Thread]; t != nil {
			list = append(list, grafted{p, t})
		}
	}
	return list
}

// mergedName is what the calls of a thread are called beside its calls in the order of time.
const mergedName = ": with estimated calls, merged"

// layOut calls enter and leave for each node of the tree but the root, with times at which nothing overlaps: what a
// call calls comes first in it, then its own time. Formats that have calls in the order of time show merged ones so.
func (g *grafted) layOut(enter, leave func(n *evidence.Node, at int64)) {
	nodes := g.Tree.Nodes
	if len(nodes) == 0 {
		return
	}
	begin := make([]int64, len(nodes))
	next := make([]int64, len(nodes)) // where the next call below a node begins
	for k := nodes[0].Child; k != 0; {
		n := &nodes[k]
		begin[k] = next[n.Parent]
		next[k] = begin[k]
		enter(n, begin[k])
		if n.Child != 0 {
			k = n.Child
			continue
		}
		for {
			n = &nodes[k]
			end := begin[k] + n.Total
			next[n.Parent] = end
			leave(n, end)
			if n.Sibling != 0 {
				k = n.Sibling
				break
			}
			if k = n.Parent; k == 0 {
				break
			}
		}
	}
}

// nodeFacts is what is to be said of a node of a grafted tree beside its name and times.
func nodeFacts(n *evidence.Node) []fact {
	var all []fact
	if n.Calls > 0 {
		all = append(all, fact{"calls", n.Calls})
	}
	g := &n.Grafted
	if g.Samples == 0 {
		return all
	}
	all = append(all, fact{"samples", int64(g.Samples)})
	if g.Estimated {
		all = append(all, fact{"at least ms", millis(g.TotalLow)}, fact{"at most ms", millis(g.TotalHigh)})
	}
	all = append(all, fact{"own waiting ms", millis(g.Waiting)}, fact{"own blocked ms", millis(g.Blocked)})
	if g.CPU >= 0 {
		all = append(all, fact{"own cpu ms", millis(g.CPU)})
	}
	return all
}
