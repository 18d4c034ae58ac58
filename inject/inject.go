// Package inject inserts the calls that report a method's entry and exit to the runtime.
//
// An [Injector] is asked twice about each class. [Injector.Try] is asked first, before methods have IDs:
// would each candidate take the calls, with the longest encoding that an ID can have? What it refuses gets a
// reason and no ID. [Injector.Rewrite] then does it. Neither looks at any other class: frames are shifted,
// not computed. Where a class fits among the others (is it reached by the runtime, is it an Activity?) is
// decided by [Reached] and [FocusHooks], from what the scan of all inputs found.
//
// # What strip needs
//
// The constants that are added form one block at the end of the pool, which starts with the runtime class's
// name and its Class entry; these two, the Methodrefs, and the Integers of IDs are new even if the pool had
// equal ones. From the block on, package verify can undo every change. A few facts about the old class do not
// show in the new one: whether max_stack was greater than needed, whether a frame or branch had a longer
// form than necessary. Where undoing would guess wrongly, the last constant of the block says so: a Utf8 of
// "tracegen:" and notes joined by ";", each a method's number, a letter and numbers:
//
//	3s7     method 3 had a max_stack of 7
//	3f2=247 frame 2 of method 3 had the frame_type 247
//	3w95    the branch at 95 of method 3 was wide; 3n95 that it was short
//	3t      method 3 had a StackMapTable without frames
//	3k2     frame 2 of method 3, behind a branch that was widened, was there before
//	3h      the last athrow of method 3, though a handler that catches all, is not that of exact exits
package inject

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// ExitMode says which ways out of a method are reported.
type ExitMode uint8

// The exit modes.
const (
	// ExitsThrows reports before every return and before every athrow that no handler of the same method
	// covers.
	ExitsThrows ExitMode = iota
	// ExitsNormal reports before every return.
	ExitsNormal
	// ExitsExact reports once on every path: before returns, and by a handler around the whole method.
	ExitsExact
)

// ExitModes returns all exit modes, those that report less first. Whatever must handle each of them is made from this list
// or tested with it.
func ExitModes() []ExitMode { return []ExitMode{ExitsNormal, ExitsThrows, ExitsExact} }

// String returns the exit mode's name on the command line.
func (m ExitMode) String() string {
	switch m {
	case ExitsNormal:
		return "normal"
	case ExitsThrows:
		return "throws"
	case ExitsExact:
		return "exact"
	}
	return strconv.Itoa(int(m))
}

// ConstructorEntry says where a constructor's entry is reported.
type ConstructorEntry uint8

// The constructor entries.
const (
	// EntryAtStart reports before anything else. [ExitsExact] excludes it: a handler may not cover code
	// where `this` is uninitialised.
	EntryAtStart ConstructorEntry = iota
	// EntryAfterSuper reports behind each call that initialises `this`.
	EntryAfterSuper
)

// ConstructorEntries returns all constructor entries.
func ConstructorEntries() []ConstructorEntry {
	return []ConstructorEntry{EntryAtStart, EntryAfterSuper}
}

// String returns the constructor entry's name on the command line.
func (e ConstructorEntry) String() string {
	switch e {
	case EntryAtStart:
		return "start"
	case EntryAfterSuper:
		return "after-super"
	}
	return strconv.Itoa(int(e))
}

// Options are what holds for all classes of a run.
type Options struct {
	RuntimeClass     string // internal form; "" is [DefaultRuntimeClass]
	Exits            ExitMode
	ConstructorEntry ConstructorEntry
	// KeepCompilable refuses methods that would cross the 8,000 bytes past which HotSpot does not compile
	// a method (-XX:-DontCompileHugeMethods aside).
	KeepCompilable bool
}

// Normalized returns o with all that its values imply: an empty RuntimeClass becomes [DefaultRuntimeClass], and
// [ExitsExact] sets [EntryAfterSuper]. Options that mean the same have equal normalized forms.
func (o Options) Normalized() Options {
	if o.RuntimeClass == "" {
		o.RuntimeClass = DefaultRuntimeClass
	}
	if o.Exits == ExitsExact {
		o.ConstructorEntry = EntryAfterSuper
	}
	return o
}

// The reasons for which a method or class is refused; errors of [Refusal] wrap them.
var (
	ErrTooLarge         = code.ErrTooLarge         // code past 65,535 bytes or another limit of Code
	ErrUnknownAttribute = code.ErrUnknownAttribute // an attribute inside Code that may hold offsets
	ErrJITLimit         = errors.New("method would grow past the 8,000 bytes that HotSpot compiles")
	ErrPoolFull         = errors.New("class would need too many constants")
	ErrNoEntry          = errors.New("constructor never calls another constructor, so that its entry has no place")
	ErrMalformed        = errors.New("malformed code")
)

// Refusal says that one method must stay as it is, and why.
type Refusal struct {
	Method int // index into [classfile.Class.Methods]
	Err    error
}

// Injector rewrites classes, one at a time; it keeps working memory. Make one for each goroutine.
type Injector struct {
	options   Options
	relocator code.Relocator
	plan      methodPlan
	block     block
	infos     []byte // of Code attributes: in a trial the last, else all of the class's
	codes     []classfile.CodeEdit
	notes     []byte // joined
	traced    []Traced
	cost      Cost
}

// Cost is what a class was given by [Injector.Rewrite].
type Cost struct {
	Calls   int          // of the runtime class, those of an added method included
	Bytes   int          // that the class file grew by
	Methods []MethodCost // of the methods that were changed, in their order
}

// MethodCost is the part of a [Cost] that one method has.
type MethodCost struct {
	Method int // index into [classfile.Class.Methods]
	Calls  int
	// Bytes that its Code attribute grew by, and those of the constant that holds its ID, if there is one. The
	// rest of the class's are constants that its methods share, and an added method.
	Bytes int
}

// Cost gives what the last [Injector.Rewrite] cost, if it succeeded. It is overwritten by the next.
func (in *Injector) Cost() Cost { return in.cost }

// New returns an Injector with the options in their [Options.Normalized] form.
func New(o Options) *Injector {
	return &Injector{options: o.Normalized()}
}

// Focus says what is done about onWindowFocusChanged in a class.
type Focus uint8

// The focus actions.
const (
	FocusNone Focus = iota
	FocusHook       // the class has the method: it calls at
	FocusAdd        // the class gets the method
)

// Traced is a method that gets an ID.
type Traced struct {
	Method int    // index into [classfile.Class.Methods]
	ID     uint32 // 1 to 1,048,573
}

// Request says what one class gets.
type Request struct {
	Methods []Traced // by ascending Method
	Focus   Focus
	Digest  string // 16 hexadecimal digits for the class MappingInfo, "" for none
}

// Try finds out which of the methods, given by index in ascending order, would not take the calls whatever
// their IDs, and whether the class would take the focus action. Refusals are in method order; a class whose
// pool would overflow refuses them all.
func (in *Injector) Try(c *classfile.Class, methods []int, focus Focus) []Refusal {
	in.traced = in.traced[:0]
	for _, m := range methods {
		in.traced = append(in.traced, Traced{Method: m, ID: placeholderID})
	}
	w := in.newWriter(c, true)
	if _, err := w.write(Request{Focus: focus, Methods: in.traced}); err != nil {
		w.refusals = w.refusals[:0]
		for _, m := range methods {
			w.refusals = append(w.refusals, Refusal{m, fmt.Errorf("%w: %w", ErrPoolFull, err)})
		}
	}
	return w.refusals
}

// Rewrite gives the class file with the request carried out. The error of a method names it; one that
// [Injector.Try] refused fails here too.
func (in *Injector) Rewrite(c *classfile.Class, request Request) ([]byte, error) {
	return in.AppendRewrite(nil, c, request)
}

// AppendRewrite is [Injector.Rewrite] for who has memory for the result: it appends to out, which must not be the
// class's own. When it fails, what it gives is nil, and behind out may stand anything.
func (in *Injector) AppendRewrite(out []byte, c *classfile.Class, request Request) ([]byte, error) {
	w := in.newWriter(c, false)
	edit, err := w.write(request)
	in.codes = edit.Codes
	if err != nil {
		return nil, err
	}
	before := len(out)
	out, err = c.AppendRewrite(out, edit)
	in.cost.Bytes = len(out) - before - len(c.Bytes())
	return out, err
}

// writer carries out one request.
type writer struct {
	*Injector
	class    *classfile.Class
	edit     classfile.Edit
	refusals []Refusal // of a trial
}

func (in *Injector) newWriter(c *classfile.Class, trial bool) writer {
	in.block.reset(c.ConstantPool(), in.options.RuntimeClass, trial)
	in.infos, in.notes = in.infos[:0], in.notes[:0]
	return writer{Injector: in, class: c, edit: classfile.Edit{Codes: in.codes[:0]}}
}

// refuse notes that the method must stay as it is. Where that is no trial, it is the error that ends it.
func (w *writer) refuse(method int, err error) error {
	if w.block.trial {
		w.refusals = append(w.refusals, Refusal{method, err})
		return nil
	}
	m := &w.class.Methods()[method]
	return fmt.Errorf("class %s: method %s%s: %w", w.class.Name(), m.Name, m.Descriptor, err)
}

func (w *writer) write(request Request) (classfile.Edit, error) {
	w.cost = Cost{Methods: w.cost.Methods[:0]}
	traced := request.Methods
	for _, t := range traced {
		if t.ID < 1 || t.ID > lastID {
			return w.edit, fmt.Errorf("class %s: ID %d for method %d: IDs run from 1 to %d", w.class.Name(), t.ID, t.Method, lastID)
		}
	}
	w.block.reserve(traced)
	for i := range w.class.Methods() {
		m := &w.class.Methods()[i]
		id, isTraced := uint32(0), len(traced) > 0 && traced[0].Method == i
		if isTraced {
			id, traced = traced[0].ID, traced[1:]
		}
		focus := request.Focus == FocusHook && m.Name == focusName && m.Descriptor == focusDescriptor
		if !isTraced && !focus {
			continue
		}
		if err := w.methodOrTrial(i, m, id, focus); err != nil {
			if err := w.refuse(i, err); err != nil {
				return w.edit, err
			}
		}
	}
	if len(traced) > 0 {
		return w.edit, fmt.Errorf("class %s: request for method %d, which is out of order or not one of %d",
			w.class.Name(), traced[0].Method, len(w.class.Methods()))
	}
	if request.Focus == FocusAdd {
		super, err := w.superIndex()
		if err != nil {
			return w.edit, err
		}
		w.edit.AddMethods = [][]byte{w.block.focusMethod(super)}
		w.cost.Calls++
	}
	if request.Digest != "" {
		if err := w.stamp(request.Digest); err != nil {
			return w.edit, err
		}
	}
	// Other IDs may take notes that the trial's do not: their constant has to have room too.
	if len(w.notes) > 0 || w.block.trial {
		w.block.AddUtf8(notesPrefix + string(w.notes))
	}
	w.edit.Constants = &w.block.PoolBuilder
	return w.edit, w.block.Err()
}

// methodOrTrial adds the edit of one method. In a trial, a method in which a branch could need widening is tried
// with every length of push: behind a shorter one, the padding of a switch may be longer, and be what pushes a
// branch out of reach.
func (w *writer) methodOrTrial(index int, m *classfile.Member, id uint32, focus bool) error {
	if a, ok := classfile.FindAttribute(m.Attributes, "Code"); w.block.trial && id != 0 && ok && len(a.Info) > shortBranches {
		for _, short := range []uint32{iconstID, bipushID} {
			if err := w.method(index, m, short, focus); err != nil {
				return err
			}
		}
	}
	return w.method(index, m, id, focus)
}

func (w *writer) superIndex() (uint16, error) {
	if w.class.SuperName() == "" {
		return 0, fmt.Errorf("class %s has no superclass whose %s could be called", w.class.Name(), focusName)
	}
	return w.block.Class(w.class.SuperName()), nil
}

// note writes down what strip could not tell about the method.
func (w *writer) note(method int, kind code.NoteKind, numbers ...int) {
	if len(w.notes) > 0 {
		w.notes = append(w.notes, ';')
	}
	w.notes = append(strconv.AppendInt(w.notes, int64(method), 10), byte(kind))
	for i, n := range numbers {
		if i > 0 {
			w.notes = append(w.notes, '=')
		}
		w.notes = strconv.AppendInt(w.notes, int64(n), 10)
	}
}

// The kinds of notes that relocation does not make.
const (
	noteMaxStack   code.NoteKind = 's'
	noteOwnHandler code.NoteKind = 'h'
)

func (w *writer) noteAll(method int, notes []code.Note) {
	for _, n := range notes {
		switch n.Kind {
		case code.NoteFrameForm:
			w.note(method, n.Kind, n.Index, n.Value)
		case code.NoteEmptyFrames:
			w.note(method, n.Kind)
		default:
			w.note(method, n.Kind, n.Index)
		}
	}
}
