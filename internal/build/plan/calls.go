package plan

import (
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
)

// Graph is the call graph of some classes. It is recorded for decisions that are made without the class files: what the
// runtime class of another part reaches here can only be decided with all parts. Methods are numbers into one list, so
// that a call costs a few bytes. Goroutines may record into a graph at the same time.
type Graph struct {
	mu      sync.Mutex
	strings map[string]string // one copy of each
	numbers map[inject.MethodRef]uint32
	methods []inject.MethodRef
}

// Calls are the part of a graph that one class is.
type Calls struct {
	graph   *Graph
	methods []methodCalls // of every method of the class
}

type methodCalls struct {
	name, descriptor string
	targets          []uint32
}

// NewGraph returns an empty graph.
func NewGraph() *Graph {
	return &Graph{strings: make(map[string]string), numbers: make(map[inject.MethodRef]uint32)}
}

// record notes which methods the methods of c call, without keeping memory of c. The numbers depend on the order in
// which workers call record; nothing else does.
func (g *Graph) record(c *classfile.Class) *Calls {
	calls := inject.CallsOf(c)
	recorded := make([]methodCalls, len(calls.Methods))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range calls.Methods {
		m := &calls.Methods[i]
		recorded[i] = methodCalls{g.keep(m.Name), g.keep(m.Descriptor), make([]uint32, len(m.Targets))}
		for k, target := range m.Targets {
			recorded[i].targets[k] = g.number(target)
		}
	}
	return &Calls{g, recorded}
}

// Close says that nothing more is recorded, so that what only recording needs takes no memory.
func (g *Graph) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.strings, g.numbers = nil, nil
}

func (g *Graph) keep(s string) string {
	if kept, known := g.strings[s]; known {
		return kept
	}
	s = strings.Clone(s)
	g.strings[s] = s
	return s
}

func (g *Graph) number(m inject.MethodRef) uint32 {
	n, known := g.numbers[m]
	if !known {
		m = inject.MethodRef{Class: g.keep(m.Class), Name: g.keep(m.Name), Descriptor: g.keep(m.Descriptor)}
		n = uint32(len(g.methods))
		g.methods = append(g.methods, m)
		g.numbers[m] = n
	}
	return n
}

// CallsOf returns which methods the methods of the class call. It is empty unless [ScanOptions].Complete was set.
func (c *Class) CallsOf() inject.Calls {
	calls := inject.Calls{Name: c.Name, SuperName: c.Ancestry.SuperName}
	if c.Calls == nil {
		return calls
	}
	calls.Methods = make([]inject.MethodCalls, len(c.Calls.methods))
	for i, m := range c.Calls.methods {
		targets := make([]inject.MethodRef, len(m.targets))
		for k, n := range m.targets {
			targets[k] = c.Calls.graph.methods[n]
		}
		calls.Methods[i] = inject.MethodCalls{Name: m.name, Descriptor: m.descriptor, Targets: targets}
	}
	return calls
}
