package meaning

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// A phase is what the program of testdata/phases did, as it wrote itself.
type phase struct {
	method string
	begin  int64
	end    int64 // 0 if it had not ended
}

// readPhases reads the program's log, in which the last line may be cut. An exception ends throwsDeep, which leaves no
// exit: the recording shows that it has ended when its caller does, which is before the next phase begins.
func readPhases(t *testing.T, file string) (all []phase) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var what string
		var nanos int64
		if _, err := fmt.Sscanf(line, "%s %d\n", &what, &nanos); err != nil || !strings.HasSuffix(line, "\n") {
			continue
		}
		if what[0] == '+' {
			if n := len(all); n > 0 && all[n-1].end == 0 {
				all[n-1].end = nanos
			}
			all = append(all, phase{method: what[1:], begin: nanos})
		} else if what[1:] != "throwsDeep" {
			all[len(all)-1].end = nanos
		}
	}
	return all
}

// TestCorpusKills kills a program that works and hangs by turns at random moments. What is reported of the call that
// was open is compared with what the program wrote to another file: the reported time must lie within the phase.
//
// Invariant: However often a process is killed at a random moment, the recording is readable and the reported last open
// call is one that was open.
func TestCorpusKills(t *testing.T) {
	nightly.Only(t, "programs")
	b := newHangBench(t, "phases")
	kills := 10
	if wholeCorpus() {
		kills = 200
	}
	var named, calling, none atomic.Int64
	t.Run("kill", func(t *testing.T) {
		for k := range kills {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				switch h := b.killOnce(t, uint64(k)); {
				case h == nil:
					none.Add(1)
				case h.Calling:
					calling.Add(1)
				default:
					named.Add(1)
				}
			})
		}
	})
	t.Logf("measured: %d kills: %d stuck in a method, %d still made calls, %d without an open stall", kills, named.Load(),
		calling.Load(), none.Load())
}

// killOnce runs the program with a seed, kills it, and checks what is reported.
func (b hangBench) killOnce(t *testing.T, seed uint64) *analysis.Hang {
	t.Helper()
	dir := t.TempDir()
	file, log := filepath.Join(dir, "kill.tgd"), filepath.Join(dir, "log.txt")
	random := rand.New(rand.NewPCG(seed, 13))
	args := append(commonFlags[:len(commonFlags):len(commonFlags)], "-Dtracegen.output="+file, "-Dtracegen.slow=100",
		"-Dtracegen.tick=us")
	if random.IntN(2) == 0 {
		args = append(args, "-Dtracegen.threads=all")
	}
	cmd := exec.CommandContext(t.Context(), b.jdk.Tool("java"), append(args, "-cp", b.path, "Driver", log,
		fmt.Sprint(seed))...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, file)
	time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	after := monotonic(t)
	if err := checkReadable(t, file); err != nil {
		t.Fatal(err)
	}
	hang := b.checkKill(t, file, readPhases(t, log), after)
	if t.Failed() {
		t.Logf("the last chunks, +METHOD and -METHOD with the microseconds since the begin: %s", b.lastChunks(t, file))
	}
	return hang
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

// checkReadable returns an error if a recording is damaged, other than by a last chunk that is cut.
func checkReadable(t *testing.T, file string) error {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next()
	}
	if d := r.Damage(); d.Malformed > 0 || d.LostChunks > 0 || d.Header {
		return fmt.Errorf("the recording is damaged: %+v", d)
	}
	return nil
}

// checkKill compares the hang of the main thread with the phases.
func (b hangBench) checkKill(t *testing.T, file string, phases []phase, after int64) (hang *analysis.Hang) {
	t.Helper()
	mappings, err := analysis.OpenMappings(b.mapping, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := trace.OpenSource(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var end int64
	err = analysis.Analyze("kill.tgd", in, analysis.Options{Mappings: mappings, Stall: func(s *analysis.Stall) error {
		if s.Thread.Main && s.Hang != nil {
			hang = s.Hang
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	facts := factsOf(t, file)
	if sign := facts.signs[1]; sign > after {
		t.Errorf("the last sign of life is %d, but the process had been killed at %d", sign, after)
	} else {
		end = max(sign, facts.records[1])
	}
	quiet := time.Duration(facts.ran(facts.records[1], end))
	if hang == nil {
		if facts.signs[1] > 0 {
			t.Error("there are signs of life of the main thread, and no hang is reported")
		}
		return nil
	}
	if hang.Calling != (quiet < 100*time.Millisecond) {
		t.Errorf("%+v, but the last record is %v before the last sign of life", hang, quiet)
	}
	if hang.Calling {
		if m := hang.Method.Name; m != "main" && m != "phase" && m != openAt(phases, end-int64(hang.AtLeast), end) {
			t.Errorf("open was %s, want a method of %+v", m, phases)
		}
		return hang
	}
	want := openAt(phases, facts.records[1], end)
	if last := facts.last[1]; want == "" || b.isOutside(t, last, want) {
		// The program writes its log outside of the phase's method: it was about to call it, or it had returned.
		want = hang.Method.Name
		if want != "main" && want != "phase" && want != "say" {
			t.Errorf("stuck in %s, but the last record is %#x; the last phases are %+v", want, uint64(last),
				phases[max(0, len(phases)-3):])
		}
	}
	if hang.Method.Name != want || hang.AtLeast != quiet {
		t.Errorf("stuck for %v in %s, want %v in %s; the last phases are %+v", hang.AtLeast, hang.Method.Name, quiet, want,
			phases[max(0, len(phases)-3):])
	}
	return hang
}

// lastChunks lists the last records, windows and signs of life of the main thread.
func (b hangBench) lastChunks(t *testing.T, file string) string {
	t.Helper()
	m, err := mapping.Load(b.mapping)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []string
	var base int64
	for {
		c, err := r.Next()
		if err != nil {
			return strings.Join(all[max(0, len(all)-100):], " ")
		}
		switch c := c.(type) {
		case *trace.Clock:
			base = c.BaseNanos
		case *trace.Records:
			for _, record := range c.List {
				if c.Thread == 0 {
					e, _ := m.ByID(record.ID())
					sign := map[bool]string{true: "+", false: "-"}[record.Entry()]
					all = append(all, fmt.Sprintf("%s%s@%d", sign, e.Name, record.Ticks()))
				}
			}
		case *trace.Gate:
			all = append(all, fmt.Sprintf("%+v", *c))
		case *trace.Window:
			all = append(all, fmt.Sprintf("%+v", *c))
		case *trace.StackSample:
			if c.Thread == 0 {
				all = append(all, fmt.Sprintf("sample@%d %s", (c.Nanos-base)/1000, c.Frames))
			}
		case *trace.Alive:
			all = append(all, fmt.Sprintf("alive@%d", (c.Nanos-base)/1000))
		}
	}
}

// isOutside reports whether the last record of the main thread shows that it was not in the method of a phase: the
// record is the method's exit, or one of the methods around it.
func (b hangBench) isOutside(t *testing.T, last trace.Record, method string) bool {
	t.Helper()
	m, err := mapping.Load(b.mapping)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.ByID(last.ID())
	return e.Name == method && !last.Entry() || e.Name == "say" || e.Name == "phase" || e.Name == "main"
}

// openAt returns the method of the phase that began before a time and had not ended at another; empty if there is none.
func openAt(phases []phase, begin, end int64) string {
	for _, p := range phases {
		if p.begin <= begin && (p.end == 0 || p.end >= end) {
			return p.method
		}
	}
	return ""
}
