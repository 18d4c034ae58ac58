package pipeline_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// writerTo is a file's content, or the reason why there is none.
type writerTo func(w io.Writer) error

func (f writerTo) WriteTo(w io.Writer) (int64, error) { return 0, f(w) }

func text(s string) writerTo {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// damage flips bits in the compressed data of some entries of a jar.
func damage(t *testing.T, path string, which func(name string) bool) {
	t.Helper()
	data := fixture.Read(t, path)
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if which(f.Name) {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			data[at+int64(f.CompressedSize64)/2] ^= 0x55
		}
	}
	fixture.Write(t, path, data)
}

// TestNothingIsLeft has runs that fail at every step, and dry ones: the directory is after them what it was
// before.
//
// Invariant: A run that fails or is cancelled leaves no file behind.
func TestNothingIsLeft(t *testing.T) {
	broken := errors.New("out of ideas")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, row := range []struct {
		name   string
		ctx    context.Context
		adjust func(t *testing.T, dir string, c *pipeline.Config)
		want   []string // words of the error; nil if there is none
	}{
		{name: "dry run", adjust: func(t *testing.T, dir string, c *pipeline.Config) {
			c.DryRun = true
			c.Files = func(*pipeline.Result) ([]pipeline.File, error) {
				return []pipeline.File{{Path: filepath.Join(dir, "map.txt"), Content: text("x")}}, nil
			}
		}},
		{name: "dry run that merges", adjust: func(t *testing.T, dir string, c *pipeline.Config) {
			c.DryRun, c.Inputs, c.Merge = true, c.Inputs[:1], filepath.Join(dir, "merged.jar")
		}},
		{name: "runtime class missing", want: []string{"runtime class"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.RuntimeExternal = false
			}},
		{name: "input missing", want: []string{"none.jar"}, adjust: func(t *testing.T, dir string, c *pipeline.Config) {
			c.Inputs[1].Path = filepath.Join(dir, "none.jar")
		}},
		{name: "input no archive", want: []string{"cannot read input as a zip archive", "text.txt"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1].Path = filepath.Join(dir, "text.txt")
			}},
		{name: "input cut short", want: []string{"cut.jar"}, adjust: func(t *testing.T, dir string,
			c *pipeline.Config) {
			c.Inputs[1].Path = filepath.Join(dir, "cut.jar")
		}},
		{name: "class entry damaged", want: []string{"damaged.jar!app/B.class", "0x"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[0].Path = filepath.Join(dir, "damaged.jar")
			}},
		{name: "output's directory missing", want: []string{filepath.Join("no", "out.jar")},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1].Output = filepath.Join(dir, "no", "out.jar")
			}},
		{name: "output directory's directory missing", want: []string{filepath.Join("no", "out")},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1] = pipeline.Input{Path: filepath.Join(dir, "classes"),
					Output: filepath.Join(dir, "no", "out")}
			}},
		{name: "output is a directory", want: []string{"it is a directory"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1].Output = filepath.Join(dir, "folder")
			}},
		{name: "output lies in a file", want: []string{"text.txt"}, adjust: func(t *testing.T, dir string,
			c *pipeline.Config) {
			c.Inputs[1].Output = filepath.Join(dir, "text.txt", "out.jar")
		}},
		{name: "output directory is a file", want: []string{"text.txt", "must be a directory"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1] = pipeline.Input{Path: filepath.Join(dir, "classes"),
					Output: filepath.Join(dir, "text.txt")}
			}},
		{name: "output directory has a directory where a file goes", want: []string{filepath.Join("taken", "app",
			"A.class"), "remove it"}, adjust: func(t *testing.T, dir string, c *pipeline.Config) {
			c.Inputs[1] = pipeline.Input{Path: filepath.Join(dir, "classes"), Output: filepath.Join(dir, "taken")}
		}},
		{name: "output directory has a file where a directory goes", want: []string{"taken2"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1] = pipeline.Input{Path: filepath.Join(dir, "classes"), Output: filepath.Join(dir, "taken2")}
			}},
		{name: "disk full", want: []string{"/dev/full"}, adjust: func(t *testing.T, dir string, c *pipeline.Config) {
			if _, err := os.Stat("/dev/full"); err != nil {
				t.Skip("skipped: there is no /dev/full")
			}
			c.Inputs[1].Output = "/dev/full"
		}},
		{name: "files beside the outputs fail", want: []string{"out of ideas"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Files = func(*pipeline.Result) ([]pipeline.File, error) { return nil, broken }
			}},
		{name: "a file beside the outputs fails", want: []string{"out of ideas", "map.txt"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Files = func(*pipeline.Result) ([]pipeline.File, error) {
					return []pipeline.File{{Path: filepath.Join(dir, "good.txt"), Content: text("x")},
						{Path: filepath.Join(dir, "map.txt"),
							Content: writerTo(func(io.Writer) error { return broken })}}, nil
				}
			}},
		{name: "a file beside the outputs has no place", want: []string{"folder"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Files = func(*pipeline.Result) ([]pipeline.File, error) {
					return []pipeline.File{{Path: filepath.Join(dir, "folder"), Content: text("x")}}, nil
				}
			}},
		{name: "cancelled before", ctx: ctx, want: []string{"context canceled"},
			adjust: func(*testing.T, string, *pipeline.Config) {}},
		{name: "aar merged", want: []string{"lib.aar", "cannot be merged"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1].Path = filepath.Join(dir, "lib.aar")
				c.Merge = filepath.Join(dir, "merged.jar")
			}},
		{name: "aar with a jar that is none", want: []string{"bad.aar!libs/x.jar"},
			adjust: func(t *testing.T, dir string, c *pipeline.Config) {
				c.Inputs[1].Path = filepath.Join(dir, "bad.aar")
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			good := archive(t, filepath.Join(dir, "in.jar"), class("app/A", "f"), class("app/B", "f"))
			data := fixture.Read(t, good)
			fixture.Write(t, filepath.Join(dir, "cut.jar"), data[:len(data)-30])
			fixture.Write(t, filepath.Join(dir, "damaged.jar"), data)
			damage(t, filepath.Join(dir, "damaged.jar"), func(name string) bool { return name == "app/B.class" })
			fixture.Write(t, filepath.Join(dir, "text.txt"), []byte("text"))
			fixture.Write(t, filepath.Join(dir, "folder", "file"), "")
			fixture.Write(t, filepath.Join(dir, "classes", "app", "A.class"), class("app/A", "f").data)
			fixture.Write(t, filepath.Join(dir, "taken", "app", "A.class", "file"), "")
			fixture.Write(t, filepath.Join(dir, "taken2", "app"), "")
			inner := fixture.Read(t, good)
			archive(t, filepath.Join(dir, "lib.aar"), file{"classes.jar", inner})
			archive(t, filepath.Join(dir, "bad.aar"), file{"classes.jar", inner}, file{"libs/x.jar", []byte("no zip")})

			c := config(good, filepath.Join(dir, "a.jar"))
			c.Inputs = append(c.Inputs, pipeline.Input{Path: good, Output: filepath.Join(dir, "b.jar")})
			c.RuntimeExternal = true
			row.adjust(t, dir, &c)
			before := tree(t, dir)
			if row.ctx == nil {
				row.ctx = context.Background()
			}
			if row.want == nil {
				if result := instrument(t, c); result.Mapping.Len() != 2 {
					t.Errorf("%d methods", result.Mapping.Len())
				}
			} else {
				fails(t, row.ctx, c, row.want...)
			}
			if after := tree(t, dir); !maps.Equal(before, after) {
				t.Errorf("there is now %s\nbefore    %s", sortedKeys(after), sortedKeys(before))
			}
		})
	}
}

// TestCancelled cancels after reports of progress from the first to nearly the last, and when all is written but
// the names.
//
// Invariant: A run that fails or is cancelled leaves no file behind.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	var files []file
	for i := range 40 {
		files = append(files, class(fmt.Sprintf("app/C%d", i), "f", "g"))
	}
	in := archive(t, filepath.Join(dir, "in.jar"), files...)
	before := tree(t, dir)
	for after := 1; after <= 85; after += 7 {
		ctx, cancel := context.WithCancel(context.Background())
		c := config(in, filepath.Join(dir, "out.jar"))
		c.RuntimeExternal, c.Jobs = true, 3
		reports := 0
		c.Progress = func(int64, int64) {
			if reports++; reports == after {
				cancel()
			}
		}
		if after > 78 {
			c.Progress = nil
			c.Files = func(*pipeline.Result) ([]pipeline.File, error) { cancel(); return nil, nil }
		}
		fails(t, ctx, c, "context canceled")
		if left := tree(t, dir); !maps.Equal(before, left) {
			t.Fatalf("cancelled after %d reports: there is %s", after, sortedKeys(left))
		}
	}
}

// TestFirstErrorWins checks that of several damaged classes the first is named, whatever the workers do.
func TestFirstErrorWins(t *testing.T) {
	dir := t.TempDir()
	var files []file
	for i := range 60 {
		files = append(files, class(fmt.Sprintf("app/C%02d", i), "f"))
	}
	files[7].data = make([]byte, 8<<20) // the first one takes the longest to be found out
	path := archive(t, filepath.Join(dir, "in.jar"), files...)
	damage(t, path, func(name string) bool { return name >= "app/C07.class" })
	for range 5 {
		c := config(path, filepath.Join(dir, "out.jar"))
		c.RuntimeExternal, c.Jobs = true, 8
		fails(t, t.Context(), c, "in.jar!app/C07.class")
	}
}

// TestChangedMeanwhile changes a class between the two passes. Where there are few classes, they are not read again.
func TestChangedMeanwhile(t *testing.T) {
	for name, data := range map[string][]byte{"no class": []byte("x"), "another": class("app/B", "f").data,
		"other methods": class("app/A", "g", "f").data} {
		dir := t.TempDir()
		path := filepath.Join(dir, "A.class")
		fixture.Write(t, path, class("app/A", "f").data)
		c := config(path, filepath.Join(dir, "out.class"))
		c.RuntimeExternal, c.Jobs = true, 1
		c.Progress = func(int64, int64) { fixture.Write(t, path, data) }
		if _, err := pipeline.Run(t.Context(), c); err != nil {
			t.Error(err)
		}
		fixture.Write(t, path, class("app/A", "f").data)
		many := filepath.Join(dir, "many", "Many.class")
		fixture.Write(t, many, make([]byte, 33<<20))
		c.Inputs = append(c.Inputs, pipeline.Input{Path: many, Output: filepath.Join(dir, "many.class")})
		fails(t, t.Context(), c, path+": changed while tracegen was running")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestChangedArchive sets the time of an archive, or replaces it by a copy, while it is worked on.
//
// Invariant: A run whose input changes meanwhile fails, or its outputs are of one state of the input.
func TestChangedArchive(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"touched": func(path string) error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) },
		"replaced": func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", data, 0o666), os.Rename(path+".new", path))
		},
	} {
		dir := t.TempDir()
		path := archive(t, filepath.Join(dir, "in.jar"), class("app/A", "f"), file{"text", []byte("text")})
		c := config(path, filepath.Join(dir, "out.jar"))
		c.RuntimeExternal = true
		c.Progress = func(int64, int64) {
			if err := change(path); err != nil {
				t.Error(name, err)
			}
		}
		fails(t, t.Context(), c, path+": changed while tracegen was running")
		if _, err := os.Stat(c.Inputs[0].Output); err == nil {
			t.Errorf("%s: an output is there", name)
		}
	}
}

// TestOutputsAreNotInputs has every way in which an output can be an input or another output.
func TestOutputsAreNotInputs(t *testing.T) {
	link := func(t *testing.T, old, new string, make func(string, string) error) {
		if err := make(old, new); err != nil {
			t.Skipf("skipped: no links here: %v", err)
		}
	}
	for _, row := range []struct {
		name string
		set  func(t *testing.T, dir string) []pipeline.Input
		want string
	}{
		{"the same name", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "in.jar", Output: "in.jar"}}
		}, "choose another output"},
		{"the same file", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "in.jar", Output: "folder/../in.jar"}}
		}, "choose another output"},
		{"a symbolic link to it", func(t *testing.T, dir string) []pipeline.Input {
			link(t, "in.jar", filepath.Join(dir, "link.jar"), os.Symlink)
			return []pipeline.Input{{Path: "in.jar", Output: "link.jar"}}
		}, "or a link to it"},
		{"a hard link to it", func(t *testing.T, dir string) []pipeline.Input {
			link(t, filepath.Join(dir, "in.jar"), filepath.Join(dir, "link.jar"), os.Link)
			return []pipeline.Input{{Path: "in.jar", Output: "link.jar"}}
		}, "or a link to it"},
		{"another input", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "in.jar", Output: "a.jar"}, {Path: "in2.jar", Output: "in.jar"}}
		}, "choose another output"},
		{"below an input", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "classes", Output: "classes/out"}}
		}, "lie in each other"},
		{"below an input, through a link", func(t *testing.T, dir string) []pipeline.Input {
			link(t, "classes", filepath.Join(dir, "other"), os.Symlink)
			return []pipeline.Input{{Path: "classes", Output: "other/new/out.jar"}}
		}, "lie in each other"},
		{"below an input, by a link to what is not there", func(t *testing.T, dir string) []pipeline.Input {
			link(t, "classes/new.jar", filepath.Join(dir, "new.jar"), os.Symlink)
			return []pipeline.Input{{Path: "classes", Output: "new.jar"}}
		}, "lie in each other"},
		{"around an input", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "classes/app", Output: "classes"}}
		}, "lie in each other"},
		{"two outputs of one name", func(t *testing.T, dir string) []pipeline.Input {
			return []pipeline.Input{{Path: "in.jar", Output: "x.jar"}, {Path: "in2.jar", Output: "./x.jar"}}
		}, "outputs x.jar and ./x.jar are the same file"},
		{"two outputs, of which one is a link", func(t *testing.T, dir string) []pipeline.Input {
			link(t, "folder", filepath.Join(dir, "same"), os.Symlink)
			return []pipeline.Input{{Path: "in.jar", Output: "folder/x.jar"}, {Path: "in2.jar", Output: "same/x.jar"}}
		}, "are the same file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			archive(t, "in.jar", class("app/A", "f"))
			archive(t, "in2.jar", class("app/B", "f"))
			fixture.Write(t, "classes/app/A.class", class("app/A", "f").data)
			fixture.Write(t, "folder/file", "")
			c := pipeline.Config{Inputs: row.set(t, dir), RuntimeExternal: true, Filter: everything()}
			before := tree(t, dir)
			fails(t, t.Context(), c, row.want)
			if after := tree(t, dir); !maps.Equal(before, after) {
				t.Errorf("there is now %s", sortedKeys(after))
			}
		})
	}
}

// TestDirectory copies a directory with all that can be in one.
func TestDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: modes and links are those of Unix")
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	fixture.Write(t, filepath.Join(in, "app", "A.class"), class("app/A", "f").data)
	fixture.Write(t, filepath.Join(in, "app", "Still.class"), classFile(assembly.Class{Name: "app/Still"}).data)
	fixture.Write(t, filepath.Join(in, "app", "run.sh"), []byte("#!"))
	fixture.Write(t, filepath.Join(in, `back\slash`), []byte("1"))
	fixture.Write(t, filepath.Join(in, "c:colon"), []byte("2"))
	fixture.Write(t, filepath.Join(dir, "elsewhere", "L.class"), class("l/L", "f").data)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(in, "empty", "deep"), 0o755))
	must(os.Chmod(filepath.Join(in, "app", "run.sh"), 0o755))
	must(os.Chmod(filepath.Join(in, "app", "A.class"), 0o600))
	must(os.Symlink(filepath.Join("..", "elsewhere"), filepath.Join(in, "linked")))
	must(os.Symlink("run.sh", filepath.Join(in, "app", "file-link")))
	must(os.Symlink("in", filepath.Join(dir, "in-link")))

	for _, from := range []string{in, filepath.Join(dir, "in-link"), in + "/"} {
		t.Run(filepath.Base(from), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			c := config(from, out)
			c.RuntimeExternal = true
			result := instrument(t, c)
			if result.Mapping.Len() != 2 || warned(result, "that this run does not write") {
				t.Errorf("%d methods, warnings %q", result.Mapping.Len(), result.Warnings)
			}
			got := tree(t, out)
			want := "[. app app/A.class app/Still.class app/file-link app/run.sh back\\slash c:colon empty empty/deep " +
				"linked linked/L.class]"
			if sortedKeys(got) != want {
				t.Errorf("got  %s\nwant %s", sortedKeys(got), want)
			}
			if len(callsIn(t, []byte(got["app/A.class"]), inject.DefaultRuntimeClass)) != 1 ||
				len(callsIn(t, []byte(got["linked/L.class"]), inject.DefaultRuntimeClass)) != 1 {
				t.Error("a class does not call")
			}
			for name, mode := range map[string]fs.FileMode{"app/run.sh": 0o755, "app/file-link": 0o755,
				"app/A.class": 0o600, "app/Still.class": 0o644} {
				if info, err := os.Lstat(filepath.Join(out, name)); err != nil || info.Mode() != mode {
					t.Errorf("%s has mode %v, want %v: %v", name, info.Mode(), mode, err)
				}
			}
		})
	}
	t.Run("into one that is there", func(t *testing.T) {
		out := t.TempDir()
		fixture.Write(t, filepath.Join(out, "app", "A.class"), []byte("old"))
		fixture.Write(t, filepath.Join(out, "mine.txt"), []byte("kept"))
		c := config(in, out)
		c.RuntimeExternal = true
		if result := instrument(t, c); !warned(result, out+": holds 1 files that this run does not write") {
			t.Errorf("warnings %q", result.Warnings)
		}
		got := tree(t, out)
		if got["mine.txt"] != "kept" || got["app/A.class"] == "old" || len(got) != 13 {
			t.Errorf("there is %s", sortedKeys(got))
		}
	})
	t.Run("into one that a link leads to", func(t *testing.T) {
		there := otherFileSystem(t)
		out := filepath.Join(t.TempDir(), "link")
		must(os.Symlink(there, out))
		c := config(in, out)
		c.RuntimeExternal = true
		result := instrument(t, c)
		if got := tree(t, there); len(got) != 12 || warned(result, "that this run does not write") {
			t.Errorf("there is %s, warnings %q", sortedKeys(got), result.Warnings)
		}
	})
	t.Run("into a jar", func(t *testing.T) {
		c := config(in, filepath.Join(t.TempDir(), "out.jar"))
		c.RuntimeExternal = true
		result := instrument(t, c)
		var names []string
		files := contents(t, c.Inputs[0].Output)
		for _, f := range files {
			names = append(names, f.name)
		}
		want := "[app/A.class app/Still.class app/file-link app/run.sh back\\slash c:colon empty/deep/ linked/L.class]"
		if fmt.Sprint(names) != want {
			t.Errorf("got  %v\nwant %s", names, want)
		}
		checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass, files)
	})
	t.Run("with a link to around it", func(t *testing.T) {
		must(os.Symlink("..", filepath.Join(in, "app", "up")))
		c := config(in, filepath.Join(t.TempDir(), "out"))
		c.RuntimeExternal = true
		fails(t, t.Context(), c, filepath.Join("app", "up"), "is a link to a directory that it lies in")
		must(os.Remove(filepath.Join(in, "app", "up")))
	})
	t.Run("with a link to nothing", func(t *testing.T) {
		must(os.Symlink("nothing", filepath.Join(in, "broken")))
		c := config(in, filepath.Join(t.TempDir(), "out"))
		c.RuntimeExternal = true
		fails(t, t.Context(), c, "cannot read input directory", "broken")
		must(os.Remove(filepath.Join(in, "broken")))
	})
}

// otherFileSystem returns an empty directory, if possible on another file system than that of t.TempDir.
func otherFileSystem(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tracegen-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
