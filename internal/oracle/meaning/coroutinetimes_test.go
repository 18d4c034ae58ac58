package meaning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusCoroutineTimes records a program of coroutines that keeps a log of its own: dispatchers, async,
// withTimeout, flows, channels, exceptions, and cancellation. The suspend functions must have as many calls as the log
// says, and last as long, whether exits of exceptions are recorded or not.
func TestCorpusCoroutineTimes(t *testing.T) {
	nightly.Only(t, "programs")
	if !corpus.IsFull() {
		t.Skip("skipped: needs the Kotlin compiler of the whole corpus")
	}
	j := jdk(t, 17)
	dir := t.TempDir()
	jars := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlin-stdlib-2.2.20",
		"kotlinx-coroutines-core-jvm-1.10.2")
	libraries := pathList(jars[1].Path, jars[2].Path)
	program := filepath.Join(dir, "times.jar")
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
		"-cp", pathList(append(jars[0].DepPaths, jars[0].Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
		"-no-stdlib", "-no-reflect", "-cp", libraries, "-d", program,
		filepath.Join("testdata", "coroutines", "Times.kt"))
	fixture.Run(t, cmd)
	tool := oracle.BuildTool(t)
	for _, exits := range []string{"exact", "normal"} {
		t.Run(exits, func(t *testing.T) {
			answer := filepath.Join(dir, exits+".json")
			cmd := exec.CommandContext(t.Context(), tool, "record", "-q", "--tick", "us", "--exits", exits,
				"-o", filepath.Join(dir, exits+".tgd"), "--format", "json", "--answer", answer,
				"--", j.Tool("java"), "-Dtracegen.gate=off", "-cp", pathList(program, libraries), "times.TimesKt")
			var log, messages bytes.Buffer
			cmd.Stdout, cmd.Stderr = &log, &messages
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &messages)
			}
			compareTimes(t, answer, log.String(), exits == "exact")
		})
	}
}

// suspendFunction is what analyze says of a suspend function.
type suspendFunction struct {
	Method                       struct{ Class, Name string }
	Calls, Resumed, NotResumed   int
	RunningNanos, SuspendedNanos int64
	AtMost                       bool
}

// compareTimes compares an answer of analyze with the program's log. The times of a function lie between those that it
// has measured itself and those that its callers have measured. If exits of exceptions are not recorded, a call that
// one has left seems to last until that shows.
func compareTimes(t *testing.T, answer, log string, exact bool) {
	t.Helper()
	var said struct {
		Recordings []struct {
			Completeness struct{ Lost, LeftOut, WindowCalls uint64 }
			Coroutines   struct {
				Functions            []suspendFunction
				LostMarks, Ambiguous uint64
			}
		}
	}
	text := fixture.Read(t, answer)
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	r := said.Recordings[0]
	if r.Completeness.Lost+r.Completeness.LeftOut+r.Completeness.WindowCalls+r.Coroutines.LostMarks > 0 {
		t.Skipf("the recording is not whole: %+v, %d marks lost", r.Completeness, r.Coroutines.LostMarks)
	}
	byName := map[string]suspendFunction{}
	for _, f := range r.Coroutines.Functions {
		if f.Method.Class == "times.Prog" {
			byName[f.Method.Name] = f
		}
	}
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if len(lines) != 7 {
		t.Fatalf("the program's log:\n%s", log)
	}
	for _, line := range lines {
		var name string
		var calls int
		var inside, outside time.Duration
		_, err := fmt.Sscanf(line, "%s calls %d inside %d outside %d us", &name, &calls, &inside, &outside)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		f, off := byName[name], time.Duration(calls)*10*time.Microsecond // records have a clock of 1 µs
		got := time.Duration(f.RunningNanos + f.SuspendedNanos)
		inside, outside = inside*time.Microsecond, outside*time.Microsecond
		t.Logf("measured: %s: %d calls, %v, by its own log %v to %v", name, f.Calls, got, inside, outside)
		if f.Calls != calls || f.AtMost || f.NotResumed > 0 {
			t.Errorf("%s: %+v, but it was called %d times", name, f, calls)
		}
		if got < inside-off || exact && got > outside+off {
			t.Errorf("%s took %v, but %v to %v by its own log", name, got, inside, outside)
		}
	}
}
