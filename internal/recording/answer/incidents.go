package answer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// incidents shows what detectors found.
func (t *Text) incidents(r *analysis.Recording) {
	if text := r.DetectorsText(); text != "" {
		fmt.Fprintf(t.w, "\ndetectors: %s\n", text)
		if len(r.Incidents) == 0 {
			fmt.Fprintf(t.w, "  those that were on found nothing; what the others look for is not known\n")
		}
	}
	if text := playFrames(r); text != "" {
		fmt.Fprintf(t.w, "\n%s\n", text)
	}
	for _, i := range r.Incidents {
		t.incident(i, r)
	}
	if r.OmittedIncidents > 0 {
		fmt.Fprintf(t.w, "\n%d more incidents are not shown\n", r.OmittedIncidents)
	}
}

// playFrames says how many frames the main thread drew slowly in Google Play's terms, "" if the recording has no such
// figures. Play measures until a frame is on the screen, so that its numbers are higher.
func playFrames(r *analysis.Recording) string {
	var all, slow, frozen uint64
	for _, i := range r.Incidents {
		if i.Kind != analysis.IncidentSceneFrames || i.Fact("play-slow-frames") == "" {
			continue
		}
		number := func(key string) uint64 {
			n, _ := strconv.ParseUint(i.Fact(key), 10, 32)
			return n
		}
		all += number("frames")
		slow += number("play-slow-frames")
		frozen += number("play-frozen-frames")
	}
	if all == 0 {
		return ""
	}
	share := func(n uint64) float64 { return 100 * float64(n) / float64(all) }
	return fmt.Sprintf("frames: %d drawn; as Google Play counts, slow (more than 16 ms) %d, %.1f %%, and frozen (more "+
		"than 700 ms) %d, %.1f %%", all, slow, share(slow), frozen, share(frozen))
}

// incident shows one incident. What a stall shows is not repeated.
func (t *Text) incident(i *analysis.Incident, r *analysis.Recording) {
	fmt.Fprintf(t.w, "\n%s\n", i.Title(r))
	field := func(name, text string) { fmt.Fprintf(t.w, "  %-9s%s\n", name, text) }
	s := analysis.Stall{Scene: i.Scene, Foreground: i.Foreground, Recording: r}
	if what := strings.TrimPrefix(i.What+place(&s), "; "); what != "" {
		field("what", what)
	}
	field("found", i.Text)
	var facts []string
	for _, f := range i.Facts {
		facts = append(facts, f.Key+" "+f.Value)
	}
	if len(facts) > 0 {
		field("facts", strings.Join(facts, ", "))
	}
	if len(i.Stalls) > 0 {
		var numbers []string
		for _, n := range i.Stalls {
			numbers = append(numbers, "#"+strconv.Itoa(n))
		}
		if i.Covered {
			field("stall", "the calls are shown with stall "+strings.Join(numbers, ", "))
			if !i.Sampled {
				t.incidentStacks(i, r)
			}
			return
		}
		field("stall", "overlaps stall "+strings.Join(numbers, ", "))
	}
	if len(i.HotPath) > 0 {
		s.Precision = r.Precision
		t.steps("path", i.HotPath, &s, true)
		t.steps("own time", i.MostSelf, &s, false)
	}
	if i.CallsMissing {
		field("", "not all of its calls are here")
	}
	t.incidentStacks(i, r)
}

// incidentStacks shows the best stack; of a recording of which one stall is shown, the first ones.
func (t *Text) incidentStacks(i *analysis.Incident, r *analysis.Recording) {
	if len(i.Stacks) == 0 {
		return
	}
	shown := []*analysis.IncidentStack{cmp.Or(i.BestStack(), &i.Stacks[0])}
	if r.OneStall() {
		shown = nil
		for k := range i.Stacks[:min(len(i.Stacks), shownStacks)] {
			shown = append(shown, &i.Stacks[k])
		}
	}
	for _, s := range shown {
		fmt.Fprintf(t.w, "  %-9s%s after %s: %s, %s\n", "stack", cmp.Or(s.Thread, "a thread"),
			units.Millis(s.After), s.State, s.Activity)
		writeFrames(t.w, s.Frames)
	}
	if n := len(i.Stacks) - len(shown); n > 0 {
		fmt.Fprintf(t.w, "  %-9s%s; the JSON format has all\n", "", units.Count(n, "more stack"))
	}
}
