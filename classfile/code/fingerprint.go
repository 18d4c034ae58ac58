package code

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/tracegen/tracegen/classfile"
)

// Fingerprint gives a number that tells bodies of code apart, and that two compilations of one body agree on: it
// is of the instructions and handlers, with constants by what they say and targets by their number among the
// instructions. It does not depend on the constant pool's order, on tables for debuggers, on wide and narrow forms
// of one instruction, on the name of the class itself, nor on bootstrap methods, whose arguments are mostly names
// that a compiler has numbered. It is 0 for code that cannot be read, and for no other.
func Fingerprint(class *classfile.Class, code *classfile.Code) uint64 {
	return new(Fingerprinter).Fingerprint(class, code)
}

// Fingerprinter is for those who ask for the [Fingerprint] of many bodies, one at a time: it keeps working memory. The
// zero Fingerprinter is ready for use. Make one for each goroutine.
type Fingerprinter struct {
	fingerprint fingerprint
	sum         hash.Hash // nil until there was a body
}

// Fingerprint is the function of that name.
func (f *Fingerprinter) Fingerprint(class *classfile.Class, code *classfile.Code) uint64 {
	p := &f.fingerprint
	if f.sum == nil {
		f.sum = sha256.New()
		p.w = bufio.NewWriterSize(nil, 8*f.sum.BlockSize())
	}
	f.sum.Reset()
	p.w.Reset(f.sum)
	p.class, p.bytecode, p.ordinals, p.failed = class, code.Bytecode, p.ordinals[:0], false
	for in, err := range Instructions(code.Bytecode) {
		if err != nil {
			return 0
		}
		p.instruction(in)
	}
	for entry := code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		for i := 0; i < 6; i += 2 {
			p.target(int(binary.BigEndian.Uint16(entry[i:])))
		}
		if caught := binary.BigEndian.Uint16(entry[6:]); caught != 0 {
			p.constant(caught)
		}
	}
	if p.failed {
		return 0
	}
	p.w.Flush()
	return max(1, binary.BigEndian.Uint64(f.sum.Sum(p.digest[:0])))
}

// fingerprint writes what is hashed: numbers of four bytes, and strings with their lengths before them.
type fingerprint struct {
	w        *bufio.Writer // into a hash, which never fails
	class    *classfile.Class
	bytecode []byte
	ordinals []uint32 // by position: the instruction's number from 1, 0 inside of one; empty until the first target
	failed   bool
	digest   [sha256.Size]byte
}

// number numbers the instructions, of which the last may be one that cannot be decoded.
func (p *fingerprint) number() {
	p.ordinals = resize(p.ordinals, len(p.bytecode)+1)
	n := uint32(1)
	for pc := 0; pc < len(p.bytecode); n++ {
		p.ordinals[pc] = n
		_, size, err := Next(p.bytecode, pc)
		if err != nil {
			return
		}
		pc += size
	}
	p.ordinals[len(p.bytecode)] = n // where a handler's range may end
}

func (p *fingerprint) u4(v uint32) {
	p.w.Write(binary.BigEndian.AppendUint32(p.w.AvailableBuffer(), v))
}

func (p *fingerprint) text(s string) {
	p.u4(uint32(len(s)))
	p.w.WriteString(s)
}

// className writes the name of a class. That of the class itself may have been numbered.
func (p *fingerprint) className(name string) {
	if name == p.class.Name() {
		name = ""
	}
	p.text(name)
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

// sameAs gives the opcode that stands for others which do the same.
func sameAs(op Op) Op {
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

// instruction writes the opcode and the operands of each form (JVMS 6.5).
func (p *fingerprint) instruction(in Instruction) {
	op := sameAs(in.Op)
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
			p.w.Write(in.code[at : at+4]) // low, or npairs
			first = false
		case in.Op == Lookupswitch:
			p.w.Write(in.code[offset-4 : offset])
		}
	}
	if in.Op == Tableswitch {
		p.w.Write(in.code[at+4 : at+8]) // high
	}
}

// constant writes what a constant says (JVMS 4.4).
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
		p.text(s)
	case classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble:
		p.w.Write(pool.Raw(i))
	case classfile.TagMethodHandle:
		raw := pool.Raw(i)
		p.u4(uint32(raw[0]))
		if of := binary.BigEndian.Uint16(raw[1:]); pool.Tag(of) != classfile.TagMethodHandle {
			p.constant(of)
		} else {
			p.failed = true // malformed, and perhaps without an end
		}
	default:
		var ref classfile.Ref
		ref, err = pool.Ref(i)
		p.className(ref.Class)
		p.text(ref.Name)
		p.text(ref.Descriptor)
	}
	p.failed = p.failed || err != nil
}
