package meaning

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// A program is a real one. Its inputs are in testdata/programs, or in a jar of the corpus.
type program struct {
	name string
	// small programs run in every test run, the others only with the whole corpus.
	small bool
	// jars are rows of bench/corpora.tsv, instrumented with all their dependencies.
	jars []string
	// plain are rows that are on the class path without being instrumented.
	plain []string
	// files are copied from testdata/programs into the working directory; java files there are compiled and
	// instrumented too.
	files []string
	// unpack names a row whose files are extracted into the working directory, src.
	unpack string
	flags  []string
	// args may name rows as {NAME}, which stands for the row's jar as released.
	args []string
	// noise matches what differs between runs of the original itself.
	noise *regexp.Regexp
	// modules means that everything is on the module path, and that the modules require the runtime's.
	modules bool
}

// TestCorpusPrograms compares runs of real programs, original and instrumented.
//
// Invariant: Instrumented programs do what they did before, and their entries and exits balance.
func TestCorpusPrograms(t *testing.T) {
	nightly.Only(t, "programs")
	j := oracle.NeedJDK(t, 17)
	recorder := oracle.NeedRecorder(t)
	modes := []mode{throwsSmart, exactNone}
	if corpus.IsFull() {
		modes = []mode{normalNone, throwsSmart, throwsNone, afterSuperNone, exactSmart, exactNone}
	}
	for _, p := range programs {
		if !p.small && !corpus.IsFull() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := newRunner(t, p, j, recorder)
			want := r.original(t)
			for _, m := range modes {
				t.Run(m.name, func(t *testing.T) { r.instrumented(t, m, want) })
			}
		})
	}
}

// A runner runs one program in several modes.
type runner struct {
	program
	jdk      oracle.JDK
	recorder string
	// instrument and plain are paths; together they are the class or module path.
	instrument, plain []string
	source            string // the jar to unpack, or empty
}

func newRunner(t *testing.T, p program, j oracle.JDK, recorder string) *runner {
	t.Helper()
	r := &runner{program: p, jdk: j, recorder: recorder}
	for _, jar := range corpus.Need(t, p.jars...) {
		for _, path := range append([]string{jar.Classes}, jar.DepPaths...) {
			if !slices.Contains(r.instrument, path) {
				r.instrument = append(r.instrument, path)
			}
		}
	}
	for _, jar := range corpus.Need(t, p.plain...) {
		r.plain = append(r.plain, jar.Classes)
	}
	if p.unpack != "" {
		r.source = corpus.Need(t, p.unpack)[0].Path
	}
	r.args = slices.Clone(p.args)
	for k, a := range p.args {
		if row, ok := strings.CutPrefix(a, "{"); ok {
			r.args[k] = corpus.Need(t, strings.TrimSuffix(row, "}"))[0].Path
		}
	}
	var sources []string
	for _, f := range p.files {
		if filepath.Ext(f) == ".java" {
			sources = append(sources, filepath.Join("testdata", "programs", f))
		}
	}
	if len(sources) > 0 {
		out := filepath.Join(t.TempDir(), "main")
		path := "-cp"
		if p.modules {
			path = "-p"
		}
		javac(t, j, out, append([]string{path, pathList(slices.Concat(r.instrument, r.plain)...)}, sources...)...)
		r.instrument = append(r.instrument, out)
	}
	return r
}

// command returns the command that starts the program in a new working directory, with the given classes.
func (r *runner) command(t *testing.T, classes []string, flags ...string) command {
	t.Helper()
	dir := t.TempDir()
	for _, f := range r.files {
		copyFile(t, filepath.Join("testdata", "programs", f), filepath.Join(dir, filepath.Base(f)))
	}
	if r.source != "" {
		if err := oracle.ExtractSources(r.source, filepath.Join(dir, "src")); err != nil {
			t.Fatal(err)
		}
	}
	path := "-cp"
	if r.modules {
		path = "-p"
	}
	return command{r.jdk, slices.Concat(flags, r.flags, []string{path, pathList(classes...)}, r.args), dir}
}

// original runs the original program.
func (r *runner) original(t *testing.T) outcome {
	t.Helper()
	o := r.command(t, slices.Concat(r.instrument, r.plain)).run(t)
	if o.code != 0 {
		t.Fatalf("the original ends with code %d\n%s", o.code, tail(o.text))
	}
	return r.quiet(o)
}

func (r *runner) quiet(o outcome) outcome {
	if r.noise != nil {
		o.text = r.noise.ReplaceAllString(o.text, "")
	}
	return o
}

func (r *runner) instrumented(t *testing.T, m mode, want outcome) {
	if r.modules {
		m.requires = oracle.RecorderModule
	}
	outputs, all := instrument(t, filepath.Join(t.TempDir(), "jars"), m, r.instrument)
	var classes []string
	for _, in := range r.instrument {
		classes = append(classes, outputs[in])
	}
	summary := filepath.Join(t.TempDir(), "summary.json")
	flags := []string{oracle.RecorderFlag(summary)}
	if r.modules {
		classes = append(classes, r.recorder)
	} else {
		flags = append(flags, "-Xbootclasspath/a:"+r.recorder)
	}
	got := r.quiet(r.command(t, append(classes, r.plain...), flags...).run(t))
	compare(t, got, want)
	s := oracle.ReadSummary(t, summary)
	t.Logf("measured: %s, %s: the original left %d bytes of text and %d files; %d methods traced, %d of them ran, %d "+
		"events in %d threads, %d exits too many, %d closed late, %d open at the end (%d in ended threads), depth %d",
		r.name, m.name, len(want.text), len(want.files), all.Len(), s.DistinctMethods, s.Entries+s.Exits, s.Threads,
		s.ExitsTooMany, s.ClosedLate,
		s.OpenInEndedThreads+s.OpenInLiveThreads, s.OpenInEndedThreads, s.MaxDepth)
	checkSummary(t, m, s)
	// A program that is too small to show anything is a failure of the test.
	if s.DistinctMethods < 300 || s.Entries+s.Exits < 1_000_000 {
		t.Errorf("%d methods ran and %d events came; want 300 and a million", s.DistinctMethods, s.Entries+s.Exits)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
