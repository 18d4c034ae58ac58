package oracle

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// Javac compiles sources into the directory out, with a class path. Without options it compiles for Java 8, the release
// of the runtime. A source is a file, or a directory with files; their declarations of modules are left out.
func Javac(t testing.TB, j JDK, out string, path, options []string, sources ...string) {
	t.Helper()
	if options == nil {
		options = []string{"--release", "8"}
	}
	args := append(slices.Clone(options), "-Xlint:-options", "-nowarn", "-encoding", "UTF-8", "-proc:none", "-d", out,
		"-cp", classPath(path...))
	for _, file := range filesBelow(t, ".java", sources) {
		if filepath.Base(file) != "module-info.java" {
			args = append(args, file)
		}
	}
	if err := run(t.Context(), "", j.Tool("javac"), args...); err != nil {
		t.Fatal(err)
	}
}

// ClassFiles returns the paths of the class files below directories.
func ClassFiles(t testing.TB, dirs ...string) []string {
	t.Helper()
	return filesBelow(t, ".class", dirs)
}

// filesBelow returns the files with an extension among paths and below them, in the order of names.
func filesBelow(t testing.TB, extension string, paths []string) (files []string) {
	t.Helper()
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && filepath.Ext(file) == extension {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
