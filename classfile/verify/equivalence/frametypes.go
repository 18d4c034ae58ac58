package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// A frame that was added has no counterpart in the original, and the one behind it had to be spelled out,
// because delta forms build on the frame before. frameTypes holds both to what follows from the frames before
// them. Of a local that was stored to in between it knows no more than the opcode tells, and of the stack how
// deep it is: the rest is for the type verifier.
type frameTypes struct {
	own    []string // locals of the last frame of the original's, item by item
	locals []string // of the last frame, which may be an added one
	at     int      // where that stands
	joins  int      // frames seen behind widened conditional branches
	added  []addedFrame
}

// addedFrame is a position of the original where a frame was added, and the stack words that it speaks of.
type addedFrame struct{ orig, words int }

// Items of frames are written as one byte for the tag and what it refers to: a class's name, or where in the
// original its new stands.
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

// describe writes n items at the start of r down; moved says that their offsets are those of the original
// already.
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
				pc = b.back(pc, sideInst, "an Uninitialized item's new")
			}
			item += fmt.Sprint(pc)
		}
		items = append(items, item)
	}
	return items
}

// follow takes in a frame of the original's as it was, restored, and as it is now. behindAdded says that the
// frame before it was added, so that now spells out all of its locals.
func (b *body) follow(now, restored frame, at int, behindAdded bool) {
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
	if behindAdded && now.kind == fullFrame {
		r := reader{data: now.body}
		if got := b.describe(&r, r.u2(), false); !slices.Equal(trimTops(got), trimTops(t.own)) {
			b.report(at, ruleFrames, fmt.Sprintf("locals of the types %q", t.own), fmt.Sprintf("%q", got))
		}
	}
	b.reached(at, t.own)
}

// trimTops leaves out the last locals that hold nothing: a frame means the same without them.
func trimTops(items []string) []string {
	for len(items) > 0 && items[len(items)-1] == topItem {
		items = items[:len(items)-1]
	}
	return items
}

// reached notes that there is a frame at position at with these locals.
func (b *body) reached(at int, locals []string) {
	b.types.locals, b.types.at = locals, at
	if _, joined := slices.BinarySearch(b.joins, at); joined {
		b.types.joins++
	}
}

// checkAdded holds an added frame to what straight execution from the frame before it leads to.
func (b *body) checkAdded(f frame, at int) {
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
			b.report(at, ruleFrames, fmt.Sprintf("an added frame whose local %d is %q", i, want+before), fmt.Sprintf("%q", after))
		}
	}
	b.reached(at, locals)
}

func isReference(item string) bool { return item[0] > longItem[0] }

// slots spreads items over local variables or stack words: the second of a long or double is empty.
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

// storesBetween tells of each local that the code from position start to end may change what it then holds:
// an item, "A" for any reference, "" for what is not known.
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
			// A store into half of a long or double spoils the other half.
			stored[local-1], stored[local+1] = "", ""
			stored[local] = kind
		}
	}
	return stored
}

// storeKind gives what a store instruction leaves in its local, "" for any other instruction.
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
