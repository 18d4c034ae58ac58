package pipeline_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestNestedStaysStored instruments an archive in an archive: a loader that maps nested archives wants them stored, at
// the same place in the order.
//
// Invariant: A nested archive that was stored is stored in the output.
func TestNestedStaysStored(t *testing.T) {
	dir := t.TempDir()
	lib := fixture.Read(t, sampleJar(t, filepath.Join(dir, "lib.jar")))
	app := fixture.Pack(t, fixture.Entry{Name: "BOOT-INF/lib/stored.jar", Data: string(lib), Stored: true},
		fixture.Entry{Name: "BOOT-INF/lib/deflated.jar", Data: string(lib)})
	in, out := filepath.Join(dir, "app.jar"), filepath.Join(dir, "out.jar")
	fixture.Write(t, in, app)
	c := config(in, out)
	result := instrument(t, c)
	once, err := pipeline.Run(t.Context(), config(filepath.Join(dir, "lib.jar"), filepath.Join(dir, "once.jar")))
	if err != nil {
		t.Fatal(err)
	}
	if result.Inputs[0].Rewritten != 2*once.Inputs[0].Rewritten || result.Mapping.Digest() != once.Mapping.Digest() {
		t.Errorf("%d classes rewritten, digest %s; of the nested archive alone %d, %s", result.Inputs[0].Rewritten,
			result.Mapping.Digest(), once.Inputs[0].Rewritten, once.Mapping.Digest())
	}
	after := fixture.Unpack(t, fixture.Read(t, out))
	want := fixture.Text(t, filepath.Join(dir, "once.jar"))
	for i, e := range fixture.Unpack(t, app) {
		f := after[i]
		if f.Name != e.Name || f.Stored != e.Stored {
			t.Errorf("entry %d: %s, stored: %t, want %s, %t", i, f.Name, f.Stored, e.Name, e.Stored)
		}
		if f.Data != want {
			t.Errorf("%s is not the archive that is made of it alone", f.Name)
		}
	}
}

// TestWorkersAhead instruments three archives with one worker, which is then 32 entries ahead of the writer. Each
// has an archive in front of more entries than that, and the workers begin with the next one before it is written. Each
// output is what its input becomes alone, with the same IDs.
func TestWorkersAhead(t *testing.T) {
	dir := t.TempDir()
	var classes, files []file
	for i := range 70 {
		classes = append(classes, class(fmt.Sprint("in/C", i), "a", "b"))
		files = append(files, class(fmt.Sprint("out/C", i), "a", "b"), file{fmt.Sprint("text", i), []byte("x")})
	}
	inner := fixture.Read(t, archive(t, filepath.Join(dir, "inner.jar"), classes...))
	files = append([]file{{"BOOT-INF/lib/inner.jar", inner}}, files...)
	c := config(archive(t, filepath.Join(dir, "0.jar"), files...), filepath.Join(dir, "out0.jar"))
	c.RuntimeExternal, c.Jobs = true, 1
	instrument(t, c)
	alone := contents(t, c.Inputs[0].Output)
	for i := 1; i < 3; i++ {
		c.Inputs = append(c.Inputs, pipeline.Input{
			Path:   archive(t, filepath.Join(dir, fmt.Sprint(i, ".jar")), files...),
			Output: filepath.Join(dir, fmt.Sprint("out", i, ".jar")),
		})
	}
	instrument(t, c)
	for _, in := range c.Inputs {
		if diff := cmp.Diff(alone, contents(t, in.Output), cmp.AllowUnexported(file{})); diff != "" {
			t.Errorf("%s is not what its input becomes alone: %s", in.Output, diff)
		}
	}
}
