package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/dense"
)

// denseCommand measures what recording costs in programs that make very many calls.
const denseCommand = "dense"

// denseResult is the result of one program.
type denseResult struct {
	name    string
	runs    map[dense.Way][]dense.Run
	figures map[dense.Way][]*dense.Figures
	failed  error
}

// denseMain runs the programs of package dense:
//
//	go run ./bench dense -runs 3 -only '^(h2|rhino)$'
func denseMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(denseCommand, flag.ContinueOnError)
	rounds := flags.Int("runs", 3, "measured `rounds`")
	only := flags.String("only", "", "measure programs whose name matches this `regexp`")
	out := flags.String("o", today(), "`directory` for dense.md and dense.tsv")
	scratch := flags.String("scratch", "", "`directory` for programs and recordings, 1 GB; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	corpora, err := corpus.Load()
	if err != nil {
		return err
	}
	jdks, err := dense.JDKs()
	if err != nil {
		return err
	}
	jdk := jdks[len(jdks)-1]
	watch := startWatch()
	var results []*denseResult
	for _, p := range dense.Programs() {
		if !pattern.MatchString(p.Name) {
			continue
		}
		r := &denseResult{name: p.Name, runs: map[dense.Way][]dense.Run{}, figures: map[dense.Way][]*dense.Figures{}}
		r.failed = r.measure(ctx, p, corpora, jdk, *scratch, *rounds)
		if ctx.Err() != nil {
			break
		}
		if results = append(results, r); r.failed != nil {
			notMeasured(p.Name, r.failed)
		}
		// Each program takes minutes, so that what is measured is written at once.
		said := slices.Concat(conditions(), watch.conditions(), []string{fmt.Sprintf("programs: on JDK %d", jdk.Feature)})
		if err := writeDense(*out, said, results); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(results, func(r *denseResult) bool { return r.failed != nil }) {
		return errors.New("some programs failed")
	}
	return ctx.Err()
}

// denseWays are the ways of a round.
var denseWays = []dense.Way{dense.Plain, dense.NoOp, dense.Idle, dense.Recording, dense.GateOff}

// measure runs a program in rounds, so that a noisy minute of the machine affects all ways.
func (r *denseResult) measure(ctx context.Context, p dense.Program, c *corpus.Corpus, jdk oracle.JDK, scratch string,
	rounds int) error {
	dir, err := os.MkdirTemp(scratch, "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := dense.Prepare(ctx, p, c, jdk, dir)
	if err != nil {
		return err
	}
	for n := range rounds {
		for _, way := range denseWays {
			if n > 0 && way == dense.GateOff {
				continue // one round of it shows what the gate is for
			}
			run, err := program.Run(ctx, way)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "bench: %s: %s: round %d, %s: %.2f s of CPU time\n", time.Now().Format(time.TimeOnly),
				p.Name, n+1, way, run.CPU.Seconds())
			if err := r.add(program, way, run); err != nil {
				return err
			}
		}
	}
	return nil
}

// add keeps a run, and reads its recording.
func (r *denseResult) add(program *dense.Prepared, way dense.Way, run dense.Run) error {
	r.runs[way] = append(r.runs[way], run)
	if way != dense.Recording && way != dense.GateOff {
		return nil
	}
	f, err := program.ReadRecording(run.File)
	r.figures[way] = append(r.figures[way], f)
	return err
}

// cpu returns the median CPU time of a way, in seconds; 0 if there is no run.
func (r *denseResult) cpu(way dense.Way) float64 {
	var all row
	for _, one := range r.runs[way] {
		all.runs = append(all.runs, run{user: one.CPU})
	}
	if len(all.runs) == 0 {
		return 0
	}
	return all.median(cpuSeconds)
}

// sum adds a figure of all recordings of a way.
func (r *denseResult) sum(way dense.Way, of func(*dense.Figures) uint64) (n uint64) {
	for _, f := range r.figures[way] {
		n += of(f)
	}
	return n
}

func writeDense(dir string, said []string, results []*denseResult) error {
	for name, write := range map[string]func(io.Writer){
		"dense.md":  func(w io.Writer) { printDense(w, said, results) },
		"dense.tsv": func(w io.Writer) { printDenseRuns(w, said, results) },
	} {
		if err := writeFile(filepath.Join(dir, name), func(w io.Writer) error { write(w); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func printDense(w io.Writer, said []string, results []*denseResult) {
	fmt.Fprintf(w, "# Programs that make very many calls\n\n")
	for _, c := range said {
		if !strings.HasPrefix(c, "peers: ") {
			fmt.Fprintf(w, "- %s\n", c)
		}
	}
	fmt.Fprint(w, "\nCPU time of the whole process, by the system. Ratios are of medians.\n\n| program | plain s | "+
		"no-op runtime | no output | recording | recording, gate off | records | lost | left out by the gate | "+
		"in windows | lost, gate off |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		if r.failed != nil {
			fmt.Fprintf(w, "| %s | failed |\n", r.name)
			continue
		}
		n := uint64(max(1, len(r.figures[dense.Recording])))
		plain := r.cpu(dense.Plain)
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %d | %d | %d | %d | %d |\n", r.name, plain,
			r.cpu(dense.NoOp)/plain, r.cpu(dense.Idle)/plain, r.cpu(dense.Recording)/plain, r.cpu(dense.GateOff)/plain,
			r.sum(dense.Recording, func(f *dense.Figures) uint64 { return f.Records })/n,
			r.sum(dense.Recording, func(f *dense.Figures) uint64 { return f.Lost }),
			r.sum(dense.Recording, func(f *dense.Figures) uint64 { return f.Gated })/n,
			r.sum(dense.Recording, func(f *dense.Figures) uint64 { return f.Windowed })/n,
			r.sum(dense.GateOff, func(f *dense.Figures) uint64 { return f.Lost }))
	}
}

func printDenseRuns(w io.Writer, said []string, results []*denseResult) {
	for _, c := range said {
		fmt.Fprintf(w, "# %s\n", c)
	}
	fmt.Fprintln(w, "program\tway\trun\tcpu_s\twall_s\trecords\tlost\tclosed\tgated_calls\twindows\twindow_calls\t"+
		"methods_off\trepaired")
	for _, r := range results {
		for _, way := range denseWays {
			for n, run := range r.runs[way] {
				fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3f", r.name, way, n+1, run.CPU.Seconds(), run.Wall.Seconds())
				if n < len(r.figures[way]) {
					f := r.figures[way][n]
					fmt.Fprintf(w, "\t%d\t%d\t%t\t%d\t%d\t%d\t%d\t%+v", f.Records, f.Lost, f.Closed, f.Gated, f.Windows,
						f.Windowed, len(f.Off), f.Repairs)
				}
				fmt.Fprintln(w)
			}
		}
	}
}
