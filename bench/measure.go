package main

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// run is one process from start to exit.
type run struct {
	wall, user, sys time.Duration
	peak            int64 // bytes resident, at most at any time; 0 if the system does not say
}

func (r run) cpu() time.Duration { return r.user + r.sys }

// series is what one contestant did with one jar.
type series struct {
	contestant contestant
	jar        string // the input's path
	out        string // what the last run wrote
	mapping    string
	said       string // by the last run
	runs       []run
	work       work
}

// work is what was done, read from the output, as evidence that all did the same.
type work struct {
	classes, changed int   // class entries, and those that differ from the input's
	methods          int   // lines of the mapping
	before, after    int64 // bytes of all classes, inflated
	size             int64 // of the output
}

// measureAll makes the runs, round by round.
func measureAll(contestants []contestant, jar, dir string, runs int) ([]series, error) {
	if err := warm(jar); err != nil {
		return nil, err
	}
	all := make([]series, len(contestants))
	for i, c := range contestants {
		own := filepath.Join(dir, fmt.Sprint(i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		all[i] = series{contestant: c, jar: jar, out: filepath.Join(own, "out.jar"), mapping: filepath.Join(own, "mapping.txt")}
	}
	for n := range runs {
		fmt.Fprintf(os.Stderr, "bench: %s: round %d of %d\n", filepath.Base(jar), n+1, runs)
		for i := range all {
			r, err := all[i].once()
			if err != nil {
				return nil, err
			}
			all[i].runs = append(all[i].runs, r)
		}
	}
	return all, nil
}

// warm reads a file, so that the first run finds it in memory as the others do.
func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func (s *series) once() (run, error) {
	// Some tools refuse to overwrite, others truncate: nobody has to.
	os.Remove(s.out)
	os.Remove(s.mapping)
	cmd := s.contestant.command(s.jar, s.out, s.mapping)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return run{}, fmt.Errorf("%s: %w\n%s\n%s", s.contestant.name, err, strings.Join(cmd.Args, " "), said.String())
	}
	s.said = said.String()
	return run{
		wall: wall,
		user: cmd.ProcessState.UserTime(),
		sys:  cmd.ProcessState.SystemTime(),
		peak: peakMemory(cmd.ProcessState),
	}, nil
}

// inspect reads from the directories of input and output what was done: an entry whose CRC and size are
// the same has the same bytes.
func (s *series) inspect() error {
	in, err := zip.OpenReader(s.jar)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := zip.OpenReader(s.out)
	if err != nil {
		return fmt.Errorf("%s: %w", s.contestant.name, err)
	}
	defer out.Close()
	if len(in.File) != len(out.File) {
		return fmt.Errorf("%s: %d entries in, %d out", s.contestant.name, len(in.File), len(out.File))
	}
	for i, a := range in.File {
		b := out.File[i]
		if a.Name != b.Name {
			return fmt.Errorf("%s: entry %d is %s in the input and %s in the output", s.contestant.name, i, a.Name, b.Name)
		}
		if !strings.HasSuffix(a.Name, ".class") {
			continue
		}
		s.work.classes++
		s.work.before += int64(a.UncompressedSize64)
		s.work.after += int64(b.UncompressedSize64)
		if a.CRC32 != b.CRC32 || a.UncompressedSize64 != b.UncompressedSize64 {
			s.work.changed++
		}
	}
	info, err := os.Stat(s.out)
	if err != nil {
		return err
	}
	s.work.size = info.Size()
	if s.contestant.traces {
		s.work.methods, err = mappedMethods(s.mapping)
	}
	return err
}

// dispatchID is no method's ID but the message dispatch's; every tracegen mapping holds it.
const dispatchID = "1048574,"

func mappedMethods(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "#") && !strings.HasPrefix(lines.Text(), dispatchID) {
			n++
		}
	}
	return n, lines.Err()
}

// spread returns the least, the median and the greatest of what a function reads from the runs.
func (s *series) spread(of func(run) float64) (low, median, high float64) {
	values := make([]float64, len(s.runs))
	for i, r := range s.runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	n := len(values)
	return values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]
}
