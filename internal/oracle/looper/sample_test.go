package looper

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestSample compiles one app against the jars of the runtime and against the no-op, which must result in the same
// class files, instruments it, and runs it with either on Android's classes.
//
// Invariant: An app compiles to the same bytes against the runtime and the no-op, and runs with either.
func TestSample(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	dir := t.TempDir()
	p := platforms[0]
	rest := filepath.SplitList(b.path)
	proofs, device := rest[0], rest[2]
	var compiled [2]map[string][]byte
	for k, row := range []struct {
		class   string
		runtime []string
	}{
		{"RecordedSample", append(jars.App(), jars.Matrix)},
		{"SilentSample", []string{jars.NoOp}},
	} {
		t.Run(row.class, func(t *testing.T) {
			classes := filepath.Join(dir, row.class)
			path := append([]string{proofs, device, p.fetch(t)}, row.runtime...)
			oracle.Javac(t, j, classes, path, nil, filepath.Join("testdata", "sample"))
			compiled[k] = readClasses(t, classes)
			rule, err := filter.ParseRule(false, "Bench", filter.Position{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = pipeline.Run(t.Context(), pipeline.Config{
				Filter: filter.New(filter.Options{Trivial: filter.None, Rules: []filter.Rule{rule}}), RuntimeExternal: true,
				Inputs: []pipeline.Input{{Path: classes, Output: classes + "-instrumented"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			one := bench{natives: b.natives, mapping: b.mapping, path: strings.Join(append(row.runtime,
				classes+"-instrumented", proofs, device), string(os.PathListSeparator))}
			one.prove(t, p, stock, row.class)
		})
	}
	if len(compiled[0]) == 0 || len(compiled[0]) != len(compiled[1]) {
		t.Fatalf("%d and %d classes", len(compiled[0]), len(compiled[1]))
	}
	for name, data := range compiled[0] {
		if !bytes.Equal(data, compiled[1][name]) {
			t.Errorf("%s differs when compiled against the no-op", name)
		}
	}
}

func readClasses(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[path], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
