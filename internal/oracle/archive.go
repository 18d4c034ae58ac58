package oracle

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// EachEntry calls visit with the name and the content of each entry of an archive that is wanted, in their order.
func EachEntry(archive string, wanted func(name string) bool, visit func(name string, data []byte) error) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !wanted(f.Name) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s!%s: %w", archive, f.Name, err)
		}
		data, err := io.ReadAll(in)
		in.Close()
		if err == nil {
			err = visit(f.Name, data)
		}
		if err != nil {
			return fmt.Errorf("%s!%s: %w", archive, f.Name, err)
		}
	}
	return nil
}

// EachClass calls visit with each class file of a jar.
func EachClass(t testing.TB, jar string, visit func(name string, data []byte)) {
	t.Helper()
	isClass := func(name string) bool { return strings.HasSuffix(name, ".class") }
	err := EachEntry(jar, isClass, func(name string, data []byte) error {
		visit(name, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Extract writes the entry of an archive to a file. It fails if there is none.
func Extract(archive, entry, file string) error {
	found := false
	err := EachEntry(archive, func(name string) bool { return name == entry }, func(_ string, data []byte) error {
		found = true
		return os.WriteFile(file, data, 0o644)
	})
	if err == nil && !found {
		err = fmt.Errorf("%s has no entry %s", archive, entry)
	}
	return err
}

// ExtractSources writes the Java sources of a jar below a directory.
func ExtractSources(jar, dir string) error {
	isSource := func(name string) bool {
		return strings.HasSuffix(name, ".java") && filepath.IsLocal(filepath.FromSlash(name))
	}
	return EachEntry(jar, isSource, func(name string, data []byte) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

// JarOf writes a jar of the files below a directory.
func JarOf(t testing.TB, dir, jar string) string {
	t.Helper()
	f, err := os.Create(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return jar
}
