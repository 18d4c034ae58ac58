// Command bench measures tracegen, other tools that do the same, and the floor: the cost of unzipping and zipping
// alone.
//
//	go run ./bench                             everything, 5 rounds, into bench/runs/DATE
//	go run ./bench -runs 3 -only '^(tracegen|floor)$' some.jar guava-33.4.8-jre corpus
//	go run ./bench stored:kotlin-compiler-1.3.31    a copy of that jar whose entries are stored
//	go run ./bench show bench/runs/DATE README.md    page and README's table of a run, once more
//	go run ./bench warm                        builds with --cache after small changes
//	go run ./bench truth                       programs of very many calls: what recording costs and says, beside JFR
//	go run ./bench libraries                   what the lists about libraries decide, beside a recording
//	go run ./bench fleet                       collectors, the table that they write, and what reads it
//
// Inputs and peers are rows of bench/corpora.tsv and are fetched by Maven; "corpus" is all released jars of it in one
// run. An input behind "stored:" is the copy of these jars in which no entry is deflated: Android's Gradle plugin
// passes such jars from one step of a build to the next. Whole processes are compared, from start to exit, as a build
// uses them: wall time, CPU time, peak memory. Only rows called warm are of the last of several runs in a process. All
// runs of an input are made in rounds with one run of each contestant, so that a noisy minute of the machine affects
// all of them. The outputs show that all did the same work: classes changed, lines of the mapping, calls, bytes.
//
// A figure is made as follows. series.once runs contestant.command; inspect reads the last output; both go into a
// record, which is a file with a line for every run. Tables and the README's section are made from the record alone.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// corpusInput is the input of all released jars of bench/corpora.tsv. It leaves out the modules of JDKs in that list,
// because they differ between machines.
const corpusInput = "corpus"

// storedPrefix is in front of the name of an input whose jars are stored copies.
const storedPrefix = "stored:"

// defaultInputs are a big jar, made by Kotlin, javac and ProGuard, its stored copy, one of big classes, made by Scala,
// and the corpus.
func defaultInputs() []string {
	const big = "kotlin-compiler-embeddable-2.2.20"
	return []string{big, storedPrefix + big, "scala-library-2.13.16", corpusInput}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := dispatch(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// dispatch runs the command that the first argument names: a command for users, or one that this program runs in a
// process of its own. Without a command it measures.
func dispatch(ctx context.Context, args []string) error {
	if len(args) > 0 {
		rest := args[1:]
		switch args[0] {
		case showCommand:
			return showMain(rest)
		case floorCommand:
			return floorMain(rest)
		case warmCommand:
			return warmMain(ctx, rest)
		case truthCommand:
			return truthMain(ctx, rest)
		case fleetCommand:
			return fleetMain(ctx, rest)
		case scopeCommand:
			return scopeMain(ctx, rest)
		case changesCommand:
			return changesMain(rest)
		case legibleCommand:
			return legibleMain(rest)
		case storedCommand:
			return storedMain(rest)
		}
	}
	return benchMain(ctx, args)
}

// benchMain measures.
func benchMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	runs := flags.Int("runs", 5, "measured `rounds`; slow rows run in the first ones only")
	only := flags.String("only", "", "measure contestants whose name matches this `regexp`")
	tool := flags.String("tracegen", "", "the tracegen `executable`; empty: built here")
	out := flags.String("o", today(), "`directory` for the record and the page")
	scratch := flags.String("scratch", "", "`directory` for outputs, some GB; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil || *runs < 1 {
		return cmp.Or(err, errors.New("-runs must be at least 1"))
	}
	dir, err := os.MkdirTemp(*scratch, "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	corpora, err := corpus.Load()
	if err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		names = defaultInputs()
	}
	all, err := chooseContestants(ctx, corpora, dir, *tool, pattern)
	if err != nil {
		return err
	}
	r := &record{conditions: conditions()}
	failed := r.measure(ctx, corpora, all, names, dir, *runs)
	if len(r.rows) == 0 {
		return errors.New("nothing was measured, nothing is written")
	}
	r.printTables(os.Stdout)
	if err := r.publish(*out); err != nil || failed == 0 {
		return err
	}
	return fmt.Errorf("%d rows failed", failed)
}

// lineup is the contestants, and the tracegen to measure.
type lineup struct {
	tool        string
	contestants []contestant
}

// chooseContestants builds tracegen, if none is given, and finds the peers if the pattern matches any of them.
func chooseContestants(ctx context.Context, corpora *corpus.Corpus, dir, tool string,
	pattern *regexp.Regexp) (lineup, error) {
	if tool == "" {
		built, err := buildTool(ctx, dir)
		if err != nil {
			return lineup{}, err
		}
		tool = built
	}
	all, err := contestants(tool, findPeers(ctx, corpora, filepath.Join(dir, "drivers")))
	if err != nil {
		return lineup{}, err
	}
	l := lineup{tool: tool}
	for _, c := range all {
		if pattern.MatchString(c.name) {
			l.contestants = append(l.contestants, c)
		}
	}
	return l, nil
}

// measure measures all inputs and returns the number of rows that failed. An interrupted measurement keeps the rows
// that are complete. Outputs are inspected after the last run of all, because memory that this process has used is
// counted for every process that it starts afterwards (on Linux, ru_maxrss survives exec).
func (r *record) measure(ctx context.Context, corpora *corpus.Corpus, l lineup, names []string, dir string,
	runs int) (failed int) {
	w := startWatch()
	var all []*series
	for i, name := range names {
		in, err := findInput(ctx, corpora, name)
		if err == nil {
			var measured []*series
			measured, err = measureAll(ctx, l, in, filepath.Join(dir, fmt.Sprint(i)), runs)
			all = append(all, measured...)
		}
		if err != nil {
			notMeasured(name, err)
		}
	}
	r.conditions = append(r.conditions, w.conditions()...)
	if ctx.Err() != nil {
		r.conditions = append(r.conditions, "interrupted: rows and rounds are missing")
	}
	for _, s := range all {
		if s.inspect(); s.failed != nil {
			failed++
		}
		r.rows = append(r.rows, s.row)
	}
	return failed
}

// findInput returns the jars of an input. A name that is not a file is a row of bench/corpora.tsv, which is fetched if
// necessary, or the corpus. With storedPrefix in front of the name, [prepare] makes stored copies of the jars.
func findInput(ctx context.Context, corpora *corpus.Corpus, name string) (input, error) {
	if _, err := os.Stat(name); err == nil {
		return input{name: filepath.Base(name), jars: []string{name}}, nil
	}
	if original, found := strings.CutPrefix(name, storedPrefix); found {
		in, err := findInput(ctx, corpora, original)
		in.name, in.stored = storedPrefix+in.name, true
		return in, err
	}
	rows := []string{name}
	if name == corpusInput {
		rows = corpora.Names(true)
	}
	in := input{name: name}
	jars, err := corpora.Fetch(ctx, rows...)
	if err != nil {
		return in, err
	}
	for _, jar := range jars {
		if strings.HasPrefix(jar.Source, "maven:") {
			in.jars = append(in.jars, jar.Classes)
		}
	}
	return in, nil
}
