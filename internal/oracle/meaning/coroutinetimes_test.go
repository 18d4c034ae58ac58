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
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// TestCorpusCoroutineTimes records a program of coroutines that keeps a log of its own: dispatchers, async,
// withTimeout, flows, channels, exceptions, and cancellation. The suspend functions must have as many calls as the log
// says, and last as long, whether exits of exceptions are recorded or not.
//
// Invariant: The recorder keeps no job and no continuation alive.
func TestCorpusCoroutineTimes(t *testing.T) {
	nightly.Only(t, "kotlin")
	j, dir := jdk(t, 17), t.TempDir()
	classPath := pathList(compileTimes(t, j)...)
	tool := oracle.BuildTool(t)
	for _, exits := range []string{"exact", "normal"} {
		t.Run(exits, func(t *testing.T) {
			answer := filepath.Join(dir, exits+".json")
			cmd := exec.CommandContext(t.Context(), tool, "record", "-q", "--tick", "us", "--exits", exits,
				"-o", filepath.Join(dir, exits+".tgd"), "--format", "json", "--answer", answer,
				"--", j.Tool("java"), "-Dtracegen.gate=off", "-cp", classPath, "times.TimesKt")
			var log, messages bytes.Buffer
			cmd.Stdout, cmd.Stderr = &log, &messages
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &messages)
			}
			compareTimes(t, answer, log.String(), exits == "exact")
		})
	}
}

// compileTimes compiles the program, and returns its jar and its libraries.
func compileTimes(t *testing.T, j oracle.JDK) []string {
	t.Helper()
	jars := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlin-stdlib-2.2.20",
		"kotlinx-coroutines-core-jvm-1.10.2", "annotations-23.0.0")
	all := []string{filepath.Join(t.TempDir(), "times.jar"), jars[1].Path, jars[2].Path, jars[3].Path}
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
		"-cp", pathList(append(jars[0].DepPaths, jars[0].Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
		"-no-stdlib", "-no-reflect", "-cp", pathList(all[1:]...), "-d", all[0],
		filepath.Join("testdata", "coroutines", "Times.kt"))
	fixture.Run(t, cmd)
	return all
}

// TestCorpusCoroutinesShrunk does the same with a program that is instrumented with its libraries, and then shrunk by
// R8 in full mode, to class files: classes of suspend functions and of the library are renamed, merged and inlined.
// Older versions of R8 run with the whole corpus.
//
// Invariant: R8 may shrink the library of coroutines: each resumption is still a piece of the call that it resumes.
func TestCorpusCoroutinesShrunk(t *testing.T) {
	nightly.Only(t, "kotlin")
	j, dir, tool := jdk(t, 17), t.TempDir(), oracle.BuildTool(t)
	mapping, core := filepath.Join(dir, "names.txt"), filepath.Join(dir, "core.jar")
	rules, out := filepath.Join(dir, "app.pro"), filepath.Join(dir, "out")
	toolchain.Merge(t, core, oracle.NeedRuntime(t).JVM)
	fixture.Write(t, rules, "-keep class times.TimesKt { public static void main(java.lang.String[]); }\n")
	fixture.Directory(t, out)
	jars := compileTimes(t, j)
	fixture.Run(t, exec.CommandContext(t.Context(), tool, append([]string{"instrument", "-q", "-o", out + "/", "--mapping",
		mapping, "--runtime-external", "--exits", "exact", "--set", "trace-coroutines=on"}, jars...)...))
	inputs := []string{core}
	for _, jar := range jars {
		inputs = append(inputs, filepath.Join(out, filepath.Base(jar)))
	}
	versions := toolchain.Versions
	if !corpus.IsFull() {
		versions = versions[:1]
	}
	for _, version := range versions {
		t.Run(version.Version, func(t *testing.T) {
			tools, err := version.Fetch(t.Context())
			oracle.Require(t, err)
			name := filepath.Join(dir, version.Version)
			text, err := tools.R8(t.Context(), toolchain.Shrinking{Library: toolchain.Library(t), Rules: []string{rules},
				Output: name + ".jar", Mapping: name + ".txt"}, inputs...)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if renamed := string(fixture.Read(t, name+".txt")); !strings.Contains(renamed,
				"\nkotlin.coroutines.intrinsics.CoroutineSingletons -> ") {
				t.Error("R8 has not renamed the result of a call that waits")
			}
			log, err := exec.CommandContext(t.Context(), j.Tool("java"), "-Dtracegen.output="+name+".tgd",
				"-Dtracegen.tick=us", "-Dtracegen.gate=off", "-Dtracegen.threads=all", "-cp", name+".jar",
				"times.TimesKt").Output()
			if err != nil {
				t.Fatal(err)
			}
			fixture.Run(t, exec.CommandContext(t.Context(), tool, "analyze", name+".tgd", "--mapping", mapping,
				"--r8-mapping", name+".txt", "--format", "json", "-o", name+".json"))
			compareTimes(t, name+".json", string(log), true)
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
// one has left seems to last until that shows, or less where a sample contradicts it.
func compareTimes(t *testing.T, answer, log string, exact bool) {
	t.Helper()
	var said struct {
		Recordings []struct {
			Completeness struct{ Lost, LeftOut, WindowCalls uint64 }
			Repairs      struct{ Contradicted uint64 }
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
	first, log, _ := strings.Cut(log, "\n")
	var kept, ended int
	if _, err := fmt.Sscanf(first, "kept %d of %d", &kept, &ended); err != nil || kept > 0 || ended < 100 {
		t.Errorf("%s jobs and continuations that have ended: %v", first, err)
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
		if got < inside-off && r.Repairs.Contradicted == 0 || exact && got > outside+off {
			t.Errorf("%s took %v, but %v to %v by its own log", name, got, inside, outside)
		}
	}
}
