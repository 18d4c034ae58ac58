package types

import (
	"math"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
)

// method checks the code of one method.
//
// A check that fails calls fail, which sets problem. Every function returns as soon as problem is set, up to the loop
// over the instructions. That loop calls report, which makes the problem a finding and clears it, and continues where
// the type state is known again.
type method struct {
	*checker
	typeState
	member  *classfile.Member
	code    classfile.Code
	starts  []byte  // by position: what begins there
	initial []vtype // the locals at the method's start
	pc      int     // the position of the current instruction

	// Memory of inference: see the fields of the same names there.
	joins   []int32
	joined  []uint16
	states  []joinState
	pending []uint64
	merged  []mergedState
	words   []vtype // the types of states

	frameWords []vtype // memory for the types of frames

	problem  *verify.Finding  // the fault that was found just now
	fatal    bool             // HotSpot throws for problem
	reported []verify.Finding // the findings so far
	stopped  bool             // the method has enough findings
	repeats  bool             // problem is about a place in places
	places   map[int]bool     // places of the code about which there is a finding that must not be repeated

	stateUnknown      bool // type checking only: the type state is not known
	framesUnknownFrom int  // from here on it is not known where frames are

	// The quick path, see quickframes.go.
	isQuick     bool // the method is checked on the quick path
	quickFrames []quickFrame
	nextFrame   int      // the frame that comes next, among quickFrames
	room        []vtype  // memory for the stack
	unusual     []uint16 // positions of instructions that run does not apply
	mustStarts  []uint16 // positions where an instruction must begin
	// hasVariables is set if the method has a LocalVariableTable.
	hasVariables bool
	isCovered    bool // handlers cover the current instruction
	matched      bool // the state was compared with the frames of these handlers since it changed
	stored       bool // run has changed a local
	pauses       int  // how often run has paused
	gaveUp       bool // there may be a finding

	handlers  []handler
	coverage  coverage     // of handlers
	throws    map[int]bool // the answers of alwaysThrows, by the position of a handler
	frames    []stackFrame
	result    vtype // what the method returns, tTop for void
	inferring bool  // inference, not type checking

	firstAllowed byte // the opcode of the lowest bit in constant.allowed
}

// reset makes m the checker of another method and keeps its memory.
func (m *method) reset(k *checker, member *classfile.Member, body classfile.Code) {
	*m = method{
		checker: k, member: member, code: body,
		typeState: typeState{locals: m.locals[:0], stack: m.stack[:0], changed: m.changed[:0]},
		starts:    m.starts[:0],
		initial:   m.initial[:0],
		joins:     m.joins[:0],
		joined:    m.joined[:0],
		states:    m.states[:0],
		pending:   m.pending[:0],
		merged:    m.merged[:0],
		words:     m.words[:0],

		frameWords: m.frameWords[:0],

		quickFrames: m.quickFrames[:0],
		room:        m.room[:0],
		mustStarts:  m.mustStarts[:0],
		unusual:     m.unusual[:0],

		handlers: m.handlers[:0],
		coverage: m.coverage.empty(),
		frames:   m.frames[:0],

		framesUnknownFrom: math.MaxInt,
	}
}

// resize returns a slice of n zeros, in the memory of another if that is large enough.
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
	faultyStart // of an instruction with a finding about its operands
	passedStart // of an instruction that the quick path has applied
)

// maxFindings is the greatest number of findings that are collected for a method.
const maxFindings = 16

// fail sets the problem, which is at the current instruction, unless there is one already.
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

// failFatal is fail for a fault for which HotSpot throws at once, so that a class of version 50 gets no second chance.
func (m *method) failFatal(rule, want, got string) {
	m.fail(rule, want, got)
	m.fatal = true
}

// failOnce is fail for a fault of a place in the code to which many instructions may lead. Only the first call for a
// place leads to a finding.
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

// report makes a finding of the problem, if there is one, and clears it so that the check continues, unless the method
// has enough findings.
func (m *method) report() {
	if m.problem == nil || m.stopped || m.isQuick {
		return
	}
	again := func(f verify.Finding) bool {
		return f == *m.problem || m.inferring && f.Offset == m.problem.Offset // by another path
	}
	if !m.repeats && !slices.ContainsFunc(m.reported, again) {
		m.thrown = m.thrown || m.fatal && len(m.reported) == 0
		m.reported = append(m.reported, *m.problem)
	}
	m.stopped = m.firstOnly || len(m.reported) >= maxFindings || m.problem.Rule == ruleLimit
	if !m.stopped {
		m.problem, m.fatal, m.repeats = nil, false, false
	}
}

// stop ends the check of the method, because everything else would follow from the last finding.
func (m *method) stop() { m.stopped, m.problem = true, &m.reported[len(m.reported)-1] }

// prepare finds where instructions begin, and reads the exception table. It reports whether the code can be decoded.
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
			m.failAt(pc, ruleInstructions, "a byte after a lookupswitch without cases", "the end of the code")
			return false
		}
		pc += size
	}
	m.noteLineStarts()
	m.readHandlers()
	return true
}

// noteLineStarts adds notes about lines that begin inside of instructions (JVMS 4.7.12), which HotSpot accepts.
func (m *method) noteLineStarts() {
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
