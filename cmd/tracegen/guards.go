package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/report"
)

// guards are the flags that say which outcomes make the exit code 1. A limit that is given is asked for by that;
// --fail-on asks for it with its default, or, for a digest, with that of the base.
type guards struct {
	failOn       failOn
	maxGrowth    limit // percent of the bytes of class files
	minRatio     limit // of the base's methods
	maxCalls     limit // percent of the calls of the base report
	expectDigest string
	baseReport   string

	baseline *report.Baseline // from baseReport
}

func (g *guards) options() []option {
	g.maxGrowth = limit{value: 25, unit: "PERCENT"}
	g.minRatio = limit{value: 0.9, unit: "R"}
	g.maxCalls = limit{value: 5, unit: "PERCENT"}
	return grouped("Guards (a limit that is given is asked for by that)",
		option{name: "fail-on", flag: custom(&g.failOn), commands: byInstrument | byAssign, omit: inNoRecord,
			help: "exit with 1, once all is written, if a class came out wrong and was put back (introduced), if one was left " +
				"alone for being wrong (unverifiable), or if a limit is crossed, its default unless it is given (growth, " +
				"ratio, calls, digest); repeatable",
			helpIn: map[command]string{
				byAssign: "exit with 1, once all is written, if a class was left alone for being wrong (introduced, " +
					"unverifiable), or if a limit is crossed (ratio, digest); repeatable",
			}},
		option{name: "max-growth", flag: custom(&g.maxGrowth), commands: byInstrument, omit: inNoRecord,
			help: "by how much the class files may grow (25)"},
		option{name: "min-methods-ratio", flag: custom(&g.minRatio), commands: byInstrument | byAssign, omit: inNoRecord,
			help: "how many methods must be traced, as a ratio to those of --base (0.9)"},
		option{name: "max-calls-growth", flag: custom(&g.maxCalls), commands: byInstrument, omit: inNoRecord,
			help: "how many calls a package may gain since --base-report, in percent of all there were (5)"},
		option{name: "base-report", flag: text(&g.baseReport, ""), commands: byInstrument, omit: inNoRecord,
			file: fileRead, extensions: []string{"json"},
			help: "`FILE` that --report wrote in an earlier build"},
		option{name: "expect-digest", flag: text(&g.expectDigest, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			help: "the `DIGEST` that the mapping must have (that of --base)"},
	)
}

// guard is one of them: the word for it, whether a flag of its own asks for it, and what it finds.
type guard struct {
	name  string
	asked func(g *guards) bool
	check func(g *guards, run *report.Run) report.Guard
}

func never(*guards) bool { return false }

// allGuards are in the order in which they are told.
var allGuards = []guard{
	{"introduced", never, func(_ *guards, run *report.Run) report.Guard { return run.GuardIntroduced() }},
	{"unverifiable", never, func(_ *guards, run *report.Run) report.Guard { return run.GuardUnverifiable() }},
	{"growth", func(g *guards) bool { return g.maxGrowth.given },
		func(g *guards, run *report.Run) report.Guard { return run.GuardGrowth(g.maxGrowth.value) }},
	{"ratio", func(g *guards) bool { return g.minRatio.given },
		func(g *guards, run *report.Run) report.Guard { return run.GuardRatio(g.minRatio.value) }},
	{"calls", func(g *guards) bool { return g.maxCalls.given },
		func(g *guards, run *report.Run) report.Guard { return run.GuardCalls(g.maxCalls.value, g.baseline) }},
	{"digest", func(g *guards) bool { return g.expectDigest != "" },
		func(g *guards, run *report.Run) report.Guard {
			want := g.expectDigest
			if want == "" {
				want = run.Base.Digest()
			}
			return run.GuardDigest(want)
		}},
}

// asks says whether the guard of that name is asked for.
func (g *guards) asks(name string) bool {
	if slices.Contains(g.failOn, name) {
		return true
	}
	return slices.ContainsFunc(allGuards, func(other guard) bool { return other.name == name && other.asked(g) })
}

// checkBases checks that what the guards compare with is there. base is the value of --base.
func (g *guards) checkBases(base string) error {
	switch {
	case g.asks("ratio") && base == "":
		return misuse("--min-methods-ratio and --fail-on ratio need --base, to compare with")
	case g.asks("digest") && g.expectDigest == "" && base == "":
		return misuse("--fail-on digest needs --expect-digest or --base, to compare with")
	case g.asks("calls") && g.baseReport == "":
		return misuse("--max-calls-growth and --fail-on calls need --base-report, to compare with")
	case !g.asks("calls") && g.baseReport != "":
		return misuse("--base-report is there for --max-calls-growth and --fail-on calls: give one of them")
	case g.expectDigest != "" && (len(g.expectDigest) != 16 || strings.Trim(g.expectDigest, "0123456789abcdef") != ""):
		return misuse("--expect-digest %q: a digest has 16 digits, 0 to 9 and a to f", g.expectDigest)
	}
	return nil
}

// read reads the report to compare with.
func (g *guards) read() error {
	if g.baseReport == "" {
		return nil
	}
	f, err := os.Open(g.baseReport)
	if err != nil {
		return fmt.Errorf("--base-report: %w", err)
	}
	defer f.Close()
	if g.baseline, err = report.ReadBaseline(f); err != nil {
		return fmt.Errorf("--base-report: %s: %w", g.baseReport, err)
	}
	return nil
}

// check gives what was asked for, and what is so.
func (g *guards) check(run *report.Run) (list []report.Guard) {
	for _, guard := range allGuards {
		if g.asks(guard.name) {
			list = append(list, guard.check(g, run))
		}
	}
	return list
}

// failedGuards returns the answer that was asked for. Everything has been written by then.
func failedGuards(guards []report.Guard) error {
	var failed []error
	for _, g := range guards {
		if g.Failed {
			failed = append(failed, errors.New(g.String()))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return answer{errors.Join(failed...)}
}

// failOn is the flag that asks for guards by name.
type failOn []string

func (failOn) names() []string {
	names := make([]string, len(allGuards))
	for i, g := range allGuards {
		names[i] = g.name
	}
	return names
}

// Set implements pflag.Value. It may be called several times.
func (f *failOn) Set(text string) error {
	if !slices.Contains(f.names(), text) {
		return fmt.Errorf("must be one of %s", strings.Join(f.names(), ", "))
	}
	*f = append(*f, text)
	return nil
}

// String implements pflag.Value.
func (f *failOn) String() string { return strings.Join(*f, ",") }

// Type implements pflag.Value.
func (f *failOn) Type() string { return "GUARD" }

// limit is a flag that holds a number, not negative, and knows whether it was given.
type limit struct {
	value float64
	unit  string
	given bool
}

var _ pflag.Value = (*limit)(nil)

// Set implements pflag.Value.
func (l *limit) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return errors.New("must be a number that is not negative")
	}
	l.value, l.given = v, true
	return nil
}

// String implements pflag.Value. What was not given is no default: it is not asked for.
func (l *limit) String() string {
	if !l.given {
		return ""
	}
	return strconv.FormatFloat(l.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (l *limit) Type() string { return l.unit }
