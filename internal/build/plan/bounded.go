package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/mapping"
)

// Prover proves of methods that they are bounded: that a call of one executes at most [filter.MaxBound] instructions.
// It needs the classes of all inputs, and believes only in calls of which one method alone can be the target: of
// static methods, private and final ones, constructors, and methods of final classes. A call that finds its target by
// the class of an object is none of them, even if no class of the inputs overrides the method: a dynamic feature, a
// mock, a proxy or a lambda may.
//
// A class that is there several times, as under META-INF/versions, is the target of no call.
type Prover struct {
	draft  *Draft
	byName map[string][]int
	first  []int               // by class: where its methods begin in bounds
	bounds []int16             // of every method: one of those below, or the bound
	inits  []int8              // by class: whether it may be initialised
	tables []map[signature]int // by class, of those with many methods: the index of each
}

// signature identifies a method within its class (JVMS 4.6).
type signature struct{ name, descriptor string }

const (
	notTried  = 0
	unbounded = -1
	inProof   = -2 // it calls itself, by others or not, if it is met again
)

// Prover returns a prover for the classes of the draft.
func (d *Draft) Prover() *Prover { return d.newProver(d.byNames()) }

func (d *Draft) newProver(byName map[string][]int) *Prover {
	p := &Prover{draft: d, byName: byName, first: make([]int, len(d.facts)), inits: make([]int8, len(d.facts))}
	count := 0
	for n, c := range d.facts {
		p.first[n] = count
		count += len(c.Methods)
	}
	p.bounds = make([]int16, count)
	return p
}

// decideBounded takes bounded methods out of tracing, but class initialisers, by which the time of a class that is
// initialised shows, and messages, for which the user has asked.
func (d *Draft) decideBounded(byName map[string][]int) {
	p := d.newProver(byName)
	var decisions [filter.MaxBound + 1]*filter.Decision // many methods have the same
	for n, c := range d.facts {
		if c.Outlines == nil || d.classes[n].left != nil {
			continue
		}
		for _, o := range c.Outlines.methods {
			i := int(o.method)
			if !Traced(d.decision(n, i)) || c.Methods[i].Name == "<clinit>" ||
				d.options.Messages != nil && d.options.Messages(d.Identity(n, i)) {
				continue
			}
			bound := p.bound(n, i)
			if bound <= 0 {
				continue
			}
			if decisions[bound] == nil {
				decisions[bound] = &filter.Decision{Reason: filter.ReasonBounded, Detail: boundText(bound)}
			}
			d.decide(n, i, decisions[bound])
		}
	}
}

func boundText(bound int) string {
	if bound == 1 {
		return "at most 1 instruction"
	}
	return fmt.Sprintf("at most %d instructions", bound)
}

// Proof returns which methods a bounded method calls, and how many instructions each of them executes at most; "" if
// there are none.
func (p *Prover) Proof(class, i int) string {
	_, calls, _ := p.draft.facts[class].Outlines.of(i)
	var texts []string
	for _, call := range calls {
		if call.kind() == filter.CallInitialiser {
			continue
		}
		name := p.draft.Original(mapping.Identity(p.target(class, call)))
		short := name.Class[strings.LastIndexByte(name.Class, '/')+1:]
		texts = append(texts, fmt.Sprintf("%s.%s (%d)", mapping.Text(short), mapping.Text(name.Name),
			p.call(class, call)))
	}
	if len(texts) == 0 {
		return ""
	}
	return "calls " + strings.Join(texts, ", ")
}

// bound returns the bound of method i of a class, or unbounded. A method that calls itself is not bounded, nor is what
// calls it: so the order in which methods are tried makes no difference.
func (p *Prover) bound(class, i int) int {
	at := &p.bounds[p.first[class]+i]
	switch *at {
	case notTried:
	case inProof:
		return unbounded
	default:
		return int(*at)
	}
	c := p.draft.facts[class]
	size, calls, ok := c.Outlines.of(i)
	*at = inProof
	for k := 0; ok && k < len(calls); k++ {
		more := p.call(class, calls[k])
		size += more
		ok = more >= 0 && size <= filter.MaxBound
	}
	if !ok {
		size = unbounded
	}
	*at = int16(size)
	return size
}

// target returns the method that a method of a class calls, as the instruction names it.
func (p *Prover) target(class int, call outlinedCall) inject.MethodRef {
	c := p.draft.facts[class]
	if call.kind() != filter.CallOwn {
		return c.Outlines.graph.methods[call.target()]
	}
	i, _ := c.methodAt(call.target())
	return inject.MethodRef(c.Identity(i))
}

// methodAt returns the index into Methods of a method of the class file; ok is false if it has no code.
func (c *Class) methodAt(index uint32) (i int, ok bool) {
	return slices.BinarySearchFunc(c.Methods, index, func(m Method, index uint32) int {
		return cmp.Compare(uint32(m.Index), index)
	})
}

// call returns the bound of what a call of a method of a class runs.
func (p *Prover) call(from int, call outlinedCall) int {
	switch call.kind() {
	case filter.CallOwn:
		if i, ok := p.draft.facts[from].methodAt(call.target()); ok {
			return p.bound(from, i)
		}
		return unbounded
	case filter.CallInitialiser:
		if p.initialises(p.target(from, call).Class) {
			return 0
		}
		return unbounded
	}
	return p.search(from, call.kind(), p.target(from, call))
}

// search returns the bound of a method that is found by its name.
func (p *Prover) search(from int, kind filter.CallKind, ref inject.MethodRef) int {
	name := ref.Class
	if own := p.draft.facts[from]; kind == filter.CallSpecial && ref.Name != "<init>" && name != own.Name {
		if p.isInterface(name) {
			return unbounded
		}
		name = own.Ancestry.SuperName // where the search starts (JVMS 6.5, invokespecial)
	}
	for steps := 0; steps < maxSupers; steps++ {
		if bound, known := filter.KnownBound(name, ref.Name, ref.Descriptor); known {
			return bound
		}
		class, c := p.only(name)
		if c == nil {
			return unbounded
		}
		if i := p.find(class, ref.Name, ref.Descriptor); i >= 0 {
			if kind == filter.CallVirtual && !p.isExact(ref.Class, c, i) {
				return unbounded
			}
			return p.bound(class, i)
		}
		if ref.Name == "<init>" || c.Native || c.Access&classfile.AccInterface != 0 {
			return unbounded
		}
		name = c.Ancestry.SuperName
	}
	return unbounded
}

// maxSupers bounds the search through superclasses, which in malformed classes has no end.
const maxSupers = 100

// isExact reports whether invokevirtual of a method that class named names, and that was found as method i of c, can
// run no other.
func (p *Prover) isExact(named string, c *Class, i int) bool {
	access := c.Methods[i].Access
	if access&classfile.AccStatic != 0 || access&classfile.AccPrivate != 0 && c.Name != named {
		return false // it fails, or the method is further up
	}
	_, receiver := p.only(named)
	return filter.IsExact(receiver.Access, access)
}

// isInterface reports whether a class of the inputs is an interface; so does one that is not among them.
func (p *Prover) isInterface(name string) bool {
	_, c := p.only(name)
	return c == nil || c.Access&classfile.AccInterface != 0
}

// only returns the class of a name, nil if there is none in the inputs, or several.
func (p *Prover) only(name string) (int, *Class) {
	if same := p.byName[name]; len(same) == 1 {
		return same[0], p.draft.facts[same[0]]
	}
	return -1, nil
}

// fewMethods is the number of methods up to which a search is cheaper than a table.
const fewMethods = 60

// find returns the index of a method with code, -1 if the class has none of that name.
func (p *Prover) find(class int, name, descriptor string) int {
	methods := p.draft.facts[class].Methods
	if len(methods) > fewMethods {
		if i, found := p.table(class)[signature{name, descriptor}]; found {
			return i
		}
		return -1
	}
	for i := range methods {
		if methods[i].Name == name && methods[i].Descriptor == descriptor {
			return i
		}
	}
	return -1
}

func (p *Prover) table(class int) map[signature]int {
	if p.tables == nil {
		p.tables = make([]map[signature]int, len(p.draft.facts))
	}
	if p.tables[class] == nil {
		methods := p.draft.facts[class].Methods
		p.tables[class] = make(map[signature]int, len(methods))
		for i := range methods {
			p.tables[class][signature{methods[i].Name, methods[i].Descriptor}] = i
		}
	}
	return p.tables[class]
}

const (
	initialises = 1
	hides       = 2 // its initialiser may run long, and does not show
	inSearch    = 3
)

// initialises reports whether initialising a class takes no time that does not show: its initialiser, and those of its
// supertypes, are traced by themselves, are trivial, or are of a class that is known.
func (p *Prover) initialises(name string) bool {
	if filter.KnownClass(name) {
		return true
	}
	class, c := p.only(name)
	if c == nil {
		return false
	}
	switch p.inits[class] {
	case initialises, inSearch:
		return true
	case hides:
		return false
	}
	p.inits[class] = inSearch
	shows := true
	if i := p.find(class, "<clinit>", "()V"); i >= 0 {
		d := p.draft.Decision(class, i)
		shows = d.Traced() || d.Reason == filter.ReasonTrivial
	}
	shows = shows && p.initialises(c.Ancestry.SuperName)
	for _, super := range c.Interfaces {
		shows = shows && (isConstantsOnly(super) || p.initialises(super))
	}
	if p.inits[class] = initialises; !shows {
		p.inits[class] = hides
	}
	return shows
}

// isConstantsOnly reports whether an interface is one of the JDK, Android or Kotlin: their initialisers, if they have
// any, set constants.
func isConstantsOnly(name string) bool {
	return strings.HasPrefix(name, "java/") || strings.HasPrefix(name, "android/") || strings.HasPrefix(name, "kotlin/")
}
