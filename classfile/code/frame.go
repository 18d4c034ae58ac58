package code

import (
	"encoding/binary"
	"fmt"
)

// The frame_type values of a stack_map_frame (JVMS 4.7.4) that begin or end the range of a form.
const (
	sameFrame            = 0   // to 63: the delta itself
	sameLocals1          = 64  // to 127: 64 + delta, one stack item
	firstReserved        = 128 // to 246
	sameLocals1Extended  = 247
	chopFirst            = 248 // to 250: 251 minus the number of locals dropped
	sameFrameExtended    = 251
	appendFirst          = 252 // to 254: 251 plus the number of locals added
	fullFrame            = 255
	shortestDeltaTooLong = 64
)

// The tags of verification_type_info (JVMS 4.7.4).
const (
	itemTop = iota
	itemInteger
	itemFloat
	itemDouble
	itemLong
	itemNull
	itemUninitializedThis
	itemObject
	itemUninitialized
)

// frame is a stack_map_frame with its delta resolved to a position.
type frame struct {
	pc   int
	kind byte // frame_type; for the two short forms, the first value of their range
	// moves is set if the body may have Uninitialized items, which hold positions.
	moves bool
	body  []byte // what follows frame_type and offset_delta
}

// parseFrames decodes the info of a StackMapTable attribute (JVMS 4.7.4) and appends its frames to frames.
func parseFrames(info []byte, frames []frame) ([]frame, error) {
	if len(info) < 2 {
		return nil, fmt.Errorf("StackMapTable of %d bytes is too short", len(info))
	}
	n := int(binary.BigEndian.Uint16(info))
	at, pc := 2, -1
	for i := range n {
		if at >= len(info) {
			return nil, fmt.Errorf("StackMapTable ends in frame %d of %d", i, n)
		}
		f := frame{kind: info[at]}
		header, delta := 3, 0
		switch {
		case f.kind < sameLocals1:
			header, delta, f.kind = 1, int(f.kind), sameFrame
		case f.kind < firstReserved:
			header, delta, f.kind = 1, int(f.kind)-sameLocals1, sameLocals1
		case f.kind < sameLocals1Extended:
			return nil, fmt.Errorf("frame %d of StackMapTable has the reserved frame_type %d", i, f.kind)
		case at+3 > len(info):
			return nil, fmt.Errorf("StackMapTable ends in frame %d of %d", i, n)
		default:
			delta = int(binary.BigEndian.Uint16(info[at+1:]))
		}
		size, moves, ok := frameBodySize(f.kind, info[at+header:])
		if !ok {
			return nil, fmt.Errorf("frame %d of StackMapTable has a malformed verification_type_info", i)
		}
		pc += delta + 1
		f.pc, f.moves = pc, moves
		f.body = info[at+header : at+header+size]
		frames = append(frames, f)
		at += header + size
	}
	if at != len(info) {
		return nil, fmt.Errorf("%d bytes follow the last frame of StackMapTable", len(info)-at)
	}
	return frames, nil
}

// frameBodySize returns the length of the body of a frame of that kind at the start of b, and whether it has
// Uninitialized items; ok is false if it is malformed.
func frameBodySize(kind byte, b []byte) (size int, moves, ok bool) {
	switch {
	case kind == sameLocals1 || kind == sameLocals1Extended:
		return itemsSize(b, 0, 1)
	case kind >= appendFirst && kind < fullFrame:
		return itemsSize(b, 0, int(kind)-sameFrameExtended)
	case kind != fullFrame:
		return 0, false, true
	}
	for range 2 { // the locals, then the stack, each behind its count
		if size+2 > len(b) {
			return 0, false, false
		}
		n, here := int(binary.BigEndian.Uint16(b[size:])), false
		if size, here, ok = itemsSize(b, size+2, n); !ok {
			return 0, false, false
		}
		moves = moves || here
	}
	return size, moves, true
}

// itemsSize returns the position behind n verification_type_info structures (JVMS 4.7.4) that start at position at, and
// whether some are Uninitialized; ok is false if they are malformed or run past the end of b.
func itemsSize(b []byte, at, n int) (end int, moves, ok bool) {
	for range n {
		if at >= len(b) || b[at] > itemUninitialized {
			return 0, false, false
		}
		if b[at] >= itemObject {
			moves = moves || b[at] == itemUninitialized
			at += 2
		}
		at++
	}
	return at, moves, at <= len(b)
}

// stackWords returns the number of words on the operand stack that the frame describes.
func (f frame) stackWords() int {
	b, n := f.body, 1
	switch f.kind {
	case sameLocals1, sameLocals1Extended:
	case fullFrame:
		locals := int(binary.BigEndian.Uint16(b))
		end, _, _ := itemsSize(b, 2, locals)
		n, b = int(binary.BigEndian.Uint16(b[end:])), b[end+2:]
	default:
		return 0
	}
	words, at := 0, 0
	for range n {
		words++
		if b[at] == itemLong || b[at] == itemDouble {
			words++
		}
		at, _, _ = itemsSize(b, at, 1)
	}
	return words
}

// appendFrame appends the encoding of f, whose pc is a position in the new code. previous is the new position of
// the frame before it, -1 if there is none. The offsets of Uninitialized items are moved.
func (r *Relocator) appendFrame(out []byte, f frame, previous int) []byte {
	out = appendFrameHeader(out, f.kind, f.pc-previous-1)
	start := len(out)
	out = append(out, f.body...)
	if f.moves {
		r.moveUninitialized(f.kind, out[start:])
	}
	return out
}

// appendFrameHeader appends the frame_type and, unless that has it, the offset_delta of a frame of that kind.
func appendFrameHeader(out []byte, kind byte, delta int) []byte {
	if kind < firstReserved {
		kind &= sameLocals1 // the first value of the range of the form
		if delta < shortestDeltaTooLong {
			return append(out, kind+byte(delta))
		}
		kind = extended(kind)
	}
	return append(out, kind, byte(delta>>8), byte(delta))
}

// isExtended reports whether frames of that kind have a short form too.
func isExtended(kind byte) bool { return kind == sameFrameExtended || kind == sameLocals1Extended }

// extended returns the form with a two-byte offset_delta that corresponds to one of the two short forms.
func extended(kind byte) byte {
	if kind == sameFrame {
		return sameFrameExtended
	}
	return sameLocals1Extended
}

// moveUninitialized replaces the offsets of Uninitialized items in a frame's body, in place, by the new positions
// of these instructions. Such an offset names the `new` instruction itself (JVMS 4.7.4), not code that was inserted
// before it.
func (r *Relocator) moveUninitialized(kind byte, body []byte) {
	at := 0
	move := func(n int) {
		for range n {
			if body[at] == itemUninitialized {
				p := int(binary.BigEndian.Uint16(body[at+1:]))
				binary.BigEndian.PutUint16(body[at+1:], uint16(r.insts.to(p)))
			}
			at, _, _ = itemsSize(body, at, 1)
		}
	}
	switch {
	case kind >= sameLocals1 && kind <= sameLocals1Extended:
		move(1)
	case kind >= appendFirst && kind < fullFrame:
		move(int(kind) - sameFrameExtended)
	case kind == fullFrame:
		for range 2 {
			n := int(binary.BigEndian.Uint16(body[at:]))
			at += 2
			move(n)
		}
	}
}
