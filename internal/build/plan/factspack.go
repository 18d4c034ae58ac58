package plan

import (
	"cmp"
	"encoding/binary"
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
	p := packer{wire.NewPacker(), make(map[uint32]int), complete}
	if complete {
		p.graph(inputs)
	}
	p.Int(len(inputs))
	for i := range inputs {
		p.input(&inputs[i])
	}
	return p.Bytes()
}

type packer struct {
	*wire.Packer
	numbers  map[uint32]int // in the packed list, by number in the graph
	complete bool
}

// graph writes the list of methods that are called, in the order in which the classes call them first.
func (p *packer) graph(inputs []InputFacts) {
	var list []inject.MethodRef
	for _, in := range inputs {
		for _, c := range in.Classes {
			if c.Calls == nil {
				continue
			}
			for _, m := range c.Calls.methods {
				for _, target := range m.targets {
					if _, known := p.numbers[target]; !known {
						p.numbers[target] = len(list)
						list = append(list, c.Calls.graph.methods[target])
					}
				}
			}
		}
	}
	p.Int(len(list))
	for _, m := range list {
		p.Text(m.Class)
		p.Text(m.Name)
		p.Text(m.Descriptor)
	}
}

func (p *packer) input(in *InputFacts) {
	numbers := make(map[*input.Container]int, len(in.Containers))
	p.Text(in.Name)
	p.Int(len(in.Containers))
	for i, c := range in.Containers {
		numbers[c] = i
		p.Text(c.Outer)
		p.Int(int(c.Kind))
		if p.complete {
			continue // what is there twice, the scan has warned of
		}
		p.Int(len(c.Duplicates))
		for _, name := range c.Duplicates {
			p.Text(name)
		}
		p.Int(len(c.Apart))
		for _, name := range c.Apart {
			p.Text(name)
		}
	}
	p.Int(len(in.Classes))
	if p.complete { // together, as they cannot be compressed
		for _, c := range in.Classes {
			p.Raw(binary.BigEndian.AppendUint64(nil, c.Sum)...)
		}
	}
	for _, c := range in.Classes {
		p.place(c, numbers[c.At.Container])
		p.class(c)
		if p.complete {
			p.calls(c)
		}
		p.methods(c)
	}
}

// place writes where the class is, and its name, which mostly follows from the name of the entry.
func (p *packer) place(c *Class, container int) {
	PackPlace(p.Packer, c.At, c.Name, container)
}

// PackPlace writes where a class is, and its name. container is the number of its container.
func PackPlace(k *wire.Packer, at *input.Class, class string, container int) {
	release, _ := input.ReleaseOf(at.Name)
	usual := class != "" && at.Name == release+class+".class"
	k.Flags(usual)
	k.Int(container)
	k.Text(class)
	if usual {
		k.Text(release)
	} else {
		k.Text(at.Name)
	}
	k.Int(int(at.Size))
}

// PlaceSize is how many bytes [PackPlace] writes at least.
const PlaceSize = 5

// UnpackPlace reads what [PackPlace] has written.
func UnpackPlace(u *wire.Unpacker, containers []*input.Container) (at *input.Class, class string) {
	var usual bool
	u.Flags(&usual)
	container := u.Below(len(containers))
	class, name := u.Text(), u.Text()
	if usual {
		name += class + ".class"
	}
	size := u.Int()
	if u.Failed() {
		return nil, ""
	}
	return input.NewClass(containers[container], name, int64(size)), class
}

func (p *packer) class(c *Class) {
	unread, placed := Decided(c.Unread), false
	if !p.complete { // there may be another path next time
		unread.Detail, placed = strings.CutPrefix(unread.Detail, c.At.Container.Name+"!")
	}
	p.Flags(c.Stripped, c.Foreign, c.Untouched, c.Stamped, c.Ancestry.DeclaresFocus, c.Ancestry.BarsFocus,
		c.Runtime != nil)
	p.Flags(placed, c.Rejection != nil, c.FocusRejection != nil)
	for _, text := range []string{c.Ancestry.SuperName, c.SourceFile, c.Warning, c.FocusRefusal} {
		p.Text(text)
	}
	p.Int(len(c.Interfaces))
	for _, name := range c.Interfaces {
		p.Text(name)
	}
	if c.Runtime != nil {
		p.Text(c.Runtime.WithFocus)
		p.Text(c.Runtime.Plain)
	}
	PackDecision(p.Packer, unread)
	for _, r := range []*Rejection{c.Rejection, c.FocusRejection} {
		if r != nil {
			PackRejection(p.Packer, r)
		}
	}
}

// PackRejection writes a rejection.
func PackRejection(k *wire.Packer, r *Rejection) {
	k.Flags(r.PreExisting, r.Unchecked)
	k.Text(r.Detail)
}

// UnpackRejection reads what [PackRejection] has written.
func UnpackRejection(u *wire.Unpacker) *Rejection {
	r := &Rejection{}
	u.Flags(&r.PreExisting, &r.Unchecked)
	r.Detail = u.Text()
	return r
}

// PackDecision writes a decision.
func PackDecision(k *wire.Packer, d filter.Decision) {
	k.Text(string(d.Reason))
	k.Text(d.Detail)
	k.Text(string(d.Pending))
}

// calls writes which methods the class's methods call, and the names of all of its methods.
func (p *packer) calls(c *Class) {
	var methods []methodCalls
	if c.Calls != nil {
		methods = c.Calls.methods
	}
	p.Int(len(methods))
	for _, m := range methods {
		p.Text(m.name)
		p.Text(m.descriptor)
	}
	for _, m := range methods {
		p.Int(len(m.targets))
		sorted := make([]int, len(m.targets))
		for i, t := range m.targets {
			sorted[i] = p.numbers[t]
		}
		slices.Sort(sorted)
		last := 0
		for _, n := range sorted {
			p.Int(n - last)
			last = n
		}
	}
}

func (p *packer) methods(c *Class) {
	p.Int(len(c.Methods))
	next, line := 0, 0
	for i := range c.Methods {
		m := &c.Methods[i]
		p.Int(int(m.Index) - next)
		next = int(m.Index) + 1
		p.Int(int(m.Access))
		PackDecision(p.Packer, Decided(m.Decision))
		p.Signed(int64(m.Line) - int64(line))
		line = int(m.Line)
	}
	p.Int(len(c.Bodies))
	for _, b := range c.Bodies {
		p.Int(b.Method)
		p.Raw(binary.BigEndian.AppendUint64(nil, b.Fingerprint)...)
	}
	if !p.complete { // else the names of all methods are there already
		for i := range c.Methods {
			p.Text(c.Methods[i].Name)
			p.Text(c.Methods[i].Descriptor)
		}
	}
}

// UnpackFacts reads what [PackFacts] has written. pathOf returns the number and the path that an input has in this
// run, by its number and name in the data. Texts share memory with the data if it is not complete: it must never
// change then. False says that the data is damaged.
func UnpackFacts(data []byte, complete bool, pathOf func(i int, name string) (number int, path string)) ([]InputFacts,
	bool) {
	u := unpacker{complete: complete, decisions: make(map[[3]int]*filter.Decision)}
	if complete {
		u.Unpacker = wire.NewUnpacker(data)
		u.readGraph()
	} else {
		u.Unpacker = wire.NewSharingUnpacker(data)
	}
	inputs := make([]InputFacts, 0, u.Count(4))
	for i := range cap(inputs) {
		name := u.Text()
		number, path := pathOf(i, name)
		inputs = append(inputs, InputFacts{Name: name, Containers: UnpackContainers(u.Unpacker, !complete, number, path)})
		u.input(&inputs[i])
		if u.Failed() {
			return nil, false
		}
	}
	return inputs, u.End()
}

type unpacker struct {
	*wire.Unpacker
	complete  bool
	graph     *Graph
	decisions map[[3]int]*filter.Decision // by the numbers of their texts
	classes   []Class                     // memory for those that are read next
}

func (u *unpacker) readGraph() {
	u.graph = &Graph{methods: make([]inject.MethodRef, 0, u.Count(3))}
	for range cap(u.graph.methods) {
		u.graph.methods = append(u.graph.methods, inject.MethodRef{Class: u.Text(), Name: u.Text(),
			Descriptor: u.Text()})
	}
}

// UnpackContainers reads a list of containers, which is not empty: of each the entry that it is if it is nested, its
// kind, and if asked for the names of duplicates and of archives that are not opened. They become those of an input of
// that number and path.
func UnpackContainers(u *wire.Unpacker, duplicates bool, number int, path string) []*input.Container {
	containers := make([]*input.Container, 0, u.Count(2))
	for range cap(containers) {
		c := &input.Container{Name: path, Input: number, Outer: u.Text(),
			Kind: input.Kind(u.Below(int(input.ClassFile) + 1))}
		if c.Outer != "" {
			c.Name += "!" + strings.TrimSuffix(c.Outer, "!")
		}
		if duplicates {
			for range u.Count(1) {
				c.Duplicates = append(c.Duplicates, u.Text())
			}
			for range u.Count(1) {
				c.Apart = append(c.Apart, u.Text())
			}
		}
		containers = append(containers, c)
	}
	if len(containers) == 0 {
		u.Fail()
	}
	return containers
}

func (u *unpacker) input(in *InputFacts) {
	n := u.Count(PlaceSize + 8)
	var sums []byte
	if u.complete {
		sums = u.Raw(8 * n)
	}
	in.Classes = make([]*Class, 0, n)
	u.classes = make([]Class, n)
	for i := range n {
		c := &u.classes[i]
		c.At, c.Name = UnpackPlace(u.Unpacker, in.Containers)
		if u.Failed() {
			return
		}
		u.class(c)
		if u.complete {
			c.Sum = binary.BigEndian.Uint64(sums[8*i:])
			u.calls(c)
		}
		u.methods(c)
		in.Classes = append(in.Classes, c)
	}
}

func (u *unpacker) class(c *Class) {
	var placed, isRuntime, rejected, focusRejected bool
	u.Flags(&c.Stripped, &c.Foreign, &c.Untouched, &c.Stamped, &c.Ancestry.DeclaresFocus,
		&c.Ancestry.BarsFocus, &isRuntime)
	u.Flags(&placed, &rejected, &focusRejected)
	for _, text := range []*string{&c.Ancestry.SuperName, &c.SourceFile, &c.Warning, &c.FocusRefusal} {
		*text = u.Text()
	}
	for range u.Count(1) {
		c.Interfaces = append(c.Interfaces, u.Text())
	}
	if isRuntime {
		c.Runtime = &RuntimeFaults{u.Text(), u.Text()}
	}
	unread := UnpackDecision(u.Unpacker)
	if placed {
		unread.Detail = c.At.Container.Name + "!" + unread.Detail
	}
	if unread != (filter.Decision{}) {
		c.Unread = &unread
	}
	if rejected {
		c.Rejection = UnpackRejection(u.Unpacker)
	}
	if focusRejected {
		c.FocusRejection = UnpackRejection(u.Unpacker)
	}
}

func (u *unpacker) calls(c *Class) {
	methods := make([]methodCalls, u.Count(3))
	for i := range methods {
		methods[i].name, methods[i].descriptor = u.Text(), u.Text()
	}
	for i := range methods {
		targets := make([]uint32, u.Count(1))
		last := 0
		for k := range targets {
			last += u.Int()
			if last >= len(u.graph.methods) {
				u.Fail()
				last = 0
			}
			targets[k] = uint32(last)
		}
		methods[i].targets = targets
	}
	c.Calls = &Calls{u.graph, methods}
}

func (u *unpacker) methods(c *Class) {
	c.Methods = make([]Method, u.Count(6))
	next, line := 0, 0
	for i := range c.Methods {
		m := &c.Methods[i]
		m.Index = u.IndexFrom(next)
		next = int(m.Index) + 1
		m.Access = uint16(u.Below(1 << 16))
		m.Decision = u.decision()
		line += u.Signed()
		if line < 0 || line > math.MaxUint16 {
			u.Fail()
			line = 0
		}
		m.Line = uint16(line)
	}
	if n := u.Count(9); n > 0 {
		c.Bodies = make([]Body, n)
	}
	for i := range c.Bodies {
		b := Body{u.Below(len(c.Methods)), binary.BigEndian.Uint64(u.Raw(8))}
		if i > 0 && b.Method <= c.Bodies[i-1].Method {
			u.Fail()
		}
		c.Bodies[i] = b
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		switch {
		case !u.complete:
			m.Name, m.Descriptor = u.Text(), u.Text()
		case int(m.Index) < len(c.Calls.methods):
			m.Name, m.Descriptor = c.Calls.methods[m.Index].name, c.Calls.methods[m.Index].descriptor
		default:
			u.Fail()
			return
		}
	}
}

// decision reads a decision about a method. Nearly all are one of a few: each is there once, and the zero one is nil.
func (u *unpacker) decision() *filter.Decision {
	key := [3]int{u.TextNumber(), u.TextNumber(), u.TextNumber()}
	if key == [3]int{} {
		return nil
	}
	if known := u.decisions[key]; known != nil {
		return known
	}
	d := decisionOf(u.Unpacker, key)
	if d == (filter.Decision{}) {
		return nil
	}
	u.decisions[key] = &d
	return &d
}

// UnpackDecision reads what [PackDecision] has written. It fails on a reason that package filter does not have.
func UnpackDecision(u *wire.Unpacker) filter.Decision {
	return decisionOf(u, [3]int{u.TextNumber(), u.TextNumber(), u.TextNumber()})
}

func decisionOf(u *wire.Unpacker, key [3]int) filter.Decision {
	d := filter.Decision{Reason: filter.Reason(u.TextOf(key[0])), Detail: u.TextOf(key[1]),
		Pending: filter.Pending(u.TextOf(key[2]))}
	if d.Reason != "" && !knownReasons[d.Reason] {
		u.Fail()
	}
	return d
}

var knownReasons = func() map[filter.Reason]bool {
	known := make(map[filter.Reason]bool)
	for _, reason := range filter.Reasons() {
		known[reason] = true
	}
	return known
}()
