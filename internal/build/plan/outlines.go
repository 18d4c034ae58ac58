package plan

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
)

// Outlines are those of the methods of a class that have one, in the order of Class.Methods. Of an app's methods half
// have one, so that they are small: methods that are called are numbers into a graph.
type Outlines struct {
	graph   *Graph
	methods []outlined
	calls   []outlinedCall // of all of the methods
}

// outlined is the outline of a method, see [filter.Outline].
type outlined struct {
	method uint16 // index into Class.Methods
	size   uint16
	end    uint32 // of its calls in Outlines.calls, which begin at the end of those of the method before
}

// outlinedCall is [filter.CallKinds] times the number of a method in the graph, or for filter.CallOwn its index in the
// class file, plus how it is called. That of a class that is initialised has no name.
type outlinedCall uint32

func (c outlinedCall) kind() filter.CallKind { return filter.CallKind(c % filter.CallKinds) }

func (c outlinedCall) target() uint32 { return uint32(c / filter.CallKinds) }

// outline notes the outline of a method.
func (s *Scanner) outline(method int, o *filter.Outline) {
	s.calls = append(s.calls, o.Calls...)
	s.outlined = append(s.outlined, outlined{uint16(method), uint16(o.Size), uint32(len(s.calls))})
}

// recordOutlines returns the outlines that were noted of the methods of c, nil if there are none.
func (s *Scanner) recordOutlines(c *classfile.Class) *Outlines {
	if len(s.outlined) == 0 {
		return nil
	}
	o := &Outlines{graph: s.graph, methods: slices.Clone(s.outlined), calls: make([]outlinedCall, len(s.calls))}
	// Each constant is looked up once: most methods of a class call the same few.
	numbers := zeroed(s.numbers, c.ConstantPool().Len())
	s.numbers = numbers
	s.graph.mu.Lock()
	defer s.graph.mu.Unlock()
	for i, call := range s.calls {
		if call.Kind == filter.CallOwn {
			o.calls[i] = outlinedCall(call.Index) * filter.CallKinds
			continue
		}
		isClass := 0
		if call.Kind == filter.CallInitialiser {
			isClass = 1
		}
		number := &numbers[call.Index][isClass]
		if *number == 0 {
			*number = 1 + s.graph.number(refOf(c.ConstantPool(), call))
		}
		o.calls[i] = outlinedCall(*number-1)*filter.CallKinds + outlinedCall(call.Kind)
	}
	return o
}

// zeroed returns n zeros, in the memory of s if it is large enough.
func zeroed(s [][2]uint32, n int) [][2]uint32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// refOf returns the method that a call names, or the class alone that it initialises.
func refOf(pool *classfile.ConstantPool, call filter.Call) inject.MethodRef {
	if call.Kind != filter.CallInitialiser {
		ref, _ := pool.Ref(call.Index) // the outliner has read it
		return inject.MethodRef{Class: ref.Class, Name: ref.Name, Descriptor: ref.Descriptor}
	}
	if pool.Tag(call.Index) == classfile.TagClass {
		name, _ := pool.ClassName(call.Index)
		return inject.MethodRef{Class: name}
	}
	ref, _ := pool.Ref(call.Index)
	return inject.MethodRef{Class: ref.Class}
}

// of returns the size of a method, and its calls; ok is false if it has no outline.
func (o *Outlines) of(method int) (size int, calls []outlinedCall, ok bool) {
	if o == nil {
		return 0, nil, false
	}
	i, found := slices.BinarySearchFunc(o.methods, method, func(m outlined, method int) int {
		return cmp.Compare(int(m.method), method)
	})
	if !found {
		return 0, nil, false
	}
	first := uint32(0)
	if i > 0 {
		first = o.methods[i-1].end
	}
	return int(o.methods[i].size), o.calls[first:o.methods[i].end], true
}
