package corpus

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// benchRow is the jar that published figures are about. benchShare is the share of its classes that package benchmarks
// use, one in so many, so that a round takes less than a second.
const (
	benchRow   = "kotlin-compiler-embeddable-2.2.20"
	benchShare = 4
)

// BenchJar returns the jar for the benchmarks of packages: the one that TRACEGEN_BENCH_JAR names, else benchRow if it
// has been fetched, else the committed sample, in which case it logs that. share says which part of its classes is
// used: one in so many.
func BenchJar(t testing.TB) (path string, share int) {
	t.Helper()
	if path := os.Getenv("TRACEGEN_BENCH_JAR"); path != "" {
		return path, 1
	}
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := oracle.CacheDir("corpora")
	if err == nil {
		var jar Jar
		if jar, err = materialize(t.Context(), dir, c.byName[benchRow]); err == nil {
			return jar.Classes, benchShare
		}
	}
	t.Logf("on the committed sample alone: %s is not here (%v); make bench fetches it", benchRow, err)
	return filepath.Join(c.root, "testdata", "sample", "sample.jar"), 1
}

// BenchClasses returns the class files of [BenchJar]'s jar, without module declarations.
func BenchClasses(t testing.TB) (classes [][]byte) {
	t.Helper()
	path, share := BenchJar(t)
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	n := 0
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".class") || strings.HasSuffix(f.Name, "module-info.class") {
			continue
		}
		if n++; n%share != 0 {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, data)
	}
	return classes
}
