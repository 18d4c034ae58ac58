package types

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// attributeForm is what must hold for an attribute whose content is not checked otherwise. HotSpot checks the length of
// some attributes, and that there is only one of others.
type attributeForm struct {
	in     place
	length int // -1: any
	once   bool
	since  int // class file version from which on the name means anything
	index  classfile.Tag
}

// place is a set of structures that have attributes.
type place uint8

const (
	inClass place = 1 << iota
	inField
	inMethod
	inComponent // of a record
)

// formOf returns the form of an attribute, in no place for one that HotSpot does not check, or checks by itself.
func formOf(name string) attributeForm {
	form := attributeForm{in: inClass, length: -1, once: true}
	switch name {
	case "Synthetic", "Deprecated":
		form = attributeForm{in: inClass | inField | inMethod}
	case "ConstantValue":
		form.in, form.length = inField, 2
	case "SourceFile":
		form.length, form.index = 2, classfile.TagUtf8
	case "Signature":
		form.in, form.length, form.index = inClass|inField|inMethod|inComponent, 2, classfile.TagUtf8
		form.since = majorJava5
	case "NestHost":
		form.length, form.index, form.since = 2, classfile.TagClass, majorCondy
	case "EnclosingMethod":
		form.length, form.since = 4, majorJava5
	case "SourceDebugExtension", "InnerClasses":
	case "Exceptions", "MethodParameters":
		form.in = inMethod
	case "RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations", "RuntimeVisibleTypeAnnotations",
		"RuntimeInvisibleTypeAnnotations":
		form.in, form.since = inClass|inField|inMethod|inComponent, majorJava5
	case "RuntimeVisibleParameterAnnotations", "RuntimeInvisibleParameterAnnotations", "AnnotationDefault":
		form.in, form.since = inMethod, majorJava5
	case "BootstrapMethods":
		form.since = majorIndy
	case "NestMembers":
		form.since = majorCondy
	case "Record":
		form.since = majorRecords
	case "PermittedSubclasses":
		form.since = majorSealed
	default:
		form.in = 0
	}
	return form
}

// checkForm checks one attribute of a structure and reports whether its content may be checked. before are the
// attributes before it in the same table.
func (k *checker) checkForm(a *classfile.Attribute, in place, before []classfile.Attribute,
	report func(rule, want, got string)) bool {
	form := formOf(a.Name)
	if form.in&in == 0 || k.major < form.since {
		return false
	}
	_, twice := classfile.FindAttribute(before, a.Name)
	switch {
	case form.length >= 0 && len(a.Info) != form.length:
		report(ruleAttribute, fmt.Sprintf("%s of %d bytes", a.Name, form.length), fmt.Sprint(len(a.Info)))
		return false
	case twice && form.once:
		report(ruleAttribute, "one "+a.Name, "two")
		return false
	case form.index != 0 && k.pool.Tag(u2(a.Info)) != form.index:
		report(ruleAttribute, fmt.Sprintf("a %v for %s", form.index, a.Name), kindAt(k.pool, u2(a.Info)))
		return false
	}
	return true
}

// checkMemberAttributes checks the attributes of a field or method.
func (k *checker) checkMemberAttributes(m *classfile.Member, isMethod bool) {
	if len(m.Attributes) == 0 {
		return
	}
	in := inField
	if isMethod {
		in = inMethod
	}
	report := func(rule, want, got string) { k.formatFinding(m, rule, want, got) }
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if a.Name == "ConstantValue" && m.AccessFlags&classfile.AccStatic == 0 ||
			!k.checkForm(a, in, m.Attributes[:i], report) {
			continue
		}
		switch a.Name {
		case "ConstantValue":
			k.checkConstantValue(m, u2(a.Info))
		case "Exceptions":
			k.checkClassList(a, "Exceptions", report)
		case "MethodParameters":
			if len(a.Info) == 0 || len(a.Info) != 1+4*int(a.Info[0]) {
				report(ruleAttribute, "MethodParameters as long as its count says", fmt.Sprint(len(a.Info)))
			}
		}
	}
}

// checkClassList checks an attribute that consists of a count and that many indexes of Class entries.
func (k *checker) checkClassList(a *classfile.Attribute, name string, report func(rule, want, got string)) {
	if len(a.Info) < 2 || len(a.Info) != 2+2*int(u2(a.Info)) {
		report(ruleAttribute, name+" as long as its count says", fmt.Sprint(len(a.Info)))
		return
	}
	for at := 2; at < len(a.Info); at += 2 {
		if i := u2(a.Info[at:]); k.pool.Tag(i) != classfile.TagClass {
			report(ruleAttribute, "a Class in "+name, kindAt(k.pool, i))
		}
	}
}

// checkConstantValue checks the ConstantValue of a static field (JVMS 4.7.2), which has index i.
func (k *checker) checkConstantValue(f *classfile.Member, i uint16) {
	want := classfile.TagInteger
	switch f.Descriptor {
	case "J":
		want = classfile.TagLong
	case "F":
		want = classfile.TagFloat
	case "D":
		want = classfile.TagDouble
	case "Ljava/lang/String;":
		want = classfile.TagString
	default:
		if f.Descriptor[0] == 'L' || f.Descriptor[0] == '[' {
			k.formatFinding(f, "JVMS 4.7.2", "no ConstantValue for "+f.Descriptor, "one")
			return
		}
	}
	if k.pool.Tag(i) != want {
		k.formatFinding(f, "JVMS 4.7.2", fmt.Sprintf("a %v for %s", want, f.Descriptor), kindAt(k.pool, i))
	}
}

// checkClassAttributes checks the attributes of the class.
func (k *checker) checkClassAttributes() {
	attributes := k.class.Attributes()
	bootstraps := -1
	for i := range attributes {
		a := &attributes[i]
		if !k.checkForm(a, inClass, attributes[:i], k.finding) {
			continue
		}
		switch a.Name {
		case "InnerClasses":
			k.checkInnerClasses(a)
		case "EnclosingMethod":
			k.checkEnclosingMethod(a)
		case "BootstrapMethods":
			bootstraps = k.checkBootstrapMethods(a)
		case "NestMembers":
			k.checkClassList(a, a.Name, k.finding)
		case "PermittedSubclasses":
			if k.class.AccessFlags()&classfile.AccFinal != 0 {
				k.finding(ruleAttribute, "no PermittedSubclasses of a final class", "one")
			}
			k.checkClassList(a, a.Name, k.finding)
		case "Record":
			k.checkRecord(a)
		}
	}
	_, isMember := classfile.FindAttribute(attributes, "NestHost")
	if _, isHost := classfile.FindAttribute(attributes, "NestMembers"); isHost && isMember && k.major >= majorCondy {
		k.finding(ruleAttribute, "either NestHost or NestMembers", "both")
	}
	k.checkBootstrapUse(bootstraps)
}

// checkBootstrapUse checks that every Dynamic and InvokeDynamic refers to one of the count bootstrap methods.
func (k *checker) checkBootstrapUse(count int) {
	for _, i := range k.members {
		if tag := k.constants[i].tag; tag != classfile.TagDynamic && tag != classfile.TagInvokeDynamic {
			continue
		}
		if n := int(u2(k.pool.Raw(i))); n >= count {
			k.poolFinding(i, rulePoolEntry, "a bootstrap method", fmt.Sprintf("number %d of %d", n, max(count, 0)))
			return
		}
	}
}

// checkInnerClasses checks an InnerClasses attribute (JVMS 4.7.6).
func (k *checker) checkInnerClasses(a *classfile.Attribute) {
	const row = 8
	info := a.Info
	if k.major < majorJava5 {
		info = k.class.Bytes()[a.Offset:] // HotSpot then reads as many rows as the count says, whatever the length
	}
	if len(info) < 2 || len(info) < 2+row*int(u2(info)) || k.major >= majorJava5 && len(info) != 2+row*int(u2(info)) {
		k.finding(ruleAttribute, "InnerClasses as long as its count says", fmt.Sprint(len(info)))
		return
	}
	rows := info[2 : 2+row*int(u2(info))]
	for b := rows; len(b) > 0; b = b[row:] {
		inner, outer, name, flags := u2(b), u2(b[2:]), u2(b[4:]), u2(b[6:])
		if k.pool.Tag(inner) != classfile.TagClass || outer != 0 && k.pool.Tag(outer) != classfile.TagClass ||
			name != 0 && !k.isUtf8(name) {
			k.finding(ruleAttribute, "classes and a name in InnerClasses", "other constants")
			return
		}
		if outer != 0 && k.isArray(k.constant(outer).class) {
			k.finding(ruleAttribute, "an outer class", "an array")
		}
		if inner == outer {
			k.finding(ruleAttribute, "an inner class other than its outer one", "the same")
		}
		if flags&classfile.AccModule != 0 && k.major >= majorModules {
			k.finding(ruleAttribute, "no module in InnerClasses", "one")
		}
		flags &= classFlags
		if flags&classfile.AccInterface != 0 && k.major < majorFrames {
			flags |= classfile.AccAbstract
		}
		k.checkClassFlags("an inner class", flags)
	}
	if k.major >= majorJava5 {
		key := func(i int) uint64 { return binary.BigEndian.Uint64(rows[row*i:]) }
		eachRepeated(len(rows)/row, key, func(int) { k.finding(ruleAttribute, "no row of InnerClasses twice", "one") })
	}
}

func (k *checker) checkEnclosingMethod(a *classfile.Attribute) {
	class, method := u2(a.Info), u2(a.Info[2:])
	if k.pool.Tag(class) != classfile.TagClass || method != 0 && k.pool.Tag(method) != classfile.TagNameAndType {
		k.finding(ruleAttribute, "a Class and a NameAndType in EnclosingMethod",
			kindAt(k.pool, class)+", "+kindAt(k.pool, method))
	}
}

// checkBootstrapMethods checks a BootstrapMethods attribute (JVMS 4.7.23). It returns the number of methods, -1 if the
// attribute is malformed.
func (k *checker) checkBootstrapMethods(a *classfile.Attribute) int {
	malformed := func(got string) int {
		k.finding(ruleAttribute, "well-formed BootstrapMethods", got)
		return -1
	}
	if len(a.Info) < 2 {
		return malformed("too few bytes")
	}
	count := int(u2(a.Info))
	b := a.Info[2:]
	for range count {
		if len(b) < 4 || len(b) < 4+2*int(u2(b[2:])) {
			return malformed("too few bytes")
		}
		if tag := k.pool.Tag(u2(b)); tag != classfile.TagMethodHandle {
			return malformed("a bootstrap method that is " + kindAt(k.pool, u2(b)))
		}
		arguments := b[4 : 4+2*int(u2(b[2:]))]
		for ; len(arguments) > 0; arguments = arguments[2:] {
			if !(oldKinds | classKind | newKinds | wideKinds).has(k.pool.Tag(u2(arguments))) {
				return malformed("an argument that is " + kindAt(k.pool, u2(arguments)))
			}
		}
		b = b[4+2*int(u2(b[2:])):]
	}
	if len(b) > 0 {
		return malformed(fmt.Sprintf("%d bytes too many", len(b)))
	}
	return count
}

// checkRecord checks a Record attribute (JVMS 4.7.30).
func (k *checker) checkRecord(a *classfile.Attribute) {
	malformed := func() { k.finding(ruleAttribute, "a well-formed Record", "another") }
	if len(a.Info) < 2 {
		malformed()
		return
	}
	b := a.Info[2:]
	for range u2(a.Info) {
		if len(b) < 6 {
			malformed()
			return
		}
		name, descriptor := u2(b), u2(b[2:])
		if !k.validName(name, classfile.FieldName) || !k.fieldType(descriptor) {
			k.finding(ruleAttribute, "a name and a field descriptor in Record",
				quoted(k.pool.Text(name)+" "+k.pool.Text(descriptor)))
		}
		n := int(u2(b[4:]))
		b = b[6:]
		var before []classfile.Attribute
		for range n {
			if len(b) < 6 || uint64(len(b)-6) < uint64(binary.BigEndian.Uint32(b[2:])) {
				malformed()
				return
			}
			size := 6 + int(binary.BigEndian.Uint32(b[2:]))
			attribute := classfile.Attribute{Name: k.pool.Text(u2(b)), NameIndex: u2(b), Info: b[6:size]}
			if !k.isUtf8(attribute.NameIndex) {
				malformed()
				return
			}
			k.checkForm(&attribute, inComponent, before, k.finding)
			before = append(before, attribute)
			b = b[size:]
		}
	}
	if len(b) > 0 {
		malformed()
	}
}
