package pipeline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestJDKDoesNotMatter has a class whose fault shows only beside the JDK's classes, and one whose fault always shows:
// mapping and classes are the same with a JDK and without.
//
// Invariant: Mapping and classes do not depend on the JDK of the machine.
func TestJDKDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	jdk := filepath.Join(dir, "jdk")
	for name, super := range map[string]string{"java/lang/Object": "-", "java/lang/String": "",
		"java/lang/Integer": ""} {
		path := filepath.Join(jdk, filepath.FromSlash(name)+".class")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, assembly.Class{Name: name, Super: super, Access: public}.Bytes(),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	broken := func(name, from, to string) file {
		return classFile(assembly.Class{Name: name, Methods: []assembly.Method{
			{Access: static, Name: "f", Descriptor: "()V", Code: "return"},
			{Access: static, Name: "g", Descriptor: "(" + from + ")" + to, Stack: 1, Locals: 1,
				Code: "aload_0 | areturn"},
		}})
	}
	in := archive(t, filepath.Join(dir, "in.jar"),
		broken("p/BesideJDK", "Ljava/lang/Integer;", "Ljava/lang/String;"), broken("p/Always", "[I",
			"[J"), class("p/Good", "f"))
	out := func(name string, around pipeline.ClassPath) *pipeline.Result {
		c := pipeline.Config{
			Inputs: []pipeline.Input{{Path: in, Output: filepath.Join(dir, name+".jar")}},
			Filter: everything(), RuntimeExternal: true, ClassPath: around,
		}
		return instrument(t, c)
	}
	mapping := func(r *pipeline.Result) string {
		var b bytes.Buffer
		if _, err := r.Mapping.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	without, with := out("without", pipeline.ClassPath{}), out("with", pipeline.ClassPath{JDK: jdk})
	equalFiles(t, filepath.Join(dir, "without.jar"), filepath.Join(dir, "with.jar"))
	if a, b := mapping(without), mapping(with); a != b {
		t.Errorf("the mapping without a JDK\n%s\nand with one\n%s", a, b)
	}
	for _, r := range []*pipeline.Result{without, with} {
		if r.PreExisting != 1 || r.Introduced != 0 || r.Mapping.Len() != 3 {
			t.Errorf("%d classes wrong before, %d wrong since, %d methods; want 1, 0 and 3", r.PreExisting,
				r.Introduced, r.Mapping.Len())
		}
	}
	// Classes that the user names count, and who wants all classes to be there wants the JDK's to count.
	if r := out("named", pipeline.ClassPath{Paths: []string{jdk}}); r.PreExisting != 2 {
		t.Errorf("with the classes on the class path: %d wrong before", r.PreExisting)
	}
	if r := out("strict", pipeline.ClassPath{JDK: jdk, Strict: true}); r.PreExisting < 2 {
		t.Errorf("strictly: %d wrong before", r.PreExisting)
	}
}
