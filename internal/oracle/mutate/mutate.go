package mutate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Mutator plants faults in one class.
type Mutator struct {
	class *classfile.Class
	data  []byte // of the class as it is
	rng   *rand.Rand
	// donor is another class, of which parts are taken; nil without one.
	donor *Mutator
	// bodies are the methods that have code.
	bodies []body
}

// body is the code of one method, with the positions of its parts in the class file.
type body struct {
	descriptor string // of the method, behind its flag of static methods
	code       classfile.Code
	attribute  int   // offset of Code's info
	pcs        []int // of the instructions
	frames     classfile.Attribute
	frameSpans []span
	types      []int // offsets of verification_type_info
}

type span struct{ from, to int }

// New returns a mutator of a class. Methods that cannot be decoded are left alone.
func New(class *classfile.Class, rng *rand.Rand) *Mutator {
	m := &Mutator{class: class, data: class.Bytes(), rng: rng}
	methods := class.Methods()
	for i := range methods {
		c, ok, err := class.Code(&methods[i])
		if err != nil || !ok {
			continue
		}
		b := body{code: c, descriptor: fmt.Sprint(methods[i].AccessFlags&classfile.AccStatic, methods[i].Descriptor)}
		a, _ := classfile.FindAttribute(methods[i].Attributes, "Code")
		b.attribute = a.Offset
		for in, err := range code.Instructions(c.Bytecode) {
			if err == nil {
				b.pcs = append(b.pcs, in.PC)
			}
		}
		if len(b.pcs) == 0 {
			continue
		}
		if b.frames, ok = classfile.FindAttribute(c.Attributes, "StackMapTable"); ok {
			b.splitFrames()
		}
		m.bodies = append(m.bodies, b)
	}
	return m
}

func put2(b []byte, v int) { binary.BigEndian.PutUint16(b, uint16(v)) }

// Cross makes another class the one that parts are taken from.
func (m *Mutator) Cross(donor *Mutator) { m.donor = donor }

func (m *Mutator) pick() *body { return &m.bodies[m.rng.IntN(len(m.bodies))] }

// instruction picks a random instruction of a method.
func (m *Mutator) instruction() (*body, code.Instruction) {
	b := m.pick()
	in, _ := code.At(b.code.Bytecode, b.pcs[m.rng.IntN(len(b.pcs))])
	return b, in
}

// find picks random instructions until the function accepts one.
func (m *Mutator) find(wanted func(code.Instruction) bool) (*body, code.Instruction, bool) {
	for range 30 {
		if b, in := m.instruction(); wanted(in) {
			return b, in, true
		}
	}
	return nil, code.Instruction{}, false
}

// opcode replaces an opcode by another, mostly one with the same operands.
func (m *Mutator) opcode(data []byte) bool {
	b, in := m.instruction()
	at := b.code.Offset + in.PC
	op := code.Op(m.rng.IntN(256))
	for range 100 {
		if m.rng.IntN(20) == 0 || op.Known() && op.Operand() == in.Op.Operand() {
			break
		}
		op = code.Op(m.rng.IntN(256))
	}
	data[at] = byte(op)
	return op != in.Op
}

// operand changes a local, a number or a type that stands behind an opcode, or the number in the opcode.
func (m *Mutator) operand(data []byte) bool {
	b, in, ok := m.find(func(in code.Instruction) bool {
		_, local := in.Local()
		return local || in.Op.Operand() == code.OperandByte || in.Op == code.Invokeinterface || in.Op == code.Multianewarray
	})
	if !ok {
		return false
	}
	at := b.code.Offset + in.PC
	other := m.rng.IntN(int(b.code.MaxLocals) + 2)
	switch {
	case in.Op == code.Invokeinterface:
		data[at+3+m.rng.IntN(2)] += byte(1 + m.rng.IntN(3))
	case in.Op == code.Multianewarray:
		data[at+3] = byte(m.rng.IntN(4))
	case in.Op == code.Wide:
		put2(data[at+2:], other)
	case in.Size > 1 && in.Op.Operand() == code.OperandByte:
		data[at+1] = byte(m.rng.IntN(14))
	case in.Size > 1:
		data[at+1] = byte(other)
	default:
		family := code.Iload0
		if in.Op >= code.Istore0 {
			family = code.Istore0
		}
		data[at] = byte(int(family) + int(in.Op-family)&^3 + m.rng.IntN(4))
	}
	return data[at] != byte(in.Op) || in.Size > 1
}

// branch changes the target of a branch or of a case of a switch, mostly to another instruction.
func (m *Mutator) branch(data []byte) bool {
	b, in, ok := m.find(func(in code.Instruction) bool {
		for range in.Targets() {
			return true
		}
		return false
	})
	if !ok {
		return false
	}
	target := b.pcs[m.rng.IntN(len(b.pcs))]
	switch {
	case m.rng.IntN(10) == 0:
		target = m.rng.IntN(len(b.code.Bytecode) + 10)
	case m.rng.IntN(2) == 0 && len(b.frameSpans) > 0: // where a frame is
		target = b.framePC(m.rng.IntN(len(b.frameSpans)))
	}
	at := b.code.Offset + in.PC + 1
	switch in.Op.Operand() {
	case code.OperandBranch:
		put2(data[at:], target-in.PC)
	case code.OperandBranchW:
		binary.BigEndian.PutUint32(data[at:], uint32(int32(target-in.PC)))
	default:
		var places []int
		for place := range in.SwitchOffsets() {
			places = append(places, place)
		}
		binary.BigEndian.PutUint32(data[b.code.Offset+places[m.rng.IntN(len(places))]:], uint32(int32(target-in.PC)))
	}
	return true
}

// constantIndex changes the constant that an instruction names, mostly to one of the same kind.
func (m *Mutator) constantIndex(data []byte) bool {
	b, in, ok := m.find(func(in code.Instruction) bool { return in.Constant() != 0 })
	if !ok {
		return false
	}
	pool := m.class.ConstantPool()
	tag := pool.Tag(in.Constant())
	other := 0
	for range 200 {
		other = m.rng.IntN(pool.Len())
		if pool.Tag(uint16(other)) == tag || m.rng.IntN(100) == 0 {
			break
		}
	}
	at := b.code.Offset + in.PC + 1
	if in.Op == code.Ldc {
		data[at] = byte(other)
	} else {
		put2(data[at:], other)
	}
	return other != int(in.Constant())
}

// constantKind changes the tag of a constant to one of the same size, or what it refers to.
func (m *Mutator) constantKind(data []byte) bool {
	pool := m.class.ConstantPool()
	i := 1 + m.rng.IntN(pool.Len()-1)
	tag := pool.Tag(uint16(i))
	if tag == 0 || tag == classfile.TagUtf8 {
		return false
	}
	at := pool.Offset(i)
	groups := [][]classfile.Tag{
		{classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagNameAndType,
			classfile.TagInvokeDynamic,
			classfile.TagDynamic, classfile.TagInteger, classfile.TagFloat},
		{classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage},
		{classfile.TagLong, classfile.TagDouble},
	}
	if tag == classfile.TagMethodHandle {
		data[at+1] = byte(m.rng.IntN(11))
		return true
	}
	if m.rng.IntN(2) == 0 && tag != classfile.TagLong && tag != classfile.TagDouble && tag != classfile.TagInteger &&
		tag != classfile.TagFloat {
		return m.reference(data, i, tag, at)
	}
	for _, group := range groups {
		for _, t := range group {
			if t == tag {
				data[at] = byte(group[m.rng.IntN(len(group))])
				return data[at] != byte(tag)
			}
		}
	}
	return false
}

// reference changes the constant that another constant refers to, mostly to one of the same kind.
func (m *Mutator) reference(data []byte, i int, tag classfile.Tag, at int) bool {
	pool := m.class.ConstantPool()
	at++
	if len(pool.Raw(uint16(i))) == 4 && m.rng.IntN(2) == 0 {
		at += 2
	}
	old := binary.BigEndian.Uint16(data[at:])
	for range 200 {
		other := m.rng.IntN(pool.Len())
		if pool.Tag(uint16(other)) == pool.Tag(old) && other != int(old) || m.rng.IntN(150) == 0 {
			put2(data[at:], other)
			return true
		}
	}
	return false
}

// descriptor changes a character of a descriptor, or swaps the descriptor of a NameAndType for another.
func (m *Mutator) descriptor(data []byte) bool {
	pool := m.class.ConstantPool()
	for range 200 {
		i := uint16(1 + m.rng.IntN(pool.Len()-1))
		if pool.Tag(i) != classfile.TagNameAndType {
			continue
		}
		at := pool.Offset(int(i)) + 3
		if m.rng.IntN(2) == 0 {
			j := uint16(1 + m.rng.IntN(pool.Len()-1))
			if pool.Tag(j) == classfile.TagNameAndType && i != j {
				copy(data[at:at+2], pool.Raw(j)[2:])
				return true
			}
			continue
		}
		text := binary.BigEndian.Uint16(data[at:])
		s, err := pool.Utf8(text)
		if err != nil || s == "" {
			continue
		}
		const letters = "IJFDZBCSV[L();/"
		data[pool.Offset(int(text))+3+m.rng.IntN(len(s))] = letters[m.rng.IntN(len(letters))]
		return true
	}
	return false
}

// exceptionRange changes an entry of an exception table, mostly to the positions of other instructions.
func (m *Mutator) exceptionRange(data []byte) bool {
	for range 30 {
		b := m.pick()
		n := len(b.code.ExceptionTable) / 8
		if n == 0 {
			continue
		}
		at := b.code.Offset + len(b.code.Bytecode) + 2 + 8*m.rng.IntN(n)
		field := m.rng.IntN(4)
		switch {
		case field == 3:
			put2(data[at+6:], m.classConstant())
		case m.rng.IntN(8) == 0:
			put2(data[at+2*field:], m.rng.IntN(len(b.code.Bytecode)+2))
		case field == 2 && m.rng.IntN(2) == 0 && len(b.frameSpans) > 0:
			put2(data[at+4:], b.framePC(m.rng.IntN(len(b.frameSpans))))
		default:
			put2(data[at+2*field:], b.pcs[m.rng.IntN(len(b.pcs))])
		}
		return true
	}
	return false
}

// classConstant picks a random Class entry.
func (m *Mutator) classConstant() int {
	pool := m.class.ConstantPool()
	for range 300 {
		if i := m.rng.IntN(pool.Len()); pool.Tag(uint16(i)) == classfile.TagClass {
			return i
		}
	}
	return 0
}

// maximum changes max_stack or max_locals.
func (m *Mutator) maximum(data []byte) bool {
	b := m.pick()
	at := b.attribute + 2*m.rng.IntN(2)
	old := int(binary.BigEndian.Uint16(data[at:]))
	now := max(0, old-1-m.rng.IntN(2))
	if m.rng.IntN(6) == 0 {
		now = old + 1
	}
	put2(data[at:], now)
	return now != old
}

// flags flips one or two bits of some access_flags.
func (m *Mutator) flags(data []byte) bool {
	pool := m.class.ConstantPool()
	places := []int{pool.Offset(pool.Len())}
	for _, f := range m.class.Fields() {
		places = append(places, f.Offset)
	}
	for _, method := range m.class.Methods() {
		places = append(places, method.Offset, method.Offset)
	}
	at := places[m.rng.IntN(len(places))]
	v := binary.BigEndian.Uint16(data[at:]) ^ 1<<m.rng.IntN(16)
	if m.rng.IntN(3) == 0 {
		v ^= 1 << m.rng.IntN(12)
	}
	put2(data[at:], int(v))
	return true
}

// swap exchanges two neighbouring instructions. It leaves out those that mean something else at another place.
func (m *Mutator) swap(data []byte) bool {
	plain := func(in code.Instruction) bool {
		for range in.Targets() {
			return false
		}
		return in.Size > 0
	}
	b, in, ok := m.find(plain)
	if !ok {
		return false
	}
	next, err := code.At(b.code.Bytecode, in.PC+in.Size)
	if err != nil || !plain(next) {
		return false
	}
	at := b.code.Offset + in.PC
	copy(data[at:], next.Bytes())
	copy(data[at+next.Size:], in.Bytes())
	return string(next.Bytes()) != string(in.Bytes())
}

// hierarchy changes the superclass or a superinterface.
func (m *Mutator) hierarchy(data []byte) bool {
	pool := m.class.ConstantPool()
	at := pool.Offset(pool.Len()) + 4
	if n := len(m.class.Interfaces()); n > 0 && m.rng.IntN(2) == 0 {
		at += 4 + 2*m.rng.IntN(n)
	}
	old := int(binary.BigEndian.Uint16(data[at:]))
	now := m.classConstant()
	put2(data[at:], now)
	return now != old
}
