package types

import (
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// step applies one instruction, whose operands have been checked, to the type state (JVMS 4.10.1.9, 4.10.2.2). The
// caller compares the result with where the instruction leads.
func (m *method) step(in code.Instruction, t trait) {
	op := in.Op
	if t&local != 0 {
		index, _ := in.Local()
		m.stepLocal(in, index)
		return
	}
	if e := &effects[op]; e.known {
		for i := len(e.popped) - 1; i >= 0 && !m.failed(); i-- {
			m.pop(e.popped[i])
		}
		if e.pushed != tTop && !m.failed() {
			m.push(e.pushed)
		}
		m.stepReturn(op)
		return
	}
	switch {
	case op >= code.Iaload && op <= code.Saload || op >= code.Iastore && op <= code.Sastore:
		m.stepArray(op)
	case op >= code.Pop && op <= code.Swap:
		m.stepStack(op)
	case op >= code.Getstatic && op <= code.Putfield:
		m.stepField(in)
	case op >= code.Invokevirtual && op <= code.Invokedynamic:
		m.stepInvoke(in)
	default:
		m.stepReference(in)
	}
}

// effect is what an instruction that handles only values of fixed types pops and pushes.
type effect struct {
	known  bool
	popped []vtype
	pushed vtype // tTop for nothing
}

// effects has a row for each opcode, made from the opcode table of package code. known is false for instructions that
// need more.
var effects = func() (rows [code.JsrW + 1]effect) {
	for op := range rows {
		taken, left, ok := code.Op(op).Stack()
		if !ok || strings.ContainsAny(taken+left, "AabcdR") {
			continue
		}
		rows[op].known = true
		for i := range taken {
			rows[op].popped = append(rows[op].popped, letterType(taken[i]))
		}
		if left != "" {
			rows[op].pushed = letterType(left[0])
		}
	}
	return rows
}()

// letterType returns the type that a letter of the opcode table stands for.
func letterType(letter byte) vtype {
	switch letter {
	case 'J':
		return tLong
	case 'F':
		return tFloat
	case 'D':
		return tDouble
	case 'N':
		return tNull
	}
	return tInt
}

// stepLocal applies a load, store, iinc or ret.
func (m *method) stepLocal(in code.Instruction, index int) {
	op, t := localAccess(in)
	switch {
	case op >= code.Iload && op <= code.Aload:
		m.load(index, t)
	case op >= code.Istore && op <= code.Astore:
		m.store(index, t)
	case op == code.Iinc:
		if got := m.locals[index]; got != tInt && got != tUnknown {
			m.wrongLocal(index, "int", got)
		}
	case op == code.Ret:
		if got := m.locals[index]; got.kind() != kindReturnAddress {
			m.wrongLocal(index, "a return address", got)
		}
	}
}

// stepReturn checks the type of the value that an instruction returns, if it is a return.
func (m *method) stepReturn(op code.Op) {
	if m.failed() || !op.IsReturn() {
		return
	}
	var got vtype
	switch op {
	case code.Ireturn:
		got = tInt
	case code.Lreturn:
		got = tLong
	case code.Freturn:
		got = tFloat
	case code.Dreturn:
		got = tDouble
	}
	m.checkResult(got)
	if op == code.Return && !m.inferring && m.member.Name == "<init>" && m.thisUninitialized {
		m.fail(ruleTypes, "a call of another constructor before return", "none on some path")
	}
}

// checkResult checks that the method may return a value of type got; tTop stands for none.
func (m *method) checkResult(got vtype) {
	if (m.result == tTop) != (got == tTop) || got != m.result && !m.fits(got, m.result) {
		want := m.describe(m.result)
		if m.result == tTop {
			want = "no result"
		}
		m.fail(ruleTypes, want, m.describe(got))
	}
}

// arrayComponents are the component types of the eight array loads and stores, in the order of their opcodes; nil
// stands for references.
var arrayComponents = [...][]vtype{{tInt}, {tLong}, {tFloat}, {tDouble}, nil, {tByte, tBoolean}, {tChar}, {tShort}}

var arrayNames = [...]string{"int[]", "long[]", "float[]", "double[]", "an array of references", "byte[] or boolean[]",
	"char[]", "short[]"}

// stepArray applies an array load or store.
func (m *method) stepArray(op code.Op) {
	n := op - code.Iaload
	isStore := op >= code.Iastore
	if isStore {
		n = op - code.Iastore
	}
	components := arrayComponents[n]
	var value vtype // as it is on the stack
	if components != nil {
		value = components[0]
		if value >= tBoolean {
			value = tInt
		}
	}
	switch {
	case isStore && components != nil:
		m.pop(value)
	case isStore:
		m.pop(m.object)
	}
	m.pop(tInt)
	array := m.popReference(true)
	if components != nil && !m.isArrayOf(array, components...) || components == nil && !m.isReferenceArray(array) {
		m.wrongOnStack(arrayNames[n], array)
	}
	if isStore || m.failed() {
		return
	}
	if components == nil {
		value = array
		if array.kind() == kindObject {
			value = m.list[array.index()].component
		}
	}
	m.push(value)
}

// stepStack applies an instruction that only moves words of the stack. It never splits a value of two words.
func (m *method) stepStack(op code.Op) {
	var words []vtype // what goes back, lowest first
	switch op {
	case code.Pop:
		m.popOneWord()
	case code.Pop2:
		m.popTwoWords()
	case code.Dup:
		a := m.popOneWord()
		words = []vtype{a, a}
	case code.DupX1:
		a, b := m.popOneWord(), m.popOneWord()
		words = []vtype{a, b, a}
	case code.DupX2:
		a := m.popOneWord()
		b, c := m.popTwoWords()
		words = []vtype{a, c, b, a}
	case code.Dup2:
		a, b := m.popTwoWords()
		words = []vtype{b, a, b, a}
	case code.Dup2X1:
		a, b := m.popTwoWords()
		c := m.popOneWord()
		words = []vtype{b, a, c, b, a}
	case code.Dup2X2:
		a, b := m.popTwoWords()
		c, d := m.popTwoWords()
		words = []vtype{b, a, d, c, b, a}
	case code.Swap:
		a, b := m.popOneWord(), m.popOneWord()
		words = []vtype{a, b}
	}
	for _, w := range words {
		if !m.failed() {
			m.pushWord(w)
		}
	}
}

// stepReference applies the remaining instructions: those that pop or push references.
func (m *method) stepReference(in code.Instruction) {
	switch op := in.Op; op {
	case code.Ldc, code.LdcW, code.Ldc2W:
		m.push(m.loadedConstant(m.constant(in.Constant())))
	case code.IfAcmpeq, code.IfAcmpne:
		m.popReference(!m.inferring)
		m.popReference(!m.inferring)
	case code.Ifnull, code.Ifnonnull:
		m.popReference(true)
	case code.Monitorenter, code.Monitorexit:
		m.popReference(!m.inferring)
	case code.Areturn:
		if got := m.popReference(false); !m.failed() {
			m.checkResult(got)
		}
	case code.Athrow:
		m.pop(m.throwable)
	case code.Arraylength:
		if got := m.popReference(false); got != tNull && got != tUnknown && !m.isArray(got) {
			m.wrongOnStack("an array", got)
		}
		m.push(tInt)
	case code.New:
		m.stepNew(in)
	case code.Newarray:
		m.pop(tInt)
		m.push(m.loadedType(loadedArrays + in.U1(0) - 4))
	case code.Anewarray:
		m.pop(tInt)
		m.push(m.arrayWith(m.constant(in.Constant()).class))
	case code.Checkcast:
		m.pop(m.object)
		m.push(m.constant(in.Constant()).class)
	case code.Instanceof:
		m.pop(m.object)
		m.push(tInt)
	case code.Multianewarray:
		for range in.U1(2) {
			m.pop(tInt)
		}
		m.push(m.constant(in.Constant()).class)
	case code.Jsr, code.JsrW:
		target, _ := in.Branch()
		m.push(returnAddress(target))
	}
}

// arrayWith returns the array type with that component.
func (k *checker) arrayWith(component vtype) vtype {
	if k.isArray(component) {
		return k.of("[" + k.name(component))
	}
	return k.arrayOf(component, 1)
}

// The types of values that instructions push without naming a type: numbers for loadedType, and the names. The arrays
// are in the order of the operand of newarray, from 4 on (JVMS table 6.5.newarray-A).
const (
	loadedString = iota
	loadedClass
	loadedMethodHandle
	loadedMethodType
	loadedArrays
	loadedTypes = loadedArrays + 8
)

var loadedNames = [loadedTypes]string{
	"java/lang/String", "java/lang/Class", "java/lang/invoke/MethodHandle", "java/lang/invoke/MethodType",
	"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J",
}

// loadedType returns the type with that number.
func (k *checker) loadedType(number int) vtype {
	if k.loaded[number] == tTop {
		k.loaded[number] = k.of(loadedNames[number])
	}
	return k.loaded[number]
}

// loadedConstant returns the type of the value that ldc, ldc_w or ldc2_w pushes for a constant.
func (m *method) loadedConstant(c *constant) vtype {
	switch c.tag {
	case classfile.TagInteger:
		return tInt
	case classfile.TagFloat:
		return tFloat
	case classfile.TagLong:
		return tLong
	case classfile.TagDouble:
		return tDouble
	case classfile.TagClass:
		return m.loadedType(loadedClass)
	case classfile.TagMethodHandle:
		return m.loadedType(loadedMethodHandle)
	case classfile.TagMethodType:
		return m.loadedType(loadedMethodType)
	case classfile.TagDynamic:
		return c.value
	}
	return m.loadedType(loadedString)
}

// stepNew pushes an object that is not initialised. Its type holds only the position of the new. Inference therefore
// demands that an older object of the same new is gone.
func (m *method) stepNew(in code.Instruction) {
	made := uninitialized(in.PC)
	if !m.inferring && m.wantNotes && slices.Contains(m.stack, made) {
		m.note(m.member, in.PC, ruleTypes, "no object of the same new on the stack", m.describe(made))
	}
	if m.inferring {
		for _, t := range m.stack {
			if t == made {
				m.fail(ruleInference, "no object of the same new on the stack", m.describe(made))
				return
			}
		}
		m.replace(made, tTop)
	}
	m.push(made)
}

// stepField applies an access to a field.
func (m *method) stepField(in code.Instruction) {
	c := m.constant(in.Constant())
	isPut := in.Op == code.Putstatic || in.Op == code.Putfield
	if isPut {
		m.popFieldValue(in.Op, c)
	}
	if in.Op >= code.Getfield {
		m.stepFieldObject(in.Op, c)
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
		m.setField(c)
	}
	if !m.fits(object, c.class) {
		m.wrongOnStack(m.describe(c.class), object)
		return
	}
	if object != m.thisType && m.isProtected(c) && !m.assignableToThis(object) {
		m.fail(ruleProtected, m.class.Name()+" or a subclass, as the field is protected", m.describe(object))
	}
}

// setField notes that a field of this is set.
func (m *method) setField(c *constant) {
	set := func(n uint16) bool {
		f := &m.class.Fields()[n]
		return f.Name == c.name && f.Descriptor == c.descriptor
	}
	if slices.ContainsFunc(m.unset, set) {
		m.unset = slices.DeleteFunc(slices.Clone(m.unset), set)
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
	fields := m.class.Fields()
	for i := range fields {
		if fields[i].Name == c.name && fields[i].Descriptor == c.descriptor {
			return true
		}
	}
	return false
}

// assignableToThis reports whether a value can be assigned to the checked class, where access to a protected member
// depends on that.
func (m *method) assignableToThis(t vtype) bool {
	if m.inferring {
		return m.inferAssignable(t, m.thisType)
	}
	return m.assignableInOwnClass(t)
}
