package art

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// A startMode is a way to run an app.
type startMode struct {
	name string
	p    Program
	// filter is that of dex2oat, if the app is installed as on a phone.
	filter string
}

// startRow is a row of art.Start in a mode, without and with the recorder.
type startRow struct{ mode, args, name string }

// TestStart measures what the start of a recording adds to the first 500 ms of a process on ART: Application and Looper
// are those of Android 11, and the runtime is that of apps. It checks no time; docs/performance.md has figures.
// TRACEGEN_RUNS is how many processes it runs of each kind that times.
func TestStart(t *testing.T) {
	nightly.Only(t, "android")
	b := need(t, append(compilerNeeds, basicNeeds...), slices.Concat(basic, apps, compiling, ahead))
	modes := []startMode{{"interpreted", Program{}, ""}, {"JIT", Program{JIT: true}, ""},
		{"installed", Program{JIT: true, Ahead: true}, "verify"}, {"compiled", Program{JIT: true, Ahead: true}, "speed"}}
	dex := fixture.Read(t, buildStart(t, b))
	for i, m := range modes {
		jar := filepath.Join(t.TempDir(), "start.jar")
		fixture.Write(t, jar, dex)
		if m.filter != "" {
			b.install(t, m.filter, jar)
		}
		modes[i].p.ClassPath = []string{jar}
	}
	all := map[startRow][]int{}
	kinds := []string{"none bytes", "recorder bytes"}
	for range numberOfRuns(t) {
		// Bytes are almost the same each time.
		for _, kind := range append(kinds, "none time", "recorder time", "recorder loaded") {
			for _, m := range modes {
				for name, value := range b.start(t, m, kind) {
					row := startRow{m.name, kind, name}
					all[row] = append(all[row], value)
				}
			}
		}
		kinds = nil
	}
	for _, m := range modes {
		for _, kind := range []string{"time", "loaded", "bytes"} {
			for _, name := range []string{"unit", "sample, CPU", "main, first call", "main, start", "main, classes",
				"main, bytes", "process, CPU", "process, classes", "process, bytes"} {
				none, with := all[startRow{m.name, "none " + kind, name}], all[startRow{m.name, "recorder " + kind, name}]
				if len(with) > 0 {
					t.Logf("measured: %s, %s, %s: %s; without recorder %s", m.name, kind, name, spread(with), spread(none))
				}
			}
		}
	}
}

// start runs art.Start and returns what it printed.
func (b *Bench) start(t *testing.T, m startMode, args string) map[string]int {
	t.Helper()
	m.p.Main, m.p.Args = "art.Start", append(strings.Fields(args), t.TempDir())
	r := b.Run(t, m.p)
	values := map[string]int{}
	for line := range strings.Lines(r.Stdout) {
		row, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		value, err := strconv.Atoi(text)
		if err != nil {
			t.Errorf("%s, %s: %s", m.name, args, line)
		}
		values[row] = value
	}
	positive := []string{"sample, CPU", "process, classes"}
	status := math.MaxInt32
	if strings.HasPrefix(args, "recorder") {
		positive = append(positive, "main, first call", "main, start")
		status = 2
	}
	if strings.HasSuffix(args, "bytes") {
		positive = append(positive, "process, bytes")
	} else {
		positive = append(positive, "process, CPU", "unit")
	}
	for _, row := range positive {
		if values[row] <= 0 {
			t.Errorf("%s, %s: %s is %d", m.name, args, row, values[row])
		}
	}
	if r.Exit != 0 || values["status"] != status {
		t.Fatalf("%s, %s: exit code %d, status %d, want %d\n%s", m.name, args, r.Exit, values["status"], status, r.Stderr)
	}
	return values
}

// spread is the median of values and their range.
func spread(values []int) string {
	if len(values) == 0 {
		return "-"
	}
	slices.Sort(values)
	return fmt.Sprintf("%d (%d to %d)", values[len(values)/2], values[0], values[len(values)-1])
}

// buildStart returns a jar of DEX files with the programs that measure, the runtime of apps, and the libraries that the
// sample of the start uses.
func buildStart(t *testing.T, b *Bench) string {
	t.Helper()
	jars := appRuntime(t)
	for _, jar := range corpus.Need(t, "guava-33.4.8-jre", "gson-2.11.0", "rxjava-3.1.10", "reactive-streams-1.0.4") {
		jars = append(jars, jar.Path)
	}
	return b.dexOf(t, "start.jar", []string{"Start.java", "Memory.java"}, jars...)
}
