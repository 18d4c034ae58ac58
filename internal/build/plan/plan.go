// Package plan scans classes and decides what is done to each: first what one class shows by itself, then what needs
// all classes at once.
//
// A [Scanner] finds the facts of one class: its names, the decision about every method with code, and what the
// decisions that need other classes will ask for. A [Class] holds them; they never change. [PackFacts] writes them
// for scan files and the cache. Facts share no memory with the class file. Of an app's methods there are many, so
// that their facts are small: names and decisions that many methods have are kept once.
//
// A [Draft] adds what needs all classes: which of several entries of one name is kept, what classes and methods were
// called before R8 renamed them, what rules on supertypes say, which Activities get focus hooks, what the runtime class
// reaches, and which modules require the runtime's. It is made anew, by [Draft.Without], when rewriting fails for some
// classes. A [Plan] is a draft with IDs. A [Slice] is the part of a plan
// that is about some of the inputs, and can be written to a file. All of them are immutable. What a plan or a slice
// says about one class is a [Task]: all that rewriting the class depends on, besides its bytes.
//
// Of an app's classes there are many: a draft holds of each only what differs from the facts.
package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Options are what decisions depend on, besides the facts.
type Options struct {
	Inputs []string // what inputs are called in messages, by number

	Filter     *filter.Filter // that the scan had; decides about supertypes
	FocusHooks bool           // Activities are made to report focus changes
	Inject     inject.Options // that the scan had
	// CoroutinesIfAny leaves out coroutines unless the inputs have a runtime class with their methods.
	CoroutinesIfAny bool
	RuntimeExternal bool // the runtime class may be missing
	AddRequires     bool // modules are made to require the runtime's
	Runtime         string
	// OriginalRuntime is what Runtime, a class of the inputs, was called before it was renamed.
	OriginalRuntime string
	R8              *r8.Mapping // original names; nil if the names in the inputs are the original ones

	// What IDs depend on, as in package mapping.
	Base  *mapping.Mapping
	Prune []*mapping.Mapping
	Order mapping.Order
	// Messages reports whether the calls of a method are messages; nil if none are.
	Messages func(mapping.Identity) bool

	// Merged are the containers that become one archive; empty if each input has its own output.
	Merged []*input.Container
	// Android is set if the outputs are for Android, where module descriptors have no effect.
	Android   bool
	ClassPath ClassPath // where supertypes are looked for that are not among the inputs; nil for nowhere else
}

// ClassPath is where supertypes are looked for.
type ClassPath interface {
	// Open is called before the first class is looked for.
	Open() error
	// Supertypes returns the superclass, "" for none, and the interfaces of a class; found is false if it is not there.
	Supertypes(class string) (super string, interfaces []string, found bool)
}

// CallsOf returns which methods the methods of a class call. It is asked about few classes.
type CallsOf func(class int) (inject.Calls, error)

// Decisions are what a plan, or a slice, says about the classes of a set.
type Decisions interface {
	// Changes reports whether the class is written otherwise than it came.
	Changes(class int) bool
	// Task returns what is done to a class. Its methods are appended to memory.
	Task(class int, memory []inject.Traced) Task
	// Dropped reports whether an entry is left out.
	Dropped(e *input.Entry) bool
	// EntryName returns the name that an entry of a container has in the output.
	EntryName(c *input.Container, e *input.Entry) string
	Identity
}

// Identity recognizes classes that were scanned.
type Identity interface {
	// CheckBytes fails if this cannot be the class file that was scanned. It is called before the file is parsed.
	CheckBytes(class int, data []byte) error
	// SameClass reports whether this can be the class that was scanned.
	SameClass(class int, c *classfile.Class) bool
}

// UncheckedText is what a warning says of a class for which a [Rejection] has Unchecked.
const UncheckedText = "a check of the rewritten class reached its limit, and the class is written unchanged"

// Draft is all decisions but IDs.
type Draft struct {
	ByNames
	Warnings []string // about classes and decisions, in the order in which they came up
	// LeftOut are the entries, but for directories, that a merged archive does not have, in input order.
	LeftOut []LeftOut
	// Introduced counts classes that came out wrong and are left as they were, PreExisting those that were wrong
	// before.
	Introduced, PreExisting int
	// Unchecked counts classes that are left as they were because a check of the rewritten class reached its limit.
	Unchecked int

	options    *Options
	facts      []*Class
	classes    []decided // as facts
	names      []*former // likewise; empty unless the classes were renamed
	dropped    map[*input.Entry]bool
	hooksFocus bool // some Activity gets a focus hook
	coroutines bool // coroutines are reported to the runtime class
	// continuations has the methods that instances of classes continue, by class.
	continuations map[int]methodPlace
}

// decided is what differs from the facts about a class, or is not among them.
type decided struct {
	methods  []*filter.Decision // of each method; nil if they are those of the facts
	left     *filter.Decision   // why the class is left out, nil unless it is
	focus    inject.Focus
	requires bool // it is a module-info that has to require the runtime's module
	rejected bool // a check rejected it: it is written as it came
	silent   bool // it reports no continuations
}

// New decides about classes, whose facts are in input order.
func New(facts []*Class, callsOf CallsOf, o Options) (*Draft, error) {
	d := newDraft(facts, o)
	d.coroutines = o.Inject.Coroutines
	d.dropDuplicates()
	d.recallNames()
	d.Warnings = append(d.Warnings, ScanWarnings(facts)...)
	byName := d.byNames()
	stamped := false
	for n, c := range facts {
		stamped = stamped || c.Stamped && c.Name != "" && d.classes[n].left == nil
	}
	if !stamped {
		d.warn("no input holds dev.tracegen.runtime.MappingInfo: recordings will not say which mapping they belong to")
	}
	if err := d.resolve(byName); err != nil {
		return nil, err
	}
	d.decideFocus(byName)
	if err := d.protectRuntime(byName, callsOf); err != nil {
		return nil, err
	}
	d.decideBounded(byName)
	d.decideContinuations(byName)
	d.decideRequires()
	return d, nil
}

// byNames returns the numbers of classes by their names, of those that could be read and are not left out.
func (d *Draft) byNames() map[string][]int {
	byName := make(map[string][]int, len(d.facts))
	numbers := make([]int, len(d.facts))
	for n, c := range d.facts {
		if c.Name == "" || d.classes[n].left != nil {
			continue
		}
		numbers[n] = n
		if same := byName[c.Name]; same != nil {
			byName[c.Name] = append(same, n)
		} else {
			byName[c.Name] = numbers[n : n+1 : n+1] // most are the only one, and cost no memory
		}
	}
	return byName
}

// Copy decides that all is written as it came, but what is left out because of its name.
func Copy(facts []*Class, o Options) *Draft {
	d := newDraft(facts, o)
	d.dropDuplicates()
	return d
}

// AsScanned returns the draft in which nothing is decided that is not among the facts.
func AsScanned(facts []*Class) *Draft { return newDraft(facts, Options{}) }

// Strip decides that the calls of earlier runs are taken out, and nothing else.
func Strip(facts []*Class, o Options) *Draft {
	bare := make([]*Class, len(facts))
	warnings := ScanWarnings(facts)
	for n, c := range facts {
		without := *c
		without.Methods, without.Stamped = nil, false
		bare[n] = &without
	}
	d := newDraft(bare, o)
	d.Warnings = warnings
	return d
}

func newDraft(facts []*Class, o Options) *Draft {
	return &Draft{ByNames: facts, options: &o, facts: facts, classes: make([]decided, len(facts))}
}

func (d *Draft) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// decision returns what is decided about method i of a class; nil for the zero decision.
func (d *Draft) decision(class, i int) *filter.Decision {
	if own := d.classes[class].methods; own != nil {
		return own[i]
	}
	return d.facts[class].Methods[i].Decision
}

// decide sets what is decided about a method, while the draft is made.
func (d *Draft) decide(class, i int, decision *filter.Decision) {
	own := d.classes[class].methods
	if own == nil {
		own = make([]*filter.Decision, len(d.facts[class].Methods))
		for k := range own {
			own[k] = d.facts[class].Methods[k].Decision
		}
		d.classes[class].methods = own
	}
	own[i] = decision
}

// decideTraced sets what is decided about all methods of a class that would be traced.
func (d *Draft) decideTraced(class int, decision filter.Decision) {
	for i := range d.facts[class].Methods {
		if Traced(d.decision(class, i)) {
			d.decide(class, i, &decision)
		}
	}
}

// Without returns the draft for another round: classes that were rejected, and methods that were refused, are left as
// they are. Facts and all other decisions stay.
func (d *Draft) Without(rejections map[int]*Rejection) *Draft {
	next := *d
	next.Warnings, next.classes = slices.Clip(d.Warnings), slices.Clone(d.classes)
	inputs := next.options.Inputs
	broken, first := make([]int, len(inputs)), make([]string, len(inputs))
	refused := false
	for n, c := range next.facts {
		rejection := rejections[n]
		if rejection == nil {
			continue
		}
		next.classes[n].methods = slices.Clone(next.classes[n].methods)
		if len(rejection.Refusals) > 0 {
			eachRefusal(c.Methods, rejection.Refusals, func(i int, by *filter.Decision) { next.decide(n, i, by) })
			next.classes[n].silent = true // one of them may be of a method that reports
			refused = true
			continue
		}
		detail := rejection.Detail
		switch {
		case rejection.Unchecked:
			next.Unchecked++
			next.warn("%s: %s: %s", c.At.Where(), UncheckedText, detail)
		case !rejection.PreExisting:
			next.Introduced++
			next.warn("%s: the rewritten class failed a check, and the class is written unchanged; please report "+
				"this: %s", c.At.Where(), detail)
		default:
			next.PreExisting++
			if broken[c.At.Container.Input]++; broken[c.At.Container.Input] == 1 {
				first[c.At.Container.Input] = c.At.Where() + ": " + detail
			}
		}
		to := &next.classes[n]
		to.focus, to.requires, to.rejected = inject.FocusNone, false, true
		next.decideTraced(n, filter.Decision{Reason: filter.ReasonUnverifiable, Detail: detail})
	}
	for i, n := range broken {
		if n > 0 {
			next.warn("%s: classes that no JVM links are written unchanged, %d of them (skipped.tsv lists them); the "+
				"first is %s", inputs[i], n, first[i])
		}
	}
	if refused {
		next.decideRequires() // as if it had been known before
	}
	return &next
}

// ScanRejections returns the rejections by the trials of the scan, of classes as they are going to be written. A run
// that writes rejects the same classes: what a check finds does not depend on IDs.
func (d *Draft) ScanRejections() map[int]*Rejection {
	rejections := make(map[int]*Rejection)
	for n, c := range d.facts {
		switch {
		case d.classes[n].focus != inject.FocusNone && c.FocusRejection != nil:
			rejections[n] = c.FocusRejection
		case c.Rejection != nil && d.instrumented(n):
			rejections[n] = c.Rejection
		}
	}
	return rejections
}

// stamped reports whether the digest is stamped into the class.
func (d *Draft) stamped(class int) bool { return d.facts[class].Stamped && !d.classes[class].rejected }

// instrumented reports whether anything is put into the class.
func (d *Draft) instrumented(class int) bool {
	c := &d.classes[class]
	if c.focus != inject.FocusNone || d.stamped(class) || c.requires {
		return true
	}
	if _, reports := d.continuation(class); reports {
		return true
	}
	for i := range d.facts[class].Methods {
		if Traced(d.decision(class, i)) {
			return true
		}
	}
	return false
}

// Changes implements [Decisions].
func (d *Draft) Changes(class int) bool {
	return d.classes[class].left == nil && (d.facts[class].Stripped || d.instrumented(class))
}

// Counts returns how many methods with code a class has, and how many of them are traced.
func (d *Draft) Counts(class int) (withCode, traced int) {
	methods := d.facts[class].Methods
	for i := range methods {
		if Traced(d.decision(class, i)) {
			traced++
		}
	}
	return len(methods), traced
}

// Facts returns the facts about a class.
func (d *Draft) Facts(class int) *Class { return d.facts[class] }

// Len returns the number of classes.
func (d *Draft) Len() int { return len(d.facts) }

// Plan is a draft with IDs.
type Plan struct {
	*Draft
	Mapping    *mapping.Mapping // of every traced method
	NearlyFull []string         // the warning that IDs run short, if they do

	ids   []uint32 // of traced methods, in the order of classes and methods
	first []uint32 // by class: where its own begin
}

// Assign returns the plan: the draft with an ID for every traced method. It fails if IDs run out.
func (d *Draft) Assign() (*Plan, error) {
	focus := make(map[string]mapping.FocusAction)
	for n := range d.facts {
		switch name := d.ClassName(n); d.classes[n].focus {
		case inject.FocusHook:
			if focus[name] != mapping.FocusAdd { // of the same class elsewhere
				focus[name] = mapping.FocusHook
			}
		case inject.FocusAdd:
			focus[name] = mapping.FocusAdd
		}
	}
	o := mapping.Options{Base: d.options.Base, Prune: d.options.Prune, Order: d.options.Order,
		Runtime: d.options.OriginalRuntime, Messages: d.options.Messages}
	for class, action := range focus {
		o.Focus = append(o.Focus, mapping.Focus{Class: class, Action: action})
	}
	slices.SortFunc(o.Focus, func(a, b mapping.Focus) int { return cmp.Compare(a.Class, b.Class) })
	p := &Plan{Draft: d, first: make([]uint32, len(d.facts)+1)}
	var err error
	count := mapping.Counts{}
	for n := range d.facts {
		p.first[n] = uint32(count.Methods)
		if _, traced := d.Counts(n); traced > 0 {
			count.Methods += traced
			count.Classes++
		}
	}
	p.first[len(d.facts)] = uint32(count.Methods)
	if p.Mapping, p.ids, err = mapping.AssignEach(count, d.tracedMethods, o); err != nil {
		return nil, err
	}
	if mapping.Capacity-p.Mapping.Headroom() >= mapping.NearlyFull {
		usage := p.Mapping.IDUsage()
		p.NearlyFull = []string{fmt.Sprintf("method IDs run short: %v", &usage)}
	}
	return p, nil
}

// tracedMethods yields the methods that get IDs, each with what the scan found out about it. Of copies that differ,
// under META-INF/versions for instance, package mapping chooses one.
func (d *Draft) tracedMethods(yield func(mapping.Method, mapping.Facts) bool) {
	for n, c := range d.facts {
		bodies := c.Bodies
		for i := range c.Methods {
			if !Traced(d.decision(n, i)) {
				continue
			}
			m := &c.Methods[i]
			facts := mapping.Facts{}
			for len(bodies) > 0 && bodies[0].Method < i {
				bodies = bodies[1:]
			}
			if len(bodies) > 0 && bodies[0].Method == i {
				facts.Fingerprint = bodies[0].Fingerprint
			}
			if !yield(mapping.Method{Identity: d.Identity(n, i), Access: m.Access}, facts) {
				return
			}
		}
	}
}

// IDs returns the IDs of the traced methods of a class, in their order.
func (p *Plan) IDs(class int) []uint32 { return p.ids[p.first[class]:p.first[class+1]] }
