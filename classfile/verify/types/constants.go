package types

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// constant is a constant pool entry as instructions use it. [checker.checkPool] fills it in.
type constant struct {
	tag                       classfile.Tag // 0 for a Utf8 and for an index that is not usable
	askedProtected, protected bool          // the answer of isProtected
	names                     uint8         // for a Utf8, a bit for each classfile.NameKind of which it is a valid name
	hasType                   bool          // for a Utf8, it is the descriptor of a type that has been read
	allowed                   uint16        // a bit for each instruction that may use it, see opRow.bit
	class                     vtype         // for a Class, or a Utf8 that is its name, the type; for a member, the owner
	member
}

// member is what a NameAndType and what refers to it have of a member. A Utf8 has the type that it describes.
type member struct {
	pair          uint16 // the NameAndType
	isMethod      bool
	isConstructor bool // its name is <init>
	hasBrackets   bool // its name begins with <
	descriptorType
}

// descriptorType is the type of a field, or of a value that ldc pushes, or of a method: that of its result, tTop for
// void, and where in arena the types of the words of its arguments are.
type descriptorType struct {
	value      vtype
	start, end int32
}

// argumentsOf returns a type for each word of the arguments of a method.
func (k *checker) argumentsOf(t descriptorType) []vtype { return k.arena[t.start:t.end] }

// nameAndType returns the name and the descriptor of a member.
func (k *checker) nameAndType(c *constant) (name, descriptor string) {
	name, descriptor, _ = k.pool.NameAndType(c.pair)
	return name, descriptor
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

// isProtected is isProtectedElsewhere for the member that a constant names. The answer is kept.
func (k *checker) isProtected(c *constant) bool {
	if !c.askedProtected {
		name, descriptor := k.nameAndType(c)
		c.askedProtected, c.protected = true, k.isProtectedElsewhere(c.class, name, descriptor, c.isMethod)
	}
	return c.protected
}

// constant returns entry i. Its tag is 0 if the index is not usable.
func (k *checker) constant(i uint16) *constant {
	if int(i) < len(k.constants) {
		return &k.constants[i]
	}
	return &constant{}
}

// typeOf returns the type of a method of the class, whose descriptor has been read.
func (k *checker) typeOf(m *classfile.Member) descriptorType {
	return k.constants[k.descriptorIndex(m)].descriptorType
}

func (k *checker) isUtf8(i uint16) bool { return k.pool.Tag(i) == classfile.TagUtf8 }

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
