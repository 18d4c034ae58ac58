package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const mega = 1e6

// publish prints the tables and keeps them, with every run, in the results directory, under a name that ends in suffix.
func publish(all []series, runs int, dir, suffix string, table func(io.Writer, []series, int), each func(io.Writer, []series) error) error {
	var tables strings.Builder
	table(&tables, all, runs)
	fmt.Print(tables.String())
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s-%s-%dcpu", time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()) + suffix
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".md", []byte(tables.String()), 0o644); err != nil {
		return err
	}
	f, err := os.Create(path + ".tsv")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := each(f, all); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "bench: wrote %s.md and .tsv\n", path)
	return f.Close()
}

// conditions says what must be known to read the figures.
func conditions() []string {
	return []string{
		"machine: " + cpuModel() + fmt.Sprintf(", %d CPUs, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		"source: " + firstLine("git", "describe", "--always", "--dirty"),
		"go: " + runtime.Version(),
		"java: " + firstLine("java", "-version"),
	}
}

func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

func printTables(w io.Writer, all []series, runs int) {
	fmt.Fprintf(w, "# Measured %s, %d runs each, interleaved: min-**median**-max\n\n", time.Now().UTC().Format("2006-01-02"), runs)
	for _, c := range conditions() {
		fmt.Fprintf(w, "- %s\n", c)
	}
	jar := ""
	for _, s := range all {
		if s.jar != jar {
			jar = s.jar
			fmt.Fprintf(w, "\n## %s (%d classes, %.1f MB inflated)\n\n", filepath.Base(jar), s.work.classes, float64(s.work.before)/mega)
			fmt.Fprintln(w, "| what | wall s | CPU s | peak MB | classes changed | methods | growth % | output MB |")
			fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
		}
		low, wall, high := s.spread(func(r run) float64 { return r.wall.Seconds() })
		_, cpu, _ := s.spread(func(r run) float64 { return r.cpu().Seconds() })
		_, peak, _ := s.spread(func(r run) float64 { return float64(r.peak) / mega })
		growth := 100 * float64(s.work.after-s.work.before) / float64(max(s.work.before, 1))
		fmt.Fprintf(w, "| %s | %.2f-**%.2f**-%.2f | %.2f | %.0f | %d | %d | %.2f | %.2f |\n",
			s.contestant.name, low, wall, high, cpu, peak, s.work.changed, s.work.methods, growth, float64(s.work.size)/mega)
	}
}

func printRuns(w io.Writer, all []series) error {
	for _, c := range conditions() {
		fmt.Fprintf(w, "# %s\n", c)
	}
	fmt.Fprintln(w, "jar\tcontestant\trun\twall_s\tuser_s\tsys_s\tpeak_bytes\tclasses_changed\tmethods\tclass_bytes_in\tclass_bytes_out\toutput_bytes")
	for _, s := range all {
		for i, r := range s.runs {
			_, err := fmt.Fprintf(w, "%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%d\t%d\t%d\t%d\t%d\t%d\n", filepath.Base(s.jar), s.contestant.name, i+1,
				r.wall.Seconds(), r.user.Seconds(), r.sys.Seconds(), r.peak, s.work.changed, s.work.methods, s.work.before, s.work.after, s.work.size)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
