package looper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// TestShrunkSample shrinks the sample app and the jars of the runtime by R8 in full mode, with no rules but those of
// the jars and two for the classes that the test calls, and runs the result on Android's classes.
//
// Invariant: An app that R8 has shrunk with the runtime records its main looper as before.
func TestShrunkSample(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	tools, err := toolchain.Versions[0].Fetch(t.Context())
	oracle.Require(t, err)
	library := toolchain.Library(t)
	dir := t.TempDir()
	rest := filepath.SplitList(b.path)
	proofs, device := rest[0], rest[2]
	classes := filepath.Join(dir, "classes")
	runtime := append(jars.App(), jars.Matrix)
	oracle.Javac(t, j, classes, append([]string{proofs, device, platforms[0].fetch(t)}, runtime...), nil,
		filepath.Join("testdata", "sample"))
	app := filepath.Join(dir, "app.jar")
	command(t, j.Tool("jar"), "cf", app, "-C", classes, "sample")
	merged, instrumented := filepath.Join(dir, "merged.jar"), filepath.Join(dir, "instrumented.jar")
	toolchain.Merge(t, merged, append([]string{app}, runtime...)...)
	_, err = pipeline.Run(t.Context(), pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.None}), Android: true,
		Inputs: []pipeline.Input{{Path: merged, Output: instrumented}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(dir, "app.pro")
	// The bench finds the class Background by its name, to wait until a start is complete.
	keep := "-keep class sample.Sample { public *; }\n-repackageclasses\n" +
		"-keep class dev.tracegen.runtime.android.Background { *; }\n"
	fixture.Write(t, rules, keep)
	shrunk := filepath.Join(dir, "shrunk.jar")
	text, err := tools.R8(t.Context(), toolchain.Shrinking{Library: library, Rules: []string{rules}, Output: shrunk,
		Mapping: filepath.Join(dir, "mapping.txt")}, instrumented)
	if err != nil || toolchain.NotOfCompose(text) != "" {
		t.Fatalf("R8: %v\n%s", err, text)
	}
	// The classes of the test that are not the app's are not shrunk; the app's are found in the shrunk jar first.
	one := bench{natives: b.natives, mapping: b.mapping,
		path: strings.Join([]string{shrunk, classes, proofs, device}, string(os.PathListSeparator))}
	one.prove(t, platforms[0], stock, "ShrunkSample")
}
