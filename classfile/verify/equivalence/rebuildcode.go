package equivalence

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// rebuild appends the info of the Code attribute (JVMS 4.7.3) as it was before code was inserted. recognise must have
// succeeded. max_stack is computed last, because it needs the depths of the original's code.
func (b *body) rebuild(out []byte) []byte {
	base := len(out)
	out = append(out, 0, 0, byte(b.code.MaxLocals>>8), byte(b.code.MaxLocals), 0, 0, 0, 0)
	out = b.appendBytecode(out)
	stripped := classfile.Code{MaxLocals: b.code.MaxLocals, Bytecode: out[base+8:]}
	binary.BigEndian.PutUint32(out[base+4:], uint32(len(stripped.Bytecode)))
	start := len(out) + 2
	out = b.appendExceptionTable(out)
	stripped.ExceptionTable = out[start:]
	out = b.appendAttributes(out, &stripped)
	binary.BigEndian.PutUint16(out[base:], b.maxStack(&stripped))
	return out
}

// appendBytecode copies the method's own instructions and restores the offsets of its branches.
func (b *body) appendBytecode(out []byte) []byte {
	bytecode, copied := b.code.Bytecode, 0
	for _, e := range b.edits {
		out = append(out, bytecode[copied:e.pc]...)
		copied = e.end
		switch e.kind {
		case editBranch:
			out = b.appendBranch(out, e)
		case editSwitch:
			out = b.appendSwitch(out, e)
		}
	}
	return append(out, bytecode[copied:b.end]...)
}

// offset returns the branch offset in the original from the instruction at pc to target.
func (b *body) offset(pc, target int) int {
	return b.mapBack(target, sideTarget, "a branch target") - int(b.places[pc]>>sideBits)
}

func (b *body) appendBranch(out []byte, e edit) []byte {
	operand := b.code.Bytecode[e.pc+1 : e.end]
	out = append(out, b.code.Bytecode[e.pc])
	if len(operand) == 4 {
		return binary.BigEndian.AppendUint32(out, uint32(b.offset(e.pc, e.pc+int(int32(binary.BigEndian.Uint32(operand))))))
	}
	offset := b.offset(e.pc, e.pc+int(int16(binary.BigEndian.Uint16(operand))))
	if offset != int(int16(offset)) {
		b.report(e.pc, ruleCode, "a branch that reaches its target", fmt.Sprintf("the offset %d in two bytes", offset))
	}
	return binary.BigEndian.AppendUint16(out, uint16(offset))
}

// appendSwitch writes a tableswitch or lookupswitch (JVMS 6.5). If the amount of padding changes, the padding must be
// zeros: its original bytes are lost otherwise. HotSpot demands zeros up to major version 50.
func (b *body) appendSwitch(out []byte, e edit) []byte {
	bytecode := b.code.Bytecode
	now, before := padding(e.pc), padding(int(b.places[e.pc]>>sideBits))
	out = append(out, bytecode[e.pc])
	if now == before {
		out = append(out, bytecode[e.pc+1:e.pc+1+now]...)
	} else {
		out = append(out, 0, 0, 0)[:len(out)+before]
		for _, pad := range bytecode[e.pc+1 : e.pc+1+now] {
			if pad != 0 {
				b.report(e.pc, ruleCode, "padding of zeros", fmt.Sprint(pad))
			}
		}
	}
	operands := e.pc + 1 + now
	shift := len(out) - operands
	out = append(out, bytecode[operands:e.end]...)
	at, step := operands+12, 4
	if code.Op(bytecode[e.pc]) == code.Lookupswitch {
		step = 8
	}
	aim := func(at int) {
		target := e.pc + int(int32(binary.BigEndian.Uint32(bytecode[at:])))
		binary.BigEndian.PutUint32(out[at+shift:], uint32(b.offset(e.pc, target)))
	}
	aim(operands)
	for ; at+4 <= e.end; at += step {
		aim(at)
	}
	return out
}

// appendExceptionTable writes the table and its count, without the entries of the exact handler, which are the last
// ones.
func (b *body) appendExceptionTable(out []byte) []byte {
	table := b.code.ExceptionTable
	for n := len(table); b.hasHandler && n >= 8; n -= 8 {
		if int(binary.BigEndian.Uint16(table[n-4:])) != b.end || binary.BigEndian.Uint16(table[n-2:]) != 0 {
			break
		}
		b.handlers++
	}
	table = table[:len(table)-8*b.handlers]
	out = binary.BigEndian.AppendUint16(out, uint16(len(table)/8))
	for ; len(table) >= 8; table = table[8:] {
		word := func(i int) int { return int(binary.BigEndian.Uint16(table[i:])) }
		out = binary.BigEndian.AppendUint16(out, uint16(b.mapBack(word(0), sideTarget, "an exception table start_pc")))
		out = binary.BigEndian.AppendUint16(out, uint16(b.mapBack(word(2), sideEnd, "an exception table end_pc")))
		out = binary.BigEndian.AppendUint16(out,
			uint16(b.mapBack(word(4), sideTarget, "an exception table handler_pc")))
		out = append(out, table[6:8]...)
		if b.block.has(uint16(word(6))) {
			b.report(word(4), rulePool, "only inserted code to use the new constants",
				fmt.Sprintf("catch_type %d", word(6)))
		}
	}
	return out
}

// appendAttributes writes the attributes of the Code attribute and their count. It adds the StackMapTable to stripped,
// for the analysis of stack depths.
func (b *body) appendAttributes(out []byte, stripped *classfile.Code) []byte {
	count, at := 0, len(out)
	out = append(out, 0, 0)
	framed := false
	for i := range b.code.Attributes {
		a := &b.code.Attributes[i]
		restore := restorer(a.Name)
		if restore == nil {
			b.report(-1, ruleTable, "attributes whose layout is known", a.Name)
			restore = (*body).keepTable
		}
		start := len(out)
		out = binary.BigEndian.AppendUint16(out, a.NameIndex)
		out = append(out, 0, 0, 0, 0)
		var keep bool
		if out, keep = restore(b, out, a.Info); !keep {
			out = out[:start]
			b.block.use(a.NameIndex)
			continue
		}
		if b.block.has(a.NameIndex) {
			b.report(-1, rulePool, "only inserted attributes to have a new name", a.Name)
		}
		binary.BigEndian.PutUint32(out[start+2:], uint32(len(out)-start-6))
		if a.Name == "StackMapTable" && !framed {
			framed = true
			b.framesOnly[0] = classfile.Attribute{Name: a.Name, Info: out[start+6:]}
			stripped.Attributes = b.framesOnly[:]
		}
		count++
	}
	binary.BigEndian.PutUint16(out[at:], uint16(count))
	return out
}

// maxStack returns the max_stack of the original: from a note if there is one, otherwise by these rules.
//
//   - If max_stack is greater than what the inserted calls need, the injector did not raise it.
//   - Otherwise it was raised to that, and the original's was the greatest depth that its code reaches, as compilers
//     write it.
//   - After a jsr the depths are not known, and the injector always added what one call needs: one word, two if a call
//     takes an object, or three if there is a probe.
func (b *body) maxStack(stripped *classfile.Code) uint16 {
	depths := &b.depths
	if err := depths.Follow(b.pool, stripped); err != nil {
		b.report(-1, ruleStack, "code whose stack depths can be computed", err.Error())
		return 0
	}
	now := int(b.code.MaxStack)
	b.need, b.subroutines = b.neededStack(depths), depths.Subroutines
	noted, isNoted := b.block.notes.maxStack(b.number)
	switch {
	case isNoted:
		return noted
	case depths.Subroutines:
		return uint16(max(0, now-b.mostWords()))
	case now > b.need:
		return uint16(now)
	}
	return uint16(min(now, depths.Max))
}

// neededStack returns the max_stack that the inserted sequences ask for.
func (b *body) neededStack(depths *code.Depths) int {
	need := 0
	for _, c := range b.calls {
		if c.kind == callHandler {
			need = max(need, 2)
			continue
		}
		if depth, ok := depths.At(c.orig); ok {
			need = max(need, depth+c.words())
		}
	}
	// In code that no path reaches, the stack has at least the words that the instruction pops.
	for _, e := range b.exits {
		if _, reached := depths.At(e.orig); !reached && e.before != e.pc {
			words := 1
			if e.result {
				words = objectWords
			}
			need = max(need, leavingWords(e.op)+words)
		}
	}
	return need
}

// leavingWords returns the number of stack words that a return or athrow pops.
func leavingWords(op code.Op) int {
	switch op {
	case code.Return:
		return 0
	case code.Lreturn, code.Dreturn:
		return 2
	}
	return 1
}
