package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// outputSet is an app with two runs of a command, whose outputs differ: jars and a directory of classes, or slices, in
// one directory, and lists in another.
type outputSet struct {
	bin, dir string
	step     outputStep
	want     [2]map[string]string
	took     time.Duration // the last run that ended by itself
}

// outputStep is a command that writes outputs.
type outputStep struct {
	name    string
	parts   bool     // whether it works on scan files or a slice; it takes no --cache then
	options []string // of both runs, with the directory of the outputs as OUT
	runs    [2][]string
	inputs  []string
	broken  string   // in place of the first input, it lets a run fail when it has cleaned up after others
	differ  []string // outputs that are not the same for both runs
}

var inputsOfSteps = []string{"in/a.jar", "in/b.jar", "in/classes"}

// instrumentStep is instrument with all that it can write.
var instrumentStep = outputStep{
	name: "instrument",
	options: []string{"instrument", "-o", "OUT/", "--mapping", "lists/map.txt", "--reports", "lists", "--report",
		"OUT/report.json",
		"--verify", "equivalence"},
	runs: [2][]string{{"--runtime-external"}, {"--runtime-class", "a.Beat", "--runtime-external", "--exits", "exact",
		"--set", "trivial=none"}},
	inputs: inputsOfSteps, broken: "in/../broken.jar",
	differ: []string{"out/a.jar", "out/b.jar", "out/report.json", "lists/map.txt", "lists/report.json",
		"lists/skipped.tsv"},
}

// outputSteps are all of them: the second and the third do the work of the first in parts.
var outputSteps = []outputStep{instrumentStep, {
	name: "assign", parts: true,
	options: []string{"assign", "--slices", "OUT", "-o", "lists/map.txt", "--reports", "lists", "--report",
		"OUT/report.json",
		"--runtime-external"},
	runs:   [2][]string{{"--set", "id-order=hash"}, {"--set", "id-order=compact"}},
	inputs: []string{"parts/a.scan", "parts/b.scan", "parts/classes.scan"}, broken: "parts/twin/b.scan",
	differ: []string{"out/a.slice", "out/b.slice", "out/classes.slice", "lists/map.txt", "lists/lines.tsv",
		"lists/digest.txt"},
}, {
	name: "instrument --slice", parts: true,
	options: []string{"instrument", "-o", "OUT/", "--verify", "equivalence"},
	runs:    [2][]string{{"--slice", "parts/hash/all.slice"}, {"--slice", "parts/compact/all.slice"}},
	inputs:  inputsOfSteps, broken: "in/../broken.jar",
	differ: []string{"out/a.jar", "out/b.jar"},
}}

func newOutputSet(t *testing.T, step outputStep) *outputSet {
	t.Helper()
	s := &outputSet{bin: builtTool(t), dir: t.TempDir(), step: step}
	sample := fixture.Read(t, "../../testdata/sample/sample.jar")
	classes, err := filepath.Glob("../../testdata/classes/bin/g/*.class")
	if err != nil || len(classes) == 0 {
		t.Fatal("no classes", err)
	}
	files := map[string][]byte{"in/a.jar": sample, "in/b.jar": sample, "broken.jar": []byte("no archive")}
	for _, class := range classes {
		data := fixture.Read(t, class)
		files["in/classes/g/"+filepath.Base(class)] = data
	}
	for name, data := range files {
		fixture.Write(t, s.path(name), data)
	}
	if step.parts {
		s.makeParts(t)
	}
	for kind := range s.want {
		began := time.Now()
		s.run(t, s.command(kind, "out"))
		s.took = time.Since(began)
		s.want[kind] = s.outputs(t)
		s.clear(t)
	}
	for _, name := range step.differ {
		if s.want[0][name] == s.want[1][name] {
			t.Fatalf("%s is the same for both", name)
		}
	}
	return s
}

func (s *outputSet) path(name string) string { return filepath.Join(s.dir, name) }

// makeParts writes scan files of each input and of all, and two slices of that of all.
func (s *outputSet) makeParts(t *testing.T) {
	t.Helper()
	run := func(args ...string) {
		cmd := exec.Command(s.bin, args...)
		cmd.Dir = s.dir
		s.run(t, cmd)
	}
	run(append([]string{"scan", "-o", "parts/all.scan"}, inputsOfSteps...)...)
	for _, in := range inputsOfSteps {
		name := strings.TrimSuffix(filepath.Base(in), ".jar")
		run("scan", in, "-o", "parts/"+name+".scan")
	}
	run("scan", "in/b.jar", "-o", "parts/twin/b.scan")
	for _, order := range []string{"hash", "compact"} {
		run("assign", "parts/all.scan", "--slices", "parts/"+order, "-o", "parts/"+order+"/map.txt", "--set",
			"id-order="+order,
			"--runtime-external")
	}
}

// command returns one of the two runs. Its arguments end with the inputs.
func (s *outputSet) command(kind int, out string, more ...string) *exec.Cmd {
	var args []string
	for _, option := range s.step.options {
		args = append(args, strings.ReplaceAll(option, "OUT", out))
	}
	cmd := exec.Command(s.bin, slices.Concat(args, s.step.runs[kind], more, s.step.inputs)...)
	cmd.Dir = s.dir
	return cmd
}

func (s *outputSet) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	fixture.Run(t, cmd)
}

// failing runs a command that cleans up after others and fails then: it writes nothing.
func (s *outputSet) failing(t *testing.T) {
	t.Helper()
	cmd := s.command(0, "out")
	cmd.Args[len(cmd.Args)-len(s.step.inputs)] = s.step.broken
	said, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitFailed {
		t.Fatalf("a run with a broken input: %v\n%s", err, said)
	}
}

func (s *outputSet) clear(t *testing.T) {
	t.Helper()
	for _, name := range []string{"out", "lists"} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// outputs returns all files in the directories of the outputs.
func (s *outputSet) outputs(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{"out", "lists"} {
		err := filepath.WalkDir(s.path(dir), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() && !strings.HasPrefix(d.Name(), ".tracegen-") {
				return err
			}
			name, _ := filepath.Rel(s.dir, path)
			if d.IsDir() {
				files[name] = "a directory"
				return fs.SkipDir
			}
			data, err := os.ReadFile(path)
			files[name] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// which returns which of the two runs the files are of; -1 if there are none, and false if they are of no single one.
func (s *outputSet) which(files map[string]string) (kind int, whole bool) {
	if len(files) == 0 {
		return -1, true
	}
	for kind, want := range s.want {
		if cmp.Equal(want, files) {
			return kind, true
		}
	}
	return 0, false
}

// describe says of each file which run it is of.
func (s *outputSet) describe(files map[string]string) string {
	var b strings.Builder
	for name, content := range files {
		switch content {
		case s.want[0][name]:
			fmt.Fprintln(&b, name, "of the first")
		case s.want[1][name]:
			fmt.Fprintln(&b, name, "of the second")
		default:
			fmt.Fprintln(&b, name, "of none,", len(content), "bytes")
		}
	}
	return b.String()
}

// hasJournal reports whether outputs are appearing.
func (s *outputSet) hasJournal() bool {
	found, _ := filepath.Glob(s.path("*/.tracegen-*.journal"))
	return len(found) > 0
}

// TestKilledRuns kills runs at any time, and when their outputs appear: 8 of one command in a push, 40 in the share.
//
// Invariant: Outputs are those of one run, also when runs are killed; the next run removes what is left of them.
//
// Invariant: A run that is killed leaves whole files or none, and nothing in the cache that does harm.
func TestKilledRuns(t *testing.T) {
	kills, steps := 8, outputSteps[:1]
	if nightly.Runs("commands") {
		kills, steps = 40, outputSteps
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			kills := kills
			if step.parts { // what writes outputs is the same
				kills = max(8, kills/4)
			}
			newOutputSet(t, step).killRuns(t, kills)
		})
	}
}

// killRuns kills that many runs, one with the options of the first and one with those of the second in turn.
func (s *outputSet) killRuns(t *testing.T, kills int) {
	t.Helper()
	var ended, mixed, left, finished, cached int
	for n := range kills {
		if n%16 == 0 {
			s.clear(t)
		}
		before, _ := s.which(s.outputs(t))
		var more []string
		if !s.step.parts && n%4 == 3 {
			more = []string{"--cache", "kept"}
			cached++
		}
		cmd := s.command(n%2, "out", more...)
		signal := syscall.SIGKILL
		if n%8 == 6 {
			signal = syscall.SIGHUP
		}
		err := s.kill(t, cmd, signal, n%16 >= 8)
		if err == nil {
			ended++
		}
		files := s.outputs(t)
		_, whole := s.which(files)
		if signal == syscall.SIGHUP && !whole {
			t.Fatalf("run %d: after SIGHUP (%v):\n%s", n, err, s.describe(files))
		}
		if temporaries := countTemporary(files); temporaries > 0 {
			left++
		}
		if !whole && isMixed(s, files) {
			mixed++
		}
		s.failing(t)
		files = s.outputs(t)
		after, whole := s.which(files)
		if !whole || after != before && after != n%2 {
			t.Fatalf("run %d (%v), after those of %d:\n%s", n, err, before, s.describe(files))
		}
		if err != nil && after != before {
			finished++
		}
		if more == nil {
			continue
		}
		s.run(t, s.command(n%2, "out", more...))
		files = s.outputs(t)
		if after, whole := s.which(files); !whole || after != n%2 {
			t.Fatalf("run %d, again with its cache:\n%s", n, s.describe(files))
		}
	}
	t.Logf("%d runs, %d with a cache: %d ended before the signal, %d left temporary files, %d left outputs of two runs, "+
		"%d appeared or were finished; none was mixed or left anything after the next run", kills, cached, ended, left, mixed,
		finished)
}

// kill starts a command and sends it a signal at some time, or when its outputs appear. A run that ends before the
// signal shows how long runs take now: a machine may be busy when the first one is measured, and idle later.
func (s *outputSet) kill(t *testing.T, cmd *exec.Cmd, signal syscall.Signal, appearing bool) error {
	t.Helper()
	began := time.Now()
	wait := rand.N(s.took * 5 / 4)
	k, err := oracle.Victim{Command: cmd, Signal: signal, Moment: func(ended <-chan struct{}) {
		if appearing {
			for !s.hasJournal() && time.Since(began) < 4*s.took {
				time.Sleep(50 * time.Microsecond)
			}
			wait = rand.N(2 * time.Millisecond)
		}
		oracle.After(wait)(ended)
	}}.Kill()
	if err != nil {
		t.Fatal(err)
	}
	if !k.Alive {
		s.took = k.Took
	}
	if exit := new(exec.ExitError); errors.As(k.Exit, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != signal {
			t.Fatalf("%v ended with %v\n%s", signal, k.Exit, k.Errors)
		}
		return k.Exit
	}
	if k.Exit != nil {
		t.Fatal(k.Exit)
	}
	return nil
}

func countTemporary(files map[string]string) int {
	n := 0
	for name := range files {
		if strings.Contains(name, ".tracegen-") {
			n++
		}
	}
	return n
}

// isMixed reports whether outputs of both runs are there.
func isMixed(s *outputSet, files map[string]string) bool {
	var of [2]bool
	for name, content := range files {
		for kind := range of {
			of[kind] = of[kind] || s.want[kind][name] == content && s.want[1-kind][name] != content
		}
	}
	return of[0] && of[1]
}

// TestRunsAtOnce starts runs that write the same outputs at the same time.
//
// Invariant: Two runs that write the same outputs at the same time never mix them.
func TestRunsAtOnce(t *testing.T) {
	s := newOutputSet(t, instrumentStep)
	for round := range 8 {
		var group errgroup.Group
		for kind := range s.want {
			group.Go(func() error {
				if said, err := s.command(kind, "out").CombinedOutput(); err != nil {
					return fmt.Errorf("%w\n%s", err, said)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		files := s.outputs(t)
		if _, whole := s.which(files); !whole {
			t.Fatalf("round %d:\n%s", round, s.describe(files))
		}
	}
}

// TestStopped sends signals to a run that cannot end. A shell expects that it ends by the signal.
//
// Invariant: A run that is interrupted leaves no file or directory behind.
func TestStopped(t *testing.T) {
	s := newOutputSet(t, instrumentStep)
	// If nohup or a shell started the tests, these signals may be ignored here, and the runs would inherit that. What is
	// caught here is not inherited.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(caught)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		stopped := 0
		for n := 0; stopped < 3 && n < 100; n++ {
			if s.kill(t, s.command(0, "out"), sig, false) != nil {
				if files := s.outputs(t); countTemporary(files) > 0 {
					t.Fatalf("%v leaves\n%s", sig, s.describe(files))
				}
				stopped++
			}
			s.clear(t)
		}
		if stopped == 0 {
			t.Errorf("%v never stopped a run", sig)
		}
	}
	cmd := exec.Command("nohup", s.command(0, "out").Args...)
	cmd.Dir = s.dir
	if _, err := exec.LookPath("nohup"); err != nil {
		t.Log("no nohup here:", err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until nohup has become tracegen
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
		if err != nil || strings.HasPrefix(string(name), "tracegen") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		time.Sleep(s.took / 20)
		_ = cmd.Process.Signal(syscall.SIGHUP)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("with nohup: %v", err)
	}
}
