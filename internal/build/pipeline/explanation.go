package pipeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/mapping"
)

// Question says which methods are asked for.
type Question interface {
	// MatchClass returns false only for a class none of whose methods is asked for.
	MatchClass(class string) bool
	// Match reports whether a method is asked for.
	Match(method mapping.Identity) bool
}

// explainer reports what a plan decides about the methods that are asked for.
type explainer struct {
	set     *input.Set
	plan    *plan.Plan
	runtime string // the runtime class's name in the inputs
	asked   Question
	prover  *plan.Prover // nil until a bounded method is asked for
}

// namesOf returns those of every class, and of every method with code, in input order.
func namesOf(p *plan.Plan) (names []mapping.Identity) {
	for n := range p.Len() {
		names = append(names, mapping.Identity{Class: p.ClassName(n)})
		for i := range p.Facts(n).Methods {
			names = append(names, p.Identity(n, i))
		}
	}
	return names
}

// explainClasses returns what a plan decides about the methods that are asked for, of the classes of a set, in input
// order. It reads their class files.
func explainClasses(set *input.Set, p *plan.Plan, runtime string, asked Question) (
	list []buildreport.ExplainedClass, err error) {
	e := explainer{set: set, plan: p, runtime: runtime, asked: asked}
	for n := range e.plan.Len() {
		c := e.plan.Facts(n)
		name := cmp.Or(e.plan.ClassName(n), strings.TrimSuffix(c.At.Name, ".class"))
		if !e.asked.MatchClass(name) && !e.movedFrom(n) {
			continue
		}
		x := buildreport.ExplainedClass{Input: e.set.Inputs[c.At.Container.Input].Path, Entry: e.plan.Path(n), Class: name}
		if c.Name == "" {
			whole := e.plan.WholeDecision(n)
			x.Reason, x.Detail = whole.Reason, whole.Detail
			list = append(list, x)
			continue
		}
		if err := e.explain(n, &x); err != nil {
			return nil, err
		}
		if len(x.Methods) > 0 {
			list = append(list, x)
		}
	}
	return list, nil
}

// movedFrom reports whether a method that is asked for was in another class before.
func (e *explainer) movedFrom(class int) bool {
	return slices.ContainsFunc(e.plan.FormerMethods(class), func(m mapping.Identity) bool {
		return m.Class != e.plan.ClassName(class) && e.asked.Match(m)
	})
}

// explain adds the methods of one class that are asked for.
func (e *explainer) explain(class int, x *buildreport.ExplainedClass) error {
	facts := e.plan.Facts(class)
	// The reader serves one class only: the explanation keeps texts that share memory with the class.
	reader := classReader{Set: e.set, Runtime: e.runtime}
	c, err := reader.Read(class, e.plan, facts.Foreign)
	if err != nil {
		return err
	}
	next, ids := 0, e.plan.IDs(class)
	for i := range c.Methods() {
		m := &c.Methods()[i]
		residual := mapping.Identity{Class: facts.Name, Name: m.Name, Descriptor: m.Descriptor}
		identity := e.plan.Original(residual)
		out := buildreport.ExplainedMethod{Access: m.AccessFlags}
		if next < len(facts.Methods) && int(facts.Methods[next].Index) == i {
			identity = e.plan.Identity(class, next)
			by := e.plan.Decision(class, next)
			out.Code, out.Line, out.Reason, out.Detail = true, int(facts.Methods[next].Line), by.Reason, by.Detail
			if by.Traced() {
				out.ID, ids = ids[0], ids[1:]
			}
			next++
		}
		if !e.asked.Match(identity) {
			continue
		}
		if out.Reason == filter.ReasonBounded {
			out.Detail = e.proof(class, next-1, out.Detail)
		}
		out.Class, out.Name, out.Descriptor = identity.Class, identity.Name, identity.Descriptor
		if identity != residual {
			out.Residual = plan.ResidualText(residual)
		}
		if body, ok, err := c.Code(m); ok && err == nil {
			out.CodeBytes, out.Line = len(body.Bytecode), plan.FirstLine(body)
		}
		x.Methods = append(x.Methods, out)
	}
	return nil
}

// proof returns the detail about a bounded method with what it calls.
func (e *explainer) proof(class, method int, detail string) string {
	if e.prover == nil {
		e.prover = e.plan.Prover()
	}
	if calls := e.prover.Proof(class, method); calls != "" {
		detail += "; " + calls
	}
	return detail
}
