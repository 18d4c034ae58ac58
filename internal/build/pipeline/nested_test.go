package pipeline_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/build/pipeline"
)

// TestNestedStaysStored instruments an archive in an archive: a loader that maps nested archives wants them stored, at
// the same place in the order.
//
// Invariant: A nested archive that was stored is stored in the output.
func TestNestedStaysStored(t *testing.T) {
	dir := t.TempDir()
	lib, err := os.ReadFile(sampleJar(t, filepath.Join(dir, "lib.jar")))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, method := range map[string]uint16{"BOOT-INF/lib/stored.jar": zip.Store,
		"BOOT-INF/lib/deflated.jar": zip.Deflate} {
		e, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = e.Write(lib)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "app.jar"), filepath.Join(dir, "out.jar")
	if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
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
	before, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	after, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	want, err := os.ReadFile(filepath.Join(dir, "once.jar"))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range before.File {
		f := after.File[i]
		if f.Name != e.Name || f.Method != e.Method {
			t.Errorf("entry %d: %s by method %d, want %s by %d", i, f.Name, f.Method, e.Name, e.Method)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not the archive that is made of it alone: %v", f.Name, err)
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
	inner, err := os.ReadFile(archive(t, filepath.Join(dir, "inner.jar"), classes...))
	if err != nil {
		t.Fatal(err)
	}
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
