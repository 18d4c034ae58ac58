package meaning

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// A source of testdata/shapes begins with "// release: N", the oldest Java release that it compiles for; "alone" after
// it keeps it out of the common runs. A scenario is what happens between two calls of Probe.mark. Comments beside the
// code list the events that it must report:
//
//	// retry normal: +retry (+flaky)*2 -flaky -retry
//	// retry: +retry (+flaky -flaky)*2 -retry
//
// A line has the name of a scenario, the modes that it is for (none: all modes that have no line of their own), and the
// names of methods entered and left. A constructor is listed as its class and method, a lambda as lambda, whatever the
// compiler calls it. In the mode after-super, the line for throws counts if there is none for after-super. Events of
// main, scenario, mark and out are not listed.

// shapeModes are the modes that the comments name, by their words there.
var shapeModes = []struct {
	word string
	mode mode
}{
	{"normal", normalNone},
	{"throws", throwsNone},
	{"after-super", afterSuperNone},
	{"exact", exactNone},
}

// A build is a way to compile the sources, and the JDK to run them on.
type build struct {
	release  int
	compiler int  // feature release of the javac
	ecj      bool // compile with ECJ instead
	run      int  // feature release of the JDK to run on
	full     bool // only with the whole corpus
}

func (b build) String() string {
	if b.ecj {
		return fmt.Sprintf("release %d by ECJ on %d", b.release, b.run)
	}
	return fmt.Sprintf("release %d by javac %d on %d", b.release, b.compiler, b.run)
}

var builds = []build{
	{release: 8, compiler: 17, run: 17},
	{release: 17, compiler: 17, run: 17},
	{release: 25, compiler: 25, run: 25},
	{release: 17, ecj: true, run: 17, full: true},
	{release: 8, compiler: 17, run: 25, full: true},
	{release: 11, compiler: 17, run: 17, full: true},
	{release: 17, compiler: 17, run: 25, full: true},
	{release: 8, compiler: 25, run: 17, full: true},
	{release: 21, compiler: 25, run: 25, full: true},
}

// TestCorpusShapes compiles the small programs with several compilers and compares the events of each run with those
// that their sources list. Some of the compilers are used with the whole corpus only.
//
// Invariant: Instrumented programs do what they did before, and their entries and exits balance.
func TestCorpusShapes(t *testing.T) {
	nightly.Only(t, "programs")
	recorder := oracle.NeedRecorder(t)
	for _, b := range builds {
		if b.full && !corpus.IsFull() {
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			compileShapes(t, b).check(t, jdk(t, b.run), recorder)
		})
	}
}

// jdk returns a JDK of exactly that release. Release 25 may be missing, also if CI is set.
func jdk(t *testing.T, feature int) oracle.JDK {
	t.Helper()
	j, err := oracle.FindJDK(feature)
	if err != nil || j.Feature != feature {
		if feature > 17 {
			t.Skipf("skipped: no JDK %d here", feature)
		}
		oracle.Require(t, fmt.Errorf("no JDK %d: %w", feature, oracle.ErrMissing))
	}
	return j
}

// shapes are compiled programs.
type shapes struct {
	build
	classes string   // the directory
	main    []string // the main class and the programs, in the order to run them
	sources []string
	library string // a jar that they need as it is, or empty
}

func compileShapes(t *testing.T, b build) shapes {
	t.Helper()
	s := shapes{build: b, classes: filepath.Join(t.TempDir(), "classes"), main: []string{"Run"}}
	all, err := filepath.Glob(filepath.Join("testdata", "shapes", "*.java"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, f := range all {
		release, alone := header(t, f)
		if alone || release > b.release {
			continue
		}
		s.sources = append(s.sources, f)
		if name := strings.TrimSuffix(filepath.Base(f), ".java"); name != "Run" && name != "Probe" {
			s.main = append(s.main, name)
		}
	}
	args := append([]string{"--release", strconv.Itoa(b.release), "-g"}, s.sources...)
	if b.ecj {
		ecj(t, jdk(t, b.run), s.classes, args...)
	} else {
		javac(t, jdk(t, b.compiler), s.classes, args...)
	}
	return s
}

// ecj compiles sources by Eclipse's compiler, whose code for try, finally and switches differs from javac's.
func ecj(t *testing.T, j oracle.JDK, out string, args ...string) {
	t.Helper()
	jar := corpus.Need(t, "ecj-3.40.0")[0].Path
	args = append([]string{"-cp", jar, "org.eclipse.jdt.internal.compiler.batch.Main", "-nowarn", "-proc:none",
		"-encoding", "UTF-8", "-d", out}, args...)
	fixture.Run(t, exec.CommandContext(t.Context(), j.Tool("java"), args...))
}

var headerLine = regexp.MustCompile(`^// release: (\d+)(, alone)?\n`)

func header(t *testing.T, file string) (release int, alone bool) {
	t.Helper()
	m := headerLine.FindStringSubmatch(fixture.Text(t, file))
	if m == nil {
		t.Fatalf("%s does not begin with its release", file)
	}
	release, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return release, m[2] != ""
}

// check runs the original once and the instrumented classes in every mode; the JVM verifies every class.
func (s shapes) check(t *testing.T, j oracle.JDK, recorder string) {
	want := expectations(t, s.sources)
	run := func(t *testing.T, classes string, flags ...string) outcome {
		args := append(slices.Clone(flags), "-Xverify:all", "-cp", pathList(classes, s.library))
		o := command{j, append(args, s.main...), t.TempDir()}.run(t)
		if o.code != 0 {
			t.Fatalf("exit code %d\n%s", o.code, tail(o.text))
		}
		return o
	}
	original := run(t, s.classes)
	for _, m := range shapeModes {
		t.Run(m.word, func(t *testing.T) {
			outputs, ids := instrument(t, filepath.Join(t.TempDir(), "out"), m.mode, []string{s.classes})
			summary, events := filepath.Join(t.TempDir(), "summary"), filepath.Join(t.TempDir(), "events")
			got := run(t, outputs[s.classes], "-Xbootclasspath/a:"+recorder,
				oracle.RecorderFlag(summary), oracle.RecorderEventsFlag(events))
			compare(t, got, original)
			sums := oracle.ReadSummary(t, summary)
			checkSummary(t, m.mode, sums)
			checked := want.compareScenarios(t, m.word, scenarios(t, got.text, events, ids))
			t.Logf("measured: shapes for %v, %s: %d programs, %d scenarios as their sources say, %d events, %d exits too "+
				"many, %d closed late",
				s.build, m.word, len(s.main)-1, checked, sums.Entries+sums.Exits, sums.ExitsTooMany, sums.ClosedLate)
		})
	}
}

// A scenario is the sequence of events between two marks.
type scenario struct {
	name   string
	events []string
}

// unlisted are the methods that start the scenarios; their events are not listed.
var unlisted = []string{"main", "scenario", "mark", "out", "frames"}

// switchTable is the prefix of a method that ECJ calls for a switch on an enum; javac needs none.
const switchTable = "$SWITCH_TABLE$"

// scenarios splits the main thread's events at the marks, whose names the program printed.
func scenarios(t *testing.T, printed, events string, ids *mapping.Mapping) []scenario {
	t.Helper()
	var all []scenario
	for _, line := range strings.Split(printed, "\n") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			all = append(all, scenario{name: name})
		}
	}
	at := -1
	for _, e := range mainEvents(t, events) {
		id, err := strconv.Atoi(e[1:])
		if err != nil {
			t.Fatal(err)
		}
		entry, known := ids.ByID(uint32(id))
		if !known {
			t.Fatalf("event %s has no method", e)
		}
		name := shortName(entry)
		if e[0] == '+' && name == "mark" {
			at++
		}
		if at >= 0 && !slices.Contains(unlisted, name) && !strings.HasPrefix(name, switchTable) {
			all[at].events = append(all[at].events, e[:1]+name)
		}
	}
	if at+1 != len(all) {
		t.Fatalf("%d marks were recorded, %d printed", at+1, len(all))
	}
	return all
}

func mainEvents(t *testing.T, file string) []string {
	t.Helper()
	for line := range strings.Lines(fixture.Text(t, file)) {
		if events, ok := strings.CutPrefix(line, "main\t"); ok {
			return strings.Fields(events)
		}
	}
	t.Fatal("there are no records of the main thread")
	return nil
}

func shortName(e mapping.Entry) string {
	if strings.HasPrefix(e.Name, "lambda$") {
		return "lambda"
	}
	if !strings.HasPrefix(e.Name, "<") {
		return e.Name
	}
	return e.Class[strings.LastIndexAny(e.Class, "/$")+1:] + "." + e.Name
}

// expected holds the listed events by scenario and mode; the mode "" is for all modes without a line.
type expected map[string]map[string]string

var (
	expectation = regexp.MustCompile(`(?m)^ *// (\w+)(?: ([a-z,-]+))?:((?: +[-+(][^ \n]+)*)$`)
	repeated    = regexp.MustCompile(`\(([^()]*)\)\*(\d+)`)
)

func expectations(t *testing.T, sources []string) expected {
	t.Helper()
	all := expected{}
	for _, f := range sources {
		for _, m := range expectation.FindAllStringSubmatch(fixture.Text(t, f), -1) {
			if m[1] == "release" {
				continue
			}
			events := repeated.ReplaceAllStringFunc(m[3], func(s string) string {
				r := repeated.FindStringSubmatch(s)
				n, _ := strconv.Atoi(r[2])
				return strings.Repeat(r[1]+" ", n)
			})
			if all[m[1]] == nil {
				all[m[1]] = map[string]string{}
			}
			for _, word := range strings.Split(m[2], ",") {
				if _, twice := all[m[1]][word]; twice {
					t.Fatalf("%s: %s is listed twice", f, m[0])
				}
				all[m[1]][word] = strings.Join(strings.Fields(events), " ")
			}
		}
	}
	return all
}

func (e expected) find(scenario, word string) (string, bool) {
	lines := e[scenario]
	for _, w := range []string{word, map[string]string{"after-super": "throws"}[word], ""} {
		if events, ok := lines[w]; ok {
			return events, true
		}
	}
	return "", false
}

// compareScenarios compares scenarios with the events that are listed for a mode, and returns their number. A scenario
// that is listed and did not run is a failure.
func (e expected) compareScenarios(t *testing.T, word string, ran []scenario) int {
	t.Helper()
	checked := 0
	for _, s := range ran {
		want, listed := e.find(s.name, word)
		if !listed {
			continue
		}
		checked++
		if got := strings.Join(s.events, " "); got != want {
			t.Errorf("scenario %s:\n got %s\nwant %s", s.name, got, want)
		}
	}
	if checked != len(e) {
		t.Errorf("%d scenarios ran, but the sources list %d", checked, len(e))
	}
	return checked
}

// TestStackOverflow lets a program run out of stack. The calls of the runtime need stack as well: near its end an exit
// call overflows before it has recorded anything, and the frame stays open until its caller's exit. So exact exits are
// exact except for those few frames at the very end. There must never be an exit too many.
//
// Invariant: Instrumented programs do what they did before, and their entries and exits balance.
func TestStackOverflow(t *testing.T) {
	nightly.Only(t, "programs")
	recorder := oracle.NeedRecorder(t)
	j := jdk(t, 17)
	classes := filepath.Join(t.TempDir(), "classes")
	javac(t, j, classes, "--release", "8", filepath.Join("testdata", "shapes", "Overflow.java"))
	original := command{j, []string{"-Xss512k", "-cp", classes, "Overflow"}, t.TempDir()}.run(t)
	for _, m := range shapeModes {
		t.Run(m.word, func(t *testing.T) {
			outputs, _ := instrument(t, filepath.Join(t.TempDir(), "out"), m.mode, []string{classes})
			summary := filepath.Join(t.TempDir(), "summary")
			got := command{j, []string{"-Xss512k", "-Xbootclasspath/a:" + recorder, oracle.RecorderFlag(summary),
				"-cp", outputs[classes], "Overflow"}, t.TempDir()}.run(t)
			compare(t, got, original)
			s := oracle.ReadSummary(t, summary)
			t.Logf("measured: five stack overflows, %s: %d events, %d exits too many, %d closed late",
				m.word, s.Entries+s.Exits, s.ExitsTooMany, s.ClosedLate)
			checkOverflow(t, m.mode, s)
		})
	}
}

func checkOverflow(t *testing.T, m mode, s oracle.Summary) {
	t.Helper()
	if s.ExitsTooMany != 0 {
		t.Errorf("%d exits too many", s.ExitsTooMany)
	}
	// A generous bound: the stack that a call of the runtime takes, in the smallest frames of the program.
	if m.exits == inject.ExitsExact && s.ClosedLate > 5*100 {
		t.Errorf("%d frames closed late", s.ClosedLate)
	}
}
