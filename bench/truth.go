package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/dense"
)

// truthCommand compares what recordings say about programs with what JFR says.
const truthCommand = "truth"

// Files of the record. The first has a line for each program on each JDK, the second one for each of their methods.
const (
	truthFile   = "truth.tsv"
	methodsFile = "truth-methods.tsv"
)

// truthMain runs the programs of package dense:
//
//	go run ./bench truth -runs 3 -only '^(h2|rhino)$'
//
// A program that the record has is not measured again. So the command goes on where it was interrupted.
func truthMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(truthCommand, flag.ContinueOnError)
	rounds := flags.Int("runs", 3, "measured `rounds`")
	only := flags.String("only", "", "measure programs whose name matches this `regexp`")
	releases := flags.String("jdk", "", "run on the JDKs whose release matches this `regexp`; empty: 17 and the newest")
	again := flags.Bool("again", false, "measure what the record has once more")
	out := flags.String("o", today(), "`directory` of truth.md, truth.tsv and truth-methods.tsv")
	scratch := flags.String("scratch", "", "`directory` for programs and recordings, 1 GB; empty: the system's")
	cpu := flags.Bool("cpu", true, "measure the CPU time too, which takes two more runs in each round")
	keep := flags.Bool("keep", false, "keep programs, mappings and recordings")
	tool := flags.String("tracegen", "", "the tracegen `executable`; empty: built here")
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
	if !*keep {
		defer os.RemoveAll(dir)
	}
	if *tool == "" {
		built, err := buildTool(ctx, dir)
		if err != nil {
			return err
		}
		*tool = built
	}
	t := &truth{out: *out, tool: *tool, rounds: *rounds, cpu: *cpu}
	if err := t.read(); err != nil {
		return err
	}
	var failed []error
	for _, p := range dense.Programs() {
		for _, jdk := range jdks {
			release := strconv.Itoa(jdk.Feature)
			if !names.MatchString(p.Name) || !wanted.MatchString(release) || t.has(p.Name, release) && !*again {
				continue
			}
			below := filepath.Join(dir, p.Name+"-"+release)
			err := t.measure(ctx, p, jdk, corpora, below)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !*keep {
				err = errors.Join(err, os.RemoveAll(below))
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

// truth is the record.
type truth struct {
	out, tool string
	rounds    int
	cpu       bool                  // is measured
	lines     map[string][][]string // by the name of a file; a line begins with the program and the release of the JDK
}

// columns of the files.
func (t *truth) columns(name string) []string {
	if name == methodsFile {
		return strings.Fields("program jdk kind method ours low high jfr1 jfr2 ours_same_run jfr_same_run")
	}
	list := strings.Fields("program jdk date rounds plain_s unsampled recorded records let_go methods_off lost samples " +
		"lines jfr_samples broken bounds held bounds_same_run held_same_run")
	for _, k := range dense.Kinds {
		for _, c := range strings.Fields("mean noise chance same_run right first share in_jfr jfr_first jfr_share doubt") {
			list = append(list, string(k)+"_"+c)
		}
	}
	return list
}

// read reads the record, if there is one.
func (t *truth) read() error {
	t.lines = map[string][][]string{}
	for _, name := range []string{truthFile, methodsFile} {
		data, err := os.ReadFile(filepath.Join(t.out, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			cells := strings.Split(line, "\t")
			if strings.HasPrefix(line, "#") || cells[0] == "program" {
				continue
			}
			if len(cells) != len(t.columns(name)) {
				return fmt.Errorf("%s: a line has %d columns, want %d: use another directory", name, len(cells),
					len(t.columns(name)))
			}
			t.lines[name] = append(t.lines[name], cells)
		}
	}
	return nil
}

func (t *truth) has(program, release string) bool {
	return slices.ContainsFunc(t.lines[truthFile], func(c []string) bool { return c[0] == program && c[1] == release })
}

// put replaces the lines of a program on a JDK, and writes the files.
func (t *truth) put(program, release string, lines map[string][][]string) error {
	for name, list := range lines {
		kept := slices.DeleteFunc(t.lines[name], func(c []string) bool { return c[0] == program && c[1] == release })
		t.lines[name] = append(kept, list...)
		if err := t.write(name, func(w io.Writer) {
			for _, c := range conditions() {
				fmt.Fprintf(w, "# %s\n", c)
			}
			for _, cells := range append([][]string{t.columns(name)}, t.lines[name]...) {
				fmt.Fprintln(w, strings.Join(cells, "\t"))
			}
		}); err != nil {
			return err
		}
	}
	return t.write("truth.md", t.print)
}

func (t *truth) write(name string, content func(io.Writer)) error {
	return writeFile(filepath.Join(t.out, name), func(w io.Writer) error { content(w); return nil })
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
	lines := 0
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
			if way == dense.Recording {
				if lines, err = t.length(ctx, program, one.File); err != nil {
					return err
				}
			}
		}
	}
	result := t.result(apart, together)
	f := apart.recorded[len(apart.recorded)-1]
	plain, unsampled, recorded := 0.0, 0.0, 0.0
	if t.cpu {
		plain = cpu[dense.Plain].median(cpuSeconds)
		unsampled = cpu[dense.Unsampled].median(cpuSeconds) / plain
		recorded = cpu[dense.Recording].median(cpuSeconds) / plain
	}
	line := []string{p.Name, strconv.Itoa(jdk.Feature), time.Now().UTC().Format("2006-01-02 15:04"),
		strconv.Itoa(t.rounds), number(plain), number(unsampled), number(recorded), fmt.Sprint(f.Records),
		fmt.Sprint(f.Gated + f.Windowed),
		strconv.Itoa(len(f.Off)), fmt.Sprint(f.Lost), fmt.Sprint(f.Samples), strconv.Itoa(lines)}
	var methods [][]string
	for _, m := range result.methods {
		methods = append(methods, append(slices.Clone(line[:2]), m...))
	}
	if err := t.put(line[0], line[1], map[string][][]string{truthFile: {append(line, result.cells...)},
		methodsFile: methods}); err != nil {
		return err
	}
	fmt.Println(t.row(t.lines[truthFile][len(t.lines[truthFile])-1]))
	return nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

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

// length returns how many lines the answer has.
func (t *truth) length(ctx context.Context, program *dense.Prepared, file string) (int, error) {
	var mapping bytes.Buffer
	if _, err := program.Mapping.WriteTo(&mapping); err != nil {
		return 0, err
	}
	path := file + ".mapping.txt"
	if err := os.WriteFile(path, mapping.Bytes(), 0o644); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, t.tool, "analyze", file, "--mapping", path)
	cmd.Dir = filepath.Dir(file)
	text, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("tracegen analyze: %w", err)
	}
	return bytes.Count(text, []byte("\n")), nil
}

// truthResult is what is behind the first columns.
type truthResult struct {
	cells   []string
	methods [][]string // without program and JDK
}

// result compares the recordings with JFR: those of their own runs, and those that had JFR in the same run.
func (t *truth) result(apart, together *sides) *truthResult {
	r := &truthResult{}
	var jfr [2]*dense.Profile
	for n, p := range apart.jfr {
		if jfr[n%2] == nil {
			jfr[n%2] = p
		} else {
			jfr[n%2].Add(p)
		}
	}
	both := [2]*dense.Profile{together.jfr[0], together.jfr[0]}
	var bounds, held, boundsSame, heldSame int
	var kinds []string
	for _, k := range dense.Kinds {
		var mean, same float64
		right := 0
		var last *dense.Comparison
		for n, f := range apart.recorded {
			last = dense.Compare(k, f.Profile, f.Samples, jfr)
			mean += last.Rest / float64(len(apart.recorded))
			if last.Right() {
				right++
			}
			of := together.jfr[n]
			in := together.recorded[n]
			same += dense.Compare(k, in.Profile, in.Samples, [2]*dense.Profile{of, of}).Rest / float64(len(together.jfr))
			checked, inside := dense.Bounds(k, f.Profile, jfr)
			bounds, held = bounds+checked, held+inside
			checked, inside = dense.Bounds(k, in.Profile, [2]*dense.Profile{of, of})
			boundsSame, heldSame = boundsSame+checked, heldSame+inside
		}
		kinds = append(kinds, number(mean), number(last.Noise), number(last.Chance), number(same), fmt.Sprintf("%d/%d", right,
			len(apart.recorded)), string(last.First), number(last.FirstShare), number(last.FirstInJFR),
			string(last.FirstOfJFR), number(last.BestInJFR), number(last.Doubt))
		ours, inRun := apart.recorded[0].Profile, together.recorded[0].Profile
		shown := map[dense.Method]bool{}
		for _, p := range []*dense.Profile{ours, jfr[0], both[0]} {
			for _, m := range p.Biggest(k, dense.Top, func(dense.Method) bool { return true }) {
				shown[m] = true
			}
		}
		for _, m := range slices.Sorted(maps.Keys(shown)) {
			low, high := ours.Bounds(k, m)
			cells := []string{string(k), string(m)}
			for _, x := range []float64{ours.Share(k, m), low, high, jfr[0].Share(k, m), jfr[1].Share(k, m),
				inRun.Share(k, m), both[0].Share(k, m)} {
				cells = append(cells, number(x))
			}
			r.methods = append(r.methods, cells)
		}
	}
	r.cells = append([]string{fmt.Sprint(jfr[0].Total + jfr[1].Total), fmt.Sprint(jfr[0].Broken + jfr[1].Broken),
		strconv.Itoa(bounds), strconv.Itoa(held), strconv.Itoa(boundsSame), strconv.Itoa(heldSame)}, kinds...)
	return r
}

// print writes the table.
func (t *truth) print(w io.Writer) {
	fmt.Fprintf(w, `# What recordings say about programs, beside JFR

Mean absolute difference from JFR of the %d biggest methods, in points of percent, without methods of more than %d %% on
both sides. *noise* is that of two runs of JFR, and what the numbers of samples explain. *same run* is the difference
from JFR in the process that was recorded: what is left if recording changes nothing. *inclusive* and *self* are of
traced methods, *own* also of libraries and the JDK. *first* is in how many recordings our first method is JFR's, as far
as JFR knows. *bounds* is how many of the shares that are estimates have JFR's inside their bounds, and the same in the
same run. CPU time of the recorded program, without and with steady samples, is a multiple of the plain one's.

| program | JDK | inclusive | noise | same run | self | noise | same run | own | noise | same run | `+
		`first: inclusive, self, own | our first own, JFR's | bounds | CPU unsampled | CPU | lines | let go | `+
		`methods off | samples | JFR's | broken |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
`, dense.Top, dense.Nearly)
	for _, cells := range t.lines[truthFile] {
		fmt.Fprintln(w, t.row(cells))
	}
}

// row is the line of the table of a program.
func (t *truth) row(cells []string) string {
	of := map[string]string{}
	for k, c := range t.columns(truthFile) {
		of[c] = cells[k]
	}
	list := []string{of["program"], of["jdk"]}
	var right []string
	for _, k := range dense.Kinds {
		list = append(list, of[string(k)+"_mean"], fmt.Sprintf("%s, %s", of[string(k)+"_noise"], of[string(k)+"_chance"]),
			of[string(k)+"_same_run"])
		right = append(right, of[string(k)+"_right"])
	}
	short := func(column string) string { return "`" + dense.Method(of[column]).Short() + "`" }
	list = append(list, strings.Join(right, ", "), fmt.Sprintf("%s %s, %s %s", short("own_first"), of["own_share"],
		short("own_jfr_first"), of["own_jfr_share"]), fmt.Sprintf("%s/%s, %s/%s", of["held"], of["bounds"],
		of["held_same_run"], of["bounds_same_run"]), of["unsampled"], of["recorded"], of["lines"], of["let_go"],
		of["methods_off"], of["samples"], of["jfr_samples"], of["broken"])
	return "| " + strings.Join(list, " | ") + " |"
}
