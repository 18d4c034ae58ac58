package buildreport

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Guards are the guards that a run checks, with their limits.
type Guards struct {
	limits map[string]guardLimit
	// Baseline is the earlier build that the guard calls compares with.
	Baseline *Baseline
}

// guardLimit is the limit of a guard: a number, or a digest; "" is that of the base mapping.
type guardLimit struct {
	number float64
	digest string
}

// guard is one guard: its name, its default limit, and the check.
type guard struct {
	name     string
	standard float64 // or noLimit
	check    func(run *Run, limit guardLimit, baseline *Baseline) Guard
}

// noLimit is the default limit of a guard whose limit is no number.
const noLimit = -1

// digestGuard is the name of the guard whose limit is a digest.
const digestGuard = "digest"

// allGuards are in the order of the report.
var allGuards = []guard{
	{"introduced", noLimit, func(run *Run, _ guardLimit, _ *Baseline) Guard { return run.GuardIntroduced() }},
	{"unverifiable", noLimit, func(run *Run, _ guardLimit, _ *Baseline) Guard { return run.GuardUnverifiable() }},
	{"growth", 25, func(run *Run, l guardLimit, _ *Baseline) Guard { return run.GuardGrowth(l.number) }},
	{"ratio", 0.9, func(run *Run, l guardLimit, _ *Baseline) Guard { return run.GuardRatio(l.number) }},
	{"base", LeastBaseShare, func(run *Run, l guardLimit, _ *Baseline) Guard { return run.GuardBase(l.number) }},
	{"calls", 5, func(run *Run, l guardLimit, b *Baseline) Guard { return run.GuardCalls(l.number, b) }},
	{digestGuard, noLimit, func(run *Run, l guardLimit, _ *Baseline) Guard {
		want := l.digest
		if want == "" {
			want = run.Base.Digest()
		}
		return run.GuardDigest(want)
	}},
}

// GuardNames returns the names of all guards.
func GuardNames() []string {
	names := make([]string, len(allGuards))
	for i, g := range allGuards {
		names[i] = g.name
	}
	return names
}

// Add adds the guard NAME with its default limit, unless it has a limit already, or NAME=LIMIT. It returns the name.
// The limit true stands for none, and with false, the guard is not added.
func (g *Guards) Add(text string) (name string, err error) {
	name, limit, _ := strings.Cut(text, "=")
	i := slices.Index(GuardNames(), name)
	if i < 0 {
		return "", fmt.Errorf("must be one of %s, or one of them with =LIMIT", strings.Join(GuardNames(), ", "))
	}
	l := guardLimit{number: allGuards[i].standard}
	switch number, err := strconv.ParseFloat(limit, 64); {
	case limit == "false":
		return name, nil
	case limit == "" || limit == "true":
		if g.Has(name) { // with a limit
			return name, nil
		}
	case name == digestGuard && (len(limit) != 16 || strings.Trim(limit, "0123456789abcdef") != ""):
		return "", fmt.Errorf("%s: a digest has 16 digits from 0 to 9 and a to f", text)
	case name == digestGuard:
		l.digest = limit
	case l.number == noLimit:
		return "", fmt.Errorf("%s: the guard %s has no limit", text, name)
	case err != nil || number < 0 || math.IsInf(number, 0) || math.IsNaN(number):
		return "", fmt.Errorf("%s: the limit must be a number of at least 0", text)
	default:
		l.number = number
	}
	if g.limits == nil {
		g.limits = map[string]guardLimit{}
	}
	g.limits[name] = l
	return name, nil
}

// Has reports whether the guard is checked.
func (g *Guards) Has(name string) bool {
	_, has := g.limits[name]
	return has
}

// NeedsBase reports whether the guard is checked and compares with the base mapping.
func (g *Guards) NeedsBase(name string) bool {
	l, has := g.limits[name]
	return has && (name == "ratio" || name == "base" || name == digestGuard && l.digest == "")
}

// Remove removes a guard.
func (g *Guards) Remove(name string) { delete(g.limits, name) }

// Check returns the results of the guards.
func (g *Guards) Check(run *Run) (list []Guard) {
	for _, one := range allGuards {
		if limit, has := g.limits[one.name]; has {
			list = append(list, one.check(run, limit, g.Baseline))
		}
	}
	return list
}

// String returns the guards with their limits.
func (g *Guards) String() string {
	var texts []string
	for _, one := range allGuards {
		switch limit, has := g.limits[one.name]; {
		case !has:
		case limit.digest != "":
			texts = append(texts, one.name+"="+limit.digest)
		case limit.number == noLimit:
			texts = append(texts, one.name)
		default:
			texts = append(texts, one.name+"="+strconv.FormatFloat(limit.number, 'g', -1, 64))
		}
	}
	return strings.Join(texts, ",")
}
