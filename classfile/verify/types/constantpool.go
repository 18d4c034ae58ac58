package types

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// checkPool checks the constant pool (JVMS 4.4): the class file version must have the kind of each entry, references
// must lead to entries of the right kinds, and names and descriptors must be well-formed. It reports whether all is so;
// if not, nothing else of the class is checked.
func (k *checker) checkPool() bool {
	before := len(k.findings)
	k.facts = resize(k.facts, k.pool.Len())
	k.checkEntries()
	if len(k.findings) > before {
		return false
	}
	// Names are checked last: the references that lead to them have been checked then.
	for _, e := range k.named {
		if e.tag == classfile.TagNameAndType {
			k.checkNameAndType(e)
		}
	}
	for _, e := range k.named {
		if e.tag != classfile.TagNameAndType && !k.isKnown(e.second, poolRows[e.tag&31].pair) {
			k.checkEntryNames(e)
		}
	}
	if len(k.findings) == before {
		return true
	}
	k.findings = k.findings[:before] // make them again, in the order of the class file
	for _, e := range k.named {
		k.checkEntryNames(e)
	}
	return false
}

// namedEntry is an entry that leads to names: its index and kind, and the first four bytes after its tag, which are two
// indexes for most kinds.
type namedEntry struct {
	index, first, second uint16
	tag                  classfile.Tag
}

// poolRow says what is known of a kind of entry.
type poolRow struct {
	size          uint8 // in bytes, the tag included
	slots         uint8 // the indexes that it takes
	named         bool  // whether it leads to names
	first, second kinds // what the first two bytes, and the next two, may refer to for a quick test
	pair          facts // what must be known of the NameAndType that it refers to, for a quick test of names
}

const (
	anyKind = ^kinds(0)
	utf8s   = kinds(1) << classfile.TagUtf8
	classes = kinds(1) << classfile.TagClass
	pairs   = kinds(1) << classfile.TagNameAndType
)

// poolRows are those of all kinds but Utf8. The kinds that not every version has, and those that are rare, fail the
// quick test.
var poolRows = [32]poolRow{
	classfile.TagInteger:            {5, 1, false, anyKind, anyKind, 0},
	classfile.TagFloat:              {5, 1, false, anyKind, anyKind, 0},
	classfile.TagLong:               {9, 2, false, anyKind, anyKind, 0},
	classfile.TagDouble:             {9, 2, false, anyKind, anyKind, 0},
	classfile.TagClass:              {3, 1, true, utf8s, anyKind, 0},
	classfile.TagString:             {3, 1, false, utf8s, anyKind, 0},
	classfile.TagFieldref:           {5, 1, true, classes, pairs, fitsField},
	classfile.TagMethodref:          {5, 1, true, classes, pairs, fitsMethod},
	classfile.TagInterfaceMethodref: {5, 1, true, classes, pairs, fitsInterface},
	classfile.TagNameAndType:        {5, 1, true, utf8s, utf8s, 0},
	classfile.TagMethodHandle:       {4, 1, true, 0, 0, 0},
	classfile.TagMethodType:         {3, 1, true, 0, 0, 0},
	classfile.TagDynamic:            {5, 1, true, 0, 0, 0},
	classfile.TagInvokeDynamic:      {5, 1, true, 0, 0, 0},
	classfile.TagModule:             {3, 1, false, 0, 0, 0},
	classfile.TagPackage:            {3, 1, false, 0, 0, 0},
}

// checkEntries checks all entries but for the names that they lead to, and lists those that lead to names.
func (k *checker) checkEntries() {
	const poolAt = 10 // after magic, versions and constant_pool_count (JVMS 4.1)
	k.named = slices.Grow(k.named, k.pool.Len())
	for next, at, doubtful := 1, poolAt, 0; next < k.pool.Len(); {
		next, at, doubtful = k.checkQuickly(next, at)
		if doubtful > 0 {
			tag, raw := k.pool.Entry(uint16(doubtful))
			k.checkEntry(uint16(doubtful), tag, raw)
		}
	}
}

// checkQuickly checks entries, from the next one on, which stands at an offset in the class file, up to the first that
// fails a quick test. It returns where it stopped, and the index of that entry, which may be correct; 0 for none. The
// parser has found the entries to be complete, and more than eight bytes follow.
func (k *checker) checkQuickly(next, at int) (end, endAt, doubtful int) {
	data, pool := k.class.Bytes(), k.pool
	count, named := len(k.named), k.named[:cap(k.named)]
	for next < pool.Len() && doubtful == 0 {
		tag := data[at]
		if tag == byte(classfile.TagUtf8) {
			next, at, doubtful = skipUtf8(data, next, at, pool.Len())
			continue
		}
		first, second := u2(data[at+1:at+3]), u2(data[at+3:at+5])
		row := &poolRows[tag&31]
		if row.first>>(pool.Tag(first)&31)&(row.second>>(pool.Tag(second)&31))&1 == 0 {
			doubtful = next
		}
		if row.named {
			named[count] = namedEntry{uint16(next), first, second, classfile.Tag(tag)}
			count++
		}
		at += int(row.size)
		next += int(row.slots)
	}
	k.named = named[:count]
	return next, at, doubtful
}

// skipUtf8 is checkQuickly for the Utf8 entries from the next one on, up to an entry of another kind. Most of them
// follow each other.
func skipUtf8(data []byte, next, at, count int) (end, endAt, doubtful int) {
	for next < count && data[at] == byte(classfile.TagUtf8) {
		size := int(u2(data[at+1 : at+3]))
		at += 3
		odd, text := uint64(0), data[at:at+size]
		for ; len(text) > 8; text = text[8:] {
			odd |= zeroOrNonASCII(binary.LittleEndian.Uint64(text))
		}
		at += size
		rest := len(text)
		odd |= zeroOrNonASCII(binary.LittleEndian.Uint64(data[at-rest:at-rest+8])) << (64 - 8*uint(rest))
		next++
		if odd&signs != 0 {
			return next, at, next - 1
		}
	}
	return next, at, 0
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
		if !validUtf8(k.text(i), k.major) {
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
		k.dynamic = append(k.dynamic, i)
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
func (k *checker) text(i uint16) string { return k.pool.Text(i) }

// checkEntryNames checks the names and descriptors that an entry leads to.
func (k *checker) checkEntryNames(e namedEntry) {
	i := e.index
	switch e.tag {
	case classfile.TagClass:
		if k.isKnown(e.first, asClass) {
			break
		}
		name := k.text(e.first)
		if !k.validName(e.first, name, nameOfClass) {
			k.poolFinding(i, ruleNames, "a class name", quoted(name))
			break
		}
		c := &k.constants[i] // so that descriptors find the name
		c.resolved, c.tag, c.class = true, e.tag, k.of(name)
	case classfile.TagNameAndType:
		k.checkNameAndType(e)
	case classfile.TagMethodType:
		descriptor := k.text(e.first)
		if _, ok := argumentWords("", descriptor, k.major); !ok {
			k.poolFinding(i, ruleDescriptors, "a method descriptor", quoted(descriptor))
		}
	case classfile.TagFieldref, classfile.TagDynamic:
		if _, descriptor, _ := k.pool.NameAndType(e.second); isMethod(descriptor) {
			k.poolFinding(i, ruleDescriptors, "a field descriptor", quoted(descriptor))
		}
	case classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagInvokeDynamic:
		name, descriptor, _ := k.pool.NameAndType(e.second)
		if !isMethod(descriptor) {
			k.poolFinding(i, ruleDescriptors, "a method descriptor", quoted(descriptor))
		} else if e.tag == classfile.TagMethodref && strings.HasPrefix(name, "<") && name != "<init>" {
			k.poolFinding(i, ruleNames, "a name other than "+name, name)
		} else if e.tag == classfile.TagMethodref && name == "<init>" && k.major > majorSealed &&
			!strings.HasSuffix(descriptor, ")V") {
			k.poolFinding(i, ruleDescriptors, "a constructor without a result", quoted(descriptor))
		}
	case classfile.TagMethodHandle:
		k.checkHandleName(i)
	}
}

// facts is a set of facts about an entry: the uses for which a string was found valid, and others. A long string may be
// used by thousands of constants, and is checked once for each use.
type facts uint16

const (
	asClass facts = 1 << iota // the uses as names are in the order of nameKind
	asField
	asMethod
	asFieldType
	asMethodType
	asSpecialType     // of a method whose name has angle brackets, but for the next one
	asInitializerType // of <clinit>, which may not even have arguments
	asVariableType    // a field type whose verification type is not kept
	isWide            // a variable type that takes two words

	// The kinds of constants that may refer to a NameAndType.
	fitsField
	fitsMethod
	fitsInterface
)

// isKnown reports whether one of the facts is known of entry i.
func (k *checker) isKnown(i uint16, one facts) bool {
	return int(i) < len(k.facts) && k.facts[i]&one != 0
}

// validName does what the function validName does for string i, which is checked only once for each kind of name.
func (k *checker) validName(i uint16, name string, kind nameKind) bool {
	as := asClass << kind
	if k.facts[i]&as != 0 {
		return true
	}
	plain := false
	switch {
	case k.major < majorJava5:
	case kind == nameOfClass:
		plain = isPlainClassName(name)
	default:
		plain = isPlainName(name)
	}
	if !plain && !validName(name, kind, k.major) {
		return false
	}
	k.facts[i] |= as
	return true
}

// checkNameAndType checks the name and the descriptor of a NameAndType (JVMS 4.4.6), and adds them to constants.
func (k *checker) checkNameAndType(e namedEntry) {
	name, descriptor := k.text(e.first), k.text(e.second)
	pair := &k.constants[e.index]
	pair.name, pair.descriptor = name, descriptor
	if !isMethod(descriptor) {
		k.facts[e.index] = fitsField
		k.checkFieldPair(e, name, descriptor)
		return
	}
	k.facts[e.index] = fitsInterface
	as, of := asMethodType, ""
	switch {
	case name == "":
		k.poolFinding(e.index, ruleNames, "a name and a descriptor", "an empty one")
		return
	case name[0] != '<' || name == "<init>" && strings.HasSuffix(descriptor, ")V"):
		k.facts[e.index] |= fitsMethod
	}
	if name[0] == '<' && k.major <= majorSealed { // HotSpot 25 checks this only where the constant is used
		if as, of = asSpecialType, name; name == "<clinit>" {
			as = asInitializerType
		}
	}
	ok := k.facts[e.first]&asMethod != 0 || k.validName(e.first, name, nameOfMethod)
	if ok && k.facts[e.second]&as == 0 {
		if _, ok = k.argumentWords(e.second, of, descriptor); ok {
			k.facts[e.second] |= as
		}
	}
	if !ok {
		k.poolFinding(e.index, ruleDescriptors, "a method name and a descriptor", quoted(name+descriptor))
	}
}

// checkFieldPair checks the name and the descriptor of a NameAndType whose descriptor is not that of a method.
func (k *checker) checkFieldPair(e namedEntry, name, descriptor string) {
	switch {
	case descriptor == "" || name == "":
		k.poolFinding(e.index, ruleNames, "a name and a descriptor", "an empty one")
	case !k.validName(e.first, name, nameOfField) ||
		k.facts[e.second]&asFieldType == 0 && !k.validField(e.second, descriptor):
		k.poolFinding(e.index, ruleDescriptors, "a field name and a descriptor", quoted(name+" "+descriptor))
	default:
		k.facts[e.second] |= asFieldType
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
