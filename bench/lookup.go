package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/mapping"
)

// mappingCommand makes this program write the mapping for the look-ups. It runs in a process of its own, because the
// memory that it uses would be counted for every process that is started afterwards.
const mappingCommand = "mapping"

// mappingMain writes a mapping with every ID taken, 100 bytes per line, to the given file.
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

// questions are the arguments of the look-ups. The first asks nothing; the others are compared with it.
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
	{"two names (loads the mapping)", []string{"com.example.app.feature152.Presenter6100#method3",
		"com.example.app.feature152.Presenter6100#method4"}},
}

const lookupCommand = "lookup"

// lookupMain measures look-ups in a full mapping:
//
//	go run ./bench lookup -runs 21
func lookupMain(args []string) error {
	flags := flag.NewFlagSet(lookupCommand, flag.ContinueOnError)
	runs := flags.Int("runs", 21, "measured `rounds`")
	tool := flags.String("tracegen", "./tracegen", "the tracegen `executable`")
	out := flags.String("o", today(), "`directory` for lookup.md and lookup.tsv")
	if err := flags.Parse(args); err != nil {
		return err
	}
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
		all[i] = series{row: row{input: file, name: q.name}, contestant: contestant{command: func(job) *exec.Cmd {
			return exec.Command(*tool, args...)
		}}}
	}
	for n := range *runs {
		fmt.Fprintf(os.Stderr, "bench: look-ups: round %d of %d\n", n+1, *runs)
		for i := range all {
			if all[i].once(); all[i].failed != nil {
				return all[i].failed
			}
		}
	}
	table := func(w io.Writer) error { return printLookups(w, all, *runs) }
	if err := table(os.Stdout); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(*out, "lookup.md"), table); err != nil {
		return err
	}
	return writeFile(filepath.Join(*out, "lookup.tsv"), func(w io.Writer) error { return printLookupRuns(w, all) })
}

func (s *series) lines() int { return strings.Count(s.said, "\n") }

func printLookups(w io.Writer, all []series, runs int) error {
	info, err := os.Stat(all[0].input)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# Measured %s, %d runs each, interleaved: min-**median**-max\n\n",
		time.Now().UTC().Format("2006-01-02"), runs)
	for _, c := range conditions() {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, "\n## look-ups in a mapping of %d methods, %.1f MB\n\n", mapping.Capacity, float64(info.Size())/mega)
	fmt.Fprintln(w, "| question | lines found | wall ms | user ms | user+sys ms | peak MB | user ms beyond version | "+
		"user+sys ms beyond | peak MB beyond |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	milli := func(of func(run) time.Duration) func(run) float64 {
		return func(r run) float64 { return of(r).Seconds() * 1000 }
	}
	var start [3]float64
	for i, s := range all {
		low, wall, high := s.spread(milli(func(r run) time.Duration { return r.wall }))
		_, user, _ := s.spread(milli(func(r run) time.Duration { return r.user }))
		_, cpu, _ := s.spread(milli(run.cpu))
		_, peak, _ := s.spread(peakMB)
		if i == 0 {
			start = [3]float64{user, cpu, peak}
		}
		fmt.Fprintf(w, "| %s | %d | %.1f-**%.1f**-%.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", s.name, s.lines(),
			low, wall, high, user, cpu, peak, user-start[0], cpu-start[1], peak-start[2])
	}
	return nil
}

func printLookupRuns(w io.Writer, all []series) error {
	b := bufio.NewWriter(w)
	for _, c := range conditions() {
		fmt.Fprintf(b, "# %s\n", c)
	}
	fmt.Fprintln(b, "question\trun\twall_s\tuser_s\tsys_s\tpeak_bytes\tlines")
	for _, s := range all {
		for i, r := range s.runs {
			fmt.Fprintf(b, "%s\t%d\t%.4f\t%.4f\t%.4f\t%d\t%d\n", s.name, i+1, r.wall.Seconds(), r.user.Seconds(),
				r.sys.Seconds(), r.peak, s.lines())
		}
	}
	return b.Flush()
}
