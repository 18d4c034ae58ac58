package main

import (
	"fmt"
	"os"
	"os/exec"
)

// Rows that targets compare.
const (
	rowTracegen    = "tracegen"
	rowEquivalence = "tracegen --verify equivalence"
	rowAll         = "tracegen --trivial none --id-order compact"
	rowStore       = "tracegen --compression store"
	rowFast        = "tracegen --compression fast"
	rowFloorStore  = "floor, store"
	rowFloorFast   = "floor, fast"
	rowFloor       = "floor"
	rowExpert      = "expert"
	rowExpertC1    = "expert, C1"
	rowMatrix      = "Matrix, legible"
	rowMatrixAsIs  = "Matrix"
	rowByteBuddy   = "ByteBuddy"
	rowJacoco      = "JaCoCo"
)

// every is more runs than are ever asked for.
const every = 1 << 30

// contestant is a program that instruments jars, or a way to run one.
type contestant struct {
	name    string
	one     int  // at most so many runs with one jar: slow rows without a target run less often
	corpus  int  // likewise with the corpus
	traces  bool // it writes a mapping and changes classes
	legible bool // it gets jars without classes that contain jsr
	lenient bool // exit code 1 is no failure
	command func(job) *exec.Cmd
}

// runs returns how often it is measured with an input, if so many runs are asked for.
func (c contestant) runs(in input, runs int) int {
	if in.name == corpusInput {
		return min(runs, c.corpus)
	}
	return min(runs, c.one)
}

// contestants returns the contestants: tracegen, whose path is tool, the floor, and those peers that were found.
func contestants(tool string, p peers) ([]contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := tracegens(tool)
	floor := func(name, level string, one, corpus int) {
		all = append(all, contestant{name: name, one: one, corpus: corpus, command: func(j job) *exec.Cmd {
			return exec.Command(self, floorCommand, level, j.list, j.out, j.changes)
		}})
	}
	floor(rowFloor, "default", every, every)
	floor(rowFloorStore, "store", every, 0)
	floor(rowFloorFast, "fast", every, 0)
	floor(rowFloor+", best", "best", 2, 0)
	return append(all, p.contestants()...), nil
}

func tracegens(tool string) []contestant {
	variant := func(name string, one, corpus int, options ...string) contestant {
		return contestant{name: name, one: one, corpus: corpus, traces: true, command: func(j job) *exec.Cmd {
			return tracegen(tool, j, options...)
		}}
	}
	return []contestant{
		variant(rowTracegen, every, every),
		variant(rowEquivalence, every, every, "--verify", "equivalence"),
		variant(rowStore, every, 0, "--compression", "store"),
		variant(rowFast, every, 0, "--compression", "fast"),
		variant(rowTracegen+" --compression best", 2, 0, "--compression", "best"),
		variant(rowAll, every, 0, "--trivial", "none", "--id-order", "compact"),
		variant(rowTracegen+" --trivial none", 2, 0, "--trivial", "none"),
		variant(rowTracegen+" -j 1", 1, 0, "-j", "1"),
	}
}

func tracegen(tool string, j job, options ...string) *exec.Cmd {
	args := []string{"instrument", "@" + j.list, "-o", j.out + string(os.PathSeparator), "--mapping", j.mapping,
		"--runtime-external", "-q"}
	return exec.Command(tool, append(args, options...)...)
}

// tuned are the options of the JVM with which such a short run is fastest: the optimising compiler takes more time than
// it saves.
var tuned = []string{"-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"}

func (p peers) contestants() []contestant {
	var all []contestant
	if p.expert != "" {
		expert := func(name string, one, corpus int, jvm []string, options ...string) {
			all = append(all, p.traced(name, one, corpus, p.expert, jvm, "AsmExpert", options...))
		}
		expert(rowExpert, every, 2, nil, "trivial=none", "ids=counter")
		expert(rowExpertC1, every, 3, tuned, "trivial=none", "ids=counter")
		expert(rowExpertC1+", store", every, 0, tuned, "trivial=none", "ids=counter", "level=0")
		expert("expert, sorted IDs", 2, 0, nil, "trivial=none")
		expert("expert, sorted IDs, C1", 2, 0, tuned, "trivial=none")
	}
	if p.matrix != "" {
		matrix := func(name string, one, corpus int, legible bool, jvm []string, option string) {
			c := p.traced(name, one, corpus, p.matrix, jvm, "MatrixDriver", option)
			c.legible, c.lenient = legible, true
			all = append(all, c)
		}
		matrix(rowMatrix, every, 0, true, nil, "check=true")
		matrix(rowMatrix+", unchecked", 2, 0, true, nil, "check=false")
		matrix(rowMatrix+", unchecked, C1", 2, 0, true, tuned, "check=false")
		matrix(rowMatrixAsIs, 1, 1, false, nil, "check=true")
	}
	if p.byteBuddy != "" {
		all = append(all, p.traced(rowByteBuddy, 2, 0, p.byteBuddy, nil, "ByteBuddyDriver"))
	}
	if p.jacoco != "" {
		all = append(all, contestant{name: rowJacoco, one: 2, command: func(j job) *exec.Cmd {
			jars, _ := readList(j.list)
			return exec.Command(p.java, append([]string{"-jar", p.jacoco, "instrument", "--quiet", "--dest", j.out}, jars...)...)
		}})
	}
	return all
}

// traced returns a contestant that one of our Java programs runs.
func (p peers) traced(name string, one, corpus int, classPath string, jvm []string, main string,
	options ...string) contestant {
	return contestant{name: name, one: one, corpus: corpus, traces: true, command: func(j job) *exec.Cmd {
		args := append(append([]string{}, jvm...), "-cp", classPath, "dev.tracegen.bench."+main, j.list, j.out, j.mapping)
		return exec.Command(p.java, append(args, options...)...)
	}}
}

func notMeasured(what string, why error) {
	fmt.Fprintf(os.Stderr, "bench: not measured: %s: %v\n", what, why)
}
