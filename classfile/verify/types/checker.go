package types

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
)

// Checker checks classes as HotSpot does when it loads and links them. A Checker is made by setting its fields, which
// must not change after the first Check. Goroutines may share it.
type Checker struct {
	// Hierarchy has the other classes. If it is nil, all of them are unknown.
	Hierarchy Hierarchy
	// Frames adds the frame, that is the types at its place, to each finding about types.
	Frames bool
	// Strict makes a finding of every class that the Hierarchy does not have.
	Strict bool
	// Memory is used by one class after the other. Checkers of few classes each should share it. If it is nil, the
	// Checker has its own.
	Memory *Memory

	own Memory
}

// Memory is the memory of Checkers. The zero Memory is ready for use, by several goroutines.
type Memory struct {
	idle sync.Pool // of *checker
}

// Result holds what a Checker found out about one class.
type Result struct {
	// Findings are in the order of the class file.
	Findings []verify.Finding
	// Unknown are the names of classes that the Hierarchy does not have, in ascending order. They were assumed to fit
	// everywhere.
	Unknown []string
	// Inferred is set if frames of a class of major version 50 are wrong and its types were inferred instead, as
	// HotSpot does then (JVMS 4.10).
	Inferred bool
}

// Check checks a class with a hierarchy, which may be nil. If it returns no findings, HotSpot links the class, as far
// as the classes that it mentions are known.
func Check(c *classfile.Class, h Hierarchy) []verify.Finding {
	checker := Checker{Hierarchy: h}
	return checker.Check(c).Findings
}

// The major class file versions at which rules change.
const (
	majorFrames      = 50 // StackMapTable; inference if the frames are wrong
	majorNoFailover  = 51 // no inference any more
	majorIndy        = 51
	majorJava8       = 52
	majorModules     = 53
	majorCondy       = 55
	majorJava5       = 49
	majorRecords     = 60
	majorThisOnStack = 71 // flagThisUninit for the stack, too
	majorSealed      = 61 // sealed classes, no strictfp; the last version that HotSpot 17 reads
)

func majorOf(c *classfile.Class) int {
	_, major := c.Version()
	return int(major)
}

// methodCode is a method with its Code attribute, which is decoded only once.
type methodCode struct {
	member    *classfile.Member
	code      classfile.Code
	stackMap  []byte        // the StackMapTable
	variables []variableKey // the rows of LocalVariableTable
}

func u2(b []byte) uint16 { return binary.BigEndian.Uint16(b) }

// checker checks one class.
type checker struct {
	scratch
	owner *Checker // whose settings hold
	class *classfile.Class
	pool  *classfile.ConstantPool
	major int

	self        ClassInfo // the checked class
	hasFinal    bool      // whether a method is final
	thisType    vtype
	supersKnown bool // whether all superclasses of self are known

	findings   []verify.Finding
	poolFaults []poolFault // see fault
	thrown     bool        // whether HotSpot throws for a finding: no second chance for version 50
	broken     map[*classfile.Member]bool
	work       int64 // steps so far, see spend
	mostWork   int64 // the bound of work

	allowedInferring bool // constant.allowed is that of inference
}

// scratch is memory that one class after the other uses.
type scratch struct {
	names
	unknown        map[string]bool // the classes that the hierarchy does not have
	finals         []*ClassInfo    // the superclasses that have final methods
	arena          []vtype         // the types in method descriptors
	constants      []constant      // by pool index
	classes, pairs []uint16        // the pool entries that are a Class, and a NameAndType
	members        []uint16        // the others that lead to names
	bodies         []methodCode
	body           method // the current method

	variables, typed []variableKey // the rows of LocalVariableTable and LocalVariableTypeTable
}

// Check checks a class. The class may have every fault that [classfile.Parse] does not report.
func (c *Checker) Check(class *classfile.Class) Result {
	memory := cmp.Or(c.Memory, &c.own)
	k, ok := memory.idle.Get().(*checker)
	if !ok {
		k = newChecker()
	}
	defer func() {
		k.forget()
		memory.idle.Put(k)
	}()
	k.owner = c
	return c.check(k, class)
}

func newChecker() *checker {
	return &checker{scratch: scratch{unknown: map[string]bool{}}}
}

// check is Check in the memory of k.
func (c *Checker) check(k *checker, class *classfile.Class) (result Result) {
	k.names.reset()
	k.class, k.pool, k.major = class, class.ConstantPool(), majorOf(class)
	k.mostWork = baseWork + workPerByte*int64(len(class.Bytes()))
	k.constants = slices.Grow(k.constants, k.pool.Len())[:k.pool.Len()] // all zero: see forget
	if class.AccessFlags()&classfile.AccModule != 0 && k.major >= majorModules {
		if k.checkPool(); class.Name() != "module-info" {
			k.finding(ruleClassFlags, "no ACC_MODULE outside of module-info", "one")
		}
	} else if k.checkPool() {
		k.self = ClassInfo{Name: class.Name(), Super: class.SuperName(), Interfaces: class.Interfaces(),
			AccessFlags: class.AccessFlags()}
		k.thisType = k.of(class.Name())
		k.checkClass()
		k.checkSupers()
		result.Inferred = k.checkCode()
	}
	if len(k.unknown) > 0 { // ranging over an empty map takes time, too
		result.Unknown = slices.Sorted(maps.Keys(k.unknown))
	}
	if c.Strict {
		for _, name := range result.Unknown {
			k.finding(ruleMissing, "class "+name, "none on the class path")
		}
	}
	result.Findings = k.findings
	return result
}

// maxIdleWords bounds the words of types whose memory is kept for the next class.
const maxIdleWords = 1 << 18

// forget drops everything about the class, as the memory of its class file may be reused, and keeps memory for the next
// class. It does not change what was returned.
func (k *checker) forget() {
	if len(k.unknown) > 0 {
		clear(k.unknown)
	}
	clear(k.list)
	clear(k.constants)
	clear(k.finals)
	for i := range k.bodies {
		attributes := k.bodies[i].code.Attributes
		clear(attributes)
		k.bodies[i] = methodCode{code: classfile.Code{Attributes: attributes[:0]}}
	}
	if cap(k.body.words) > maxIdleWords {
		k.body.words = nil
	}
	if cap(k.body.frameWords) > maxIdleWords {
		k.body.frameWords, k.body.frames = nil, nil
	}
	k.body = method{methodMemory: k.body.methodMemory, typeState: typeState{locals: k.body.locals, stack: k.body.stack}}
	k.finals, k.arena, k.constants, k.bodies = k.finals[:0], k.arena[:0], k.constants[:0], k.bodies[:0]
	k.classes, k.pairs, k.members = k.classes[:0], k.pairs[:0], k.members[:0]
	k.variables, k.typed = k.variables[:0], k.typed[:0]
	*k = checker{owner: k.owner, scratch: k.scratch}
}

// findingAt returns a finding about a field or method, or about the class as a whole if m is nil, and about a position
// in the code, which is -1 for none.
func (k *checker) findingAt(m *classfile.Member, offset int, rule, want, got string) verify.Finding {
	f := verify.Finding{Class: k.class.Name(), Offset: offset, Rule: rule, Want: want, Got: got}
	if m != nil {
		f.Method, f.Descriptor = m.Name, m.Descriptor
	}
	return f
}

// finding adds a finding about the class as a whole.
func (k *checker) finding(rule, want, got string) {
	k.findings = append(k.findings, k.findingAt(nil, -1, rule, want, got))
}

// formatFinding adds a finding about the format of a field or method. The code of such a method is not checked, because
// the fault may be in its descriptor.
func (k *checker) formatFinding(m *classfile.Member, rule, want, got string) {
	if k.broken == nil {
		k.broken = map[*classfile.Member]bool{}
	}
	k.broken[m] = true
	k.memberFinding(m, rule, want, got)
}

// memberFinding adds a finding about a field or method, but not about a position in its code.
func (k *checker) memberFinding(m *classfile.Member, rule, want, got string) {
	k.findings = append(k.findings, k.findingAt(m, -1, rule, want, got))
}

// checkCode checks the code of every method: by its frames from version 50 on, and by inference before that. It reports
// whether the types of a class of version 50 were inferred because its frames are wrong.
func (k *checker) checkCode() (inferred bool) {
	before := len(k.findings)
	if k.major < majorFrames {
		k.eachCode(true)
		return false
	}
	k.thrown = false
	k.eachCode(false)
	byFrames := slices.Clone(k.findings[before:])
	if k.major >= majorNoFailover || k.thrown || len(byFrames) == 0 {
		return false
	}
	// HotSpot stops type checking at the first method that fails, and infers the types of the whole class. Only what
	// inference finds counts then; but the error message that HotSpot shows is the one about the frames.
	k.findings = k.findings[:before]
	k.eachCode(true)
	if len(k.findings) == before {
		return true
	}
	k.findings = append(k.findings[:before], byFrames...)
	return false
}

// eachCode calls check for each method whose code has the right format.
func (k *checker) eachCode(inferring bool) {
	for i := range k.bodies {
		if k.broken[k.bodies[i].member] {
			continue
		}
		m := &k.body
		m.reset(k, &k.bodies[i], inferring)
		switch {
		case !m.prepare():
		case inferring:
			m.infer()
		default:
			m.checkTypes()
		}
		m.report()
		k.findings = append(k.findings, m.reported...)
		if k.work > k.mostWork {
			return
		}
	}
}
