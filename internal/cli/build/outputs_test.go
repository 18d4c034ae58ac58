package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
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
			args, _, err := cli.ParseArguments(strings.Fields(c.args))
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
				output := filepath.FromSlash(c.want[a.Path])
				if strings.HasSuffix(c.want[a.Path], "/") {
					output = c.want[a.Path]
				}
				want = append(want, pipeline.Input{Path: a.Path, Output: output})
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
