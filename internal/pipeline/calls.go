package pipeline

import (
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
)

// callGraph is what all methods of a part lead to. Of another part's runtime class, nobody knows what it reaches
// here before all parts are together: it could be anything. Methods are numbers into one list, so that a call
// costs a few bytes.
type callGraph struct {
	mu      sync.Mutex
	strings map[string]string // one copy of each
	numbers map[inject.MethodRef]uint32
	methods []inject.MethodRef
}

// classCalls is the part of the graph that one class is.
type classCalls []methodCalls

type methodCalls struct {
	name, descriptor string
	targets          []uint32
}

func newCallGraph() *callGraph {
	return &callGraph{strings: make(map[string]string), numbers: make(map[inject.MethodRef]uint32)}
}

// record writes down what the methods of c lead to, without holding on to c. Workers share the graph; which
// numbers it gives depends on them, and nothing else does.
func (g *callGraph) record(c *classfile.Class) classCalls {
	calls := inject.CallsOf(c)
	recorded := make(classCalls, len(calls.Methods))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range calls.Methods {
		m := &calls.Methods[i]
		recorded[i] = methodCalls{g.keep(m.Name), g.keep(m.Descriptor), make([]uint32, len(m.Targets))}
		for k, target := range m.Targets {
			recorded[i].targets[k] = g.number(target)
		}
	}
	return recorded
}

func (g *callGraph) keep(s string) string {
	if kept, known := g.strings[s]; known {
		return kept
	}
	s = strings.Clone(s)
	g.strings[s] = s
	return s
}

func (g *callGraph) number(m inject.MethodRef) uint32 {
	n, known := g.numbers[m]
	if !known {
		m = inject.MethodRef{Class: g.keep(m.Class), Name: g.keep(m.Name), Descriptor: g.keep(m.Descriptor)}
		n = uint32(len(g.methods))
		g.methods = append(g.methods, m)
		g.numbers[m] = n
	}
	return n
}

// calls gives the class's part of the graph in the terms of package inject.
func (g *callGraph) calls(u *unit) inject.Calls {
	calls := inject.Calls{Name: u.class, SuperName: u.ancestry.SuperName, Methods: make([]inject.MethodCalls, len(u.edges))}
	for i, m := range u.edges {
		targets := make([]inject.MethodRef, len(m.targets))
		for k, n := range m.targets {
			targets[k] = g.methods[n]
		}
		calls.Methods[i] = inject.MethodCalls{Name: m.name, Descriptor: m.descriptor, Targets: targets}
	}
	return calls
}

// callsOf gives what the methods of a class lead to: from what the scan wrote down, or from its file, as of nearly
// all classes nobody ever asks.
func (r *run) callsOf(u *unit) (inject.Calls, error) {
	if u.record != nil {
		return u.graph.calls(u), nil
	}
	c, err := r.parse(u)
	if err != nil {
		return inject.Calls{}, err
	}
	return inject.CallsOf(c), nil
}
