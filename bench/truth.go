package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/dense"
)

// truthCommand compares what recordings say about programs with what JFR says.
const truthCommand = "truth"

// truthMain runs the programs of package dense, and writes truth.md anew after each of them:
//
//	go run ./bench truth -runs 3 -only '^(h2|rhino)$'
func truthMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(truthCommand, flag.ContinueOnError)
	rounds := flags.Int("runs", 3, "measured `rounds`")
	only := flags.String("only", "", "measure programs whose name matches this `regexp`")
	releases := flags.String("jdk", "", "run on the JDKs whose release matches this `regexp`; empty: 17 and the newest")
	out := flags.String("o", today(), "`directory` of truth.md")
	scratch := flags.String("scratch", "", "`directory` for programs and recordings, 1 GB; empty: the system's")
	cpu := flags.Bool("cpu", true, "measure the CPU time too, which takes two more runs in each round")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(*releases)
	if err != nil || *rounds < 1 {
		return cmp.Or(err, errors.New("-runs must be at least 1"))
	}
	corpora, err := corpus.Load()
	if err != nil {
		return err
	}
	jdks, err := dense.JDKs()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(*scratch, "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &truth{rounds: *rounds, cpu: *cpu}
	var failed []error
	for _, p := range dense.Programs() {
		for _, jdk := range jdks {
			if !names.MatchString(p.Name) || !wanted.MatchString(strconv.Itoa(jdk.Feature)) {
				continue
			}
			below := filepath.Join(dir, fmt.Sprint(p.Name, "-", jdk.Feature))
			err := t.measure(ctx, p, jdk, corpora, below)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err = errors.Join(err, os.RemoveAll(below)); err == nil {
				err = writeFile(filepath.Join(*out, "truth.md"), func(w io.Writer) error { t.print(w); return nil })
			}
			if err != nil {
				failed = append(failed, err)
				notMeasured(p.Name, err)
			}
		}
	}
	return errors.Join(failed...)
}

func buildTool(ctx context.Context, dir string) (string, error) {
	tool := filepath.Join(dir, "tracegen")
	text, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", tool, "./cmd/tracegen").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return tool, nil
}

// truth is the table.
type truth struct {
	rounds int
	cpu    bool     // is measured
	lines  []string // one of each program and JDK
}

// truthWays are the ways of a round.
var truthWays = []dense.Way{dense.Plain, dense.Unsampled, dense.Recording, dense.WithJFR, dense.Both}

// sides is the two sides of a comparison.
type sides struct {
	recorded []*dense.Figures
	jfr      []*dense.Profile
}

// measure runs a program in rounds, so that a noisy minute of the machine affects all ways.
func (t *truth) measure(ctx context.Context, p dense.Program, jdk oracle.JDK, c *corpus.Corpus, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	program, err := dense.Prepare(ctx, p, c, jdk, dir)
	if err != nil {
		return err
	}
	cpu := map[dense.Way]*row{}
	apart, together := &sides{}, &sides{} // of different runs, and of the same ones
	// JFR has two runs at least, because it is compared with itself.
	for n := range max(2, t.rounds) {
		for _, way := range truthWays {
			if n >= t.rounds && way != dense.WithJFR || !t.cpu && (way == dense.Plain || way == dense.Unsampled) {
				continue
			}
			one, err := program.Run(ctx, way)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "bench: %s: %s on %d: round %d, %s: %.2f s of CPU time\n",
				time.Now().Format(time.TimeOnly), p.Name, jdk.Feature, n+1, way, one.CPU.Seconds())
			if cpu[way] == nil {
				cpu[way] = &row{}
			}
			cpu[way].runs = append(cpu[way].runs, run{user: one.CPU})
			to := apart
			if way == dense.Both {
				to = together
			}
			if err := to.add(ctx, program, one, way == dense.Unsampled); err != nil {
				return err
			}
		}
	}
	f := apart.recorded[len(apart.recorded)-1]
	unsampled, recorded := 0.0, 0.0
	if t.cpu {
		plain := cpu[dense.Plain].median(cpuSeconds)
		unsampled = cpu[dense.Unsampled].median(cpuSeconds) / plain
		recorded = cpu[dense.Recording].median(cpuSeconds) / plain
	}
	line := fmt.Sprintf("| %s | %d | %s | %.2f | %.2f | %d | %d | %d |", p.Name, jdk.Feature,
		compareSides(apart, together), unsampled, recorded, f.Gated+f.Windowed, len(f.Off), f.Samples)
	t.lines = append(t.lines, line)
	fmt.Println(line)
	return nil
}

// add reads the files of a run.
func (s *sides) add(ctx context.Context, program *dense.Prepared, run dense.Run, unsampled bool) error {
	if run.File != "" && !unsampled {
		f, err := program.ReadRecording(run.File)
		if err != nil {
			return err
		}
		s.recorded = append(s.recorded, f)
	}
	if run.JFR == "" {
		return nil
	}
	p, err := program.ReadJFR(ctx, run.JFR)
	s.jfr = append(s.jfr, p)
	return err
}

// compareSides returns the cells that compare recordings with JFR: those of runs of their own, and those that had JFR
// in the same run.
func compareSides(apart, together *sides) string {
	var jfr [2]*dense.Profile
	for n, p := range apart.jfr {
		if jfr[n%2] == nil {
			jfr[n%2] = p
		} else {
			jfr[n%2].Add(p)
		}
	}
	var bounds, held, boundsSame, heldSame int
	var cells, firsts []string
	var last *dense.Comparison // of own time, at the end
	for _, k := range dense.Kinds {
		var mean, same float64
		right := 0
		for n, f := range apart.recorded {
			last = dense.Compare(k, f.Profile, f.Samples, jfr)
			mean += last.Rest / float64(len(apart.recorded))
			if last.Right() {
				right++
			}
			checked, inside := dense.Bounds(k, f.Profile, jfr)
			bounds, held = bounds+checked, held+inside
			in, of := together.recorded[n], [2]*dense.Profile{together.jfr[n], together.jfr[n]}
			same += dense.Compare(k, in.Profile, in.Samples, of).Rest / float64(len(together.jfr))
			checked, inside = dense.Bounds(k, in.Profile, of)
			boundsSame, heldSame = boundsSame+checked, heldSame+inside
		}
		cells = append(cells, fmt.Sprintf("%.2f | %.2f, %.2f | %.2f", mean, last.Noise, last.Chance, same))
		firsts = append(firsts, fmt.Sprintf("%d/%d", right, len(apart.recorded)))
	}
	return fmt.Sprintf("%s | %s | `%s` %.2f, `%s` %.2f | %d/%d, %d/%d | %.0f | %.0f", strings.Join(cells, " | "),
		strings.Join(firsts, ", "), last.First.Short(), last.FirstShare, last.FirstOfJFR.Short(), last.BestInJFR,
		held, bounds, heldSame, boundsSame, jfr[0].Total+jfr[1].Total, jfr[0].Broken+jfr[1].Broken)
}

// print writes the page.
func (t *truth) print(w io.Writer) {
	fmt.Fprintf(w, `# What recordings say about programs, beside JFR

Mean absolute difference from JFR of the %d biggest methods, in points of percent, without methods of more than %d %% on
both sides. *noise* is that of two runs of JFR, and what the numbers of samples explain. *same run* is the difference
from JFR in the process that was recorded: what is left if recording changes nothing. *inclusive* and *self* are of
traced methods, *own* also of libraries and the JDK. *first* is in how many recordings our first method is JFR's, as far
as JFR knows. *bounds* is how many of the shares that are estimates have JFR's inside their bounds, and the same in the
same run. CPU time of the recorded program, without and with steady samples, is a multiple of the plain one's.

`, dense.Top, dense.Nearly)
	for _, c := range conditions() {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, `
| program | JDK | inclusive | noise | same run | self | noise | same run | own | noise | same run | `+
		`first: inclusive, self, own | our first own, JFR's | bounds | JFR's samples | broken | CPU unsampled | CPU | `+
		`let go | methods off | samples |
%s
%s
`, "|"+strings.Repeat("---|", 21), strings.Join(t.lines, "\n"))
}
