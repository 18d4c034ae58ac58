package meaning

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// hangMethods are the ways in which testdata/hangs/Driver.java hangs, with the method and what must be said of it.
var hangMethods = map[string]struct {
	method string
	kind   analysis.Kind
	says   []string
}{
	"sleeps": {"sleeps", analysis.KindSleep, []string{"sleeping in Thread.sleep"}},
	"spins":  {"spins", analysis.KindOwnWork, []string{"running, CPU "}},
	"locks": {"locks", analysis.KindLock,
		[]string{"waiting for Driver$Kept held by keeper #", ": sleeping in Thread.sleep, in Driver.keeps)"}},
	"crosses": {"crosses", analysis.KindDeadlock, []string{"deadlock: ", " waits for Driver$Right held by opposite #",
		", opposite #", " waits for Driver$Left held by "}},
	"waits": {"waits", analysis.KindWait, []string{"waiting in Object.wait"}},
	"parks": {"parks", analysis.KindWait, []string{"waiting in LockSupport.park"}},
	"gets":  {"gets", analysis.KindWait, []string{"waiting in FutureTask.get"}},
	"reads": {"reads", analysis.KindIO, []string{"network I/O in "}},
	"pipes": {"reads", analysis.KindIO, []string{"file I/O in "}},
}

// An ending is how the process of a recording ends.
type ending string

// The endings: two signals, System.exit, and none: the file of a running process is copied.
const (
	endTerm ending = "SIGTERM"
	endKill ending = "SIGKILL"
	endExit ending = "exit"
	endCopy ending = "copy"
)

// hangBench is what all tests of hangs use.
type hangBench struct {
	driver
	tool string
}

// monotonic returns the time of the clock that System.nanoTime reads.
func monotonic(t *testing.T) int64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return ts.Nano()
}

// hungProcess is a process that ended, or whose recording was copied, while it hung.
type hungProcess struct {
	file string
	how  ending
	// said has the times that the program printed, by what it printed.
	said map[string]int64
	// The process ended, or the file was copied, between these times.
	before, after int64
}

// waitForFile waits until a recording has begun: the recorder opens it on a thread of its own.
func waitForFile(t *testing.T, file string) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() >= 32 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no recording was begun in three minutes")
		}
	}
}

// waitUntilHung waits until the recording of a running process shows that so many threads hang, each in two samples:
// one says nothing of CPU time. How soon that is depends on the machine.
func waitUntilHung(t *testing.T, file string, threads int) {
	t.Helper()
	waitForFile(t, file)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		facts, hung := factsOf(t, file), 0
		for id, samples := range facts.samples {
			inHang := 0
			for _, at := range samples {
				if at > facts.records[id] && at <= facts.signs[id] {
					inHang++
				}
			}
			if inHang >= 2 && facts.quiet(id) >= int64(700*time.Millisecond) {
				hung++
			}
		}
		if hung >= threads {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after two minutes %d threads hang, want %d", hung, threads)
		}
	}
}

// run starts the program, and ends it so long after it has printed that it is about to hang in all kinds.
func (b hangBench) run(t *testing.T, how ending, after time.Duration, kinds []string, flags ...string) hungProcess {
	t.Helper()
	p := hungProcess{how: how, file: filepath.Join(t.TempDir(), "hang.tgd"), said: map[string]int64{}}
	args := append(commonFlags[:len(commonFlags):len(commonFlags)], flags...)
	if how == endExit {
		args = append(args, "-Dexit=true")
	}
	args = append(append(args, "-Dtracegen.output="+p.file, "-cp", b.path, "Driver"), kinds...)
	cmd := exec.CommandContext(t.Context(), b.jdk.Tool("java"), args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	signal := os.Kill
	if how == endTerm {
		signal = syscall.SIGTERM
	}
	k, err := oracle.Victim{Command: cmd, Signal: signal, Ready: func(line string) bool {
		p.take(t, line)
		return len(p.said) == len(kinds)-1
	}, Moment: func(ended <-chan struct{}) {
		oracle.After(after)(ended)
		waitUntilHung(t, p.file, len(kinds)-1)
		p.before = monotonic(t)
		switch how {
		case endExit:
			if _, err := in.Write([]byte("\n")); err != nil {
				t.Error(err)
			}
			<-ended
		case endCopy:
			data, err := os.ReadFile(p.file)
			p.after, p.file = monotonic(t), p.file+".copy"
			if err = errors.Join(err, os.WriteFile(p.file, data, 0o666)); err != nil {
				t.Error(err)
			}
		}
	}}.Kill()
	if err != nil {
		t.Fatal(err)
	}
	if how == endExit {
		p.take(t, k.Lines[len(k.Lines)-1])
		p.before = p.said["exit"]
	}
	if p.after == 0 {
		p.after = monotonic(t)
	}
	return p
}

func (p *hungProcess) take(t *testing.T, line string) {
	t.Helper()
	what, at, ok := strings.Cut(line, " ")
	nanos, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		t.Errorf("the program printed %q", line)
	}
	p.said[what] = nanos
}

// reportedStall is a stall as the JSON format has it.
type reportedStall struct {
	Thread struct {
		ID   int64
		Name string
	}
	Ended   bool
	Wall    int64 `json:"wallNanos"`
	Verdict struct {
		Kind   analysis.Kind
		Method struct{ Class, Name string }
		Text   string
	}
	Hang *struct {
		AtLeast int64 `json:"atLeastNanos"`
		Calling bool
		Method  struct{ Class, Name string }
		Samples int
		Of      int
		CPU     float64 `json:"cpuShare"`
	}
}

// analyze returns the stalls that hang by method, and the report for people.
func (b hangBench) analyze(t *testing.T, file string) (hangs map[string]reportedStall, report string) {
	t.Helper()
	output := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), b.tool, append([]string{"analyze", file, "--mapping", b.mapping}, args...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tracegen analyze: %v\n%s", err, &said)
		}
		return out
	}
	var all struct{ Stalls []reportedStall }
	if err := json.Unmarshal(output("--format", "json"), &all); err != nil {
		t.Fatal(err)
	}
	hangs = map[string]reportedStall{}
	for _, s := range all.Stalls {
		if s.Hang != nil {
			hangs[s.Hang.Method.Name] = s
		}
	}
	return hangs, string(output("-v"))
}

// fileFacts are the last sign of life and the last record of threads, by Java's ID, with their times in the clock of
// the program, and what is damaged. They are read from the chunks alone.
type fileFacts struct {
	signs, records map[int64]int64
	damage         trace.Damage
	samples        map[int64][]int64
	suspended      *trace.Suspensions
}

// ran returns how long the process ran between two times: a machine with much other work may stop it for a while, and
// that time is no part of a hang.
func (f fileFacts) ran(begin, end int64) int64 {
	ran := end - begin
	for _, s := range f.suspended.Within(begin, end) {
		ran -= s.End - s.Begin
	}
	return ran
}

// quiet returns how long the process ran between the last record of a thread and its last sign of life.
func (f fileFacts) quiet(id int64) int64 { return f.ran(f.records[id], f.signs[id]) }

func factsOf(t *testing.T, file string) fileFacts {
	t.Helper()
	ids := map[uint32]int64{}
	facts := fileFacts{signs: map[int64]int64{}, records: map[int64]int64{}, samples: map[int64][]int64{},
		suspended: &trace.Suspensions{}}
	var base, tick int64
	facts.damage = eachChunk(t, file, func(c trace.Chunk) {
		switch c := c.(type) {
		case *trace.Meta:
			d, _ := c.Tick()
			tick = d.Nanoseconds()
		case *trace.Clock:
			base = c.BaseNanos
		case *trace.Threads:
			for _, thread := range c.List {
				ids[thread.Index] = thread.ID
			}
		case *trace.Records:
			if n := len(c.List); n > 0 {
				facts.records[ids[c.Thread]] = base + c.List[n-1].Ticks()*tick
			}
		case *trace.StackSample:
			facts.samples[ids[c.Thread]] = append(facts.samples[ids[c.Thread]], c.Nanos)
		case *trace.Suspended:
			facts.suspended.Add(c)
		case *trace.Alive:
			for _, o := range c.Open {
				facts.signs[ids[o.Thread]] = c.Nanos
			}
		case *trace.Stacks:
			for _, sample := range c.Samples {
				if id := ids[sample.Thread]; facts.signs[id] != 0 {
					facts.signs[id] = max(facts.signs[id], sample.Nanos)
				}
			}
		}
	})
	return facts
}

// check compares what is reported of a hang with what the program printed and when it ended. The reported time must not
// be longer than the program hung. How much shorter it may be depends on when the process began to hang after it had
// printed, and when it wrote its last sign of life, which a machine with other work delays. So the least is the time
// between the two that the file has; how often the process writes signs is tested in SignsOfLifeTest.
func (p *hungProcess) check(t *testing.T, b hangBench, kinds []string, slack time.Duration) {
	t.Helper()
	hangs, report := b.analyze(t, p.file)
	facts := factsOf(t, p.file)
	// After a signal that the program can handle the recording is closed. Else all chunks up to the end are whole.
	closes := p.how == endTerm || p.how == endExit
	if d := facts.damage; d.Closed != closes || d.LostChunks+d.Malformed != 0 || closes && d.SkippedBytes != 0 {
		t.Errorf("%+v", d)
	}
	for _, kind := range kinds {
		want := hangMethods[kind]
		got, ok := hangs[want.method]
		if !ok {
			t.Errorf("no hang in %s is reported:\n%s", want.method, report)
			continue
		}
		kindWanted := want.kind
		if h := got.Hang; kindWanted == analysis.KindOwnWork && h.CPU >= 0 && h.CPU < 0.5 {
			kindWanted = analysis.KindStarved // because of other processes on this machine
		}
		if got.Verdict.Kind != kindWanted || got.Verdict.Method.Name != want.method || got.Ended || got.Hang.Calling {
			t.Errorf("%s: %+v, want the kind %s", kind, got, kindWanted)
		}
		if !strings.HasPrefix(got.Verdict.Text, "stuck for at least ") || !strings.Contains(report, got.Verdict.Text) {
			t.Errorf("%s: the report does not say %q:\n%s", kind, got.Verdict.Text, report)
		}
		rest := got.Verdict.Text
		for _, part := range append([]string{" s in Driver." + want.method + " (", " samples: "}, want.says...) {
			_, after, found := strings.Cut(strings.Replace(rest, "1 sample: ", "1 samples: ", 1), part)
			if !found {
				t.Errorf("%s: %q lacks %q", kind, got.Verdict.Text, part)
			}
			rest = after
		}
		if h := got.Hang; h.Samples*2 <= h.Of || h.Of == 0 {
			t.Errorf("%s: %d of %d samples", kind, h.Samples, h.Of)
		}
		reported := time.Duration(got.Hang.AtLeast)
		least, most := time.Duration(p.before-p.said[kind]), time.Duration(p.after-p.said[kind])
		if reported > most+slack {
			t.Errorf("%s: at least %v is reported, but it was at most %v", kind, reported, most)
		}
		id := got.Thread.ID
		if inFile := time.Duration(facts.quiet(id)); reported != inFile {
			t.Errorf("%s: at least %v is reported, but the file has %v", kind, reported, inFile)
		}
		if facts.signs[id] > p.after {
			t.Errorf("%s: the last sign of life is %v after the end", kind, time.Duration(facts.signs[id]-p.after))
		}
		if off := least - reported; off > max(100*time.Millisecond, least/20) {
			t.Logf("late: %s: %v is reported, %v less than the truth: the call began %v after it was printed, the last sign "+
				"of life came %v before the end", kind, reported, off, time.Duration(facts.records[id]-p.said[kind]),
				time.Duration(p.before-facts.signs[id]))
		}
		t.Logf("measured: %s on %s: truth %.3f s, reported %.3f s (%.1f %%), %d of %d samples", kind, got.Thread.Name,
			least.Seconds(), reported.Seconds(), 100*reported.Seconds()/least.Seconds(), got.Hang.Samples, got.Hang.Of)
	}
}

// checkFormats compares the sentence about the hang of the main thread in the formats that have stalls.
func (b hangBench) checkFormats(t *testing.T, file string) {
	t.Helper()
	_, report := b.analyze(t, file)
	_, rest, _ := strings.Cut(report, "why      stuck for ")
	sentence, _, _ := strings.Cut("stuck for "+rest, "\n")
	for _, format := range []string{"html", "perfetto", "speedscope", "firefox"} {
		cmd := exec.CommandContext(t.Context(), b.tool, "analyze", file, "--mapping", b.mapping, "--format", format,
			"-o", "-")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tracegen analyze --format %s: %v", format, err)
		}
		if !bytes.Contains(out, []byte(sentence)) {
			t.Errorf("the format %s lacks %q", format, sentence)
		}
	}
}

// TestHangsAreNamed ends processes that hang in all kinds of ways, and compares what is reported with the truth.
//
// Invariant: However a hanging process ends, the report names the method, the kind of the hang and how long it lasted.
//
// Invariant: After a signal that a process can handle its recording is closed; after any other end it is readable.
func TestHangsAreNamed(t *testing.T) {
	nightly.Only(t, "programs")
	source := fixture.Text(t, filepath.Join("testdata", "hangs", "Driver.java"))
	b := hangBench{newDriver(t, 17, source, pipeline.Config{}), oracle.BuildTool(t)}
	waits := map[ending]string{endTerm: "waits", endKill: "gets", endExit: "parks", endCopy: "waits"}
	reads := map[ending]string{endTerm: "reads", endKill: "pipes", endExit: "reads", endCopy: "pipes"}
	for _, how := range []ending{endTerm, endKill, endExit, endCopy} {
		kinds := []string{"sleeps", "spins", "locks", "crosses", waits[how], reads[how]}
		for k, kind := range kinds {
			t.Run(string(how)+" main "+kind, func(t *testing.T) {
				t.Parallel()
				length := time.Duration(1200+500*k) * time.Millisecond
				// With exact times of records, the time must not be longer by more than their unit.
				p := b.run(t, how, length, []string{"main", kind}, "-Dtracegen.tick=us")
				p.check(t, b, []string{kind}, time.Microsecond)
				if how == endKill {
					b.checkFormats(t, p.file)
				}
			})
		}
		t.Run(string(how)+" pool", func(t *testing.T) {
			t.Parallel()
			p := b.run(t, how, 4*time.Second, append([]string{"pool"}, kinds...), "-Dtracegen.threads=all")
			// The thread that sets the time of records needs a processor.
			p.check(t, b, kinds, time.Second)
		})
	}
}
