package meaning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusCompositions records a program of composables that keeps a log of its own: by side effects, which run once
// for each execution, by a tracer in front of the recorder's, and by arguments, of which each call makes one. The
// answer must have the same numbers of executions and of calls that were skipped.
//
// Invariant: The counts of compositions are those of Compose's runtime.
func TestCorpusCompositions(t *testing.T) {
	nightly.Only(t, "programs")
	if !corpus.IsFull() {
		t.Skip("skipped: needs the Kotlin compiler of the whole corpus")
	}
	j := jdk(t, 17)
	dir := t.TempDir()
	jars := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlin-stdlib-2.2.20",
		"kotlin-compose-compiler-plugin-embeddable-2.2.20", "kotlinx-coroutines-core-jvm-1.10.2", "collection-jvm-1.5.0",
		"runtime-desktop-1.8.2", "annotations-23.0.0")
	libraries := pathList(jars[1].Path, jars[3].Path, jars[4].Path, jars[5].Path, jars[6].Path)
	tool := oracle.BuildTool(t)
	for _, lambdas := range []string{"indy", "class"} {
		program := filepath.Join(dir, lambdas+".jar")
		cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
			"-cp", pathList(append(jars[0].DepPaths, jars[0].Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
			"-no-stdlib", "-no-reflect", "-jvm-target", "11", "-Xlambdas="+lambdas, "-Xplugin="+jars[2].Path,
			"-cp", libraries, "-d", program, filepath.Join("testdata", "compose", "Compose.kt"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kotlin: %v\n%s", err, tail(string(out)))
		}
		for _, exits := range []string{"throws", "exact"} {
			t.Run(lambdas+"/"+exits, func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "compose")
				cmd := exec.CommandContext(t.Context(), tool, "record", "-q", "--exits", exits, "-o", name+".tgd",
					"--format", "json", "--answer", name+".json", "--", j.Tool("java"), "-Dtracegen.gate=off",
					"-cp", pathList(program, libraries), "compose.ComposeKt")
				var log, messages bytes.Buffer
				cmd.Stdout, cmd.Stderr = &log, &messages
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s", err, &messages)
				}
				compareCompositions(t, name+".json", log.String())
			})
		}
	}
}

// composable is what analyze says of a composable.
type composable struct {
	Name                 string
	File                 string
	Line                 int
	Composed, Recomposed uint64
	Skipped              *uint64
	TotalNanos, OwnNanos int64
	Changed              []struct{ Number, Times uint64 }
}

// compareCompositions compares an answer of analyze with the program's log.
func compareCompositions(t *testing.T, answer, log string) {
	t.Helper()
	var said struct {
		Recordings []struct {
			Completeness struct{ Lost, LeftOut, WindowCalls uint64 }
			Compose      struct {
				Composables []composable
				Lost        uint64
			}
		}
	}
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	r := said.Recordings[0]
	if !strings.HasPrefix(log, "hook true\n") || r.Compose.Lost > 0 {
		t.Fatalf("%d executions lost; %s", r.Compose.Lost, log)
	}
	byName, byText := map[string]composable{}, map[string]uint64{}
	for _, c := range r.Compose.Composables {
		byText[fmt.Sprintf("%s (%s:%d)", c.Name, c.File, c.Line)] = c.Composed
		byName[c.Name] = c
	}
	counted := map[string]int{}
	for line := range strings.Lines(strings.TrimPrefix(log, "hook true\n")) {
		var what string
		var n uint64
		if _, err := fmt.Sscanf(line, "%s %d", &what, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name := strings.TrimSpace(strings.SplitN(line, " ", 3)[2])
		counted[what]++
		switch what {
		case "effect":
			if got := byName[name].Composed; got != n {
				t.Errorf("%s: composed %d times, but %d by its side effects", name, got, n)
			}
		case "trace":
			name = strings.Replace(name, "ComposableSingletons$", "", 1)
			if i := strings.Index(name, ".lambda$"); i > 0 {
				name = name[:i] + name[strings.LastIndex(name, ".<"):]
			}
			if got := byText[name]; got != n {
				t.Errorf("%s: composed %d times, but %d by a tracer", name, got, n)
			}
		case "called":
			c := byName[name]
			if r.Completeness.Lost+r.Completeness.LeftOut+r.Completeness.WindowCalls > 0 {
				t.Logf("calls are not all recorded: %+v", r.Completeness)
			} else if c.Skipped == nil || c.Composed+*c.Skipped != n {
				t.Errorf("%s: %+v, but it was called %d times", name, c, n)
			}
		}
	}
	if counted["effect"] != 7 || counted["trace"] < 11 || counted["called"] != 2 {
		t.Errorf("the program's log:\n%s", log)
	}
	row := byName["compose.Row"]
	if row.Recomposed != row.Composed-20 || len(row.Changed) != 1 || row.Changed[0].Number != 2 {
		t.Errorf("the second parameter of 20 rows is new each time, but: %+v", row)
	}
	if row.TotalNanos < int64(row.Composed)*2_000_000 {
		t.Errorf("each row takes 2 ms, but: %+v", row)
	}
}
