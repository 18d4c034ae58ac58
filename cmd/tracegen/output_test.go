package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/pipeline"
)

// inTree makes files, and directories (their names end in a slash), in a new directory, and makes it the working
// directory.
func inTree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResolveOutputs(t *testing.T) {
	type outputs = map[string]string
	cases := []struct {
		name   string
		args   string
		out    string
		merge  bool
		want   outputs // by input
		order  []string
		beside string
		fails  string
	}{
		{name: "file to file", args: "a.jar", out: "x.jar", want: outputs{"a.jar": "x.jar"}, beside: "."},
		{name: "file below", args: "a.jar", out: "made/x.jar", want: outputs{"a.jar": "made/x.jar"}, beside: "made"},
		{name: "file to directory", args: "d/a.jar", out: "dir", want: outputs{"d/a.jar": "dir/a.jar"}, beside: "dir"},
		{name: "file to new directory", args: "d/a.jar", out: "made/", want: outputs{"d/a.jar": "made/a.jar"},
			beside: "made"},
		{name: "class to directory", args: "c.class", out: "dir/", want: outputs{"c.class": "dir/c.class"},
			beside: "dir"},
		{name: "directory", args: "classes", out: "made", want: outputs{"classes": "made"}, beside: "."},
		{name: "directory with slash", args: "classes/", out: "made/", want: outputs{"classes/": "made/"}, beside: "."},
		{name: "directory over directory", args: "classes", out: "dir", want: outputs{"classes": "dir"}, beside: "."},
		{name: "directory to jar", args: "classes", out: "made/x.jar", want: outputs{"classes": "made/x.jar"},
			beside: "made"},
		{name: "several", args: "a.jar classes", out: "made",
			want: outputs{"a.jar": "made/a.jar", "classes": "made/classes"}, beside: "made"},
		{name: "one name", args: "a.jar d/a.jar e/a.jar", out: "made",
			want: outputs{"a.jar": "made/a.jar", "d/a.jar": "made/a-2.jar", "e/a.jar": "made/a-3.jar"}, beside: "made"},
		{name: "order of arguments counts", args: "e/a.jar a.jar", out: "made",
			want: outputs{"e/a.jar": "made/a.jar", "a.jar": "made/a-2.jar"}, beside: "made"},
		{name: "names of inputs are kept free", args: "a.jar d/a.jar a-2.jar", out: "made",
			want: outputs{"a.jar": "made/a.jar", "d/a.jar": "made/a-3.jar", "a-2.jar": "made/a-2.jar"}, beside: "made"},
		{name: "names that differ in case", args: "a.jar d/A.jar", out: "made",
			want: outputs{"a.jar": "made/a.jar", "d/A.jar": "made/A-2.jar"}, beside: "made"},
		{name: "directories with dots", args: "v1.0/ d/v1.0/", out: "made",
			want: outputs{"v1.0/": "made/v1.0", "d/v1.0/": "made/v1.0-2"}, beside: "made"},
		{name: "several to a file", args: "a.jar d/a.jar", out: "c.class", fails: "c.class is a file"},
		{name: "pairs", args: "a.jar=x/a.jar d/a.jar=y.jar", want: outputs{"a.jar": "x/a.jar", "d/a.jar": "y.jar"},
			beside: "x"},
		{name: "pairs and output", args: "a.jar=x.jar", out: "y", fails: "--output excludes INPUT=OUTPUT"},
		{name: "pairs and others", args: "a.jar=x.jar d/a.jar", fails: "an input has no =OUTPUT"},
		{name: "pairs and merge", args: "a.jar=x.jar", merge: true, fails: "--merge excludes INPUT=OUTPUT"},
		{name: "pair onto a directory", args: "a.jar=dir", fails: "its output dir is a directory"},
		{name: "pair with a slash", args: "a.jar=made/", fails: "its output made/ is a directory"},
		{name: "nothing", args: "a.jar", fails: "no output given"},
		{name: "merge", args: "a.jar classes", out: "made/x.jar", merge: true,
			want: outputs{"a.jar": "", "classes": ""}, beside: "made"},
		{name: "merge into a directory", args: "a.jar", out: "dir", merge: true, fails: "name a file"},
		{name: "merge with a slash", args: "a.jar", out: "made/", merge: true, fails: "name a file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inTree(t, "a.jar", "a-2.jar", "c.class", "d/a.jar", "d/A.jar", "e/a.jar", "dir/", "classes/", "v1.0/",
				"d/v1.0/")
			args, _, err := parseArguments(strings.Fields(c.args))
			if err != nil {
				t.Fatal(err)
			}
			got, err := resolveOutputs(args, c.out, c.merge)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("got %v and error %v, want an error with %q", got, err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var want []pipeline.Input
			for _, a := range args {
				output := filepath.FromSlash(c.want[a.path])
				if strings.HasSuffix(c.want[a.path], "/") {
					output = c.want[a.path]
				}
				want = append(want, pipeline.Input{Path: a.path, Output: output})
			}
			for i := range got.inputs {
				got.inputs[i].Output = filepath.FromSlash(got.inputs[i].Output)
				want[i].Output = filepath.FromSlash(want[i].Output)
			}
			if diff := cmp.Diff(want, got.inputs); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if got.beside != filepath.FromSlash(c.beside) {
				t.Errorf("files go to %s, want %s", got.beside, c.beside)
			}
			if wantMerge := map[bool]string{true: c.out}[c.merge]; got.merge != wantMerge {
				t.Errorf("merge into %q, want %q", got.merge, wantMerge)
			}
		})
	}
}

func TestParseArgument(t *testing.T) {
	cases := []struct {
		arg   string
		want  argument
		fails string
	}{
		{arg: "a.jar", want: argument{path: "a.jar"}},
		{arg: "a.jar=x.jar", want: argument{"a.jar", "x.jar"}},
		{arg: "a.jar=x=y.jar", want: argument{"a.jar", "x=y.jar"}},
		{arg: "k=v.jar", want: argument{path: "k=v.jar"}},
		{arg: "k=v.jar=x.jar", want: argument{"k=v.jar", "x.jar"}},
		{arg: "both", want: argument{path: "both"}},
		{arg: "both=it", want: argument{path: "both=it"}}, // though both exists too
		{arg: "both=at", want: argument{"both", "at"}},
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
		case err != nil || got != c.want:
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
	undo, err := makeDirectories([]target{{"x", "there/a/b/x"}, {"y", "there/a/c/y"}, {"z", "there/z"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"there/a/b", "there/a/c"} {
		if !isDirectory(dir) {
			t.Errorf("%s was not made", dir)
		}
	}
	if err := os.WriteFile("there/a/c/y", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	undo()
	if isDirectory("there/a/b") || !isDirectory("there/a/c") || !isDirectory("there") {
		t.Error("want the empty directory gone, the full one and the old one still there")
	}
	if _, err := makeDirectories([]target{{"x", "new/deep/x"}, {"y", "file/sub/y"}}); err == nil {
		t.Error("a directory below a file was made")
	}
	if isDirectory("new") {
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
				_, err := makeDirectories([]target{{"--output", filepath.Join(dir, fmt.Sprint(k))}})
				return err
			})
		}
		close(begin)
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if !isDirectory(dir) {
			t.Fatalf("%s was not made", dir)
		}
	}
}
