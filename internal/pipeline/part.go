package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/mapping"
)

// Part is what [Scan] found out about its inputs: all that [Assign] needs of them, so that it need not see them.
// It is immutable.
type Part struct {
	path    string // as in messages
	name    string // of the scan file, without its directory and extension
	origin  Origin
	sources []*source
	units   []*unit
	inputs  []partInput
	room    []placedUnit // for those that are read next
}

// placedUnit is a unit and what it is about. They are allocated many at a time.
type placedUnit struct {
	unit  unit
	entry entry
}

// roomStep is how many units memory is made for at once where their number is not known.
const roomStep = 64

// partInput is an input of a part.
type partInput struct {
	name string // without the directory
}

// ScanExtension is what the name of a scan file usually ends in, and SliceExtension what that of a slice does.
const (
	ScanExtension  = ".scan"
	SliceExtension = ".ids"
)

// Origin says by what the part was scanned.
func (p *Part) Origin() Origin { return p.origin }

// Path gives the path of the scan file.
func (p *Part) Path() string { return p.path }

// Name gives the name of the scan file, without its directory and extension. A slice has the same.
func (p *Part) Name() string { return p.name }

// Scan finds out about the inputs all that can be told of each class by itself, and writes it to the file scan. Of
// c, Inputs and what is about methods, calls and verification are used. The result has the inputs, as far as
// they can be told, and warnings. Errors are as for [Run]; nothing has been written then.
//
// What it writes depends on the inputs' content and last names, the options and the version alone, and the order of
// entries has no say.
func Scan(ctx context.Context, c Config, by Origin, scan string) (*Result, error) {
	c.Lines = true
	r := newRun(c)
	defer r.close()
	r.passes = 1
	r.graph = newCallGraph()
	if err := checkOutput(scan, r.inputPaths()); err != nil {
		return nil, err
	}
	if err := r.openInputs(ctx); err != nil {
		return nil, err
	}
	if err := r.scanOnTrial(ctx); err != nil {
		return nil, err
	}
	for _, u := range r.units {
		if u.warning != "" {
			r.warn("%s%s", u.source.where(u.entry), u.warning)
		}
		if u.objection != nil && !u.objection.preExisting {
			r.warn("%s will be written as it came, please report this: %s", u.source.where(u.entry), u.objection.detail)
		}
	}
	r.countClasses()
	if err := r.writeFiles([]File{{scan, r.part(by).seal()}}); err != nil {
		return nil, err
	}
	r.config.Lines = false // there are no IDs
	return r.finish(ctx)
}

// scanOnTrial scans every class and lets the referees judge what might become of it, while it is at hand. The type verifier
// has to know what all classes are called: it is told what the entries' names say, and if one of them has misled,
// all is judged again.
func (r *run) scanOnTrial(ctx context.Context) error {
	for _, u := range r.units {
		u.class = u.usualClass()
	}
	if err := r.appoint(); err != nil {
		return err
	}
	var misled atomic.Bool
	err := r.eachUnit(ctx, func(w *worker, u *unit) error {
		assumed := u.class
		u.class = ""
		c, err := w.study(u)
		if u.class != assumed {
			misled.Store(true)
		}
		if err != nil || c == nil || misled.Load() {
			return err
		}
		return w.trial(u, c)
	})
	if err != nil || !misled.Load() {
		return err
	}
	if err := r.appoint(); err != nil {
		return err
	}
	return r.eachUnit(ctx, func(w *worker, u *unit) error {
		if u.class == "" {
			return nil
		}
		c, err := w.parse(u)
		if err != nil {
			return err
		}
		return w.trial(u, c)
	})
}

// part gives what the run knows of its inputs.
func (r *run) part(by Origin) *Part {
	p := &Part{origin: by, units: r.units}
	for _, in := range r.config.Inputs {
		p.inputs = append(p.inputs, partInput{name: lastName(in.Path)})
	}
	return p
}

// lastName gives the name of an input without the directories that it happens to lie in.
func lastName(path string) string {
	name := filepath.Base(filepath.Clean(path))
	if name == "." || name == ".." {
		if absolute, err := filepath.Abs(path); err == nil {
			name = filepath.Base(absolute)
		}
	}
	return name
}

// trial rewrites a class as far as it might have to be, with IDs as long as any, and lets the referees judge. That
// they would say the same of all other IDs is what [Assign] counts on.
func (w *worker) trial(u *unit, c *classfile.Class) (err error) {
	if u.class == "module-info" && w.config.AddRequires != "" {
		_, u.objection, err = w.addRequires(u, c)
		return err
	}
	request := u.trialRequest()
	focus := inject.FocusNone
	if w.config.FocusHooks && !u.untouched && u.focusRefusal == "" {
		focus = u.ancestry.Focus()
	}
	if len(request.Methods) > 0 || request.Digest != "" {
		_, u.objection = w.apply(u, c, request)
	}
	if u.objection != nil && len(u.objection.refusals) > 0 {
		u.refuse(u.objection.refusals)
		u.untried, u.objection = false, nil
		return w.trial(u, c)
	}
	if request.Focus = focus; focus != inject.FocusNone {
		_, u.focusObjection = w.apply(u, c, request)
	}
	return nil
}

// trialRequest asks for all that the class might get, but for a focus hook.
func (u *unit) trialRequest() inject.Request {
	all := *u
	all.methods = slices.Clone(u.methods)
	for i := range all.methods {
		all.methods[i].id = mapping.Capacity - uint32(i)
	}
	if u.stamped {
		all.digest = "0123456789abcdef"
	}
	return all.request()
}

// sumOf gives what a class is known again by: the CRC-32 of its bytes, which a zip's directory has too, and behind it
// four bytes of their SHA-256.
func sumOf(data []byte) uint64 {
	hash := sha256.Sum256(data)
	return uint64(crc32.ChecksumIEEE(data))<<32 | uint64(binary.BigEndian.Uint32(hash[:]))
}

// order gives the units of each input, not in the order of entries, which says nothing about them.
func (p *Part) order() [][]*unit {
	byInput := make([][]*unit, len(p.inputs))
	for _, u := range p.units {
		byInput[u.source.input] = append(byInput[u.source.input], u)
	}
	for _, units := range byInput {
		slices.SortStableFunc(units, func(a, b *unit) int {
			return cmp.Or(cmp.Compare(a.source.outer, b.source.outer), cmp.Compare(a.entry.name, b.entry.name), cmp.Compare(a.sum, b.sum))
		})
	}
	return byInput
}

// seal gives the scan file.
func (p *Part) seal() io.WriterTo {
	k := newPacker()
	order := p.order()
	numbers := packCalled(k, order)
	k.int(len(p.inputs))
	for i, in := range p.inputs {
		k.text(in.name)
		k.int(len(order[i]))
		for _, u := range order[i] {
			k.raw(binary.BigEndian.AppendUint64(nil, u.sum)...)
		}
		for _, u := range order[i] {
			packUnit(k, u, numbers)
		}
	}
	return &sealed{scanFormat, p.origin, k.bytes()}
}

// packCalled writes the list of methods that are called, in the order in which the units come to them, and gives
// their numbers in it by those of the graph.
func packCalled(k *packer, order [][]*unit) map[uint32]int {
	numbers := make(map[uint32]int)
	var list []inject.MethodRef
	for _, u := range slices.Concat(order...) {
		for _, m := range u.edges {
			for _, target := range m.targets {
				if _, known := numbers[target]; !known {
					numbers[target] = len(list)
					list = append(list, u.graph.methods[target])
				}
			}
		}
	}
	k.int(len(list))
	for _, m := range list {
		k.text(m.Class)
		k.text(m.Name)
		k.text(m.Descriptor)
	}
	return numbers
}

// packPlace writes where the class is and what it is called, which can mostly be told from the former.
func packPlace(k *packer, u *unit) {
	release, _ := releaseOf(u.entry.name)
	usual := u.class != "" && u.entry.name == release+u.class+".class"
	k.flags(usual, u.source.lone)
	k.text(u.source.outer)
	k.text(u.class)
	if usual {
		k.text(release)
	} else {
		k.text(u.entry.name)
	}
	k.int(int(u.entry.size))
}

// packUnit writes all that the scan decided.
func packUnit(k *packer, u *unit, numbers map[uint32]int) {
	packPlace(k, u)
	k.flags(u.stripped, u.untouched, u.stamped, u.ancestry.DeclaresFocus, u.ancestry.BarsFocus, u.objection != nil, u.focusObjection != nil, u.runtimeFaults != nil)
	packClass(k, u)
	for _, against := range []*objection{u.objection, u.focusObjection} {
		if against != nil {
			k.flags(against.preExisting)
			k.text(against.detail)
		}
	}
	k.int(len(u.edges))
	for _, m := range u.edges {
		k.text(m.name)
		k.text(m.descriptor)
	}
	for _, m := range u.edges {
		k.int(len(m.targets))
		last := 0
		for _, n := range sortedNumbers(m.targets, numbers) {
			k.int(n - last)
			last = n
		}
	}
	packMethods(k, u)
}

// packClass writes what was found out of the class as a whole.
func packClass(k *packer, u *unit) {
	for _, text := range []string{u.ancestry.SuperName, u.sourceFile, u.warning, u.focusRefusal} {
		k.text(text)
	}
	k.int(len(u.interfaces))
	for _, name := range u.interfaces {
		k.text(name)
	}
	if faults := u.runtimeFaults; faults != nil {
		k.text(faults.withFocus)
		k.text(faults.plain)
	}
	packDecision(k, u.whole)
}

// packMethods writes what was decided about its methods, but not their names.
func packMethods(k *packer, u *unit) {
	k.int(len(u.methods))
	next, line := 0, 0
	for i := range u.methods {
		m := &u.methods[i]
		k.int(int(m.index) - next)
		next = int(m.index) + 1
		k.int(int(m.access))
		packDecision(k, m.decided())
		k.signed(int64(m.line) - int64(line))
		line = int(m.line)
	}
	k.int(len(u.bodies))
	for _, i := range slices.Sorted(maps.Keys(u.bodies)) {
		k.int(i)
		k.raw(binary.BigEndian.AppendUint64(nil, u.bodies[i])...)
	}
}

func sortedNumbers(targets []uint32, numbers map[uint32]int) []int {
	sorted := make([]int, len(targets))
	for i, t := range targets {
		sorted[i] = numbers[t]
	}
	slices.Sort(sorted)
	return sorted
}

func packDecision(k *packer, d filter.Decision) {
	k.text(string(d.Reason))
	k.text(d.Detail)
	k.text(string(d.Pending))
}

// LoadPart reads a scan file. An error says what is wrong with it and what to do.
func LoadPart(path string) (*Part, error) {
	s, err := loadSealed(path, scanFormat)
	if err != nil {
		return nil, fmt.Errorf("scan file: %w", err)
	}
	p, err := readPart(s)
	if err != nil {
		return nil, fmt.Errorf("scan file: %s: %w", path, err)
	}
	p.path, p.name = path, strings.TrimSuffix(filepath.Base(path), ScanExtension)
	return p, nil
}

func readPart(s *sealed) (*Part, error) {
	u := newUnpacker(s.content)
	p := &Part{origin: s.origin}
	graph := &callGraph{methods: make([]inject.MethodRef, 0, u.count(3))}
	for range cap(graph.methods) {
		graph.methods = append(graph.methods, inject.MethodRef{Class: u.text(), Name: u.text(), Descriptor: u.text()})
	}
	for i := range u.count(2) {
		p.inputs = append(p.inputs, partInput{name: u.text()})
		sums := u.raw(8 * u.count(8+placeSize))
		sources := make(map[string]*source)
		for len(sums) > 0 && !u.failed {
			unit := p.place(u, i, sources)
			unit.record = &record{sum: binary.BigEndian.Uint64(sums), graph: graph}
			sums = sums[8:]
			readUnit(u, unit)
		}
	}
	if !u.end() {
		return nil, errDamaged
	}
	return p, nil
}

// placeSize is how many bytes packPlace writes at least.
const placeSize = 5

// place reads where a class is. sources are those of the input by their place in it.
func (p *Part) place(u *unpacker, input int, sources map[string]*source) *unit {
	var usual, lone bool
	u.flags(&usual, &lone)
	outer, class, name := u.text(), u.text(), u.text()
	if usual {
		name += class + ".class"
	}
	s := sources[outer]
	if s == nil {
		s = &source{outer: outer, input: input, lone: lone}
		sources[outer] = s
		p.sources = append(p.sources, s)
	}
	if len(p.room) == 0 {
		p.room = make([]placedUnit, roomStep)
	}
	placed := &p.room[0]
	p.room = p.room[1:]
	placed.entry = entry{name: name, size: int64(u.int())}
	placed.unit = *newUnit(s, &placed.entry)
	placed.unit.class = class
	p.units = append(p.units, &placed.unit)
	return &placed.unit
}

func readUnit(u *unpacker, to *unit) {
	var objects, objectsToFocus, isRuntime bool
	u.flags(&to.stripped, &to.untouched, &to.stamped, &to.ancestry.DeclaresFocus, &to.ancestry.BarsFocus, &objects, &objectsToFocus, &isRuntime)
	readClass(u, to, isRuntime)
	if objects {
		to.objection = readObjection(u)
	}
	if objectsToFocus {
		to.focusObjection = readObjection(u)
	}
	to.edges = make(classCalls, u.count(3))
	for i := range to.edges {
		to.edges[i].name, to.edges[i].descriptor = u.text(), u.text()
	}
	for i := range to.edges {
		targets := make([]uint32, u.count(1))
		last := 0
		for k := range targets {
			last += u.int()
			if last >= len(to.graph.methods) {
				u.fail()
				last = 0
			}
			targets[k] = uint32(last)
		}
		to.edges[i].targets = targets
	}
	readMethods(u, to, func(_, index int) (string, string) {
		if index >= len(to.edges) {
			u.fail()
			return "", ""
		}
		return to.edges[index].name, to.edges[index].descriptor
	})
}

// readClass reads what packClass wrote.
func readClass(u *unpacker, to *unit, isRuntime bool) {
	for _, text := range []*string{&to.ancestry.SuperName, &to.sourceFile, &to.warning, &to.focusRefusal} {
		*text = u.text()
	}
	for range u.count(1) {
		to.interfaces = append(to.interfaces, u.text())
	}
	if isRuntime {
		to.runtimeFaults = &runtimeFaults{u.text(), u.text()}
	}
	to.whole = readDecision(u)
}

// readMethods reads what packMethods wrote. nameOf knows a method's name and descriptor, by its number among those with code
// and that in the class file.
func readMethods(u *unpacker, to *unit, nameOf func(number, index int) (name, descriptor string)) {
	to.methods = make([]method, u.count(6))
	next, line := 0, 0
	for i := range to.methods {
		m := &to.methods[i]
		m.index = u.indexFrom(next)
		next = int(m.index) + 1
		m.name, m.descriptor = nameOf(i, int(m.index))
		if u.failed {
			break
		}
		m.access = uint16(u.below(1 << 16))
		m.decision = readShared(u)
		line += u.signed()
		if line < 0 || line > math.MaxUint16 {
			u.fail()
			line = 0
		}
		m.line = uint16(line)
	}
	for range u.count(9) {
		i := u.below(len(to.methods))
		to.noteBody(i, binary.BigEndian.Uint64(u.raw(8)))
	}
}

func readObjection(u *unpacker) *objection {
	o := &objection{}
	u.flags(&o.preExisting)
	o.detail = u.text()
	return o
}

// readDecision reads a decision; its reason has to be one that there is.
func readDecision(u *unpacker) filter.Decision {
	d := filter.Decision{Reason: filter.Reason(u.text()), Detail: u.text(), Pending: filter.Pending(u.text())}
	if d.Reason != "" && !knownReasons[d.Reason] {
		u.fail()
	}
	return d
}

// readShared is readDecision where nearly all decisions are one of a few: each is there once, and the zero one is nil.
func readShared(u *unpacker) *filter.Decision {
	if len(u.data) >= 3 && u.data[0]|u.data[1]|u.data[2] == 0 { // the numbers of three empty texts
		u.data = u.data[3:]
		return nil
	}
	ahead := *u
	key := [3]int{ahead.int(), ahead.int(), ahead.int()}
	if known := u.decisions[key]; known != nil && !ahead.failed {
		u.data = ahead.data
		return known
	}
	d := readDecision(u)
	if d == (filter.Decision{}) {
		return nil
	}
	if u.decisions == nil {
		u.decisions = make(map[[3]int]*filter.Decision)
	}
	u.decisions[key] = &d
	return &d
}

var knownReasons = func() map[filter.Reason]bool {
	known := make(map[filter.Reason]bool)
	for _, reason := range filter.Reasons() {
		known[reason] = true
	}
	return known
}()
