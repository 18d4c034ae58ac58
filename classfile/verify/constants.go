package verify

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// constant is a pool entry as instructions see it. The pool has been checked: its references lead somewhere.
type constant struct {
	known            bool // but for value and method
	typed            bool // of a Utf8: value or method is known
	tag              classfile.Tag
	class            vtype // of a Class the type it names; of a Fieldref or method reference its owner
	name, descriptor string
	value            vtype // of a Fieldref or Dynamic, and of a Utf8 that is the descriptor of one
	method           methodType

	allowed   [2]uint32  // the instructions that may use it, a bit for each; type checking's, then inference's
	protected protection // of the member that a Fieldref or method reference names
}

// protection is what [checker.isProtectedElsewhere] said.
type protection uint8

const (
	notAsked protection = iota
	isOpen
	isProtected
)

// isProtected is isProtectedElsewhere for the member that a constant names, asked once.
func (k *checker) isProtected(c *constant) bool {
	if c.protected == notAsked {
		c.protected = isOpen
		if k.isProtectedElsewhere(k.name(c.class), c.name, c.descriptor, isMethod(c.descriptor)) {
			c.protected = isProtected
		}
	}
	return c.protected == isProtected
}

// methodType is a method descriptor: a type for each word of its arguments, and its result, tTop for void.
type methodType struct {
	words  []vtype
	result vtype
}

// constant resolves entry i; an unusable index has the tag 0.
func (k *checker) constant(i uint16) *constant {
	if int(i) >= len(k.constants) {
		return &constant{}
	}
	c := &k.constants[i]
	if c.known {
		return c
	}
	c.known = true
	c.tag = k.pool.Tag(i)
	switch c.tag {
	case classfile.TagClass:
		if name, err := k.pool.ClassName(i); err == nil {
			c.class = k.of(name)
		}
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		c.class = k.constant(u2(k.pool.Raw(i))).class
		k.constantType(c, u2(k.pool.Raw(i)[2:]))
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		k.constantType(c, u2(k.pool.Raw(i)[2:]))
	}
	return c
}

// constantType fills in what a NameAndType says. Its descriptor is read once for all that use the same string.
func (k *checker) constantType(c *constant, nameAndType uint16) {
	var err error
	if c.name, c.descriptor, err = k.pool.NameAndType(nameAndType); err != nil {
		return
	}
	shared := &k.constants[u2(k.pool.Raw(nameAndType)[2:])]
	if !shared.typed {
		shared.typed = true
		if isMethod(c.descriptor) {
			shared.method = k.methodType(c.descriptor)
		} else {
			shared.value = k.field(c.descriptor)
		}
	}
	c.value, c.method = shared.value, shared.method
}

// typeOf gives the type of a method of the class, whose descriptor is well-formed. It is read once for all that use the
// same string.
func (k *checker) typeOf(m *classfile.Member) *methodType {
	const descriptorAt = 4 // behind access_flags and name_index (JVMS 4.6)
	c := &k.constants[u2(k.class.Bytes()[m.Offset+descriptorAt:])]
	if !c.typed {
		c.typed, c.method = true, k.methodType(m.Descriptor)
	}
	return &c.method
}

// methodType reads a well-formed method descriptor (JVMS 4.3.3).
func (k *checker) methodType(descriptor string) methodType {
	var t methodType
	start := len(k.arena)
	d := descriptor[1:]
	for d[0] != ')' {
		size := fieldDescriptorSize(d)
		v := k.field(d[:size])
		k.arena = append(k.arena, v)
		if second, two := v.secondWord(); two {
			k.arena = append(k.arena, second)
		}
		d = d[size:]
	}
	t.words = k.arena[start:len(k.arena):len(k.arena)]
	if d[1] != 'V' {
		t.result = k.field(d[1:])
	}
	return t
}

// fieldDescriptorSize measures the well-formed field descriptor that s starts with.
func fieldDescriptorSize(s string) int {
	i := 0
	for s[i] == '[' {
		i++
	}
	if s[i] == 'L' {
		for s[i] != ';' {
			i++
		}
	}
	return i + 1
}

// kinds is a set of constant kinds.
type kinds uint32

func (k kinds) has(t classfile.Tag) bool { return t != 0 && k>>t&1 != 0 }

// String names them, for findings.
func (k kinds) String() string {
	var names []string
	for t := classfile.TagUtf8; t <= classfile.TagPackage; t++ {
		if k.has(t) {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, " or ")
}

// constantOf is the constant that the instruction names, which must be of one of the kinds.
func (m *method) constantOf(i uint16, want kinds) *constant {
	c := m.constant(i)
	if !want.has(c.tag) {
		m.fail(ruleInstructions, fmt.Sprintf("a constant of kind %v at index %d", want, i), kindAt(m.pool, i))
	}
	return c
}

func kindAt(p *classfile.ConstantPool, i uint16) string {
	if t := p.Tag(i); t != 0 {
		return t.String()
	}
	return "none"
}
