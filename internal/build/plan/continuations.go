package plan

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
)

// Suspend functions of Kotlin have their state in classes of their own, which may lie in another part or input than the
// function. Such a class reports its instances with the ID of the function: the scan finds which one it belongs to, and
// the plan whether that is traced.

// methodPlace is where a method is: the number of its class, and its index into Class.Methods.
type methodPlace struct{ class, method int }

// continued notes which method the instances of a class continue.
func (s *Scanner) continued(facts *Class, c *classfile.Class) {
	if !s.options.Inject.Coroutines || facts.Untouched {
		return
	}
	if m, ok := inject.ContinuedBy(c); ok {
		facts.Continued = &inject.MethodRef{Class: s.keep(m.Class), Name: s.keep(m.Name),
			Descriptor: s.keep(m.Descriptor)}
	}
}

// reports reports whether a method is one that reports instances of the class.
func (c *Class) reports(m *classfile.Member) bool {
	return c.Continued != nil && inject.ReportsContinuation(m)
}

// continuationDecision returns the decision about a method that would be traced: it is not if all it does is to make or
// to resume an instance. invokeSuspend of a suspend lambda is the code of the lambda itself; create makes the instance
// that runs, and invoke makes and starts one.
func (c *Class) continuationDecision(m *classfile.Member, d filter.Decision) filter.Decision {
	if c.Continued == nil || !d.Traced() {
		return d
	}
	method := inject.MethodRef{Class: c.Name, Name: m.Name, Descriptor: m.Descriptor}
	isLambda := c.Continued.Class == c.Name
	if method != *c.Continued && c.reports(m) || isLambda && (m.Name == "create" || m.Name == "invoke") {
		d.Reason, d.Detail = filter.ReasonContinuation, "the calls of the suspend function or lambda show what it does"
	}
	return d
}

// decideContinuations finds the methods that instances of classes continue. If there are several classes of one name, a
// class belongs to the one that it is itself, or to the first whose method is traced: these have one ID.
func (d *Draft) decideContinuations(byName map[string][]int) {
	for n, c := range d.facts {
		if !d.coroutines || c.Continued == nil || d.classes[n].left != nil {
			continue
		}
		candidates := byName[c.Continued.Class]
		if c.Continued.Class == c.Name {
			candidates = []int{n}
		}
		for _, class := range candidates {
			if i := d.tracedMethod(class, c.Continued); i >= 0 {
				if d.continuations == nil {
					d.continuations = make(map[int]methodPlace)
				}
				d.continuations[n] = methodPlace{class, i}
				break
			}
		}
	}
}

// tracedMethod returns the index of a method of the class that is traced, -1 if there is none of this name.
func (d *Draft) tracedMethod(class int, ref *inject.MethodRef) int {
	methods := d.facts[class].Methods
	for i := range methods {
		if methods[i].Name == ref.Name && methods[i].Descriptor == ref.Descriptor && Traced(d.decision(class, i)) {
			return i
		}
	}
	return -1
}

// continuation returns the method with whose ID the class reports its instances; ok is false if it reports none.
func (d *Draft) continuation(class int) (at methodPlace, ok bool) {
	own := &d.classes[class]
	at, ok = d.continuations[class]
	return at, ok && !own.rejected && !own.silent && Traced(d.decision(at.class, at.method))
}

// continuationID returns the ID with which the class reports its instances, 0 if it reports none.
func (p *Plan) continuationID(class int) uint32 {
	at, ok := p.continuation(class)
	if !ok {
		return 0
	}
	before := 0
	for i := range at.method {
		if Traced(p.decision(at.class, i)) {
			before++
		}
	}
	return p.IDs(at.class)[before]
}
