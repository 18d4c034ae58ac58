package buildreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
)

// Guard is the result of one guard.
type Guard struct {
	// Name is the guard's name for --guard.
	Name string
	// Expected is the limit, Actual the value of the run, both for people.
	Expected, Actual string
	// Failed is true if the value exceeds the limit.
	Failed bool
	// Limit and Value are the limit and the value of the run for programs: numbers in Unit, or digests.
	Limit, Value any
	// Unit is percent, ratio, classes, "classes and methods", or digest.
	Unit string
}

// String returns the result in one line.
func (g Guard) String() string {
	return fmt.Sprintf("%s: %s; expected: %s", g.Name, g.Actual, g.Expected)
}

// GuardIntroduced fails if a rewritten class was rejected.
func (r *Run) GuardIntroduced() Guard {
	return Guard{Name: "introduced", Expected: "none",
		Actual: fmt.Sprintf("rewritten classes that were rejected: %d", r.Introduced),
		Failed: r.Introduced > 0, Limit: 0, Value: r.Introduced, Unit: "classes"}
}

// GuardUnverifiable fails if a class was left as it is because a check failed, after rewriting or before, or did not
// end.
func (r *Run) GuardUnverifiable() Guard {
	methods := r.totalReasons()[filter.ReasonUnverifiable]
	left := r.leftAsTheyAre()
	return Guard{Name: "unverifiable", Expected: "none",
		Actual: fmt.Sprintf("classes left as they are: %d, methods in them: %d", left, methods),
		Failed: left+methods > 0, Limit: 0, Value: left + methods, Unit: "classes and methods"}
}

// leftAsTheyAre returns the number of classes that the checks kept from being rewritten.
func (r *Run) leftAsTheyAre() int { return r.Introduced + r.PreExisting + r.Unchecked }

// GuardGrowth fails if the class files, uncompressed, grow by more than this percentage.
func (r *Run) GuardGrowth(percent float64) Guard {
	t := r.total()
	g := Guard{Name: "growth", Expected: fmt.Sprintf("at most %v %%", percent), Limit: percent, Unit: "percent"}
	growth := 0.0
	if t.ClassBytes > 0 {
		growth = 100 * float64(t.OutputBytes-t.ClassBytes) / float64(t.ClassBytes)
	}
	g.Failed, g.Value = growth > percent, growth
	g.Actual = fmt.Sprintf("the classes grow from %d to %d bytes, by %.2f %%%s", t.ClassBytes, t.OutputBytes, growth,
		r.most(func(p packageCount) int64 { return p.AddedBytes }))
	return g
}

// GuardRatio fails if the number of traced methods, divided by that of the base mapping, is less than least. Without a
// base mapping, or with an empty one, it does not fail.
func (r *Run) GuardRatio(least float64) Guard {
	g := Guard{Name: "ratio", Expected: fmt.Sprintf("at least %v of the methods of the base mapping", least),
		Actual: "there is no base mapping", Limit: least, Unit: "ratio"}
	if r.Base == nil || r.Base.Len() == 0 {
		return g
	}
	ratio := float64(r.Mapping.Len()) / float64(r.Base.Len())
	g.Failed, g.Value = ratio < least, ratio
	g.Actual = fmt.Sprintf("%d methods are traced, %d in %s: %.3f", r.Mapping.Len(), r.Base.Len(), r.BaseFile, ratio)
	return g
}

// GuardDigest fails if the mapping has another digest.
func (r *Run) GuardDigest(digest string) Guard {
	return Guard{Name: "digest", Expected: digest, Actual: "the mapping has digest " + r.Mapping.Digest(),
		Failed: r.Mapping.Digest() != digest, Limit: digest, Value: r.Mapping.Digest(), Unit: "digest"}
}

// LeastBaseShare is the share of a base mapping's methods below which it is probably that of another app. A build that
// has less than half of them retires more IDs than it keeps. Apps that have only libraries in common are often below
// it, and successive releases of one app are far above it.
const LeastBaseShare = 0.5

// baseShare returns how many of the methods of the base mapping are traced, as a number and as a share of them. The
// share is 1 without a base mapping, or with an empty one.
func (r *Run) baseShare() (kept int, share float64) {
	if r.Base == nil || r.Base.Len() == 0 {
		return 0, 1
	}
	kept = r.Mapping.Kept(r.Base)
	return kept, float64(kept) / float64(r.Base.Len())
}

// GuardBase fails if less than this share of the methods of the base mapping are traced. Unlike [Run.GuardRatio], it
// compares the methods and not their numbers. Without a base mapping, or with an empty one, it does not fail.
func (r *Run) GuardBase(least float64) Guard {
	kept, share := r.baseShare()
	g := Guard{Name: "base", Expected: fmt.Sprintf("at least %v of the methods of the base mapping", least),
		Actual: "there is no base mapping", Limit: least, Value: share, Unit: "ratio", Failed: share < least}
	if r.Base != nil {
		g.Actual = fmt.Sprintf("%d of the %d methods of %s are traced: %.3f", kept, r.Base.Len(), r.BaseFile, share)
	}
	return g
}

// BaseWarning returns a warning if the base mapping shares few methods with the run, or "". The IDs of its other
// methods are retired and cannot be used for other methods.
func (r *Run) BaseWarning() string {
	kept, share := r.baseShare()
	if share >= LeastBaseShare {
		return ""
	}
	return fmt.Sprintf("--base %s: %d of its %d methods are traced (%.1f %%), and the IDs of the other %d are retired; "+
		"give the mapping of an earlier build of the same app, or leave out --base", r.BaseFile, kept, r.Base.Len(),
		100*share, r.Base.Len()-kept)
}

// GuardCalls fails if a package gains more calls than this percentage of all calls of an earlier build. The percentage
// is not that of the package's own calls, so that a tiny package may double, and a new one may not be big.
func (r *Run) GuardCalls(percent float64, base *Baseline) Guard {
	g := Guard{Name: "calls",
		Expected: fmt.Sprintf("no package gains more than %v %% of the %d calls of the earlier build", percent,
			base.calls), Limit: percent, Unit: "percent"}
	most := percent / 100 * float64(base.calls)
	var over []packageCount
	now, gain := 0, 0
	for _, p := range r.packages() {
		now += p.Calls
		if p.Calls -= base.byPackage[p.Package]; float64(p.Calls) > max(most, 0) {
			over = append(over, p)
		}
		gain = max(gain, p.Calls)
	}
	g.Failed, g.Value = len(over) > 0, 100*float64(gain)/float64(max(base.calls, 1))
	g.Actual = fmt.Sprintf("%d calls are inserted%s", now,
		listMost(over, func(p packageCount) int64 { return int64(p.Calls) }))
	return g
}

// most returns the packages with the highest numbers, as listMost.
func (r *Run) most(of func(packageCount) int64) string { return listMost(r.packages(), of) }

// listed is the number of packages in a line.
const listed = 3

// listMost returns ", most in a.b (+12), c (+3)" for the packages with a positive number. It sorts packages.
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
