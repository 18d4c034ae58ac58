package looper

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// reasons are reasons of ApplicationExitInfo that the system reports at the next start, by their numbers.
var reasons = []struct {
	number int
	name   string
}{{2, "signaled"}, {6, "anr"}, {10, "user-requested"}, {3, "low-memory"}}

// A kill is a process that was killed while a message hung, and what its recording says.
type kill struct {
	seed   uint64
	pid    string
	file   string
	reason int   // index of reasons
	at     int64 // milliseconds since 1970
	// age is how long the message that hangs had run when the process was killed.
	age time.Duration
	// empty is whether it has left an empty file.
	empty bool
	// named is whether the recording names the hang, and atLeast how long it says that it lasted.
	named, calling bool
	atLeast        time.Duration
	handler        bool // is named too
	faults         []string
}

// TestCorpusKills kills processes at random moments of a message that hangs, and then starts the app once more. What
// the recordings say is compared with the diaries that the processes wrote. No time is limited: a hang must be named if
// the recording has a sign of life of its message, and may be only then.
//
// Invariant: However often an app is killed at a random moment while a message of the main looper hangs, each recording
// is readable, no wrong method or handler is named, and the next start joins it with the end of its process.
func TestCorpusKills(t *testing.T) {
	nightly.Only(t, "looper")
	kills := 8
	if os.Getenv("TRACEGEN_CORPUS") == "full" {
		kills = 1000
	}
	// Every fifth has the printer of an old version.
	build(t).proveKills(t, kills, platforms[0], platforms[2], platforms[2], platforms[2], platforms[2])
}

// TestKillsOnART does so with processes of ART.
func TestKillsOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	buildOnART(t).proveKills(t, 24, android11)
}

// proveKills kills so many processes, on one platform after the other.
func (b bench) proveKills(t *testing.T, kills int, on ...platform) {
	t.Helper()
	all := make([]*kill, kills)
	next := make(chan int)
	var work sync.WaitGroup
	dir := t.TempDir()
	commands := make([]*exec.Cmd, len(on))
	for i, p := range on {
		commands[i] = b.command(t.Context(), t, p, stock, t.TempDir(), "KillProofs")
	}
	for range 2 {
		work.Go(func() {
			for k := range next {
				all[k] = b.killOnce(t, commands[k%len(on)], filepath.Join(dir, strconv.Itoa(k)), uint64(k))
				t.Logf("%+v", *all[k])
			}
		})
	}
	for k := range all {
		next <- k
	}
	close(next)
	work.Wait()
	b.joinAll(t, on[len(on)-1], dir, all)
	for _, k := range all {
		for _, fault := range k.faults {
			t.Errorf("kill %d: %s", k.seed, fault)
		}
	}
	t.Logf("measured: %s", killSummary(all))
}

// fail notes a fault of a kill.
func (k *kill) fail(format string, args ...any) {
	k.faults = append(k.faults, fmt.Sprintf(format, args...))
}

// killOnce runs KillProofs with a seed, kills it, and checks what its recording says.
func (b bench) killOnce(t *testing.T, proofs *exec.Cmd, dir string, seed uint64) *kill {
	random := rand.New(rand.NewPCG(seed, 15))
	k := &kill{seed: seed, reason: int(seed) % len(reasons)}
	if err := os.Mkdir(dir, 0o777); err != nil {
		k.fail("%v", err)
		return k
	}
	args := append([]string{"-Dproofs.seed=" + strconv.FormatUint(seed, 10)}, proofs.Args[1:]...)
	for i, arg := range args {
		if strings.HasPrefix(arg, "-Djava.io.tmpdir=") {
			args[i] = "-Djava.io.tmpdir=" + dir
		}
	}
	cmd := exec.CommandContext(t.Context(), proofs.Path, args...)
	cmd.Args[0], cmd.Env = proofs.Args[0], proofs.Env
	var begin, killed int64
	ended, err := oracle.Victim{Command: cmd, Ready: func(line string) bool {
		begin, _ = strconv.ParseInt(strings.TrimPrefix(line, "hangs "), 10, 64)
		return hangs(line)
	}, Moment: func(ended <-chan struct{}) {
		if seed%4 == 1 && !waitForSign(t, dir, begin) {
			k.fail("after two minutes the recording has no sign of life")
		}
		oracle.After(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))(ended)
		killed = monotonic(t)
	}}.Kill()
	if err != nil {
		k.fail("the message did not begin: %v", err)
		return k
	}
	after := monotonic(t)
	k.pid, k.at, k.age = strconv.Itoa(ended.PID), time.Now().UnixMilli(), time.Duration(killed-begin)
	b.checkKill(t, k, dir, after)
	if seed%4 == 1 && !k.named {
		k.fail("the recording had a sign of life before the kill, and no hang is reported")
	}
	return k
}

// waitForSign waits until the recording of a process has a sign of life of its main thread since a time. How soon that
// is depends on the machine. It returns false after two minutes.
func waitForSign(t *testing.T, dir string, since int64) bool {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, path := range recordingPaths(t, dir) {
			if sign, err := lastSign(path); err == nil && len(sign.Open) > 0 && sign.Nanos > since {
				return true
			}
		}
	}
	return false
}

// A step is a call in the diary: it was written before it began and after it ended.
type step struct {
	name          string
	before, after int64 // after is 0 if it had not ended
}

// readDiary returns the calls of a diary in the order of their begins.
func readDiary(file string) (all []*step, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var open []*step
	for line := range strings.Lines(string(text)) {
		what, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		nanos, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || !strings.HasSuffix(line, "\n") || len(what) < 2 {
			continue // the last line may be cut
		}
		if what[0] == '+' {
			s := &step{name: what[1:], before: nanos}
			all, open = append(all, s), append(open, s)
		} else if n := len(open); n > 0 && open[n-1].name == what[1:] {
			open[n-1].after, open = nanos, open[:n-1]
		} else {
			return nil, fmt.Errorf("the diary makes no sense at %s", line)
		}
	}
	return all, nil
}

// checkKill compares the recording of a killed process with its diary.
func (b bench) checkKill(t *testing.T, k *kill, dir string, after int64) {
	paths := recordingPaths(t, dir)
	diary, err := readDiary(filepath.Join(dir, "proofs-kill", "diary.txt"))
	if err != nil {
		k.fail("%v", err)
		return
	}
	if len(paths) == 0 {
		return // nothing was slow yet: a file is made when there is something to write
	}
	if len(paths) > 1 {
		k.fail("the recordings are %q, want one", paths)
		return
	}
	if info, err := os.Stat(paths[0]); err == nil && info.Size() == 0 {
		k.empty = true // the process was killed between the creation of the file and the first write
		return
	}
	k.file = paths[0]
	sign, err := lastSign(k.file)
	if err != nil {
		k.fail("%v", err)
		return
	}
	if sign.Nanos > after {
		k.fail("the last sign of life is %d, but the process had been killed at %d", sign.Nanos, after)
	}
	var hangs []*analysis.Stall
	for _, s := range b.stallsOf(t, k.file) {
		if s.Thread.Main && !s.Ended {
			hangs = append(hangs, s)
		}
	}
	switch {
	case len(hangs) == 0 && len(sign.Open) > 0 && stillOpen(diary, sign):
		k.fail("there is a sign of life of the message, and no hang is reported")
	case len(hangs) == 0:
		return
	case len(hangs) > 1:
		k.fail("%d stalls had not ended", len(hangs))
		return
	case len(sign.Open) == 0:
		k.fail("a hang is reported without a sign of life: %s", hangs[0].Verdict.Text)
		return
	}
	k.checkHang(hangs[0], diary, sign.Nanos)
}

// stillOpen reports whether the message of a sign of life had not ended when the process was killed: if it had, its
// records or its report may have come behind it.
func stillOpen(diary []*step, sign *trace.Alive) bool {
	for _, s := range diary {
		if strings.HasPrefix(s.name, "KillProofs$") && s.before <= sign.Nanos && (s.after == 0 || s.after > sign.Nanos) {
			return s.after == 0
		}
	}
	return false
}

// checkHang compares what is reported of a hang with the diary at the time of the last sign of life.
func (k *kill) checkHang(s *analysis.Stall, diary []*step, end int64) {
	k.named = true
	var open []*step
	for _, d := range diary {
		if d.before <= end && (d.after == 0 || d.after > end) {
			open = append(open, d)
		}
	}
	if len(open) == 0 {
		k.fail("a hang is reported, and no message was open: %s", s.Verdict.Text)
		return
	}
	if m := s.Message; m.Kind != "unknown" {
		k.handler = true
		if m.Handler != open[0].name {
			k.fail("the handler is %s, want %s", m.Handler, open[0].name)
		}
	}
	h := s.Hang
	if h == nil {
		k.fail("no method is named: %s", s.Verdict.Text)
		return
	}
	k.calling, k.atLeast = h.Calling, h.AtLeast
	since := end - int64(h.AtLeast)
	// A time of a record is up to a microsecond early, and the diary is written before the call.
	const grain = 1000
	name, class := h.Method.Name, h.Method.Class
	if h.Calling && class == "android.os.Handler" && name == "dispatchMessage" {
		return // only the message itself was open for as long as the threshold
	}
	if class != "app.Maze" {
		k.fail("the method is %s", h.Method)
		return
	}
	inner := -1
	for i, d := range open {
		if d.name == name && d.before <= since+grain {
			inner = i
		}
	}
	switch {
	case name == "walk":
		// It calls the methods of the diary: the next one must not have begun yet.
		if last := open[len(open)-1]; !h.Calling && last.before < since && last.name != open[0].name &&
			lastEnd(diary, end) < since {
			k.fail("the method is walk, and %s was open since %d, before %d", last.name, last.before, since)
		}
	case inner < 0:
		k.fail("%s; open were %+v at %d", s.Verdict.Text, names(open), end)
	case !h.Calling && inner+1 < len(open) && open[inner+1].before < since-grain:
		k.fail("%s; but %s was open in it since %d", s.Verdict.Text, open[inner+1].name, open[inner+1].before)
	}
}

// lastEnd returns when the last call of a diary ended, before a time.
func lastEnd(diary []*step, before int64) (last int64) {
	for _, d := range diary {
		if d.after <= before {
			last = max(last, d.after)
		}
	}
	return last
}

func names(open []*step) (all []string) {
	for _, d := range open {
		all = append(all, d.name)
	}
	return all
}

// lastSign reads a recording to its end. It returns the last sign of life with a call of the main thread, an empty one
// if there is none, and an error if the recording is damaged, other than by a last chunk that is cut. A steady sample
// of that thread behind it is a sign too, and its time counts.
func lastSign(file string) (*trace.Alive, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return nil, err
	}
	main := map[uint32]bool{}
	last := &trace.Alive{}
	for {
		chunk, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch c := chunk.(type) {
		case *trace.Threads:
			for _, t := range c.List {
				main[t.Index] = t.Main
			}
		case *trace.Alive:
			if slices.ContainsFunc(c.Open, func(o trace.OpenCall) bool { return main[o.Thread] }) {
				last = c
			}
		case *trace.Stacks:
			for _, sample := range c.Samples {
				if main[sample.Thread] && len(last.Open) > 0 && sample.Nanos > last.Nanos {
					last = &trace.Alive{Nanos: sample.Nanos, WallMillis: last.WallMillis, Open: last.Open}
				}
			}
		}
	}
	if d := r.Damage(); d.Malformed > 0 || d.LostChunks > 0 || d.Header {
		return nil, fmt.Errorf("the recording is damaged: %+v", d)
	}
	return last, nil
}

// joinAll puts the recordings into one directory, starts the app once, and checks what they say of the ends of their
// processes.
func (b bench) joinAll(t *testing.T, p platform, dir string, all []*kill) {
	t.Helper()
	together := filepath.Join(dir, "together")
	fixture.Directory(t, together)
	var list strings.Builder
	for _, k := range all {
		if k.file == "" {
			continue
		}
		to := filepath.Join(together, fmt.Sprintf("app.tgd.%d", k.seed+1))
		if err := os.Rename(k.file, to); err != nil {
			t.Fatal(err)
		}
		k.file = to
		fmt.Fprintf(&list, "%s %d %d\n", k.pid, reasons[k.reason].number, k.at)
	}
	exits := filepath.Join(dir, "exits.txt")
	fixture.Write(t, exits, list.String())
	b.restart(t, p, dir, "-Dproofs.exits="+exits, "-Dproofs.directory="+together,
		"-Dproofs.process="+appPackage)
	for _, k := range all {
		if k.file == "" {
			continue
		}
		want := reasons[k.reason].name
		hangs := 0
		for _, s := range b.stallsOf(t, k.file) {
			if e := s.Recording.Exit; e == nil || e.Reason != want || e.PID == nil || strconv.FormatInt(*e.PID, 10) != k.pid {
				k.fail("the recording says that the process ended by %+v, want %s", e, want)
			}
			if s.Ended || !s.Thread.Main {
				continue
			}
			hangs++
			if text := s.Verdict.Text; !strings.Contains(text, "the process ended by "+want+" (ApplicationExitInfo)") ||
				(want != "anr") != strings.HasSuffix(text, "the system reports no ANR") {
				k.fail("%s, and the system said %s", text, want)
			}
		}
		if (hangs == 1) != k.named {
			k.fail("there are %d hangs in the recording with the end of its process", hangs)
		}
	}
}

// killSummary says what was found.
func killSummary(all []*kill) string {
	var files, empty, named, calling, handlers int
	late, latest := time.Duration(0), time.Duration(0)
	for _, k := range all {
		count := func(n *int, counts bool) {
			if counts {
				*n++
			}
		}
		count(&files, k.file != "")
		count(&empty, k.empty)
		count(&named, k.named)
		count(&calling, k.calling)
		count(&handlers, k.handler)
		if k.named {
			late = max(late, k.age-k.atLeast)
		} else {
			latest = max(latest, k.age)
		}
	}
	return fmt.Sprintf("%d kills: %d files and %d empty ones, %d hangs named, %d with a handler, %d still made calls; at "+
		"most %v less than the age is reported; the oldest message that was not named had run for %v", len(all), files,
		empty, named, handlers, calling, late, latest)
}
