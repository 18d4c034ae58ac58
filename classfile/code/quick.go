package code

import (
	"encoding/binary"
	"fmt"
	"math"
)

// layOutQuickly is [Relocator.findBranches] and [Relocator.layOut] for most methods: those with [Patch].Depths that
// were found in the order of the code, whose new code is so short that every branch can stay as long as it is. It
// returns false for the others, and for an insertion that is out of order or not in front of an instruction, and for
// a switch with padding that is not zero.
func (r *Relocator) layOutQuickly() bool {
	d := r.patch.Depths
	if d == nil || !d.inOrder {
		return false
	}
	for _, pc := range d.switches {
		if (Instruction{PC: int(pc), Op: Op(d.bytecode[pc]), code: d.bytecode}).hasOddPadding() {
			return false
		}
	}
	r.branches = r.branches[:0]
	r.insts.reset()
	r.targets.reset()
	total, last, switches := 0, 0, d.switches
	for i := range r.patch.Insertions {
		in := &r.patch.Insertions[i]
		if in.PC < last || in.PC >= len(d.at) || d.at[in.PC] == 0 {
			return false
		}
		last = in.PC
		for ; len(switches) > 0 && int(switches[0]) < in.PC; switches = switches[1:] {
			total = r.moveSwitch(int(switches[0]), total)
		}
		total += len(in.Bytecode)
		r.insert(in, total)
	}
	for _, pc := range switches {
		total = r.moveSwitch(int(pc), total)
	}
	r.newLength = len(r.code.Bytecode) + total
	return r.newLength <= math.MaxInt16
}

// moveSwitch adds to the moves the change of the padding of a switch at pc, which moves by total bytes. It returns by
// how many bytes the instruction behind it moves.
func (r *Relocator) moveSwitch(pc, total int) int {
	moved := total + padding(pc+total) - padding(pc)
	if moved != total {
		r.insts.add(pc+1, moved)
		r.targets.add(pc+1, moved)
	}
	return moved
}

// appendBytecodeQuickly is [Relocator.appendBytecode] after layOutQuickly. It corrects the offset of each branch over
// an insertion in the copy.
func (r *Relocator) appendBytecodeQuickly(out []byte) []byte {
	old, start, copied := r.code.Bytecode, len(out), 0
	d := r.patch.Depths
	switches := d.switches
	for i := range r.patch.Insertions {
		in := &r.patch.Insertions[i]
		for ; len(switches) > 0 && int(switches[0]) < in.PC; switches = switches[1:] {
			out, copied = r.appendSwitchAt(out, start, copied, int(switches[0]))
		}
		out = append(out, old[copied:in.PC]...)
		out = append(out, in.Bytecode...)
		copied = in.PC
	}
	for _, pc := range switches {
		out, copied = r.appendSwitchAt(out, start, copied, int(pc))
	}
	out = append(out, old[copied:]...)
	moved := out[start:]
	for i := range d.ends {
		end := d.ends[i]
		if end.target == leaves {
			continue
		}
		pc, target := r.insts.to(int(end.pc)), r.targets.to(int(end.target))
		if offset := target - pc; offset != int(end.target-end.pc) {
			binary.BigEndian.PutUint16(moved[pc+1:], uint16(offset))
		}
	}
	return out
}

// appendSwitchAt appends the old code from copied on up to the switch at pc, and the switch with the padding and the
// offsets that it needs in the new code, which begins at start. It returns the position behind it in the old code.
func (r *Relocator) appendSwitchAt(out []byte, start, copied, pc int) (longer []byte, end int) {
	out = append(out, r.code.Bytecode[copied:pc]...)
	in, _ := At(r.code.Bytecode, pc) // Follow has decoded it
	return r.appendSwitch(out, &branch{Instruction: in}, len(out)-start), pc + in.Size
}

// hasFound reports whether info is the StackMapTable whose frames [Patch].Depths has found.
func (r *Relocator) hasFound(info []byte) bool {
	return r.quick && len(r.patch.Depths.table) > 0 && &info[0] == &r.patch.Depths.table[0]
}

// moveFramesQuickly is [Relocator.moveStackMapTable] after layOutQuickly, if hasFound. No frame is added but the frame
// of the handler, so that all bytes stay except the offset_delta of each frame behind an insertion, and Uninitialized
// items.
func (r *Relocator) moveFramesQuickly(out, info []byte) ([]byte, error) {
	frames, handler := r.patch.Depths.frameList, r.patch.Handler
	n := len(frames)
	if handler != nil {
		n++
	}
	if n > MaxLength {
		return nil, fmt.Errorf("%w: %d frames", ErrTooLarge, n)
	}
	out = append(out, byte(n>>8), byte(n))
	copied, before, previous := 2, -1, -1
	for i := range frames {
		f := &frames[i]
		pc, start := int(f.pc), int(f.start)
		moved := r.targets.to(pc)
		delta, old := moved-previous-1, pc-before-1
		before, previous = pc, moved
		if delta != old {
			out = append(out, info[copied:start]...)
			out = appendFrameHeader(out, f.kind, delta)
			copied = start + f.header()
			if isExtended(f.kind) && old < shortestDeltaTooLong && delta >= shortestDeltaTooLong {
				r.notes = append(r.notes, Note{Kind: NoteFrameForm, Index: i, Value: int(f.kind)})
			}
		}
		if f.moves {
			end := len(info)
			if i+1 < len(frames) {
				end = int(frames[i+1].start)
			}
			out = append(out, info[copied:end]...)
			r.moveUninitialized(f.kind, out[len(out)-(end-start-f.header()):])
			copied = end
		}
	}
	out = append(out, info[copied:]...)
	if handler != nil {
		if len(frames) == 0 {
			r.notes = append(r.notes, Note{Kind: NoteEmptyFrames})
		}
		out = appendFrameHeader(out, fullFrame, r.newLength-previous-1)
		out = append(out, throwableOnly(handler)...)
	}
	return out, nil
}
