// Package inject inserts the calls that report a method's entry and exit to the runtime.
//
// An [Injector] is called twice for each class. First, before methods have IDs, [Injector.Try] finds out which
// methods cannot be instrumented, by inserting the calls with the longest encoding that an ID can have. A refused
// method gets no ID. [Injector.FitsWithoutTrial] finds classes for which this call is not needed. Then
// [Injector.Rewrite] inserts the calls. None of them needs to read another class, since frames are moved and not
// computed. What depends on other classes is decided by [Reached] (which classes does the runtime use?)
// and [FocusHooks] (which classes are Activities?), from facts about all classes of the inputs.
//
// A method is changed in these places. The entry call stands before the first instruction, or in a constructor with
// [EntryAfterSuper] behind each call that initialises `this`. A branch to the first instruction jumps behind the
// entry call, so that a loop does not report the entry again. An exit call stands in front of each instruction that
// leaves the method and that the [ExitMode] covers; a branch to such an instruction jumps to the exit call. With
// [ExitsExact] a handler for any exception is appended; it reports the exit and throws the exception again. It
// covers the code behind the entry call, without the exit calls and returns, so that no path reports an exit twice.
// With [Options].Posts a probe stands in front of each call that posts a message. It copies the operands that identify
// the message, and calls posted with them and the ID; a branch to the call jumps to the probe. With
// [Request].Coroutines the exit call of suspending code takes the result, and with [Request].Continuation a
// continuation class reports its instances; see coroutines.go.
//
// # What strip needs
//
// The constants that are added form one block at the end of the pool. It starts with the name and the Class of the
// runtime class; these two, the Methodrefs, and the Integers of IDs are added even if the pool has equal ones. By
// this block, strip finds and undoes every change. A few facts about the old class do not show in the new one:
// whether max_stack was greater than needed, and whether a frame had a longer form than necessary. Strip
// assumes a default for them. Where the default would be wrong, the last constant of the block has a note: it is a
// Utf8 of "tracegen:" and the notes joined by ";", each of which is a method's number, a letter and numbers:
//
//	3s7     method 3 had a max_stack of 7
//	3f2=247 frame 2 of method 3 had the frame_type 247
//	3t      method 3 had a StackMapTable without frames
//	3h      the last handler of method 3 is its own, although it looks like the handler of exact exits
package inject

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// ExitMode determines which ways out of a method are reported.
type ExitMode uint8

// The exit modes.
const (
	// ExitsThrows reports the exit before every return, and before every athrow that no handler of the same
	// method covers.
	ExitsThrows ExitMode = iota
	// ExitsNormal reports the exit before every return.
	ExitsNormal
	// ExitsExact reports the exit exactly once on every path: before returns, and in a handler that covers the
	// rest of the method.
	ExitsExact
)

// ExitModes returns all exit modes, modes that report fewer exits first. Code that must handle each of them is made
// from this list or tested with it.
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

// ConstructorEntry determines where a constructor's entry is reported.
type ConstructorEntry uint8

// The constructor entries.
const (
	// EntryAtStart reports the entry before anything else. It cannot be combined with [ExitsExact], since a
	// handler may not cover code where `this` is uninitialised.
	EntryAtStart ConstructorEntry = iota
	// EntryAfterSuper reports the entry behind each call that initialises `this`.
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

// Options are the settings for all classes of a run. The zero value is ready for use.
type Options struct {
	RuntimeClass     string // internal form; "" is [DefaultRuntimeClass]
	Exits            ExitMode
	ConstructorEntry ConstructorEntry
	// KeepCompilable refuses methods whose code would grow past 8,000 bytes: HotSpot does not compile longer ones,
	// unless it runs with -XX:-DontCompileHugeMethods. Methods that are longer already are not refused.
	KeepCompilable bool
	// Posts inserts a probe in front of each call that posts a message or hands a Runnable to an Executor, in the
	// methods that get an ID.
	Posts bool
	// Coroutines says that requests may ask for it: trials have room for it, and the runtime class needs its methods.
	Coroutines bool
}

// Normalized returns o with everything that its values imply: an empty RuntimeClass becomes [DefaultRuntimeClass],
// and [ExitsExact] sets [EntryAfterSuper]. Options with the same effect have equal normalized forms.
func (o Options) Normalized() Options {
	if o.RuntimeClass == "" {
		o.RuntimeClass = DefaultRuntimeClass
	}
	if o.Exits == ExitsExact {
		o.ConstructorEntry = EntryAfterSuper
	}
	return o
}

// The reasons for a refusal. The error of a [Refusal] wraps one of them.
var (
	ErrTooLarge         = code.ErrTooLarge         // code past 65,535 bytes or another limit of Code
	ErrUnknownAttribute = code.ErrUnknownAttribute // an attribute inside Code that might hold code offsets
	ErrJITLimit         = errors.New("method would grow past the 8,000 bytes that HotSpot compiles")
	ErrPoolFull         = errors.New("class would need too many constants")
	ErrNoEntry          = errors.New("constructor calls no other constructor: there is no place for its entry call")
	ErrMalformed        = errors.New("malformed code")
)

// Refusal is a method that cannot be instrumented, and the reason.
type Refusal struct {
	Method int // index into [classfile.Class.Methods]
	Err    error
}

// Injector rewrites classes, one at a time. It uses the same memory for one class after another. Make one for each
// goroutine.
type Injector struct {
	options   Options
	relocator code.Relocator
	plan      methodPlan
	block     block
	infos     []byte // the new infos of Code attributes: in a trial the last one, else all of the class
	codes     []classfile.CodeEdit
	notes     []byte // the notes of the class, joined
	traced    []Traced
	calls     int // that are inserted into the class
}

// Calls returns how many calls of the runtime class the last [Injector.Rewrite] inserted, those of an added method
// included.
func (in *Injector) Calls() int { return in.calls }

// New returns an Injector with the options in their [Options.Normalized] form.
func New(o Options) *Injector {
	return &Injector{options: o.Normalized()}
}

// Focus is the action for onWindowFocusChanged in a class.
type Focus uint8

// The focus actions.
const (
	FocusNone Focus = iota
	FocusHook       // the class has the method: a call of at is inserted into it
	FocusAdd        // the method is added to the class
)

// Traced is a method that gets an ID.
type Traced struct {
	Method int    // index into [classfile.Class.Methods]
	ID     uint32 // 1 to 1,048,573
}

// Request is what [Injector.Rewrite] inserts into one class.
type Request struct {
	Methods []Traced // by ascending Method
	Focus   Focus
	Digest  string // 16 hexadecimal digits for the class MappingInfo, "" for none
	// Coroutines asks for exit calls with the result in suspending code of Kotlin.
	Coroutines bool
	// Continuation is the ID of the method that [ContinuedBy] names for the class, 0 if the class reports nothing.
	Continuation uint32
}

// Try finds out which methods cannot be instrumented. methods are indices into [classfile.Class.Methods] in
// ascending order; focus is the action that Rewrite will get. A method is refused unless it can be instrumented
// with every ID; all methods are refused if the class would need too many constants. The refusals are in method
// order. Those of a continuation class are also of methods that get no ID, but are to report its instances.
func (in *Injector) Try(c *classfile.Class, methods []int, focus Focus) []Refusal {
	in.traced = in.traced[:0]
	for _, m := range methods {
		in.traced = append(in.traced, Traced{Method: m, ID: placeholderID})
	}
	w := in.newWriter(c, true)
	request := Request{Focus: focus, Methods: in.traced, Coroutines: in.options.Coroutines}
	if in.options.Coroutines && w.kind != noContinuation {
		request.Continuation = continuationID
	}
	if _, err := w.write(request); err != nil {
		w.refusals = w.refusals[:0]
		for i := range c.Methods() {
			if slices.Contains(methods, i) || w.reports(&c.Methods()[i]) {
				w.refusals = append(w.refusals, Refusal{i, fmt.Errorf("%w: %w", ErrPoolFull, err)})
			}
		}
	}
	return w.refusals
}

// Rewrite returns the class file with the request carried out. It fails for a method that [Injector.Try] refuses,
// unless the ID in the request is short enough, and the error names the method.
func (in *Injector) Rewrite(c *classfile.Class, request Request) ([]byte, error) {
	return in.AppendRewrite(nil, c, request)
}

// AppendRewrite appends the result of [Injector.Rewrite] to out, so that a caller can use the same memory for one
// class after another. out must not share memory with the class. If AppendRewrite fails, it returns nil, and the
// bytes between the length and the capacity of out are unspecified.
func (in *Injector) AppendRewrite(out []byte, c *classfile.Class, request Request) ([]byte, error) {
	w := in.newWriter(c, false)
	edit, err := w.write(request)
	in.codes = edit.Codes
	if err != nil {
		return nil, err
	}
	return c.AppendRewrite(out, edit)
}

// writer carries out one request.
type writer struct {
	*Injector
	class    *classfile.Class
	edit     classfile.Edit
	refusals []Refusal        // in a trial
	kind     continuationKind // of the class
	// coroutines and continuation are those of the request.
	coroutines   bool
	continuation uint32
}

func (in *Injector) newWriter(c *classfile.Class, trial bool) writer {
	in.block.reset(c.ConstantPool(), in.options.RuntimeClass, trial)
	in.infos, in.notes = in.infos[:0], in.notes[:0]
	return writer{Injector: in, class: c, edit: classfile.Edit{Codes: in.codes[:0]},
		kind: continuationClasses[c.SuperName()]}
}

// reports reports whether the method reports instances of the class.
func (w *writer) reports(m *classfile.Member) bool {
	if w.continuation == 0 || !ReportsContinuation(m) {
		return false
	}
	_, hasCode := classfile.FindAttribute(m.Attributes, "Code")
	return hasCode
}

// refuse records in a trial that the method cannot be instrumented. In a rewrite, it returns the error that ends
// it.
func (w *writer) refuse(method int, err error) error {
	if w.block.trial {
		w.refusals = append(w.refusals, Refusal{method, err})
		return nil
	}
	m := &w.class.Methods()[method]
	return fmt.Errorf("class %s: method %s%s: %w", w.class.Name(), m.Name, m.Descriptor, err)
}

func (w *writer) write(request Request) (classfile.Edit, error) {
	w.calls = 0
	traced := request.Methods
	for _, t := range traced {
		if t.ID < 1 || t.ID > lastID {
			return w.edit, fmt.Errorf("class %s: ID %d for method %d: IDs run from 1 to %d",
				w.class.Name(), t.ID, t.Method, lastID)
		}
	}
	w.coroutines = request.Coroutines
	if w.continuation = request.Continuation; w.continuation > lastID || w.continuation != 0 && w.kind == noContinuation {
		return w.edit, fmt.Errorf("class %s: ID %d for a continuation", w.class.Name(), w.continuation)
	}
	w.block.reserve(traced, w.continuation)
	for i := range w.class.Methods() {
		m := &w.class.Methods()[i]
		id, isTraced := uint32(0), len(traced) > 0 && traced[0].Method == i
		if isTraced {
			id, traced = traced[0].ID, traced[1:]
		}
		focus := request.Focus == FocusHook && m.Name == focusName && m.Descriptor == focusDescriptor
		if !isTraced && !focus && !w.reports(m) {
			continue
		}
		if err := w.methodOrTrial(i, m, id, focus); err != nil {
			if err := w.refuse(i, err); err != nil {
				return w.edit, err
			}
		}
	}
	if len(traced) > 0 {
		return w.edit, fmt.Errorf("class %s: request for method %d, which is out of order or not one of %d methods",
			w.class.Name(), traced[0].Method, len(w.class.Methods()))
	}
	if request.Focus == FocusAdd {
		super, err := w.superIndex()
		if err != nil {
			return w.edit, err
		}
		w.edit.AddMethods = [][]byte{w.block.focusMethod(super)}
		w.calls++
	}
	if request.Digest != "" {
		if err := w.writeDigest(request.Digest); err != nil {
			return w.edit, err
		}
	}
	// Other IDs may need notes that the trial's IDs do not need, so a trial always counts the constant.
	if len(w.notes) > 0 || w.block.trial {
		w.block.AddUtf8(notesPrefix + string(w.notes))
	}
	w.edit.Constants = &w.block.PoolBuilder
	return w.edit, w.block.Err()
}

// methodOrTrial adds the edit of one method. In a trial, it tries a method that is so long that branches may not reach
// their targets with every length of the instruction that pushes the ID. The longest one is not always the worst case:
// behind a shorter one the padding of a switch may be longer, and put a branch out of reach.
func (w *writer) methodOrTrial(index int, m *classfile.Member, id uint32, focus bool) error {
	continuation := w.continuation
	if a, ok := classfile.FindAttribute(m.Attributes, "Code"); w.block.trial && id+continuation != 0 && ok &&
		len(a.Info) > shortBranches {
		for _, short := range []uint32{iconstID, bipushID} {
			w.continuation = min(continuation, short)
			if err := w.method(index, m, min(id, short), focus); err != nil {
				return err
			}
		}
		w.continuation = continuation
	}
	return w.method(index, m, id, focus)
}

// superIndex returns the index of a Class constant of the superclass.
func (w *writer) superIndex() (uint16, error) {
	if w.class.SuperName() == "" {
		return 0, fmt.Errorf("class %s has no superclass with an %s to call", w.class.Name(), focusName)
	}
	return w.block.Class(w.class.SuperName()), nil
}

// note adds a note for strip about a method.
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
		}
	}
}
