package pipeline

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/mapping"
)

// Slice is what [Assign] decided about one part: what each of its classes gets, and how it is known again. It is
// immutable.
type Slice struct {
	path   string // as in messages
	origin Origin
	// runtime is the runtime class as the inputs call it, which may have been renamed.
	runtime string
	inputs  [][]*unit
}

// Origin says by what the slice was made; of the options, it has those that shape what is written.
func (s *Slice) Origin() Origin { return s.origin }

// Shaping lists the options, by the names of their flags, that a slice carries on: how calls look depends on them,
// when it is settled which calls there are.
func Shaping() []string {
	return []string{"add-requires", "constructor-entry", "exits", "runtime-class"}
}

// slice gives the decisions on the inputs from one number to another.
func (r *run) slice(by Origin, from, to int) *Slice {
	s := &Slice{runtime: r.config.Inject.RuntimeClass, origin: Origin{Tool: by.Tool, Options: make(map[string]string)}, inputs: make([][]*unit, to-from)}
	for _, name := range Shaping() {
		if value, ok := by.Options[name]; ok {
			s.origin.Options[name] = value
		}
	}
	for _, u := range r.units {
		if u.source.input >= from && u.source.input < to {
			s.inputs[u.source.input-from] = append(s.inputs[u.source.input-from], u)
		}
	}
	return s
}

// seal gives the slice's file.
func (s *Slice) seal() io.WriterTo {
	k := newPacker()
	k.text(s.runtime)
	k.int(len(s.inputs))
	for _, units := range s.inputs {
		k.int(len(units))
		for _, u := range units {
			k.raw(binary.BigEndian.AppendUint64(nil, u.sum)...)
		}
		for _, u := range units {
			packPlace(k, u)
			k.flags(u.stripped, u.requires, u.digest != "", u.instrumented())
			k.int(u.methodsWithCode())
			if !u.instrumented() {
				continue
			}
			k.int(int(u.focus))
			if u.digest != "" {
				digest, err := hex.DecodeString(u.digest)
				if err != nil || len(digest) != digestSize {
					digest = make([]byte, digestSize) // cannot be: package mapping says what a digest is
				}
				k.raw(digest...)
			}
			packIDs(k, u)
		}
	}
	return &sealed{sliceFormat, s.origin, k.bytes()}
}

const digestSize = 8

func packIDs(k *packer, u *unit) {
	request := u.request()
	k.int(len(request.Methods))
	next := 0
	for _, m := range request.Methods {
		k.int(m.Method - next)
		next = m.Method + 1
	}
	for _, m := range request.Methods {
		k.int(int(m.ID))
	}
}

// LoadSlice reads a slice. An error says what is wrong with it and what to do.
func LoadSlice(path string) (*Slice, error) {
	sealed, err := loadSealed(path, sliceFormat)
	if err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	s, err := readSlice(sealed)
	if err != nil {
		return nil, fmt.Errorf("slice: %s: %w", path, err)
	}
	s.path = path
	return s, nil
}

func readSlice(file *sealed) (*Slice, error) {
	u := newUnpacker(file.content)
	s := &Slice{origin: file.origin, runtime: u.text()}
	var p Part // for its places
	for i := range u.count(1) {
		sums := u.raw(8 * u.count(8+placeSize+2))
		sources := make(map[string]*source)
		var units []*unit
		for len(sums) > 0 && !u.failed {
			unit := p.place(u, i, sources)
			unit.record = &record{sum: binary.BigEndian.Uint64(sums)}
			sums = sums[8:]
			readDecisions(u, unit)
			units = append(units, unit)
		}
		s.inputs = append(s.inputs, units)
	}
	if !u.end() {
		return nil, errDamaged
	}
	return s, nil
}

func readDecisions(u *unpacker, to *unit) {
	var stamped, changes bool
	u.flags(&to.stripped, &to.requires, &stamped, &changes)
	to.withCode = u.int()
	if !changes {
		return
	}
	to.focus = inject.Focus(u.below(int(inject.FocusAdd) + 1))
	if stamped {
		to.stamped, to.digest = true, hex.EncodeToString(u.raw(digestSize))
	}
	to.methods = make([]method, u.count(2))
	next := 0
	for i := range to.methods {
		to.methods[i].index = u.indexFrom(next)
		next = int(to.methods[i].index) + 1
	}
	for i := range to.methods {
		if to.methods[i].id = uint32(u.below(mapping.Capacity + 1)); to.methods[i].id == 0 {
			u.fail()
		}
	}
}

// follow decides nothing: it takes over what the slice says of the inputs. They have to be those that were scanned;
// of classes that change, that is looked at closely when they are read.
func (r *run) follow(s *Slice) error {
	if len(s.inputs) != len(r.config.Inputs) {
		return fmt.Errorf("%s is about %d inputs, and %d are given; give those that were scanned, in the same order", s.path, len(s.inputs), len(r.config.Inputs))
	}
	type place struct {
		input       int
		outer, name string
	}
	decided := make(map[place][]*unit)
	for i, units := range s.inputs {
		for _, u := range units {
			at := place{i, u.source.outer, u.entry.name}
			decided[at] = append(decided[at], u)
		}
	}
	for _, u := range r.units {
		at := place{u.source.input, u.source.outer, u.entry.name}
		if len(decided[at]) == 0 {
			return r.stale(s, u, "was not there")
		}
		crc, err := r.crc(u.entry)
		if err != nil {
			return err
		}
		match := -1
		for i, d := range decided[at] {
			if uint32(d.sum>>32) == crc && d.entry.size == u.entry.size {
				match = i
				break
			}
		}
		if match < 0 {
			return r.stale(s, u, "was another")
		}
		d := decided[at][match]
		decided[at] = append(decided[at][:match:match], decided[at][match+1:]...)
		u.take(d)
	}
	for i, units := range s.inputs {
		for _, u := range units {
			if left := decided[place{i, u.source.outer, u.entry.name}]; len(left) > 0 {
				return fmt.Errorf("%s: class entry %s%s, which was there when it was scanned, is gone; scan and assign again, or give what was scanned",
					r.config.Inputs[i].Path, u.source.outer, u.entry.name)
			}
		}
	}
	return nil
}

// take takes over what a slice says.
func (u *unit) take(d *unit) {
	u.class, u.stripped, u.stamped, u.requires = d.class, d.stripped, d.stamped, d.requires
	u.focus, u.digest, u.methods, u.record = d.focus, d.digest, d.methods, d.record
}

var errStale = errors.New("not what was scanned")

func (r *run) stale(s *Slice, u *unit, what string) error {
	return fmt.Errorf("%s: %w: the class %s when %s was decided; scan and assign again, or give what was scanned",
		u.source.where(u.entry), errStale, what, s.path)
}

// crc gives the CRC-32 of an entry: as the archive says it, for to read it all would cost as much as to
// change it.
func (r *run) crc(e *entry) (uint32, error) {
	if e.zip != nil {
		return e.zip.CRC32, nil
	}
	data, err := os.ReadFile(e.file)
	return crc32.ChecksumIEEE(data), err
}
