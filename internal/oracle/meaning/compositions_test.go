package meaning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	nightly.Only(t, "kotlin")
	for _, lambdas := range []string{"indy", "class"} {
		program := compileComposables(t, "Compose.kt", lambdas, "runtime-desktop-1.8.2")
		for _, exits := range []string{"throws", "exact"} {
			t.Run(lambdas+"/"+exits, func(t *testing.T) {
				answer, log := program.record(t, exits, "compose.ComposeKt")
				compareCompositions(t, answer, log)
			})
		}
	}
}

// TestCorpusComposeDesktop does the same with a list of Compose Desktop that is drawn 61 times, without a display.
func TestCorpusComposeDesktop(t *testing.T) {
	nightly.Only(t, "kotlin")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: needs the library of skiko for Linux on amd64")
	}
	program := compileComposables(t, "Desktop.kt", "indy", "material3-desktop-1.8.2",
		"skiko-awt-runtime-linux-x64-0.9.4.2")
	answer, log := program.record(t, "throws", "desktop.DesktopKt")
	byName := checkEffects(t, readCompositions(t, answer), log)
	item := byName["desktop.Item"]
	shown := item.Composed - item.Recomposed
	if item.Composed < 300 || item.Composed != shown*61 || len(item.Changed) != 1 || item.Changed[0].Number != 2 ||
		item.Changed[0].Times != item.Recomposed {
		t.Errorf("the second parameter of each item that is shown is new 60 times, but: %+v", item)
	}
	button := byName["androidx.compose.material3.Button"]
	if button.Composed != shown || button.Skipped != nil && *button.Skipped != item.Recomposed {
		t.Errorf("a button in each item is skipped when that is executed again, but: %+v", button)
	}
}

// composables is a program that was compiled with Compose's compiler, and the class path that it needs.
type composables struct {
	jdk       oracle.JDK
	classPath string
}

// compileComposables compiles a file with the libraries of rows of the corpus.
func compileComposables(t *testing.T, file, lambdas string, rows ...string) composables {
	t.Helper()
	j := jdk(t, 17)
	jars := corpus.Need(t, append([]string{"kotlin-compiler-embeddable-2.2.20",
		"kotlin-compose-compiler-plugin-embeddable-2.2.20", "kotlin-stdlib-2.2.20"}, rows...)...)
	classPath := []string{filepath.Join(t.TempDir(), "program.jar")}
	for _, jar := range jars[2:] {
		classPath = append(append(classPath, jar.Path), jar.DepPaths...)
	}
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
		"-cp", pathList(append(jars[0].DepPaths, jars[0].Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
		"-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target", "11", "-Xlambdas="+lambdas, "-Xplugin="+jars[1].Path,
		"-cp", pathList(classPath[1:]...), "-d", classPath[0], filepath.Join("testdata", "compose", file))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kotlin: %v\n%s", err, tail(string(out)))
	}
	return composables{j, pathList(classPath...)}
}

// record records the program, and returns the file of the answer and what the program printed.
func (c composables) record(t *testing.T, exits, main string) (answer, log string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "compose")
	cmd := exec.CommandContext(t.Context(), oracle.BuildTool(t), "record", "-q", "--exits", exits, "-o", name+".tgd",
		"--format", "json", "--answer", name+".json", "--", c.jdk.Tool("java"), "-Dtracegen.gate=off",
		"-Djava.awt.headless=true", "-cp", c.classPath, main)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &messages)
	}
	return name + ".json", out.String()
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

// composed is what analyze says of a recording.
type composed struct {
	Completeness struct{ Lost, LeftOut, WindowCalls uint64 }
	Compose      struct {
		Composables []composable
		Lost        uint64
	}
}

func readCompositions(t *testing.T, answer string) composed {
	t.Helper()
	var said struct{ Recordings []composed }
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	return said.Recordings[0]
}

// checkEffects compares an answer with the side effects of the program's log, and returns the composables by name.
func checkEffects(t *testing.T, said composed, log string) map[string]composable {
	t.Helper()
	if !strings.HasPrefix(log, "hook true\n") || said.Compose.Lost > 0 {
		t.Fatalf("%d executions lost; %s", said.Compose.Lost, log)
	}
	byName := map[string]composable{}
	for _, c := range said.Compose.Composables {
		byName[c.Name] = c
	}
	effects := 0
	for line := range strings.Lines(log) {
		var name string
		var n uint64
		if _, err := fmt.Sscanf(line, "effect %d %s", &n, &name); err != nil {
			continue
		}
		effects++
		if got := byName[name].Composed; got != n {
			t.Errorf("%s: composed %d times, but %d by its side effects", name, got, n)
		}
	}
	if effects < 3 {
		t.Errorf("the program's log:\n%s", log)
	}
	return byName
}

// compareCompositions compares an answer with the program's log.
func compareCompositions(t *testing.T, answer, log string) {
	t.Helper()
	r := readCompositions(t, answer)
	byName, byText := checkEffects(t, r, log), map[string]uint64{}
	for _, c := range r.Compose.Composables {
		byText[fmt.Sprintf("%s (%s:%d)", c.Name, c.File, c.Line)] = c.Composed
	}
	traced, called := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(log, "hook true\n")) {
		var what string
		var n uint64
		if _, err := fmt.Sscanf(line, "%s %d", &what, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name := strings.TrimSpace(strings.SplitN(line, " ", 3)[2])
		switch what {
		case "trace":
			traced++
			name = strings.Replace(name, "ComposableSingletons$", "", 1)
			if i := strings.Index(name, ".lambda$"); i > 0 {
				name = name[:i] + name[strings.LastIndex(name, ".<"):]
			}
			if got := byText[name]; got != n {
				t.Errorf("%s: composed %d times, but %d by a tracer", name, got, n)
			}
		case "called":
			called++
			c := byName[name]
			if r.Completeness.Lost+r.Completeness.LeftOut+r.Completeness.WindowCalls > 0 {
				t.Logf("calls are not all recorded: %+v", r.Completeness)
			} else if c.Skipped == nil || c.Composed+*c.Skipped != n {
				t.Errorf("%s: %+v, but it was called %d times", name, c, n)
			}
		}
	}
	if traced < 11 || called != 2 {
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
