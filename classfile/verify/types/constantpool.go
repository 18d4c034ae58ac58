package types

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// checkPool checks the constant pool (JVMS 4.4): the class file version must have the kind of each entry, references
// must lead to entries of the right kinds, and names and descriptors must be well-formed. It reports whether all is so;
// if not, nothing else of the class is checked. It fills in constants.
func (k *checker) checkPool() bool {
	k.checkEntries()
	if len(k.findings) > 0 {
		return false
	}
	// Each kind of entry refers only to those of the kinds before it.
	for _, i := range k.classes {
		k.checkClassName(i)
	}
	for _, i := range k.pairs {
		k.checkNameAndType(i)
	}
	for _, i := range k.members {
		k.checkMemberConstant(i)
	}
	slices.SortStableFunc(k.poolFaults, func(a, b poolFault) int { return cmp.Compare(a.index, b.index) })
	for _, f := range k.poolFaults {
		k.poolFinding(f.index, f.rule, f.want, f.got)
	}
	return len(k.findings) == 0
}

// poolFault is a finding about the entry with that index.
type poolFault struct {
	index           uint16
	rule, want, got string
}

// fault adds a fault of a name or descriptor. checkPool makes findings of them, in the order of the class file.
func (k *checker) fault(i uint16, rule, want, got string) {
	k.poolFaults = append(k.poolFaults, poolFault{i, rule, want, got})
}

// poolFinding adds a finding about entry i.
func (k *checker) poolFinding(i uint16, rule, want, got string) {
	k.finding(rule, fmt.Sprintf("%s at constant pool index %d", want, i), got)
}

// poolRows say of each kind of entry how long it is, the tag included, and without the text of a Utf8; to which kinds
// its first two bytes, and the next two, must refer, 0 for any; which class file version is the first that has it; and
// of what type the value is that ldc pushes.
var poolRows = [classfile.TagPackage + 1]struct {
	size          int
	first, second classfile.Tag
	since         int
	value         vtype
}{
	classfile.TagUtf8:               {size: 3},
	classfile.TagInteger:            {size: 5, value: tInt},
	classfile.TagFloat:              {size: 5, value: tFloat},
	classfile.TagLong:               {size: 9, value: tLong},
	classfile.TagDouble:             {size: 9, value: tDouble},
	classfile.TagClass:              {size: 3, first: classfile.TagUtf8, value: tClass},
	classfile.TagString:             {size: 3, first: classfile.TagUtf8, value: tString},
	classfile.TagFieldref:           {size: 5, first: classfile.TagClass, second: classfile.TagNameAndType},
	classfile.TagMethodref:          {size: 5, first: classfile.TagClass, second: classfile.TagNameAndType},
	classfile.TagInterfaceMethodref: {size: 5, first: classfile.TagClass, second: classfile.TagNameAndType},
	classfile.TagNameAndType:        {size: 5, first: classfile.TagUtf8, second: classfile.TagUtf8},
	classfile.TagMethodHandle:       {size: 4, since: majorIndy, value: tMethodHandle},
	classfile.TagMethodType:         {size: 3, first: classfile.TagUtf8, since: majorIndy, value: tMethodType},
	classfile.TagDynamic:            {size: 5, second: classfile.TagNameAndType, since: majorCondy},
	classfile.TagInvokeDynamic:      {size: 5, second: classfile.TagNameAndType, since: majorIndy},
	classfile.TagModule:             {size: 3, first: classfile.TagUtf8},
	classfile.TagPackage:            {size: 3, first: classfile.TagUtf8},
}

// checkEntries checks all entries but for the names that they lead to, and lists those that lead to names.
func (k *checker) checkEntries() {
	const poolAt = 10 // after magic, versions and constant_pool_count (JVMS 4.1)
	data, at := k.class.Bytes(), poolAt
	for i := uint16(1); int(i) < k.pool.Len(); i++ { // the parser has found the entries to be complete
		tag, raw := classfile.Tag(data[at]), data[at+1:at+5:at+5] // some may be those behind the pool
		row := &poolRows[tag]
		at += row.size
		switch tag {
		case classfile.TagUtf8:
			if at += int(u2(raw)); !endsPlain(data[:at], int(u2(raw))) && !classfile.ValidUtf8(k.pool.Text(i), k.major) {
				k.poolFinding(i, ruleUtf8, "modified UTF-8", "other bytes")
			}
			continue
		case classfile.TagLong, classfile.TagDouble:
			k.constants[i].tag, k.constants[i].value = tag, row.value
			i++ // it takes two indexes
			continue
		}
		if k.major < row.since {
			k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a kind that version %d has", k.major), tag.String())
			continue
		}
		c := &k.constants[i]
		c.tag, c.value = tag, row.value
		switch tag {
		case classfile.TagClass:
			k.classes = append(k.classes, i)
		case classfile.TagNameAndType:
			k.pairs = append(k.pairs, i)
		case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagMethodType,
			classfile.TagDynamic, classfile.TagInvokeDynamic:
			k.members = append(k.members, i)
		case classfile.TagMethodHandle:
			k.members = append(k.members, i)
			k.checkMethodHandle(i, int(raw[0]), u2(raw[1:]))
		case classfile.TagModule, classfile.TagPackage:
			if k.class.AccessFlags()&classfile.AccModule == 0 {
				k.poolFinding(i, rulePoolEntry, "no Module or Package outside of a module declaration", tag.String())
			}
		}
		if row.first != 0 {
			k.refersTo(i, u2(raw), row.first)
		}
		if row.second != 0 {
			k.refersTo(i, u2(raw[2:]), row.second)
		}
	}
}

// refersTo checks that the entry to, to which entry i refers, is of a kind.
func (k *checker) refersTo(i, to uint16, want classfile.Tag) {
	if k.pool.Tag(to) != want {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a reference to %v", want), kindAt(k.pool, to))
	}
}

// The reference_kind values of a MethodHandle (JVMS table 5.4.3.5-A) of which checks ask.
const (
	refInvokeVirtual    = 5
	refInvokeStatic     = 6
	refInvokeSpecial    = 7
	refNewInvokeSpecial = 8
	refInvokeInterface  = 9
)

// handleKinds are the kinds of entries that a MethodHandle may refer to, by its reference_kind (JVMS 4.4.8).
var handleKinds = [...]kinds{1: fieldKind, fieldKind, fieldKind, fieldKind, refInvokeVirtual: methodKind,
	refInvokeStatic: methodKind | interfaceKind, refInvokeSpecial: methodKind | interfaceKind,
	refNewInvokeSpecial: methodKind, refInvokeInterface: interfaceKind}

// checkMethodHandle checks the reference_kind of a MethodHandle and the kind of the entry that it refers to.
func (k *checker) checkMethodHandle(i uint16, kind int, to uint16) {
	if kind == 0 || kind > refInvokeInterface {
		k.poolFinding(i, rulePoolEntry, "a reference_kind from 1 to 9", fmt.Sprint(kind))
		return
	}
	want := handleKinds[kind]
	if k.major < majorJava8 && want&methodKind != 0 {
		want = methodKind
	}
	if !want.has(k.pool.Tag(to)) {
		k.poolFinding(i, rulePoolEntry, fmt.Sprintf("a member that a handle of kind %d can refer to", kind),
			kindAt(k.pool, to))
	}
}

// checkClassName checks the name of Class entry i.
func (k *checker) checkClassName(i uint16) {
	name := u2(k.pool.Raw(i))
	class, ok := k.className(name)
	if !ok {
		k.fault(i, ruleNames, "a class name", quoted(k.pool.Text(name)))
	}
	k.constants[i].class = class
}

// checkNameAndType checks the name and the descriptor of NameAndType entry i (JVMS 4.4.6).
func (k *checker) checkNameAndType(i uint16) {
	raw := k.pool.Raw(i)
	name, descriptor := k.pool.Text(u2(raw)), k.pool.Text(u2(raw[2:]))
	switch {
	case name == "" || descriptor == "":
		k.fault(i, ruleNames, "a name and a descriptor", "an empty one")
	case isMethod(descriptor):
		of := ""
		if name[0] == '<' && k.major <= majorSealed { // HotSpot 25 checks this only where the constant is used
			of = name
		}
		if _, ok := k.methodType(u2(raw[2:]), of); !ok || !k.validName(u2(raw), classfile.MethodName) {
			k.fault(i, ruleDescriptors, "a method name and a descriptor", quoted(name+descriptor))
		}
	default:
		if !k.validName(u2(raw), classfile.FieldName) || !k.fieldType(u2(raw[2:])) {
			k.fault(i, ruleDescriptors, "a field name and a descriptor", quoted(name+" "+descriptor))
		}
	}
	k.constants[i].member = member{pair: i, isMethod: isMethod(descriptor), isConstructor: name == "<init>",
		hasBrackets: strings.HasPrefix(name, "<"), descriptorType: k.constants[u2(raw[2:])].descriptorType}
}

// checkMemberConstant checks that the names and descriptors are of the right kind to which an entry i leads that is
// neither a Class nor a NameAndType.
func (k *checker) checkMemberConstant(i uint16) {
	c, raw := &k.constants[i], k.pool.Raw(i)
	switch c.tag {
	case classfile.TagMethodHandle:
		k.checkHandleName(i, raw)
		return
	case classfile.TagMethodType:
		if _, ok := k.methodType(u2(raw), ""); !ok {
			k.fault(i, ruleDescriptors, "a method descriptor", quoted(k.pool.Text(u2(raw))))
		}
		return
	}
	c.member = k.constants[u2(raw[2:])].member
	if c.tag != classfile.TagDynamic && c.tag != classfile.TagInvokeDynamic {
		c.class = k.constants[u2(raw)].class
	}
	isMethodref := c.tag == classfile.TagMethodref
	switch ofField := c.tag == classfile.TagFieldref || c.tag == classfile.TagDynamic; {
	case c.isMethod == ofField:
		kind := "method"
		if ofField {
			kind = "field"
		}
		_, descriptor := k.nameAndType(c)
		k.fault(i, ruleDescriptors, "a "+kind+" descriptor", quoted(descriptor))
	case isMethodref && c.hasBrackets && !c.isConstructor:
		name, _ := k.nameAndType(c)
		k.fault(i, ruleNames, "a name other than "+name, name)
	case isMethodref && c.isConstructor && k.major > majorSealed:
		if _, descriptor := k.nameAndType(c); !strings.HasSuffix(descriptor, ")V") {
			k.fault(i, ruleDescriptors, "a constructor without a result", quoted(descriptor))
		}
	}
}

// checkHandleName checks that a MethodHandle refers to a constructor if and only if its kind demands one (JVMS 4.4.8).
func (k *checker) checkHandleName(i uint16, raw []byte) {
	kind := int(raw[0])
	if kind < refInvokeVirtual || kind == refInvokeInterface {
		return
	}
	if ref, _ := k.pool.Ref(u2(raw[1:])); (ref.Name == "<init>") != (kind == refNewInvokeSpecial) {
		k.fault(i, rulePoolEntry, fmt.Sprintf("a method that a handle of kind %d can refer to", kind), ref.Name)
	}
}

// isMethod reports whether a descriptor is that of a method.
func isMethod(descriptor string) bool { return descriptor != "" && descriptor[0] == '(' }

// quoted returns a string in quotes, for findings.
func quoted(s string) string { return fmt.Sprintf("%q", s) }

// endsPlain reports whether that many bytes at the end are ASCII, and none is zero. For other bytes it may say no.
// Subtracting 1 from each of eight bytes sets the sign bit of a zero, and of bytes above it only. There must be eight.
func endsPlain(data []byte, size int) bool {
	const eight, eachByte, signs = 8, 0x0101010101010101, 0x8080808080808080
	odd := uint64(0)
	for text := data[len(data)-size:]; len(text) >= eight; text = text[eight:] {
		bytes := binary.LittleEndian.Uint64(text)
		odd |= bytes | (bytes - eachByte)
	}
	bytes := binary.LittleEndian.Uint64(data[len(data)-eight:])
	odd |= (bytes | (bytes - eachByte)) >> (64 - eight*uint(size%eight)) // those before are lost
	return odd&signs == 0
}
