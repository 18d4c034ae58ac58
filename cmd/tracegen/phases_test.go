package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/pipeline"
)

// TestEveryFlagHasItsStep wants each flag of instrument to have its say in scan, in assign or beside --ids, or to be
// known as one that only works at once: a flag that decides something and is forgotten here would let the steps come
// to something else than instrument does. What a scan depends on, its file has to say.
func TestEveryFlagHasItsStep(t *testing.T) {
	atOnce := []string{"merge", "mapping", "disabled", "max-growth", "max-calls-growth", "base-report"}
	onlyWhere := []string{"output", "config", "blocklist", r8Option, "classpath", "jdk", "jobs", "quiet", "verbose"} // shape no decision, or are told by a digest
	flagsOf := func(name string) map[string]bool {
		cmd, _, err := testedRoot().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		return known
	}
	scan, assign := flagsOf("scan"), flagsOf("assign")
	for name := range flagsOf("instrument") {
		steps := 0
		for _, has := range []bool{scan[name], assign[name], slices.Contains(besideSlice, name)} {
			if has {
				steps++
			}
		}
		if only := slices.Contains(atOnce, name); (steps == 0) != only {
			t.Errorf("--%s has its say in %d steps, works only at once: %v", name, steps, only)
		}
	}
	for name := range scan {
		if !slices.Contains(scanOptions, name) && !slices.Contains(onlyWhere, name) {
			t.Errorf("scan --%s is not among the options that its file tells", name)
		}
	}
	for _, name := range pipeline.Shaping() {
		if !slices.Contains(scanOptions, name) {
			t.Errorf("--%s shapes what is written, and is no option of scan", name)
		}
	}
}
