package types

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// nameIndex returns the pool index of a member's name.
func (k *checker) nameIndex(m *classfile.Member) uint16 {
	const at = 2 // after access_flags (JVMS 4.5, 4.6)
	return u2(k.class.Bytes()[m.Offset+at:])
}

// descriptorIndex returns the pool index of a member's descriptor.
func (k *checker) descriptorIndex(m *classfile.Member) uint16 {
	const at = 4 // after access_flags and name_index (JVMS 4.5, 4.6)
	return u2(k.class.Bytes()[m.Offset+at:])
}

// validName is [classfile.ValidName] of string i, which is checked only once for each kind of name: it
// may be long, and used by thousands of constants.
func (k *checker) validName(i uint16, kind classfile.NameKind) bool {
	c := k.constant(i)
	if c.names>>kind&1 == 0 && classfile.ValidName(k.pool.Text(i), kind, k.major) {
		c.names |= 1 << kind
	}
	return c.names>>kind&1 != 0
}

// className returns the type with the name that string i is, and whether it is the name of a class or array.
func (k *checker) className(i uint16) (class vtype, ok bool) {
	c, name := &k.constants[i], k.pool.Text(i)
	switch {
	case c.class != tTop:
	case name != "" && name[0] == '[':
		if t, size := k.readField(name); size == len(name) {
			c.class = t
		}
	case classfile.ValidName(name, classfile.ClassName, k.major):
		c.class = k.of(name)
	}
	return c.class, c.class != tTop
}

// fieldType reports whether string i is a field descriptor. If so, its type is kept.
func (k *checker) fieldType(i uint16) bool {
	c := k.constant(i)
	if !c.hasType {
		if descriptor := k.pool.Text(i); descriptor != "" {
			var size int
			c.value, size = k.readField(descriptor)
			c.hasType = size == len(descriptor)
		}
	}
	return c.hasType && !c.isMethod
}

// methodType returns how many words the arguments take that string i describes, without this, and whether it is a valid
// descriptor of a method of that name: <init> and <clinit> must not have a result. The type of a descriptor is kept,
// even if the name of the method forbids it.
func (k *checker) methodType(i uint16, name string) (words int, ok bool) {
	c, descriptor := &k.constants[i], k.pool.Text(i)
	if !c.hasType && isMethod(descriptor) {
		start := len(k.arena)
		c.descriptorType, c.hasType = k.readMethod(descriptor)
		if c.isMethod = c.hasType; !c.hasType {
			k.arena = k.arena[:start]
		}
	}
	special := name != "" && name[0] == '<'
	if !c.isMethod || special && c.value != tTop ||
		name == "<clinit>" && k.major >= majorNoFailover && descriptor != "()V" {
		return 0, false
	}
	return int(c.end - c.start), true
}

// readMethod reads a method descriptor (JVMS 4.3.3), and reports whether it is one.
func (k *checker) readMethod(descriptor string) (t descriptorType, ok bool) {
	t.start = int32(len(k.arena))
	d := descriptor[1:]
	for d != "" && d[0] != ')' {
		v, size := k.readField(d)
		if size == 0 {
			return t, false
		}
		k.arena = append(k.arena, v)
		if second, two := v.secondWord(); two {
			k.arena = append(k.arena, second)
		}
		d = d[size:]
	}
	t.end = int32(len(k.arena))
	if len(d) < 2 {
		return t, false
	}
	if d[1:] == "V" {
		return t, true
	}
	result, size := k.readField(d[1:])
	t.value = result
	return t, size == len(d)-1
}

// readField reads the field descriptor (JVMS 4.3.2) with which s begins. It returns its size, 0 if there is none.
func (k *checker) readField(s string) (t vtype, size int) {
	switch t = primitiveTypes[s[0]]; t {
	case tTop:
	case tBoolean, tByte, tShort, tChar:
		return tInt, 1
	default:
		return t, 1
	}
	const maxDimensions = 255
	dimensions := 0
	for s[dimensions] == '[' {
		if dimensions++; dimensions == len(s) || dimensions > maxDimensions {
			return tTop, 0
		}
	}
	switch element := s[dimensions:]; {
	case primitiveTypes[element[0]] != tTop:
		size = dimensions + 1
	case element[0] == 'L':
		end := strings.IndexByte(element, ';')
		if end < 2 || element[1] == '[' {
			return tTop, 0
		}
		if t = k.numbered(element[1:end]); t == tTop {
			return tTop, 0
		}
		size = dimensions + end + 1
	default:
		return tTop, 0
	}
	if dimensions > 0 {
		t = k.of(s[:size])
	}
	return t, size
}

// numbered returns the type of a class, tTop if the name is not valid. A class that has a number has been checked
// before. Most descriptors name one of two.
func (k *checker) numbered(name string) vtype {
	switch name {
	case objectName:
		return tObject
	case "java/lang/String":
		return tString
	}
	if t, known := k.numbers[name]; known {
		return t
	}
	if classfile.ValidName(name, classfile.ClassName, k.major) {
		return k.add(name)
	}
	return tTop
}
