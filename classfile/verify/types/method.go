package types

import (
	"math"
	"slices"

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
	methodMemory
	methodFindings
	*methodCode
	pc        int // the position of the current instruction
	maxStack  int
	result    vtype // what the method returns, tTop for void
	inferring bool  // inference, not type checking

	stateUnknown      bool // the type state is not known, or not yet
	framesUnknownFrom int  // from here on it is not known where frames are
}

// methodMemory is what one method after the other uses.
type methodMemory struct {
	starts     []byte   // by position: what begins there
	kept       []uint16 // by position of a keptStart: the number of the frame or state there
	initial    []vtype  // the locals at the method's start
	handlers   []handler
	coverage   coverage // of handlers
	frames     []stackFrame
	frameWords []vtype     // the types in frames
	states     []joinState // see inference
	words      []vtype     // the types in states
	replaced   []int       // the locals that the current instruction has changed by replace
}

// methodFindings are the faults of a method.
type methodFindings struct {
	problem  *verify.Finding  // the fault that was found just now
	fatal    bool             // HotSpot throws for problem
	repeats  bool             // problem is about a place in places
	reported []verify.Finding // the findings so far
	stopped  bool             // the method has enough findings
	places   map[int]bool     // places of the code about which there is a finding that must not be repeated
}

// reset makes m the checker of another method.
func (m *method) reset(k *checker, body *methodCode, inferring bool) {
	m.checker, m.methodCode = k, body
	m.methodFindings = methodFindings{}
	m.stateUnknown, m.framesUnknownFrom = true, math.MaxInt
	m.setInferring(inferring)
	m.initial = m.appendInitial(m.initial[:0])
	m.maxStack = int(m.code.MaxStack)
	m.result = m.typeOf(m.member).value
	m.handlers, m.frames, m.frameWords = m.handlers[:0], m.frames[:0], m.frameWords[:0]
	m.coverage = coverage{answer: m.coverage.answer}
	m.typeState = typeState{locals: resize(m.locals, int(m.code.MaxLocals)), stack: m.stack[:0]}
	m.used = copy(m.locals, m.initial)
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

// What begins at a position of the code.
const (
	instructionStart byte = 1 << iota
	faultyStart           // of an instruction with a finding about its operands
	keptStart             // there is a frame, or inference keeps a state
)

// maxFindings is the greatest number of findings that are collected for a method.
const maxFindings = 16

// fail sets the problem, which is at the current instruction, unless there is one already.
func (m *method) fail(rule, want, got string) { m.failAt(m.pc, rule, want, got) }

func (m *method) failAt(pc int, rule, want, got string) {
	if m.problem != nil {
		return
	}
	f := m.findingAt(m.member, pc, rule, want, got)
	m.problem = &f
	if m.owner.Frames && !m.stateUnknown {
		m.problem.Frame = m.describeFrame(m.locals, m.stack, m.thisUninitialized)
	}
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
	if m.problem == nil || m.stopped {
		return
	}
	again := func(f verify.Finding) bool {
		return f == *m.problem || m.inferring && f.Offset == m.problem.Offset // by another path
	}
	if !m.repeats && !slices.ContainsFunc(m.reported, again) {
		m.thrown = m.thrown || m.fatal && len(m.reported) == 0
		m.reported = append(m.reported, *m.problem)
	}
	m.stopped = len(m.reported) >= maxFindings || m.problem.Rule == ruleLimit
	if !m.stopped {
		m.problem, m.fatal, m.repeats = nil, false, false
	}
}

// prepare finds where instructions begin, and reads the exception table. It reports whether the code can be decoded.
func (m *method) prepare() bool {
	bytecode := m.code.Bytecode
	m.starts = resize(m.starts, len(bytecode))
	m.kept = slices.Grow(m.kept[:0], len(bytecode))[:len(bytecode)]
	for pc := 0; pc < len(bytecode); {
		size := code.Op(bytecode[pc]).Size()
		if size == 0 || size > len(bytecode)-pc {
			op, variable, err := code.Next(bytecode, pc)
			if err != nil {
				m.failAt(pc, ruleInstructions, "an instruction", err.Error())
				return false
			}
			if op == code.Lookupswitch && variable < 13 && pc+variable == len(bytecode) {
				// HotSpot reads one byte more than there is, and calls the instruction illegal.
				m.failAt(pc, ruleInstructions, "a byte after a lookupswitch without cases", "the end of the code")
				return false
			}
			size = variable
		}
		m.starts[pc] = instructionStart
		pc += size
	}
	m.readHandlers()
	return true
}

// rowAt returns the row of the instruction at a position, which prepare has decoded, and its size. That of wide is the
// row of the instruction that it widens.
func (m *method) rowAt(pc int) (row *opRow, size int) {
	op, size, _ := code.Next(m.code.Bytecode, pc)
	if op == code.Wide {
		op = code.Op(m.code.Bytecode[pc+1])
	}
	return &opRows[op], size
}

// eachTarget calls visit for each position that the current instruction may branch to, but once for several cases of a
// switch in a row.
func (m *method) eachTarget(row *opRow, visit func(target int)) {
	if row.size == sizeWithOffset {
		visit(m.pc + int(int16(u2(m.code.Bytecode[m.pc+1:]))))
		return
	}
	in, _ := code.At(m.code.Bytecode, m.pc) // prepare has decoded it
	last := math.MinInt
	for target := range in.Targets() {
		if target != last {
			visit(target)
		}
		last = target
	}
}

// sizeWithOffset is the size of a branch with an offset of two bytes, which most branches have.
const sizeWithOffset = 3

func (m *method) isStart(pc int) bool {
	return pc >= 0 && pc < len(m.starts) && m.starts[pc] != 0
}
