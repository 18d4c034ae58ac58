package generated

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

func u2(values ...int) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func u4(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// pool is a constant pool whose indexes are ints.
type pool struct{ assembly.Constants }

func (p *pool) utf8(s string) int { return int(p.Utf8(s)) }

func (p *pool) class(name string) int { return int(p.ClassIndex(name)) }

func (p *pool) ref(class, name, descriptor string) int {
	owner := p.ClassIndex(class)
	return int(p.Constant(classfile.TagMethodref, assembly.U2(owner, p.NameAndType(name, descriptor))...))
}

func (p *pool) attribute(name string, info []byte) []byte {
	return p.AttributeInfo(assembly.Attribute{Name: name, Info: info})
}

// vtype is a verification type (JVMS 4.7.4) with its operand: of 'L' a class name, of 'U' a label.
type vtype struct {
	kind  byte
	class string
	at    *label
}

var tags = map[byte]byte{'T': 0, 'I': 1, 'F': 2, 'D': 3, 'J': 4, 'N': 5, 'u': 6, 'L': 7, 'U': 8}

func (v vtype) bytes(p *pool) []byte {
	out := []byte{tags[v.kind]}
	switch v.kind {
	case 'L':
		out = append(out, u2(p.class(v.class))...)
	case 'U':
		out = append(out, u2(v.at.pc)...)
	}
	return out
}

func size(v vtype) int {
	if v.kind == 'J' || v.kind == 'D' {
		return 2
	}
	return 1
}

type label struct{ pc int }

type fixup struct {
	at, from int // where the offset stands, and the position it is relative to
	wide     bool
	to       *label
}

type frame struct {
	at            *label
	locals, stack []vtype
}

type handler struct {
	start, end, at *label
	catch          string
}

// emitter collects the code of one method.
type emitter struct {
	*pool
	code                     []byte
	depth, maxStack, maxSlot int
	fixups                   []fixup
	frames                   []frame
	handlers                 []handler
	lines                    []byte
}

// op appends an instruction that changes the stack's depth.
func (e *emitter) op(name string, change int, operands ...byte) {
	o, ok := assembly.Opcodes[name]
	if !ok {
		panic("unknown mnemonic " + name)
	}
	e.code = append(append(e.code, byte(o)), operands...)
	e.depth += change
	e.maxStack = max(e.maxStack, e.depth)
}

// local appends a load or store, wide if it has to be.
func (e *emitter) local(name string, change, slot int) {
	if slot > 255 {
		e.op("wide", 0)
		e.op(name, change, u2(slot)...)
		return
	}
	e.op(name, change, byte(slot))
}

func (e *emitter) branch(name string, change int, to *label) {
	from := len(e.code)
	wide := name == "goto_w" || name == "jsr_w"
	e.op(name, change, make([]byte, map[bool]int{false: 2, true: 4}[wide])...)
	e.fixups = append(e.fixups, fixup{from + 1, from, wide, to})
}

func (e *emitter) place(l *label) { l.pc = len(e.code) }

func (e *emitter) placeFrame(l *label, locals, stack []vtype) {
	e.place(l)
	e.frames = append(e.frames, frame{l, slices.Clone(locals), slices.Clone(stack)})
	e.depth = 0
	for _, v := range stack {
		e.depth += size(v)
	}
}

func (e *emitter) line(n int) { e.lines = append(e.lines, u2(len(e.code), n)...) }

func (e *emitter) call(name string, change int, class, method, descriptor string) {
	e.op(name, change, u2(e.ref(class, method, descriptor))...)
}

func (e *emitter) constantInt(n int) {
	switch {
	case n >= -128 && n < 128:
		e.op("bipush", 1, byte(n))
	case n >= -32768 && n < 32768:
		e.op("sipush", 1, u2(n)...)
	default:
		e.op("ldc_w", 1, u2(int(e.Constant(classfile.TagInteger, u4(n)...)))...)
	}
}

// attributeInfo returns the Code attribute, with frames if asked for. The function extended decides whether a frame has
// the long form.
func (e *emitter) attributeInfo(initial []vtype, withFrames bool, extended func() bool) []byte {
	for _, f := range e.fixups {
		if f.wide {
			copy(e.code[f.at:], u4(f.to.pc-f.from))
			continue
		}
		if d := f.to.pc - f.from; d < -32768 || d > 32767 {
			panic("branch too far")
		}
		copy(e.code[f.at:], u2(f.to.pc-f.from))
	}
	info := slices.Concat(u2(e.maxStack, e.maxSlot), u4(len(e.code)), e.code, u2(len(e.handlers)))
	for _, h := range e.handlers {
		catch := 0
		if h.catch != "" {
			catch = e.class(h.catch)
		}
		info = append(info, u2(h.start.pc, h.end.pc, h.at.pc, catch)...)
	}
	attributes := [][]byte{e.attribute("LineNumberTable", append(u2(len(e.lines)/4), e.lines...))}
	if withFrames && len(e.frames) > 0 {
		attributes = append(attributes, e.attribute("StackMapTable", e.stackMapTable(initial, extended)))
	}
	return slices.Concat(info, u2(len(attributes)), slices.Concat(attributes...))
}

func (e *emitter) stackMapTable(locals []vtype, extended func() bool) []byte {
	out := u2(len(e.frames))
	last := -1
	for _, f := range e.frames {
		delta := f.at.pc - last - 1
		last = f.at.pc
		common := 0
		for common < min(len(locals), len(f.locals)) && locals[common] == f.locals[common] {
			common++
		}
		chopped, added := len(locals)-common, f.locals[common:]
		long := extended() || delta > 63
		switch {
		case len(f.stack) == 0 && chopped == 0 && len(added) == 0 && !long:
			out = append(out, byte(delta))
		case len(f.stack) == 0 && chopped == 0 && len(added) <= 3:
			out = append(append(out, byte(251+len(added))), u2(delta)...)
			out = append(out, e.types(added)...)
		case len(f.stack) == 0 && chopped <= 3 && len(added) == 0:
			out = append(append(out, byte(251-chopped)), u2(delta)...)
		case len(f.stack) == 1 && chopped == 0 && len(added) == 0 && !long:
			out = append(append(out, byte(64+delta)), e.types(f.stack)...)
		case len(f.stack) == 1 && chopped == 0 && len(added) == 0:
			out = append(append(append(out, 247), u2(delta)...), e.types(f.stack)...)
		default:
			out = append(append(append(out, 255), u2(delta)...), u2(len(f.locals))...)
			out = append(append(append(out, e.types(f.locals)...), u2(len(f.stack))...), e.types(f.stack)...)
		}
		locals = f.locals
	}
	return out
}

func (e *emitter) types(list []vtype) (out []byte) {
	for _, v := range list {
		out = append(out, v.bytes(e.pool)...)
	}
	return out
}
