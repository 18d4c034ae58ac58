package equivalence

import (
	"encoding/binary"
	"fmt"
)

// The frame_type values of a stack_map_frame (JVMS 4.7.4) that bound the forms, and the
// verification_type_info tags that have operands.
const (
	sameLocals1     = 64 // to 127; below is same_frame
	firstReserved   = 128
	extendedLocals1 = 247 // same_locals_1_stack_item_frame_extended
	firstChop       = 248
	extendedSame    = 251 // same_frame_extended
	firstAppend     = 252
	fullFrame       = 255
	maxShortDelta   = 63

	itemObject        = 7
	itemUninitialized = 8
)

// frame is a stack_map_frame as it is in the table.
type frame struct {
	kind   byte   // frame_type; for the two forms that hold offset_delta in frame_type, 0 or 64
	short  bool   // whether frame_type holds offset_delta
	delta  int    // offset_delta
	body   []byte // the bytes after offset_delta
	locals int    // how many bytes of body describe locals; in a full_frame, with their count
}

// nextFrame reads one frame. If it cannot, r has failed.
func nextFrame(r *reader) (f frame) {
	kind := r.u1()
	switch f.kind = byte(kind); {
	case kind < sameLocals1:
		f.kind, f.short, f.delta = 0, true, kind
		return f
	case kind < firstReserved:
		f.kind, f.short, f.delta = sameLocals1, true, kind-sameLocals1
	case kind < extendedLocals1:
		r.failed = true
		return f
	default:
		f.delta = r.u2()
	}
	start := r.at
	switch {
	case f.kind == sameLocals1 || f.kind == extendedLocals1:
		r.items(1)
	case f.kind >= firstAppend && f.kind < fullFrame:
		r.items(int(f.kind) - extendedSame)
		f.locals = r.at - start
	case f.kind == fullFrame:
		r.items(r.u2())
		f.locals = r.at - start
		r.items(r.u2())
	}
	f.body = r.data[start:r.at]
	return f
}

// items skips n verification_type_info structures.
func (r *reader) items(n int) {
	for range n {
		switch tag := r.u1(); {
		case tag > itemUninitialized:
			r.failed = true
		case tag >= itemObject:
			r.skip(2)
		}
		if r.failed {
			return
		}
	}
}

// restoreStackMapTable restores a StackMapTable (JVMS 4.7.4). It drops the frame of the exact handler and maps the
// positions of the others back. If no frame is left, the original had no table, unless a note says that it was empty.
func (b *body) restoreStackMapTable(out, info []byte) ([]byte, bool) {
	start := len(out)
	out = append(out, 0, 0)
	r := reader{data: info}
	total, kept, at, previous := r.u2(), 0, -1, -1
	for i := 0; i < total && !r.failed; i++ {
		f := nextFrame(&r)
		if r.failed {
			break
		}
		at += f.delta + 1
		if b.hasHandler && at == b.end {
			b.checkHandlerFrame(f.kind == fullFrame, f.body, i == total-1)
			continue
		}
		pc := b.mapBack(at, sideTarget, "a frame")
		if pc <= previous {
			b.report(at, ruleFrames, fmt.Sprintf("a frame after that at %d", previous), fmt.Sprint(pc))
			break
		}
		restored := b.restoreForm(f, pc-previous-1, kept, at)
		out = b.appendFrame(out, &restored, at)
		previous = pc
		kept++
	}
	if r.failed || r.at != len(info) {
		return b.malformed(out, start, info, "StackMapTable")
	}
	binary.BigEndian.PutUint16(out[start:], uint16(kept))
	return out, kept > 0 || total == 0 || b.block.notes.has(b.number, noteEmptyFrames, 0)
}

// restoreForm returns frame number index of the original, with its delta there and the form that it had: the form that
// a note says; otherwise the present one, made short where the delta has become small and extended where it has become
// large.
func (b *body) restoreForm(f frame, delta, index, at int) frame {
	now := f.delta
	f.delta = delta
	form, noted := b.block.notes.find(b.number, noteFrameForm, index)
	switch {
	case noted && form.value != int(f.kind):
		b.report(at, ruleFrames, fmt.Sprintf("a frame of frame_type %d", form.value), fmt.Sprintf("frame_type %d", f.kind))
	case noted:
		return f
	case f.short:
		f.short = delta <= maxShortDelta
	case f.kind == extendedSame && delta <= maxShortDelta && now > maxShortDelta:
		f.kind, f.short = 0, true
	case f.kind == extendedLocals1 && delta <= maxShortDelta && now > maxShortDelta:
		f.kind, f.short = sameLocals1, true
	}
	if !f.short && f.kind == sameLocals1 {
		f.kind = extendedLocals1
	} else if !f.short && f.kind == 0 {
		f.kind = extendedSame
	}
	return f
}

// appendFrame writes a frame of the original, which is at position at now.
func (b *body) appendFrame(out []byte, f *frame, at int) []byte {
	if f.short {
		out = append(out, f.kind+byte(f.delta))
	} else {
		out = append(out, f.kind, byte(f.delta>>8), byte(f.delta))
	}
	start := len(out)
	out = append(out, f.body...)
	b.restoreItems(out[start:], f.kind, at)
	return out
}

// restoreItems maps the offsets of the Uninitialized items of a frame's body back, in place. It reports a type that is
// a new constant. The frame is one of the original, which is at position at now.
func (b *body) restoreItems(body []byte, kind byte, at int) {
	for i := range itemsOf(body, kind) {
		switch body[i] {
		case itemObject:
			if class := binary.BigEndian.Uint16(body[i+1:]); b.block.has(class) {
				b.report(at, rulePool, "only the handler's frame to use the new constants", fmt.Sprintf("constant %d", class))
			}
		case itemUninitialized:
			q := int(binary.BigEndian.Uint16(body[i+1:]))
			binary.BigEndian.PutUint16(body[i+1:], uint16(b.mapBack(q, sideInst, "an Uninitialized item's new")))
		}
	}
}

// itemsOf yields the offset of each verification_type_info in a frame's body, which must be well-formed.
func itemsOf(body []byte, kind byte) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		left := len(body) // items before the next count; only a full_frame has counts
		for at := 0; at < len(body); {
			if kind == fullFrame && (at == 0 || left == 0) {
				left = int(binary.BigEndian.Uint16(body[at:]))
				at += 2
				continue
			}
			if !yield(at) {
				return
			}
			left--
			if body[at] >= itemObject {
				at += 2
			}
			at++
		}
	}
}

// checkHandlerFrame checks the frame of the exact handler: it must have no locals and a Throwable on the stack, and be
// the last of the table. isFull is set if it is a full_frame.
func (b *body) checkHandlerFrame(isFull bool, body []byte, isLast bool) {
	b.handlerFrames++
	ok := isFull && isLast && len(body) == 7 && body[1] == 0 && body[3] == 1 && body[4] == itemObject
	if ok {
		class := binary.BigEndian.Uint16(body[5:])
		name, err := b.pool.ClassName(class)
		b.block.use(class)
		ok = err == nil && name == throwableName
	}
	if !ok {
		b.report(b.end, ruleHandler, "a last full_frame with no locals and a Throwable on the stack", "another frame")
	}
}
