package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// ranked is a method with its own time, apart by what its threads did. Both are estimated by samples: those that were
// taken all the time, or else those of stalls. Without samples, the method ran as far as is known. Waiting for work is
// in neither.
type ranked struct {
	*MethodTotal
	ran, waited int64
}

// ranking returns the methods with the most time of their own, those that ran and those that waited apart, in at most
// so many lines.
func (s *Screen) ranking(room int) []string {
	var all []ranked
	for _, m := range s.methods.Sorted(OrderSelf) {
		if m.NotRecorded() {
			continue
		}
		seen := s.seen[methodKey{Method: m.Method.Key()}]
		share, known := waitedShare(m.Method, m.Estimate.Known, m.Estimate.Waiting+m.Estimate.Blocked, m.Estimate.CPU)
		if !known && seen.of > 0 {
			share = min(1, float64(seen.waited)/float64(seen.of))
		}
		waited := int64(math.Round(float64(m.Self) * share))
		all = append(all, ranked{m, m.Self - waited, max(0, waited-seen.idle.Nanoseconds())})
	}
	room -= 3 // the title of each table, and a blank line
	waited := s.table("methods that waited", all, func(m ranked) int64 { return m.waited }, min(shownRanked/2, room/3))
	ran := s.table("methods that ran", all, func(m ranked) int64 { return m.ran },
		min(shownRanked, room-max(0, len(waited)-1)))
	if len(ran)+len(waited) == 0 {
		return nil
	}
	return slices.Concat([]string{""}, ran, waited)
}

// waitedShare returns which share of a method's own time was waiting, if samples say it of a part: how much of it the
// thread waited, and was on a processor, -1 if that is not known. In a system call the JVM does not know that a thread
// waits.
func waitedShare(m resolve.Method, part, waited, cpu int64) (share float64, known bool) {
	system := false
	switch foreign.ActivityOf("RUNNABLE", []string{m.Identity()}) {
	case foreign.ActivityRunning, foreign.ActivityClasses, foreign.ActivityGC:
	default:
		system = true
	}
	switch {
	case part <= 0:
		return 0, false
	case system && cpu >= 0:
		return max(0, 1-float64(cpu)/float64(part)), true
	case system:
		return 1, true
	}
	return float64(waited) / float64(part), true
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

// name is the name of a method, without its package if there is no room for that, and how many of its calls were left
// out.
func (m ranked) name() string {
	const width = 58
	name, more := m.Method.String(), m.leftOutText()
	if at := strings.LastIndexByte(m.Method.Class, '.'); len(name+more) > width && at > 0 {
		name = name[at+1:]
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
