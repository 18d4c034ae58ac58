package classfile_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRewriteJavap checks that javap reads a class with added constants and an added method, and finds them.
func TestRewriteJavap(t *testing.T) {
	jdk := oracle.NeedJDK(t, 11)
	c := parse(t, sampleClasses(t)["g/Constants.class"])
	b := classfile.NewPoolBuilder(c.ConstantPool())
	b.AddInteger(-123456789)
	b.AddMethodref(b.AddClass(b.AddUtf8("added/Runtime")), b.NameAndType("enter", "(I)V"))
	method := memberSource{classfile.AccPublic | classfile.AccStatic, b.Utf8("added"), b.Utf8("()V"), []attributeSource{
		{b.Utf8("Code"), codeInfo(0, 0, []byte{0xB1}, nil)},
	}}
	data, err := c.Rewrite(classfile.Edit{Constants: b, AddMethods: [][]byte{method.append(nil)}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Constants.class")
	fixture.Write(t, file, data)
	out, err := exec.Command(jdk.Tool("javap"), "-v", "-p", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "Error") {
		t.Fatalf("javap: %v\n%s", err, out)
	}
	for _, want := range []string{"-123456789", "added/Runtime.enter:(I)V", "public static void added();"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("javap does not show %s", want)
		}
	}
}
