package looper

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

var costs = flag.String("costs", "", "measure for minutes what each detector costs, and write it into this file")

// Whose cost TestDetectorCosts measures: the states of DetectorCosts.java. Each is compared with the one beside it.
var costStates = []struct{ name, than string }{
	{"messages", "none"}, {"idle-handlers", "messages"}, {"input-events", "idle-handlers"},
	{"sync-barrier", "input-events"}, {"watchdog", "input-events"},
	{"anr", "input-events"}, {"frames", "input-events"}, {"startup", "input-events"},
}

// TestDetectorCosts switches each detector on and off while the app runs. With -costs, it measures what each costs.
// It compares no times.
//
// Invariant: A message allocates no more with any detector than without.
//
// Invariant: After a detector was switched off at run time, it posts no message, and nothing holds what it used.
func TestDetectorCosts(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	if *costs != "" {
		b.options = append(slices.Clone(b.options), "-Dproofs.rounds=3", "-Dproofs.frames=60", "-Dproofs.idle=2500")
	}
	var page strings.Builder
	for _, p := range platforms {
		if *costs != "" && p.api != 34 && !p.lockFree {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if *costs == "" {
				t.Parallel()
			}
			begin := load()
			seen := b.prove(t, p, stock, "DetectorCosts").seen
			for _, s := range costStates {
				if _, ok := seen[s.name+" message bytes"]; !ok && !t.Failed() {
					t.Errorf("no figures of %s", s.name)
				}
			}
			fmt.Fprintf(&page, "## %s\n\nLoad average %s before, %s after.\n\n%s\n", p.name, begin, load(), costTable(seen))
		})
	}
	if *costs == "" || t.Failed() {
		return
	}
	// bench/runs/2026-11-23/detectors.md explains the columns.
	head := fmt.Sprintf("# What each detector costs\n\n- date: %s\n- machine: %s, %d cores, %s/%s\n- command: go test "+
		"-count=1 -timeout 30m ./internal/oracle/looper -run 'TestDetectorCosts$' -costs FILE\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if err := os.WriteFile(*costs, []byte(head+page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// costTable returns the medians of what was measured, and how much more that is than without.
func costTable(seen map[string]string) string {
	columns := []string{"message ns", "message bytes", "idle ns", "idle bytes", "event ns", "event bytes", "frame ns",
		"frame bytes", "drawing wake-ups/min", "drawing cpu ms/min", "idle wake-ups/min", "idle cpu ms/min",
		"idle messages/min", "threads"}
	out := "| | " + strings.Join(columns, " | ") + " |\n|---" + strings.Repeat("|---", len(columns)) + "|\n"
	row := func(state, than string) {
		out += "| " + state
		for _, c := range columns {
			values, beside := numbers(seen[state+" "+c]), numbers(seen[than+" "+c])
			switch {
			case len(values) == 0:
				out += " | "
			case len(beside) != len(values):
				out += fmt.Sprintf(" | %.4g", median(values))
			default:
				more := make([]float64, len(values))
				for k := range more {
					more[k] = values[k] - beside[k]
				}
				out += fmt.Sprintf(" | %.4g (%+.3g)", median(values), median(more))
			}
		}
		out += " |\n"
	}
	row("none", "")
	for _, s := range costStates {
		row(s.name, s.than)
	}
	return out
}

func numbers(text string) (all []float64) {
	for field := range strings.FieldsSeq(text) {
		if v, err := strconv.ParseFloat(field, 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// load returns the load averages of the machine.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}

// processor returns the name of the machine's processor.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	_, rest, _ := strings.Cut(string(data), "model name")
	line, _, _ := strings.Cut(rest, "\n")
	return cmp.Or(strings.TrimLeft(line, "\t: "), "unknown processor")
}
