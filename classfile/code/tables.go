package code

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

var errTruncated = errors.New("ends in an entry")

// mover returns the method that rewrites an attribute with that name inside a Code attribute, whose info holds
// positions: the method appends the attribute's new info to out. It is nil for an unknown name.
func mover(name string) func(r *Relocator, out, info []byte) ([]byte, error) {
	switch name {
	case "CharacterRangeTable":
		return (*Relocator).moveCharacterRanges
	case "LineNumberTable":
		return (*Relocator).moveLines
	case "LocalVariableTable", "LocalVariableTypeTable":
		return (*Relocator).moveVariables
	case "RuntimeInvisibleTypeAnnotations", "RuntimeVisibleTypeAnnotations":
		return (*Relocator).moveTypeAnnotations
	case "StackMapTable":
		return (*Relocator).moveStackMapTable
	}
	return nil
}

// KnownInCode reports whether an attribute with that name can be inside a Code attribute that [Relocator.Relocate]
// changes: whether its layout is known, and so all code offsets in it. A name that is unknown may stand for an
// attribute with offsets.
func KnownInCode(name string) bool { return mover(name) != nil }

// firstFramesMajor is the first major class file version with StackMapTable (JVMS 4.7.4).
const firstFramesMajor = 50

// appendAttributes appends the attributes of the code with their positions moved, and a StackMapTable if the appended
// handler needs the first one.
func (r *Relocator) appendAttributes(out []byte) ([]byte, error) {
	addFrames := false
	if _, major := r.class.Version(); r.patch.Handler != nil && major >= firstFramesMajor {
		_, hasFrames := classfile.FindAttribute(r.code.Attributes, "StackMapTable")
		addFrames = !hasFrames
	}
	n := len(r.code.Attributes)
	if addFrames {
		n++
	}
	if n > MaxLength {
		return nil, fmt.Errorf("%w: %d attributes", ErrTooLarge, n)
	}
	out = binary.BigEndian.AppendUint16(out, uint16(n))
	for i := range r.code.Attributes {
		a := &r.code.Attributes[i]
		move := mover(a.Name)
		if move == nil {
			return nil, fmt.Errorf("%w: %s", ErrUnknownAttribute, a.Name)
		}
		var err error
		if out, err = r.appendAttribute(out, a.NameIndex, a.Info, move); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	if !addFrames {
		return out, nil
	}
	return r.appendAttribute(out, r.pool.Utf8("StackMapTable"), []byte{0, 0}, (*Relocator).moveStackMapTable)
}

// appendAttribute appends one attribute, whose new info move writes.
func (r *Relocator) appendAttribute(out []byte, name uint16, info []byte,
	move func(*Relocator, []byte, []byte) ([]byte, error)) ([]byte, error) {
	out = binary.BigEndian.AppendUint16(out, name)
	out = append(out, 0, 0, 0, 0)
	start := len(out)
	out, err := move(r, out, info)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(out[start-4:], uint32(len(out)-start))
	return out, nil
}

// entries returns the entries of a table that consists of a u2 count and entries of a fixed size in bytes. It fails
// unless the table fills info.
func entries(info []byte, size int) ([]byte, error) {
	if len(info) < 2 || len(info)-2 != size*int(binary.BigEndian.Uint16(info)) {
		return nil, fmt.Errorf("%d bytes do not match the number of its entries", len(info))
	}
	return info[2:], nil
}

// checkPosition returns an error for a position behind the end of the old code.
func (r *Relocator) checkPosition(p int) error {
	if p > len(r.code.Bytecode) {
		return r.positionError(p)
	}
	return nil
}

// positionError is a function of its own so that the compiler inlines checkPosition.
func (r *Relocator) positionError(p int) error {
	return fmt.Errorf("holds the position %d, outside of the %d bytes of code", p, len(r.code.Bytecode))
}

// moveLines moves a LineNumberTable (JVMS 4.7.12).
func (r *Relocator) moveLines(out, info []byte) ([]byte, error) {
	table, err := entries(info, 4)
	if err != nil {
		return nil, err
	}
	out = append(out, info...)
	for table = out[len(out)-len(table):]; len(table) >= 4; table = table[4:] {
		p := int(binary.BigEndian.Uint16(table))
		if err := r.checkPosition(p); err != nil {
			return nil, err
		}
		if p != 0 { // as in start
			binary.BigEndian.PutUint16(table, uint16(r.targets.to(p)))
		}
	}
	return out, nil
}

// moveVariables moves a LocalVariableTable or LocalVariableTypeTable (JVMS 4.7.13, 4.7.14).
func (r *Relocator) moveVariables(out, info []byte) ([]byte, error) {
	table, err := entries(info, variableRow)
	if err != nil {
		return nil, err
	}
	out = append(out, info...)
	for table = out[len(out)-len(table):]; len(table) >= variableRow; table = table[variableRow:] {
		if err := r.moveRange(table); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// moveRange moves the start_pc and length of a variable at the start of entry. An empty range stays empty.
func (r *Relocator) moveRange(entry []byte) error {
	p := int(binary.BigEndian.Uint16(entry))
	end := p + int(binary.BigEndian.Uint16(entry[2:]))
	if err := r.checkPosition(end); err != nil {
		return err
	}
	start, length := 0, 0
	if p != 0 { // as in start
		start = r.targets.to(p)
	}
	switch end {
	case p:
	case len(r.code.Bytecode):
		length = r.newLength - start
	default:
		length = r.targets.to(end) - start
	}
	binary.BigEndian.PutUint16(entry, uint16(start))
	binary.BigEndian.PutUint16(entry[2:], uint16(length))
	return nil
}

// moveCharacterRanges moves the CharacterRangeTable that javac -Xjcov writes: start_pc, end_pc (inclusive),
// two source positions and flags.
func (r *Relocator) moveCharacterRanges(out, info []byte) ([]byte, error) {
	table, err := entries(info, 14)
	if err != nil {
		return nil, err
	}
	out = append(out, info[:2]...)
	for ; len(table) > 0; table = table[14:] {
		p, last := int(binary.BigEndian.Uint16(table)), int(binary.BigEndian.Uint16(table[2:]))
		if err := r.checkPosition(max(p, last+1)); err != nil {
			return nil, err
		}
		out = binary.BigEndian.AppendUint16(out, uint16(r.start(p)))
		out = binary.BigEndian.AppendUint16(out, uint16(r.targets.to(last+1)-1))
		out = append(out, table[4:14]...)
	}
	return out, nil
}

// throwableOnly returns the body of a full_frame without locals and with h.Throwable on the stack.
func throwableOnly(h *Handler) []byte {
	return []byte{0, 0, 0, 1, itemObject, byte(h.Throwable >> 8), byte(h.Throwable)}
}

// moveStackMapTable moves the frames (JVMS 4.7.4), and adds one for the handler.
func (r *Relocator) moveStackMapTable(out, info []byte) ([]byte, error) {
	var err error
	if r.frames, err = parseFrames(info, r.frames[:0]); err != nil {
		return nil, err
	}
	frames := r.frames
	if err := r.checkFramePositions(); err != nil {
		return nil, err
	}
	at := len(out)
	out = append(out, 0, 0)
	n, previous := 0, -1
	push := func(f frame) {
		out = r.appendFrame(out, f, previous)
		previous = f.pc
		n++
	}
	for i, f := range frames {
		if f.pc >= len(r.code.Bytecode) {
			return nil, fmt.Errorf("frame %d is at %d, outside of the %d bytes of code", i, f.pc, len(r.code.Bytecode))
		}
		f.pc = r.targets.to(f.pc)
		if isExtended(f.kind) && oldDelta(frames, i) < shortestDeltaTooLong && f.pc-previous-1 >= shortestDeltaTooLong {
			r.notes = append(r.notes, Note{Kind: NoteFrameForm, Index: i, Value: int(f.kind)})
		}
		push(f)
	}
	if h := r.patch.Handler; h != nil {
		if _, ok := classfile.FindAttribute(r.code.Attributes, "StackMapTable"); ok && len(frames) == 0 {
			r.notes = append(r.notes, Note{Kind: NoteEmptyFrames})
		}
		push(frame{pc: r.newLength, kind: fullFrame, body: throwableOnly(h)})
	}
	if n > MaxLength {
		return nil, fmt.Errorf("%w: %d frames", ErrTooLarge, n)
	}
	binary.BigEndian.PutUint16(out[at:], uint16(n))
	return out, nil
}

// checkFramePositions returns an error for a frame inside the padding of a switch, where no instruction starts.
// Whether the order of such frames would survive depends on how far the padding shrinks, and so on the length of
// the inserted code; but whether a method is refused must not depend on that.
func (r *Relocator) checkFramePositions() error {
	frames := r.frames
	for i := range r.branches {
		b := &r.branches[i]
		if !b.isSwitch() {
			continue
		}
		for len(frames) > 0 && frames[0].pc <= b.pc {
			frames = frames[1:]
		}
		if len(frames) > 0 && frames[0].pc <= b.pc+padding(b.pc) {
			return errors.New("a frame is at a position where no instruction starts")
		}
	}
	return nil
}

// oldDelta returns the offset_delta of frame i in the old code.
func oldDelta(frames []frame, i int) int {
	if i == 0 {
		return frames[0].pc
	}
	return frames[i].pc - frames[i-1].pc - 1
}

// The target_type values of type annotations that hold positions in code (JVMS tables 4.7.20-A and B).
const (
	localVariable         = 0x40
	resourceVariable      = 0x41
	exceptionParameter    = 0x42
	firstOffsetTarget     = 0x43 // instanceof, new, two method references
	firstArgumentTarget   = 0x47 // casts and type arguments
	lastArgumentTarget    = 0x4B
	elementAnnotationNest = 64 // the greatest depth of annotations in annotations that is accepted
)

// moveTypeAnnotations moves a RuntimeVisibleTypeAnnotations or RuntimeInvisibleTypeAnnotations attribute of a Code
// attribute (JVMS 4.7.20). Annotations of exception parameters need no change: they refer to an index of the
// exception table, to which a patch only appends.
func (r *Relocator) moveTypeAnnotations(out, info []byte) ([]byte, error) {
	if len(info) < 2 {
		return nil, errTruncated
	}
	base := len(out)
	out = append(out, info...)
	at := 2
	for range int(binary.BigEndian.Uint16(info)) {
		end, err := r.moveTarget(out[base:], info, at)
		if err != nil {
			return nil, err
		}
		if end >= len(info) {
			return nil, errTruncated
		}
		end += 1 + 2*int(info[end]) // type_path
		if at, err = AnnotationEnd(info, end); err != nil {
			return nil, err
		}
	}
	if at != len(info) {
		return nil, fmt.Errorf("%d bytes follow the last annotation", len(info)-at)
	}
	return out, nil
}

// moveTarget writes the new positions of the target_info (JVMS 4.7.20.1) that starts at at into out, which is a
// copy of info, and returns the position behind it.
func (r *Relocator) moveTarget(out, info []byte, at int) (end int, err error) {
	need := func(n int) bool { return at+1+n <= len(info) }
	if !need(2) {
		return 0, errTruncated
	}
	operand := at + 1
	n := int(binary.BigEndian.Uint16(info[operand:]))
	switch kind := info[at]; {
	case kind == localVariable || kind == resourceVariable:
		if !need(2 + 6*n) {
			return 0, errTruncated
		}
		for i := range n {
			p := operand + 2 + 6*i
			if err := r.moveRange(out[p:]); err != nil {
				return 0, err
			}
		}
		return operand + 2 + 6*n, nil
	case kind == exceptionParameter:
		return operand + 2, nil
	case kind >= firstOffsetTarget && kind <= lastArgumentTarget:
		if err := r.checkPosition(n); err != nil {
			return 0, err
		}
		binary.BigEndian.PutUint16(out[operand:], uint16(r.insts.to(n)))
		if kind < firstArgumentTarget {
			return operand + 2, nil
		}
		if !need(3) {
			return 0, errTruncated
		}
		return operand + 3, nil
	default:
		return 0, fmt.Errorf("type annotation has the target_type %#x, which may not appear in code", kind)
	}
}

// AnnotationEnd returns the position behind the annotation structure (JVMS 4.7.16) that starts at position at of an
// attribute. It fails for an annotation that runs past the end of info, or that contains annotations more than 64
// deep.
func AnnotationEnd(info []byte, at int) (end int, err error) { return annotationEnd(info, at, 0) }

// annotationEnd is AnnotationEnd for an annotation inside of that many others.
func annotationEnd(info []byte, at, nested int) (end int, err error) {
	if nested > elementAnnotationNest {
		return 0, errors.New("annotations are nested too deeply")
	}
	if at+4 > len(info) {
		return 0, errTruncated
	}
	n := int(binary.BigEndian.Uint16(info[at+2:]))
	at += 4
	for range n {
		if at, err = elementValueEnd(info, at+2, nested); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// elementValueEnd returns the position behind the element_value (JVMS 4.7.16.1) that starts at position at.
func elementValueEnd(info []byte, at, nested int) (end int, err error) {
	if at+3 > len(info) {
		return 0, errTruncated
	}
	switch info[at] {
	case '@':
		return annotationEnd(info, at+1, nested+1)
	case '[':
		if nested > elementAnnotationNest {
			return 0, errors.New("annotations are nested too deeply")
		}
		n := int(binary.BigEndian.Uint16(info[at+1:]))
		at += 3
		for range n {
			if at, err = elementValueEnd(info, at, nested+1); err != nil {
				return 0, err
			}
		}
		return at, nil
	case 'e':
		at += 5
	default:
		at += 3
	}
	if at > len(info) {
		return 0, errTruncated
	}
	return at, nil
}
