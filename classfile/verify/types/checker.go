package types

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
)

// Checker judges classes as HotSpot does when it loads and links them. The zero value with a Hierarchy is
// ready; it is not changed by use and may be shared by goroutines if its Hierarchy may.
type Checker struct {
	// Hierarchy knows the other classes. Without one, all are unknown. It stays the same from the first Check on.
	Hierarchy Hierarchy
	// Frames asks for the frame at the place of each finding about types.
	Frames bool
	// Notes asks for findings that HotSpot does not share: where the JVMS is stricter. They have Note set.
	Notes bool
	// Strict makes a finding of every class that the Hierarchy does not know.
	Strict bool

	slow bool      // no instruction goes the quick way: for tests, as nothing else may come of it
	idle sync.Pool // of *checker: most of what one class needs serves the next
}

// Result is what a Checker has to say of one class.
type Result struct {
	// Findings are in the order of the class file.
	Findings []verify.Finding
	// Unknown are the classes that the Hierarchy did not know and that were assumed to fit wherever they
	// were met, in order.
	Unknown []string
	// Inferred says that frames of a class of major version 50 were wrong and its types were inferred
	// instead, as HotSpot does then (JVMS 4.10).
	Inferred bool
}

// Check judges a class with a hierarchy that may be nil. No findings mean that HotSpot links the class, as
// far as the classes it refers to are known.
func Check(c *classfile.Class, h Hierarchy) []verify.Finding {
	checker := Checker{Hierarchy: h}
	return checker.Check(c).Findings
}

// The class file versions from which on something else holds.
const (
	majorFrames     = 50 // StackMapTable, with failover
	majorNoFailover = 51 // and without
	majorIndy       = 51
	majorJava8      = 52
	majorModules    = 53
	majorCondy      = 55
	majorJava5      = 49
	majorRecords    = 60
	majorSealed     = 61 // and no strictfp any more; the last that HotSpot 17 reads
)

func majorOf(c *classfile.Class) int {
	_, major := c.Version()
	return int(major)
}

// methodCode is a method's Code attribute, which is decoded only once.
type methodCode struct {
	member *classfile.Member
	code   classfile.Code
}

func u2(b []byte) uint16 { return binary.BigEndian.Uint16(b) }

// checker judges one class.
type checker struct {
	names
	class     *classfile.Class
	pool      *classfile.ConstantPool
	major     int
	hierarchy Hierarchy
	wantFrame bool
	wantNotes bool
	slow      bool

	self             *ClassInfo
	thisType, object vtype
	throwable        vtype
	unknown          map[string]bool
	supers           map[string]bool
	supersKnown      bool
	met              *[mostMet]*ClassInfo // by the hash of the name
	memo             [memoSize]memoSlot
	loaded           [lastLoaded]vtype // what the instructions make that name no type, 0 until asked for
	arena            []vtype           // what method types are cut from
	constants        []constant        // by pool index; filled when asked for
	uses             []utf8Use         // by pool index
	named, dynamic   []uint16          // pool entries: those that lead to names, and of these the Dynamic and InvokeDynamic
	bodies           []methodCode
	body             method // the method that is judged

	variables, typed []variableKey // of the method whose format is checked

	findings  []verify.Finding
	thrown    bool // whether one of them stands for what HotSpot throws: a class of version 50 gets no second chance
	broken    map[*classfile.Member]bool
	work      int64
	firstOnly bool // one problem of a method is enough: only whether there is one counts
}

// Check judges a class. The class may be as broken as [classfile.Parse] lets it be.
func (c *Checker) Check(class *classfile.Class) Result {
	k, ok := c.idle.Get().(*checker)
	if !ok {
		k = &checker{unknown: map[string]bool{}, met: new([mostMet]*ClassInfo)}
	}
	defer func() {
		k.forget()
		c.idle.Put(k)
	}()
	k.names.reset()
	k.class, k.pool, k.major = class, class.ConstantPool(), majorOf(class)
	k.hierarchy, k.wantFrame, k.wantNotes, k.slow = c.Hierarchy, c.Frames, c.Notes, c.slow
	k.constants = resize(k.constants, k.pool.Len())
	k.object = k.of(objectName) // the first name, so that no type of a reference is 0
	var result Result
	if class.AccessFlags()&classfile.AccModule != 0 && k.major >= majorModules {
		k.checkModule()
		result.Findings = k.findings
		return result
	}
	if k.checkPool() {
		k.self = &ClassInfo{Name: class.Name(), Super: class.SuperName(), Interfaces: class.Interfaces(), AccessFlags: class.AccessFlags()}
		k.thisType = k.of(class.Name())
		k.throwable = k.of("java/lang/Throwable")
		k.checkClass()
		k.checkSupers()
		result.Inferred = k.checkCode()
	}
	for name := range k.unknown {
		result.Unknown = append(result.Unknown, name)
	}
	slices.Sort(result.Unknown)
	if c.Strict {
		for _, name := range result.Unknown {
			k.finding(ruleMissing, "class "+name, "none on the class path")
		}
	}
	result.Findings = k.findings
	return result
}

// mostIdleWords is how much of the memory for the states of inference is kept for the next class.
const mostIdleWords = 1 << 18

// forget leaves nothing of the class but memory for the next: the class file may be gone by then. Nothing that was
// given out is touched.
func (k *checker) forget() {
	clear(k.unknown)
	clear(k.list)
	clear(k.constants)
	for i := range k.bodies {
		attributes := k.bodies[i].code.Attributes
		clear(attributes)
		k.bodies[i] = methodCode{code: classfile.Code{Attributes: attributes[:0]}}
	}
	if cap(k.body.words) > mostIdleWords {
		k.body.words = nil
	}
	if cap(k.body.frameWords) > mostIdleWords {
		k.body.frameWords = nil
	}
	k.body.reset(nil, nil, classfile.Code{})
	*k = checker{
		names:     k.names,
		met:       k.met,
		unknown:   k.unknown,
		arena:     k.arena[:0],
		constants: k.constants[:0],
		uses:      k.uses[:0],
		named:     k.named[:0],
		dynamic:   k.dynamic[:0],
		bodies:    k.bodies[:0],
		variables: k.variables[:0],
		typed:     k.typed[:0],
		body:      k.body,
	}
}

// finding starts a finding about the class as a whole.
func (k *checker) finding(rule, want, got string) {
	k.findings = append(k.findings, verify.Finding{Class: k.class.Name(), Offset: -1, Rule: rule, Want: want, Got: got})
}

// note adds a finding that HotSpot does not share, if such are wanted.
func (k *checker) note(m *classfile.Member, offset int, rule, want, got string) {
	if !k.wantNotes {
		return
	}
	f := verify.Finding{Class: k.class.Name(), Offset: offset, Rule: rule, Want: want, Got: got, Note: true}
	if m != nil {
		f.Method, f.Descriptor = m.Name, m.Descriptor
	}
	k.findings = append(k.findings, f)
}

// formatFinding is one about the format of a field or method. The code of such a method is not looked at: its
// descriptor may be what is wrong.
func (k *checker) formatFinding(m *classfile.Member, rule, want, got string) {
	if k.broken == nil {
		k.broken = map[*classfile.Member]bool{}
	}
	k.broken[m] = true
	k.memberFinding(m, rule, want, got)
}

// memberFinding is one about a field or method that says nothing of its code.
func (k *checker) memberFinding(m *classfile.Member, rule, want, got string) {
	k.findings = append(k.findings, verify.Finding{
		Class: k.class.Name(), Method: m.Name, Descriptor: m.Descriptor, Offset: -1, Rule: rule, Want: want, Got: got,
	})
}

// checkCode judges every method's code, by its frames from version 50 on, by inference before that, and says
// whether frames were given up on.
func (k *checker) checkCode() (inferred bool) {
	before := len(k.findings)
	if k.major < majorFrames {
		k.eachCode((*method).infer)
		return false
	}
	k.firstOnly, k.thrown = k.major < majorNoFailover, false
	k.eachCode((*method).checkTypes)
	if k.major >= majorNoFailover || !slices.ContainsFunc(k.findings[before:], rejects) {
		return false
	}
	// HotSpot gives up on the first method that fails. The frames of the others are never looked at, so that
	// all that counts is what inference finds; but the message is the one about the frames.
	byFrames := slices.Clone(k.findings[before:])
	if !k.thrown {
		k.findings = k.findings[:before]
		k.eachCode((*method).infer)
		if !slices.ContainsFunc(k.findings[before:], rejects) {
			return true
		}
	}
	// The class is rejected: once more, for all that is wrong with it. What was said of it as a whole, when another
	// class was looked up, is not said again.
	k.findings = append(k.findings[:before], slices.DeleteFunc(byFrames, func(f verify.Finding) bool { return f.Method != "" })...)
	k.firstOnly = false
	k.eachCode((*method).checkTypes)
	return false
}

// rejects says whether HotSpot does not link the class because of the finding.
func rejects(f verify.Finding) bool { return !f.Note }

// eachCode judges each method that has code of the right format.
func (k *checker) eachCode(judge func(*method)) {
	for i := range k.bodies {
		m := k.bodies[i].member
		if len(k.broken) > 0 && k.broken[m] {
			continue
		}
		t := &k.body
		t.reset(k, m, k.bodies[i].code)
		if t.prepare() {
			judge(t)
		}
		t.tell()
		k.findings = append(k.findings, t.told...)
		if k.exhausted() {
			return
		}
	}
}

// method judges one method's code. A problem leaves the type state unknown, and what follows from that is no news: the
// code is judged again from where the state is known.
type method struct {
	*checker
	machine
	member  *classfile.Member
	code    classfile.Code
	starts  []byte // by position: what begins there
	initial []vtype
	joins   []int32     // of inference
	states  []joinState // likewise
	words   []vtype     // likewise; the states' types
	pc      int

	frameWords []vtype // what the frames' types are cut from

	problem *verify.Finding // that has just been found; whatever is at work then ends
	fatal   bool            // problem is one that HotSpot throws
	told    []verify.Finding
	stopped bool         // there is nothing more to be said of the method
	repeats bool         // problem is about a place in places
	places  map[int]bool // that are told only once

	lost        bool // type checking only: the type state is not known
	blindFrom   int  // from here on it is not known where frames are
	uncoveredTo int  // up to here, what comes is known to be covered by no handler

	handlers  []handler
	throws    map[int]bool // by a handler's position, what endsInThrow says
	frames    []stackFrame
	result    vtype // what the method returns, tTop for void
	inferring bool
}

// reset makes it one of another method, in the memory of the one before.
func (m *method) reset(k *checker, member *classfile.Member, body classfile.Code) {
	*m = method{
		checker: k, member: member, code: body,
		machine: machine{locals: m.locals[:0], stack: m.stack[:0], changed: m.changed[:0]},
		starts:  m.starts[:0],
		initial: m.initial[:0],
		joins:   m.joins[:0],
		states:  m.states[:0],
		words:   m.words[:0],

		frameWords: m.frameWords[:0],

		handlers: m.handlers[:0],
		frames:   m.frames[:0],

		blindFrom: math.MaxInt,
	}
}

// resize gives a slice of n zeros, in the memory of another if that is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// What can begin at a position of the code.
const (
	noStart byte = iota
	instructionStart
	newStart    // of a new instruction: what uninitialized types refer to
	faultyStart // of an instruction with operands that are told
)

// mostTold is how many findings a method has at most. Whoever has repaired these runs the verifier again.
const mostTold = 16

// fail records a problem at the current instruction, unless there is one already.
func (m *method) fail(rule, want, got string) { m.failAt(m.pc, rule, want, got) }

func (m *method) failAt(pc int, rule, want, got string) {
	if m.problem != nil {
		return
	}
	m.problem = &verify.Finding{
		Class: m.class.Name(), Method: m.member.Name, Descriptor: m.member.Descriptor, Offset: pc,
		Rule: rule, Want: want, Got: got,
	}
	if m.wantFrame && len(m.locals)+len(m.stack) > 0 {
		m.problem.Frame = m.describeFrame(m.locals, m.stack, m.thisUninitialized)
	}
}

// failFatal is fail for what HotSpot throws where others only fail: no second chance for version 50.
func (m *method) failFatal(rule, want, got string) {
	m.fail(rule, want, got)
	m.fatal = true
}

// failOnce is fail for what is wrong with a place of the code that many instructions lead to.
func (m *method) failOnce(place int, rule, want, got string) {
	if m.failed() {
		return
	}
	if m.places == nil {
		m.places = map[int]bool{}
	}
	m.repeats = m.places[place]
	m.places[place] = true
	m.fail(rule, want, got)
}

func (m *method) failed() bool { return m.problem != nil }

// tell makes a finding of the problem at hand, if there is one, and lets the method go on unless that was the last.
func (m *method) tell() {
	if m.problem == nil || m.stopped {
		return
	}
	again := func(f verify.Finding) bool {
		return f == *m.problem || m.inferring && f.Offset == m.problem.Offset // by another path
	}
	if !m.repeats && !slices.ContainsFunc(m.told, again) {
		m.thrown = m.thrown || m.fatal && len(m.told) == 0
		m.told = append(m.told, *m.problem)
	}
	m.stopped = m.firstOnly || len(m.told) >= mostTold || m.problem.Rule == ruleLimit
	if !m.stopped {
		m.problem, m.fatal, m.repeats = nil, false, false
	}
}

// stop ends the method: what else could be found follows from what was told.
func (m *method) stop() { m.stopped, m.problem = true, &m.told[len(m.told)-1] }

// prepare finds where the instructions begin.
func (m *method) prepare() bool {
	bytecode := m.code.Bytecode
	m.starts = resize(m.starts, len(bytecode))
	for pc := 0; pc < len(bytecode); {
		op := code.Op(bytecode[pc])
		size := op.Size()
		if size == 0 || size > len(bytecode)-pc {
			var err error
			if _, size, err = code.Next(bytecode, pc); err != nil {
				m.failAt(pc, ruleInstructions, "an instruction", err.Error())
				return false
			}
		}
		m.starts[pc] = instructionStart
		switch {
		case op == code.New:
			m.starts[pc] = newStart
		case op == code.Lookupswitch && size < 13 && pc+size == len(bytecode):
			// HotSpot reads one byte more than there is, and calls the instruction illegal.
			m.failAt(pc, ruleInstructions, "a byte behind a lookupswitch without cases", "the end of the code")
			return false
		}
		pc += size
	}
	m.noteLines()
	m.readHandlers()
	return true
}

// noteLines is about lines that begin between instructions (JVMS 4.7.12), which HotSpot does not mind.
func (m *method) noteLines() {
	if !m.wantNotes {
		return
	}
	for _, a := range m.code.Attributes {
		if a.Name != "LineNumberTable" || len(a.Info) < 2 {
			continue
		}
		for row := a.Info[2:]; len(row) >= 4; row = row[4:] {
			if pc := int(u2(row)); !m.isStart(pc) {
				m.note(m.member, pc, "JVMS 4.7.12", "an instruction where a line begins", "none")
			}
		}
	}
}

func (m *method) isStart(pc int) bool {
	return pc >= 0 && pc < len(m.starts) && m.starts[pc] != noStart
}
