package crafted

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
)

// Committed returns the class files of testdata/classes/bin, by path. It finds the directory from any package.
func Committed(t testing.TB) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	module, err := oracle.Root()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(module, "testdata", "classes", "bin")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".class") {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no classes below %s", root)
	}
	return found
}

// All returns the committed and the crafted classes, in a fixed order.
func All(t testing.TB) (all []*classfile.Class) {
	byName := Classes(t)
	for name, data := range Committed(t) {
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		byName[name] = c
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}
