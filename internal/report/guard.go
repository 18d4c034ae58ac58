package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
)

// Guard is something that was asked of a run.
type Guard struct {
	// Name is what it is asked for by.
	Name string
	// Asked is what is wanted, Found what is so; both for people.
	Asked, Found string
	// Failed says that the two do not agree.
	Failed bool
}

// String tells both in one line.
func (g Guard) String() string { return fmt.Sprintf("%s: %s; wanted: %s", g.Name, g.Found, g.Asked) }

// GuardIntroduced wants no class to have come out wrong.
func (r *Run) GuardIntroduced() Guard {
	return Guard{"introduced", "none", fmt.Sprintf("classes that came out wrong: %d", r.Introduced), r.Introduced > 0}
}

// GuardUnverifiable wants no class to be left alone because it is wrong, or came out so.
func (r *Run) GuardUnverifiable() Guard {
	methods := r.totalReasons()[filter.ReasonUnverifiable]
	left := r.Introduced + r.PreExisting
	return Guard{"unverifiable", "none", fmt.Sprintf("classes left alone: %d, methods in them: %d", left, methods), left+methods > 0}
}

// GuardGrowth wants the class files, uncompressed, to grow by at most that many percent.
func (r *Run) GuardGrowth(percent float64) Guard {
	t := r.total()
	g := Guard{Name: "growth", Asked: fmt.Sprintf("at most %v %%", percent)}
	growth := 0.0
	if t.ClassBytes > 0 {
		growth = 100 * float64(t.OutputBytes-t.ClassBytes) / float64(t.ClassBytes)
	}
	g.Failed = growth > percent
	g.Found = fmt.Sprintf("the classes grow from %d to %d bytes, by %.2f %%%s", t.ClassBytes, t.OutputBytes, growth,
		r.most(func(p packageCount) int64 { return p.AddedBytes }))
	return g
}

// GuardRatio wants at least that part of the number of the base's methods to be traced. Without a base, or with
// an empty one, any number is enough.
func (r *Run) GuardRatio(least float64) Guard {
	g := Guard{Name: "ratio", Asked: fmt.Sprintf("at least %v of the base's methods", least), Found: "there is no base to compare with"}
	if r.Base == nil || r.Base.Len() == 0 {
		return g
	}
	ratio := float64(r.Mapping.Len()) / float64(r.Base.Len())
	g.Failed = ratio < least
	g.Found = fmt.Sprintf("%d methods are traced, %d in %s: %.3f", r.Mapping.Len(), r.Base.Len(), r.BaseFile, ratio)
	return g
}

// GuardDigest wants the mapping to have this digest.
func (r *Run) GuardDigest(digest string) Guard {
	return Guard{"digest", digest, "the mapping has digest " + r.Mapping.Digest(), r.Mapping.Digest() != digest}
}

// GuardCalls wants no package to gain more calls than that many percent of all calls of an earlier build. The
// share of all calls, and not of the package's own, is what tells a new package that matters from a tiny one that
// has doubled.
func (r *Run) GuardCalls(percent float64, base *Baseline) Guard {
	g := Guard{Name: "calls", Asked: fmt.Sprintf("no package gains more than %v %% of the %d calls there were", percent, base.calls)}
	most := percent / 100 * float64(base.calls)
	var over []packageCount
	now := 0
	for _, p := range r.packages() {
		now += p.Calls
		if p.Calls -= base.byPackage[p.Package]; float64(p.Calls) > max(most, 0) {
			over = append(over, p)
		}
	}
	g.Failed = len(over) > 0
	g.Found = fmt.Sprintf("%d calls are inserted%s", now, listMost(over, func(p packageCount) int64 { return int64(p.Calls) }))
	return g
}

// most names the packages that have the most of something.
func (r *Run) most(of func(packageCount) int64) string { return listMost(r.packages(), of) }

// listed is how many packages a line names.
const listed = 3

// listMost gives ", most in a.b (+12), c (+3)" for the packages that have any; it reorders them.
func listMost(packages []packageCount, of func(packageCount) int64) string {
	slices.SortStableFunc(packages, func(a, b packageCount) int { return cmp.Compare(of(b), of(a)) })
	var b strings.Builder
	separator := ", most in "
	for _, p := range packages[:min(len(packages), listed)] {
		if of(p) > 0 {
			fmt.Fprintf(&b, "%s%s (%+d)", separator, cmp.Or(p.Package, "the unnamed package"), of(p))
			separator = ", "
		}
	}
	return b.String()
}
