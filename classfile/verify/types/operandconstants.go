package types

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// constant is a constant pool entry as instructions use it. The pool has been checked, so that all references in it are
// valid.
type constant struct {
	resolved  bool // all fields are set, except for value and method
	hasType   bool // value or method is set, for a Utf8 or NameAndType
	tag       classfile.Tag
	protected protection // whether the member of a Fieldref or method reference is protected
	class     vtype      // for a Class, the type; for a Fieldref or method reference, the owner
	value     vtype      // the type of a Fieldref or Dynamic, or of a field descriptor; for a Class, of an array of it
	allowed   uint16     // a bit for each instruction that may use it, see opRow.bit
	method    methodType

	name, descriptor string
}

// setInferring says whether the method is checked by inference, for which other constants may be used.
func (m *method) setInferring(inferring bool) {
	if m.inferring = inferring; m.allowedInferring != inferring {
		m.allowedInferring = inferring
		for i := range m.constants {
			m.constants[i].allowed = 0
		}
	}
}

// protection is the answer of [checker.isProtectedElsewhere].
type protection uint8

const (
	protectionUnknown protection = iota
	notProtected
	isProtected
)

// isProtected is isProtectedElsewhere for the member that a constant names. The answer is kept.
func (k *checker) isProtected(c *constant) bool {
	if c.protected == protectionUnknown {
		c.protected = notProtected
		if k.isProtectedElsewhere(c.class, c.name, c.descriptor, isMethod(c.descriptor)) {
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

// constant returns entry i. Its tag is 0 if the index is not usable.
func (k *checker) constant(i uint16) *constant {
	if int(i) < len(k.constants) && k.constants[i].resolved {
		return &k.constants[i]
	}
	return k.resolve(i)
}

// resolve is constant for an entry that was not needed before.
func (k *checker) resolve(i uint16) *constant {
	if int(i) >= len(k.constants) {
		return &constant{}
	}
	c := &k.constants[i]
	c.resolved = true
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

// constantType fills in what the NameAndType says, whose strings have been read.
func (k *checker) constantType(c *constant, nameAndType uint16) {
	pair := &k.constants[nameAndType]
	if !pair.hasType {
		shared := &k.constants[u2(k.pool.Raw(nameAndType)[2:])]
		pair.hasType, pair.value, pair.method = true, shared.value, shared.method
	}
	c.name, c.descriptor, c.value, c.method = pair.name, pair.descriptor, pair.value, pair.method
}

// typeOf returns the type of a method of the class, whose descriptor has been read.
func (k *checker) typeOf(m *classfile.Member) *methodType {
	return &k.constants[k.descriptorIndex(m)].method
}

// kinds is a set of kinds of constants.
type kinds uint32

func (k kinds) has(t classfile.Tag) bool { return t != 0 && k>>t&1 != 0 }

// String lists the kinds, for findings.
func (k kinds) String() string {
	var names []string
	for t := classfile.TagUtf8; t <= classfile.TagPackage; t++ {
		if k.has(t) {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, " or ")
}

// constantOf returns the constant that the instruction names, which must be of one of the kinds.
func (m *method) constantOf(i uint16, want kinds) *constant {
	c := m.constant(i)
	if !want.has(c.tag) {
		m.fail(ruleInstructions, fmt.Sprintf("a constant of kind %v at index %d", want, i), kindAt(m.pool, i))
	}
	return c
}

// kindAt names the kind of entry i, for findings.
func kindAt(p *classfile.ConstantPool, i uint16) string {
	if t := p.Tag(i); t != 0 {
		return t.String()
	}
	return "none"
}
