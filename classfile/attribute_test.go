package classfile_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
)

// jvmsAttributes is JVMS 25 table 4.7-C, line by line.
const jvmsAttributes = `
SourceFile: ClassFile
InnerClasses: ClassFile
EnclosingMethod: ClassFile
SourceDebugExtension: ClassFile
BootstrapMethods: ClassFile
Module: ClassFile
ModulePackages: ClassFile
ModuleMainClass: ClassFile
NestHost: ClassFile
NestMembers: ClassFile
Record: ClassFile
PermittedSubclasses: ClassFile
ConstantValue: field_info
Code: method_info
Exceptions: method_info
RuntimeVisibleParameterAnnotations: method_info
RuntimeInvisibleParameterAnnotations: method_info
AnnotationDefault: method_info
MethodParameters: method_info
Synthetic: ClassFile field_info method_info
Deprecated: ClassFile field_info method_info
Signature: ClassFile field_info method_info record_component_info
RuntimeVisibleAnnotations: ClassFile field_info method_info record_component_info
RuntimeInvisibleAnnotations: ClassFile field_info method_info record_component_info
LineNumberTable: Code
LocalVariableTable: Code
LocalVariableTypeTable: Code
StackMapTable: Code
RuntimeVisibleTypeAnnotations: ClassFile field_info method_info Code record_component_info
RuntimeInvisibleTypeAnnotations: ClassFile field_info method_info Code record_component_info
`

func TestKnownAttribute(t *testing.T) {
	locations := map[string]classfile.Location{
		"ClassFile": classfile.InClass, "field_info": classfile.InField, "method_info": classfile.InMethod,
		"Code": classfile.InCode, "record_component_info": classfile.InRecordComponent,
	}
	lines := strings.Split(strings.TrimSpace(jvmsAttributes), "\n")
	if len(lines) != 30 {
		t.Fatalf("the JVMS has 30 attributes, the test %d", len(lines))
	}
	for _, line := range append(lines, "CharacterRangeTable: Code", "StackMap: Code") {
		name, places, _ := strings.Cut(line, ":")
		var want classfile.Location
		for _, place := range strings.Fields(places) {
			want |= locations[place]
		}
		if got := classfile.KnownAttribute(name); got != want || got == 0 {
			t.Errorf("%s may appear in %b, want %b", name, got, want)
		}
	}
	for _, name := range []string{"", "code", "Code ", "ScalaSig", "LocalVariableTables", "TypeAnnotations"} {
		if got := classfile.KnownAttribute(name); got != 0 {
			t.Errorf("%q is known, in %b", name, got)
		}
	}
}

// TestKnownAttributeJDK compares with the attributes of a JDK 25's java.lang.classfile. Those that the JVMS does
// not have are listed.
func TestKnownAttributeJDK(t *testing.T) {
	jdk, err := oracle.FindJDK(25)
	if err != nil {
		t.Skipf("not compared with java.lang.classfile: %v", err)
	}
	out, err := exec.Command(jdk.Tool("java"), "testdata/AttributeNames.java").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	if len(names) < 30 {
		t.Fatalf("java printed %q", out)
	}
	own := []string{"CompilationID", "ModuleHashes", "ModuleResolution", "ModuleTarget", "SourceID"}
	for _, name := range names {
		if known := classfile.KnownAttribute(name) != 0; known == slices.Contains(own, name) {
			t.Errorf("%s: known is %v", name, known)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(jvmsAttributes), "\n") {
		if name, _, _ := strings.Cut(line, ":"); !slices.Contains(names, name) {
			t.Errorf("%s is not among the JDK's attributes", name)
		}
	}
}
