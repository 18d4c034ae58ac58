package equivalence

import (
	"encoding/binary"
	"fmt"
)

// restorer returns the function that restores an attribute of that name inside of a Code attribute, nil if the name is
// not known. The function appends the info of the attribute as it was, and reports whether the original had the
// attribute.
func restorer(name string) func(b *body, out, info []byte) ([]byte, bool) {
	switch name {
	case "CharacterRangeTable":
		return (*body).restoreCharacterRanges
	case "LineNumberTable":
		return (*body).restoreLines
	case "LocalVariableTable", "LocalVariableTypeTable":
		return (*body).restoreVariables
	case "RuntimeInvisibleTypeAnnotations", "RuntimeVisibleTypeAnnotations":
		return (*body).restoreTypeAnnotations
	case "StackMapTable":
		return (*body).restoreStackMapTable
	}
	return nil
}

func (b *body) keepTable(out, info []byte) ([]byte, bool) { return append(out, info...), true }

// malformed reports a table that cannot be decoded, and keeps it as it is.
func (b *body) malformed(out []byte, start int, info []byte, name string) ([]byte, bool) {
	b.report(-1, ruleTable, "a well-formed "+name, fmt.Sprintf("%d malformed bytes", len(info)))
	return append(out[:start], info...), true
}

// restoreEntries copies a table that consists of a u2 count and entries of a fixed size, and calls restore for each
// entry to change it in place.
func (b *body) restoreEntries(out, info []byte, size int, name string, restore func(entry []byte)) ([]byte, bool) {
	start := len(out)
	if len(info) < 2 || len(info)-2 != size*int(binary.BigEndian.Uint16(info)) {
		return b.malformed(out, start, info, name)
	}
	out = append(out, info...)
	for at := start + 2; at < len(out); at += size {
		restore(out[at : at+size])
	}
	return out, true
}

// restoreLines restores a LineNumberTable (JVMS 4.7.12).
func (b *body) restoreLines(out, info []byte) ([]byte, bool) {
	return b.restoreEntries(out, info, 4, "LineNumberTable", func(entry []byte) {
		q := int(binary.BigEndian.Uint16(entry))
		binary.BigEndian.PutUint16(entry, uint16(b.mapBackLoosely(q, b.startSides(q), "a line's start_pc")))
	})
}

// restoreVariables restores a LocalVariableTable or LocalVariableTypeTable (JVMS 4.7.13, 4.7.14).
func (b *body) restoreVariables(out, info []byte) ([]byte, bool) {
	return b.restoreEntries(out, info, 10, "LocalVariableTable", func(entry []byte) { b.restoreRange(entry) })
}

// restoreRange restores a start_pc and a length in place.
func (b *body) restoreRange(entry []byte) {
	q, length := int(binary.BigEndian.Uint16(entry)), int(binary.BigEndian.Uint16(entry[2:]))
	start := b.mapBackLoosely(q, b.startSides(q), "a variable's start_pc")
	end := start
	if length > 0 {
		end = b.mapBackLoosely(q+length, sideEnd, "a variable's end")
	}
	if end < start {
		b.report(q, ruleTable, "a variable that ends after its start", fmt.Sprintf("%d to %d", start, end))
	}
	binary.BigEndian.PutUint16(entry, uint16(start))
	binary.BigEndian.PutUint16(entry[2:], uint16(end-start))
}

// startSides returns the sides on which a line or variable may begin. Some compilers write ones that begin where the
// code ends; these stand on the side of ends.
func (b *body) startSides(q int) int {
	if q == b.end {
		return sideStart | sideEnd
	}
	return sideStart
}

// restoreCharacterRanges restores javac's CharacterRangeTable: start_pc, an inclusive end_pc, two positions in
// the source and flags.
func (b *body) restoreCharacterRanges(out, info []byte) ([]byte, bool) {
	return b.restoreEntries(out, info, 14, "CharacterRangeTable", func(entry []byte) {
		q, last := int(binary.BigEndian.Uint16(entry)), int(binary.BigEndian.Uint16(entry[2:]))
		start := b.mapBackLoosely(q, b.startSides(q), "a character range's start_pc")
		end := b.mapBackLoosely(last+1, sideEnd, "a character range's end")
		binary.BigEndian.PutUint16(entry, uint16(start))
		binary.BigEndian.PutUint16(entry[2:], uint16(end-1))
	})
}

// The target_type values of type annotations inside a Code attribute (JVMS tables 4.7.20-A and 4.7.20-B).
const (
	targetLocalVariable    = 0x40
	targetResourceVariable = 0x41
	targetCatch            = 0x42
	targetInstanceof       = 0x43
	targetMethodReference  = 0x46
	targetCast             = 0x47
	targetLastArgument     = 0x4B
)

// restoreTypeAnnotations restores a Runtime(In)VisibleTypeAnnotations attribute (JVMS 4.7.20). Indexes into the
// exception table need no change, because entries are only added at its end.
func (b *body) restoreTypeAnnotations(out, info []byte) ([]byte, bool) {
	start := len(out)
	out = append(out, info...)
	r := reader{data: out[start:]}
	for range r.u2() {
		b.restoreTarget(&r)
		r.skip(2 * r.u1()) // type_path
		r.annotation(0)
		if r.failed {
			break
		}
	}
	if r.failed || r.at != len(r.data) {
		return b.malformed(out, start, info, "table of type annotations")
	}
	return out, true
}

// restoreTarget restores the target_type and target_info that r is at, in place.
func (b *body) restoreTarget(r *reader) {
	switch target := r.u1(); {
	case target == targetLocalVariable || target == targetResourceVariable:
		for range r.u2() {
			entry := r.skip(6)
			if r.failed {
				return
			}
			b.restoreRange(entry)
		}
	case target == targetCatch:
		r.skip(2)
	case target >= targetInstanceof && target <= targetLastArgument:
		entry := r.skip(2)
		if target >= targetCast {
			r.skip(1)
		}
		if r.failed {
			return
		}
		q := int(binary.BigEndian.Uint16(entry))
		binary.BigEndian.PutUint16(entry, uint16(b.mapBackLoosely(q, sideInst, "an annotated instruction")))
	default:
		r.failed = true // annotations of declarations are not inside of Code
	}
}

// reader reads bytes in order. Past their end it returns zeros, and failed is set.
type reader struct {
	data   []byte
	at     int
	failed bool
}

func (r *reader) skip(n int) []byte {
	if r.failed || n > len(r.data)-r.at {
		r.failed = true
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) u1() int {
	if b := r.skip(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (r *reader) u2() int {
	if b := r.skip(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

// maxNesting bounds how deep annotations may be nested in annotations. Compilers nest a few levels.
const maxNesting = 200

// annotation skips type_index and the pairs of an annotation (JVMS 4.7.16).
func (r *reader) annotation(nested int) {
	r.skip(2)
	for range r.u2() {
		r.skip(2)
		r.elementValue(nested + 1)
		if r.failed {
			return
		}
	}
}

// elementValue skips an element_value (JVMS 4.7.16.1).
func (r *reader) elementValue(nested int) {
	if nested > maxNesting {
		r.failed = true
	}
	switch tag := r.u1(); tag {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z', 's', 'c':
		r.skip(2)
	case 'e':
		r.skip(4)
	case '@':
		r.annotation(nested)
	case '[':
		for range r.u2() {
			r.elementValue(nested + 1)
			if r.failed {
				return
			}
		}
	default:
		r.failed = true
	}
}
