package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/wire"
)

// Slice is the part of a plan that is about some of the inputs: the task of each class, and the sum that identifies it.
type Slice struct {
	// Path is that of the file, as in messages.
	Path string
	// Runtime is the runtime class as the inputs call it, which may have been renamed.
	Runtime string

	inputs []slicedInput
}

type slicedInput struct {
	containers []*input.Container
	classes    []slicedClass
}

type slicedClass struct {
	at       *input.Class
	name     string
	sum      uint64
	withCode int // number of methods with code
	task     Task
}

// Slice returns the part of the plan that is about inputs with facts in this order.
func (p *Plan) Slice(facts []InputFacts, numberOf func(*Class) int) *Slice {
	s := &Slice{Runtime: p.options.Runtime}
	for _, in := range facts {
		sliced := slicedInput{containers: in.Containers}
		for _, c := range in.Classes {
			sliced.classes = append(sliced.classes, slicedClass{c.At, c.Name, c.Sum, len(c.Methods),
				p.Task(numberOf(c), nil)})
		}
		s.inputs = append(s.inputs, sliced)
	}
	return s
}

// Pack returns the slice as bytes.
func (s *Slice) Pack() []byte {
	k := wire.NewPacker()
	s.pack(k)
	return k.Bytes()
}

// UnpackSlice reads what [Slice.Pack] has written. False says that the data is damaged.
func UnpackSlice(data []byte) (*Slice, bool) {
	k, s := wire.NewUnpacker(data), &Slice{}
	s.pack(k)
	return s, k.End()
}

// pack packs or unpacks the slice.
func (s *Slice) pack(k *wire.Codec) {
	k.Text(&s.Runtime)
	number := 0
	wire.List(k, &s.inputs, 2, func(in *slicedInput) {
		packContainers(k, &in.containers, false, number, "")
		number++
		numbers := numbersOf(in.containers)
		wire.List(k, &in.classes, 8+placeSize+4, func(*slicedClass) {})
		for i := range in.classes { // together, as they cannot be compressed
			k.Hash(&in.classes[i].sum)
		}
		for i := range in.classes {
			c := &in.classes[i]
			packPlace(k, &c.at, &c.name, in.containers, numbers)
			wire.Number(k, &c.withCode, math.MaxUint16)
			c.task.Pack(k)
		}
	})
}

// Bound is a slice together with the inputs that it is about. It says what is done to their classes.
type Bound struct {
	slice   *Slice
	set     *input.Set
	classes []*slicedClass // by number of class
}

// ErrStale is wrapped when a class is not what was scanned.
var ErrStale = errors.New("not what was scanned")

// Bind finds for each class of the inputs what the slice says about it. They have to be the inputs that were scanned,
// with the same classes. Those that change are looked at closer when they are read.
func (s *Slice) Bind(set *input.Set) (*Bound, error) {
	if len(s.inputs) != len(set.Inputs) {
		return nil, fmt.Errorf("%s is about %d inputs, not %d; name the inputs that were scanned, in the same order",
			s.Path, len(s.inputs), len(set.Inputs))
	}
	b := &Bound{s, set, make([]*slicedClass, len(set.Classes))}
	type place struct {
		input       int
		outer, name string
	}
	placeOf := func(input int, at *input.Class) place { return place{input, at.Container.Outer, at.Name} }
	decided := make(map[place][]*slicedClass)
	for i, in := range s.inputs {
		for k := range in.classes {
			c := &in.classes[k]
			decided[placeOf(i, c.at)] = append(decided[placeOf(i, c.at)], c)
		}
	}
	for n, at := range set.Classes {
		place := placeOf(at.Container.Input, at)
		if len(decided[place]) == 0 {
			return nil, b.stale(n, "did not exist")
		}
		crc, err := set.CRC32(n)
		if err != nil {
			return nil, err
		}
		match := -1
		for i, c := range decided[place] {
			if uint32(c.sum>>32) == crc && c.at.Size == at.Size {
				match = i
				break
			}
		}
		if match < 0 {
			return nil, b.stale(n, "had other content")
		}
		b.classes[n] = decided[place][match]
		decided[place] = append(decided[place][:match:match], decided[place][match+1:]...)
	}
	for i, in := range s.inputs {
		for k := range in.classes {
			if at := in.classes[k].at; len(decided[placeOf(i, at)]) > 0 {
				return nil, fmt.Errorf("%s: class entry %s, which was scanned, is missing; scan and assign again, or "+
					"name the input that was scanned",
					set.Inputs[i].Path, at.Path())
			}
		}
	}
	return b, nil
}

func (b *Bound) stale(class int, what string) error {
	return fmt.Errorf("%s: %w: the class %s when %s was made; scan and assign again, or name the input that was "+
		"scanned",
		b.set.Classes[class].Where(), ErrStale, what, b.slice.Path)
}

// Changes implements [Decisions].
func (b *Bound) Changes(class int) bool { return b.classes[class].task.Changes() }

// Task implements [Decisions].
func (b *Bound) Task(class int, memory []inject.Traced) Task {
	t := b.classes[class].task
	t.Request.Methods = append(memory, t.Request.Methods...)
	return t
}

// Dropped implements [Decisions]: with a slice, nothing is merged.
func (b *Bound) Dropped(*input.Entry) bool { return false }

// EntryName implements [Decisions].
func (b *Bound) EntryName(_ *input.Container, e *input.Entry) string { return e.Name }

// CheckBytes implements [Identity]: the class has to have the sum that it had.
func (b *Bound) CheckBytes(class int, data []byte) error {
	if b.classes[class].sum != ClassSum(data) {
		return b.stale(class, "had other content")
	}
	return nil
}

// SameClass implements [Identity]: the sum has been compared.
func (b *Bound) SameClass(int, *classfile.Class) bool { return true }

// Names returns the names of all classes, by number.
func (b *Bound) Names() []string {
	names := make([]string, len(b.classes))
	for n, c := range b.classes {
		names[n] = c.name
	}
	return names
}

// ClassName returns the name that a class has in the input.
func (b *Bound) ClassName(class int) string { return b.classes[class].name }

// Counts returns how many methods with code a class has, and how many of them are traced.
func (b *Bound) Counts(class int) (withCode, traced int) {
	c := b.classes[class]
	return max(len(c.task.Request.Methods), c.withCode), len(c.task.Request.Methods)
}
