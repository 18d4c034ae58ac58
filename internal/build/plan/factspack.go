package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/wire"
)

// Facts of inputs are packed in one form, for scan files and for the cache. Scan files are complete (see
// [ScanOptions]): they have sums, calls and rejections besides, and their inputs are in an order that does not depend
// on that of entries.

// InputFacts is the facts about one input.
type InputFacts struct {
	Name       string             // of the file or directory, without the directory that it lies in; only if complete
	Containers []*input.Container // its own first, then the archives in it
	Classes    []*Class
}

// Sorted returns the input with containers and classes in an order that does not depend on that of entries.
func (in InputFacts) Sorted() InputFacts {
	in.Containers, in.Classes = slices.Clone(in.Containers), slices.Clone(in.Classes)
	slices.SortFunc(in.Containers, func(a, b *input.Container) int { return cmp.Compare(a.Outer, b.Outer) })
	slices.SortStableFunc(in.Classes, func(a, b *Class) int {
		return cmp.Or(cmp.Compare(a.At.Container.Outer, b.At.Container.Outer), cmp.Compare(a.At.Name, b.At.Name),
			cmp.Compare(a.Sum, b.Sum))
	})
	return in
}

// PackFacts returns the facts about inputs as bytes.
func PackFacts(inputs []InputFacts, complete bool) []byte {
	k := factsCodec{Codec: wire.NewPacker(), complete: complete}
	k.collect(inputs)
	k.inputs(&inputs, nil)
	return k.Bytes()
}

// UnpackFacts reads what [PackFacts] has written. pathOf returns the number and the path that an input has in this
// run, by its number and name in the data. Texts share memory with the data, which must never change. False says that
// the data is damaged.
func UnpackFacts(data []byte, complete bool, pathOf func(i int, name string) (number int, path string)) ([]InputFacts,
	bool) {
	k := factsCodec{Codec: wire.NewUnpacker(data), complete: complete}
	var inputs []InputFacts
	k.inputs(&inputs, pathOf)
	if !k.End() {
		return nil, false
	}
	return inputs, true
}

// factsCodec packs facts, or unpacks them.
type factsCodec struct {
	*wire.Codec
	complete bool
	// decisions are those about methods, of which many have the same; decisionNumbers has their numbers, from 1.
	decisions       []*filter.Decision
	decisionNumbers map[filter.Decision]int
	// graph has the methods that are called; callNumbers has their numbers in it by those that the classes use.
	graph       Graph
	callNumbers map[uint32]uint32
}

// collect lists decisions about methods and the methods that are called, each in the order in which it comes first.
func (k *factsCodec) collect(inputs []InputFacts) {
	k.decisionNumbers, k.callNumbers = map[filter.Decision]int{{}: 0}, make(map[uint32]uint32)
	for _, in := range inputs {
		for _, c := range in.Classes {
			for i := range c.Methods {
				d := c.Methods[i].Decision
				if _, known := k.decisionNumbers[Decided(d)]; !known {
					k.decisions = append(k.decisions, d)
					k.decisionNumbers[*d] = len(k.decisions)
				}
			}
			if o := c.Outlines; o != nil {
				for _, call := range o.calls {
					if call.kind() != filter.CallOwn {
						k.collectCall(o.graph, call.target())
					}
				}
			}
			if !k.complete || c.Calls == nil {
				continue
			}
			for _, m := range c.Calls.methods {
				for _, target := range m.targets {
					k.collectCall(c.Calls.graph, target)
				}
			}
		}
	}
}

// collectCall lists a method that is called. All classes that are packed together have one graph.
func (k *factsCodec) collectCall(graph *Graph, target uint32) {
	if _, known := k.callNumbers[target]; !known {
		k.callNumbers[target] = uint32(len(k.graph.methods))
		k.graph.methods = append(k.graph.methods, graph.methods[target])
	}
}

func (k *factsCodec) inputs(inputs *[]InputFacts, pathOf func(i int, name string) (number int, path string)) {
	wire.List(k.Codec, &k.decisions, 3, func(d **filter.Decision) {
		if *d == nil {
			*d = new(filter.Decision)
		}
		k.decision(*d)
	})
	wire.List(k.Codec, &k.graph.methods, 3, k.method)
	n := 0
	wire.List(k.Codec, inputs, 3, func(in *InputFacts) {
		k.Text(&in.Name)
		number, path := 0, ""
		if k.Reads() {
			number, path = pathOf(n, in.Name)
		}
		n++
		packContainers(k.Codec, &in.Containers, !k.complete, number, path)
		k.classes(in)
	})
}

func (k *factsCodec) method(m *inject.MethodRef) {
	k.Text(&m.Class)
	k.Text(&m.Name)
	k.Text(&m.Descriptor)
}

// decision packs or unpacks a decision. It fails on a reason that package filter does not have.
func (k *factsCodec) decision(d *filter.Decision) {
	k.Text((*string)(&d.Reason))
	k.Text(&d.Detail)
	k.Text((*string)(&d.Pending))
	if d.Reason != "" && !slices.Contains(filter.Reasons(), d.Reason) {
		k.Fail()
	}
}

// packContainers packs or unpacks a list of containers, which is not empty: of each the entry that it is if it is
// nested, its kind, and if asked for the names of duplicates and of archives that are not opened. Those that are
// unpacked become the containers of an input of that number and path.
func packContainers(k *wire.Codec, list *[]*input.Container, duplicates bool, number int, path string) {
	wire.List(k, list, 2, func(to **input.Container) {
		c := *to
		if c == nil {
			c = &input.Container{Input: number}
			*to = c
		}
		k.Text(&c.Outer)
		wire.Number(k, &c.Kind, uint64(input.ClassFile))
		if duplicates { // of what is there twice, a complete scan has warned
			k.Texts(&c.Duplicates)
			k.Texts(&c.Apart)
		}
		if !k.Reads() {
			return
		}
		if c.Name = path; c.Outer != "" {
			c.Name += "!" + strings.TrimSuffix(c.Outer, "!")
		}
	})
	if len(*list) == 0 {
		k.Fail()
	}
}

// numbersOf returns the number of each container in a list.
func numbersOf(containers []*input.Container) map[*input.Container]int {
	numbers := make(map[*input.Container]int, len(containers))
	for i, c := range containers {
		numbers[c] = i
	}
	return numbers
}

// placeSize is how many bytes [packPlace] writes at least.
const placeSize = 5

// packPlace packs or unpacks where a class is, and its name, from which mostly that of the entry follows. numbers has
// the numbers of the containers.
func packPlace(k *wire.Codec, at **input.Class, class *string, containers []*input.Container,
	numbers map[*input.Container]int) {
	var (
		name      string
		container int
		size      int64
		usual     bool
	)
	if !k.Reads() {
		name, container, size = (*at).Name, numbers[(*at).Container], (*at).Size
		release, _ := input.ReleaseOf(name)
		if usual = *class != "" && name == release+*class+".class"; usual {
			name = release
		}
	}
	k.Flags(&usual)
	wire.Number(k, &container, uint64(len(containers)-1))
	k.Text(class)
	k.Text(&name)
	wire.Number(k, &size, math.MaxInt64)
	if !k.Reads() || k.Failed() {
		return
	}
	if usual {
		name += *class + ".class"
	}
	*at = input.NewClass(containers[container], name, size)
}

func (k *factsCodec) classes(in *InputFacts) {
	var read []Class // memory for those that are unpacked
	wire.List(k.Codec, &in.Classes, placeSize+8, func(*(*Class)) {})
	if k.Reads() {
		read = make([]Class, len(in.Classes))
		for i := range read {
			in.Classes[i] = &read[i]
		}
	}
	if k.complete { // together, as they cannot be compressed
		for _, c := range in.Classes {
			k.Hash(&c.Sum)
		}
	}
	numbers := numbersOf(in.Containers)
	for _, c := range in.Classes {
		packPlace(k.Codec, &c.At, &c.Name, in.Containers, numbers)
		if k.Failed() {
			return
		}
		k.class(c)
		if k.complete {
			k.calls(c)
		}
		k.methods(c)
		k.outlines(c)
	}
}

func (k *factsCodec) class(c *Class) {
	k.Flags(&c.Stripped, &c.Foreign, &c.Untouched, &c.Stamped, &c.Ancestry.DeclaresFocus, &c.Ancestry.BarsFocus,
		&c.Native, &c.Library)
	wire.Number(k.Codec, &c.Access, math.MaxUint16)
	for _, text := range []*string{&c.Ancestry.SuperName, &c.SourceFile, &c.Warning, &c.FocusRefusal} {
		k.Text(text)
	}
	k.Texts(&c.Interfaces)
	wire.List(k.Codec, &c.Uses, 3, k.method)
	wire.Optional(k.Codec, &c.Continued, k.method)
	wire.Optional(k.Codec, &c.Runtime, func(r *RuntimeFaults) {
		k.Text(&r.WithFocus)
		k.Text(&r.Plain)
		k.Text(&r.Coroutines)
	})
	wire.Optional(k.Codec, &c.Rejection, func(r *Rejection) { r.Pack(k.Codec) })
	wire.Optional(k.Codec, &c.FocusRejection, func(r *Rejection) { r.Pack(k.Codec) })
	wire.Optional(k.Codec, &c.Unread, func(d *filter.Decision) {
		unread, placed := *d, false
		place := c.At.Container.Name + "!"
		if !k.complete && !k.Reads() { // there may be another path next time
			unread.Detail, placed = strings.CutPrefix(unread.Detail, place)
		}
		k.Flags(&placed)
		if k.decision(&unread); k.Reads() {
			if placed {
				unread.Detail = place + unread.Detail
			}
			*d = unread
		}
	})
}

// Pack packs or unpacks a rejection.
func (r *Rejection) Pack(k *wire.Codec) {
	k.Flags(&r.PreExisting, &r.Unchecked)
	k.Text(&r.Detail)
}

// calls packs or unpacks which methods the class's methods call, and the names of all of its methods.
func (k *factsCodec) calls(c *Class) {
	calls := cmp.Or(c.Calls, &Calls{graph: &k.graph})
	if k.Reads() {
		c.Calls = calls
	}
	wire.List(k.Codec, &calls.methods, 3, func(m *methodCalls) {
		k.Text(&m.name)
		k.Text(&m.descriptor)
	})
	for i := range calls.methods {
		var targets []uint32
		for _, t := range calls.methods[i].targets {
			targets = append(targets, k.callNumbers[t])
		}
		slices.Sort(targets)
		next := 0
		wire.List(k.Codec, &targets, 1, func(t *uint32) {
			wire.Ascending(k.Codec, t, &next, len(k.graph.methods))
		})
		if k.Reads() {
			calls.methods[i].targets = targets
		}
	}
}

func (k *factsCodec) methods(c *Class) {
	next := 0
	wire.List(k.Codec, &c.Methods, 4, func(m *Method) {
		wire.Ascending(k.Codec, &m.Index, &next, 1<<16)
		wire.Number(k.Codec, &m.Access, math.MaxUint16)
		wire.Number(k.Codec, &m.Line, math.MaxUint16)
		number := 0
		if !k.Reads() {
			number = k.decisionNumbers[Decided(m.Decision)]
		}
		if wire.Number(k.Codec, &number, uint64(len(k.decisions))); k.Reads() && number > 0 {
			m.Decision = k.decisions[number-1]
		}
	})
	next = 0
	wire.List(k.Codec, &c.Bodies, 9, func(b *Body) {
		wire.Ascending(k.Codec, &b.Method, &next, len(c.Methods))
		k.Hash(&b.Fingerprint)
	})
	for i := range c.Methods {
		m := &c.Methods[i]
		switch {
		case !k.complete:
			k.Text(&m.Name)
			k.Text(&m.Descriptor)
		case !k.Reads(): // the names of all methods are there already
		case int(m.Index) < len(c.Calls.methods):
			m.Name, m.Descriptor = c.Calls.methods[m.Index].name, c.Calls.methods[m.Index].descriptor
		default:
			k.Fail()
		}
	}
}

// outlines packs or unpacks those of the methods that have one.
func (k *factsCodec) outlines(c *Class) {
	wire.Optional(k.Codec, &c.Outlines, func(o *Outlines) {
		if k.Reads() {
			o.graph = &k.graph
		}
		next, before := 0, uint32(0)
		wire.List(k.Codec, &o.methods, 3, func(m *outlined) {
			wire.Ascending(k.Codec, &m.method, &next, len(c.Methods))
			wire.Number(k.Codec, &m.size, filter.MaxBound)
			calls := m.end - before
			wire.Number(k.Codec, &calls, math.MaxInt32)
			m.end = before + calls
			before = m.end
		})
		wire.List(k.Codec, &o.calls, 1, func(to *outlinedCall) {
			call := *to
			if !k.Reads() && call.kind() != filter.CallOwn {
				call = outlinedCall(k.callNumbers[call.target()])*filter.CallKinds + outlinedCall(call.kind())
			}
			if wire.Number(k.Codec, &call, math.MaxUint32); k.Reads() {
				*to = call
			}
			if k.Reads() && call.kind() != filter.CallOwn && int(call.target()) >= len(k.graph.methods) {
				k.Fail()
			}
		})
		if int(before) != len(o.calls) {
			k.Fail()
		}
	})
}
