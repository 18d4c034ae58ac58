package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/incremental"
	"github.com/tracegen/tracegen/internal/plan"
	"github.com/tracegen/tracegen/internal/rewrite"
	"github.com/tracegen/tracegen/internal/scan"
	"github.com/tracegen/tracegen/mapping"
)

// Question says which methods [Explain] is to tell of.
type Question interface {
	// MatchClass may only say no to a class none of whose methods is asked for.
	MatchClass(class string) bool
	// Match says whether a method is asked for.
	Match(method mapping.Identity) bool
}

// Explanation is what became of the methods of one class that were asked for, or would.
type Explanation struct {
	Input, Entry string        // where the class is
	Class        string        // in internal form; of one that could not be read, what its entry is called
	Residual     string        // the name that it has in the input, if that is another
	Reason       filter.Reason // why a class was not read; or empty
	Detail       string
	Calls        int // that the class gets
	Bytes        int // that it grows by
	Shared       int // of these, what no method has for itself
	Methods      []ExplainedMethod
}

// ExplainedMethod is what becomes of one method.
type ExplainedMethod struct {
	Class            string // in internal form; merging classes can make it another than that of the Explanation
	Name, Descriptor string // raw, as in a constant pool
	Residual         string // what it is called in the input, in text form, if that is something else
	Access           uint16 // access_flags (JVMS 4.6)
	Code             bool   // it has code
	ID               uint32 // 0 unless it is traced
	Reason           filter.Reason
	Detail           string // of the reason, or the rule by which it is traced
	Line             int    // the lowest line_number, 0 if unknown
	Instructions     int
	Invocations      int // instructions that call
	CodeBytes        int // code_length (JVMS 4.7.3)
	Calls            int // that it gets
	Bytes            int // that it grows by
}

// Explained is the answer of [Explain].
type Explained struct {
	Classes  []Explanation // in input order
	Mapping  *mapping.Mapping
	Warnings []string
	// Names are those of every class, and every method with code, of the inputs, in input order.
	Names []mapping.Identity
}

// Explain makes all the decisions of [Run], checks included, and reports those about the methods that are asked for. It writes
// nothing: of what c says about outputs, only that there is a Merge matters. The runtime class may be missing.
func Explain(ctx context.Context, c Config, asked Question) (*Explained, error) {
	c.RuntimeExternal, c.Disabled = true, false
	options, original := renamed(c.Inject, c.R8)
	inputs, _ := pathsOf(c.Inputs, c.Merge)
	none := incremental.None{Inputs: len(inputs)}
	known, err := none.Recall(ctx)
	if err != nil {
		return nil, err
	}
	w, err := open(inputs, known, c.Jobs, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	path := c.ClassPath.Lazy()
	defer path.Close()
	draft, err := decide(ctx, &c, w, known, none, path, options, original)
	if err != nil {
		return nil, err
	}
	types, err := typesOf(c.checksTypes(), path, w.set, draft.Names())
	if err != nil {
		return nil, err
	}
	rewriting := rewriteOptions(options, c.AddRequires, types)
	planned, err := assignUntilStable(draft, func(p *plan.Plan) (map[int]plan.Failure, error) { return w.rehearse(ctx, p, rewriting) })
	if err != nil {
		return nil, err
	}
	e := explainer{plan: planned, work: w, asked: asked, rewriting: rewriting}
	classes, err := e.classes()
	if err != nil {
		return nil, err
	}
	return &Explained{
		Classes: classes, Mapping: planned.Mapping, Names: e.names(),
		Warnings: slices.Concat(w.warnings, planned.Warnings, planned.Crowded, planned.ModuleWarnings()),
	}, nil
}

// rehearse rewrites what changes and keeps nothing but the failures.
func (w *work) rehearse(ctx context.Context, by *plan.Plan, o rewrite.Options) (map[int]plan.Failure, error) {
	w.progress.restart()
	var mu sync.Mutex
	failures := make(map[int]plan.Failure)
	err := w.each(ctx, by.Len(), func() (func(int) error, func()) {
		r := rewrite.New(o, w.set)
		work := func(n int) error {
			outcome := rewrite.Outcome{}
			if by.Changes(n) {
				var err error
				if outcome, err = r.Rewrite(n, by); err != nil {
					return err
				}
			}
			w.progress.add(w.set.Classes[n].Size)
			if outcome.Failure != nil {
				mu.Lock()
				defer mu.Unlock()
				failures[n] = *outcome.Failure
			}
			return nil
		}
		return work, func() {}
	})
	return failures, err
}

// explainer reports what a plan decides about the methods that are asked for.
type explainer struct {
	*work
	plan      *plan.Plan
	asked     Question
	rewriting rewrite.Options
}

// names returns those of every class, and of every method with code.
func (e *explainer) names() (names []mapping.Identity) {
	for n := range e.plan.Len() {
		names = append(names, mapping.Identity{Class: e.plan.ClassName(n)})
		for i := range e.plan.Facts(n).Methods {
			names = append(names, e.plan.Identity(n, i))
		}
	}
	return names
}

func (e *explainer) classes() (list []Explanation, err error) {
	for n := range e.plan.Len() {
		c := e.plan.Facts(n)
		name := cmp.Or(e.plan.ClassName(n), strings.TrimSuffix(c.At.Name, ".class"))
		if !e.asked.MatchClass(name) && !e.movedFrom(n) {
			continue
		}
		x := Explanation{Input: e.set.Inputs[c.At.Container.Input].Path, Entry: e.plan.Path(n), Class: name}
		if c.Name == "" {
			whole := e.plan.WholeDecision(n)
			x.Reason, x.Detail = whole.Reason, whole.Detail
			list = append(list, x)
			continue
		}
		if name != c.Name {
			x.Residual = c.Name
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
func (e *explainer) explain(class int, x *Explanation) error {
	facts := e.plan.Facts(class)
	reader := rewrite.Reader{Set: e.set, Runtime: e.rewriting.Inject.RuntimeClass} // for one class: the texts are cut from it
	c, err := reader.Read(class, e.plan, facts.Foreign)
	if err != nil {
		return err
	}
	costs := make(map[int]inject.MethodCost)
	if task := e.plan.Task(class, nil); task.Changes() && !task.Requires {
		cost, err := rewrite.New(e.rewriting, e.set).Cost(c, &task)
		if err != nil {
			return err
		}
		x.Calls, x.Bytes, x.Shared = cost.Calls, cost.Bytes, cost.Bytes
		for _, m := range cost.Methods {
			costs[m.Method] = m
			x.Shared -= m.Bytes
		}
	}
	next, ids := 0, e.plan.IDs(class)
	for i := range c.Methods() {
		m := &c.Methods()[i]
		residual := mapping.Identity{Class: facts.Name, Name: m.Name, Descriptor: m.Descriptor}
		identity := e.plan.Original(residual)
		told := ExplainedMethod{Access: m.AccessFlags}
		if next < len(facts.Methods) && int(facts.Methods[next].Index) == i {
			identity = e.plan.Identity(class, next)
			by := e.plan.Decision(class, next)
			told.Code, told.Line, told.Reason, told.Detail = true, int(facts.Methods[next].Line), by.Reason, by.Detail
			if by.Traced() {
				told.ID, ids = ids[0], ids[1:]
			}
			next++
		}
		if !e.asked.Match(identity) {
			continue
		}
		told.Class, told.Name, told.Descriptor = identity.Class, identity.Name, identity.Descriptor
		if identity != residual {
			told.Residual = plan.ResidualText(residual)
		}
		told.Calls, told.Bytes = costs[i].Calls, costs[i].Bytes
		told.measure(c, m)
		x.Methods = append(x.Methods, told)
	}
	return nil
}

// measure counts what is in the code, as far as it can be decoded.
func (e *ExplainedMethod) measure(c *classfile.Class, m *classfile.Member) {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return
	}
	e.CodeBytes, e.Line = len(body.Bytecode), scan.FirstLine(body)
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			return
		}
		e.Instructions++
		if in.Op >= code.Invokevirtual && in.Op <= code.Invokedynamic {
			e.Invocations++
		}
	}
}
