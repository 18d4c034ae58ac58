package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
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

// Explain makes all the decisions of [Run], referees included, and tells what they are. What Config says of outputs
// does not count, but that there is a Merge; the runtime class may be missing.
func Explain(ctx context.Context, c Config, asked Question) (*Explained, error) {
	c.RuntimeExternal, c.Disabled, c.DryRun, c.Slice, c.Lines = true, false, true, nil, false
	r := newRun(c)
	defer r.close()
	if err := r.openAndScan(ctx); err != nil {
		return nil, err
	}
	if err := r.decideWhole(); err != nil {
		return nil, err
	}
	if err := r.appoint(); err != nil {
		return nil, err
	}
	if err := r.settle(func() (map[*unit]*objection, error) { return r.rehearse(ctx) }); err != nil {
		return nil, err
	}
	r.warnOfModules()
	return r.explain(asked)
}

// rehearse rewrites what changes and keeps nothing but the objections.
func (r *run) rehearse(ctx context.Context) (map[*unit]*objection, error) {
	r.restartProgress()
	var mu sync.Mutex
	objections := make(map[*unit]*objection)
	err := r.eachUnit(ctx, func(w *worker, u *unit) error {
		if !u.changes() {
			w.advance(u.entry.size)
			return nil
		}
		_, against, err := w.rewrite(u)
		if against != nil {
			mu.Lock()
			defer mu.Unlock()
			objections[u] = against
		}
		return err
	})
	return objections, err
}

func (r *run) explain(asked Question) (*Explained, error) {
	told := &Explained{Mapping: r.mapping, Warnings: r.warnings}
	w := r.newWorker()
	for _, u := range r.units {
		told.Names = append(told.Names, mapping.Identity{Class: u.className()})
		for i := range u.methods {
			told.Names = append(told.Names, u.identityOf(i))
		}
		name := cmp.Or(u.className(), strings.TrimSuffix(u.entry.name, ".class"))
		if !asked.MatchClass(name) && !u.hasFrom(asked) {
			continue
		}
		e := Explanation{Input: r.config.Inputs[u.source.input].Path, Entry: u.source.outer + u.entry.name, Class: name}
		if u.class == "" {
			e.Reason, e.Detail = u.whole.Reason, u.whole.Detail
			told.Classes = append(told.Classes, e)
			continue
		}
		if u.className() != u.class {
			e.Residual = u.class
		}
		if err := w.explainMethods(u, &e, asked); err != nil {
			return nil, err
		}
		if len(e.Methods) > 0 {
			told.Classes = append(told.Classes, e)
		}
	}
	return told, nil
}

// hasFrom says whether a method that is asked for was in another class before.
func (u *unit) hasFrom(asked Question) bool {
	return u.before != nil && slices.ContainsFunc(u.before.methods, func(m mapping.Identity) bool {
		return m.Class != u.before.class && asked.Match(m)
	})
}

// explainMethods tells of the methods of one class that are asked for.
func (w *worker) explainMethods(u *unit, e *Explanation, asked Question) error {
	c, err := w.run.parse(u) // what is told is cut from it
	if err != nil {
		return err
	}
	costs := make(map[int]inject.MethodCost)
	if request := u.request(); u.changes() && !u.requires {
		if _, err := w.injector.Rewrite(c, request); err != nil {
			return err
		}
		cost := w.injector.Cost()
		e.Calls, e.Bytes, e.Shared = cost.Calls, cost.Bytes, cost.Bytes
		for _, m := range cost.Methods {
			costs[m.Method] = m
			e.Shared -= m.Bytes
		}
	}
	decided := u.methods
	for i := range c.Methods() {
		m := &c.Methods()[i]
		residual := mapping.Identity{Class: u.class, Name: m.Name, Descriptor: m.Descriptor}
		identity := w.identify(residual)
		told := ExplainedMethod{Access: m.AccessFlags}
		if len(decided) > 0 && int(decided[0].index) == i {
			d := &decided[0]
			identity = u.identityOf(len(u.methods) - len(decided))
			told.Code, told.Line, told.ID = true, int(d.line), d.id
			told.Reason, told.Detail = d.decided().Reason, d.decided().Detail
			if !d.traced() {
				told.ID = 0
			}
			decided = decided[1:]
		}
		if !asked.Match(identity) {
			continue
		}
		told.Class, told.Name, told.Descriptor = identity.Class, identity.Name, identity.Descriptor
		if identity != residual {
			told.Residual = residualText(residual)
		}
		told.Calls, told.Bytes = costs[i].Calls, costs[i].Bytes
		told.measure(c, m)
		e.Methods = append(e.Methods, told)
	}
	return nil
}

// identify gives the original names of a method without code.
func (w *worker) identify(m mapping.Identity) mapping.Identity {
	if w.config.R8 == nil {
		return m
	}
	return mapping.Identity(w.config.R8.Identify([]r8.Method{r8.Method(m)})[0])
}

// measure counts what is in the code, as far as it can be decoded.
func (e *ExplainedMethod) measure(c *classfile.Class, m *classfile.Member) {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return
	}
	e.CodeBytes, e.Line = len(body.Bytecode), firstLine(body)
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

// near is how many names [Near] gives.
const near = 3

// Near gives names that may be meant by a text that names nothing: CLASS or CLASS#METHOD, in the same form, with
// dots. If there is the class, they are of its methods.
func Near(text string, names []mapping.Identity) []string {
	text = strings.ReplaceAll(text, "/", ".")
	class, method, ofMethod := strings.Cut(text, "#")
	method, _, _ = strings.Cut(method, "(")
	there := slices.ContainsFunc(names, func(n mapping.Identity) bool { return mapping.Text(n.Class) == class })
	distances := map[string]int{}
	consider := func(name, wanted, candidate string) {
		limit := max(3, len(wanted)/3)
		if strings.EqualFold(candidate, wanted) {
			distances[name] = 0
		} else if d := filter.Distance(wanted, candidate, limit); d < limit {
			distances[name] = d
		}
	}
	for _, n := range names {
		name := mapping.Text(n.Class)
		switch {
		case there && (!ofMethod || name != class || n.Name == ""):
		case there:
			consider(name+"#"+mapping.Text(n.Name)+mapping.Text(n.Descriptor), method, mapping.Text(n.Name))
		case n.Name == "" && simpleName(name) == simpleName(class) && name != class:
			distances[name] = 0 // in another package
		case n.Name == "" && name != class:
			consider(name, class, name)
		}
	}
	list := slices.Collect(maps.Keys(distances))
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	return list[:min(len(list), near)]
}

// simpleName gives the part of a class name behind its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
