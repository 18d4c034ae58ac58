package mutate

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// layout is where the parts of a class file are.
type layout struct {
	fields     []int // offsets of numbers of two bytes, outside the constants and instructions
	attributes []attributePlace
	members    []span
	counts     []int // of each member, the offset of the count of its kind
}

// attributePlace is an attribute with the structures that count it.
type attributePlace struct {
	classfile.Attribute
	count  int // offset of attributes_count
	around int // offset of attribute_length of the Code that it is in, or 0
}

func (m *Mutator) layOut() *layout {
	l := &layout{}
	pool := m.class.ConstantPool()
	at := pool.Offset(pool.Len())
	l.fields = append(l.fields, 8, at, at+2, at+4, at+6)
	at += 8
	for range m.class.Interfaces() {
		l.fields = append(l.fields, at)
		at += 2
	}
	for _, members := range [][]classfile.Member{m.class.Fields(), m.class.Methods()} {
		count := at
		l.fields = append(l.fields, count)
		at += 2
		for i := range members {
			f := &members[i]
			l.fields = append(l.fields, f.Offset, f.Offset+2, f.Offset+4, f.Offset+6)
			end := l.addAttributes(f.Attributes, f.Offset+6, 0)
			l.members = append(l.members, span{f.Offset, end})
			l.counts = append(l.counts, count)
			at = end
		}
	}
	l.fields = append(l.fields, at)
	l.addAttributes(m.class.Attributes(), at, 0)
	for i := range m.bodies {
		b := &m.bodies[i]
		l.fields = append(l.fields, b.attribute, b.attribute+2)
		table := b.code.Offset + len(b.code.Bytecode)
		count := table + 2 + len(b.code.ExceptionTable)
		l.fields = append(l.fields, table, count)
		l.addAttributes(b.code.Attributes, count, b.attribute-4)
	}
	return l
}

// addAttributes adds the attributes that stand after a count, and returns where they end.
func (l *layout) addAttributes(attributes []classfile.Attribute, count, around int) int {
	end := count + 2
	for _, a := range attributes {
		l.attributes = append(l.attributes, attributePlace{a, count, around})
		l.fields = append(l.fields, a.Offset-6)
		end = a.Offset + len(a.Info)
	}
	return end
}

// number returns a number for a field of two bytes: mostly the index of a constant or one near the old.
func (m *Mutator) number(old int) int {
	switch m.rng.IntN(6) {
	case 0:
		return old + 1 + m.rng.IntN(2)
	case 1:
		return old - 1 - m.rng.IntN(2)
	case 2:
		return []int{0, 1, 0x7fff, 0xffff, m.class.ConstantPool().Len()}[m.rng.IntN(5)]
	case 3:
		return old ^ 1<<m.rng.IntN(16)
	}
	return m.rng.IntN(m.class.ConstantPool().Len())
}

// field changes a number of two bytes somewhere in the structures.
func (m *Mutator) field(data []byte) bool {
	l := m.layOut()
	at := l.fields[m.rng.IntN(len(l.fields))]
	old := binary.BigEndian.Uint16(data[at:])
	put2(data[at:], m.number(int(old)))
	return binary.BigEndian.Uint16(data[at:]) != old
}

// anyByte changes a byte of the class file.
func (m *Mutator) anyByte(data []byte) bool {
	at := m.rng.IntN(len(data))
	old := data[at]
	if m.rng.IntN(2) == 0 {
		data[at] ^= 1 << m.rng.IntN(8)
	} else {
		data[at] = byte(m.rng.IntN(256))
	}
	return data[at] != old
}

// attribute picks an attribute that a function accepts.
func (m *Mutator) attribute(l *layout, wanted func(attributePlace) bool) (attributePlace, bool) {
	for range 30 {
		if len(l.attributes) == 0 {
			break
		}
		if a := l.attributes[m.rng.IntN(len(l.attributes))]; wanted(a) {
			return a, true
		}
	}
	return attributePlace{}, false
}

// attributeLength changes the length of an attribute, not its content.
func (m *Mutator) attributeLength(data []byte) bool {
	a, ok := m.attribute(m.layOut(), func(attributePlace) bool { return true })
	if !ok {
		return false
	}
	length := len(a.Info) + m.rng.IntN(5) - 2
	if m.rng.IntN(8) == 0 {
		length = []int{0, -1, 1 << 31, len(data), len(a.Info) ^ 1<<m.rng.IntN(32)}[m.rng.IntN(5)]
	}
	binary.BigEndian.PutUint32(data[a.Offset-4:], uint32(length))
	return uint32(length) != uint32(len(a.Info))
}

// attributeContent changes a byte or a number in an attribute that is not Code.
func (m *Mutator) attributeContent(data []byte) bool {
	a, ok := m.attribute(m.layOut(), func(a attributePlace) bool { return a.Name != "Code" && len(a.Info) > 1 })
	if !ok {
		return false
	}
	at := a.Offset + m.rng.IntN(len(a.Info)-1)
	old := binary.BigEndian.Uint16(data[at:])
	if m.rng.IntN(2) == 0 {
		data[at] = byte(m.rng.IntN(256))
	} else {
		put2(data[at:], m.number(int(old)))
	}
	return binary.BigEndian.Uint16(data[at:]) != old
}

// knownAttributes are the attributes that the JVM reads.
var knownAttributes = []string{
	"AnnotationDefault", "BootstrapMethods", "Code", "ConstantValue", "Deprecated", "EnclosingMethod", "Exceptions",
	"InnerClasses", "LineNumberTable", "LocalVariableTable", "LocalVariableTypeTable", "MethodParameters", "NestHost",
	"NestMembers", "PermittedSubclasses", "Record", "RuntimeVisibleAnnotations", "RuntimeVisibleParameterAnnotations",
	"RuntimeVisibleTypeAnnotations", "Signature", "SourceDebugExtension", "SourceFile", "StackMapTable", "Synthetic",
}

// attributeName changes the name of an attribute to that of another one.
func (m *Mutator) attributeName(data []byte) ([]byte, bool) {
	a, ok := m.attribute(m.layOut(), func(attributePlace) bool { return true })
	if !ok {
		return nil, false
	}
	t := m.newTail()
	name := knownAttributes[m.rng.IntN(len(knownAttributes))]
	put2(data[a.Offset-6:], int(t.utf8(name)))
	data, ok = t.append(data)
	return data, ok && name != a.Name
}

// attributeTwice repeats or removes an attribute.
func (m *Mutator) attributeTwice(data []byte) ([]byte, bool) {
	a, ok := m.attribute(m.layOut(), func(attributePlace) bool { return true })
	if !ok {
		return nil, false
	}
	from, to, change := a.Offset-6, a.Offset+len(a.Info), 1
	size := to - from
	if m.rng.IntN(2) == 0 {
		change, size = -1, -size
	}
	put2(data[a.count:], int(binary.BigEndian.Uint16(data[a.count:]))+change)
	if a.around != 0 {
		length := binary.BigEndian.Uint32(data[a.around:])
		binary.BigEndian.PutUint32(data[a.around:], uint32(int(length)+size))
	}
	if change < 0 {
		return slices.Delete(data, from, to), true
	}
	return slices.Insert(data, to, m.data[from:to]...), true
}

// memberTwice repeats or removes a field or method.
func (m *Mutator) memberTwice(data []byte) ([]byte, bool) {
	l := m.layOut()
	if len(l.members) == 0 {
		return nil, false
	}
	i := m.rng.IntN(len(l.members))
	s, count := l.members[i], l.counts[i]
	old := int(binary.BigEndian.Uint16(data[count:]))
	if m.rng.IntN(2) == 0 {
		put2(data[count:], old-1)
		return slices.Delete(data, s.from, s.to), true
	}
	put2(data[count:], old+1)
	return slices.Insert(data, s.to, m.data[s.from:s.to]...), true
}

// text changes a byte of a text among the constants, adds or removes one, or empties the text.
func (m *Mutator) text(data []byte) ([]byte, bool) {
	pool := m.class.ConstantPool()
	for range 200 {
		i := 1 + m.rng.IntN(pool.Len()-1)
		if pool.Tag(uint16(i)) != classfile.TagUtf8 {
			continue
		}
		s, err := pool.Utf8(uint16(i))
		if err != nil || s == "" {
			continue
		}
		const letters = "IJFDZBCSV[L();/.<>: $aX\x00\x7f\x80\xc0\xe0\xed\xff"
		at := pool.Offset(i) + 3 + m.rng.IntN(len(s))
		letter := letters[m.rng.IntN(len(letters))]
		switch m.rng.IntN(8) {
		case 0:
			put2(data[pool.Offset(i)+1:], 0)
			return slices.Delete(data, pool.Offset(i)+3, pool.Offset(i)+3+len(s)), true
		case 1, 2:
			put2(data[pool.Offset(i)+1:], len(s)-1)
			return slices.Delete(data, at, at+1), true
		case 3, 4:
			put2(data[pool.Offset(i)+1:], len(s)+1)
			return slices.Insert(data, at, letter), true
		}
		old := data[at]
		data[at] = letter
		return data, letter != old
	}
	return nil, false
}

// fileEnd removes bytes at the end of the file, or adds some.
func (m *Mutator) fileEnd(data []byte) ([]byte, bool) {
	switch m.rng.IntN(3) {
	case 0:
		return append(data, byte(m.rng.IntN(256))), true
	case 1:
		return data[:m.rng.IntN(len(data))], true
	}
	return data[:len(data)-1-m.rng.IntN(min(16, len(data)-1))], true
}

// version changes the version of the class file, mostly to another that exists.
func (m *Mutator) version(data []byte) bool {
	old := binary.BigEndian.Uint32(data[4:])
	put2(data[6:], 44+m.rng.IntN(28))
	if m.rng.IntN(4) == 0 {
		put2(data[4:], []int{0, 1, 2, 3, 0xffff}[m.rng.IntN(5)])
	}
	return binary.BigEndian.Uint32(data[4:]) != old
}
