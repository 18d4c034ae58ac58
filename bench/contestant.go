package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// Rows that pages and tests name.
const (
	rowTracegen    = "tracegen"
	rowEquivalence = "tracegen --verify equivalence"
	rowAll         = "tracegen --trivial none --id-order compact"
	rowFloor       = "floor"
	rowExpert      = "expert"
	rowExpertC1    = "expert, C1"
	rowExpertWarm  = "expert, warm"
	rowWarmTuned   = "expert, warm, parallel GC"
	rowAGP         = "AGP's own way"
	rowAGPWarm     = "AGP's own way, warm"
	rowMatrix      = "Matrix, legible"
	rowMatrixAsIs  = "Matrix"
	rowByteBuddy   = "ByteBuddy"
	rowJacoco      = "JaCoCo"
)

// every is more runs than are ever asked for.
const every = 1 << 30

// mostRuns is how many runs there are at most with a jar, with the corpus, and with stored copies. Slow rows
// run less often than others.
type mostRuns struct{ jar, corpus, stored int }

// of returns the number of runs with an input, if so many runs are asked for.
func (m mostRuns) of(in input, runs int) int {
	switch {
	case in.stored:
		return min(runs, m.stored)
	case in.name == corpusInput:
		return min(runs, m.corpus)
	}
	return min(runs, m.jar)
}

// always, oneJar and storedOnly are the numbers of runs of most rows.
var (
	always     = mostRuns{jar: every, corpus: every, stored: every}
	oneJar     = mostRuns{jar: every}
	storedOnly = mostRuns{stored: every}
)

// contestant is a program that instruments jars, or a way to run one.
type contestant struct {
	name    string
	most    mostRuns
	traces  bool // it writes a mapping and changes classes
	legible bool // it gets jars without classes that contain jsr
	lenient bool // exit code 1 is no failure
	warm    bool // it reports the times of one of several runs in its process
	command func(job) *exec.Cmd
}

// contestants returns the contestants: tracegen, whose path is tool, the floor, and those peers that were found.
func contestants(tool string, p peers) ([]contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := append(tracegens(tool), contestant{name: rowFloor, most: always, command: func(j job) *exec.Cmd {
		return exec.Command(self, floorCommand, j.list, j.out, j.changes)
	}})
	return append(all, p.contestants()...), nil
}

func tracegens(tool string) []contestant {
	variant := func(name string, most mostRuns, options ...string) contestant {
		return contestant{name: name, most: most, traces: true, command: func(j job) *exec.Cmd {
			return tracegen(tool, j, options...)
		}}
	}
	return []contestant{
		variant(rowTracegen, always),
		variant(rowEquivalence, always, "--verify", "equivalence"),
		variant(rowAll, mostRuns{jar: every, stored: every}, "--set", "trivial=none", "--set", "id-order=compact"),
	}
}

func tracegen(tool string, j job, options ...string) *exec.Cmd {
	args := []string{"instrument", "@" + j.list, "-o", j.out + string(os.PathSeparator), "--mapping", j.mapping,
		"--runtime-external", "-q"}
	return exec.Command(tool, append(args, options...)...)
}

// parallelGC is the garbage collector with which these programs are fastest. With tuned, such a short run is fastest:
// the optimising compiler takes more time than it saves.
const parallelGC = "-XX:+UseParallelGC"

var tuned = []string{parallelGC, "-XX:TieredStopAtLevel=1"}

func (p peers) contestants() []contestant {
	return append(append(p.experts(), p.plugin()...), p.others()...)
}

// experts returns the rows of the hand-written ASM program.
func (p peers) experts() []contestant {
	if p.expert == "" {
		return nil
	}
	const main = "AsmExpert"
	one := []string{"trivial=none", "ids=counter"}
	return []contestant{
		p.traced(rowExpert, mostRuns{jar: every, corpus: 2, stored: every}, p.expert, nil, main, one...),
		p.traced(rowExpertC1, mostRuns{jar: every, corpus: 3, stored: every}, p.expert, tuned, main, one...),
		p.warm(rowExpertWarm, storedOnly, p.expert, nil, main, one...),
		p.warm(rowWarmTuned, storedOnly, p.expert, []string{parallelGC}, main, one...),
	}
}

// plugin returns the rows of what Android's Gradle plugin does with a class visitor of a user.
func (p peers) plugin() []contestant {
	if p.agp == "" {
		return nil
	}
	return []contestant{
		p.traced(rowAGP, mostRuns{stored: 3}, p.agp, nil, "AgpDriver"),
		p.warm(rowAGPWarm, mostRuns{stored: 3}, p.agp, nil, "AgpDriver"),
	}
}

// others returns the rows of other projects.
func (p peers) others() []contestant {
	var all []contestant
	if p.matrix != "" {
		matrix := func(name string, most mostRuns, legible bool) {
			c := p.traced(name, most, p.matrix, nil, "MatrixDriver", "check=true")
			c.legible, c.lenient = legible, true
			all = append(all, c)
		}
		matrix(rowMatrix, oneJar, true)
		matrix(rowMatrixAsIs, mostRuns{jar: 1, corpus: 1}, false)
	}
	if p.byteBuddy != "" {
		all = append(all, p.traced(rowByteBuddy, mostRuns{jar: 2}, p.byteBuddy, nil, "ByteBuddyDriver"))
	}
	if p.jacoco != "" {
		all = append(all, contestant{name: rowJacoco, most: mostRuns{jar: 2}, command: func(j job) *exec.Cmd {
			jars, _ := readList(j.list)
			return exec.Command(p.java, append([]string{"-jar", p.jacoco, "instrument", "--quiet", "--dest", j.out}, jars...)...)
		}})
	}
	return all
}

// traced returns a contestant that one of our Java programs runs.
func (p peers) traced(name string, most mostRuns, classPath string, jvm []string, main string,
	options ...string) contestant {
	return p.program(name, most, classPath, jvm, []string{javaPackage + main}, options)
}

// warm returns a contestant that runs one of our Java programs several times in one process and reports the last.
func (p peers) warm(name string, most mostRuns, classPath string, jvm []string, main string,
	options ...string) contestant {
	c := p.program(name, most, classPath, jvm, []string{javaPackage + "WarmRuns", fmt.Sprint(warmRuns),
		javaPackage + main}, options)
	c.warm = true
	return c
}

// javaPackage is the package of our Java programs.
const javaPackage = "dev.tracegen.bench."

// program returns a contestant that runs a Java program. Its arguments are those in front, a job and the options.
func (p peers) program(name string, most mostRuns, classPath string, jvm, front, options []string) contestant {
	return contestant{name: name, most: most, traces: true, command: func(j job) *exec.Cmd {
		return exec.Command(p.java, slices.Concat(jvm, []string{"-cp", classPath}, front,
			[]string{j.list, j.out, j.mapping}, options)...)
	}}
}

func notMeasured(what string, why error) {
	fmt.Fprintf(os.Stderr, "bench: not measured: %s: %v\n", what, why)
}
