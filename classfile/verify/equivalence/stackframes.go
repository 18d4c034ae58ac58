package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile/code"
)

// The frame_type values of a stack_map_frame (JVMS 4.7.4) that bound the forms, and the
// verification_type_info tags that have operands.
const (
	sameLocals1     = 64 // to 127; below is same_frame
	firstReserved   = 128
	earlyLarval     = 246 // early_larval_frame (JEP 401), before a base frame
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
	larval []byte // of an early_larval_frame, what stands before its base frame
	locals int    // how many bytes of body describe locals; in a full_frame, with their count
}

// nextFrame reads one frame. If it cannot, r has failed.
func nextFrame(r *reader) (f frame) {
	start := r.at
	kind := r.u1()
	if kind == earlyLarval {
		r.skip(2 * r.u2())
		if r.failed {
			return f
		}
		f.larval = r.data[start:r.at]
		kind = r.u1()
	}
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
	start = r.at
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

// restoreStackMapTable restores a StackMapTable (JVMS 4.7.4). It drops added frames and maps the positions of the
// others back. If no frame is left, the original had no table, unless a note says that it was empty.
//
// Two kinds of frames are added: that of the exact handler, and one after each conditional branch that was widened,
// because the goto_w before it never leads to the next instruction. As most forms of a frame are relative to the frame
// before, the injector writes the frame after an added one as a full_frame; it gets its old form back (see
// restoreForm).
func (b *body) restoreStackMapTable(out, info []byte) ([]byte, bool) {
	start := len(out)
	out = append(out, 0, 0)
	r := reader{data: info}
	total, kept, at, previous := r.u2(), 0, -1, -1
	afterAdded := false
	b.startFrames()
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
		if b.isAddedFrame(&f, at, kept) {
			afterAdded = true
			b.useItems(&f)
			b.checkAddedFrame(&f, at)
			continue
		}
		if afterAdded {
			b.useItems(&f)
		}
		pc := b.mapBack(at, sideTarget, "a frame")
		if pc <= previous {
			b.report(at, ruleFrames, fmt.Sprintf("a frame after that at %d", previous), fmt.Sprint(pc))
			break
		}
		restored := b.restoreForm(f, pc-previous-1, kept, afterAdded, at)
		out = b.appendFrame(out, &restored, at)
		restored.body = out[len(out)-len(restored.body):]
		b.followFrame(&f, &restored, at, afterAdded)
		afterAdded = false
		previous = pc
		kept++
	}
	if r.failed || r.at != len(info) {
		return b.malformed(out, start, info, "StackMapTable")
	}
	if b.types.joins < len(b.joins) {
		b.report(-1, ruleFrames, "a frame after each widened conditional branch",
			fmt.Sprintf("%d for %d", b.types.joins, len(b.joins)))
	}
	binary.BigEndian.PutUint16(out[start:], uint16(kept))
	return out, kept > 0 || total == 0 || b.block.notes.has(b.number, noteEmptyFrames, 0)
}

// restoreForm returns frame number index of the original, with its delta there and the form that it had: the form that
// a note says; otherwise the present one, made short where the delta has become small and extended where it has become
// large.
func (b *body) restoreForm(f frame, delta, index int, afterAdded bool, at int) frame {
	now := f.delta
	f.delta = delta
	form, noted := b.block.notes.find(b.number, noteFrameForm, index)
	switch {
	case noted:
		return b.reshape(f, byte(form.value), at)
	case f.short:
		f.short = delta <= maxShortDelta
	case f.kind == extendedSame && delta <= maxShortDelta && now > maxShortDelta:
		f.kind, f.short = 0, true
	case f.kind == extendedLocals1 && delta <= maxShortDelta && now > maxShortDelta:
		f.kind, f.short = sameLocals1, true
	case afterAdded && f.kind != fullFrame:
		b.report(at, ruleFrames, "a full_frame after an added frame", fmt.Sprintf("frame_type %d", f.kind))
	}
	if !f.short && f.kind == sameLocals1 {
		f.kind = extendedLocals1
	} else if !f.short && f.kind == 0 {
		f.kind = extendedSame
	}
	return f
}

// reshape returns the frame in another form, as a note says: a short one as extended or the reverse, or a full_frame
// that an added frame before it made necessary in its old form.
func (b *body) reshape(f frame, kind byte, at int) frame {
	was := f
	f.kind, f.short = kind, kind == 0 || kind == sameLocals1
	if was.kind != fullFrame || kind == fullFrame {
		oneItem := func(kind byte) bool { return kind == sameLocals1 || kind == extendedLocals1 }
		noItem := func(kind byte) bool { return kind == 0 || kind == extendedSame }
		if f.kind == was.kind || oneItem(kind) && oneItem(was.kind) || noItem(kind) && noItem(was.kind) {
			return f
		}
	} else if f.body = was.reducedBody(kind); f.body != nil {
		return f
	}
	b.report(at, ruleFrames, fmt.Sprintf("a frame that can have been of frame_type %d", kind),
		fmt.Sprintf("frame_type %d", was.kind))
	return was
}

// reducedBody returns the part of a full_frame's body that a frame of the form kind holds, nil if the frame cannot have
// had that form.
func (f frame) reducedBody(kind byte) []byte {
	locals, stack := f.body[2:f.locals], f.body[f.locals+2:]
	depth := binary.BigEndian.Uint16(f.body[f.locals:])
	switch {
	case kind == sameLocals1 || kind == extendedLocals1:
		if depth == 1 {
			return stack
		}
	case depth != 0:
	case kind == 0 || kind >= firstChop && kind <= extendedSame:
		return []byte{}
	case kind >= firstAppend && kind < fullFrame:
		n := int(binary.BigEndian.Uint16(f.body)) - (int(kind) - extendedSame)
		if n < 0 {
			return nil
		}
		r := reader{data: locals}
		r.items(n)
		return locals[r.at:]
	}
	return nil
}

// appendFrame writes a frame of the original, which is at position at now.
func (b *body) appendFrame(out []byte, f *frame, at int) []byte {
	out = append(out, f.larval...)
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
				b.report(at, rulePool, "only added frames to use the new constants", fmt.Sprintf("constant %d", class))
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

// useItems marks the constants that an added frame needs as used.
func (b *body) useItems(f *frame) {
	for i := range itemsOf(f.body, f.kind) {
		if f.body[i] == itemObject {
			b.block.use(binary.BigEndian.Uint16(f.body[i+1:]))
		}
	}
}

// isAddedFrame reports whether the frame at position at was added: it is a full_frame after the goto_w of a widened
// conditional branch, no other branch and no handler leads there, and no note says that it is the original's. index is
// its number if it is.
func (b *body) isAddedFrame(f *frame, at, index int) bool {
	if f.kind != fullFrame || len(b.joins) == 0 {
		return false
	}
	_, joined := slices.BinarySearch(b.joins, at)
	return joined && !b.block.notes.has(b.number, noteOwnFrame, index) && !b.isTarget(at)
}

// isTarget reports whether a branch of the original or a handler leads to position at.
func (b *body) isTarget(at int) bool {
	for table := b.code.ExceptionTable; len(table) >= 8; table = table[8:] {
		if int(binary.BigEndian.Uint16(table[4:])) == at {
			return true
		}
	}
	for _, e := range b.edits {
		if b.leadsTo(e, at) {
			return true
		}
	}
	return false
}

// leadsTo reports whether an edited branch leads to position at.
func (b *body) leadsTo(e edit, at int) bool {
	switch e.kind {
	case editCut, editCutPost:
		return false
	case editNarrow, editNarrowTwice:
		return b.farTarget(e) == at
	}
	in, err := code.At(b.code.Bytecode, e.pc)
	if err != nil {
		return false
	}
	for target := range in.Targets() {
		if target == at {
			return true
		}
	}
	return false
}

// checkHandlerFrame checks the frame of the exact handler: it must have no locals and a Throwable on the stack, and be
// the last of the table. isFull is set if it is a full_frame, or in a StackMap, which has no other form.
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

// restoreStackMap restores the StackMap of CLDC (CLDC 1.1, appendix 1). Its frames are like full_frame, but with
// absolute positions.
func (b *body) restoreStackMap(out, info []byte) ([]byte, bool) {
	start := len(out)
	out = append(out, 0, 0)
	r := reader{data: info}
	total, kept := r.u2(), 0
	for i := 0; i < total && !r.failed; i++ {
		at := r.u2()
		f := frame{kind: fullFrame}
		from := r.at
		r.items(r.u2())
		r.items(r.u2())
		if r.failed {
			break
		}
		f.body = info[from:r.at]
		if b.hasHandler && at == b.end {
			b.checkHandlerFrame(true, f.body, i == total-1)
			continue
		}
		out = binary.BigEndian.AppendUint16(out, uint16(b.mapBack(at, sideTarget, "a StackMap frame")))
		from = len(out)
		out = append(out, f.body...)
		b.restoreItems(out[from:], fullFrame, at)
		kept++
	}
	if r.failed || r.at != len(info) {
		return b.malformed(out, start, info, "StackMap")
	}
	binary.BigEndian.PutUint16(out[start:], uint16(kept))
	return out, true
}
