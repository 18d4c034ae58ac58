package meaning

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// moduleSources are a module whose declaration does not mention the runtime.
var moduleSources = map[string]string{
	"module-info.java": `module app { }`,
	"app/Main.java": `package app;
public class Main {
    static void work(int n) { if (n > 0) work(n - 1); }
    public static void main(String[] args) {
        work(9);
        System.out.println(Main.class.getModule() + " reads " + Main.class.getModule().getDescriptor().requires());
    }
}`,
}

// TestModuleIsRecorded runs a named module that add-requires made read the runtime's module, with both on the module
// path and no option of the JVM. Without add-requires the same module fails.
//
// Invariant: A named module that add-requires changed runs and is recorded, and fails without that change.
func TestModuleIsRecorded(t *testing.T) {
	nightly.Only(t, "programs")
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	dir := t.TempDir()
	var sources []string
	for name, text := range moduleSources {
		path := filepath.Join(dir, "src", filepath.FromSlash(name))
		fixture.Write(t, path, text)
		sources = append(sources, path)
	}
	javac(t, j, filepath.Join(dir, "classes"), sources...)
	for _, requires := range []string{"", oracle.RecorderModule} {
		t.Run("requires "+requires, func(t *testing.T) {
			work := t.TempDir()
			program, runtime := filepath.Join(work, "program.jar"), filepath.Join(work, "runtime.jar")
			result, err := pipeline.Run(t.Context(), pipeline.Config{
				Filter: filter.New(filter.Options{Trivial: filter.None}), AddRequires: requires,
				Inputs: []pipeline.Input{{Path: filepath.Join(dir, "classes"), Output: program},
					{Path: jars.JVM, Output: runtime}},
			})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(work, "r.tgd")
			out := command{jdk: j, dir: work, args: []string{"-Dtracegen.output=" + file, "-p", pathList(program, runtime),
				"-m", "app/app.Main"}}.run(t)
			if requires == "" {
				if out.code == 0 || !strings.Contains(out.text, "NoClassDefFoundError: dev/tracegen/runtime/AppMethodBeat") {
					t.Errorf("exit code %d: %s", out.code, out.text)
				}
				return
			}
			if out.code != 0 || !strings.Contains(out.text, "module app reads [") || !strings.Contains(out.text, requires) {
				t.Fatalf("exit code %d: %s", out.code, out.text)
			}
			// One call of main, and ten of work.
			if r := readRecording(t, file); r.records != 22 || r.digest != result.Mapping.Digest() || !r.damage.Closed {
				t.Errorf("%d records of the mapping %s, %+v; want 22 of %s", r.records, r.digest, r.damage, result.Mapping.Digest())
			}
		})
	}
}
