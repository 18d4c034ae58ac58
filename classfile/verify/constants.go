package verify

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// constant is a pool entry as instructions see it. The pool has been checked: its references lead somewhere.
type constant struct {
	known            bool
	tag              classfile.Tag
	class            vtype // of a Class the type it names; of a Fieldref or method reference its owner
	name, descriptor string
	value            vtype // of a Fieldref or Dynamic
	method           methodType
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
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagDynamic,
		classfile.TagInvokeDynamic:
		ref, err := k.pool.Ref(i)
		if err != nil {
			break
		}
		c.name, c.descriptor = ref.Name, ref.Descriptor
		if ref.Class != "" {
			c.class = k.of(ref.Class)
		}
		if c.tag == classfile.TagFieldref || c.tag == classfile.TagDynamic {
			c.value = k.field(c.descriptor)
		} else {
			c.method = k.methodType(c.descriptor)
		}
	}
	return c
}

// methodType reads a well-formed method descriptor (JVMS 4.3.3).
func (k *checker) methodType(descriptor string) methodType {
	if i, ok := k.methodTypes[descriptor]; ok {
		return k.methodList[i]
	}
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
	k.methodTypes[descriptor] = len(k.methodList)
	k.methodList = append(k.methodList, t)
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
