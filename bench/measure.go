package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// run is one process from start to exit.
type run struct {
	wall, user, sys time.Duration
	peak            int64 // most bytes resident at any time; 0 if the system does not report it
}

func (r run) cpu() time.Duration { return r.user + r.sys }

// Functions that read one figure of a run.
func wallSeconds(r run) float64 { return r.wall.Seconds() }
func cpuSeconds(r run) float64  { return r.cpu().Seconds() }
func peakMB(r run) float64      { return float64(r.peak) / mega }

// row is the result of one contestant with one input.
type row struct {
	input string
	name  string
	runs  []run
	work  work
	note  string // the contestant's own message, or why there are no more runs
}

// spread returns the least, the median and the greatest of the figures that a function reads from the runs. There must
// be one run at least.
func (r *row) spread(of func(run) float64) (low, median, high float64) {
	values := make([]float64, len(r.runs))
	for i := range r.runs {
		values[i] = of(r.runs[i])
	}
	slices.Sort(values)
	n := len(values)
	return values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]
}

func (r *row) median(of func(run) float64) float64 {
	_, median, _ := r.spread(of)
	return median
}

// input is the jars that one run instruments.
type input struct {
	name   string
	jars   []string // paths; their last names differ
	stored bool     // stored copies of the jars are measured
}

// series is a row while it is measured.
type series struct {
	row
	contestant contestant
	job        job
	most       int    // runs
	said       string // output of the last run
	failed     error  // if not nil, there are no more runs
}

// measureAll measures the contestants of an input in turns.
func measureAll(ctx context.Context, l lineup, in input, dir string, runs int) ([]*series, error) {
	p, err := prepare(in, dir, l.tool)
	if err != nil {
		return nil, err
	}
	var measured []*series
	for i, c := range l.contestants {
		own := filepath.Join(dir, fmt.Sprint(i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		s := &series{row: row{input: in.name, name: c.name}, contestant: c, most: c.most.of(in, runs)}
		s.job = job{list: p.list, out: filepath.Join(own, "out"), mapping: filepath.Join(own, "mapping.txt"),
			changes: p.changes}
		if c.legible {
			s.job.list = p.legible
		}
		if s.most > 0 {
			measured = append(measured, s)
		}
	}
	return rounds(ctx, measured, runs)
}

// rounds makes the runs, round by round, so that a noisy minute of the machine affects all contestants. A contestant
// that fails is not run again. If interrupted it returns the complete rounds.
func rounds(ctx context.Context, measured []*series, rounds int) ([]*series, error) {
	if len(measured) == 0 {
		return nil, nil
	}
	for n := range rounds {
		fmt.Fprintf(os.Stderr, "bench: %s: %s: round %d of %d\n", time.Now().Format(time.TimeOnly), measured[0].input, n+1,
			rounds)
		for i, s := range measured {
			if n < s.most && s.failed == nil {
				s.once()
			}
			if ctx.Err() != nil {
				// The last run may have been cut short, and others may be missing.
				measured = slices.Delete(measured, i, i+1)
				return slices.DeleteFunc(measured, func(s *series) bool { return len(s.runs) == 0 }), ctx.Err()
			}
		}
	}
	return measured, nil
}

// once makes one run, and keeps the error if it fails.
func (s *series) once() {
	// Some tools refuse to overwrite files, others truncate them, so that outputs are removed first.
	os.RemoveAll(s.job.out)
	os.Remove(s.job.mapping)
	if s.job.out != "" {
		if s.failed = os.MkdirAll(s.job.out, 0o755); s.failed != nil {
			return
		}
	}
	cmd := s.contestant.command(s.job)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	s.said = said.String()
	var exit *exec.ExitError
	if err != nil && !(s.contestant.lenient && errors.As(err, &exit) && exit.ExitCode() == 1) {
		s.failed = fmt.Errorf("%s: %s: %w\n%s\n%s", s.input, s.name, err, strings.Join(cmd.Args, " "), s.said)
		fmt.Fprintf(os.Stderr, "bench: %v\n", s.failed)
		return
	}
	measured := run{
		wall: wall,
		user: cmd.ProcessState.UserTime(),
		sys:  cmd.ProcessState.SystemTime(),
		peak: peakMemory(cmd.ProcessState),
	}
	if s.contestant.warm {
		if s.failed = measured.readWarm(s.said); s.failed != nil {
			s.failed = fmt.Errorf("%s: %s: %w\n%s", s.input, s.name, s.failed, s.said)
			fmt.Fprintf(os.Stderr, "bench: %v\n", s.failed)
			return
		}
	}
	s.runs = append(s.runs, measured)
}

// warmRuns is the number of runs that a warm row makes in one process. The last one is measured.
const warmRuns = 10

// readWarm takes the times from what WarmRuns has printed: those of the last run in the process. The CPU time is
// reported as a whole, so that all of it is user time here.
func (r *run) readWarm(said string) error {
	for line := range strings.Lines(said) {
		var n int
		var wall, cpu float64
		if _, err := fmt.Sscanf(line, "warm %d wall %f cpu %f", &n, &wall, &cpu); err == nil && n == warmRuns {
			second := float64(time.Second)
			r.wall, r.user, r.sys = time.Duration(wall*second), time.Duration(cpu*second), 0
			return nil
		}
	}
	return fmt.Errorf("no times of run %d", warmRuns)
}
