package types

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// The quick way is what nearly all instructions go. It does what [method.operands] and [method.step] would do where they
// find nothing wrong, and asks the hierarchy the same questions in the same order. Whatever is in doubt, it leaves as it
// was: then the instruction goes the other way, which tells what is wrong. So it can say yes only.

// quickWay says what the quick way knows of an opcode.
type quickWay uint8

const (
	notQuick quickWay = iota
	quickFixed
	quickBranch // quickFixed with a target in two bytes
	quickLoad
	quickStore
	quickIinc
	quickPop
	quickDup
)

// quickRow is the quick way of an opcode.
type quickRow struct {
	way   quickWay
	local int8 // of a load or store; -1 if the operand names it
	// t is what a load or store moves; tNull is any reference.
	t vtype
	// What is taken off the stack and left there, word by word, lowest first.
	taken, left []vtype
}

var quickRows = func() (rows [256]quickRow) {
	for op := code.Nop; op.Known(); op++ {
		row := &rows[op]
		switch e := &effects[op]; {
		case traits[op]&local != 0:
			row.setLocal(op)
		case op == code.Pop:
			row.way = quickPop
		case op == code.Dup:
			row.way = quickDup
		case !e.known || op.IsReturn() || op == code.Tableswitch || op == code.Lookupswitch || op == code.GotoW:
		default:
			row.way = quickFixed
			if traits[op]&branching != 0 {
				row.way = quickBranch
			}
			for _, t := range e.taken {
				row.taken = appendWords(row.taken, t)
			}
			if e.left != tTop {
				row.left = appendWords(nil, e.left)
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

// setLocal is about loads and stores.
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
		row.way, row.t = quickLoad, localTypes[plain-code.Iload]
	case plain >= code.Istore && plain <= code.Astore:
		row.way, row.t = quickStore, localTypes[plain-code.Istore]
	case plain == code.Iinc:
		row.way = quickIinc
	}
}

// quickly lets the instruction at the current position act, if it can: it then leads to the next and to no other.
func (m *method) quickly(op code.Op) bool {
	row := &quickRows[op]
	switch top := len(m.stack); row.way {
	case quickFixed:
		return m.exchange(row)
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

// exchange takes exactly the words of the row off the stack and leaves its others there.
func (m *method) exchange(row *quickRow) bool {
	base := len(m.stack) - len(row.taken)
	if base < 0 || base+len(row.left) > int(m.code.MaxStack) {
		return false
	}
	for i, t := range row.taken {
		if m.stack[base+i] != t {
			return false
		}
	}
	m.stack = append(m.stack[:base], row.left...)
	return true
}

// quickLocal gives the local variable of the current instruction.
func (m *method) quickLocal(row *quickRow) int {
	if row.local >= 0 {
		return int(row.local)
	}
	return int(m.code.Bytecode[m.pc+1])
}

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

func (m *method) storeQuickly(row *quickRow) bool {
	index, top := m.quickLocal(row), len(m.stack)-1
	if top < 0 || index >= int(m.code.MaxLocals) {
		return false
	}
	got, old := m.stack[top], m.locals[index]
	if got != row.t && (row.t != tNull || !got.isObject()) {
		return false // or of two words
	}
	if old.isSecondWord() || old == tLong || old == tDouble {
		return false
	}
	m.stack = m.stack[:top]
	m.setLocal(index, got)
	return true
}

// uncovered says whether no handler covers the current position, and not even many would have to be looked at.
func (m *method) uncovered() bool {
	if len(m.handlers) == 0 || m.pc < m.uncoveredTo {
		return true
	}
	if len(m.handlers) >= wordsPerStep {
		return false // each look is a step
	}
	to := len(m.starts)
	for i := range m.handlers {
		h := &m.handlers[i]
		if h.covers(m.pc) {
			return false
		}
		if h.start > m.pc {
			to = min(to, h.start)
		}
	}
	m.uncoveredTo = to
	return true
}

// typeQuickly is quickly for type checking, which knows more: it says too whether the instruction leads to the next.
func (m *method) typeQuickly(op code.Op) (done, flows bool) {
	row := &quickRows[op]
	if row.way == quickBranch {
		if !m.exchange(row) {
			return false, false
		}
		m.matchTarget(m.pc + int(int16(u2(m.code.Bytecode[m.pc+1:]))))
		return true, op != code.Goto
	}
	if row.way != notQuick {
		return m.quickly(op), true
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

// compareQuickly takes as many references off the stack and branches.
func (m *method) compareQuickly(references int) bool {
	base := len(m.stack) - references
	if base < 0 {
		return false
	}
	for _, t := range m.stack[base:] {
		if !t.isReference() {
			return false
		}
	}
	m.stack = m.stack[:base]
	m.matchTarget(m.pc + int(int16(u2(m.code.Bytecode[m.pc+1:]))))
	return true
}

func (m *method) throwQuickly() bool {
	top := len(m.stack) - 1
	if top < 0 || !m.stack[top].isReference() || !m.assignable(m.stack[top], m.throwable) {
		return false
	}
	m.stack = m.stack[:top]
	return true
}

// arrayQuickly is about loads and stores of an array, and its length.
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

// moveQuickly is about what moves two values of one word each.
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

// returnTypes are what the six returns take off the stack, but for areturn and return.
var returnTypes = [...]vtype{tInt, tLong, tFloat, tDouble}

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

// loadConstant pushes constant i if it is of one of these kinds, of a type that its kind tells.
func (m *method) loadConstant(i uint16, want kinds) bool {
	c := m.constant(i)
	return want.has(c.tag) && c.tag != classfile.TagDynamic && m.pushQuickly(m.loadedConstant(c))
}

// pushQuickly pushes a value, tTop for none, if there is room.
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

// constantQuickly is about instructions with a constant, which is checked if none of its kind has had it before.
func (m *method) constantQuickly(op code.Op) bool {
	operand := m.code.Bytecode[m.pc+1:]
	c := m.constant(u2(operand))
	if c.allowed[0]>>(op-firstWithConstant)&1 == 0 && !(op == code.Invokeinterface && c.isCalledBy(operand)) {
		in, _ := code.At(m.code.Bytecode, m.pc)
		if m.operands(in, traits[op]); m.failed() {
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
	case code.Checkcast, code.Instanceof:
		top := len(m.stack) - 1
		if top < 0 || !m.stack[top].isReference() {
			return false
		}
		if m.stack[top] = tInt; op == code.Checkcast {
			m.stack[top] = c.class
		}
		return true
	}
	return false
}

// isCalledBy says whether an invokeinterface with that operand may call the method.
func (c *constant) isCalledBy(operand []byte) bool {
	return 1<<c.tag&interfaceKind != 0 && int(operand[2]) == len(c.method.words)+1 && operand[3] == 0 && c.name[0] != '<'
}

// onStack says whether the words from base on are of these types or can be assigned to them, asked from the last on.
func (m *method) onStack(base int, words []vtype) bool {
	for i := len(words) - 1; i >= 0; i-- {
		if got := m.stack[base+i]; got != words[i] && !m.assignable(got, words[i]) {
			return false
		}
	}
	return true
}

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

// isObjectOf says whether a member can be asked of an object.
func (m *method) isObjectOf(object vtype, c *constant, want vtype) bool {
	return object.isReference() && (object == want || m.assignable(object, want)) && (object == m.thisType || !m.isProtected(c) || m.assignableInOwnClass(object))
}

// initialiseQuickly calls a constructor on the object at word base, this or one that a new has made, with all arguments
// above it. No handler covers the call.
func (m *method) initialiseQuickly(base int, c *constant) bool {
	object := m.stack[base]
	if object == tUninitializedThis && c.method.result == tTop && (c.class == m.thisType || m.name(c.class) == m.class.SuperName()) {
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
	if !of.known || of.tag != classfile.TagClass || of.class != c.class || m.isProtected(c) {
		return false
	}
	m.stack = m.stack[:base]
	m.replace(object, c.class)
	return true
}

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
		if base--; base < 0 || !m.stack[base].isReference() || !m.assignable(m.stack[base], c.class) {
			return false
		}
	case code.Invokespecial:
		if base--; base < 0 {
			return false
		}
		if c.name == "<init>" {
			return m.initialiseQuickly(base, c)
		}
		if m.stack[base] != m.thisType {
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
