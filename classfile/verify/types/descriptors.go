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

// validField reports whether string i is a field descriptor. If so, its type is kept for all constants that use it.
func (k *checker) validField(i uint16, descriptor string) bool {
	c := &k.constants[i]
	if !c.hasType && descriptor != "" {
		var size int
		c.value, size = k.readField(descriptor)
		c.hasType = size == len(descriptor)
	}
	return c.hasType && !isMethod(descriptor)
}

// argumentWords does what the function argumentWords does for string i. The type of a valid descriptor is kept for all
// constants that use it, even if the name of the method forbids it.
func (k *checker) argumentWords(i uint16, name, descriptor string) (words int, ok bool) {
	c := &k.constants[i]
	if !c.hasType && isMethod(descriptor) {
		start := len(k.arena)
		if c.method, c.hasType = k.readMethod(descriptor); !c.hasType {
			k.arena = k.arena[:start]
		}
	}
	special := name != "" && name[0] == '<'
	if !c.hasType || !isMethod(descriptor) || special && c.method.result != tTop ||
		name == "<clinit>" && k.major >= majorNoFailover && descriptor != "()V" {
		return 0, false
	}
	return len(c.method.words), true
}

// readMethod reads a method descriptor (JVMS 4.3.3), and reports whether it is one.
func (k *checker) readMethod(descriptor string) (t methodType, ok bool) {
	start := len(k.arena)
	d := descriptor[1:]
	for d != "" && d[0] != ')' {
		v, size := primitiveTypes[d[0]], 1
		if v == tTop {
			if v, size = k.readField(d); size == 0 {
				return t, false
			}
		}
		if k.arena = append(k.arena, v); v == tLong || v == tDouble {
			second, _ := v.secondWord()
			k.arena = append(k.arena, second)
		}
		d = d[size:]
	}
	t.words = k.arena[start:len(k.arena):len(k.arena)]
	if len(d) < 2 {
		return t, false
	}
	if d[1:] == "V" {
		return t, true
	}
	result, size := k.readField(d[1:])
	t.result = result
	return t, size == len(d)-1
}

// primitiveTypes are the types of the values with the descriptors of primitive types, tTop for other characters.
var primitiveTypes = [256]vtype{
	'B': tInt, 'C': tInt, 'D': tDouble, 'F': tFloat, 'I': tInt, 'J': tLong, 'S': tInt, 'Z': tInt,
}

// readField reads the field descriptor with which s begins. It returns its size, 0 if there is none.
func (k *checker) readField(s string) (t vtype, size int) {
	if t = primitiveTypes[s[0]]; t != tTop {
		return t, 1
	}
	if s[0] == 'L' && k.major >= majorJava5 {
		if end := strings.IndexByte(s, ';'); end > 1 && s[1] != '[' {
			// A class that has a number has been checked before.
			name := s[1:end]
			switch name { // the most frequent ones
			case objectName:
				return tObject, end + 1
			case "java/lang/String":
				return k.loadedType(loadedString), end + 1
			}
			hash := k.hash(name)
			slot := k.slot(name, hash)
			switch {
			case slot.round == k.round:
				return slot.t, end + 1
			case validUnqualified(name, nameOfClass):
				return k.add(name, hash, slot), end + 1
			}
		}
		return tTop, 0
	}
	if size = fieldSize(s, k.major); size == 0 {
		return tTop, 0
	}
	return k.field(s[:size]), size
}
