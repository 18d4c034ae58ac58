package mutate

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// otherBody picks two methods with code, of which the second may be of the other class. If it can, it mostly picks two
// with the same parameters and result.
func (m *Mutator) otherBody(other *Mutator) (to, from *body, ok bool) {
	if other == nil || len(other.bodies) == 0 {
		return nil, nil, false
	}
	alike := m.rng.IntN(4) > 0
	for range 40 {
		to, from = m.pick(), other.pick()
		if !alike || to != from && to.descriptor == from.descriptor {
			break
		}
	}
	return to, from, to != from
}

// replaceCode returns the class with another content of a method's Code.
func (m *Mutator) replaceCode(data []byte, b *body, info []byte) []byte {
	end := b.attribute + int(binary.BigEndian.Uint32(m.data[b.attribute-4:]))
	binary.BigEndian.PutUint32(data[b.attribute-4:], uint32(len(info)))
	return slices.Replace(data, b.attribute, end, info...)
}

// bodyOfMethod replaces the code of a method by that of another one of its class.
func (m *Mutator) bodyOfMethod(data []byte) ([]byte, bool) {
	to, from, ok := m.otherBody(m)
	if !ok {
		return nil, false
	}
	end := from.attribute + int(binary.BigEndian.Uint32(m.data[from.attribute-4:]))
	return m.replaceCode(data, to, m.data[from.attribute:end]), true
}

// framesOfMethod replaces the frames of a method by those of another one of its class.
func (m *Mutator) framesOfMethod([]byte) ([]byte, bool) {
	to, ok := m.withFrames()
	if !ok {
		return nil, false
	}
	from, ok := m.withFrames()
	if !ok || to == from {
		return nil, false
	}
	return m.replaceAttribute(to, to.frames, from.frames.Info), true
}

// translate returns the Code of another class's method, without its tables of lines and variables, with constants of
// this class.
func (m *Mutator) translate(t *tail, other *Mutator, b *body) ([]byte, bool) {
	pool := other.class.ConstantPool()
	bytecode := slices.Clone(b.code.Bytecode)
	for _, pc := range b.pcs {
		in, err := code.At(b.code.Bytecode, pc)
		if err != nil {
			return nil, false
		}
		if in.Constant() == 0 {
			continue
		}
		i, ok := t.from(pool, in.Constant())
		switch {
		case !ok, in.Op == code.Ldc && i > 255:
			return nil, false
		case in.Op == code.Ldc:
			bytecode[pc+1] = byte(i)
		default:
			put2(bytecode[pc+1:], int(i))
		}
	}
	table := slices.Clone(b.code.ExceptionTable)
	frames := slices.Clone(b.frames.Info)
	places := [][]byte{}
	for at := 6; at < len(table); at += 8 {
		places = append(places, table[at:])
	}
	for _, at := range b.types {
		if at -= b.frames.Offset; frames[at] == 7 {
			places = append(places, frames[at+1:])
		}
	}
	for _, place := range places {
		if old := binary.BigEndian.Uint16(place); old != 0 {
			i, ok := t.from(pool, old)
			if !ok {
				return nil, false
			}
			put2(place, int(i))
		}
	}
	if len(b.frameSpans) == 0 {
		return codeInfo(b.code, bytecode, table, 0, nil), true
	}
	return codeInfo(b.code, bytecode, table, t.utf8("StackMapTable"), frames), true
}

// bodyOfClass replaces the code of a method by that of a method of another class.
func (m *Mutator) bodyOfClass(data []byte) ([]byte, bool) {
	to, from, ok := m.otherBody(m.donor)
	if !ok {
		return nil, false
	}
	t := m.newTail()
	info, ok := m.translate(t, m.donor, from)
	if !ok {
		return nil, false
	}
	return t.append(m.replaceCode(data, to, info))
}

// methodOfClass adds a method of another class, with its code if it has some.
func (m *Mutator) methodOfClass(data []byte) ([]byte, bool) {
	if m.donor == nil || len(m.donor.class.Methods()) == 0 {
		return nil, false
	}
	methods := m.donor.class.Methods()
	method := &methods[m.rng.IntN(len(methods))]
	t := m.newTail()
	member := binary.BigEndian.AppendUint16(nil, method.AccessFlags)
	member = binary.BigEndian.AppendUint16(member, t.utf8(method.Name))
	member = binary.BigEndian.AppendUint16(member, t.utf8(method.Descriptor))
	a, ok := classfile.FindAttribute(method.Attributes, "Code")
	if !ok {
		member = append(member, 0, 0)
	}
	for i := range m.donor.bodies {
		if b := &m.donor.bodies[i]; ok && b.attribute == a.Offset {
			info, translated := m.translate(t, m.donor, b)
			if !translated {
				return nil, false
			}
			member = binary.BigEndian.AppendUint16(append(member, 0, 1), t.utf8("Code"))
			member = binary.BigEndian.AppendUint32(member, uint32(len(info)))
			member = append(member, info...)
		}
	}
	if len(member) < 8 {
		return nil, false // its code cannot be decoded
	}
	at := m.methodsCount()
	put2(data[at:], len(m.class.Methods())+1)
	return t.append(slices.Insert(data, at+2, member...))
}

// methodsCount returns the offset of methods_count.
func (m *Mutator) methodsCount() int {
	pool := m.class.ConstantPool()
	at := pool.Offset(pool.Len()) + 8 + 2*len(m.class.Interfaces())
	if fields := m.class.Fields(); len(fields) > 0 {
		last := fields[len(fields)-1]
		at = last.Offset + 6
		if n := len(last.Attributes); n > 0 {
			at = last.Attributes[n-1].Offset + len(last.Attributes[n-1].Info) - 2
		}
	}
	return at + 2
}

// constantOfClass replaces a constant by one of another class, of the same kind.
func (m *Mutator) constantOfClass(data []byte) ([]byte, bool) {
	if m.donor == nil {
		return nil, false
	}
	pool, theirs := m.class.ConstantPool(), m.donor.class.ConstantPool()
	for range 300 {
		i, j := uint16(1+m.rng.IntN(pool.Len()-1)), uint16(1+m.rng.IntN(theirs.Len()-1))
		tag := pool.Tag(i)
		if tag == 0 || tag == classfile.TagUtf8 || tag != theirs.Tag(j) {
			continue
		}
		t := m.newTail()
		if _, ok := t.from(theirs, j); !ok {
			continue
		}
		// The last entry of the tail is the constant itself; the class's own place gets its bytes.
		size := len(pool.Raw(i))
		entry := t.bytes[len(t.bytes)-size:]
		copy(data[pool.Offset(int(i))+1:], entry)
		data, ok := t.append(data)
		return data, ok
	}
	return nil, false
}

// attributeOfClass adds an attribute of another class as it is, with indexes that mean other constants here, to a place
// of the same kind.
func (m *Mutator) attributeOfClass(data []byte) ([]byte, bool) {
	if m.donor == nil {
		return nil, false
	}
	l, theirs := m.layOut(), m.donor.layOut()
	a, ok := m.attribute(theirs, func(a attributePlace) bool { return a.Name != "Code" && len(a.Info) < 1<<12 })
	if !ok {
		return nil, false
	}
	to, ok := m.attribute(l, func(b attributePlace) bool { return (a.around == 0) == (b.around == 0) })
	if !ok {
		return nil, false
	}
	t := m.newTail()
	added := binary.BigEndian.AppendUint16(nil, t.utf8(a.Name))
	added = binary.BigEndian.AppendUint32(added, uint32(len(a.Info)))
	added = append(added, a.Info...)
	if m.rng.IntN(2) == 0 { // instead of the one that is there
		if to.around != 0 {
			length := binary.BigEndian.Uint32(data[to.around:])
			binary.BigEndian.PutUint32(data[to.around:], uint32(int(length)+len(a.Info)-len(to.Info)))
		}
		return t.append(slices.Replace(data, to.Offset-6, to.Offset+len(to.Info), added...))
	}
	if to.around != 0 {
		length := binary.BigEndian.Uint32(data[to.around:])
		binary.BigEndian.PutUint32(data[to.around:], length+uint32(len(added)))
	}
	put2(data[to.count:], int(binary.BigEndian.Uint16(data[to.count:]))+1)
	return t.append(slices.Insert(data, to.Offset-6, added...))
}

// superOfClass makes the superclass of another class, or the other class itself, the superclass.
func (m *Mutator) superOfClass(data []byte) ([]byte, bool) {
	if m.donor == nil {
		return nil, false
	}
	name := m.donor.class.SuperName()
	if m.rng.IntN(2) == 0 {
		name = m.donor.class.Name()
	}
	if name == "" || name == m.class.SuperName() {
		return nil, false
	}
	t := m.newTail()
	put2(data[m.class.ConstantPool().Offset(m.class.ConstantPool().Len())+4:], int(t.class(name)))
	return t.append(data)
}
