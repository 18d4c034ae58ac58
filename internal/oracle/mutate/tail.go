package mutate

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// tail is constants that a mutant has after those of the class.
type tail struct {
	pool  *classfile.ConstantPool
	next  int
	bytes []byte
	known map[string]uint16
}

func (m *Mutator) newTail() *tail {
	pool := m.class.ConstantPool()
	return &tail{pool: pool, next: pool.Len(), known: map[string]uint16{}}
}

func (t *tail) add(entry []byte, slots int) uint16 {
	if i, ok := t.known[string(entry)]; ok {
		return i
	}
	i := uint16(t.next)
	t.known[string(entry)] = i
	t.bytes = append(t.bytes, entry...)
	t.next += slots
	return i
}

// utf8 returns the constant with a text, of the class or a new one.
func (t *tail) utf8(s string) uint16 {
	if i, ok := t.pool.FindUtf8(s); ok {
		return i
	}
	entry := binary.BigEndian.AppendUint16([]byte{byte(classfile.TagUtf8)}, uint16(len(s)))
	return t.add(append(entry, s...), 1)
}

func (t *tail) class(name string) uint16 {
	return t.add(binary.BigEndian.AppendUint16([]byte{byte(classfile.TagClass)}, t.utf8(name)), 1)
}

// from returns a constant like that of another class, or false for one that refers to a bootstrap method.
func (t *tail) from(other *classfile.ConstantPool, i uint16) (uint16, bool) {
	tag, raw := other.Tag(i), other.Raw(i)
	switch tag {
	case classfile.TagUtf8:
		s, err := other.Utf8(i)
		return t.utf8(s), err == nil
	case classfile.TagInteger, classfile.TagFloat:
		return t.add(append([]byte{byte(tag)}, raw...), 1), true
	case classfile.TagLong, classfile.TagDouble:
		return t.add(append([]byte{byte(tag)}, raw...), 2), true
	case classfile.TagInvokeDynamic, classfile.TagDynamic, 0:
		return 0, false
	}
	entry := []byte{byte(tag)}
	if tag == classfile.TagMethodHandle {
		entry, raw = append(entry, raw[0]), raw[1:]
	}
	for ; len(raw) > 0; raw = raw[2:] {
		j, ok := t.from(other, binary.BigEndian.Uint16(raw))
		if !ok {
			return 0, false
		}
		entry = binary.BigEndian.AppendUint16(entry, j)
	}
	return t.add(entry, 1), true
}

// append returns the class with these constants. The constants of data are still as long as those of the class.
func (t *tail) append(data []byte) ([]byte, bool) {
	if t.next > 0xffff {
		return nil, false
	}
	put2(data[8:], t.next)
	return slices.Insert(data, t.pool.Offset(t.pool.Len()), t.bytes...), true
}
