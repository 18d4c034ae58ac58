package art

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// memoryLimit is how many KiB of anonymous memory a process may need more with the recorder: rings, all other objects,
// and the stacks of the recorder's threads.
const memoryLimit = 4096

// TestMemory measures on ART how much memory the recorder holds after each step of art.Memory, with the main thread
// recorded and with all threads.
func TestMemory(t *testing.T) {
	nightly.Only(t, "android")
	b := need(t, basicNeeds, slices.Concat(basic, apps))
	dex := buildStart(t, b)
	for _, threads := range []string{"main", "all"} {
		none, with := b.memory(t, dex, "none", threads), b.memory(t, dex, "recorder", threads)
		for _, step := range []string{"started", "20,000 records", "20 threads", "4,000,000 records"} {
			more := with[step] - none[step]
			t.Logf("measured: %s, %s: %d KiB, without recorder %d", threads, step, with[step], none[step])
			if more <= 0 || more > memoryLimit {
				t.Errorf("%s, %s: %d KiB more, want 1 to %d", threads, step, more, memoryLimit)
			}
		}
	}
}

// memory runs art.Memory and returns what it printed.
func (b *Bench) memory(t *testing.T, dex, recorder, threads string) map[string]int {
	t.Helper()
	r := b.Run(t, Program{ClassPath: []string{dex}, Main: "art.Memory", Args: []string{recorder, threads, t.TempDir()}})
	values := map[string]int{}
	for line := range strings.Lines(r.Stdout) {
		row, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		value, err := strconv.Atoi(text)
		if err != nil {
			t.Errorf("%s, %s: %s", recorder, threads, line)
		}
		values[row] = value
	}
	if r.Exit != 0 || len(values) == 0 || recorder == "recorder" && values["status"] != 2 {
		t.Fatalf("%s, %s: exit code %d, status %d\n%s", recorder, threads, r.Exit, values["status"], r.Stderr)
	}
	return values
}
