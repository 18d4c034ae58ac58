package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// frameTypes checks the types in added frames and in the frames after them.
//
// An added frame has no counterpart in the original to compare with, and the frame after it was rewritten as a
// full_frame. An added frame must have exactly the types to which executing the code since the frame before leads (see
// [typeState]). Only one path leads to it, so that this is the one frame that says all that is known there; a frame
// that says less is reported too, although a JVM may accept it. The frame after it must have the locals that its old
// form stands for.
type frameTypes struct {
	own   []string  // the locals of the original's last frame, item by item
	last  typeState // the types of the last frame, which may be an added one
	at    int       // the position of the last frame
	joins int       // the number of frames after widened conditional branches so far
}

// An item of a frame is kept as a string: a byte for the tag, followed by the class's name or by the position of its
// new instruction in the original.
const (
	topItem, integerItem, floatItem, doubleItem = "\x00", "\x01", "\x02", "\x03"
	longItem, nullItem, thisItem                = "\x04", "\x05", "\x06"
)

// startFrames sets the types to those at the method's start (JVMS 4.10.1.6).
func (b *body) startFrames() {
	b.types = frameTypes{}
	if len(b.joins) == 0 {
		return
	}
	if b.member.AccessFlags&classfile.AccStatic == 0 {
		this := objectItem(b.class.Name())
		if b.member.Name == "<init>" && b.class.SuperName() != "" {
			this = thisItem
		}
		b.types.own = append(b.types.own, this)
	}
	parameters, _, _ := strings.Cut(strings.TrimPrefix(b.member.Descriptor, "("), ")")
	for parameters != "" {
		size := min(1+len(parameters)-len(strings.TrimLeft(parameters, "[")), len(parameters))
		if i := strings.IndexByte(parameters, ';'); parameters[size-1] == 'L' && i >= 0 {
			size = i + 1
		}
		b.types.own = append(b.types.own, descriptorItem(parameters[:size]))
		parameters = parameters[size:]
	}
	b.types.last.locals = slots(b.types.own)
}

func objectItem(class string) string { return string(rune(itemObject)) + class }

// descriptorItem returns the item of a value with that field descriptor, which must not be empty.
func descriptorItem(descriptor string) string {
	switch descriptor[0] {
	case 'J':
		return longItem
	case 'D':
		return doubleItem
	case 'F':
		return floatItem
	case '[':
		return objectItem(descriptor)
	case 'L':
		return objectItem(strings.TrimSuffix(descriptor[1:], ";"))
	}
	return integerItem
}

// describe returns the next n items that r reads. moved is set if their offsets are already those of the original.
func (b *body) describe(r *reader, n int, moved bool) (items []string) {
	for range n {
		start := r.at
		if r.items(1); r.failed {
			return items
		}
		raw := r.data[start:r.at]
		item := string(raw[:1])
		switch raw[0] {
		case itemObject:
			name, _ := b.pool.ClassName(binary.BigEndian.Uint16(raw[1:]))
			item += name
		case itemUninitialized:
			pc := int(binary.BigEndian.Uint16(raw[1:]))
			if !moved {
				pc = b.mapBack(pc, sideInst, "an Uninitialized item's new")
			}
			item += fmt.Sprint(pc)
		}
		items = append(items, item)
	}
	return items
}

// followFrame applies a frame of the original: restored is the frame as it was, now as it is. afterAdded is set if the
// frame before it was added; now then holds all locals, and they must be those that restored stands for.
func (b *body) followFrame(now, restored *frame, at int, afterAdded bool) {
	if len(b.joins) == 0 {
		return
	}
	t := &b.types
	r := reader{data: restored.body}
	var stack []string
	switch kind := restored.kind; {
	case kind == fullFrame:
		t.own = b.describe(&r, r.u2(), true)
		stack = b.describe(&r, r.u2(), true)
	case kind >= firstAppend:
		t.own = append(t.own, b.describe(&r, int(kind)-extendedSame, true)...)
	case kind >= firstChop && kind < extendedSame:
		t.own = t.own[:max(0, len(t.own)-(extendedSame-int(kind)))]
	case kind == sameLocals1 || kind == extendedLocals1:
		stack = b.describe(&r, 1, true)
	}
	if afterAdded && now.kind == fullFrame {
		r := reader{data: now.body}
		if got := b.describe(&r, r.u2(), false); !slices.Equal(got, t.own) {
			b.report(at, ruleFrames, fmt.Sprintf("locals of the types %q", t.own), fmt.Sprintf("%q", got))
		}
	}
	b.noteFrame(at, t.own, stack)
}

// noteFrame makes the frame at position at, with these items, the last one.
func (b *body) noteFrame(at int, locals, stack []string) {
	b.types.last, b.types.at = typeState{slots(locals), slots(stack)}, at
	if _, joined := slices.BinarySearch(b.joins, at); joined {
		b.types.joins++
	}
}

// checkAddedFrame compares an added frame with what executing the code since the frame before leads to.
func (b *body) checkAddedFrame(f *frame, at int) {
	r := reader{data: f.body}
	locals := b.describe(&r, r.u2(), false)
	stack := b.describe(&r, r.u2(), false)
	want := &b.types.last
	if err := b.execute(want, b.types.at, at); err != nil {
		b.report(at, ruleFrames, "an added frame after code whose types can be computed", err.Error())
	} else {
		want.trimTops()
		b.compareWords(at, "local", want.locals, slots(locals))
		b.compareWords(at, "stack word", want.stack, slots(stack))
	}
	b.noteFrame(at, locals, stack)
}

// compareWords reports the words of an added frame from the first on that is not the wanted one. what names a word.
func (b *body) compareWords(at int, what string, want, got []string) {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	if len(want) != len(got) || i < len(want) {
		b.report(at, ruleFrames, fmt.Sprintf("an added frame with %d %ss, from %d on %q", len(want), what, i, want[i:]),
			fmt.Sprintf("%d, %q", len(got), got[i:]))
	}
}

// slots spreads items over local variables or stack words; the second word of a long or double is "".
func slots(items []string) (all []string) {
	for _, item := range items {
		all = appendWords(all, item)
	}
	return all
}
