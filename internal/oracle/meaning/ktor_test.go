package meaning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusKtor records a server and a client of Ktor that asks for 60 pages at once, with the program alone, with
// what record traces of libraries, and with all of them. The program keeps a log of its own: of its suspend functions,
// the answer must have the calls, the time that they lasted, and that of it in which they were suspended.
//
// Invariant: What a suspend function waited for is named by what the program has called, not by what Ktor did for it.
func TestCorpusKtor(t *testing.T) {
	nightly.Only(t, "kotlin")
	j, dir := jdk(t, 17), t.TempDir()
	jars := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlin-stdlib-2.2.20", "ktor-server-core-jvm-3.1.3",
		"ktor-server-cio-jvm-3.1.3", "ktor-client-cio-jvm-3.1.3")
	classPath := []string{filepath.Join(dir, "shop.jar")}
	for _, jar := range jars[1:] {
		classPath = append(append(classPath, jar.Path), jar.DepPaths...)
	}
	fixture.Run(t, exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
		"-cp", pathList(append(jars[0].DepPaths, jars[0].Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
		"-no-stdlib", "-no-reflect", "-cp", pathList(classPath[1:]...), "-d", classPath[0],
		filepath.Join("testdata", "ktor", "Shop.kt")))
	tool := oracle.BuildTool(t)
	for _, scope := range []string{"own", "own-and-libraries", "all"} {
		t.Run(scope, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "shop")
			cmd := exec.CommandContext(t.Context(), tool, "record", "-q", "--tick", "us", "--slow", "200ms", "--scope", scope,
				"--message", "shop.ShopKt#ask", "-o", name+".tgd", "--format", "json", "--answer", name+".json",
				"--", j.Tool("java"), "-Dtracegen.gate=off", "-Dtracegen.memory=512M",
				"-cp", pathList(classPath...), "shop.ShopKt")
			var log, messages bytes.Buffer
			cmd.Stdout, cmd.Stderr = &log, &messages
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &messages)
			}
			a := readKtor(t, name+".json")
			a.compare(t, log.String())
			a.explains(t, scope)
		})
	}
}

// ktorMethod is a method in an answer.
type ktorMethod struct{ Class, Name string }

func (m ktorMethod) String() string { return m.Class + "." + m.Name }

// ktorFunction is what analyze says of a suspend function.
type ktorFunction struct {
	Method                       ktorMethod
	Calls, BeginUnknown          int
	RunningNanos, SuspendedNanos time.Duration
	AtMost                       bool
	Waits                        []struct {
		Method   *ktorMethod
		Launched bool
		Thread   string
		Nanos    time.Duration
	}
	Busy *struct {
		Thread  string
		Threads int
		Method  ktorMethod
	}
}

// ktorAnswer is the answer about the program. lost is whether marks are lost.
type ktorAnswer struct {
	functions map[string]*ktorFunction
	lost      bool
	verdict   string // of the call that asks for all pages
	wall      time.Duration
}

func readKtor(t *testing.T, file string) *ktorAnswer {
	t.Helper()
	var said struct {
		Stalls []struct {
			Message struct{ Method *ktorMethod }
			Verdict struct{ Text string }
			Wall    time.Duration `json:"wallNanos"`
		}
		Recordings []struct {
			Completeness struct{ Lost, LeftOut, WindowCalls uint64 }
			Coroutines   struct {
				Functions            []*ktorFunction
				LostMarks, Ambiguous uint64
			}
		}
	}
	if err := json.Unmarshal(fixture.Read(t, file), &said); err != nil {
		t.Fatal(err)
	}
	r := &said.Recordings[0]
	done := r.Completeness
	a := &ktorAnswer{functions: map[string]*ktorFunction{},
		lost: r.Coroutines.LostMarks+done.Lost+done.LeftOut+done.WindowCalls > 0}
	for _, f := range r.Coroutines.Functions {
		a.functions[f.Method.String()] = f
	}
	for _, s := range said.Stalls {
		if m := s.Message.Method; m != nil && m.Name == "ask" {
			a.verdict, a.wall = s.Verdict.Text, s.Wall
		}
	}
	t.Logf("measured: %+v, %d marks lost, %d calls are ambiguous", done, r.Coroutines.LostMarks, r.Coroutines.Ambiguous)
	return a
}

// compare compares the answer with the program's log. Where something is lost, the numbers are of the rest.
func (a *ktorAnswer) compare(t *testing.T, log string) {
	t.Helper()
	sum, log, _ := strings.Cut(log, "\n")
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if sum != "sum 1770" || len(lines) != 7 {
		t.Fatalf("%s; the program's log:\n%s", sum, log)
	}
	for _, line := range lines {
		var name string
		var calls int
		var inside, outside, least, most time.Duration
		if _, err := fmt.Sscanf(line, "%s calls %d inside %d outside %d suspended %d to %d us", &name, &calls, &inside,
			&outside, &least, &most); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		inside, outside, least, most = inside*time.Microsecond, outside*time.Microsecond, least*time.Microsecond,
			most*time.Microsecond
		f := a.functions["shop."+name]
		if f == nil {
			if !a.lost {
				t.Fatalf("%s is missing", name)
			}
			continue
		}
		got, off := f.RunningNanos+f.SuspendedNanos, time.Duration(calls)*10*time.Microsecond // the clock has 1 µs
		t.Logf("measured: %s: %d calls, %v of %v suspended; by its own log %d calls, %v to %v of %v to %v", name, f.Calls,
			f.SuspendedNanos, got, calls, least, most, inside, outside)
		if !f.AtMost && f.SuspendedNanos > most+off || got > outside+off {
			t.Errorf("%s was suspended for %v of %v, but at most %v of %v", name, f.SuspendedNanos, got, most, outside)
		}
		if a.lost || f.BeginUnknown > 0 {
			continue
		}
		if f.Calls != calls || got < inside-off || f.SuspendedNanos < least-off {
			t.Errorf("%s: %d calls, suspended for %v of %v, but %d calls and at least %v of %v", name, f.Calls,
				f.SuspendedNanos, got, calls, least, inside)
		}
	}
}

// explains checks what the answer says that functions waited for.
func (a *ktorAnswer) explains(t *testing.T, scope string) {
	t.Helper()
	if a.lost {
		return
	}
	for _, row := range []struct{ function, waits string }{
		{"shop.Shop.order", `shop\.Db\.start`},
		{"shop.Shop.report", `shop\.Shop\.render|shop\.Shop\$report\$.*|kotlinx\.coroutines\..*withContext`},
		{"shop.Shop.search", `kotlinx\.coroutines\.DelayKt\.delay`},
		{"shop.Client.fetch", `io\.ktor\.client\.statement\.HttpStatement\.execute`},
	} {
		// Without libraries, what the last two have called is not recorded.
		library := scope == "own" && !strings.HasPrefix(row.waits, "shop")
		most, want := time.Duration(0), regexp.MustCompile("^("+row.waits+")$")
		f := a.functions[row.function]
		for _, w := range f.Waits {
			if w.Method != nil && (library || !want.MatchString(w.Method.String())) {
				t.Errorf("%s was suspended for %v for %v on %q", row.function, w.Nanos, w.Method, w.Thread)
			} else if w.Method != nil {
				most += w.Nanos
			}
		}
		// A lambda on a dispatcher is what a call waited for only if it has ended right before.
		if !library && 2*most < f.SuspendedNanos && row.function != "shop.Shop.report" {
			t.Errorf("it is not known what %s waited for: %+v", row.function, f.Waits)
		}
	}
	busy := a.functions["shop.Shop$report$2$1$1.invokeSuspend"].Busy
	if busy != nil && (busy.Threads != 2 || busy.Thread != "reports" || busy.Method.String() != "shop.Shop.render") {
		t.Errorf("reports began late: %+v", busy)
	}
	suspended := a.functions["shop.Client.load"].SuspendedNanos
	t.Logf("measured: %s; busy: %+v", a.verdict, busy)
	if strings.HasPrefix(a.verdict, "waiting") && 2*suspended >= a.wall && !asked.MatchString(a.verdict) || a.wall == 0 {
		t.Errorf("it asked for %v, suspended for %v: %s", a.wall, suspended, a.verdict)
	}
}

// asked is what the verdict says of the call that asks for all pages.
var asked = regexp.MustCompile(`; suspended [\d.]+ of [\d.]+ s waiting for shop\.Client\.(fetch on DefaultDispatcher-worker-|load)`)
