package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// Banner warns that names are not to be trusted; "" if they are.
func (r *Recording) Banner() string {
	if r.Forced {
		return fmt.Sprintf("%s: NAMES MAY BE WRONG: the recording belongs to mapping %s, the names are from another "+
			"mapping", r.Name, r.Digest)
	}
	return ""
}

// Title says in a line which message it is.
func (s *Stall) Title() string {
	return fmt.Sprintf("%s #%d: %s on %s%s", s.Recording.Name, s.Number, s.Duration("duration "), s.threadName(), s.when())
}

// Duration says how long it took. what stands before the word that this is not known.
func (s *Stall) Duration(what string) string {
	if s.WallUnknown {
		return what + "not known"
	}
	return units.Millis(s.Wall)
}

func (s *Stall) threadName() string {
	if s.Thread.Name == "" {
		return s.Thread.Label
	}
	return "thread " + s.Thread.Label
}

// began says when something began that was so long behind the origin of its recording.
func (m Moment) began(in time.Duration) string {
	text := fmt.Sprintf(", %.3f s in", in.Seconds())
	if !m.IsZero() {
		text += m.Format(", 2006-01-02 15:04:05.000 UTC")
	}
	return text
}

func (s *Stall) when() string {
	text := s.Time.began(s.Begin)
	switch {
	case !s.Ended:
		text += ", still open when the recording ended"
	case !s.Reported:
		text += ", not reported by the device"
	}
	return text
}

// Place says in words where the app was when the stall began; it is empty if that is not known.
func (s *Stall) Place() string {
	switch {
	case s.Scene != "" && s.Foreground:
		return "scene " + s.Scene + ", in the foreground"
	case s.Scene != "":
		return "scene " + s.Scene + ", in the background"
	}
	return ""
}

// String says what ran, and for how long.
func (p Past) String() string {
	text := units.Millis(p.Wall) + ": "
	switch p.Kind {
	case "idle":
		return text + "idle"
	case "merged":
		if p.Count > 1 {
			return text + fmt.Sprintf("%d short messages, the longest: %s", p.Count, p.Message)
		}
	}
	text += p.Message.String()
	if p.CPU >= 0 {
		text += fmt.Sprintf(", CPU %s", units.Millis(p.CPU))
	}
	return text
}

// String says what waited, and since when.
func (p Waiting) String() string {
	text := "overdue by " + units.Millis(p.Late)
	if p.Late < 0 {
		text = "due in " + units.Millis(-p.Late)
	}
	if p.Barrier {
		return text + fmt.Sprintf(": a barrier (token %d), which blocks messages that are not asynchronous", p.Arg1)
	}
	what := p.What
	m := resolve.Message{Kind: "message", Handler: p.Handler, Callback: p.Callback, What: &what}
	text += ": " + m.String()
	if p.Asynchronous {
		text += ", asynchronous"
	}
	return text
}

// Summary says in a line what there was, and what was wrong.
func (r *Recording) Summary() string {
	parts := []string{fmt.Sprintf("%s in %.1f s", units.Count(r.Stalls, "stall"), r.Span.Seconds())}
	if threshold := r.Meta["slowMillis"]; threshold != "" {
		parts[0] += ", of " + threshold + " ms and more"
	}
	if r.Runs > 0 {
		parts = append(parts, units.Count(r.Runs, "run"))
	}
	if r.Waits > 0 {
		parts = append(parts, units.Count(r.Waits, "wait")+" for work")
	}
	if r.HasCalls() {
		parts = append(parts, fmt.Sprintf("%d records of %s", r.Records, units.Count(r.Threads, "thread")))
	}
	if n := len(r.Incidents) + r.OmittedIncidents; n > 0 {
		parts = append(parts, units.Count(n, "incident"))
	}
	if r.Unresolved > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s unresolved", r.Unresolved, units.Count(r.Methods, "method")))
	}
	for _, m := range r.Missing {
		parts = append(parts, r.MissingText(m))
	}
	if r.Overwritten > 0 {
		parts = append(parts, fmt.Sprintf("%d records were overwritten on the device", r.Overwritten))
	}
	if c := r.Completeness; c != nil && c.Suspended > 0 {
		parts = append(parts, "the process did not run for "+units.Tenths(c.SuspendedTime, c.SuspendedTime))
	}
	if r.Exit != nil {
		parts = append(parts, r.Exit.String())
	}
	if text := r.Repaired(); text != "" {
		parts = append(parts, "repaired: "+text)
	}
	if text := r.Damaged(); text != "" {
		parts = append(parts, "damage: "+text)
	}
	return strings.Join(parts, "; ")
}

// DetectorsText says in a line what each detector did; empty if the recording does not say.
func (r *Recording) DetectorsText() string {
	var parts []string
	for _, d := range r.Detectors {
		text := d.Name + " " + d.State
		if len(d.Earlier) > 0 {
			text += " (before: " + strings.Join(d.Earlier, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// Warnings says what the answers are not to be trusted for.
func (r *Recording) Warnings() []string {
	var list []string
	for _, line := range r.Completeness.Lines() {
		list = append(list, r.Name+": "+line)
	}
	return append(list, r.OtherWarnings()...)
}

// OtherWarnings returns the warnings that are not about its completeness.
func (r *Recording) OtherWarnings() []string {
	var list []string
	if banner := r.Banner(); banner != "" {
		list = append(list, banner)
	} else if r.HasIDs() && !resolve.Stamped(r.Digest) {
		list = append(list, r.Name+": the recording does not name its mapping, so the names may be wrong; "+
			"add the runtime to the inputs of tracegen instrument, which writes the mapping's digest into it")
	}
	if r.by.By != nil && r.by.Restored && !r.restored {
		list = append(list, r.Name+": no frame of its stacks is in the mapping of R8: give that of the build that wrote it")
	}
	if r.Unresolved > 0 && (r.Resolved || r.Forced) {
		list = append(list, fmt.Sprintf("%s: %d of %s unresolved: the mapping does not have their IDs", r.Name,
			r.Unresolved, units.Count(r.Methods, "method")))
	}
	for _, m := range r.Missing {
		list = append(list, r.Name+": "+r.MissingText(m))
	}
	if r.unmeasured > 0 {
		list = append(list, fmt.Sprintf("%s: %s of unknown duration in no group and no comparison", r.Name,
			units.Count(r.unmeasured, "stall")))
	}
	if text := r.Damaged(); text != "" {
		list = append(list, r.Name+": damaged: "+text)
	}
	return list
}

// Repaired lists in words what was repaired in the calls of the recording; it is empty if nothing was.
func (r *Recording) Repaired() string {
	counts := repairCounts(r.Repairs)
	for i := range counts {
		if counts[i].key == "contradicted" && r.contradicting > 0 {
			show := "show"
			if r.contradicting == 1 {
				show = "shows"
			}
			counts[i].what = fmt.Sprintf("of them ended earlier, as %s %s of their methods",
				units.Count(r.contradicting, "sample"), show)
		}
	}
	return countsText(counts)
}

// Repaired lists in words what was repaired in the calls of the stall; it is empty if nothing was.
func (s *Stall) Repaired() string { return countsText(repairCounts(s.Repairs)) }

// Damaged says what is wrong with the file; it is empty if nothing is. That it was not closed is no damage.
func (r *Recording) Damaged() string {
	text := countsText(damageCounts(r.Damage))
	if r.Damage.Header {
		text += ", the header is damaged"
	}
	return strings.TrimPrefix(text, ", ")
}

// list returns an empty list for none: null in JSON says that it is not known.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
