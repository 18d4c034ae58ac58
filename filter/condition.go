package filter

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// conditions are what a rule requires besides its pattern. All of them must hold.
type conditions struct {
	annotation *classPattern  // of an annotation of the method or its class; nil if there is no such condition
	supertypes []classPattern // each of them must match some supertype
	class      flags          // of the class, as classTraits returns them
	methodConditions
}

// methodConditions are conditions on the method alone.
type methodConditions struct {
	method flags // on subject.traits
	loop   flags // hasLoop
	sized  bool  // there is a condition on the number of instructions
	// least and most are bounds, both included, on the number of instructions.
	least, most int
}

// flags is a condition on bits: those in mask must be as in want.
type flags struct{ mask, want uint32 }

func (f flags) hold(bits uint32) bool { return bits&f.mask == f.want }

// Traits that are not access_flags, in bits that access_flags do not use.
const (
	isRecord = 1 << 16 // the class has a Record attribute (JVMS 4.7.30)
	hasLoop  = 1 << 17
)

// trait is a condition that is true or false: its key, the group of conditions that it belongs to, and its bit there.
type trait struct {
	name string
	of   func(*conditions) *flags
	bit  uint32
}

func ofClass(c *conditions) *flags  { return &c.class }
func ofMethod(c *conditions) *flags { return &c.method }
func ofLoop(c *conditions) *flags   { return &c.loop }

// traits returns all conditions that are true or false. Flags that both classes and methods can have, such as
// ACC_FINAL, are the method's, because rules are about methods. The exception is abstract, which is about the
// class: a method with code is never abstract.
func traits() []trait {
	return []trait{
		{"public", ofMethod, classfile.AccPublic},
		{"protected", ofMethod, classfile.AccProtected},
		{"private", ofMethod, classfile.AccPrivate},
		{"static", ofMethod, classfile.AccStatic},
		{"final", ofMethod, classfile.AccFinal},
		{"synchronized", ofMethod, classfile.AccSynchronized},
		{"varargs", ofMethod, classfile.AccVarargs},
		{"strictfp", ofMethod, classfile.AccStrict},
		{"synthetic", ofMethod, classfile.AccSynthetic},
		{"abstract", ofClass, classfile.AccAbstract},
		{"interface", ofClass, classfile.AccInterface},
		{"enum", ofClass, classfile.AccEnum},
		{"record", ofClass, isRecord},
		{"loop", ofLoop, hasLoop},
	}
}

// classTraits returns the access_flags of a class, and the other traits of it that conditions need.
func classTraits(c *classfile.Class) uint32 {
	bits := uint32(c.AccessFlags())
	if _, ok := classfile.FindAttribute(c.Attributes(), "Record"); ok {
		bits |= isRecord
	}
	if isSynthetic(c.Attributes()) {
		bits |= classfile.AccSynthetic
	}
	return bits
}

// isSynthetic reports whether there is a Synthetic attribute (JVMS 4.7.8), which compilers before Java 5 wrote
// instead of ACC_SYNTHETIC.
func isSynthetic(attributes []classfile.Attribute) bool {
	_, ok := classfile.FindAttribute(attributes, "Synthetic")
	return ok
}

// subject is a method that rules are matched against. What rarely matters is computed when it is first needed.
type subject struct {
	member *classfile.Member
	code   *classfile.Code
	traits uint32 // access_flags of the method; ACC_SYNTHETIC is set also if the class is synthetic

	annotated []int32 // rules whose annotation the method has, ascending
	measured  bool    // the fields below are set
	decodable bool
	loops     bool
	size      int // in instructions
}

// measure counts the instructions and looks for loops. It counts as javap does: a wide prefix and its instruction are
// one.
func (s *subject) measure() {
	s.measured = true
	for pc := 0; pc < len(s.code.Bytecode); s.size++ {
		in, err := code.At(s.code.Bytecode, pc)
		if err != nil {
			return
		}
		if target, branches := in.Branch(); branches {
			s.loops = s.loops || target <= pc
		} else if in.Op == code.Tableswitch || in.Op == code.Lookupswitch {
			for target := range in.Targets() {
				s.loops = s.loops || target <= pc
			}
		}
		pc += in.Size
	}
	s.decodable = true
}

// none reports whether there is no condition at all.
func (c *conditions) none() bool {
	return c.annotation == nil && len(c.supertypes) == 0 && c.class.mask == 0 && !c.needMethod()
}

// onlySupertypes reports whether there are conditions on supertypes and no others.
func (c *conditions) onlySupertypes() bool {
	return len(c.supertypes) > 0 && c.annotation == nil && c.class.mask == 0 && !c.needMethod()
}

// needMethod reports whether there is a condition on the method itself.
func (c *methodConditions) needMethod() bool { return c.method.mask|c.loop.mask != 0 || c.sized }

// holdFor reports whether the conditions on the method itself hold. On code that cannot be decoded, no condition on
// loops or size holds.
func (c *methodConditions) holdFor(s *subject) bool {
	if !c.method.hold(s.traits) {
		return false
	}
	if c.loop.mask == 0 && !c.sized {
		return true
	}
	if c.least > len(s.code.Bytecode) { // each instruction has at least one byte
		return false
	}
	if !s.measured {
		s.measure()
	}
	bits := uint32(0)
	if s.loops {
		bits = hasLoop
	}
	return s.decodable && c.loop.hold(bits) && (!c.sized || c.least <= s.size && s.size <= c.most)
}

// eachAnnotation calls visit with the class name of each annotation in the Runtime(In)VisibleAnnotations attributes
// of a class or method (JVMS 4.7.16, 4.7.17). It skips the rest of an attribute after a malformed annotation, because
// a JVM links a class with such an attribute, too.
func eachAnnotation(pool *classfile.ConstantPool, attributes []classfile.Attribute, visit func(name string)) {
	for i := range attributes {
		a := &attributes[i]
		if a.Name != "RuntimeVisibleAnnotations" && a.Name != "RuntimeInvisibleAnnotations" || len(a.Info) < 2 {
			continue
		}
		at := 2
		for range binary.BigEndian.Uint16(a.Info) {
			end, err := code.AnnotationEnd(a.Info, at)
			if err != nil {
				break
			}
			descriptor, err := pool.Utf8(binary.BigEndian.Uint16(a.Info[at:]))
			if n := len(descriptor); err == nil && n > 2 && descriptor[0] == 'L' && descriptor[n-1] == ';' {
				visit(descriptor[1 : n-1])
			}
			at = end
		}
	}
}
