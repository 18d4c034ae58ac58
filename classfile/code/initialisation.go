package code

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Initialised is the result of [Initialisation]: where in a constructor `this` has been initialised (JVMS
// 4.10.2.4).
type Initialised struct {
	// Calls are the positions of the invokespecial instructions that initialise `this`, in ascending
	// order: each is a call of another constructor of the class or of its superclass.
	Calls []int

	reached []initState // by position
}

type initState uint8

const (
	notReached initState = iota
	onEveryPath
	notOnEveryPath
)

// At reports whether `this` has been initialised on every path before the instruction at pc. It is false if no path
// leads there.
func (i *Initialised) At(pc int) bool {
	return pc >= 0 && pc < len(i.reached) && i.reached[pc] == onEveryPath
}

// Initialisation finds the places in a constructor where `this` has been initialised. The code may branch before it
// calls the other constructor, may call one in several places, and may call constructors of other objects of its
// own class, so that the name of the called method alone does not show what it initialises. Initialisation fails
// for code that every verifier rejects, and for a method that would take seconds, which no compiler writes.
//
// It is a forward data flow analysis. The state before an instruction says of each local and each stack word
// whether it holds the uninitialised `this`, and whether `this` has been initialised. The state is computed at the
// leaders (the start, branch targets and exception handlers), and run carries it from each leader through the
// instructions up to the next. An invokespecial of <init> on a word that holds `this` initialises it: no word holds
// the uninitialised `this` afterwards. Since an exception may be thrown at any instruction, the state before each
// instruction in a handler's range flows to the handler too.
//
// Where paths meet, their states are combined by "and": the result holds only what holds on every path. This agrees
// with verifiers, which let code use a word as the uninitialised `this` only if every path left it there. It also
// makes the analysis end: values only change from true to false, so that a leader is followed again at most once
// for each value of its state. In compiled code, nearly all are followed once.
func Initialisation(pool *classfile.ConstantPool, code *classfile.Code) (Initialised, error) {
	f := initFlow{
		pool: pool, code: code,
		states:  make(map[int]*thisState),
		reached: make([]initState, len(code.Bytecode)),
	}
	start := &thisState{locals: make([]bool, max(1, int(code.MaxLocals)))}
	start.locals[0] = true
	if err := f.findLeaders(); err != nil {
		return Initialised{}, err
	}
	if err := f.merge(0, start); err != nil {
		return Initialised{}, err
	}
	for len(f.pending) > 0 {
		pc := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		if err := f.run(pc); err != nil {
			return Initialised{}, err
		}
	}
	result := Initialised{reached: f.reached}
	for pc, initialises := range f.calls {
		if initialises {
			result.Calls = append(result.Calls, pc)
		}
	}
	slices.Sort(result.Calls)
	return result, nil
}

// thisState has, for each local and each stack word, whether it holds the uninitialised `this`, and whether `this`
// has been initialised on every path so far.
type thisState struct {
	locals, stack []bool
	initialised   bool
}

func (s *thisState) clone() *thisState {
	return &thisState{locals: slices.Clone(s.locals), stack: slices.Clone(s.stack), initialised: s.initialised}
}

// maxInitWork is the greatest number of steps of one analysis. A step is a word of a state that is combined with
// another, or a handler that is checked for an instruction. A constructor of 64 KiB with hundreds of handlers and
// locals takes far fewer; one with 65,535 handlers over 65,535 instructions would take more.
const maxInitWork = 1 << 26

type initFlow struct {
	pool    *classfile.ConstantPool
	code    *classfile.Code
	leaders []bool // by position: whether paths may meet there
	states  map[int]*thisState
	pending []int
	reached []initState
	calls   map[int]bool // by position of an invokespecial: whether it initialises `this`, as far as followed
	work    int
}

// findLeaders marks the positions where paths may meet: branch targets and exception handlers.
func (f *initFlow) findLeaders() error {
	f.calls = make(map[int]bool)
	f.leaders = make([]bool, len(f.code.Bytecode)+1)
	for in, err := range Instructions(f.code.Bytecode) {
		if err != nil {
			return err
		}
		for target := range in.Targets() {
			if target >= 0 && target < len(f.leaders) {
				f.leaders[target] = true
			}
		}
	}
	for entry := f.code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if handler := int(binary.BigEndian.Uint16(entry[4:])); handler < len(f.leaders) {
			f.leaders[handler] = true
		}
	}
	return nil
}

// merge combines the state s, with which a path reaches the leader at pc, with the states of earlier paths. If that
// changes the state there, the leader has to be followed again.
func (f *initFlow) merge(pc int, s *thisState) error {
	if pc < 0 || pc >= len(f.code.Bytecode) {
		return fmt.Errorf("control leaves the code: target %d of %d bytes", pc, len(f.code.Bytecode))
	}
	if f.work += len(s.locals) + len(s.stack); f.work > maxInitWork {
		return errors.New("constructor is too large to be followed")
	}
	old := f.states[pc]
	if old == nil {
		f.states[pc] = s.clone()
		f.pending = append(f.pending, pc)
		return nil
	}
	changed := old.initialised && !s.initialised
	old.initialised = old.initialised && s.initialised
	and := func(a, b []bool) {
		for i := range a {
			if a[i] && (i >= len(b) || !b[i]) {
				a[i], changed = false, true
			}
		}
	}
	and(old.locals, s.locals)
	and(old.stack, s.stack)
	if changed {
		f.pending = append(f.pending, pc)
	}
	return nil
}

// run follows the instructions from the leader at pc to the next leader, or to where the path ends.
func (f *initFlow) run(pc int) error {
	s := f.states[pc].clone()
	for {
		in, err := At(f.code.Bytecode, pc)
		if err != nil {
			return err
		}
		f.reached[pc] = notOnEveryPath
		if s.initialised {
			f.reached[pc] = onEveryPath
		}
		if err := f.mergeHandlers(pc, s); err != nil {
			return err
		}
		if err := f.execute(in, s); err != nil {
			return err
		}
		for target := range in.Targets() {
			if err := f.merge(target, s); err != nil {
				return fmt.Errorf("%v at %d: %w", in.Op, pc, err)
			}
		}
		if in.Op == Jsr || in.Op == JsrW {
			s.stack = s.stack[:len(s.stack)-1]
		} else if !in.FallsThrough() {
			return nil
		}
		pc += in.Size
		if pc >= len(f.leaders) || f.leaders[pc] || pc == len(f.code.Bytecode) {
			return f.merge(pc, s)
		}
	}
}

// mergeHandlers lets the state before the instruction at pc flow to the handlers that cover it. They start with the
// exception on the stack, which is not `this`.
func (f *initFlow) mergeHandlers(pc int, s *thisState) error {
	f.work += len(f.code.ExceptionTable) / 8
	for entry := f.code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if pc < int(binary.BigEndian.Uint16(entry)) || pc >= int(binary.BigEndian.Uint16(entry[2:])) {
			continue
		}
		thrown := &thisState{locals: s.locals, stack: []bool{false}, initialised: s.initialised}
		if err := f.merge(int(binary.BigEndian.Uint16(entry[4:])), thrown); err != nil {
			return fmt.Errorf("exception handler: %w", err)
		}
	}
	return nil
}

// execute applies the effect of the instruction to s.
func (f *initFlow) execute(in Instruction, s *thisState) error {
	pops, pushes, err := in.StackWords(f.pool)
	if err != nil {
		return err
	}
	if pops > len(s.stack) {
		return fmt.Errorf("%v at %d takes %d words off a stack of %d", in.Op, in.PC, pops, len(s.stack))
	}
	base := len(s.stack) - pops
	taken := slices.Clone(s.stack[base:])
	s.stack = s.stack[:base]
	if in.Op == Invokespecial && taken[0] && f.isConstructor(in) {
		f.calls[in.PC] = true
		clear(s.locals)
		clear(s.stack)
		s.initialised = true
	} else if in.Op == Invokespecial {
		f.calls[in.PC] = false
	}
	// Instructions that only move words (dup, swap, pop) are in the opcode table with a letter for each word.
	before, after, known := strings.Cut(ops[in.Op].stack, ">")
	if known && after != "" && after[0] >= 'a' && after[0] <= 'z' {
		for _, word := range after {
			s.stack = append(s.stack, taken[strings.IndexRune(before, word)])
		}
		return nil
	}
	// What others push is not the uninitialised `this`, unless they load it from a local variable.
	s.stack = append(s.stack, make([]bool, pushes)...)
	local, ok := in.Local()
	if !ok {
		return nil
	}
	if local+max(pops, pushes) > len(s.locals) {
		return fmt.Errorf("%v at %d uses local %d of %d", in.Op, in.PC, local, len(s.locals))
	}
	if pushes == 1 {
		s.stack[base] = s.locals[local]
	}
	for i, word := range taken {
		s.locals[local+i] = word
	}
	return nil
}

// isConstructor reports whether the invokespecial instruction calls a method <init>.
func (f *initFlow) isConstructor(in Instruction) bool {
	ref, err := f.pool.Ref(in.Constant())
	return err == nil && ref.Name == "<init>"
}
