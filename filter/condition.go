package filter

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// conditions are what a rule asks for besides its pattern. All of them have to hold.
type conditions struct {
	annotation *classPattern  // of an annotation of the method or its class; nil asks for none
	supertypes []classPattern // each is matched by a supertype
	class      flags          // of the class, as classTraits gives them
	methodConditions
}

// methodConditions are those on the method itself.
type methodConditions struct {
	method flags // as subject.traits
	loop   flags // hasLoop
	sized  bool  // whether least and most count
	// least and most are the numbers of instructions between which the method's has to lie, both included.
	least, most int
}

// flags is a condition on bits.
type flags struct{ mask, want uint32 }

func (f flags) hold(bits uint32) bool { return bits&f.mask == f.want }

// Traits that are no access_flags.
const (
	isRecord = 1 << 16 // the class has a Record attribute (JVMS 4.7.30)
	hasLoop  = 1 << 17
)

// trait is a key of a rule that is true or false.
type trait struct {
	name string
	of   func(*conditions) *flags
	bit  uint32
}

func ofClass(c *conditions) *flags  { return &c.class }
func ofMethod(c *conditions) *flags { return &c.method }
func ofLoop(c *conditions) *flags   { return &c.loop }

// traits are the keys of rules that are true or false. Of ACC_FINAL and what else both classes and methods have,
// the method's is meant, for rules are about methods; abstract is the class, as no method with code is.
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

// classTraits gives the access_flags of a class and what else rules ask of it.
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

// isSynthetic looks for the attribute by which compilers before Java 5 said so (JVMS 4.7.8).
func isSynthetic(attributes []classfile.Attribute) bool {
	_, ok := classfile.FindAttribute(attributes, "Synthetic")
	return ok
}

// subject is a method that rules are asked about.
type subject struct {
	member *classfile.Member
	code   *classfile.Code
	name   string // as matchable gives it
	traits uint32 // of the method; ACC_SYNTHETIC also if its class is

	annotated []int32 // rules whose annotation the method has
	measured  bool    // whether what follows is known
	decodable bool
	loops     bool
	size      int // in instructions
}

// measure counts the instructions as javap does: one with a wide prefix is one.
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

// none says whether there are no conditions.
func (c *conditions) none() bool {
	return c.annotation == nil && len(c.supertypes) == 0 && c.class.mask == 0 && !c.needMethod()
}

// onlySupertypes says whether there is no other condition.
func (c *conditions) onlySupertypes() bool {
	return len(c.supertypes) > 0 && c.annotation == nil && c.class.mask == 0 && !c.needMethod()
}

// needMethod says whether the conditions, but for that on annotations, ask for more than the class.
func (c *methodConditions) needMethod() bool { return c.method.mask|c.loop.mask != 0 || c.sized }

// holdFor says whether the conditions on the method itself hold, but for that on annotations. Nothing is said of
// the size of code that cannot be decoded: no such condition holds.
func (c *methodConditions) holdFor(s *subject) bool {
	if !c.method.hold(s.traits) {
		return false
	}
	if c.loop.mask == 0 && !c.sized {
		return true
	}
	if c.least > len(s.code.Bytecode) { // each instruction has a byte
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

// eachAnnotation calls visit with the class name of each annotation in the Runtime(In)VisibleAnnotations of a
// class or method (JVMS 4.7.16, 4.7.17). What follows on a malformed one is left out: to a JVM, too, such an
// attribute is no fault of the class.
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
