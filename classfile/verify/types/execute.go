package types

import (
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// step checks what the current instruction demands of its operands whatever the types are (JVMS 4.9.1), and applies it
// to the type state unless that is unknown (JVMS 4.10.1.9, 4.10.2.2). The caller compares the result with where the
// instruction leads.
func (m *method) step(row *opRow) {
	if m.stateUnknown && row.form < formLoad {
		return
	}
	switch row.form {
	case formFixed:
		if (row.pops == 0 || m.popWords(row.popped[:row.pops])) && row.value != tTop {
			m.push(row.value)
		}
	case formMove:
		m.moveWords(row)
	case formArrayLoad, formArrayStore:
		m.stepArray(row)
	case formArrayLength:
		if got := m.popReference(false); got != tNull && got != tUnknown && !m.isArray(got) {
			m.wrongOnStack("an array", got)
		}
		m.push(tInt)
	case formReferences:
		for range row.pops {
			m.popReference(!m.inferring || row.op >= code.Ifnull)
		}
	case formReturn:
		m.stepReturn(row)
	case formLoad:
		m.load(row, m.localOf(row))
	case formStore:
		m.store(row, m.localOf(row))
	case formIinc, formRet:
		m.useLocal(row, m.localOf(row))
	case formLdc:
		if c := m.operand(row); c != nil {
			m.push(c.value)
		}
	case formField:
		if c := m.operand(row); c != nil {
			m.stepField(row.op, c)
		}
	case formInvoke:
		if c := m.operand(row); c != nil {
			m.stepInvoke(row.op, c)
		}
	case formNew:
		if c := m.operand(row); c != nil {
			m.stepNew()
		}
	case formClass:
		if c := m.operand(row); c != nil {
			m.stepClass(row, c)
		}
	default:
		m.stepOther(row)
	}
	if len(m.stack) > m.maxStack && !m.stateUnknown {
		m.fail(ruleTypes, fmt.Sprintf("at most %d words on the stack (max_stack)", m.maxStack), fmt.Sprint(len(m.stack)))
	}
}

// stepOther applies an instruction with an operand that is no constant.
func (m *method) stepOther(row *opRow) {
	in, _ := code.At(m.code.Bytecode, m.pc) // prepare has decoded it
	switch row.form {
	case formNewarray:
		if t := in.U1(0); t < 4 || t > 11 {
			m.fail(ruleInstructions, "an array type from 4 to 11", fmt.Sprint(t))
		} else if !m.stateUnknown && m.popWords(row.popped[:row.pops]) {
			const arrays = "[Z[C[F[D[B[S[I[J" // JVMS table 6.5.newarray-A, from 4 on
			m.push(m.of(arrays[2*(t-4) : 2*(t-3)]))
		}
	case formSwitch:
		if m.checkSwitch(in); !m.failed() && !m.stateUnknown {
			m.pop(tInt)
		}
	case formJsr:
		if !m.inferring {
			m.fail(ruleInstructions, "no "+row.op.String()+" from class file version 51 on", "one")
		} else if !m.stateUnknown {
			target, _ := in.Branch()
			m.push(returnAddress(target))
		}
	}
}

// moveWords applies an instruction that only moves words of the stack. It never splits a value of two words.
func (m *method) moveWords(row *opRow) {
	var words [4]vtype // from the top
	n := 0
	move := &moves[row.op]
	for _, size := range move.taken {
		if size == 1 {
			words[n] = m.popOneWord()
		} else {
			words[n], words[n+1] = m.popTwoWords()
		}
		n += size
	}
	for _, word := range move.pushed {
		m.stack = append(m.stack, words[word])
	}
}

var arrayNames = [...]string{"int[]", "long[]", "float[]", "double[]", "an array of references", "byte[] or boolean[]",
	"char[]", "short[]"}

// stepArray applies an array load or store.
func (m *method) stepArray(row *opRow) {
	if !m.popWords(row.popped[:row.pops]) {
		return
	}
	array := m.popReference(true)
	value := array // a component of null is null, that of an unknown array is unknown
	if array != tNull && array != tUnknown {
		if value = tTop; m.isArray(array) {
			value = m.list[array.index()].component
		}
		if !row.kinds.has(value) {
			m.wrongOnStack(arrayNames[(row.op-code.Iaload)%(code.Iastore-code.Iaload)], array)
		}
	}
	switch {
	case row.form == formArrayStore:
	case row.value == tNull:
		m.push(value)
	default:
		m.push(row.value)
	}
}

// localOf returns the local variable that the current instruction reads or writes.
func (m *method) localOf(row *opRow) int {
	if row.local >= 0 {
		return int(row.local)
	}
	operand := m.code.Bytecode[m.pc:]
	if code.Op(operand[0]) == code.Wide {
		return int(u2(operand[2:]))
	}
	return int(operand[1])
}

// checkLocal checks that a local, and the next one for a value of two words, is below max_locals.
func (m *method) checkLocal(row *opRow, index int) {
	if last := index + int(row.more); last >= len(m.locals) {
		m.fail(ruleInstructions, fmt.Sprintf("a local below max_locals %d", len(m.locals)), fmt.Sprint(last))
	}
}

// load pushes a local variable.
func (m *method) load(row *opRow, index int) {
	if index+int(row.more) >= len(m.locals) || m.stateUnknown {
		m.checkLocal(row, index)
		return
	}
	got, want := m.locals[index], row.value
	switch second, two := want.secondWord(); {
	case want == tNull:
		if !objects.has(got) && got != tUnknown {
			m.wrongLocal(index, "a reference", got)
		}
		want = got
	case got == tUnknown:
	case got != want:
		m.wrongLocal(index, m.describe(want), got)
	case two && m.locals[index+1] != second:
		m.wrongLocal(index+1, m.describe(second), m.locals[index+1])
	}
	m.push(want)
}

// store pops a value into a local variable.
func (m *method) store(row *opRow, index int) {
	if index+int(row.more) >= len(m.locals) || m.stateUnknown {
		m.checkLocal(row, index)
		return
	}
	if len(m.handlers) > 0 && !m.inferring {
		m.matchHandlers(false) // a handler sees the locals before the store
	}
	value := row.value
	switch {
	case m.failed():
	case value != tNull:
		m.popWords(row.popped[:row.pops])
	default:
		if value = m.popWord(); !objects.has(value) && value != tUnknown &&
			!(m.inferring && value.kind() == kindReturnAddress) {
			m.wrongOnStack("a reference", value)
		}
	}
	if m.failed() {
		return
	}
	second, two := value.secondWord()
	last := index
	if two {
		last++
	}
	// If one word of a long or double is overwritten, the other word becomes unusable.
	if m.locals[index].isSecondWord() && index > 0 {
		m.setLocal(index-1, tTop)
	}
	if m.locals[last].isWide() && last+1 < len(m.locals) {
		m.setLocal(last+1, tTop)
	}
	m.setLocal(index, value)
	if two {
		m.setLocal(last, second)
	}
}

// useLocal applies an iinc or ret.
func (m *method) useLocal(row *opRow, index int) {
	if row.form == formRet && !m.inferring {
		m.fail(ruleInstructions, "no ret from class file version 51 on", "one")
	}
	if index+int(row.more) >= len(m.locals) || m.stateUnknown {
		m.checkLocal(row, index)
		return
	}
	switch got := m.locals[index]; {
	case row.form == formIinc && got != tInt && got != tUnknown:
		m.wrongLocal(index, "int", got)
	case row.form == formRet && got.kind() != kindReturnAddress:
		m.wrongLocal(index, "a return address", got)
	}
}

// stepReturn applies a return, which must return what the method does.
func (m *method) stepReturn(row *opRow) {
	got := row.value
	if got == tNull {
		got = m.popReference(false)
	} else {
		m.popWords(row.popped[:row.pops])
	}
	switch {
	case m.failed():
	case (m.result == tTop) != (got == tTop) || got != m.result && !m.fits(got, m.result):
		want := m.describe(m.result)
		if m.result == tTop {
			want = "no result"
		}
		m.fail(ruleTypes, want, m.describe(got))
	case got == tTop && !m.inferring && m.member.Name == "<init>" && m.thisUninitialized:
		m.fail(ruleTypes, "a call of another constructor before return", "none on some path")
	}
}

// stepClass applies an instruction whose constant is the class c.
func (m *method) stepClass(row *opRow, c *constant) {
	if !m.popWords(row.popped[:row.pops]) {
		return
	}
	switch row.op {
	case code.Instanceof:
		m.push(tInt)
		return
	case code.Anewarray:
		m.push(m.arrayWith(c.class))
		return
	case code.Multianewarray:
		for range m.code.Bytecode[m.pc+sizeWithConstant] {
			m.pop(tInt)
		}
	}
	m.push(c.class)
}

// arrayWith returns the array type with that component.
func (k *checker) arrayWith(component vtype) vtype {
	if k.isArray(component) {
		return k.of("[" + k.name(component))
	}
	return k.arrayOf(component, 1)
}

// stepNew pushes an object that is not initialised. Its type holds only the position of the new. Inference therefore
// demands that an older object of the same new is gone.
func (m *method) stepNew() {
	made := uninitialized(m.pc)
	if m.inferring && slices.Contains(m.stack, made) {
		m.fail(ruleInference, "no object of the same new on the stack", m.describe(made))
	} else if m.inferring {
		m.replace(made, tTop)
	}
	m.push(made)
}

// replace changes each word of one type into another type, as the initialisation of an object does.
func (m *method) replace(old, now vtype) {
	for i, t := range m.locals[:m.used] {
		if t == old {
			m.setLocal(i, now)
			m.replaced = append(m.replaced, i)
		}
	}
	for i, t := range m.stack {
		if t == old {
			m.stack[i] = now
		}
	}
}

// stepField applies an access to the field c.
func (m *method) stepField(op code.Op, c *constant) {
	isPut := op == code.Putstatic || op == code.Putfield
	if isPut {
		m.popFieldValue(op, c)
	}
	if op >= code.Getfield {
		m.stepFieldObject(op, c)
	}
	if !isPut && !m.failed() {
		m.push(c.value)
	}
}

// stepFieldObject pops the object of getfield or putfield. A constructor may set fields that its class declares before
// it calls another constructor.
func (m *method) stepFieldObject(op code.Op, c *constant) {
	object := m.popWord()
	if m.failed() {
		return
	}
	if op == code.Putfield && object == tUninitializedThis && m.isOwnField(c) {
		object = m.thisType
	}
	if !m.fits(object, c.class) {
		m.wrongOnStack(m.describe(c.class), object)
		return
	}
	if object != m.thisType && m.isProtected(c) && !m.assignableToThis(object) {
		m.fail(ruleProtected, m.class.Name()+" or a subclass, as the field is protected", m.describe(object))
	}
}

// popFieldValue pops the value that is stored in a field. HotSpot's inference treats it as it treats the object: if
// that may be an uninitialised this, so may the value.
func (m *method) popFieldValue(op code.Op, c *constant) {
	top := len(m.stack) - 1
	if m.inferring && op == code.Putfield && top >= 0 && m.stack[top] == tUninitializedThis && m.isOwnField(c) {
		m.stack[top] = m.thisType
	}
	m.pop(c.value)
}

// isOwnField reports whether the class declares the field.
func (m *method) isOwnField(c *constant) bool {
	if c.class != m.thisType {
		return false
	}
	name, descriptor := m.nameAndType(c)
	return slices.ContainsFunc(m.class.Fields(), func(f classfile.Member) bool {
		return f.Name == name && f.Descriptor == descriptor
	})
}

// assignableToThis reports whether a value can be assigned to the checked class, where access to a protected member
// depends on that.
func (m *method) assignableToThis(t vtype) bool {
	if m.inferring {
		return m.inferAssignable(t, m.thisType)
	}
	return m.assignableInOwnClass(t)
}
