package pipeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/mapping"
)

// unit is one class entry of the inputs and what has been decided about it. The scan fills it; nothing in it
// shares memory with the class file.
type unit struct {
	source *source
	entry  *entry

	class      string          // internal name; "" if it could not be read
	whole      filter.Decision // why no method of a class that could not be read is traced
	methods    []method        // those with code
	version    int             // N of META-INF/versions/N/, 0 elsewhere
	ancestry   inject.Ancestry
	interfaces []string // that it names itself, if the filter asks for supertypes
	stripped   bool     // held calls of ours, which are taken out before anything else
	foreign    bool     // holds calls of the runtime that are not ours
	untouched  bool     // must stay as it is, whatever the rules say
	excluded   bool     // an objection to what became of it was sustained
	stamped    bool     // is MappingInfo
	sourceFile string   // with Config.Lines
	// bodies are the code.Fingerprint of methods that may be traced and are mapping.Numbered, by index into methods.
	bodies  map[int]uint64
	warning string // what follows the name of its place
	// untried says that the limits are too far away for the scan to try whether the methods take their calls.
	untried bool
	// focusRefusal is why the class would not take a focus hook, "" if it would.
	focusRefusal  string
	runtimeFaults *runtimeFaults // of the runtime class, nil for others

	*record // what files between the phases need besides; nil in a run that does all at once

	before *formerNames // nil if they are the names that it has

	data []byte // of the class, as the scan read it, if the run keeps classes

	// What is decided after the scan.
	focus    inject.Focus
	requires bool   // is a module-info that has to require the runtime's module
	digest   string // to be stamped with

	// What the rewriting came to.
	calls int   // inserted
	grown int64 // bytes
}

// record is what is only found out for a scan file, or said by a slice.
type record struct {
	sum                       uint64     // see sumOf
	edges                     classCalls // what its methods lead to
	graph                     *callGraph // that edges are part of; nil if they are not known
	objection, focusObjection *objection // to what might become of it, without and with a focus hook
	withCode                  int        // number of methods with code, if a slice says it
}

// runtimeFaults are what keeps a class from being the runtime class: with the method that focus hooks call, and
// without. They are empty for one that can be it.
type runtimeFaults struct{ withFocus, plain string }

// of gives the fault that matters.
func (f runtimeFaults) of(hooksFocus bool) string {
	if hooksFocus {
		return f.withFocus
	}
	return f.plain
}

// method is a method with code. Of an app's there are many: what is the same for all of a class is not kept here, and
// the small fields stand together.
type method struct {
	name, descriptor string
	decision         *filter.Decision // shared with others; nil for the zero one
	id               uint32           // of one that is traced, when IDs have been assigned
	index            uint16           // in the class
	access           uint16
	line             uint16 // the first line, 0 if unknown
}

// decided gives what was decided about the method.
func (m *method) decided() filter.Decision {
	if m.decision == nil {
		return filter.Decision{}
	}
	return *m.decision
}

// decide sets it.
func (m *method) decide(d filter.Decision) {
	m.decision = nil
	if d != (filter.Decision{}) {
		kept := d // d itself would be on the heap even where it is zero
		m.decision = &kept
	}
}

// traced says whether the method is traced; of one whose decision is pending, whether it may be.
func (m *method) traced() bool { return m.decision == nil || m.decision.Traced() }

// residualIdentity gives the names that method i has in the inputs.
func (u *unit) residualIdentity(i int) mapping.Identity {
	return mapping.Identity{Class: u.class, Name: u.methods[i].name, Descriptor: u.methods[i].descriptor}
}

func (r *run) addUnit(s *source, e *entry) {
	e.unit = newUnit(s, e)
	if r.graph != nil {
		e.unit.record = &record{}
	}
	r.list(e.unit)
}

// list makes a unit one of the run's.
func (r *run) list(u *unit) {
	r.units = append(r.units, u)
	r.progress.total += int64(r.passes) * u.entry.size
}

func newUnit(s *source, e *entry) *unit {
	u := &unit{source: s, entry: e}
	_, u.version = releaseOf(e.name)
	return u
}

// usualClass gives the name of the class that an entry of that name holds, as a rule.
func (u *unit) usualClass() string {
	directory, _ := releaseOf(u.entry.name)
	return strings.TrimSuffix(strings.TrimPrefix(u.entry.name, directory), ".class")
}

// releaseOf gives the Java release from which on a multi-release jar replaces a class by the entry of that name
// (META-INF/versions/N/), and the directory; 0 and "" for other entries.
func releaseOf(name string) (directory string, release int) {
	const versions = "META-INF/versions/"
	rest, ok := strings.CutPrefix(name, versions)
	if !ok {
		return "", 0
	}
	digits, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = math.MaxInt
	}
	return name[:min(len(versions)+len(digits)+1, len(name))], n
}

// worker has what one goroutine needs to work on classes.
type worker struct {
	*run
	injector *inject.Injector
	prover   equivalence.Checker // of equivalence
	prints   code.Fingerprinter
	buffer   []byte
	original classfile.Parser // of the class that is worked on
	again    classfile.Parser // of what became of it
	output   []byte           // which is this
	behind   trail            // of the scan
	// Of the class that is scanned:
	methods []method         // those with code
	bodies  []classfile.Code // of its candidates
	names   map[string]string
	// decisions are few: most methods that are not traced are so for one of some reasons.
	decisions map[filter.Decision]*filter.Decision
}

// namesKept and decisionsKept bound worker.names and worker.decisions.
const (
	namesKept     = 1 << 14
	decisionsKept = 1 << 10
)

// keep copies a name out of the class file. Most names and descriptors are those of many methods.
func (w *worker) keep(name string) string {
	kept, known := w.names[name]
	if !known {
		if w.names == nil || len(w.names) == namesKept {
			w.names = make(map[string]string)
		}
		kept = strings.Clone(name)
		w.names[kept] = kept
	}
	return kept
}

// share gives a decision for all methods about which the same was decided.
func (w *worker) share(d filter.Decision) *filter.Decision {
	if d == (filter.Decision{}) {
		return nil
	}
	shared, known := w.decisions[d]
	if !known {
		if w.decisions == nil || len(w.decisions) == decisionsKept {
			w.decisions = make(map[filter.Decision]*filter.Decision)
		}
		kept := d // d itself would be on the heap each time
		shared = &kept
		w.decisions[d] = shared
	}
	return shared
}

func (r *run) newWorker() *worker {
	return &worker{run: r, injector: inject.New(r.config.Inject)}
}

// scan reads the class and decides all that depends on it alone, unless an earlier run has.
func (w *worker) scan(u *unit) error {
	if w.known.recalls(u) {
		w.advance(u.entry.size)
		return nil
	}
	_, err := w.study(u)
	return err
}

// study reads the class and decides all that depends on it alone. Only what makes the whole run fail is an
// error: a class that cannot be read as one, which is nil then, is left as it is. The other is without the calls of
// an earlier run, and its memory serves the next.
func (w *worker) study(u *unit) (*classfile.Class, error) {
	w.behind.pass(u.entry)
	data, err := w.read(u.entry, w.buffer)
	w.advance(u.entry.size)
	if w.graph != nil && u.entry.zip != nil {
		u.sum = uint64(u.entry.zip.CRC32) << 32 // all that there is to know of one that cannot be read
	}
	if errors.Is(err, jar.ErrUnsupported) {
		u.whole = filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w.buffer = data
	if w.keeps {
		u.data = bytes.Clone(data)
	}
	if w.graph != nil {
		u.sum, u.graph = sumOf(data), w.graph
		u.entry.size = int64(len(data))
	}
	c, err := w.original.Parse(data)
	if err != nil {
		u.whole = filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
		if errors.Is(err, classfile.ErrVersion) {
			u.whole.Reason = filter.ReasonUnsupportedVersion
			u.warning = fmt.Sprintf(" is left as it is: %v", err)
		}
		return nil, nil
	}
	foreign := ""
	if original, err := w.withoutCalls(c); err != nil {
		foreign, u.foreign = err.Error(), true
	} else {
		u.stripped = original != c
		c = original
	}
	u.class = strings.Clone(c.Name())
	u.ancestry = inject.AncestryOf(c)
	u.ancestry.SuperName = strings.Clone(u.ancestry.SuperName)
	if w.config.Filter.AsksForSupertypes() {
		for _, name := range c.Interfaces() {
			u.interfaces = append(u.interfaces, strings.Clone(name))
		}
	}
	w.scanMethods(u, c, foreign)
	if w.graph != nil {
		u.edges = w.graph.record(c)
	}
	if u.class == w.config.Inject.RuntimeClass {
		u.runtimeFaults = &runtimeFaults{faultOf(inject.CheckRuntime(c, true)), faultOf(inject.CheckRuntime(c, false))}
	}
	if inject.IsMappingInfo(c) && foreign == "" {
		err := inject.CheckMappingInfo(c)
		if u.stamped = err == nil; err != nil {
			u.warning = fmt.Sprintf(": the digest of the mapping has no place: %v", err)
		}
	}
	return c, nil
}

func faultOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// withoutCalls gives the class without calls that an earlier run inserted; c itself if it has none. The error is
// about calls that are not ours, or of which only parts are.
func (r *run) withoutCalls(c *classfile.Class) (*classfile.Class, error) {
	stripped, removed, err := equivalence.Strip(c, r.config.Inject.RuntimeClass)
	if err != nil || removed == 0 {
		return c, err
	}
	if c, err = classfile.Parse(stripped); err != nil {
		return nil, fmt.Errorf("without the calls of an earlier run, it is no class any more: %w", err)
	}
	return c, nil
}

// refusalReasons tells the reason of each error that package inject refuses a method with.
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

// dropInAmongInputs is what is said of the drop-in for Matrix's class name in a build that calls the runtime by another:
// it calls the runtime as its task is, and nobody has instrumented it.
const dropInAmongInputs = "it forwards calls by Matrix's name to the runtime, and nothing that is instrumented here makes them: " +
	"leave it out, or instrument with --preset matrix"

// scanMethods decides about every method with code. foreign, unless empty, tells of another tool's calls.
func (w *worker) scanMethods(u *unit, c *classfile.Class, foreign string) {
	forClass := w.config.Filter.ForClass(c)
	whole, isWhole := forClass.Whole()
	reason := filter.ReasonAlreadyInstrumented
	if foreign != "" && c.Name() == inject.MatrixRuntimeClass {
		reason, foreign = filter.ReasonRuntime, dropInAmongInputs
	}
	switch {
	case foreign != "" && !isWhole:
		u.warning = " is left as it is: " + foreign
	case isWhole && whole.Reason == filter.ReasonUnsupportedVersion:
		u.warning = " is left as it is: " + whole.Detail
	}
	u.untouched = foreign != "" || isWhole && whole.Reason != filter.ReasonBlocked && whole.Reason != filter.ReasonGenerated
	if w.config.Lines {
		u.sourceFile = sourceFile(c)
	}
	w.methods, w.bodies = w.methods[:0], w.bodies[:0]
	var candidates []int
	pending := false
	for i := range c.Methods() {
		m := &c.Methods()[i]
		body, ok, err := c.Code(m)
		if err == nil && !ok {
			continue
		}
		var d filter.Decision
		switch {
		case isWhole:
			d = whole
		case err != nil:
			d = filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
		default:
			d = forClass.Decide(m, body)
		}
		if foreign != "" && !isWhole && d.Reason != filter.ReasonBlocked {
			d.Reason, d.Detail = reason, foreign
		}
		decided := method{
			name: w.keep(m.Name), descriptor: w.keep(m.Descriptor), decision: w.share(d), index: uint16(i), access: m.AccessFlags,
		}
		if d.Traced() {
			candidates, w.bodies = append(candidates, i), append(w.bodies, body)
			pending = pending || d.Pending != ""
			if w.config.Lines {
				decided.line = uint16(firstLine(body)) // from a u2
			}
		}
		w.methods = append(w.methods, decided)
		// What R8 has renamed may be numbered under its original name, which is not known yet.
		if d.Traced() && (w.config.R8 != nil || mapping.Numbered(mapping.Identity{Class: u.class, Name: m.Name, Descriptor: m.Descriptor})) {
			u.noteBody(len(w.methods)-1, w.prints.Fingerprint(c, &body))
		}
	}
	u.methods = slices.Clone(w.methods) // there are many: no spare room
	// A rule that is pending, like what a focus hook takes, has to be decided about what is not refused anyway.
	focus := w.config.FocusHooks && u.ancestry.Focus() != inject.FocusNone
	if u.untried = !pending && !focus && w.injector.Roomy(c, w.bodies); !u.untried {
		w.try(u, c, candidates)
	}
}

func (u *unit) noteBody(method int, body uint64) {
	if u.bodies == nil {
		u.bodies = make(map[int]uint64)
	}
	u.bodies[method] = body
}

// try finds out which of the methods, by index, have no room for their calls, and whether the focus hook has any
// beside those of the others.
func (w *worker) try(u *unit, c *classfile.Class, candidates []int) {
	if len(candidates) > 0 {
		u.refuse(w.injector.Try(c, candidates, inject.FocusNone))
	}
	focus := u.ancestry.Focus()
	if !w.config.FocusHooks || u.untouched || focus == inject.FocusNone {
		return
	}
	if refusals := w.injector.Try(c, u.traced(), focus); len(refusals) > 0 {
		u.focusRefusal = refusals[0].Err.Error()
	}
}

// tryLate does what the scan has left out.
func (r *run) tryLate(u *unit) error {
	c, err := r.parse(u)
	if err != nil {
		return err
	}
	u.untried = false
	r.newWorker().try(u, c, u.traced())
	return nil
}

// traced lists the methods that are traced, by their indices in the class.
func (u *unit) traced() []int {
	var traced []int
	for i := range u.methods {
		if u.methods[i].traced() {
			traced = append(traced, int(u.methods[i].index))
		}
	}
	return traced
}

// refuse takes methods that have no room for their calls out of tracing.
func (u *unit) refuse(refusals []inject.Refusal) {
	next := 0
	for _, refusal := range refusals {
		for int(u.methods[next].index) != refusal.Method {
			next++
		}
		d := filter.Decision{Reason: filter.ReasonMalformed, Detail: refusal.Err.Error()}
		for _, row := range refusalReasons {
			if errors.Is(refusal.Err, row.err) {
				d.Reason = row.reason
				break
			}
		}
		u.methods[next].decide(d)
	}
}

// sourceFile gives the name in the SourceFile attribute (JVMS 4.7.10), "" without one.
func sourceFile(c *classfile.Class) string {
	a, ok := classfile.FindAttribute(c.Attributes(), "SourceFile")
	if !ok || len(a.Info) != 2 {
		return ""
	}
	name, err := c.ConstantPool().Utf8(binary.BigEndian.Uint16(a.Info))
	if err != nil {
		return ""
	}
	return strings.Clone(name)
}

// firstLine gives the smallest line number of the code's LineNumberTable (JVMS 4.7.12), 0 without one.
func firstLine(code classfile.Code) int {
	first := 0
	for _, a := range code.Attributes {
		if a.Name != "LineNumberTable" || len(a.Info) < 2 {
			continue
		}
		for table := a.Info[2:]; len(table) >= 4; table = table[4:] {
			if line := int(binary.BigEndian.Uint16(table[2:])); first == 0 || line < first {
				first = line
			}
		}
	}
	return first
}
