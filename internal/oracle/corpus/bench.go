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

// benchRow is the jar that figures are about, and benchShare the share of its classes that benchmarks of packages take:
// one in so many, for a round to take less than a second.
const (
	benchRow   = "kotlin-compiler-embeddable-2.2.20"
	benchShare = 4
)

// BenchJar gives the jar that benchmarks of packages work on: the one that TRACEGEN_BENCH_JAR names; else that of issue
// 5, if it has been fetched; else the committed sample, and then says so. share is how many of its classes make one that
// counts.
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
	if err == nil && os.Getenv("TRACEGEN_CORPUS") != "off" {
		var jar Jar
		if jar, err = materialize(t.Context(), dir, c.byName[benchRow]); err == nil {
			return jar.Classes, benchShare
		}
	}
	t.Logf("on the committed sample alone: %s is not here (%v); make bench fetches it", benchRow, err)
	return filepath.Join(c.root, "testdata", "sample", "sample.jar"), 1
}

// BenchClasses gives the class files of [BenchJar]'s, module declarations left out.
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
