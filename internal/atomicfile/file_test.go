package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// listing returns the names in dir and the content of the regular files among them.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			data = []byte("unreadable")
		}
		files[e.Name()] = string(data)
	}
	return files
}

// Invariant: An output file appears complete or not at all, and never replaces an input.
func TestFile(t *testing.T) {
	tests := []struct {
		name  string
		old   string // content of an existing file; "" means none
		act   func(f *File) error
		fails bool
		want  map[string]string
	}{
		{"new", "", func(f *File) error { return f.Commit() }, false, map[string]string{"out": "new"}},
		{"replaced", "old", func(f *File) error { return f.Commit() }, false, map[string]string{"out": "new"}},
		{"synced first", "old", func(f *File) error {
			if err := f.Sync(); err != nil {
				return err
			}
			return f.Commit()
		}, false, map[string]string{"out": "new"}},
		{"aborted", "old", func(f *File) error { f.Abort(); return nil }, false, map[string]string{"out": "old"}},
		{"aborted, none before", "", func(f *File) error { f.Abort(); return nil }, false, map[string]string{}},
		{"aborted after Sync", "old", func(f *File) error { err := f.Sync(); f.Abort(); return err }, false,
			map[string]string{"out": "old"}},
		{"aborted after Commit", "old", func(f *File) error { err := f.Commit(); f.Abort(); return err }, false,
			map[string]string{"out": "new"}},
		{"committed after Abort", "old", func(f *File) error { f.Abort(); return f.Commit() }, true,
			map[string]string{"out": "old"}},
		{"write error", "old", func(f *File) error {
			f.file.Close() // every write fails from now on
			if _, err := f.Write([]byte("x")); err == nil {
				t.Error("no error")
			}
			return f.Commit()
		}, true, map[string]string{"out": "old"}},
		{"written after Sync", "old", func(f *File) error {
			if err := f.Sync(); err != nil {
				return nil
			}
			_, err := f.Write([]byte("x"))
			return err
		}, true, map[string]string{"out": "old"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			if test.old != "" {
				if err := os.WriteFile(path, []byte(test.old), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			if got := listing(t, dir)["out"]; got != test.old {
				t.Errorf("before Commit the file is %q", got)
			}
			if err := test.act(f); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			f.Abort()
			if diff := cmp.Diff(test.want, listing(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean something else here")
	}
	dir := t.TempDir()
	plain, made := filepath.Join(dir, "plain"), filepath.Join(dir, "made")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	create(t, made, "x")
	if got, want := mode(made), mode(plain); got != want {
		t.Errorf("mode of a new file is %v, of one by os.Create %v", got, want)
	}
	if err := os.Chmod(made, 0o751); err != nil {
		t.Fatal(err)
	}
	create(t, made, "y")
	if got := mode(made); got != 0o751 {
		t.Errorf("mode of a replaced file is %v", got)
	}
}

// create writes a file at path and commits it.
func create(t *testing.T, path, content string) {
	t.Helper()
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestFileThroughLinks(t *testing.T) {
	dir := t.TempDir()
	fixture.Directory(t, filepath.Join(dir, "real"))
	target := filepath.Join(dir, "real", "target")
	fixture.Write(t, target, "old")
	symlink(t, filepath.Join("real", "target"), filepath.Join(dir, "relative"))
	symlink(t, filepath.Join(dir, "relative"), filepath.Join(dir, "absolute"))
	symlink(t, filepath.Join("real", "later"), filepath.Join(dir, "dangling"))
	symlink(t, "round", filepath.Join(dir, "round"))

	create(t, filepath.Join(dir, "absolute"), "new")
	create(t, filepath.Join(dir, "dangling"), "made")
	if diff := cmp.Diff(map[string]string{"target": "new", "later": "made"},
		listing(t, filepath.Join(dir, "real"))); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"relative", "absolute", "dangling"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is not a link any more (%v)", name, err)
		}
	}
	if _, err := Create(filepath.Join(dir, "round")); err == nil ||
		!strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("error %v", err)
	}
}

func TestFileThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(dir); err == nil || !strings.HasSuffix(err.Error(), "it is a directory; name a file") {
		t.Errorf("error %v", err)
	}
	if _, err := Create(filepath.Join(dir, "none", "out")); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	if len(listing(t, dir)) != 0 {
		t.Error("something was left behind")
	}
}

// TestFileInPlace writes to the null device, which must not be replaced.
func TestFileInPlace(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	create(t, os.DevNull, "lost")
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() || !os.SameFile(before, after) {
		t.Errorf("%s was replaced (%v)", os.DevNull, err)
	}
}

// Invariant: An output file appears complete or not at all, and never replaces an input.
func TestLinked(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.jar", "b.jar", "other.jar"} {
		fixture.Write(t, at(name), "x")
	}
	if err := os.Link(at("b.jar"), at("hard.jar")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	symlink(t, "a.jar", at("soft.jar"))
	symlink(t, ".", at("dir"))
	symlink(t, "gone.jar", at("dangling.jar"))
	for output, want := range map[string]string{
		"a.jar": "a.jar", "soft.jar": "a.jar", "dir/a.jar": "a.jar", "dir/soft.jar": "a.jar",
		"hard.jar": "b.jar", "b.jar": "b.jar", "other.jar": "", "new.jar": "", "dangling.jar": "",
	} {
		got, err := Linked(dir+"/"+output, at("a.jar"), at("b.jar"))
		if want != "" {
			want = at(want)
		}
		if err != nil || got != want {
			t.Errorf("Linked(%s) = %q, %v; want %q", output, got, err, want)
		}
	}
	if _, err := Linked(at("a.jar"), at("gone.jar")); err == nil {
		t.Error("an input that does not exist: no error")
	}
	if _, err := Linked(at("a.jar")+"/x", at("a.jar")); err == nil && runtime.GOOS != "windows" {
		t.Error("an output below a file: no error")
	}
}
