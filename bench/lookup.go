package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/mapping"
)

// mappingCommand makes this program write the mapping that look-ups are measured on: in a process of its own, as
// the memory for it would be charged to every process that is started afterwards.
const mappingCommand = "mapping"

// mappingMain writes a mapping with every ID taken, 100 bytes a line, to the file that it is given.
func mappingMain(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: mapping FILE")
	}
	methods := make([]mapping.Method, mapping.Capacity)
	for i := range methods {
		class := fmt.Sprintf("com/example/app/feature%d/Presenter%d", i/640%640, i/16)
		methods[i] = mapping.Method{Access: 1, Identity: mapping.Identity{
			Class: class, Name: fmt.Sprintf("method%d", i%16), Descriptor: "(Landroid/content/Context;I)Ljava/lang/Object;",
		}}
	}
	m, err := mapping.Assign(methods, mapping.Options{})
	if err != nil {
		return err
	}
	f, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := m.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

// questions are what a look-up is asked; the first asks nothing, and is what the others are compared with.
var questions = []struct {
	name string
	args []string
}{
	{"tracegen version", nil},
	{"ID", []string{"524287"}},
	{"range of 1,000 IDs", []string{"400000-400999"}},
	{"exact name", []string{"com.example.app.feature152.Presenter6100#method3"}},
	{"class", []string{"com.example.app.feature152.Presenter6100"}},
	{"glob", []string{"com.example.**.Presenter77*#method1"}},
	{"regexp", []string{`/Presenter77\d+ method1 /`}},
	{"regexp without case", []string{`/(?i)presenter77\d+ METHOD1 /`}},
	{"regexp without a text to look for", []string{`/\.[^.]+77\d [^ ]+1[0-2] /`}},
	{"two names (loads the mapping)", []string{"com.example.app.feature152.Presenter6100#method3", "com.example.app.feature152.Presenter6100#method4"}},
}

// benchLookups measures look-ups in a full mapping.
func benchLookups(runs int, tool, results string) error {
	dir, err := os.MkdirTemp("", "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "methodMapping.txt")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err := exec.Command(self, mappingCommand, file).CombinedOutput(); err != nil {
		return fmt.Errorf("writing a mapping: %w\n%s", err, out)
	}
	if err := warm(file); err != nil {
		return err
	}
	all := make([]series, len(questions))
	for i, q := range questions {
		args := []string{"version"}
		if i > 0 {
			args = append([]string{"lookup", "--mapping", file}, q.args...)
		}
		all[i] = series{jar: file, contestant: contestant{name: q.name, command: func(string, string, string) *exec.Cmd {
			return exec.Command(tool, args...)
		}}}
	}
	for n := range runs {
		fmt.Fprintf(os.Stderr, "bench: look-ups: round %d of %d\n", n+1, runs)
		for i := range all {
			r, err := all[i].once()
			if err != nil {
				return err
			}
			all[i].runs = append(all[i].runs, r)
		}
	}
	return publish(all, runs, results, "-lookup", printLookups, printLookupRuns)
}

func (s *series) lines() int { return strings.Count(s.said, "\n") }

func printLookups(w io.Writer, all []series, runs int) {
	info, err := os.Stat(all[0].jar)
	if err != nil {
		return
	}
	fmt.Fprintf(w, "# Measured %s, %d runs each, interleaved: min-**median**-max\n\n", time.Now().UTC().Format("2006-01-02"), runs)
	for _, c := range conditions() {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, "\n## look-ups in a mapping of %d methods, %.1f MB\n\n", mapping.Capacity, float64(info.Size())/mega)
	fmt.Fprintln(w, "| question | lines found | wall ms | user ms | user+sys ms | peak MB | user ms beyond version | user+sys ms beyond | peak MB beyond |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	milli := func(of func(run) time.Duration) func(run) float64 {
		return func(r run) float64 { return of(r).Seconds() * 1000 }
	}
	var start [3]float64
	for i, s := range all {
		low, wall, high := s.spread(milli(func(r run) time.Duration { return r.wall }))
		_, user, _ := s.spread(milli(func(r run) time.Duration { return r.user }))
		_, cpu, _ := s.spread(milli(run.cpu))
		_, peak, _ := s.spread(func(r run) float64 { return float64(r.peak) / mega })
		if i == 0 {
			start = [3]float64{user, cpu, peak}
		}
		fmt.Fprintf(w, "| %s | %d | %.1f-**%.1f**-%.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", s.contestant.name, s.lines(),
			low, wall, high, user, cpu, peak, user-start[0], cpu-start[1], peak-start[2])
	}
}

func printLookupRuns(w io.Writer, all []series) error {
	b := bufio.NewWriter(w)
	for _, c := range conditions() {
		fmt.Fprintf(b, "# %s\n", c)
	}
	fmt.Fprintln(b, "question\trun\twall_s\tuser_s\tsys_s\tpeak_bytes\tlines")
	for _, s := range all {
		for i, r := range s.runs {
			fmt.Fprintf(b, "%s\t%d\t%.4f\t%.4f\t%.4f\t%d\t%d\n", s.contestant.name, i+1, r.wall.Seconds(), r.user.Seconds(), r.sys.Seconds(), r.peak, s.lines())
		}
	}
	return b.Flush()
}
