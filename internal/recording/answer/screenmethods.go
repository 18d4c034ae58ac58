package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// ranked is a method with its own time, apart by what its threads did: it ran or waited as far as samples show that,
// those that were taken all the time, or else those of stalls. Waiting for work is in none of the parts. Of the rest,
// unknown, it is not known whether it ran or waited.
type ranked struct {
	*MethodTotal
	ran, waited, unknown int64
}

// rank returns a method with its own time apart by what is known of it.
func (s *Screen) rank(m *MethodTotal) ranked {
	seen := s.seen[methodKey{Method: m.Method.Key()}]
	known := min(m.Self, m.Estimate.Known)
	share := waitedShare(m.Method, known, m.Estimate.Waiting+m.Estimate.Blocked, m.Estimate.CPU)
	waited := int64(math.Round(float64(known) * share))
	ran, rest := known-waited, m.Self-known
	more := min(rest, seen.waited.Nanoseconds())
	waited, rest = waited+more, rest-more
	more = min(rest, seen.ran.Nanoseconds())
	return ranked{m, ran + more, max(0, waited-seen.idle.Nanoseconds()), rest - more}
}

// ranking returns the methods with the most time of their own, those that ran, those that waited and those of which
// that is not known apart, in at most so many lines.
func (s *Screen) ranking(room int) []string {
	var all []ranked
	for _, m := range s.Methods.Sorted(OrderSelf) {
		if !m.NotRecorded() {
			all = append(all, s.rank(m))
		}
	}
	room -= 4 // the title of each table, and a blank line
	some := min(shownRanked/2, room/4)
	waited := s.table("methods that waited", all, func(m ranked) int64 { return m.waited }, some)
	ran := func(most int) []string {
		return s.table("methods that ran", all, func(m ranked) int64 { return m.ran }, most)
	}
	if len(ran(1)) == 0 {
		some = min(shownRanked, room-some)
	}
	unknown := s.table("ran or waited: not known", mostlyUnknown(all), func(m ranked) int64 { return m.unknown }, some)
	tables := slices.Concat(ran(min(shownRanked, room-max(0, len(waited)-1)-max(0, len(unknown)-1))), waited, unknown)
	return afterBlank(tables)
}

// mostlyUnknown returns the methods without those of which less than half a percent of all own time is not known: a few
// milliseconds are between samples in any recording.
func mostlyUnknown(all []ranked) []ranked {
	sum := int64(0)
	for _, m := range all {
		sum += m.ran + m.waited + m.unknown
	}
	return slices.DeleteFunc(slices.Clone(all), func(m ranked) bool { return m.unknown*200 < sum })
}

// waitedShare returns which share of a part of a method's own time was waiting. Samples say of that part how long the
// thread waited, and was on a processor, -1 if that is not known. In a system call the JVM does not know that a thread
// waits.
func waitedShare(m resolve.Method, part, waited, cpu int64) float64 {
	system := inSystem(m)
	switch {
	case part <= 0:
		return 0
	case system && cpu >= 0:
		return max(0, 1-float64(cpu)/float64(part))
	case system:
		return 1
	}
	return min(1, float64(waited)/float64(part))
}

// inSystem reports whether a method is one of the platform in which a thread waits for the system.
func inSystem(m resolve.Method) bool {
	switch foreign.ActivityOf("RUNNABLE", []string{m.Identity()}) {
	case foreign.ActivityRunning, foreign.ActivityClasses, foreign.ActivityGC:
		return false
	}
	return true
}

// table returns the lines about the methods with the most of a kind of time, half a percent of it or more.
func (s *Screen) table(title string, all []ranked, took func(ranked) int64, most int) []string {
	sum := int64(0)
	for _, m := range all {
		sum += took(m)
	}
	list := slices.DeleteFunc(slices.Clone(all), func(m ranked) bool { return took(m)*200 < sum || took(m) == 0 })
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(took(b), took(a)) })
	if len(list) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("%15s %6s %12s %12s %8s  %s", "own time", "share", "total", "calls", "samples", title)}
	for _, m := range list[:min(most, len(list))] {
		lines = append(lines, fmt.Sprintf("%15s %6s %12s %12s %8s  %s", m.ownTime(took(m)),
			units.Percent(time.Duration(took(m)), time.Duration(sum)), m.short(m.Total),
			unlessZero(m.Calls), unlessZero(uint64(m.Estimate.Samples)), m.name()))
	}
	return lines
}

// ownTime is a part of the own time of a method, with how far it may be off if it is estimated.
func (m ranked) ownTime(part int64) string {
	e := &m.Estimate
	if e.Samples == 0 || m.Self == 0 {
		return m.short(part)
	}
	off := int64(float64(max(m.Self-e.SelfLow, e.SelfHigh-m.Self)) * float64(part) / float64(m.Self))
	if off <= 0 {
		return m.short(part)
	}
	return m.marked(units.PlusMinus(part, part-off, part+off))
}

// short returns a time with the digits that matter.
func (m ranked) short(nanos int64) string { return m.marked(units.Short(time.Duration(nanos))) }

// marked returns a time with ≥ before it if it may be greater in truth.
func (m ranked) marked(text string) string {
	if m.lossy {
		return "≥ " + text
	}
	return text
}

// name is the name of a method, and how many of its calls were left out. If there is no room, it leaves out the place
// in the source, the package, and then as shortened does.
func (m ranked) name() string {
	const width = 58
	name, more := m.Method.String(), m.leftOutText()
	if utf8.RuneCountInString(name+more) > width {
		method := m.Method
		method.File = ""
		name = shortened(method.String(), width-len(more))
	}
	return name + more
}

// unlessZero returns a number, and nothing for 0.
func unlessZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return units.Thousands(n)
}
