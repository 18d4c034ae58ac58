package answer

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// screenOf returns the screen of what read analyzes.
func screenOf(t *testing.T, s *Screen, read func(analysis.Options)) string {
	t.Helper()
	var o analysis.Options
	s.Connect(&o)
	read(o)
	var b strings.Builder
	if err := s.Close(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if n := strings.Count(text, "\n"); n > screenLines {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > screenWidth {
			t.Errorf("too wide: %s", line)
		}
	}
	return text
}

// screenOfFiles returns the screen of recordings.
func screenOfFiles(t *testing.T, mapping string, files ...string) string {
	t.Helper()
	return screenOf(t, new(Screen), func(o analysis.Options) {
		if mapping != "" {
			var err error
			if o.Mappings, err = resolve.OpenMappings(mapping, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range files {
			in, err := source.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := analysis.Analyze(filepath.Base(file), in, o); err != nil {
				t.Fatal(err)
			}
			in.Close()
		}
	})
}

// TestScreens compares screens with golden files: of an app and of a program, of several recordings, and of a program
// with more of everything than there is room for.
//
// Invariant: The default report has at most 60 lines of at most 120 columns, for any recordings.
func TestScreens(t *testing.T) {
	const shop = "../../../examples/shop/recordings/"
	golden.Compare(t, "testdata/screen-shop.golden", screenOfFiles(t, shop+"methodMapping.txt", shop+"1.0/user1.tgd"))
	shops, err := filepath.Glob(shop + "1.*/*.tgd")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/screen-shops.golden", screenOfFiles(t, shop+"methodMapping.txt", shops...))
	golden.Compare(t, "testdata/screen-looper.golden", screenOfFiles(t, "", "../../../trace/testdata/recorded/looper.tgd"))
	golden.Compare(t, "testdata/screen-incidents.golden", screenOfTape(t, new(Screen), incidentTape))
	golden.Compare(t, "testdata/screen-server.golden", screenOfTape(t, new(Screen), serverTape))
	golden.Compare(t, "testdata/screen-crowded.golden", screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = names{}
		for i := range 12 {
			analyze(t, fmt.Sprintf("%02d.tgd", i), crowdedTape(), o)
		}
	}))
}

// names are the names of methods of a.B; any other method is run of a class of its own.
type names map[trace.Method]string

// Name implements [trace.Names].
func (n names) Name(m trace.Method) (trace.Name, bool) {
	if name, ok := n[m]; ok {
		return trace.Name{Class: "a.B", Method: name}, true
	}
	return trace.Name{Class: fmt.Sprintf("a.W%d", m), Method: "run"}, true
}

func screenOfTape(t *testing.T, s *Screen, text string) string {
	t.Helper()
	return screenOf(t, s, func(o analysis.Options) {
		o.Names = names{10: "main", 20: "acceptLoop", 21: "accept", 30: "handle", 31: "query", 32: "compute"}
		analyze(t, "a.tgd", text, o)
	})
}

// TestNoScreenIsLonger makes the screens of all recordings of the repository, of each and of all together, and one of
// recordings that have more of everything than there is room for. It needs all lines.
func TestNoScreenIsLonger(t *testing.T) {
	var all []string
	for _, pattern := range []string{"trace/testdata/*/*.tgd", "examples/shop/recordings/*/*.tgd",
		"internal/oracle/builds/android/testdata/*/*.tgd"} {
		files, err := filepath.Glob("../../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		all = append(all, files...)
	}
	for _, file := range all {
		screenOfFiles(t, "", file)
	}
	screenOfFiles(t, "", all...)
	full := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = names{20: "acceptLoop", 21: "accept"}
		for i := range 20 {
			analyze(t, fmt.Sprintf("%02d.tgd", i), fullTape(), o)
		}
	})
	if n := strings.Count(full, "\n"); n != screenLines {
		t.Errorf("%d lines, want all %d:\n%s", n, screenLines, full)
	}
	for _, part := range []string{"more lines: -v", "more of 33 causes", "more of 57 causes", "more of 17 causes",
		"Left out", "methods that ran", "methods that waited", "ran or waited: not known", "-v shows each"} {
		if !strings.Contains(full, part) {
			t.Errorf("no %q in\n%s", part, full)
		}
	}
}

// fullTape is a crowded one with a loss, a wait for work, and twenty methods that ran or waited.
func fullTape() string {
	var b strings.Builder
	b.WriteString(strings.Replace(crowdedTape(), "records=all", "records=all clockPeriodMillis=5", 1))
	b.WriteString("thread index=90 name=acceptor\nrecords thread=90 first=0 list=\"+20@100 +21@200 -21@6900 -20@7000\"\n")
	b.WriteString(`sample time=1000 thread=90 state=RUNNABLE stack="java.net.ServerSocket.accept(S.java) a.B.accept(B.java) ` +
		`a.B.acceptLoop(B.java) java.lang.Thread.run(T.java:1)"` + "\n")
	b.WriteString("stall thread=90 sequence=0 begin=100 wall=6900 first=0 end=4 what=\"method 20\"\n")
	for i := range 20 {
		state := []string{"RUNNABLE", "WAITING"}[i%2]
		fmt.Fprintf(&b, "thread index=%d name=w-%d\nrecords thread=%d first=0 list=\"+%d@0 -%d@%d\"\n", 50+i, i, 50+i,
			200+i, 200+i, 900+i)
		fmt.Fprintf(&b, "sample time=500 thread=%d state=%s stack=\"a.W%d.run(W.java) java.lang.Thread.run(T.java:1)\"\n",
			50+i, state, 200+i)
		fmt.Fprintf(&b, "stall thread=%d sequence=0 begin=0 wall=%d first=0 end=2 what=\"method %d\"\n", 50+i, 900+i, 200+i)
	}
	return b.String() + "thread index=91 name=lossy\nrecords thread=91 first=0 list=\"+300@0 -300@9\"\n" +
		"records thread=91 first=500 lost=498 list=\"+300@20 -300@29\"\nend"
}

// serverTape is a server: its main, its acceptor, and requests of two kinds in a pool.
var serverTape = strings.NewReplacer("POOL", "java.util.concurrent.ThreadPoolExecutor.runWorker(T.java:1) START",
	"START", "java.lang.Thread.run(T.java:1)").Replace(`
meta slowMillis=700 clockPeriodMillis=5 records=all sun.java.command=server.jar
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 id=20 name=acceptor
thread index=2 id=21 name=pool-1
records thread=2 first=0 list="+30@1000 +31@1000 -31@1900 -30@1900"
sample time=1700 thread=2 state=TIMED_WAITING stack="java.lang.Thread.sleep(Native) a.B.query(B.java) a.B.handle(B.java) POOL"
machine thread=2 message=0 time=1700 facts="processors 4, cpu-pressure-percent 80.5, java-heap-used-kb 100000"
stall thread=2 sequence=0 begin=1000 wall=900 cpu=1 first=0 end=4 what="method 30"
records thread=2 first=4 list="+30@2000 +31@2000 -31@3500 -30@3500"
sample time=2700 thread=2 state=TIMED_WAITING stack="java.lang.Thread.sleep(Native) a.B.query(B.java) a.B.handle(B.java) POOL"
machine thread=2 message=1 time=2700 facts="cpu-pressure-percent 2, java-heap-max-kb 400000, memory-total-kb 8000000"
stall thread=2 sequence=1 begin=2000 wall=1500 cpu=1 first=4 end=8 what="method 30"
records thread=2 first=8 list="+30@4000 +32@4000 -32@6000 -30@6000"
sample time=4700 thread=2 state=RUNNABLE stack="dev.tracegen.runtime.AppMethodBeat.i(A.java) a.B.compute(B.java) a.B.handle(B.java) POOL"
machine thread=2 message=2 time=4700 facts="memory-available-kb 1000000"
stall thread=2 sequence=2 begin=4000 wall=2000 cpu=1900 first=8 end=12 what="method 30"
records thread=1 first=0 list="+20@100 +21@200 -21@6900 -20@7000"
sample time=1000 thread=1 state=RUNNABLE stack="java.net.ServerSocket.accept(S.java) a.B.accept(B.java) a.B.acceptLoop(B.java) START"
stall thread=1 sequence=0 begin=100 wall=6900 cpu=1 first=0 end=4 what="method 20"
records thread=0 first=0 list="+10@0 -10@7500"
sample time=3000 thread=0 state=WAITING stack="java.lang.Object.wait(Native) a.B.main(B.java)"
stall thread=0 sequence=0 begin=0 wall=7500 cpu=10 first=0 end=2 what="method 10"
end`)

// TestIdle: a wait for work is a stall if that is asked for, and only then.
func TestIdle(t *testing.T) {
	const accepting = "idle, waiting for a connection: a.B.accept"
	got := screenOfTape(t, new(Screen), serverTape)
	if strings.Contains(got, accepting) || !strings.Contains(got, "--idle") {
		t.Errorf("a wait for work is a stall:\n%s", got)
	}
	got = screenOfTape(t, &Screen{Idle: true}, serverTape)
	if !strings.Contains(got, accepting) || strings.Contains(got, "--idle") {
		t.Errorf("a wait for work is no stall:\n%s", got)
	}
}

// TestRanOrWaited: of a method whose stack was never taken, the thread's state and its time on a processor say what is
// known of its own time. The rest neither ran nor waited as far as is known.
func TestRanOrWaited(t *testing.T) {
	const (
		ran, waited, unknown = "methods that ran", "methods that waited", "ran or waited: not known"
		start                = `
meta slowMillis=700 clockPeriodMillis=5 records=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
records thread=0 first=0 list="+10@0 -10@1900"
`
		stall = `stall thread=0 sequence=0 begin=0 wall=1900 first=0 end=2 what="method 10" `
	)
	for _, c := range []struct{ evidence, want string }{
		{"", unknown + " 1.90 s"},
		{stall, unknown + " 1.90 s"},
		{stall + "state=RUNNABLE", unknown + " 1.90 s"},
		{stall + "state=WAITING", waited + " 1.90 s"},
		{stall + "state=WAITING cpu=300", ran + " 300 ms, " + waited + " 1.60 s"},
		{stall + "state=RUNNABLE cpu=300", ran + " 300 ms, " + waited + " 1.60 s"},
		{stall + "cpu=1900", ran + " 1.90 s"},
		{`sample time=700 thread=0 state=RUNNABLE stack="a.B.main(B.java)"` + "\n" + stall, ran + " 1.90 s"},
		{`sample time=700 thread=0 state=RUNNABLE stack="a.C.main(C.java)"` + "\n" + stall, unknown + " 1.90 s"},
	} {
		_, tables, _ := strings.Cut(screenOfTape(t, new(Screen), start+c.evidence+"\nend"), " own time  share")
		var got []string
		title := ""
		for _, line := range strings.Split(tables, "\n") {
			if _, name, found := strings.Cut(line, " samples  "); found {
				title = name
			} else if strings.HasSuffix(line, "a.B.main") {
				got = append(got, title+" "+strings.Join(strings.Fields(line)[:2], " "))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q: %q, want %q", c.evidence, got, c.want)
		}
	}
}

// crowdedTape has 40 stalls without calls on a looper's thread, 40 runs of other threads, 20 incidents, and 60 methods.
func crowdedTape() string {
	var b strings.Builder
	b.WriteString("meta slowMillis=700 records=all\nclock now=0\nthread index=0 name=main main=1\ndetectors anr=on\n")
	for i := range 40 {
		fmt.Fprintf(&b, "stall thread=0 sequence=%d begin=%d wall=%d first=0 end=0 what=\"Handler (a.H%d) null: 1\"\n",
			i, 2000*i, 800+i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&b, "thread index=%d name=worker-%d\nrecords thread=%d first=0 list=\"+%d@0 -%d@%d\"\n", i+1, i, i+1,
			100+i, 100+i, 900+i)
		fmt.Fprintf(&b, "stall thread=%d sequence=0 begin=0 wall=%d first=0 end=2 what=\"method %d\"\n", i+1, 900+i, 100+i)
	}
	for i := range 20 {
		fmt.Fprintf(&b, "incident number=%d detector=anr kind=lag what=\"Handler (a.L%d) null: 7\" begin=%d end=%d\n", i, i,
			3000*i, 3000*i+2500)
	}
	return b.String() + "exit reason=anr description=\"it did not answer\"\n"
}

// TestDeadlockOnScreen: the line about a deadlock begins with its circle, as it is cut if it is too long.
func TestDeadlockOnScreen(t *testing.T) {
	const circle = "deadlock: one waits for L held by two, two waits for M held by one"
	c := &cause{worst: analysis.Row{Verdict: "stuck for at least 1.30 s in a.B.c (13 of 13 samples: " + circle + ")"}}
	if got := new(Screen).why(c, 100); got != circle {
		t.Error(got)
	}
}
