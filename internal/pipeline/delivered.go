package pipeline

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/cache"
)

// delivered is what writing one output came to, as the cache keeps it. The bytes have an entry of their own.
type delivered struct {
	inputs     []deliveredInput // as in its delivery
	warnings   []deliveredWarning
	objections []deliveredObjection // if there are any, the output was worth nothing
	files      []deliveredFile
}

type deliveredInput struct {
	classBytes, outputBytes int64
	calls                   int
	units                   []deliveredUnit // that anything was inserted into
	unknown                 []string
	tolerated               []deliveredFault
}

// Units go by their number among those of their input.
type (
	deliveredUnit struct {
		unit  int
		calls int
		grown int64
	}
	deliveredFault struct {
		unit  int
		fault string
	}
	deliveredObjection struct {
		input, unit int
		objection   objection
	}
)

// deliveredWarning is a warning without the path that it begins with.
type deliveredWarning struct {
	input int
	text  string
}

// deliveredFile is a file of the output: the only one, whose name is empty, or one of a directory. In their order, the
// contents are the output's bytes.
type deliveredFile struct {
	name string // with slashes; that of a directory ends in one
	mode uint16 // permissions, of files in a directory
	size int64
	sum  cache.Key // SHA-256 of the content
}

func (d *delivered) pack() []byte {
	k := newPacker()
	k.int(len(d.inputs))
	for _, in := range d.inputs {
		k.uvarint(uint64(in.classBytes))
		k.uvarint(uint64(in.outputBytes))
		k.int(in.calls)
		k.int(len(in.units))
		for _, u := range in.units {
			k.int(u.unit)
			k.int(u.calls)
			k.signed(u.grown)
		}
		k.int(len(in.unknown))
		for _, name := range in.unknown {
			k.text(name)
		}
		k.int(len(in.tolerated))
		for _, t := range in.tolerated {
			k.int(t.unit)
			k.text(t.fault)
		}
	}
	k.int(len(d.warnings))
	for _, w := range d.warnings {
		k.int(w.input)
		k.text(w.text)
	}
	k.int(len(d.objections))
	for _, o := range d.objections {
		k.int(o.input)
		k.int(o.unit)
		k.flags(o.objection.preExisting)
		k.text(o.objection.detail)
		k.int(len(o.objection.refusals))
		for _, r := range o.objection.refusals {
			k.int(r.Method)
			k.int(refusalReason(r.Err))
			k.text(r.Err.Error())
		}
	}
	k.int(len(d.files))
	for _, f := range d.files {
		k.text(f.name)
		k.int(int(f.mode))
		k.uvarint(uint64(f.size))
		k.raw(f.sum[:]...)
	}
	return k.bytes()
}

// readDelivered reads what pack wrote, for inputs with so many units; nil if it cannot be.
func readDelivered(data []byte, units []int) *delivered {
	u := newUnpacker(data)
	d := &delivered{}
	if u.count(1) != len(units) {
		return nil
	}
	for _, n := range units {
		in := deliveredInput{classBytes: int64(u.uvarint()), outputBytes: int64(u.uvarint()), calls: u.int()}
		for range u.count(3) {
			in.units = append(in.units, deliveredUnit{u.below(n), u.int(), int64(u.signed())})
		}
		for range u.count(1) {
			in.unknown = append(in.unknown, u.text())
		}
		for range u.count(2) {
			in.tolerated = append(in.tolerated, deliveredFault{u.below(n), u.text()})
		}
		d.inputs = append(d.inputs, in)
	}
	for range u.count(2) {
		d.warnings = append(d.warnings, deliveredWarning{u.below(len(units)), u.text()})
	}
	for range u.count(4) {
		o := deliveredObjection{input: u.below(len(units))}
		if u.failed {
			return nil
		}
		o.unit = u.below(units[o.input])
		u.flags(&o.objection.preExisting)
		o.objection.detail = u.text()
		for range u.count(3) {
			o.objection.refusals = append(o.objection.refusals, inject.Refusal{Method: u.int(), Err: readRefusal(u)})
		}
		d.objections = append(d.objections, o)
	}
	for range u.count(3 + len(cache.Key{})) {
		d.files = append(d.files, deliveredFile{u.text(), uint16(u.below(1 << 16)), int64(u.uvarint()), cache.Key(u.raw(len(cache.Key{})))})
	}
	if !u.end() {
		return nil
	}
	return d
}

// recalledError is an error as it was told in an earlier run.
type recalledError struct {
	text string
	kind error
}

// Error implements error.
func (e *recalledError) Error() string { return e.text }

// Unwrap gives what kind of error it is.
func (e *recalledError) Unwrap() error { return e.kind }

// refusalReason gives the number, in the list of those that there are, of why a method is refused; that of none is the list's length.
func refusalReason(err error) int {
	for i, row := range refusalReasons {
		if errors.Is(err, row.err) {
			return i
		}
	}
	return len(refusalReasons)
}

func readRefusal(u *unpacker) error {
	e := &recalledError{}
	if i := u.below(len(refusalReasons) + 1); i < len(refusalReasons) {
		e.kind = refusalReasons[i].err
	}
	e.text = u.text()
	return e
}

// notes are what the type verifier said of the classes of one input, in one round of writing.
type notes struct {
	unknown   map[string]bool
	tolerated map[*unit]string
}

func (m *incremental) noteUnknown(u *unit, name string) {
	if m == nil {
		return
	}
	n := &m.notes[u.source.input]
	if n.unknown == nil {
		n.unknown = make(map[string]bool)
	}
	if !n.unknown[name] {
		n.unknown[strings.Clone(name)] = true // it is cut from a class file
	}
}

func (m *incremental) noteTolerated(u *unit, fault string) {
	if m == nil {
		return
	}
	n := &m.notes[u.source.input]
	if n.tolerated == nil {
		n.tolerated = make(map[*unit]string)
	}
	n.tolerated[u] = fault
}

// outcome gives what writing an output came to.
func (w *writing) outcome(d *delivery) *delivered {
	result := &delivered{files: d.files}
	for _, warning := range d.warnings {
		for i, input := range d.inputs {
			if text, ok := strings.CutPrefix(warning, w.config.Inputs[input].Path); ok {
				result.warnings = append(result.warnings, deliveredWarning{i, text})
				break
			}
		}
	}
	for i, input := range d.inputs {
		written := &w.written[input]
		in := deliveredInput{classBytes: written.ClassBytes, outputBytes: written.OutputBytes, calls: written.Calls}
		n := w.known.notes[input]
		in.unknown = slices.Sorted(maps.Keys(n.unknown))
		for number, u := range w.known.units[input] {
			if u.calls != 0 || u.grown != 0 {
				in.units = append(in.units, deliveredUnit{number, u.calls, u.grown})
			}
			if fault, ok := n.tolerated[u]; ok {
				in.tolerated = append(in.tolerated, deliveredFault{number, fault})
			}
			if against := w.objections[u]; against != nil {
				result.objections = append(result.objections, deliveredObjection{i, number, *against})
			}
		}
		result.inputs = append(result.inputs, in)
	}
	return result
}

// recount books what was delivered as if it had been written in this run.
func (w *writing) recount(d *delivery, known *delivered) {
	for _, warning := range known.warnings {
		w.warn("%s%s", w.config.Inputs[d.inputs[warning.input]].Path, warning.text)
	}
	for i, in := range known.inputs {
		input := d.inputs[i]
		units := w.known.units[input]
		written := &w.written[input]
		written.ClassBytes, written.OutputBytes, written.Calls = in.classBytes, in.outputBytes, in.calls
		for _, u := range in.units {
			units[u.unit].calls, units[u.unit].grown = u.calls, u.grown
		}
		for _, name := range in.unknown {
			w.noted.unknown[name] = true
		}
		for _, t := range in.tolerated {
			u := units[t.unit]
			w.noted.tolerated[u.source.where(u.entry)+": "+t.fault] = true
		}
		for _, u := range units {
			w.advance(u.entry.size)
		}
	}
	for _, o := range known.objections {
		w.objections[w.known.units[d.inputs[o.input]][o.unit]] = &o.objection
	}
}
