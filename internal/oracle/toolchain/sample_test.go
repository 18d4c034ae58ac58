package toolchain

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/mapping"
)

// A sample is the instrumented app of testdata/sample with the runtime's core and Android part.
type sample struct {
	jdk oracle.JDK
	// library is the jar that the app is compiled against, runtime has the jars that are packaged with it, that for a
	// JVM among them, since the sample runs on one. phone has the jars of an app on a phone.
	library        string
	runtime, phone []string
	// jar has everything that is packaged, with the runtime's rules; plain has the app without calls and runtime.
	jar, plain string
	// mapping is the file of the method mapping, methods its content.
	mapping string
	methods *mapping.Mapping
	rules   string
}

// versions returns the tools of this run.
func versions(t *testing.T) []Tools {
	t.Helper()
	wanted := Versions[:1]
	if corpus.IsFull() {
		wanted = Versions
	}
	var all []Tools
	for _, v := range wanted {
		tools, err := v.Fetch(t.Context())
		oracle.Require(t, err)
		all = append(all, tools)
	}
	return all
}

// build compiles and instruments the sample.
func build(t *testing.T) sample {
	t.Helper()
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	library := Library(t)
	dir := t.TempDir()
	s := sample{jdk: j, library: library, runtime: []string{jars.JVM, jars.Android, jars.Report},
		phone: jars.App(), jar: filepath.Join(dir, "app.jar"),
		plain: filepath.Join(dir, "plain.jar"), mapping: filepath.Join(dir, "methodMapping.txt"),
		rules: filepath.Join("testdata", "app.pro")}
	classes := filepath.Join(dir, "classes")
	oracle.Javac(t, j, classes, append([]string{library}, s.runtime...), withNames, filepath.Join("testdata", "sample"))
	command(t, j.Tool("jar"), "cf", s.plain, "-C", classes, ".")
	merged := filepath.Join(dir, "merged.jar")
	Merge(t, merged, append([]string{s.plain}, s.runtime...)...)
	r, err := pipeline.Run(t.Context(), pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.Smart}), Android: true,
		Inputs: []pipeline.Input{{Path: merged, Output: s.jar}},
		Files: func(r *pipeline.Result) ([]pipeline.File, error) {
			return []pipeline.File{{Path: s.mapping, Content: r.Mapping}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.methods = r.Mapping
	return s
}

// withNames are options of javac for Java 8, with the lines and names that R8 may keep.
var withNames = []string{"--release", "8", "-g"}

// command runs a program and returns its standard output: tracegen warns on standard error of a recording of a busy
// machine.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(name), err, &messages, &out)
	}
	return out.String()
}
