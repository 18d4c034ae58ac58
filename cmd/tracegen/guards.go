package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/gz"
)

// guards holds the options of the guards, which make the exit code 1. Setting a limit enables its guard; --fail-on
// enables it with its default limit, which is the digest of the base mapping for the guard on digests.
type guards struct {
	failOn       failOn
	maxGrowth    limit // percent of the bytes of class files
	minRatio     limit // of the base's methods
	minShare     limit // likewise
	maxCalls     limit // percent of the calls of the base report
	expectDigest string
	baseReport   string

	baseline *buildreport.Baseline // from baseReport
}

func (g *guards) options() []option {
	g.maxGrowth = limit{value: 25, unit: "PERCENT"}
	g.minRatio = limit{value: 0.9, unit: "R"}
	g.minShare = limit{value: buildreport.LeastBaseShare, unit: "R"}
	g.maxCalls = limit{value: 5, unit: "PERCENT"}
	return grouped("Guards (setting a limit enables its guard)",
		option{name: "fail-on", flag: custom(&g.failOn), commands: byInstrument | byAssign, omit: inNoRecord,
			help: "enable a guard: after everything has been written, exit with 1 if a rewritten class was rejected " +
				"(introduced), if any class was left as it is because a check failed (unverifiable), or if a limit " +
				"is exceeded, the default unless it is set (growth, ratio, base, calls, digest); repeatable",
			helpIn: map[command]string{
				byAssign: "enable a guard: after everything has been written, exit with 1 if any class is left as " +
					"it is because a check failed (introduced, unverifiable), or if a limit is exceeded (ratio, " +
					"base, digest); repeatable",
			}},
		option{name: "max-growth", flag: custom(&g.maxGrowth), commands: byInstrument, omit: inNoRecord,
			help: "largest allowed growth of the class files (default 25)"},
		option{name: "min-methods-ratio", flag: custom(&g.minRatio), commands: byInstrument | byAssign,
			omit: inNoRecord,
			help: "smallest allowed number of traced methods, as a ratio to those of --base (default 0.9)"},
		option{name: "min-base-share", flag: custom(&g.minShare), commands: byInstrument | byAssign,
			omit: inNoRecord,
			help: "smallest allowed share of the methods of --base that are traced (default 0.5); a mapping of another " +
				"app has few of them"},
		option{name: "max-calls-growth", flag: custom(&g.maxCalls), commands: byInstrument, omit: inNoRecord,
			help: "largest allowed number of calls that a package gains since --base-report, in percent of all " +
				"calls of that build (default 5)"},
		option{name: "base-report", flag: text(&g.baseReport, ""), commands: byInstrument, omit: inNoRecord,
			file: fileRead, extensions: []string{"json"},
			help: "report `FILE` of an earlier build"},
		option{name: "expect-digest", flag: text(&g.expectDigest, ""), commands: byInstrument | byAssign,
			omit: inNoRecord,
			help: "`DIGEST` that the mapping must have (default that of --base)"},
	)
}

// guard is one guard: its name, whether its limit is set, and the check.
type guard struct {
	name  string
	isSet func(g *guards) bool
	check func(g *guards, run *buildreport.Run) buildreport.Guard
}

func never(*guards) bool { return false }

// allGuards are in the order of the report.
var allGuards = []guard{
	{"introduced", never, func(_ *guards, run *buildreport.Run) buildreport.Guard { return run.GuardIntroduced() }},
	{"unverifiable", never, func(_ *guards, run *buildreport.Run) buildreport.Guard { return run.GuardUnverifiable() }},
	{"growth", func(g *guards) bool { return g.maxGrowth.given },
		func(g *guards, run *buildreport.Run) buildreport.Guard { return run.GuardGrowth(g.maxGrowth.value) }},
	{"ratio", func(g *guards) bool { return g.minRatio.given },
		func(g *guards, run *buildreport.Run) buildreport.Guard { return run.GuardRatio(g.minRatio.value) }},
	{"base", func(g *guards) bool { return g.minShare.given },
		func(g *guards, run *buildreport.Run) buildreport.Guard { return run.GuardBase(g.minShare.value) }},
	{"calls", func(g *guards) bool { return g.maxCalls.given },
		func(g *guards, run *buildreport.Run) buildreport.Guard {
			return run.GuardCalls(g.maxCalls.value, g.baseline)
		}},
	{"digest", func(g *guards) bool { return g.expectDigest != "" },
		func(g *guards, run *buildreport.Run) buildreport.Guard {
			want := g.expectDigest
			if want == "" {
				want = run.Base.Digest()
			}
			return run.GuardDigest(want)
		}},
}

// enabled reports whether the guard with the name is enabled.
func (g *guards) enabled(name string) bool {
	if slices.Contains(g.failOn, name) {
		return true
	}
	return slices.ContainsFunc(allGuards, func(other guard) bool { return other.name == name && other.isSet(g) })
}

// checkBases checks that the options have what the enabled guards compare with. base is the value of --base.
func (g *guards) checkBases(base string) error {
	switch {
	case g.enabled("ratio") && base == "":
		return misuse("--min-methods-ratio and --fail-on ratio compare with a base mapping: give --base")
	case g.enabled("base") && base == "":
		return misuse("--min-base-share and --fail-on base compare with a base mapping: give --base")
	case g.enabled("digest") && g.expectDigest == "" && base == "":
		return misuse("--fail-on digest compares with a digest: give --expect-digest or --base")
	case g.enabled("calls") && g.baseReport == "":
		return misuse("--max-calls-growth and --fail-on calls compare with an earlier report: give --base-report")
	case !g.enabled("calls") && g.baseReport != "":
		return misuse("--base-report is used by --max-calls-growth and --fail-on calls only: give one of them")
	case g.expectDigest != "" && (len(g.expectDigest) != 16 || strings.Trim(g.expectDigest, "0123456789abcdef") != ""):
		return misuse("--expect-digest %q: a digest has 16 digits from 0 to 9 and a to f", g.expectDigest)
	}
	return nil
}

// withoutBase turns off the guards that compare with the base mapping, and returns their names.
func (g *guards) withoutBase() (off []string) {
	for _, name := range []string{"ratio", "digest"} {
		if g.enabled(name) && (name != "digest" || g.expectDigest == "") {
			off = append(off, name)
		}
	}
	g.failOn = slices.DeleteFunc(g.failOn, func(name string) bool { return slices.Contains(off, name) })
	g.minRatio.given = false
	return off
}

// read reads the report that guards compare with.
func (g *guards) read() error {
	if g.baseReport == "" {
		return nil
	}
	f, err := gz.Open(g.baseReport)
	if err != nil {
		return fmt.Errorf("--base-report: %w", err)
	}
	defer f.Close()
	if g.baseline, err = buildreport.ReadBaseline(f); err != nil {
		return fmt.Errorf("--base-report: %s: %w", g.baseReport, err)
	}
	return nil
}

// check returns the results of the enabled guards.
func (g *guards) check(run *buildreport.Run) (list []buildreport.Guard) {
	for _, guard := range allGuards {
		if g.enabled(guard.name) {
			list = append(list, guard.check(g, run))
		}
	}
	return list
}

// failedGuards returns the error of the guards that failed, or nil. It is called after everything has been written.
func failedGuards(guards []buildreport.Guard) error {
	var failed []error
	for _, g := range guards {
		if g.Failed {
			failed = append(failed, guardError{g})
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return checkFailed{errors.Join(failed...)}
}

// guardError is the error of a guard that failed.
type guardError struct{ buildreport.Guard }

// Error implements error.
func (e guardError) Error() string { return e.String() }

// failOn is the flag that enables guards by name.
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

// limit is a flag with a number that is not negative. given records whether it was set.
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
		return errors.New("must be a number of at least 0")
	}
	l.value, l.given = v, true
	return nil
}

// String implements pflag.Value. It is empty unless the limit was set: the default does not enable the guard.
func (l *limit) String() string {
	if !l.given {
		return ""
	}
	return strconv.FormatFloat(l.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (l *limit) Type() string { return l.unit }
