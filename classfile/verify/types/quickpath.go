package types

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// The quick path
//
// Nearly all instructions take the quick path. For an instruction in which [method.checkConstraints] and [method.step]
// would find no fault, it changes the type state exactly as they do, and asks the hierarchy the same questions in the
// same order. For every other instruction, and for one that it is not sure of, it returns false and leaves the type
// state as it was. The instruction then takes the full path, which makes the finding. The quick path itself never makes
// one, so that a fault in it can only hide findings; TestQuickPathAgrees compares the findings with and without it.
//
// It is quick because most opcodes need only a row of quickRows: a few words to compare on top of the stack, and a few
// to write there. Whether a handler covers an instruction is decided for a range of code at once, and a constant is
// checked once for all instructions of a kind.

// quickKind says how the quick path handles an opcode.
type quickKind uint8

const (
	notQuick quickKind = iota
	quickFixed
	quickBranch // quickFixed with a target in two bytes
	quickLoad
	quickStore
	quickIinc
	quickPop
	quickDup
)

// quickRow is what the quick path needs of an opcode.
type quickRow struct {
	kind  quickKind
	local int8 // the local that a load or store uses; -1 if the operand names it
	// t is the type that a load or store moves; tNull stands for any reference.
	t vtype
	// The words that are popped, and then pushed, lowest first.
	popped, pushed []vtype
}

var quickRows = func() (rows [256]quickRow) {
	for op := code.Nop; op.Known(); op++ {
		row := &rows[op]
		switch e := &effects[op]; {
		case traits[op]&local != 0:
			row.setLocal(op)
		case op == code.Pop:
			row.kind = quickPop
		case op == code.Dup:
			row.kind = quickDup
		case !e.known || op.IsReturn() || op == code.Tableswitch || op == code.Lookupswitch || op == code.GotoW:
		default:
			row.kind = quickFixed
			if traits[op]&branching != 0 {
				row.kind = quickBranch
			}
			for _, t := range e.popped {
				row.popped = appendWords(row.popped, t)
			}
			if e.pushed != tTop {
				row.pushed = appendWords(nil, e.pushed)
			}
		}
	}
	return rows
}()

func appendWords(words []vtype, t vtype) []vtype {
	words = append(words, t)
	if second, two := t.secondWord(); two {
		words = append(words, second)
	}
	return words
}

// setLocal fills in the row of a load, store or iinc.
func (row *quickRow) setLocal(op code.Op) {
	plain, n := op, -1
	switch {
	case op >= code.Iload0 && op <= code.Aload3:
		plain, n = code.Iload+(op-code.Iload0)/4, int(op-code.Iload0)%4
	case op >= code.Istore0 && op <= code.Astore3:
		plain, n = code.Istore+(op-code.Istore0)/4, int(op-code.Istore0)%4
	}
	row.local = int8(n)
	switch {
	case plain >= code.Iload && plain <= code.Aload:
		row.kind, row.t = quickLoad, localTypes[plain-code.Iload]
	case plain >= code.Istore && plain <= code.Astore:
		row.kind, row.t = quickStore, localTypes[plain-code.Istore]
	case plain == code.Iinc:
		row.kind = quickIinc
	}
}

// stepQuickly applies the instruction at the current position, and reports whether it did. If so, the instruction leads
// to the next one and to no other.
func (m *method) stepQuickly(op code.Op) bool {
	row := &quickRows[op]
	switch top := len(m.stack); row.kind {
	case quickFixed:
		return m.popAndPush(row)
	case quickLoad:
		return m.loadQuickly(row)
	case quickStore:
		return m.storeQuickly(row)
	case quickIinc:
		index := m.quickLocal(row)
		return index < int(m.code.MaxLocals) && m.locals[index] == tInt
	case quickPop:
		if top == 0 || !m.stack[top-1].isOneWord() {
			return false
		}
		m.stack = m.stack[:top-1]
		return true
	case quickDup:
		if top == 0 || top >= int(m.code.MaxStack) || !m.stack[top-1].isOneWord() {
			return false
		}
		m.stack = append(m.stack, m.stack[top-1])
		return true
	}
	return false
}

// popAndPush pops the words of the row, which must have exactly its types, and pushes the words that the row pushes.
func (m *method) popAndPush(row *quickRow) bool {
	base := len(m.stack) - len(row.popped)
	if base < 0 || base+len(row.pushed) > int(m.code.MaxStack) {
		return false
	}
	for i, t := range row.popped {
		if m.stack[base+i] != t {
			return false
		}
	}
	m.stack = append(m.stack[:base], row.pushed...)
	return true
}

// quickLocal returns the local variable that the current instruction uses.
func (m *method) quickLocal(row *quickRow) int {
	if row.local >= 0 {
		return int(row.local)
	}
	return int(m.code.Bytecode[m.pc+1])
}

// loadQuickly applies a load.
func (m *method) loadQuickly(row *quickRow) bool {
	index, room := m.quickLocal(row), int(m.code.MaxStack)-len(m.stack)
	if second, two := row.t.secondWord(); two {
		if index+1 >= int(m.code.MaxLocals) || room < 2 || m.locals[index] != row.t || m.locals[index+1] != second {
			return false
		}
		m.stack = append(m.stack, row.t, second)
		return true
	}
	if index >= int(m.code.MaxLocals) || room < 1 {
		return false
	}
	got := m.locals[index]
	if got != row.t && (row.t != tNull || !got.isObject()) {
		return false
	}
	m.stack = append(m.stack, got)
	return true
}

// storeQuickly applies a store, unless it changes one word of a long or double.
func (m *method) storeQuickly(row *quickRow) bool {
	index, top := m.quickLocal(row), len(m.stack)-1
	if top < 0 || index >= int(m.code.MaxLocals) {
		return false
	}
	got, old := m.stack[top], m.locals[index]
	if got != row.t && (row.t != tNull || !got.isObject()) {
		return false // another type, or two words
	}
	if old.isSecondWord() || old == tLong || old == tDouble {
		return false
	}
	m.stack = m.stack[:top]
	m.setLocal(index, got)
	return true
}

// noHandlerCovers reports whether no handler covers the current position.
func (m *method) noHandlerCovers() bool { return len(m.handlers) == 0 || len(m.covering(m.pc)) == 0 }

// stepQuicklyByFrames is stepQuickly for type checking, which can handle more instructions because there are frames at
// the targets of branches. flows reports whether the instruction leads to the next one.
func (m *method) stepQuicklyByFrames(op code.Op) (done, flows bool) {
	row := &quickRows[op]
	if row.kind == quickBranch {
		if !m.popAndPush(row) {
			return false, false
		}
		m.matchTarget(m.pc + int(int16(u2(m.code.Bytecode[m.pc+1:]))))
		return true, op != code.Goto
	}
	if row.kind != notQuick {
		return m.stepQuickly(op), true
	}
	switch {
	case op == code.Ldc:
		return m.loadConstant(uint16(m.code.Bytecode[m.pc+1]), oldKinds|classKind|newKinds), true
	case op == code.LdcW:
		return m.loadConstant(u2(m.code.Bytecode[m.pc+1:]), oldKinds|classKind|newKinds), true
	case op == code.Ldc2W:
		return m.loadConstant(u2(m.code.Bytecode[m.pc+1:]), wideKinds), true
	case op == code.Ifnull, op == code.Ifnonnull:
		return m.compareQuickly(1), true
	case op == code.IfAcmpeq, op == code.IfAcmpne:
		return m.compareQuickly(2), true
	case op.IsReturn():
		return m.returnQuickly(op), false
	case op == code.Athrow:
		return m.throwQuickly(), false
	case op >= code.Iaload && op <= code.Saload, op >= code.Iastore && op <= code.Sastore, op == code.Arraylength:
		return m.arrayQuickly(op), true
	case op >= code.DupX1 && op <= code.Swap:
		return m.moveQuickly(op), true
	case op < firstWithConstant, op > lastWithConstant, op.Size() < sizeWithConstant:
		return false, true
	}
	return m.constantQuickly(op), true
}

// stepQuicklyByInference is stepQuickly for inference, without branches. What [method.checkConstraints] checks has been
// checked for all instructions.
func (m *method) stepQuicklyByInference(op code.Op) bool {
	switch kind := quickRows[op].kind; {
	case kind == quickBranch:
		return false
	case kind != notQuick:
		return m.stepQuickly(op)
	case op == code.Ldc:
		return m.loadConstant(uint16(m.code.Bytecode[m.pc+1]), oldKinds|classKind|newKinds)
	case op == code.LdcW:
		return m.loadConstant(u2(m.code.Bytecode[m.pc+1:]), oldKinds|classKind|newKinds)
	case op == code.Ldc2W:
		return m.loadConstant(u2(m.code.Bytecode[m.pc+1:]), wideKinds)
	case op >= code.Getstatic && op <= code.Putfield:
		return m.fieldQuickly(op, m.constant(u2(m.code.Bytecode[m.pc+1:])))
	case op >= code.Invokevirtual && op <= code.Invokedynamic:
		c := m.constant(u2(m.code.Bytecode[m.pc+1:]))
		return c.name[0] != '<' && m.callQuickly(op, c)
	case op == code.Checkcast:
		return m.castQuickly(m.constant(u2(m.code.Bytecode[m.pc+1:])).class)
	case op == code.Instanceof:
		return m.castQuickly(tInt)
	}
	return false
}

// castQuickly replaces a reference on top of the stack.
func (m *method) castQuickly(t vtype) bool {
	top := len(m.stack) - 1
	if top < 0 || !m.stack[top].isReference() {
		return false
	}
	m.stack[top] = t
	return true
}

// branchQuickly applies a conditional branch or a goto, and leaves it to the caller to follow it.
func (m *method) branchQuickly(op code.Op) bool {
	row := &quickRows[op]
	if row.kind == quickBranch {
		return m.popAndPush(row)
	}
	references := 0
	switch op {
	case code.Ifnull, code.Ifnonnull:
		references = 1
	case code.IfAcmpeq, code.IfAcmpne:
		references = 2
	}
	return references > 0 && m.popReferences(references)
}

// popReferences pops that many references.
func (m *method) popReferences(n int) bool {
	base := len(m.stack) - n
	if base < 0 {
		return false
	}
	for _, t := range m.stack[base:] {
		if !t.isReference() {
			return false
		}
	}
	m.stack = m.stack[:base]
	return true
}

// compareQuickly applies a conditional branch that pops that many references.
func (m *method) compareQuickly(references int) bool {
	if !m.popReferences(references) {
		return false
	}
	m.matchTarget(m.pc + int(int16(u2(m.code.Bytecode[m.pc+1:]))))
	return true
}

// throwQuickly applies an athrow.
func (m *method) throwQuickly() bool {
	top := len(m.stack) - 1
	if top < 0 || !m.stack[top].isReference() || !m.assignable(m.stack[top], m.throwable) {
		return false
	}
	m.stack = m.stack[:top]
	return true
}

// arrayQuickly applies an array load, an array store, or arraylength.
func (m *method) arrayQuickly(op code.Op) bool {
	if op == code.Arraylength {
		top := len(m.stack) - 1
		if top < 0 || !m.isArray(m.stack[top]) {
			return false
		}
		m.stack[top] = tInt
		return true
	}
	n, isStore := op-code.Iaload, op >= code.Iastore
	if isStore {
		n = op - code.Iastore
	}
	components := arrayComponents[n]
	value := m.object
	if components != nil {
		if value = components[0]; value >= tBoolean {
			value = tInt
		}
	}
	var memory [2]vtype
	words, at := appendWords(memory[:0], value), len(m.stack)-2
	if isStore {
		if at -= len(words); at < 0 || !m.onStack(at+2, words) {
			return false
		}
	}
	if at < 0 || m.stack[at+1] != tInt {
		return false
	}
	array := m.stack[at]
	if components != nil && !m.isArrayOf(array, components...) || components == nil && !m.isReferenceArray(array) {
		return false
	}
	switch m.stack = m.stack[:at]; {
	case isStore:
	case components != nil:
		m.stack = append(m.stack, words...)
	case array.kind() == kindObject:
		m.stack = append(m.stack, m.list[array.index()].component)
	default:
		m.stack = append(m.stack, array)
	}
	return true
}

// moveQuickly applies swap, dup_x1 or dup2 to two values of category 1.
func (m *method) moveQuickly(op code.Op) bool {
	top := len(m.stack) - 1
	if top < 1 || !m.stack[top].isOneWord() || !m.stack[top-1].isOneWord() {
		return false
	}
	a, b, room := m.stack[top], m.stack[top-1], int(m.code.MaxStack)-len(m.stack)
	switch {
	case op == code.Swap:
		m.stack[top], m.stack[top-1] = b, a
	case op == code.DupX1 && room >= 1:
		m.stack = append(m.stack[:top-1], a, b, a)
	case op == code.Dup2 && room >= 2:
		m.stack = append(m.stack, b, a)
	default:
		return false
	}
	return true
}

// returnTypes are the types that ireturn, lreturn, freturn and dreturn pop.
var returnTypes = [...]vtype{tInt, tLong, tFloat, tDouble}

// returnQuickly applies a return.
func (m *method) returnQuickly(op code.Op) bool {
	top := len(m.stack) - 1
	switch op {
	case code.Return:
		return m.result == tTop && !(m.thisUninitialized && m.member.Name == "<init>")
	case code.Areturn:
		if m.result == tTop || top < 0 || !m.stack[top].isReference() || !m.assignable(m.stack[top], m.result) {
			return false
		}
		m.stack = m.stack[:top]
		return true
	}
	t := returnTypes[op-code.Ireturn]
	second, two := t.secondWord()
	if m.result == tTop || !m.assignable(t, m.result) || top < 0 {
		return false
	}
	if two {
		if m.stack[top] != second || top == 0 {
			return false
		}
		top--
	}
	if m.stack[top] != t {
		return false
	}
	m.stack = m.stack[:top]
	return true
}

// loadConstant pushes constant i if it has one of the kinds, and a type that its kind determines.
func (m *method) loadConstant(i uint16, want kinds) bool {
	c := m.constant(i)
	return want.has(c.tag) && c.tag != classfile.TagDynamic && m.pushQuickly(m.loadedConstant(c))
}

// pushQuickly pushes a value, if there is room; tTop stands for no value.
func (m *method) pushQuickly(t vtype) bool {
	if t == tTop {
		return true
	}
	second, two := t.secondWord()
	room := int(m.code.MaxStack) - len(m.stack)
	if room < 1 || two && room < 2 {
		return false
	}
	if m.stack = append(m.stack, t); two {
		m.stack = append(m.stack, second)
	}
	return true
}

// constantQuickly applies an instruction with a constant. The constant is checked unless an instruction of the same
// kind has used it before.
func (m *method) constantQuickly(op code.Op) bool {
	operand := m.code.Bytecode[m.pc+1:]
	c := m.constant(u2(operand))
	if c.allowed[0]>>(op-firstWithConstant)&1 == 0 && !(op == code.Invokeinterface && c.isCalledBy(operand)) {
		in, _ := code.At(m.code.Bytecode, m.pc)
		if m.checkConstraints(in, traits[op]); m.failed() {
			return false
		}
	}
	switch op {
	case code.Getstatic, code.Putstatic, code.Getfield, code.Putfield:
		return m.fieldQuickly(op, c)
	case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface, code.Invokedynamic:
		return m.callQuickly(op, c)
	case code.New:
		return !m.wantNotes && m.pushQuickly(uninitialized(m.pc))
	case code.Anewarray:
		top := len(m.stack) - 1
		if top < 0 || m.stack[top] != tInt {
			return false
		}
		m.stack[top] = m.arrayWith(c.class)
		return true
	case code.Checkcast:
		return m.castQuickly(c.class)
	case code.Instanceof:
		return m.castQuickly(tInt)
	}
	return false
}

// isCalledBy reports whether an invokeinterface with that operand may call the method.
func (c *constant) isCalledBy(operand []byte) bool {
	return 1<<c.tag&interfaceKind != 0 && int(operand[2]) == len(c.method.words)+1 && operand[3] == 0 &&
		c.name[0] != '<'
}

// onStack reports whether the words of the stack from index base on are assignable to these types. The last word is
// compared first, as on the full path.
func (m *method) onStack(base int, words []vtype) bool {
	for i := len(words) - 1; i >= 0; i-- {
		if got := m.stack[base+i]; got != words[i] && !m.fits(got, words[i]) {
			return false
		}
	}
	return true
}

// fieldQuickly applies an access to a field.
func (m *method) fieldQuickly(op code.Op, c *constant) bool {
	var value [2]vtype
	words := appendWords(value[:0], c.value)
	base := len(m.stack)
	if op == code.Putstatic || op == code.Putfield {
		if base -= len(words); base < 0 || !m.onStack(base, words) {
			return false
		}
	}
	if op >= code.Getfield {
		if base--; base < 0 || !m.isObjectOf(m.stack[base], c, c.class) {
			return false
		}
	}
	if op == code.Putstatic || op == code.Putfield {
		m.stack = m.stack[:base]
		return true
	}
	if base+len(words) > int(m.code.MaxStack) {
		return false
	}
	m.stack = append(m.stack[:base], words...)
	return true
}

// isObjectOf reports whether a member that c names, of a class want, can be accessed through an object.
func (m *method) isObjectOf(object vtype, c *constant, want vtype) bool {
	return object.isReference() && (object == want || m.fits(object, want)) &&
		(object == m.thisType || !m.isProtected(c) || m.assignableToThis(object))
}

// initialiseQuickly applies the call of a constructor. The object is the word at index base of the stack, with all
// arguments above it. It is this, or one that a new made. No handler covers the call.
func (m *method) initialiseQuickly(base int, c *constant) bool {
	object := m.stack[base]
	if object == tUninitializedThis && c.method.result == tTop && len(m.unset) == 0 &&
		(c.class == m.thisType || m.name(c.class) == m.class.SuperName()) {
		m.stack = m.stack[:base]
		m.replace(tUninitializedThis, m.thisType)
		m.thisUninitialized = false
		return true
	}
	if object.kind() != kindUninitialized || c.method.result != tTop {
		return false
	}
	made := m.code.Bytecode[object.index():]
	if code.Op(made[0]) != code.New || len(made) < sizeWithConstant || int(u2(made[1:])) >= len(m.constants) {
		return false
	}
	of := &m.constants[u2(made[1:])]
	if !of.resolved || of.tag != classfile.TagClass || of.class != c.class || m.isProtected(c) {
		return false
	}
	m.stack = m.stack[:base]
	m.replace(object, c.class)
	return true
}

// callQuickly applies a call of a method.
func (m *method) callQuickly(op code.Op, c *constant) bool {
	base := len(m.stack) - len(c.method.words)
	if base < 0 || !m.onStack(base, c.method.words) {
		return false
	}
	switch op {
	case code.Invokevirtual:
		if base--; base < 0 || !m.isObjectOf(m.stack[base], c, c.class) {
			return false
		}
	case code.Invokeinterface:
		if base--; base < 0 || !m.stack[base].isReference() || !m.fits(m.stack[base], c.class) {
			return false
		}
	case code.Invokespecial:
		if base--; base < 0 {
			return false
		}
		if c.name == "<init>" {
			return m.initialiseQuickly(base, c)
		}
		if m.stack[base] != m.thisType || m.inferring && !m.inferAssignable(m.thisType, c.class) {
			return false
		}
	}
	_, two := c.method.result.secondWord()
	if room := int(m.code.MaxStack) - base; room < 1 && c.method.result != tTop || two && room < 2 {
		return false
	}
	m.stack = m.stack[:base]
	return m.pushQuickly(c.method.result)
}
