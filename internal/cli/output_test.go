package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func TestParseArgument(t *testing.T) {
	cases := []struct {
		arg   string
		want  Argument
		fails string
	}{
		{arg: "a.jar", want: Argument{Path: "a.jar"}},
		{arg: "a.jar=x.jar", want: Argument{"a.jar", "x.jar"}},
		{arg: "a.jar=x=y.jar", want: Argument{"a.jar", "x=y.jar"}},
		{arg: "k=v.jar", want: Argument{Path: "k=v.jar"}},
		{arg: "k=v.jar=x.jar", want: Argument{"k=v.jar", "x.jar"}},
		{arg: "both", want: Argument{Path: "both"}},
		{arg: "both=it", want: Argument{Path: "both=it"}}, // though both exists too
		{arg: "both=at", want: Argument{"both", "at"}},
		{arg: "a.jar=", fails: "no output given behind ="},
		{arg: "=x.jar", fails: "does not exist"},
		{arg: "gone.jar=x.jar", fails: "input gone.jar does not exist"},
		{arg: "gone.jar", fails: "input gone.jar does not exist"},
		{arg: "", fails: "does not exist"},
	}
	inTree(t, "a.jar", "k=v.jar", "both", "both=it")
	for _, c := range cases {
		got, err := parseArgument(c.arg)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: got error %v, want one with %q", c.arg, err, c.fails)
			}
		case err != nil || len(got) != 1 || got[0] != c.want:
			t.Errorf("%q: got %v and error %v, want %v", c.arg, got, err, c.want)
		}
	}
}

func TestLiesIn(t *testing.T) {
	inTree(t, "in/a.class", "out/x", "in/deep/")
	if err := os.Symlink("in", "link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(filepath.Join("..", "in", "a.class"), filepath.Join("out", "back")); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		dir, file string
		want      bool
	}{
		{"in", "in/a.class", true},
		{"in", "in/new", true},
		{"in", "in/new/deeper/file", true},
		{"in", "link/deep/new", true},
		{"link", "in/a.class", true},
		{"in", "out/back", true},
		{"in", "out/../in/a.class", true},
		{"in", "out/x", false},
		{"in", "inside/x", false},
		{"in", "new", false},
		{"in", "in/../new", false},
	}
	for _, c := range cases {
		if got := liesIn(c.dir, filepath.FromSlash(c.file)); got != c.want {
			t.Errorf("%s in %s: %v, want %v", c.file, c.dir, got, c.want)
		}
	}
}

// TestMakeDirectoriesUndone checks that undo removes directories that are still empty.
//
// Invariant: A run that is interrupted leaves no file or directory behind.
func TestMakeDirectoriesUndone(t *testing.T) {
	inTree(t, "there/", "file")
	undo, err := MakeDirectories(targets("there/a/b/x", "there/a/c/y", "there/z"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"there/a/b", "there/a/c"} {
		if !IsDirectory(dir) {
			t.Errorf("%s was not made", dir)
		}
	}
	fixture.Write(t, "there/a/c/y", "")
	undo()
	if IsDirectory("there/a/b") || !IsDirectory("there/a/c") || !IsDirectory("there") {
		t.Error("want the empty directory gone, the full one and the old one still there")
	}
	if _, err := MakeDirectories(targets("new/deep/x", "file/sub/y")); err == nil {
		t.Error("a directory below a file was made")
	}
	if IsDirectory("new") {
		t.Error("a failure leaves a directory behind")
	}
}

// TestDirectoriesAreMadeBySeveral makes the same directories from several goroutines, as processes of one build do.
func TestDirectoriesAreMadeBySeveral(t *testing.T) {
	for range 100 {
		dir := filepath.Join(t.TempDir(), "a", "b", "c")
		var group errgroup.Group
		begin := make(chan struct{})
		for k := range 8 {
			group.Go(func() error {
				<-begin
				_, err := MakeDirectories([]Target{{What: "--output", Path: filepath.Join(dir, fmt.Sprint(k))}})
				return err
			})
		}
		close(begin)
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if !IsDirectory(dir) {
			t.Fatalf("%s was not made", dir)
		}
	}
}

// targets returns files to write.
func targets(paths ...string) (list []Target) {
	for _, path := range paths {
		list = append(list, Target{What: "--output", Path: path})
	}
	return list
}

// inTree makes files, and directories (their names end in a slash), in a new directory, and makes it the working
// directory.
func inTree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		fixture.Directory(t, filepath.Dir(name))
		if strings.HasSuffix(name, "/") {
			continue
		}
		fixture.Write(t, name, "")
	}
}
