package code

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/tracegen/tracegen/classfile"
)

// Fingerprinter computes fingerprints of method bodies. It uses the same memory for one body after another. The
// zero Fingerprinter is ready for use, by one goroutine at a time.
//
// A fingerprint is a number that is the same for two compilations of one method body, and different for different
// bodies but for collisions of 64 bits of SHA-256. The hashed text describes the instructions and the exception
// handlers independently of what compilers and shrinkers change without changing the program:
//
//   - A constant counts by its value, so that the order of the constant pool does not matter.
//   - A branch target, or a position in the exception table, counts by the number of its instruction, and the wide
//     form
//     of an instruction counts as the narrow one. So it does not matter how long an instruction's encoding is.
//   - The name of the class itself counts as empty, since compilers number the classes that they make.
//   - Bootstrap methods do not count (JVMS 4.7.23): most of their arguments are names that a compiler has numbered.
//   - Frames and the tables for debuggers do not count, nor do max_stack and max_locals.
//
// Time and memory are linear in the length of the code and of the strings that it names.
type Fingerprinter struct{ fingerprint fingerprint }

// Fingerprint returns the fingerprint of the code of a method of class. It is 0 for code that cannot be decoded,
// and for no other code.
func (f *Fingerprinter) Fingerprint(class *classfile.Class, code *classfile.Code) uint64 {
	p := &f.fingerprint
	if p.sum == nil {
		p.sum = sha256.New()
	}
	p.sum.Reset()
	p.text = p.text[:0]
	p.class, p.bytecode, p.ordinals, p.failed = class, code.Bytecode, p.ordinals[:0], false
	for pc := 0; pc < len(code.Bytecode); p.flush(flushed) {
		if op := Op(code.Bytecode[pc]); sizes[op] == 1 { // it has no operand
			p.u4(uint32(op))
			pc++
			continue
		}
		in, err := At(code.Bytecode, pc)
		if err != nil {
			return 0
		}
		p.instruction(in)
		pc += in.Size
	}
	for entry := code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		for i := 0; i < 6; i += 2 {
			p.target(int(binary.BigEndian.Uint16(entry[i:])))
		}
		if caught := binary.BigEndian.Uint16(entry[6:]); caught != 0 {
			p.constant(caught)
		}
		p.flush(flushed)
	}
	if p.failed {
		return 0
	}
	p.flush(0)
	return max(1, binary.BigEndian.Uint64(p.sum.Sum(p.digest[:0])))
}

// fingerprint writes the hashed text: numbers of four bytes, and strings with their lengths before them.
type fingerprint struct {
	sum      hash.Hash // nil before the first body
	text     []byte    // what comes next in it
	class    *classfile.Class
	bytecode []byte
	ordinals []uint32 // by position: the instruction's number from 1, 0 inside of one; empty until the first target
	failed   bool
	digest   [sha256.Size]byte
}

// flushed is the greatest length of text before it is hashed. An instruction may add long strings to it, a body more of
// them than memory holds.
const flushed = 4 << 10

// flush hashes the text if it is longer than that.
func (p *fingerprint) flush(longer int) {
	if len(p.text) > longer {
		p.write()
	}
}

func (p *fingerprint) write() {
	p.sum.Write(p.text)
	p.text = p.text[:0]
}

// number numbers the instructions, up to the first one that cannot be decoded.
func (p *fingerprint) number() {
	p.ordinals = zeroed(p.ordinals, len(p.bytecode)+1)
	n := uint32(1)
	for pc := 0; pc < len(p.bytecode); n++ {
		p.ordinals[pc] = n
		_, size, err := Next(p.bytecode, pc)
		if err != nil {
			return
		}
		pc += size
	}
	p.ordinals[len(p.bytecode)] = n // a handler's range may end here
}

func (p *fingerprint) u4(v uint32) {
	p.text = binary.BigEndian.AppendUint32(p.text, v)
}

func (p *fingerprint) string(s string) {
	p.u4(uint32(len(s)))
	p.text = append(p.text, s...)
}

// className writes the name of a class, and "" for the class itself.
func (p *fingerprint) className(name string) {
	if name == p.class.Name() {
		name = ""
	}
	p.string(name)
}

func (p *fingerprint) target(pc int) {
	if len(p.ordinals) == 0 {
		p.number()
	}
	if pc < 0 || pc >= len(p.ordinals) || p.ordinals[pc] == 0 {
		p.failed = true
		return
	}
	p.u4(p.ordinals[pc])
}

// canonical returns the narrow form of an opcode that has a wide form.
func canonical(op Op) Op {
	switch op {
	case LdcW:
		return Ldc
	case GotoW:
		return Goto
	case JsrW:
		return Jsr
	}
	return op
}

// instruction writes the opcode and the operands of an instruction (JVMS 6.5).
func (p *fingerprint) instruction(in Instruction) {
	op := canonical(in.Op)
	if op == Wide {
		op = Op(in.U1(0))
	}
	p.u4(uint32(op))
	switch in.Op.Operand() {
	case OperandByte:
		p.u4(uint32(in.U1(0)))
	case OperandShort:
		p.u4(uint32(in.U2(0)))
	case OperandConstant, OperandConstantW, OperandInvoke4:
		p.constant(in.Constant())
	case OperandMultiarray:
		p.constant(in.Constant())
		p.u4(uint32(in.U1(2)))
	case OperandLocal, OperandIinc, OperandWide:
		local, _ := in.Local()
		p.u4(uint32(local))
		switch {
		case in.Op == Iinc:
			p.u4(uint32(int8(in.U1(1))))
		case op == Iinc: // wide
			p.u4(uint32(int16(in.U2(3))))
		}
	case OperandTableSwitch, OperandLookupSwitch:
		p.keys(in)
		for target := range in.Targets() {
			p.target(target)
		}
	case OperandBranch, OperandBranchW:
		target, _ := in.Branch()
		p.target(target)
	}
}

// keys writes the values that a switch compares with.
func (p *fingerprint) keys(in Instruction) {
	at, first := 0, true
	for offset := range in.SwitchOffsets() {
		switch {
		case first:
			at = offset + 4
			p.text = append(p.text, in.code[at:at+4]...) // low, or npairs
			first = false
		case in.Op == Lookupswitch:
			p.text = append(p.text, in.code[offset-4:offset]...)
		}
	}
	if in.Op == Tableswitch {
		p.text = append(p.text, in.code[at+4:at+8]...) // high
	}
}

// constant writes the kind and the value of a constant (JVMS 4.4).
func (p *fingerprint) constant(i uint16) {
	pool := p.class.ConstantPool()
	tag := pool.Tag(i)
	p.u4(uint32(tag))
	var err error
	switch tag {
	case classfile.TagClass:
		var name string
		name, err = pool.ClassName(i)
		p.className(name)
	case classfile.TagString, classfile.TagMethodType:
		var s string
		s, err = pool.NamedBy(i, tag)
		p.string(s)
	case classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble:
		p.text = append(p.text, pool.Raw(i)...)
	case classfile.TagMethodHandle:
		raw := pool.Raw(i)
		p.u4(uint32(raw[0]))
		if of := binary.BigEndian.Uint16(raw[1:]); pool.Tag(of) != classfile.TagMethodHandle {
			p.constant(of)
		} else {
			p.failed = true // malformed, and following it might not end
		}
	default:
		var ref classfile.Ref
		ref, err = pool.Ref(i)
		p.className(ref.Class)
		p.string(ref.Name)
		p.string(ref.Descriptor)
	}
	p.failed = p.failed || err != nil
}
