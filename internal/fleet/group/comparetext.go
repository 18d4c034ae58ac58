package group

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/units"
)

// WriteJSON writes the comparison for programs, at most top methods, 0 for all. Keys are added, never renamed or
// removed.
func (c *Comparison) WriteJSON(w io.Writer, top int) error {
	cut := *c
	if top > 0 && top < len(cut.Changes) {
		cut.Changes = biggest(cut.Changes, top)
	}
	return writeJSON(w, cut)
}

// biggest returns the n changes that are the greatest, whether up or down, in the order that they have.
func biggest(changes []*Change, n int) []*Change {
	low, high := 0, len(changes)
	for kept := 0; kept < n; kept++ {
		first, _ := changes[low].surest()
		last, _ := changes[high-1].surest()
		if math.Abs(first) >= math.Abs(last) {
			low++
		} else {
			high--
		}
	}
	return append(append([]*Change{}, changes[:low]...), changes[high:]...)
}

// WriteText writes the comparison for people: what got slower, what got faster, at most top of each (0 for all), and
// stalls. Methods whose change may well be chance are counted, and shown if all is set.
func (c *Comparison) WriteText(w io.Writer, top int, all bool) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "old: %s\nnew: %s\n", c.Old.text(c.Unit), c.New.text(c.Unit))
	of, advice := " users", "wait for more reports"
	if c.Unit != UnitUser {
		of, advice = "", "give more recordings"
	}
	if c.Old.Units < LeastUnits || c.New.Units < LeastUnits {
		fmt.Fprintf(b, "With fewer than %d %ss on a side, chance cannot be ruled out; %s.\n", LeastUnits, c.Unit, advice)
	}
	slower, faster, noise := c.sides(all)
	if c.Unit != UnitUser {
		writeChanges(b, "Slower", c.Unit, slower, top)
		writeChanges(b, "Faster", c.Unit, faster, top)
	}
	if c.Unchanged > 0 {
		fmt.Fprintf(b, "\nUnchanged: %s\n", units.Count(c.Unchanged, "method"))
	}
	if noise > 0 {
		fmt.Fprintf(b, "\n%s changed by no more than chance; --all shows them\n", units.Count(noise, "method"))
	}
	c.writeStalls(b, of, top)
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Side) text(unit Unit) string {
	text := units.Count(s.Recordings, "recording")
	if unit != UnitRecording {
		text += ", " + units.Count(s.Units, string(unit))
	}
	return text + between(s.First, s.Last)
}

func writeChanges(b *strings.Builder, title string, unit Unit, changes []*Change, top int) {
	if len(changes) == 0 {
		fmt.Fprintf(b, "\n%s: none\n", title)
		return
	}
	fmt.Fprintf(b, "\n%s, own time for each %s:\n", title, unit)
	for i, m := range changes {
		if i == top && top > 0 {
			fmt.Fprintf(b, "  %s more; --top shows them\n", units.Count(len(changes)-top, "method"))
			break
		}
		delta, _ := m.surest()
		fmt.Fprintf(b, "  %-9s %s\n", signed(delta), m.Name())
		fmt.Fprintf(b, "            %s to %s%s%s, %s\n", nanos(m.OldSelf), nanos(m.NewSelf),
			percent(m.OldSelf, m.NewSelf), m.estimated(), m.certainty())
		if c := m.CPU; c != nil {
			fmt.Fprintf(b, "            CPU time %s to %s%s, %s\n", nanos(c.Old), nanos(c.New), percent(c.Old, c.New),
				interval(c.Certainty, c.Low, c.High))
		}
		if m.OldCalls > 0 || m.NewCalls > 0 {
			fmt.Fprintf(b, "            calls %s to %s, own time of a call %s to %s\n", number(m.OldCalls),
				number(m.NewCalls), nanos(m.OldCall), nanos(m.NewCall))
		}
		if m.Was != "" {
			fmt.Fprintf(b, "            was %s, by its code\n", m.Was)
		}
	}
}

// Name returns "Class.Method", and says if it is new or gone.
func (c *Change) Name() string {
	name := strings.TrimPrefix(c.Class+"."+c.Method, ".")
	switch {
	case c.OldCalls == 0 && c.OldEstimated == 0:
		return name + ", new"
	case c.NewCalls == 0 && c.NewEstimated == 0:
		return name + ", gone"
	}
	return name
}

// estimated says how much of the method's own time is known by samples alone.
func (c *Change) estimated() string {
	if c.OldEstimated == 0 && c.NewEstimated == 0 {
		return ""
	}
	return fmt.Sprintf(", of it estimated %s to %s", nanos(c.OldEstimated), nanos(c.NewEstimated))
}

func (c *Change) certainty() string {
	switch c.Certainty {
	case Unknown:
		return "too few to rule out chance"
	case OneSide:
		return "called on one side only, too few to rule out chance"
	}
	return interval(c.Certainty, c.Low, c.High)
}

func interval(c Certainty, low, high float64) string {
	return fmt.Sprintf("%s: %s to %s with 95 %% confidence", c, signed(low), signed(high))
}

// writeStalls writes how groups of stalls have changed, in numbers of what of says.
func (c *Comparison) writeStalls(b *strings.Builder, of string, top int) {
	if len(c.Stalls) > 0 || c.UnchangedStalls > 0 {
		fmt.Fprintf(b, "\nStalls:\n")
	}
	for i, s := range c.Stalls {
		if i == top && top > 0 {
			fmt.Fprintf(b, "  %s more; --top shows them\n", units.Count(len(c.Stalls)-top, "group"))
			break
		}
		fmt.Fprintf(b, "  %s%s\n", s.kind(), s.Worst.Verdict)
		fmt.Fprintf(b, "            %s to %s%s, of %s to %s on average; in a thousand %ss %s to %s; %s\n",
			number(float64(s.Old)), number(float64(s.New)), of, s.mean(s.Old, s.OldMean), s.mean(s.New, s.NewMean), c.Unit,
			number(s.OldRate), number(s.NewRate), s.certainty())
	}
	if c.UnchangedStalls > 0 {
		fmt.Fprintf(b, "  unchanged: %s\n", units.Count(c.UnchangedStalls, "group"))
	}
}

// kind says that a group is new or gone, where chance does not explain that one side has none.
func (s *StallChange) kind() string {
	switch {
	case s.Certainty != Sure && s.Certainty != Likely:
		return ""
	case s.Old == 0:
		return "new: "
	case s.New == 0:
		return "gone: "
	}
	return ""
}

// mean is how long one took, for people.
func (s *StallChange) mean(cases int, nanoseconds float64) string {
	if cases == 0 {
		return "none"
	}
	return nanos(nanoseconds)
}

func (s *StallChange) certainty() string {
	switch s.Certainty {
	case Unknown:
		return "too few to rule out chance"
	case Noise:
		return fmt.Sprintf("may well be chance (p = %.2f)", s.P)
	}
	return string(s.Certainty)
}

func nanos(n float64) string { return units.Short(time.Duration(math.Round(n))) }

func signed(n float64) string {
	if n >= 0 {
		return "+" + nanos(n)
	}
	return "-" + nanos(-n)
}
