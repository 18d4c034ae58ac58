package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/mapping"
)

// Class is what the scan found out about one class entry.
type Class struct {
	At   *input.Class // where it is
	Name string       // in internal form; "" if it could not be read
	// Unread says why the class could not be read, if Name is "". It is nil for nearly all classes.
	Unread  *filter.Decision
	Methods []Method // those with code

	Ancestry   inject.Ancestry // what focus hooks depend on
	Interfaces []string        // that it names itself, if the filter has rules on supertypes or wants outlines
	Access     uint16          // access_flags (JVMS 4.1)
	Outlines   *Outlines       // of its methods, if the filter wants them; nil if none has one
	SourceFile string          // if lines are asked for
	Bodies     []Body          // of methods that may be traced and are mapping.Numbered, in their order
	// Uses are the methods that a class of the program itself names, if decisions depend on it.
	Uses []inject.MethodRef
	// Continued is the method that instances of the class continue, if it is to report them; see inject.ContinuedBy.
	Continued *inject.MethodRef
	Warning   string // what follows the name of its place
	// FocusRefusal is why the class would not take a focus hook, "" if it would.
	FocusRefusal string
	Runtime      *RuntimeFaults // of the runtime class, nil for others

	Stripped  bool // it holds calls of ours, which are taken out before anything else
	Foreign   bool // it holds calls of the runtime that are not ours
	Library   bool // it is of a library, not of the program itself
	Untouched bool // it must stay as it is, whatever the rules say
	Stamped   bool // it is MappingInfo, and has a place for the digest
	Native    bool // it has native methods, which are not among Methods

	// What [ScanOptions].Complete asks for.

	Sum   uint64 // see [ClassSum]
	Calls *Calls // what its methods lead to, nil of a class that could not be read
	// Rejection and FocusRejection are what the checks say against the class as it would be rewritten, without and with
	// a focus hook; nil if nothing.
	Rejection, FocusRejection *Rejection
}

// Method is a method with code. The small fields stand together.
type Method struct {
	Name, Descriptor string           // as in the constant pool
	Decision         *filter.Decision // shared with other methods; nil for the zero one
	Index            uint16           // into classfile.Class.Methods
	Access           uint16           // access_flags (JVMS 4.6)
	Line             uint16           // the first line, 0 if unknown
}

// Body is what the scan found out about the code of a method.
type Body struct {
	Method      int    // index into Class.Methods
	Fingerprint uint64 // see code.Fingerprinter
}

// RuntimeFaults say why a class cannot be the runtime class: with the method that focus hooks call, and without. They
// are empty if it can. Coroutines says why coroutines cannot be reported to it.
type RuntimeFaults struct {
	WithFocus, Plain, Coroutines string // texts of errors
}

// Rejection is why a rewritten class must not be written: the detail of what a check found.
type Rejection struct {
	Detail string
	// Refusals are methods that have no room for their calls, though others of the class may. The scan has not tried
	// the class.
	Refusals    []inject.Refusal
	PreExisting bool // the original has the fault too
	Unchecked   bool // no fault was found, but a check reached its limit (verify.RuleLimit)
}

// Undecided returns the facts about a class that is not scanned.
func Undecided(at *input.Class) *Class { return &Class{At: at} }

// Decided returns what was decided about a method by this pointer, which may be nil.
func Decided(d *filter.Decision) filter.Decision {
	if d == nil {
		return filter.Decision{}
	}
	return *d
}

// Traced reports whether a method with this decision is traced; if the decision is pending, whether it may be.
func Traced(d *filter.Decision) bool { return d == nil || d.Traced() }

// candidatesOf lists the methods that may be traced, by their indices in the class file.
func candidatesOf(methods []Method) []int {
	var candidates []int
	for i := range methods {
		if Traced(methods[i].Decision) {
			candidates = append(candidates, int(methods[i].Index))
		}
	}
	return candidates
}

// Identity returns the names that method i of Methods has in the input.
func (c *Class) Identity(i int) mapping.Identity {
	return mapping.Identity{Class: c.Name, Name: c.Methods[i].Name, Descriptor: c.Methods[i].Descriptor}
}

// Supertypes returns the superclass and the interfaces that the class names, which for java/lang/Object is nothing.
func (c *Class) Supertypes() []string {
	if c.Ancestry.SuperName == "" {
		return c.Interfaces
	}
	return append([]string{c.Ancestry.SuperName}, c.Interfaces...)
}

// CompareAncestry orders classes of one name: the least is used where one has to stand for all of them. It is one
// outside of META-INF/versions, and of these always the same, whatever the order of inputs and entries.
func CompareAncestry(a, b *Class) int {
	bit := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	x, y := &a.Ancestry, &b.Ancestry
	return cmp.Or(cmp.Compare(a.At.Release, b.At.Release), cmp.Compare(x.SuperName, y.SuperName),
		cmp.Compare(bit(x.DeclaresFocus), bit(y.DeclaresFocus)), cmp.Compare(bit(x.BarsFocus), bit(y.BarsFocus)))
}

// CompareSupertypes is [CompareAncestry] where supertypes are asked for.
func CompareSupertypes(a, b *Class) int {
	return cmp.Or(cmp.Compare(a.At.Release, b.At.Release), slices.Compare(a.Supertypes(), b.Supertypes()))
}

// ScanWarnings returns the warnings about classes: of those about several classes that say the same, for example that
// their version is not known, one.
func ScanWarnings(facts []*Class) []string {
	var first []*Class
	count := make(map[string]int)
	for _, c := range facts {
		if c.Warning == "" {
			continue
		}
		if count[c.Warning]++; count[c.Warning] == 1 {
			first = append(first, c)
		}
	}
	list := make([]string, len(first))
	for i, c := range first {
		list[i] = c.At.Where() + c.Warning
		if more := count[c.Warning] - 1; more > 0 {
			list[i] += fmt.Sprintf("; other classes of which it is true: %d", more)
		}
	}
	return list
}

// Of returns the fault that matters: with or without focus hooks.
func (f RuntimeFaults) Of(hooksFocus bool) string {
	if hooksFocus {
		return f.WithFocus
	}
	return f.Plain
}

// Tried returns the facts with what the checks say against the class as it would be rewritten.
func (c *Class) Tried(rejection, focusRejection *Rejection) *Class {
	tried := *c
	tried.Rejection, tried.FocusRejection = rejection, focusRejection
	return &tried
}

// eachRefusal calls visit with the index and the decision of each method that has no room for its calls. Both lists are
// in the order of the class file.
func eachRefusal(methods []Method, refusals []inject.Refusal, visit func(i int, by *filter.Decision)) {
	next := 0
	for _, refusal := range refusals {
		for int(methods[next].Index) != refusal.Method {
			next++
		}
		visit(next, refusedFor(refusal.Err))
	}
}

// refusalReasons has the reason of each error that package inject refuses a method with.
var refusalReasons = []struct {
	err    error
	reason filter.Reason
}{
	{inject.ErrPoolFull, filter.ReasonPoolFull},
	{inject.ErrTooLarge, filter.ReasonTooLarge},
	{inject.ErrUnknownAttribute, filter.ReasonUnknownAttribute},
	{inject.ErrJITLimit, filter.ReasonJITLimit},
	{inject.ErrNoEntry, filter.ReasonNoEntry},
}

// refusedFor returns the decision about a method that the injector refuses.
func refusedFor(err error) *filter.Decision {
	d := &filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
	for _, row := range refusalReasons {
		if errors.Is(err, row.err) {
			d.Reason = row.reason
			break
		}
	}
	return d
}
