package buildreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/filter"
)

// Guard is the result of one guard.
type Guard struct {
	// Name is the guard's name for --guard.
	Name string `json:"guard"`
	// Expected is the limit, Actual the value of the run, both for people.
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// Failed is true if the value exceeds the limit.
	Failed bool `json:"failed"`
	// Limit and Value are the limit and the value of the run for programs: numbers in Unit, or digests.
	Limit any `json:"limit"`
	Value any `json:"value"`
	// Unit is percent, ratio, classes, "classes and methods", or digest; of artifacts also "bytes" and "methods".
	Unit string `json:"unit"`
}

// String returns the result in one line.
func (g Guard) String() string {
	return fmt.Sprintf("%s: %s; expected: %s", g.Name, g.Actual, g.Expected)
}

// Guards are those guards on a [Run] or on [Artifacts] that are checked, with their limits.
type Guards[T Guarded[T]] struct{ limits map[string]guardLimit }

// Guarded is what guards are on: it has a table of them, in the order of the report.
type Guarded[T any] interface{ guards() []guard[T] }

// guardLimit is the limit of a guard: a number, or a digest; "" is that of the base mapping.
type guardLimit struct {
	number float64
	digest string
}

// guard is one guard: its name, its default limit, and the check, which returns all but the name, and a limit that is a
// number. compares says that it needs the base mapping, or the artifact without tracegen.
type guard[T any] struct {
	name     string
	standard float64 // or noLimit
	compares bool
	check    func(of T, limit guardLimit) Guard
}

// noLimit is the default limit of a guard whose limit is no number.
const noLimit = -1

// digestGuard is the name of the guard whose limit is a digest. It compares only without one.
const digestGuard = "digest"

func (*Run) guards() []guard[*Run] {
	return []guard[*Run]{
		{"introduced", noLimit, false, checkIntroduced},
		{"unverifiable", noLimit, false, checkUnverifiable},
		{"growth", 25, false, checkGrowth},
		{"ratio", 0.9, true, checkRatio},
		{"base", leastBaseShare, true, checkBase},
		{digestGuard, noLimit, true, checkDigest},
	}
}

func (g *Guards[T]) all() []guard[T] {
	var of T
	return of.guards()
}

// Names returns the names of all guards.
func (g *Guards[T]) Names() (names []string) {
	for _, one := range g.all() {
		names = append(names, one.name)
	}
	return names
}

// Add adds the guard NAME with its default limit, unless it has a limit already, or NAME=LIMIT. It returns the name.
// The limit true stands for none, and with false, the guard is not added.
func (g *Guards[T]) Add(text string) (name string, err error) {
	name, limit, _ := strings.Cut(text, "=")
	i := slices.Index(g.Names(), name)
	if i < 0 {
		return "", fmt.Errorf("must be one of %s, or one of them with =LIMIT", strings.Join(g.Names(), ", "))
	}
	l := guardLimit{number: g.all()[i].standard}
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
func (g *Guards[T]) Has(name string) bool {
	_, has := g.limits[name]
	return has
}

// Comparing returns the name of a guard that is checked and compares with the base mapping, or with an artifact without
// tracegen; "" if there is none.
func (g *Guards[T]) Comparing() string {
	for _, one := range g.all() {
		if l, has := g.limits[one.name]; has && one.compares && l.digest == "" {
			return one.name
		}
	}
	return ""
}

// Remove removes a guard.
func (g *Guards[T]) Remove(name string) { delete(g.limits, name) }

// Check returns the results of the guards.
func (g *Guards[T]) Check(of T) (list []Guard) {
	for _, one := range g.all() {
		if limit, has := g.limits[one.name]; has {
			result := one.check(of, limit)
			result.Name = one.name
			if one.standard != noLimit {
				result.Limit = limit.number
			}
			list = append(list, result)
		}
	}
	return list
}

// String returns the guards with their limits.
func (g *Guards[T]) String() string {
	var texts []string
	for _, one := range g.all() {
		switch limit, has := g.limits[one.name]; {
		case !has:
		case limit.digest != "":
			texts = append(texts, one.name+"="+limit.digest)
		case limit.number == noLimit:
			texts = append(texts, one.name)
		default:
			texts = append(texts, one.name+"="+strconv.FormatFloat(limit.number, 'f', -1, 64))
		}
	}
	return strings.Join(texts, ",")
}

// checkIntroduced fails if a rewritten class was rejected.
func checkIntroduced(r *Run, _ guardLimit) Guard {
	return Guard{Expected: "none", Actual: fmt.Sprintf("rewritten classes that were rejected: %d", r.Introduced),
		Failed: r.Introduced > 0, Limit: 0, Value: r.Introduced, Unit: "classes"}
}

// checkUnverifiable fails if a class was left as it is because a check failed, after rewriting or before, or did not
// end.
func checkUnverifiable(r *Run, _ guardLimit) Guard {
	methods := r.totalReasons()[filter.ReasonUnverifiable]
	left := r.leftAsTheyAre()
	return Guard{Expected: "none", Actual: fmt.Sprintf("classes left as they are: %d, methods in them: %d", left, methods),
		Failed: left+methods > 0, Limit: 0, Value: left + methods, Unit: "classes and methods"}
}

// leftAsTheyAre returns the number of classes that the checks kept from being rewritten.
func (r *Run) leftAsTheyAre() int { return r.Introduced + r.PreExisting + r.Unchecked }

// checkGrowth fails if the class files, uncompressed, grow by more than this percentage.
func checkGrowth(r *Run, limit guardLimit) Guard {
	t := r.total()
	growth := t.growth()
	return Guard{Expected: fmt.Sprintf("at most %v %%", limit.number),
		Actual: fmt.Sprintf("the classes grow from %d to %d bytes, by %.2f %%%s", t.ClassBytes, t.OutputBytes, growth,
			r.most(func(p packageCount) int64 { return p.AddedBytes })),
		Failed: growth > limit.number, Value: growth, Unit: "percent"}
}

// growth returns by how many percent the class files grow.
func (in *Input) growth() float64 {
	if in.ClassBytes == 0 {
		return 0
	}
	return 100 * float64(in.OutputBytes-in.ClassBytes) / float64(in.ClassBytes)
}

// checkRatio fails if the number of traced methods, divided by that of the base mapping, is less than the limit.
// Without a base mapping, or with an empty one, it does not fail.
func checkRatio(r *Run, limit guardLimit) Guard {
	g := Guard{Expected: fmt.Sprintf("at least %v of the methods of the base mapping", limit.number),
		Actual: "there is no base mapping", Unit: "ratio"}
	if r.Base == nil || r.Base.Len() == 0 {
		return g
	}
	ratio := float64(r.Mapping.Len()) / float64(r.Base.Len())
	g.Failed, g.Value = ratio < limit.number, ratio
	g.Actual = fmt.Sprintf("%d methods are traced, %d in %s: %.3f", r.Mapping.Len(), r.Base.Len(), r.BaseFile, ratio)
	return g
}

// checkDigest fails if the mapping has another digest than that of the limit or of the base mapping.
func checkDigest(r *Run, limit guardLimit) Guard {
	want, digest := limit.digest, r.Mapping.Digest()
	if want == "" {
		want = r.Base.Digest()
	}
	return Guard{Expected: want, Actual: "the mapping has digest " + digest, Failed: digest != want, Limit: want,
		Value: digest, Unit: "digest"}
}

// leastBaseShare is the share of a base mapping's methods below which it is probably that of another app. A build that
// has less than half of them retires more IDs than it keeps. Apps that have only libraries in common are often below
// it, and successive releases of one app are far above it.
const leastBaseShare = 0.5

// baseShare returns how many of the methods of the base mapping are traced, as a number and as a share of them. The
// share is 1 without a base mapping, or with an empty one.
func (r *Run) baseShare() (kept int, share float64) {
	if r.Base == nil || r.Base.Len() == 0 {
		return 0, 1
	}
	kept = r.Mapping.Kept(r.Base)
	return kept, float64(kept) / float64(r.Base.Len())
}

// checkBase fails if less than this share of the methods of the base mapping are traced. Unlike checkRatio, it compares
// the methods and not their numbers. Without a base mapping, or with an empty one, it does not fail.
func checkBase(r *Run, limit guardLimit) Guard {
	kept, share := r.baseShare()
	g := Guard{Expected: fmt.Sprintf("at least %v of the methods of the base mapping", limit.number),
		Actual: "there is no base mapping", Value: share, Unit: "ratio",
		Failed: share < limit.number}
	if r.Base != nil {
		g.Actual = fmt.Sprintf("%d of the %d methods of %s are traced: %.3f", kept, r.Base.Len(), r.BaseFile, share)
	}
	return g
}

// BaseWarning returns a warning if the base mapping shares few methods with the run, or "". The IDs of its other
// methods are retired and cannot be used for other methods.
func (r *Run) BaseWarning() string {
	kept, share := r.baseShare()
	if share >= leastBaseShare {
		return ""
	}
	return fmt.Sprintf("--base %s: %d of its %d methods are traced (%.1f %%), and the IDs of the other %d are retired; "+
		"give the mapping of an earlier build of the same app, or leave out --base", r.BaseFile, kept, r.Base.Len(),
		100*share, r.Base.Len()-kept)
}

// listed is the number of packages in a line.
const listed = 3

// most returns ", most in a.b (+12), c (+3)" for the packages with the highest positive numbers.
func (r *Run) most(of func(packageCount) int64) string {
	packages := r.packages()
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
