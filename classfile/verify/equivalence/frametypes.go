package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// frameTypes checks the types in added frames and in the frames after them.
//
// An added frame has no counterpart in the original to compare with, and the frame after it was rewritten as a
// full_frame. Both must agree with the frames before them: an added frame has the locals of the frame before, except
// for those that the code in between stores to, and the frame after has the locals that its old form stands for. For a
// local that was stored to, only the kind that the opcode shows is checked, and for the stack only the depth. The type
// checker does the rest.
type frameTypes struct {
	own    []string // the locals of the original's last frame, item by item
	locals []string // the locals of the last frame, which may be an added one
	at     int      // the position of the last frame
	joins  int      // the number of frames after widened conditional branches so far
	added  []addedFrame
}

// addedFrame is a position of the original at which a frame was added, and the stack words that the frame has.
type addedFrame struct{ orig, words int }

// An item of a frame is kept as a string: a byte for the tag, followed by the class's name or by the position of its
// new instruction in the original.
const (
	topItem, integerItem, floatItem, doubleItem, longItem, thisItem = "\x00", "\x01", "\x02", "\x03", "\x04", "\x06"
)

// startFrames sets the types to those at the method's start (JVMS 4.10.1.6).
func (b *body) startFrames() {
	b.types = frameTypes{added: b.types.added[:0]}
	if len(b.joins) == 0 {
		return
	}
	if b.member.AccessFlags&classfile.AccStatic == 0 {
		this := string(rune(itemObject)) + b.class.Name()
		if b.member.Name == "<init>" && b.class.SuperName() != "" {
			this = thisItem
		}
		b.types.own = append(b.types.own, this)
	}
	parameters, _, _ := strings.Cut(strings.TrimPrefix(b.member.Descriptor, "("), ")")
	for parameters != "" {
		size := 1 + len(parameters) - len(strings.TrimLeft(parameters, "["))
		if i := strings.IndexByte(parameters, ';'); parameters[size-1:][:1] == "L" && i >= 0 {
			size = i + 1
		}
		size = min(size, len(parameters))
		b.types.own = append(b.types.own, parameterItem(parameters[:size]))
		parameters = parameters[size:]
	}
	b.types.locals = b.types.own
}

func parameterItem(descriptor string) string {
	switch descriptor[0] {
	case 'J':
		return longItem
	case 'D':
		return doubleItem
	case 'F':
		return floatItem
	case '[':
		return string(rune(itemObject)) + descriptor
	case 'L':
		return string(rune(itemObject)) + strings.Trim(descriptor, "L;")
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
func (b *body) followFrame(now, restored frame, at int, afterAdded bool) {
	if len(b.joins) == 0 {
		return
	}
	t := &b.types
	r := reader{data: restored.body}
	switch kind := restored.kind; {
	case kind == fullFrame:
		t.own = b.describe(&r, r.u2(), true)
	case kind >= firstAppend:
		t.own = append(t.own, b.describe(&r, int(kind)-extendedSame, true)...) // in place: locals is replaced below
	case kind >= firstChop && kind < extendedSame:
		t.own = t.own[:max(0, len(t.own)-(extendedSame-int(kind)))]
	}
	if afterAdded && now.kind == fullFrame {
		r := reader{data: now.body}
		if got := b.describe(&r, r.u2(), false); !slices.Equal(trimTops(got), trimTops(t.own)) {
			b.report(at, ruleFrames, fmt.Sprintf("locals of the types %q", t.own), fmt.Sprintf("%q", got))
		}
	}
	b.noteFrame(at, t.own)
}

// trimTops cuts off trailing tops: a frame means the same without them.
func trimTops(items []string) []string {
	for len(items) > 0 && items[len(items)-1] == topItem {
		items = items[:len(items)-1]
	}
	return items
}

// noteFrame makes the frame at position at, with these locals, the last one.
func (b *body) noteFrame(at int, locals []string) {
	b.types.locals, b.types.at = locals, at
	if _, joined := slices.BinarySearch(b.joins, at); joined {
		b.types.joins++
	}
}

// checkAddedFrame compares an added frame with what executing the code since the frame before leads to.
func (b *body) checkAddedFrame(f frame, at int) {
	r := reader{data: f.body}
	locals := b.describe(&r, r.u2(), false)
	stack := b.describe(&r, r.u2(), false)
	b.types.added = append(b.types.added, addedFrame{int(b.places[at] >> sideBits), len(slots(stack))})
	stored := b.storesBetween(b.types.at, at)
	was, is := slots(b.types.locals), slots(locals)
	last := max(len(was), len(is)) - 1
	for i := range stored {
		last = max(last, i)
	}
	for i := range last + 1 {
		before, after := slot(was, i), slot(is, i)
		want, changed := stored[i]
		ok := before == after
		if changed {
			ok = want == "" || want == after || want == "A" && isReference(after)
		}
		if !ok {
			b.report(at, ruleFrames, fmt.Sprintf("an added frame whose local %d is %q", i, want+before),
				fmt.Sprintf("%q", after))
		}
	}
	b.noteFrame(at, locals)
}

func isReference(item string) bool { return item[0] > longItem[0] }

// slots spreads items over local variables or stack words; the second word of a long or double is "".
func slots(items []string) (all []string) {
	for _, item := range items {
		all = append(all, item)
		if item == longItem || item == doubleItem {
			all = append(all, "")
		}
	}
	return all
}

func slot(slots []string, i int) string {
	if i < len(slots) {
		return slots[i]
	}
	return topItem
}

// storesBetween returns, for each local that the code from position start to end may change, what it then holds: an
// item, "A" for any reference, "" if that is unknown.
func (b *body) storesBetween(start, end int) map[int]string {
	stored := make(map[int]string)
	for pc := start; pc < end; {
		in, err := code.At(b.code.Bytecode, pc)
		if err != nil {
			return stored
		}
		pc += in.Size
		op := in.Op
		if op == code.Wide {
			op = code.Op(in.U1(0))
		}
		local, ok := in.Local()
		switch kind := storeKind(op); {
		case op == code.Invokespecial: // may initialise objects in locals
			for i, item := range slots(b.types.locals) {
				if item == thisItem || item != "" && item[0] == itemUninitialized {
					stored[i] = ""
				}
			}
		case ok && kind != "":
			// A store into one word of a long or double makes the other word unusable.
			stored[local-1], stored[local+1] = "", ""
			stored[local] = kind
		}
	}
	return stored
}

// storeKind returns what a local holds after a store instruction, "" for other instructions.
func storeKind(op code.Op) string {
	kinds := [...]string{integerItem, longItem, floatItem, doubleItem, "A"}
	switch {
	case op >= code.Istore && op <= code.Astore:
		return kinds[op-code.Istore]
	case op >= code.Istore0 && op <= code.Astore3:
		return kinds[(op-code.Istore0)/4]
	}
	return ""
}
