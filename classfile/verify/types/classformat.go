package types

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// Flags that matter only to combinations (JVMS tables 4.1-B, 4.5-A and 4.6-A). Super, Volatile, Transient and Bridge
// share their bits with other flags.
const (
	accSuper      = 0x0020
	accVolatile   = 0x0040
	accTransient  = 0x0080
	accAnnotation = 0x2000

	visibility = classfile.AccPublic | classfile.AccPrivate | classfile.AccProtected
)

// The bits of access_flags that HotSpot checks. It ignores the others.
const (
	classFlags = classfile.AccPublic | classfile.AccFinal | accSuper | classfile.AccInterface | classfile.AccAbstract |
		classfile.AccSynthetic | accAnnotation | classfile.AccEnum
	memberFlags = classfile.AccPublic | classfile.AccPrivate | classfile.AccProtected | classfile.AccStatic |
		classfile.AccFinal | 0x0FE0 | classfile.AccSynthetic | classfile.AccEnum
)

const (
	maxArgumentWords = 255   // words, this included (JVMS 4.11)
	maxCodeLength    = 65535 // bytes (JVMS 4.11)
)

func (k *checker) isInterface() bool { return k.class.AccessFlags()&classfile.AccInterface != 0 }

// checkClass checks everything except the pool and what is inside of Code attributes (JVMS 4.1, 4.5 to 4.8).
func (k *checker) checkClass() {
	flags := k.class.AccessFlags() & classFlags
	if flags&classfile.AccInterface != 0 && k.major < majorFrames {
		flags |= classfile.AccAbstract // not demanded before version 50
	}
	k.checkClassFlags("the class", flags)
	k.checkVersion()
	fields := k.class.Fields()
	for i := range fields {
		k.checkField(&fields[i])
	}
	k.checkDuplicates(fields, ruleFieldInfo, "one field of a name and descriptor")
	methods := k.class.Methods()
	for i := range methods {
		k.checkMethod(&methods[i])
		k.hasFinal = k.hasFinal || k.forbidsOverriding(methods[i].AccessFlags, &k.self)
	}
	k.checkDuplicates(methods, ruleMethodInfo, "one method of a name and descriptor")
	k.checkClassAttributes()
}

// checkDuplicates checks that no two members have the same name and descriptor.
func (k *checker) checkDuplicates(members []classfile.Member, rule, want string) {
	key := func(i int) [2]string { return [2]string{members[i].Name, members[i].Descriptor} }
	eachRepeated(len(members), key, func(i int) { k.formatFinding(&members[i], rule, want, "two") })
}

// eachRepeated calls visit for each i below n whose key is also that of a smaller one.
func eachRepeated[K comparable](n int, key func(i int) K, visit func(i int)) {
	if n < 2 {
		return
	}
	seen := make(map[K]bool, n)
	for i := range n {
		if seen[key(i)] {
			visit(i)
		}
		seen[key(i)] = true
	}
}

// checkVersion checks the minor version (JVMS 4.1).
func (k *checker) checkVersion() {
	minor, _ := k.class.Version()
	if k.major >= 56 && minor != 0 && minor != classfile.PreviewMinor {
		k.finding(ruleClassFlags, "minor_version 0 or 65535", fmt.Sprint(minor))
	}
}

// checkClassFlags checks that access_flags of a class may be combined (JVMS table 4.1-B). what names the class, for a
// finding.
func (k *checker) checkClassFlags(what string, flags uint16) {
	has := func(bits uint16) bool { return flags&bits != 0 }
	isInterface, modern := has(classfile.AccInterface), k.major >= majorJava5
	switch {
	case has(classfile.AccAbstract) && has(classfile.AccFinal),
		isInterface && !has(classfile.AccAbstract),
		isInterface && modern && has(accSuper|classfile.AccEnum),
		!isInterface && modern && has(accAnnotation):
		k.finding(ruleClassFlags, "access_flags of "+what+" that may be combined", fmt.Sprintf("%#04x", flags))
	}
}

// manyVisibilities reports whether more than one of public, private and protected is set.
func manyVisibilities(flags uint16) bool {
	v := flags & visibility
	return v&(v-1) != 0
}

// checkField checks a field_info (JVMS 4.5).
func (k *checker) checkField(f *classfile.Member) {
	flags := f.AccessFlags & memberFlags
	const inInterface = classfile.AccPublic | classfile.AccStatic | classfile.AccFinal
	bad := manyVisibilities(flags) || flags&classfile.AccFinal != 0 && flags&accVolatile != 0
	if k.isInterface() {
		never := uint16(classfile.AccPrivate | classfile.AccProtected | accVolatile | accTransient)
		if k.major >= majorJava5 {
			never |= classfile.AccEnum
		}
		bad = flags&inInterface != inInterface || flags&never != 0
	}
	if bad {
		k.formatFinding(f, ruleFieldInfo, "access_flags that may be combined", fmt.Sprintf("%#04x", flags))
	}
	if !k.validName(k.nameIndex(f), classfile.FieldName) {
		k.formatFinding(f, ruleNames, "a field name", quoted(f.Name))
	}
	if !k.fieldType(k.descriptorIndex(f)) {
		k.formatFinding(f, ruleDescriptors, "a field descriptor", quoted(f.Descriptor))
		return
	}
	k.checkMemberAttributes(f, false)
}

// checkMethod checks a method_info (JVMS 4.6).
func (k *checker) checkMethod(m *classfile.Member) {
	if !k.validName(k.nameIndex(m), classfile.MethodName) {
		k.formatFinding(m, ruleNames, "a method name", quoted(m.Name))
		return
	}
	flags := k.methodFlags(m)
	switch {
	case m.Name == "<clinit>":
		if flags&classfile.AccStatic == 0 {
			k.formatFinding(m, ruleMethodInfo, "a static <clinit>", fmt.Sprintf("%#04x", flags))
		}
	case k.isInterface() && m.Name == "<init>":
		k.formatFinding(m, ruleMethodInfo, "no <init> in an interface", "one")
	case k.isInterface():
		k.checkInterfaceMethodFlags(m, flags)
	default:
		k.checkMethodFlags(m, flags)
	}
	words, ok := k.methodType(k.descriptorIndex(m), m.Name)
	if !ok {
		k.formatFinding(m, ruleDescriptors, "a method descriptor", quoted(m.Descriptor))
		return
	}
	if flags&classfile.AccStatic == 0 {
		words++
	}
	if words > maxArgumentWords {
		k.formatFinding(m, ruleDescriptors, "at most 255 words of arguments", fmt.Sprint(words))
		return
	}
	k.checkMemberAttributes(m, true)
	k.checkBody(m, flags, words)
}

// checkMethodFlags checks that access_flags of a method of a class may be combined (JVMS table 4.6-A).
func (k *checker) checkMethodFlags(m *classfile.Member, flags uint16) {
	const never = classfile.AccFinal | classfile.AccNative | classfile.AccPrivate | classfile.AccStatic
	bad := manyVisibilities(flags)
	if m.Name == "<init>" {
		bad = bad ||
			flags&(classfile.AccStatic|classfile.AccFinal|classfile.AccSynchronized) != 0 ||
			flags&(classfile.AccNative|classfile.AccAbstract) != 0 ||
			k.major >= majorJava5 && flags&classfile.AccBridge != 0
	} else if flags&classfile.AccAbstract != 0 {
		bad = bad || flags&never != 0 || k.major >= majorJava5 && flags&(classfile.AccSynchronized|k.strict()) != 0
	}
	if bad {
		k.formatFinding(m, ruleMethodInfo, "access_flags that may be combined", fmt.Sprintf("%#04x", flags))
	}
}

// checkInterfaceMethodFlags checks that access_flags of a method of an interface may be combined (JVMS table 4.6-A).
func (k *checker) checkInterfaceMethodFlags(m *classfile.Member, flags uint16) {
	has := func(bits uint16) bool { return flags&bits != 0 }
	const never = classfile.AccNative | classfile.AccProtected | classfile.AccFinal | classfile.AccSynchronized
	var bad bool
	switch {
	case k.major >= majorJava8:
		bad = has(classfile.AccPublic) == has(classfile.AccPrivate) || has(never) ||
			has(classfile.AccAbstract) && has(classfile.AccPrivate|classfile.AccStatic|k.strict())
	case k.major >= majorJava5:
		bad = !has(classfile.AccPublic) || !has(classfile.AccAbstract) ||
			has(never|classfile.AccPrivate|classfile.AccStatic|classfile.AccStrict)
	default:
		bad = !has(classfile.AccPublic) || !has(classfile.AccAbstract) ||
			has(classfile.AccStatic|classfile.AccFinal|classfile.AccNative)
	}
	if bad {
		k.formatFinding(m, ruleMethodInfo, "access_flags that may be combined in an interface", fmt.Sprintf("%#04x", flags))
	}
}

// methodFlags returns the access_flags of a method that count. A class initialiser has only two that count, and before
// version 51 it is always static (JVMS 2.9.2, 4.6).
func (k *checker) methodFlags(m *classfile.Member) uint16 {
	switch {
	case m.Name != "<clinit>":
		return m.AccessFlags & memberFlags
	case k.major < majorNoFailover:
		return classfile.AccStatic
	}
	return m.AccessFlags & (classfile.AccStatic | classfile.AccStrict)
}

// strict returns ACC_STRICT in versions in which it has a meaning, that is before 61 (JVMS table 4.6-A), otherwise 0.
func (k *checker) strict() uint16 {
	if k.major < majorSealed {
		return classfile.AccStrict
	}
	return 0
}
