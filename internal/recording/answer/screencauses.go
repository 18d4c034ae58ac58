package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// entries returns the lines about stalls and runs, the longest first.
func (s *Screen) entries() []string {
	byRole := map[analysis.Role][]*cause{}
	for _, c := range s.causes {
		byRole[c.role] = append(byRole[c.role], c)
	}
	stalls, runs := byRole[analysis.RoleStall], byRole[analysis.RoleRun]
	room := min(len(runs), shownRuns)
	if len(stalls) == 0 {
		room = shownEntries
	}
	lines := s.list(s.stallTitle(stalls), stalls, shownEntries-room)
	if len(runs) > 0 {
		lines = append(lines, s.list("Runs: main, and what threads were started for; the longest first:", runs, room)...)
	}
	if s.idle.count > 0 {
		lines = append(lines, "", fmt.Sprintf("Left out: %s for work, the longest %s for %s (%s); --idle shows them",
			units.Count(s.idle.count, "wait"), units.Short(s.idle.longest), s.idle.awaited,
			s.longest(&s.idle)))
	}
	return lines
}

// stallTitle says how many stalls there are, and from which time on a call or a message is one.
func (s *Screen) stallTitle(list []*cause) string {
	var thresholds []string
	for _, r := range s.recordings {
		if t, ok := r.About().SlowThreshold(); ok {
			thresholds = append(thresholds, units.Short(t))
		}
	}
	slices.Sort(thresholds)
	of := ""
	if thresholds = slices.Compact(thresholds); len(thresholds) == 1 {
		of = " of " + thresholds[0] + " or more"
	}
	n := 0
	for _, c := range list {
		n += c.count
	}
	if n == 0 && of == "" {
		return "No stall"
	}
	if n == 0 {
		return "No stall" + of + ": the setting slow, --slow of record, lowers this"
	}
	return fmt.Sprintf("%s%s, of %s; the longest first:", units.Count(n, "stall"), of,
		units.Count(len(list), "cause"))
}

// found returns lines about the incidents that detectors have found, and that no stall shows.
func (s *Screen) found() []string {
	byKey := map[string]*cause{}
	var all []*cause
	n, watched := 0, ""
	for _, r := range s.recordings {
		watched = cmp.Or(watched, r.DetectorsText())
		n += len(r.Incidents) + r.OmittedIncidents
		for i, row := range analysis.IncidentRows(r) {
			if row.NotCounted != "" {
				continue
			}
			c := byKey[row.Key]
			if c == nil {
				c = &cause{}
				byKey[row.Key], all = c, append(all, c)
			}
			if c.add(row) {
				c.what = r.Incidents[i].What
			}
		}
	}
	switch {
	case n == 0 && watched == "":
		return nil
	case len(all) == 0:
		return []string{"", fmt.Sprintf("%s beside the stalls; detectors: %s", units.Count(n, "incident"), watched)}
	}
	return s.list(fmt.Sprintf("%s, these beside the stalls; detectors: %s", units.Count(n, "incident"), watched), all,
		shownFound)
}

// add counts a stall or an incident with those of its cause; longest is whether it is the longest so far.
func (c *cause) add(row analysis.Row) (longest bool) {
	c.count++
	c.total += time.Duration(row.Lasted)
	if longest = c.count == 1 || row.Lasted > c.longest.Nanoseconds(); longest {
		c.longest, c.worst, c.path = time.Duration(row.Lasted), row, row.HotPath
	}
	return longest
}

// list returns the lines about causes, at most most of them.
func (s *Screen) list(title string, all []*cause, most int) []string {
	lines := []string{"", title}
	slices.SortFunc(all, func(a, b *cause) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(b.total, a.total),
			cmp.Compare(a.worst.Recording, b.worst.Recording), cmp.Compare(a.worst.Number, b.worst.Number))
	})
	for i, c := range all {
		if i == most {
			rest := 0
			for _, c := range all[i:] {
				rest += c.count
			}
			return append(lines, fmt.Sprintf("  %d more of %s: -v shows all", rest, units.Count(len(all)-i, "cause")))
		}
		lines = append(lines, s.lines(c)...)
	}
	return lines
}

// lines returns the two lines about a cause: how long and why, then where.
func (s *Screen) lines(c *cause) []string {
	times := units.Short(c.longest)
	if c.worst.NotCounted == analysis.NotCountedUnknown {
		times = "?"
	}
	often := ""
	if c.count > 1 {
		times, often = "≤ "+times, fmt.Sprintf("%d × ", c.count)
	}
	begin := fmt.Sprintf("%8s%10s  ", often, times)
	indent := len([]rune(begin))
	where := s.longest(c)
	if c.count > 1 {
		where += ", in all " + units.Short(c.total)
	}
	room := func() int { return screenWidth - indent - len([]rune(where)) - 2 }
	switch {
	case c.what != "" && len(c.path) > 0:
		most := max(room()/2, room()-2-len([]rune(strings.Join(c.path, " > "))))
		where += ": " + cut(shortened(c.what, most), most)
	case c.what != "":
		where += ": " + shortened(c.what, room())
	}
	if len(c.path) > 0 {
		where += ": " + pathText(c.path, room())
	}
	return []string{begin + s.why(c, screenWidth-indent), strings.Repeat(" ", indent) + where}
}

// longest names the longest stall of a cause and its thread.
func (s *Screen) longest(c *cause) string {
	name := fmt.Sprintf("#%d", c.worst.Number)
	if c.worst.Incident != "" {
		name = fmt.Sprintf("i%d", c.worst.Number)
	}
	if len(s.recordings) > 1 {
		name = c.worst.Recording + " " + name
	}
	if c.worst.Thread != "" {
		name += " on " + c.worst.Thread
	}
	return name
}

// why is the verdict on the longest stall of a cause. Of a deadlock, the circle comes first.
func (s *Screen) why(c *cause, width int) string {
	const long, short = "time is spread over many methods, the largest part in ", "most in "
	text := strings.Replace(c.worst.Verdict, long, short, 1)
	if _, circle, ok := strings.Cut(text, ": deadlock: "); ok {
		text = "deadlock: " + strings.TrimSuffix(circle, ")")
	}
	return fitting(text, width)
}

// whole returns of the parts of a text, which semicolons separate, those that have room; the first in any case, with
// shorter names if it has none.
func whole(text string, width int) string {
	for len([]rune(text)) > width {
		i := strings.LastIndex(text, "; ")
		if i < 0 {
			return cut(shortened(text, width), width)
		}
		text = text[:i]
	}
	return text
}

// fitting is whole, but if that leaves a third of the room empty, it adds what has room of the other parts, with
// shorter names.
func fitting(text string, width int) string {
	parts := whole(text, width)
	rest, room := strings.TrimPrefix(text, parts), width-len([]rune(parts))
	if room*3 < width || len(rest) == len(text) {
		return parts
	}
	return parts + cut(shortened(rest, room), room)
}

// pathText names the methods of a path, the outermost first. If there is no room, it leaves out packages, then methods
// in the middle, and classes.
func pathText(path []string, width int) string {
	text := strings.Join(path, " > ")
	if len([]rune(text)) <= width {
		return text
	}
	path = slices.Clone(path)
	for i := range path {
		path[i] = withoutPackage(path[i])
	}
	text = strings.Join(path, " > ")
	for k := 2; len([]rune(text)) > width && k < len(path); k++ {
		text = path[0] + " > … > " + strings.Join(path[k:], " > ")
	}
	if text = shortened(text, width); len([]rune(text)) > width && len(path) > 1 {
		text = "… > " + path[len(path)-1]
	}
	return cut(shortened(text, width), max(2, width))
}
