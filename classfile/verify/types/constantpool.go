package types

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// checkPool checks the constant pool (JVMS 4.4): the class file version must have the kind of each entry, references
// must lead to entries of the right kinds, and names and descriptors must be well-formed. It reports whether all is so;
// if not, nothing else of the class is checked.
func (k *checker) checkPool() bool {
	before := len(k.findings)
	k.uses = resize(k.uses, k.pool.Len())
	for i := 1; i < k.pool.Len(); i++ {
		tag, raw := k.pool.Entry(uint16(i))
		if tag == 0 {
			continue
		}
		if !k.fitsQuickly(tag, raw) {
			k.checkEntry(uint16(i), tag, raw)
		}
		switch tag {
		case classfile.TagDynamic, classfile.TagInvokeDynamic:
			k.dynamic = append(k.dynamic, uint16(i))
			k.named = append(k.named, uint16(i))
		case classfile.TagClass, classfile.TagMethodType, classfile.TagNameAndType, classfile.TagFieldref,
			classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagMethodHandle:
			k.named = append(k.named, uint16(i))
		}
	}
	if len(k.findings) > before {
		return false
	}
	// Names are checked last: the references that lead to them have been checked then.
	for _, i := range k.named {
		if tag, raw := k.pool.Entry(i); !k.hasKnownNames(tag, raw) {
			k.checkEntryNames(i, tag)
		}
	}
	return len(k.findings) == before
}

// poolRow says which kinds of entries the first two bytes of an entry, and the next two, refer to; 0 stands for none.
type poolRow struct{ first, second classfile.Tag }

// poolRows are those of the kinds that every version has, and that only refer to other entries.
var poolRows = [classfile.TagPackage + 1]poolRow{
	classfile.TagClass:              {first: classfile.TagUtf8},
	classfile.TagString:             {first: classfile.TagUtf8},
	classfile.TagFieldref:           {classfile.TagClass, classfile.TagNameAndType},
	classfile.TagMethodref:          {classfile.TagClass, classfile.TagNameAndType},
	classfile.TagInterfaceMethodref: {classfile.TagClass, classfile.TagNameAndType},
	classfile.TagNameAndType:        {classfile.TagUtf8, classfile.TagUtf8},
}

// fitsQuickly is a quick test before checkEntry, which finds nothing if it returns true. raw is what follows the tag.
func (k *checker) fitsQuickly(tag classfile.Tag, raw []byte) bool {
	if tag == classfile.TagUtf8 {
		return !hasZeroOrNonASCII(raw[2:])
	}
	row := &poolRows[tag]
	return row.first != 0 && k.pool.Tag(u2(raw)) == row.first &&
		(row.second == 0 || k.pool.Tag(u2(raw[2:])) == row.second)
}

// poolFinding adds a finding about entry i.
func (k *checker) poolFinding(i uint16, rule, want, got string) {
	k.finding(rule, fmt.Sprintf("%s at constant pool index %d", want, i), got)
}

// refersTo checks that the entry to, to which entry i refers, is of a kind.
func (k *checker) refersTo(i, to uint16, want classfile.Tag) {
	if k.pool.Tag(to) != want {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a reference to %v", want), kindAt(k.pool, to))
	}
}

// firstMajors holds, for the kinds of constants that were added later, the first version that has them.
var firstMajors = [classfile.TagPackage + 1]int{
	classfile.TagMethodHandle: majorIndy, classfile.TagMethodType: majorIndy, classfile.TagInvokeDynamic: majorIndy,
	classfile.TagDynamic: majorCondy,
}

// checkEntry checks one entry, without the names that it leads to. raw is what follows the tag.
func (k *checker) checkEntry(i uint16, tag classfile.Tag, raw []byte) {
	if k.major < firstMajors[tag] {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a kind that version %d has", k.major), tag.String())
		return
	}
	switch tag {
	case classfile.TagUtf8:
		if hasZeroOrNonASCII(raw[2:]) && !validUtf8(k.text(i), k.major) {
			k.poolFinding(i, ruleUtf8, "modified UTF-8", "other bytes")
		}
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType:
		k.refersTo(i, u2(raw), classfile.TagUtf8)
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		k.refersTo(i, u2(raw), classfile.TagClass)
		k.refersTo(i, u2(raw[2:]), classfile.TagNameAndType)
	case classfile.TagNameAndType:
		k.refersTo(i, u2(raw), classfile.TagUtf8)
		k.refersTo(i, u2(raw[2:]), classfile.TagUtf8)
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		k.refersTo(i, u2(raw[2:]), classfile.TagNameAndType)
	case classfile.TagMethodHandle:
		k.checkMethodHandle(i, int(raw[0]), u2(raw[1:]))
	case classfile.TagModule, classfile.TagPackage:
		if k.class.AccessFlags()&classfile.AccModule == 0 {
			k.poolFinding(i, rulePoolEntry, "no Module or Package outside of a module declaration", tag.String())
		}
		k.refersTo(i, u2(raw), classfile.TagUtf8)
	}
}

// The reference_kind values of a MethodHandle (JVMS table 5.4.3.5-A).
const (
	refPutStatic        = 4
	refInvokeVirtual    = 5
	refInvokeStatic     = 6
	refInvokeSpecial    = 7
	refNewInvokeSpecial = 8
	refInvokeInterface  = 9
)

// checkMethodHandle checks the reference_kind of a MethodHandle and the kind of the entry that it refers to (JVMS
// 4.4.8).
func (k *checker) checkMethodHandle(i uint16, kind int, to uint16) {
	tag := k.pool.Tag(to)
	ok := false
	switch {
	case kind == 0 || kind > refInvokeInterface:
		k.poolFinding(i, rulePoolEntry, "a reference_kind from 1 to 9", fmt.Sprint(kind))
		return
	case kind <= refPutStatic:
		ok = tag == classfile.TagFieldref
	case kind == refInvokeInterface:
		ok = tag == classfile.TagInterfaceMethodref
	case kind == refInvokeStatic || kind == refInvokeSpecial:
		ok = tag == classfile.TagMethodref || tag == classfile.TagInterfaceMethodref && k.major >= majorJava8
	default:
		ok = tag == classfile.TagMethodref
	}
	if !ok {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a member that a handle of kind %d can refer to", kind),
			kindAt(k.pool, to))
	}
}

// text returns the string of entry i, which must be a Utf8.
func (k *checker) text(i uint16) string {
	s, _ := k.pool.Utf8(i)
	return s
}

// hasKnownNames is a quick test before checkEntryNames. It returns true if an entry leads to no names, or if all of
// them have been checked before. raw is what follows the tag.
func (k *checker) hasKnownNames(tag classfile.Tag, raw []byte) bool {
	switch tag {
	case classfile.TagClass:
		return k.uses[u2(raw)]&asClass != 0
	case classfile.TagMethodType:
		return k.uses[u2(raw)]&asMethodType != 0
	case classfile.TagNameAndType:
		name, descriptor := k.uses[u2(raw)], k.uses[u2(raw[2:])]
		return name&asField != 0 && descriptor&asFieldType != 0 || name&asMethod != 0 && name&hasAngle == 0 &&
			descriptor&asMethodType != 0
	case classfile.TagFieldref, classfile.TagDynamic:
		return k.pairOf(u2(raw[2:]))&isPairOfMethod == 0
	case classfile.TagMethodref:
		pair := k.pairOf(u2(raw[2:]))
		return pair&isPairOfMethod != 0 && (pair&isPairOfSpecial == 0 || pair&isPairOfConstructor != 0)
	case classfile.TagInterfaceMethodref, classfile.TagInvokeDynamic:
		return k.pairOf(u2(raw[2:]))&isPairOfMethod != 0
	case classfile.TagMethodHandle:
		return false
	}
	return true
}

// pairOf returns the properties of the NameAndType i, and adds its strings to constants.
func (k *checker) pairOf(i uint16) utf8Use {
	pair := k.uses[i]
	if pair == 0 {
		raw := k.pool.Raw(i)
		name, descriptor := k.text(u2(raw)), k.text(u2(raw[2:]))
		k.constants[i].name, k.constants[i].descriptor = name, descriptor
		pair = isPair
		if isMethod(descriptor) {
			pair |= isPairOfMethod
		}
		if strings.HasPrefix(name, "<") {
			pair |= isPairOfSpecial
		}
		if name == "<init>" && strings.HasSuffix(descriptor, ")V") {
			pair |= isPairOfConstructor
		}
		k.uses[i] = pair
	}
	return pair
}

// checkEntryNames checks the names and descriptors that an entry leads to.
func (k *checker) checkEntryNames(i uint16, tag classfile.Tag) {
	switch tag {
	case classfile.TagClass:
		at := u2(k.pool.Raw(i))
		name, _ := k.pool.Utf8(at)
		if !k.validOnce(at, asClass, func() bool { return validName(name, nameOfClass, k.major) }) {
			k.poolFinding(i, ruleNames, "a class name", quoted(name))
			break
		}
		k.constants[i] = constant{resolved: true, tag: tag, class: k.of(name)} // so that descriptors find the name
	case classfile.TagNameAndType:
		k.checkNameAndType(i)
	case classfile.TagMethodType:
		descriptor, _ := k.pool.NamedBy(i, tag)
		if _, ok := argumentWords("", descriptor, k.major); !ok {
			k.poolFinding(i, ruleDescriptors, "a method descriptor", quoted(descriptor))
		}
	case classfile.TagFieldref, classfile.TagDynamic:
		if _, descriptor, _ := k.pool.NameAndType(u2(k.pool.Raw(i)[2:])); isMethod(descriptor) {
			k.poolFinding(i, ruleDescriptors, "a field descriptor", quoted(descriptor))
		}
	case classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagInvokeDynamic:
		name, descriptor, _ := k.pool.NameAndType(u2(k.pool.Raw(i)[2:]))
		if !isMethod(descriptor) {
			k.poolFinding(i, ruleDescriptors, "a method descriptor", quoted(descriptor))
		} else if tag == classfile.TagMethodref && strings.HasPrefix(name, "<") && name != "<init>" {
			k.poolFinding(i, ruleNames, "a name other than "+name, name)
		} else if tag == classfile.TagMethodref && name == "<init>" && k.major > majorSealed &&
			!strings.HasSuffix(descriptor, ")V") {
			k.poolFinding(i, ruleDescriptors, "a constructor without a result", quoted(descriptor))
		}
	case classfile.TagMethodHandle:
		k.checkHandleName(i)
	}
}

// utf8Use is a set of facts about a string: the uses for which it was found valid, and the characters in it that matter
// to names. A long string may be used by thousands of constants, and is checked once for each use.
type utf8Use uint16

const (
	asClass utf8Use = 1 << iota
	asField
	asMethod
	asFieldType
	asMethodType
	asSpecialType // of a method whose name has angle brackets
	hasForbidden  // . ; [
	hasSlash
	hasAngle // < >
	examined // the bits for characters are set
)

// The facts about a NameAndType, which are kept in the same slice.
const (
	isPair utf8Use = 1 << iota
	isPairOfMethod
	isPairOfSpecial     // the name begins with an angle bracket
	isPairOfConstructor // of <init> without a result
)

// byteUses holds the fact that each byte of a string contributes.
var byteUses = func() (uses [256]utf8Use) {
	uses['.'], uses[';'], uses['['] = hasForbidden, hasForbidden, hasForbidden
	uses['/'], uses['<'], uses['>'] = hasSlash, hasAngle, hasAngle
	return uses
}()

// hasZeroOrNonASCII reports whether the text has a zero byte or a byte of a character that is not ASCII. It tests eight
// bytes at once: subtracting 1 from each of them sets the sign bit of one that is zero.
func hasZeroOrNonASCII(text []byte) bool {
	const ones, signs = 0x0101010101010101, 0x8080808080808080
	if n := len(text); n >= 8 {
		for at := 0; at+8 < n; at += 8 {
			if eight := binary.LittleEndian.Uint64(text[at:]); (eight|(eight-ones))&signs != 0 {
				return true
			}
		}
		eight := binary.LittleEndian.Uint64(text[n-8:]) // some of its bytes may have been tested before
		return (eight|(eight-ones))&signs != 0
	}
	for _, c := range text {
		if c == 0 || c >= 0x80 {
			return true
		}
	}
	return false
}

// charactersOf returns which of the characters that matter are in string i.
func (k *checker) charactersOf(i uint16, text string) utf8Use {
	seen := k.uses[i]
	if seen&examined == 0 {
		for _, c := range []byte(text) {
			seen |= byteUses[c]
		}
		seen |= examined
		k.uses[i] = seen
	}
	return seen
}

// validName does what the function validName does for string i, whose characters are examined only once.
func (k *checker) validName(i uint16, name string, kind nameKind) bool {
	seen := k.charactersOf(i, name) // hasKnownNames needs them in every version
	switch {
	case k.major < majorJava5 || name == "":
	case kind == nameOfField:
		return seen&(hasForbidden|hasSlash) == 0
	case kind == nameOfMethod && name[0] != '<':
		return seen&(hasForbidden|hasSlash|hasAngle) == 0
	}
	return validName(name, kind, k.major)
}

// validOnce reports whether string i is valid for a use. It calls check only if that is not known yet.
func (k *checker) validOnce(i uint16, as utf8Use, check func() bool) bool {
	if k.uses[i]&as == 0 {
		if !check() {
			return false
		}
		k.uses[i] |= as
	}
	return true
}

// checkNameAndType checks the name and the descriptor of a NameAndType (JVMS 4.4.6).
func (k *checker) checkNameAndType(i uint16) {
	name, descriptor, _ := k.pool.NameAndType(i)
	nameIndex, descriptorIndex := u2(k.pool.Raw(i)), u2(k.pool.Raw(i)[2:])
	switch {
	case descriptor == "" || name == "":
		k.poolFinding(i, ruleNames, "a name and a descriptor", "an empty one")
	case isMethod(descriptor):
		as, of := asMethodType, ""
		if name[0] == '<' && k.major <= majorSealed { // HotSpot 25 checks this only where the constant is used
			as, of = asSpecialType, name
		}
		if !k.validOnce(nameIndex, asMethod, func() bool { return k.validName(nameIndex, name, nameOfMethod) }) ||
			!k.validOnce(descriptorIndex, as, func() bool {
				_,
					ok := k.argumentWords(descriptorIndex, of, descriptor)
				return ok
			}) {
			k.poolFinding(i, ruleDescriptors, "a method name and a descriptor", quoted(name+descriptor))
		}
	case !k.validOnce(nameIndex, asField, func() bool { return k.validName(nameIndex, name, nameOfField) }) ||
		!k.validOnce(descriptorIndex, asFieldType, func() bool { return k.validField(descriptorIndex, descriptor) }):
		k.poolFinding(i, ruleDescriptors, "a field name and a descriptor", quoted(name+" "+descriptor))
	}
}

// checkHandleName checks that a MethodHandle refers to a constructor if and only if its kind demands one (JVMS 4.4.8).
func (k *checker) checkHandleName(i uint16) {
	raw := k.pool.Raw(i)
	kind := int(raw[0])
	if kind < refInvokeVirtual || kind == refInvokeInterface {
		return
	}
	if ref, _ := k.pool.Ref(u2(raw[1:])); (ref.Name == "<init>") != (kind == refNewInvokeSpecial) {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a method that a handle of kind %d can refer to", kind), ref.Name)
	}
}

// isMethod reports whether a descriptor is that of a method.
func isMethod(descriptor string) bool { return descriptor != "" && descriptor[0] == '(' }

// quoted returns a string in quotes, for findings.
func quoted(s string) string { return fmt.Sprintf("%q", s) }
