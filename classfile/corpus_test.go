package classfile_test

import (
	"bytes"
	"strings"
	"testing"

	jvmgo "github.com/zxh0/jvm.go/classfile"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusDifferential compares the structure of every class up to Java 13 with what jvm.go reads.
//
// Invariant: Two independent decoders read the same structure of every class.
func TestCorpusDifferential(t *testing.T) {
	nightly.Only(t, "classes")
	compared, skipped := 0, 0
	for _, jar := range corpus.NeedAll(t) {
		oracle.EachClass(t, jar.Classes, func(name string, data []byte) {
			c, err := classfile.Parse(data)
			if err != nil {
				t.Errorf("%s!%s: %v", jar.Name, name, err)
				return
			}
			theirs, err := jvmgo.Parse(data)
			if err != nil {
				skipped++
				return
			}
			compared++
			if diff := differences(c, theirs); len(diff) > 0 {
				t.Errorf("%s!%s: jvm.go disagrees on %s", jar.Name, name, strings.Join(diff, ", "))
			}
		})
	}
	if compared == 0 {
		t.Errorf("nothing was compared, %d classes skipped", skipped)
	}
	t.Logf("measured: %d classes as jvm.go reads them, %d that it cannot read", compared, skipped)
}

// TestDifferential is TestCorpusDifferential for the classes of testdata.
//
// Invariant: Two independent decoders read the same structure of every class.
func TestDifferential(t *testing.T) {
	compared := 0
	for name, data := range sampleClasses(t) {
		if theirs, err := jvmgo.Parse(data); err == nil {
			compared++
			if diff := differences(parse(t, data), theirs); len(diff) > 0 {
				t.Errorf("%s: jvm.go disagrees on %s", name, strings.Join(diff, ", "))
			}
		}
	}
	if compared < 2 {
		t.Errorf("jvm.go reads only %d of the classes", compared)
	}
}

// differences lists where the results of the two decoders differ.
func differences(ours *classfile.Class, theirs *jvmgo.ClassFile) (diff []string) {
	check := func(what string, same bool) {
		if !same {
			diff = append(diff, what)
		}
	}
	minor, major := ours.Version()
	check("version", minor == theirs.MinorVersion && major == theirs.MajorVersion)
	check("constant pool", ours.ConstantPool().Len() == len(theirs.ConstantPool))
	for i, entry := range theirs.ConstantPool {
		if text, ok := entry.([]byte); ok {
			own, err := ours.ConstantPool().Utf8(uint16(i))
			check("a Utf8", err == nil && own == string(text))
		} else {
			check("a constant", (entry == nil) == (ours.ConstantPool().Tag(uint16(i)) == 0))
		}
	}
	name := func(index uint16) string {
		if index == 0 {
			return ""
		}
		s, err := ours.ConstantPool().ClassName(index)
		check("a class name", err == nil)
		return s
	}
	check("flags", ours.AccessFlags() == theirs.AccessFlags)
	check("name", ours.Name() == name(theirs.ThisClass))
	check("super", ours.SuperName() == name(theirs.SuperClass))
	check("interfaces", len(ours.Interfaces()) == len(theirs.Interfaces))
	for i, index := range theirs.Interfaces {
		check("interface", i < len(ours.Interfaces()) && ours.Interfaces()[i] == name(index))
	}
	diff = append(diff, memberDifferences(ours, ours.Fields(), theirs.Fields)...)
	diff = append(diff, memberDifferences(ours, ours.Methods(), theirs.Methods)...)
	check("attributes", len(ours.Attributes()) == len(theirs.AttributeTable))
	return diff
}

func memberDifferences(c *classfile.Class, ours []classfile.Member, theirs []jvmgo.MemberInfo) (diff []string) {
	if len(ours) != len(theirs) {
		return []string{"number of members"}
	}
	for i := range ours {
		m, n := &ours[i], &theirs[i]
		name, nameErr := c.ConstantPool().Utf8(n.NameIndex)
		descriptor, descriptorErr := c.ConstantPool().Utf8(n.DescriptorIndex)
		if nameErr != nil || descriptorErr != nil || m.Name != name || m.Descriptor != descriptor ||
			m.AccessFlags != n.AccessFlags || len(m.Attributes) != len(n.AttributeTable) {
			diff = append(diff, "member "+m.Name+m.Descriptor)
			continue
		}
		diff = append(diff, attributeDifferences(m.Attributes, n.AttributeTable)...)
		code, ok, err := c.Code(m)
		other, otherOK := n.GetCodeAttribute()
		if ok != otherOK || err != nil {
			diff = append(diff, "whether there is code in "+m.Name)
			continue
		}
		if !bytes.Equal(code.Bytecode, other.Code) || code.MaxStack != other.MaxStack ||
			code.MaxLocals != other.MaxLocals || len(code.ExceptionTable) != 8*len(other.ExceptionTable) ||
			len(code.Attributes) != len(other.AttributeTable) {
			diff = append(diff, "code of "+m.Name)
			continue
		}
		diff = append(diff, attributeDifferences(code.Attributes, other.AttributeTable)...)
	}
	return diff
}

// attributeDifferences compares the attributes that jvm.go keeps as bytes, and the number of line numbers.
func attributeDifferences(ours []classfile.Attribute, theirs jvmgo.AttributeTable) (diff []string) {
	for i, a := range ours {
		switch b := theirs[i].(type) {
		case jvmgo.UnparsedAttribute:
			if a.Name != b.Name || !bytes.Equal(a.Info, b.Info) {
				diff = append(diff, "attribute "+a.Name)
			}
		case jvmgo.LineNumberTableAttribute:
			if a.Name != "LineNumberTable" || len(a.Info) != 2+4*len(b.LineNumberTable) {
				diff = append(diff, "LineNumberTable")
			}
		case jvmgo.CodeAttribute:
			if a.Name != "Code" {
				diff = append(diff, "Code")
			}
		}
	}
	return diff
}
