package meaning

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// kotlinCompiler is a compiler with options.
type kotlinCompiler struct {
	version, coroutines string
	args                []string
	programs            int
	exits               string
}

// kotlinCompilers has the compilers that programs are generated for: both front ends, and lambdas of both kinds.
var kotlinCompilers = []kotlinCompiler{
	{"1.9.25", "1.7.3", nil, 150, "exact"},
	{"2.0.21", "1.8.0", []string{"-language-version", "1.9"}, 150, "normal"},
	{"2.0.21", "1.8.0", []string{"-Xlambdas=class"}, 100, "exact"},
	{"2.2.20", "1.10.2", nil, 150, "exact"},
	{"2.2.20", "1.10.2", []string{"-Xlambdas=class", "-Xsam-conversions=class"}, 150, "normal"},
	{"2.4.21", "1.10.2", []string{"-Xlambdas=indy"}, 150, "exact"},
	{"1.6.21", "1.5.2", nil, 50, "exact"},
	{"1.7.22", "1.6.4", nil, 50, "normal"},
	{"1.8.22", "1.6.4", nil, 50, "exact"},
}

func (k kotlinCompiler) String() string {
	return strings.Join(append([]string{k.version}, k.args...), " ")
}

// TestCorpusKotlinPrograms compiles 1,000 generated programs of coroutines with several compilers, many in one run, and
// records them; without the whole corpus, 60 with one compiler. What Kotlin's library says to debuggers, and the
// program's own log of its calls, is the truth.
//
// Invariant: Each resumption of a generated program is a piece of the call that it resumes. If all exits are recorded,
// each call has as many as it had, and its times lie between those that it and its callers measure. Whatever is lost of
// the recording, no piece is in another call.
func TestCorpusKotlinPrograms(t *testing.T) {
	nightly.Only(t, "kotlin")
	compilers := kotlinCompilers
	if !corpus.IsFull() {
		few := compilers[3]
		few.programs = 60
		compilers = []kotlinCompiler{few}
	}
	seed := uint64(0)
	for _, k := range compilers {
		from := seed
		seed += uint64(k.programs)
		t.Run(k.String(), func(t *testing.T) {
			p := k.compile(t, kotlinPrograms(from, from+uint64(k.programs)))
			recording, names, log := p.record(t, k.exits)
			checkKotlin(t, recording, names, log, k.exits == "exact")
		})
	}
}

// checkKotlin compares a recording of generated programs with their log, as it is and with damage. Unless all exits are
// recorded, the ends of some calls are not known.
func checkKotlin(t *testing.T, recording []byte, names, log string, allExits bool) {
	t.Helper()
	truth := readKotlinLog(t, log)
	c := kotlinCheck{truth: truth, r: analyzedKotlin(t, recording, names)}
	c.lies()
	if allExits {
		c.whole()
	}
	c.report(t, "whole")
	c.control(t)
	damaged := kotlinCheck{truth: truth}
	for seed := range uint64(20) {
		damaged.r = analyzedKotlin(t, damage(recording, seed), names)
		damaged.lies()
	}
	damaged.report(t, "damaged")
}

// control exchanges the last pieces of two calls of a function that each have two, which must be found.
func (c *kotlinCheck) control(t *testing.T) {
	t.Helper()
	of := map[trace.Method]*coroutine.Call{}
	for i := range c.r.Coroutines.Calls {
		call := &c.r.Coroutines.Calls[i]
		if c.truth.functions[c.name(call)] == nil || call.TailCall || call.BeginUnknown || len(call.Pieces) != 2 ||
			call.End != coroutine.EndReturned {
			continue
		}
		other := of[call.Method]
		if of[call.Method] = call; other == nil {
			continue
		}
		other.Pieces[1], call.Pieces[1] = call.Pieces[1], other.Pieces[1]
		planted := kotlinCheck{truth: c.truth, r: c.r}
		planted.lies()
		if len(planted.wrong) < 2 {
			t.Errorf("pieces of two calls of %s are exchanged, and this is found: %q", c.name(call), planted.wrong)
		}
		return
	}
	t.Error("no two calls of a function have two pieces")
}

// kotlinProgram is compiled programs: a jar, and those of the libraries. The class that takes the calls for debuggers
// is in front of them on the class path.
type kotlinProgram struct {
	dir, probes string
	jars        []string
}

// artifacts fetches jars from Maven.
func artifacts(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	dir, err := oracle.CacheDir("maven")
	if err != nil {
		t.Fatal(err)
	}
	var list []oracle.Artifact
	for _, n := range names {
		a, err := oracle.ParseArtifact(n)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
		paths = append(paths, filepath.Join(dir, a.File()))
	}
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, list))
	return paths
}

// compile compiles the programs, and the class that takes the calls for debuggers.
func (k kotlinCompiler) compile(t *testing.T, text string) kotlinProgram {
	t.Helper()
	const group = "org.jetbrains.kotlin:kotlin-"
	compiler := artifacts(t, group+"compiler-embeddable:"+k.version, group+"script-runtime:"+k.version,
		group+"reflect:1.6.10", group+"daemon-embeddable:"+k.version, group+"stdlib:"+k.version,
		"org.jetbrains.intellij.deps:trove4j:1.0.20200330", "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.0",
		"org.jetbrains:annotations:13.0")
	libraries := artifacts(t, group+"stdlib:"+k.version, "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:"+k.coroutines)
	dir := t.TempDir()
	p := kotlinProgram{dir, filepath.Join(dir, "probes"),
		append([]string{filepath.Join(dir, "programs.jar")}, libraries...)}
	generated := filepath.Join(p.dir, "Generated.kt")
	if err := os.WriteFile(generated, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	j := jdk(t, 17)
	sources := filepath.Join("testdata", "kotlinprograms")
	javac(t, j, p.probes, "--release", "8", "-cp", pathList(libraries...), filepath.Join(sources, "DebugProbesKt.java"))
	args := append([]string{"-XX:TieredStopAtLevel=1", "-Xss8m", "-cp", pathList(compiler...),
		"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn", "-cp", pathList(libraries...),
		"-d", p.jars[0]}, k.args...)
	args = append(args, filepath.Join(sources, "Programs.kt"), generated)
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kotlin: %v\n%s", err, tail(string(out)))
	}
	return p
}

// record runs the programs with the recorder, and returns the recording, the file of its names, and the log.
func (p kotlinProgram) record(t *testing.T, exits string) (recording []byte, names, log string) {
	t.Helper()
	config, file := filepath.Join(p.dir, "tracegen.yml"), filepath.Join(p.dir, exits+".tgd")
	if err := os.WriteFile(config, []byte("trivial: none\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), oracle.BuildTool(t), "record", "-q", "--tick", "us", "--exits", exits,
		"--config", config, "-o", file, "--format", "json", "--answer", filepath.Join(p.dir, "answer.json"),
		"--", jdk(t, 17).Tool("java"), "-Dtracegen.gate=off", "-cp",
		pathList(append([]string{p.probes}, p.jars...)...), "programs.ProgramsKt")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, tail(messages.String()), tail(out.String()))
	}
	recording, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return recording, filepath.Join(p.dir, exits+"-mapping.txt"), out.String()
}

// damage returns a recording from which some parts are missing.
func damage(recording []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 36))
	out := slices.Clone(recording)
	for range 1 + r.IntN(8) {
		at := len(out)/50 + r.IntN(len(out)-len(out)/50)
		out = slices.Delete(out, at, min(len(out), at+1+r.IntN(1<<r.IntN(15))))
	}
	return out
}

func analyzedKotlin(t *testing.T, recording []byte, names string) (out *analysis.Recording) {
	t.Helper()
	mappings, err := resolve.OpenMappings(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.New(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	err = analysis.Analyze("a.tgd", in, analysis.Options{Mappings: mappings,
		End: func(r *analysis.Recording) error { out = r; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kotlinTruth is what programs did.
type kotlinTruth struct {
	functions map[string]*kotlinFunction
	frames    map[int]*kotlinFrame
	// on has the resumptions of a method on a thread, in the order of time, and the calls of functions with a log as
	// those of no frame.
	on map[[2]string][]kotlinResumption
	// ended has the calls that began in a function with a log on a thread.
	ended map[[2]string][]kotlinEnded
}

// kotlinEnded is a call by the function's own log.
type kotlinEnded struct {
	begin, end int64
	thread     string // on which it ended
}

// kotlinFunction is what a function and its callers have measured.
type kotlinFunction struct {
	calls           int
	inside, outside time.Duration
}

// kotlinFrame is a continuation of the program's.
type kotlinFrame struct {
	name    string
	lambda  bool
	resumed int
}

type kotlinResumption struct {
	nanos        int64
	frame, index int
}

func readKotlinLog(t *testing.T, log string) *kotlinTruth {
	t.Helper()
	truth := &kotlinTruth{map[string]*kotlinFunction{}, map[int]*kotlinFrame{}, map[[2]string][]kotlinResumption{},
		map[[2]string][]kotlinEnded{}}
	for line := range strings.Lines(log) {
		var name, thread string
		var frame int
		var lambda bool
		var nanos int64
		f := &kotlinFunction{}
		if _, err := fmt.Sscanf(line, "function %s %d %d %d", &name, &f.calls, &f.inside, &f.outside); err == nil {
			truth.functions["programs."+name] = f
			continue
		}
		if _, err := fmt.Sscanf(line, "called %s %d %s", &name, &nanos, &thread); err == nil {
			key := [2]string{"programs." + name, thread}
			truth.on[key] = append(truth.on[key], kotlinResumption{nanos, -1, -1})
			continue
		}
		e := kotlinEnded{}
		if _, err := fmt.Sscanf(line, "ended %s %s %d %s %d", &name, &thread, &e.begin, &e.thread, &e.end); err == nil {
			key := [2]string{"programs." + name, thread}
			truth.ended[key] = append(truth.ended[key], e)
			continue
		}
		if _, err := fmt.Sscanf(line, "resumed %d %s %t %d %s", &frame, &name, &lambda, &nanos, &thread); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		of := truth.frames[frame]
		if of == nil {
			of = &kotlinFrame{name: name, lambda: lambda}
			truth.frames[frame] = of
		}
		key := [2]string{name, thread}
		truth.on[key] = append(truth.on[key], kotlinResumption{nanos, frame, of.resumed})
		of.resumed++
	}
	for _, list := range truth.on {
		slices.SortFunc(list, func(a, b kotlinResumption) int { return cmp.Compare(a.nanos, b.nanos) })
	}
	for _, list := range truth.ended {
		slices.SortFunc(list, func(a, b kotlinEnded) int { return cmp.Compare(a.begin, b.begin) })
	}
	return truth
}

// kotlinCheck compares what is said of a recording with the truth.
type kotlinCheck struct {
	truth *kotlinTruth
	r     *analysis.Recording
	wrong []string
	// joined is how many resumptions of each frame are in one call.
	joined map[int]int
	// ended is how many calls began and ended where the log says.
	calls, pieces, ended, incomplete int
}

func (c *kotlinCheck) errorf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *kotlinCheck) report(t *testing.T, what string) {
	t.Helper()
	t.Logf("measured: %s: %d calls with %d resumptions, %d from begin to end, %d recordings with losses; the log has %d "+
		"continuations", what, c.calls, c.pieces, c.ended, c.incomplete, len(c.truth.frames))
	for i, text := range c.wrong {
		if i == 20 {
			t.Fatalf("and %d more", len(c.wrong)-i)
		}
		t.Error(what + ": " + text)
	}
}

// thread returns what the log calls the thread of a piece.
func (c *kotlinCheck) thread(p *coroutine.Piece) string {
	return strings.ReplaceAll(c.r.Thread(p.Thread).Name, " ", "_")
}

// name returns what the log calls a method.
func (c *kotlinCheck) name(call *coroutine.Call) string {
	m := c.r.Names.Method(call.Method)
	return m.Class + "." + m.Name
}

// kotlinClock is by how much a time of a recording may be too small.
const kotlinClock = time.Microsecond

// resumption finds a piece in the log: the last resumption of its method on its thread before it began. The clock may
// not distinguish it from others behind it. So an earlier one is taken if it fits one of some rules, and calls are
// passed over, unless it is the first piece of a function, which has no rules.
func (c *kotlinCheck) resumption(name string, p *coroutine.Piece, rules ...func(kotlinResumption) bool,
) (kotlinResumption, bool) {
	list := c.truth.on[[2]string{name, c.thread(p)}]
	n, _ := slices.BinarySearchFunc(list, p.Begin+kotlinClock.Nanoseconds(),
		func(r kotlinResumption, at int64) int { return cmp.Compare(r.nanos, at+1) })
	for _, fits := range rules {
		for k := n; k > 0; k-- {
			if fits(list[k-1]) {
				return list[k-1], true
			}
			if list[k-1].nanos <= p.Begin {
				break
			}
		}
	}
	for len(rules) > 0 && n > 0 && list[n-1].frame < 0 && list[n-1].nanos > p.Begin {
		n--
	}
	if n == 0 {
		return kotlinResumption{frame: -1}, false
	}
	return list[n-1], list[n-1].frame >= 0
}

// lies compares all that is joined.
func (c *kotlinCheck) lies() {
	c.joined = map[int]int{}
	for i := range c.r.Coroutines.Calls {
		call := &c.r.Coroutines.Calls[i]
		name := c.name(call)
		// A thread whose introduction is lost has no name, by which it could be found in the log.
		unnamed := func(p coroutine.Piece) bool { return c.r.Thread(p.Thread).Name == "" }
		if call.TailCall || !strings.HasPrefix(name, "programs.") || slices.ContainsFunc(call.Pieces, unnamed) {
			continue
		}
		c.calls++
		c.pieces += len(call.Pieces)
		c.call(name, call)
		if c.truth.functions[name] != nil && !call.BeginUnknown && call.End == coroutine.EndReturned {
			c.ends(name, call)
		}
	}
}

// ends compares where a call began and where it ended: that is how a wrong resumption shows if it is the only one.
func (c *kotlinCheck) ends(name string, call *coroutine.Call) {
	first, last := &call.Pieces[0], &call.Pieces[len(call.Pieces)-1]
	list := c.truth.ended[[2]string{name, c.thread(first)}]
	n, _ := slices.BinarySearchFunc(list, first.Begin,
		func(e kotlinEnded, at int64) int { return cmp.Compare(e.begin, at) })
	for k := n; k < len(list) && (k == n || list[k].begin <= first.Begin+kotlinClock.Nanoseconds()); k++ {
		e := &list[k]
		if e.thread == c.thread(last) && e.end >= last.Begin && e.end <= last.End+kotlinClock.Nanoseconds() {
			c.ended++
			return
		}
	}
	c.errorf("%s: the call that began on %s at %d did not end on %s by %d", name, c.thread(first), first.Begin,
		c.thread(last), last.End)
}

// call compares a call. Its first piece need not be a resumption: functions are called, and lambdas may be. Between two
// pieces, others may be missing if it is said that the call may have run.
func (c *kotlinCheck) call(name string, call *coroutine.Call) {
	var begins []func(kotlinResumption) bool
	if call.Lambda && !call.BeginUnknown {
		begins = append(begins, func(r kotlinResumption) bool { return r.frame >= 0 && r.index == 0 })
	}
	first, _ := c.resumption(name, &call.Pieces[0], begins...)
	last, resumed := first, 0
	for k := 1; k < len(call.Pieces); k++ {
		at, ok := c.resumption(name, &call.Pieces[k], func(r kotlinResumption) bool {
			return r.frame >= 0 && r.frame == last.frame && r.index == last.index+1
		}, func(r kotlinResumption) bool { return k == 1 && r.index == 0 })
		// If the log does not have the calls of the method, the first piece may be one.
		called := k == 1 && (first.frame < 0 || c.truth.functions[name] == nil && first.frame != at.frame)
		next := last.index + 1
		if called {
			next = 0
		}
		missing := call.Pieces[k-1].AtMost && at.index > next
		switch {
		case !ok:
			c.errorf("%s: piece %d of %d on %s: there is no such resumption", name, k, len(call.Pieces),
				c.r.Thread(call.Pieces[k].Thread).Label)
			return
		case (called || at.frame == last.frame) && (at.index == next || missing) &&
			(k > 1 || called || call.BeginUnknown || call.Lambda && last.index == 0):
		default:
			c.errorf("%s: piece %d is resumption %d of continuation %d, but that before is resumption %d of %d", name, k,
				at.index, at.frame, last.index, last.frame)
		}
		last, resumed = at, at.index+1
	}
	if len(call.Pieces) == 1 {
		if call.Lambda && first.index == 0 && first.frame >= 0 {
			c.joined[first.frame] = max(1, c.joined[first.frame])
		}
		return
	}
	c.joined[last.frame] = max(resumed, c.joined[last.frame])
	if of := c.truth.frames[last.frame]; call.End != coroutine.EndUnknown && call.End != coroutine.EndRunning &&
		resumed != of.resumed {
		c.errorf("%s: it ended behind resumption %d of %d", name, resumed, of.resumed)
	}
}

// whole checks that all is joined, unless something is missing from the recording.
func (c *kotlinCheck) whole() {
	if done := c.r.Completeness; done == nil || done.Lost+done.LeftOut+done.WindowCalls+c.r.Coroutines.Lost > 0 {
		c.incomplete++
		return
	}
	if c.r.Coroutines.Unplaced+c.r.Coroutines.Ambiguous > 0 {
		c.errorf("%d marks are not placed, %d calls are ambiguous", c.r.Coroutines.Unplaced, c.r.Coroutines.Ambiguous)
	}
	for _, frame := range slices.Sorted(maps.Keys(c.truth.frames)) {
		if f := c.truth.frames[frame]; c.joined[frame] != f.resumed {
			c.errorf("%s: continuation %d was resumed %d times, of which %d are joined", f.name, frame, f.resumed,
				c.joined[frame])
		}
	}
	got := map[string]*kotlinFunction{}
	for i := range c.r.Coroutines.Calls {
		call := &c.r.Coroutines.Calls[i]
		name := c.name(call)
		if c.truth.functions[name] == nil || call.TailCall {
			continue
		}
		f := got[name]
		if f == nil {
			f = &kotlinFunction{}
			got[name] = f
		}
		f.calls++
		f.inside += call.Wall()
		if call.End != coroutine.EndReturned {
			c.errorf("%s: a call ended as %d", name, call.End) // also if it threw: its exit is recorded
		}
		if _, atMost := call.Suspended(); atMost || call.BeginUnknown {
			c.errorf("%s: of a call not all is known", name)
		}
	}
	for name, f := range got {
		want, off := c.truth.functions[name], time.Duration(f.calls)*10*time.Microsecond
		if f.calls != want.calls {
			c.errorf("%s: %d calls, but %d by the log", name, f.calls, want.calls)
		}
		if f.inside < want.inside-off || f.inside > want.outside+off {
			c.errorf("%s took %v, but %v to %v by the log", name, f.inside, want.inside, want.outside)
		}
	}
}
