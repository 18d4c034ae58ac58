package output

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// tree returns the files below a directory with their contents; directories end in a slash.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			files[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		if d.Type()&os.ModeSymlink != 0 {
			data, err = []byte("link"), nil
		}
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// stageIn stages outputs with the content: two files in a, one in b, and a directory.
func stageIn(t testing.TB, dir, content string) *Stage {
	t.Helper()
	stage := &Stage{}
	for _, name := range []string{"a/x", "a/y", "b/z"} {
		f, err := stage.Create(filepath.Join(dir, name))
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := stage.Directory(filepath.Join(dir, "classes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"g/A.class", "g/B.class", "empty/"} {
		if err := d.Write(name, 0o644, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	return stage
}

func writeIn(t testing.TB, dir, content string) {
	t.Helper()
	stage := stageIn(t, dir, content)
	defer stage.Abort()
	if err := stage.Commit(); err != nil {
		t.Fatal(err)
	}
}

func outputsOf(content string) map[string]string {
	return map[string]string{"a/": "", "b/": "", "classes/": "", "classes/g/": "", "classes/empty/": "",
		"a/x": content, "a/y": content, "b/z": content, "classes/g/A.class": content, "classes/g/B.class": content}
}

func makeDirs(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		fixture.Directory(t, filepath.Join(dir, name))
	}
}

// TestRemovedStage removes a temporary file of a run before its commit: none of the outputs appears.
func TestRemovedStage(t *testing.T) {
	needLocks(t)
	for _, removed := range []string{"a/.tracegen-*", "b/.tracegen-*", ".tracegen-*/output"} {
		dir := t.TempDir()
		makeDirs(t, dir)
		writeIn(t, dir, "old")
		if err := os.RemoveAll(filepath.Join(dir, "classes")); err != nil {
			t.Fatal(err)
		}
		want := tree(t, dir)
		stage := stageIn(t, dir, "new")
		names, err := filepath.Glob(filepath.Join(dir, removed))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		if err := os.RemoveAll(names[0]); err != nil {
			t.Fatal(err)
		}
		err = stage.Commit()
		stage.Abort()
		if err == nil || !strings.Contains(err.Error(), "removed while tracegen was running") {
			t.Errorf("%s removed: %v", removed, err)
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%s removed:\n%s", removed, diff)
		}
	}
}

// die ends a commit as a killed process does: its locks end, and everything stays.
func (c *commit) die() {
	for _, f := range c.stage.files {
		f.Leave()
	}
	for _, d := range c.stage.directories {
		d.leave()
	}
	for _, j := range c.journals {
		j.file.Close()
	}
}

func needLocks(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("skipped: no locks and no journals on", runtime.GOOS)
	}
}

// TestKilledCommit kills a run after each of its renames, and lets the next run that writes to one of the directories
// finish it.
//
// Invariant: Outputs are those of one run, also when runs are killed; the next run removes what is left of them.
func TestKilledCommit(t *testing.T) {
	needLocks(t)
	for _, first := range []bool{true, false} {
		for _, next := range []string{"a/x", "b/z", "classes"} {
			for moves := 0; ; moves++ {
				dir := t.TempDir()
				makeDirs(t, dir)
				if !first {
					writeIn(t, dir, "old")
				}
				stage := stageIn(t, dir, "new")
				c, err := stage.begin()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.rename(min(moves, len(c.moves))); err != nil {
					t.Fatal(err)
				}
				ended := c.done == len(c.moves)
				c.die()
				var said warnings
				Recover([]string{filepath.Join(dir, next)}, said.add)
				recoverAll(dir, said.add)
				if diff := cmp.Diff(outputsOf("new"), tree(t, dir)); diff != "" {
					t.Fatalf("first %v, next %s, %d moves:\n%s", first, next, moves, diff)
				}
				if (len(said) == 1) == ended {
					t.Errorf("%d moves, warnings %q", moves, said)
				}
				if ended {
					break
				}
			}
		}
	}
}

// warnings are those of one recovery.
type warnings []string

func (w *warnings) add(text string) { *w = append(*w, text) }

// recoverAll recovers the outputs that writeIn writes.
func recoverAll(dir string, warn func(text string)) {
	Recover([]string{filepath.Join(dir, "a/x"), filepath.Join(dir, "b/z"), filepath.Join(dir, "classes")}, warn)
}

// TestKilledCommitChanged changes something after a run was killed: the run is undone, and mixed outputs are reported.
func TestKilledCommitChanged(t *testing.T) {
	needLocks(t)
	for moves, want := range []string{"", "may be of two runs"} {
		dir := t.TempDir()
		makeDirs(t, dir)
		writeIn(t, dir, "old")
		c, err := stageIn(t, dir, "new").begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.rename(moves * 3); err != nil {
			t.Fatal(err)
		}
		c.die()
		fixture.Write(t, filepath.Join(dir, "a/y"), "of the user")
		var said warnings
		recoverAll(dir, said.add)
		files := tree(t, dir)
		if files["a/x"] != "old" || files["a/y"] != "of the user" || files["b/z"] != "old" || len(files) != 10 {
			t.Errorf("%d moves: %v", moves, files)
		}
		if said := strings.Join(said, "\n"); !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%d moves: said %q", moves, said)
		}
	}
}

// TestDamagedJournal cuts a journal, and flips its bits.
//
// Invariant: A journal that is damaged is never acted on.
func TestDamagedJournal(t *testing.T) {
	needLocks(t)
	dir := t.TempDir()
	makeDirs(t, dir)
	c, err := stageIn(t, dir, "new").begin()
	if err != nil {
		t.Fatal(err)
	}
	c.die()
	path := filepath.Join(dir, "a", journalName())
	whole := fixture.Read(t, path)
	before := tree(t, dir)
	delete(before, "a/"+journalName())
	var said warnings
	for i := range 2 * len(whole) {
		data := slices.Clone(whole)
		if i < len(whole) {
			data = data[:i]
		} else {
			data[i-len(whole)] ^= 1 << (i % 8)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if free, err := conclude(path, said.add); !free || err != nil {
			t.Fatalf("mutant %d: %v, %v", i, free, err)
		}
		after := tree(t, dir)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("mutant %d was acted on:\n%s", i, diff)
		}
	}
	if len(said) < len(whole)/2 || !strings.Contains(said[0], "is damaged, and was removed") {
		t.Errorf("%d warnings", len(said))
	}
}

// TestSweep leaves alone what is not a killed run's.
func TestSweep(t *testing.T) {
	needLocks(t)
	dir := t.TempDir()
	makeDirs(t, dir)
	living := stageIn(t, dir, "living")
	defer living.Abort()
	for _, f := range living.files {
		if err := f.Sync(); err != nil { // which closes the files, and must keep their locks
			t.Fatal(err)
		}
	}
	c := &commit{stage: stageIn(t, dir, "dead")}
	for _, f := range c.stage.files {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	c.die()
	if err := os.Symlink("x", filepath.Join(dir, "a/.tracegen-link.tmp")); err != nil {
		t.Fatal(err)
	}
	want := 3 + 6 + 1
	if os.Geteuid() == 0 {
		other := filepath.Join(dir, "a/.tracegen-other.tmp")
		fixture.Write(t, other, "")
		if err := os.Lchown(other, 65534, 65534); err == nil {
			want++
		}
	}
	recoverAll(dir, new(warnings).add)
	files := tree(t, dir)
	for name, content := range files {
		if content == "dead" {
			t.Errorf("%s is still there", name)
		}
	}
	if len(files)-2 != want {
		t.Errorf("%d files and directories are left, want %d: %v", len(files)-2, want, files)
	}
}

// TestConcurrentCommits lets runs commit in the same directories at the same time.
//
// Invariant: Two runs that write the same outputs at the same time never mix them.
func TestConcurrentCommits(t *testing.T) {
	needLocks(t)
	dir := t.TempDir()
	makeDirs(t, dir)
	for round := range 100 {
		var group sync.WaitGroup
		for run := range 3 {
			stage := stageIn(t, dir, fmt.Sprint(round, run))
			group.Go(func() {
				if err := stage.Commit(); err != nil {
					t.Error(err)
				}
				stage.Abort()
			})
		}
		group.Wait()
		files := tree(t, dir)
		if diff := cmp.Diff(outputsOf(files["a/x"]), files); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
	}
}

// FuzzJournal parses any text: what is accepted is written alike, and names temporary files only.
func FuzzJournal(f *testing.F) {
	p := planned{"RUN", []step{{".tracegen-A.tmp", "out.jar", 7, "-"},
		{".tracegen-B.tmp/output/x y", "../d/\n", 8, "1/2/3"}, {"", "d/e", 0, "5"}}, []string{"../b/" + journalName()}}
	f.Add(p.text())
	f.Add([]byte("garbage\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseJournal(data)
		if err != nil {
			return
		}
		if string(p.text()) != string(data) {
			again, err := parseJournal(p.text())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, again, cmp.AllowUnexported(planned{}, step{})); diff != "" {
				t.Fatal(diff)
			}
		}
		for _, s := range p.steps {
			if s.from != "" && !strings.Contains(s.from, ".tracegen-") || filepath.IsAbs(s.to) {
				t.Fatalf("a step from %q to %q", s.from, s.to)
			}
		}
	})
}

// TestIdentity compares the names of one file.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return dir + string(filepath.Separator) + filepath.FromSlash(name) }
	fixture.Directory(t, at("sub/deep"))
	fixture.Write(t, at("sub/there"), "")
	for from, to := range map[string]string{"link": "sub", "deeplink": "sub/deep", "dangling": "sub/new",
		"sub/again": "../dangling", "far": "none/at/all", "soft": "sub/there"} {
		if err := os.Symlink(filepath.FromSlash(to), at(from)); err != nil {
			t.Skip("skipped: no symbolic links here:", err)
		}
	}
	if err := os.Link(at("sub/there"), at("hard")); err != nil {
		t.Skip("skipped: no hard links here:", err)
	}
	for _, same := range [][]string{
		{"sub/new", "link/new", "dangling", "sub/again", "link/deep/../new", "deeplink/../new", "sub/./new",
			"link//again"},
		{"sub/there", "link/there", "soft", "hard"},
		{"new", "./new", "sub/../new"},
		{"link/x/y/z", "sub/x/y/z", "sub/x/../x/y/z"},
		{"none/at/all", "far"},
		{"deeplink/o", "sub/deep/o", "link/deep/o"},
	} {
		want, err := Identity(at(same[0]))
		if err != nil || want == "" {
			t.Fatal(want, err)
		}
		for _, name := range same[1:] {
			if got, err := Identity(at(name)); got != want || err != nil {
				t.Errorf("%s is %q (%v), but %s is %q", name, got, err, same[0], want)
			}
			if err := CheckPaths([]string{at(same[0]), at(name)}, nil); err == nil ||
				!strings.Contains(err.Error(), at(same[0])+" and "+at(name)) {
				t.Errorf("%s and %s: %v", same[0], name, err)
			}
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"new", "sub/new", "sub/deep/new", "sub/there", "none/at/all", "link/x", "link/x/x",
		"sub"} {
		got, err := Identity(at(name))
		if other, ok := seen[got]; ok || err != nil {
			t.Errorf("%s and %s are the same: %q, %v", name, other, got, err)
		}
		seen[got] = name
	}
	if got, err := Identity(os.DevNull); got != "" || err != nil {
		t.Errorf("a device: %q, %v", got, err)
	}
	if !atomicfile.IsTemporary(".tracegen-x.tmp") || atomicfile.IsTemporary(".tracegen-.tmp") {
		t.Error("names of temporary files are not known")
	}
}
