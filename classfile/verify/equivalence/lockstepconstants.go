package equivalence

import (
	"encoding/binary"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// knownConstant is what lockstep has read of a constant.
type knownConstant struct {
	kind      constantKind
	arguments uint8 // stack words of a method's arguments, without this
	result    uint8 // those of its result, or of a field
}

// constantKind is the kind of a knownConstant. No constant is of two kinds.
type constantKind uint8

const (
	unknownConstant constantKind = iota // not read so far
	otherConstant
	memberField // a field, named by a Fieldref or the like
	memberMethod
	fieldDescriptor
	methodDescriptor
	className // a Class whose name is a Utf8
	linesName // a Utf8, LineNumberTable
	variablesName
	framesName
)

// tableKind returns the kind of the attribute inside of Code that has the name with that index.
func (s *lockstep) tableKind(name uint16) constantKind {
	if int(name) >= len(s.known) {
		return otherConstant
	}
	if kind := s.known[name].kind; kind != unknownConstant {
		return kind
	}
	kind := otherConstant
	text, _ := s.pool.Utf8(name)
	switch text {
	case "LineNumberTable":
		kind = linesName
	case "LocalVariableTable", "LocalVariableTypeTable":
		kind = variablesName
	case "StackMapTable":
		kind = framesName
	}
	s.known[name].kind = kind
	return kind
}

// readMember reads a constant that names a field or method, as [code.Instruction.StackWords] does. Its kind is
// otherConstant if StackWords would fail.
func (s *lockstep) readMember(i uint16) knownConstant {
	c := s.member(i)
	switch c.kind {
	case fieldDescriptor:
		c.kind = memberField
	case methodDescriptor:
		c.kind = memberMethod
	default:
		c = knownConstant{kind: otherConstant}
	}
	s.known[i] = c
	return c
}

// member returns what is known of the descriptor of the member that a constant names.
func (s *lockstep) member(i uint16) knownConstant {
	tag, info := s.pool.Entry(i)
	switch tag {
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		if !s.isClass(binary.BigEndian.Uint16(info)) {
			return knownConstant{}
		}
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
	default:
		return knownConstant{}
	}
	tag, info = s.pool.Entry(binary.BigEndian.Uint16(info[2:]))
	if tag != classfile.TagNameAndType || s.pool.Tag(binary.BigEndian.Uint16(info)) != classfile.TagUtf8 {
		return knownConstant{}
	}
	return s.descriptor(binary.BigEndian.Uint16(info[2:]))
}

// isClass reports whether constant i is a Class with a name.
func (s *lockstep) isClass(i uint16) bool {
	if int(i) >= len(s.known) {
		return false
	}
	if s.known[i].kind == unknownConstant {
		if tag, info := s.pool.Entry(i); tag == classfile.TagClass &&
			s.pool.Tag(binary.BigEndian.Uint16(info)) == classfile.TagUtf8 {
			s.known[i].kind = className
		}
	}
	return s.known[i].kind == className
}

// descriptor reads a Utf8 that is a descriptor.
func (s *lockstep) descriptor(i uint16) knownConstant {
	if int(i) >= len(s.known) {
		return knownConstant{}
	}
	if s.known[i].kind != unknownConstant {
		return s.known[i]
	}
	c := knownConstant{kind: otherConstant}
	if text, err := s.pool.Utf8(i); err != nil {
		return c
	} else if strings.HasPrefix(text, "(") {
		if arguments, result, err := code.DescriptorWords(text); err == nil {
			c = knownConstant{kind: methodDescriptor, arguments: uint8(arguments), result: uint8(result)}
		}
	} else if words, ok := code.FieldWords(text); ok {
		c = knownConstant{kind: fieldDescriptor, result: uint8(words)}
	}
	s.known[i] = c
	return c
}
