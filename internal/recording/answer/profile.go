package answer

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/mapping"
)

// A method is worth being traced, however often it is called, if its calls take more than meanWorth on average, or if
// those of its calls that are long, so that they are seen by themselves, take longWorth for each call of all. An entry
// and an exit take some 50 ns, with what inlining would have saved, and the recording has made all times longer. So
// they add a hundredth at most to the time that they show. An interruption of the program cannot keep a method: it
// makes one of many calls long.
const (
	meanWorth = 50 * time.Microsecond
	longWorth = 10 * time.Microsecond
)

// minShare is which part of the calls that the budget allows a method must make that is no longer traced.
const minShare = 1.0 / 4000

// spare is which part of the budget the calls may make that are still traced when it was exceeded. The program is
// faster then, and makes the same calls in less time: without spare, the next recording would exceed the budget again.
const spare = 0.25

// DexOfMethod is how many bytes the calls in a method add to a dex file on average: D8 9.5.28 added 24 for each method
// of commons-lang3.
const DexOfMethod = 24

// Budget limits what tracing may cost.
type Budget struct {
	// Calls is how many calls of traced methods there may be in a second in which the program runs.
	Calls float64
	// Dex is how many bytes all calls may add to the dex files, 0 if that does not matter.
	Dex int64
}

// Learned is what [Methods.Learn] has done.
type Learned struct {
	// None is how many methods are not traced any more, Full how many were found to be worth their many calls, Kept how
	// many lines of the profile had been decided before.
	None, Full, Kept int
	// Calls is how many calls a second there were, Left how many there would have been without the methods of None.
	Calls, Left float64
	// Dex is how many bytes the methods add to the dex files that are traced before, DexLeft after it.
	Dex, DexLeft int64
	// Worth are the methods with the most calls that are traced all the same, each with the reason.
	Worth []Worth

	budget Budget
}

// Worth is a Method that makes many calls, and the Reason why it is traced all the same.
type Worth struct {
	Method *MethodTotal
	Reason string
}

// Learn decides about methods that the profile has no line for. If there are more calls in a second than the budget
// allows, methods that are not worth them are no longer traced, the one with the most calls first. It adds what the
// recordings show of the other methods of the profile, and never changes their level: a method that is not traced
// cannot show that it has become worth it. builds are those of the recordings.
//
// A method that was let go has more calls than are known: the recorder lets none go but those that flood it with short
// calls. Recordings that have lost records show how often methods were called, but not which calls were long. So there,
// a method is chosen by its counts.
func (m *Methods) Learn(p *filter.Profile, budget Budget, builds []*mapping.Mapping) *Learned {
	l := &Learned{Kept: len(p.Lines), budget: budget}
	ran, onCPU := m.busy()
	busy := ran.Seconds()
	if busy == 0 {
		return l
	}
	l.Calls = m.made / 2 / busy
	l.Left = l.Calls
	list := slices.DeleteFunc(slices.Clone(m.list), func(t *MethodTotal) bool { return t.made == 0 || t.NotRecorded() })
	slices.SortFunc(list, func(x, y *MethodTotal) int {
		return cmp.Or(cmp.Compare(y.made, x.made), resolve.CompareMethods(x.Method.Key(), y.Method.Key()),
			cmp.Compare(x.Method.ID, y.Method.ID))
	})
	over := l.Calls > budget.Calls
	for _, t := range list {
		method, named := identity(&t.Method)
		rate := t.made / 2 / busy
		known := p.Find(method)
		reason := m.worth(t, onCPU)
		switch {
		case !named:
			reason = "its name is unknown"
		case known != nil:
			sum := t.line(method, known.Traced)
			sum.Calls, sum.Self, sum.Long = sum.Calls+known.Calls, sum.Self+known.Self, sum.Long+known.Long
			p.Set(sum)
			if !known.Traced {
				l.Left -= rate // the recording is of a build without the profile
			}
			continue
		case t.LetGo, over && reason == "" && l.Left > budget.Calls*spare && rate >= budget.Calls*minShare:
			p.Set(t.line(method, false))
			l.None++
			l.Left -= rate
			continue
		}
		if reason != "" && over && rate >= budget.Calls*spare/shownWorth {
			l.Worth = append(l.Worth, Worth{t, reason})
			if named {
				p.Set(t.line(method, true))
				l.Full++
			}
		}
	}
	l.shrink(m, p, builds)
	return l
}

// shownWorth is how many methods are shown at most that make many calls.
const shownWorth = 20

// busy is how long the program ran in recorded calls, as far as is known, and at most the time of the recordings: an
// app that waits for its user makes no calls, and its calls cost the same. onCPU is which part of that its threads had
// a processor: on a busy machine, times are longer than what calls cost.
func (m *Methods) busy() (busy time.Duration, onCPU float64) {
	var nanos, running, cpu int64
	for _, t := range m.list {
		if t.NotRecorded() {
			continue
		}
		e := &t.Estimate
		nanos += max(0, t.Self-e.Waiting-e.Blocked)
		if e.Running > 0 && e.CPU >= 0 {
			running += e.Running
			cpu += min(e.CPU, e.Running)
		}
	}
	onCPU = 1
	if running > 0 && cpu > 0 {
		onCPU = float64(cpu) / float64(running)
	}
	return time.Duration(float64(min(nanos, m.Nanos)) * onCPU), onCPU
}

// worth says why a method is worth its calls, if its threads had a processor in that part of their time; "" if it is
// not.
func (m *Methods) worth(t *MethodTotal, onCPU float64) string {
	calls := float64(t.Calls + t.LeftOut)
	switch mean := time.Duration(float64(t.Total) * onCPU / max(calls, 1)); {
	case calls == 0:
		return ""
	case mean > meanWorth:
		return "a call takes " + units.Millis(mean) + " on average"
	case !m.lossy && float64(t.Long)*onCPU/calls >= float64(longWorth):
		return fmt.Sprintf("its calls of %d ms or more take %s", sums.LongCall.Milliseconds(),
			units.Millis(time.Duration(t.Long)))
	}
	return ""
}

// line returns a line of the profile.
func (t *MethodTotal) line(method mapping.Identity, traced bool) filter.ProfileLine {
	calls := max(t.Calls+t.LeftOut, uint64(t.made/2))
	return filter.ProfileLine{Method: method, Traced: traced, Calls: calls, Self: time.Duration(t.Self),
		Long: time.Duration(t.Long)}
}

// identity returns the identity of a method, in internal form; ok is false if it has no name.
func identity(m *resolve.Method) (i mapping.Identity, ok bool) {
	if m.Unresolved || m.Descriptor == "" {
		return i, false
	}
	var errs [3]error
	i.Class, errs[0] = mapping.ParseText(m.Class)
	i.Name, errs[1] = mapping.ParseText(m.Name)
	i.Descriptor, errs[2] = mapping.ParseText(m.Descriptor)
	return i, errors.Join(errs[:]...) == nil
}

// shrink leaves out methods until the rest is within the budget for dex files: first those that no recording has
// called, and then those with the least time.
func (l *Learned) shrink(m *Methods, p *filter.Profile, builds []*mapping.Mapping) {
	type candidate struct {
		method mapping.Identity
		total  *MethodTotal
	}
	called := map[mapping.Identity]*MethodTotal{}
	for _, t := range m.list {
		if method, ok := identity(&t.Method); ok && t.made > 0 {
			called[method] = t
		}
	}
	seen := map[mapping.Identity]bool{}
	var list []candidate
	for _, build := range builds {
		for e := range build.All() {
			if line := p.Find(e.Identity); seen[e.Identity] || line != nil && !line.Traced || e.ID == mapping.DispatchID {
				continue
			}
			seen[e.Identity] = true
			list = append(list, candidate{e.Identity, called[e.Identity]})
		}
	}
	l.DexLeft = int64(len(list)) * DexOfMethod
	l.Dex = l.DexLeft + int64(l.None)*DexOfMethod
	if l.budget.Dex == 0 {
		return
	}
	time := func(c candidate) int64 {
		if c.total == nil {
			return -1
		}
		return c.total.Total
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(time(a), time(b)) })
	for _, c := range list {
		if l.DexLeft <= l.budget.Dex {
			return
		}
		if p.Find(c.method) != nil {
			continue
		}
		line := filter.ProfileLine{Method: c.method}
		if c.total != nil {
			line = c.total.line(c.method, false)
		}
		p.Set(line)
		l.None++
		l.DexLeft -= DexOfMethod
	}
}

// Write writes what was done, for people. name is that of the profile.
func (l *Learned) Write(w io.Writer, name string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s no longer traced, %d worth their calls; %s decided before\n", resolve.Printable(name),
		units.Count(l.None, "method"), l.Full, units.Count(l.Kept, "line"))
	fmt.Fprintf(out, "calls of traced methods: %.0f a second, %.0f without these; the budget is %.0f\n", l.Calls,
		max(0, l.Left), l.budget.Calls)
	fmt.Fprintf(out, "dex: about %d bytes for calls, %d without these", l.Dex, l.DexLeft)
	if l.budget.Dex > 0 {
		fmt.Fprintf(out, "; the budget is %d", l.budget.Dex)
	}
	fmt.Fprintln(out)
	for k, worth := range l.Worth {
		if k == 0 {
			fmt.Fprintln(out, "traced, though they make many calls:")
		}
		if k == shownWorth {
			fmt.Fprintf(out, "  and %d more\n", len(l.Worth)-k)
			break
		}
		m := worth.Method
		fmt.Fprintf(out, "  %s: %d calls; %s\n", resolve.Printable(m.Method.Title()), uint64(m.made/2), worth.Reason)
	}
	return out.Flush()
}
