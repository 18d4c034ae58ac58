package group

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// WriteText writes the groups for people, at most top of them, 0 for all.
func (f *Fleet) WriteText(w io.Writer, top int) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s of %s%s: %s in %s\n", units.Count(f.Recordings, "recording"), units.Count(f.Users, "user"),
		between(f.First, f.Last),
		units.Count(f.Stalls, "stall"), units.Count(len(f.Groups), "group"))
	if f.Nameless > 0 {
		fmt.Fprintf(b, "(%s without a user; each counts as one user. Add a user to the recording's properties; logs have "+
			"none)\n", units.Count(f.Nameless, "recording"))
	}
	for i, g := range f.Groups {
		if i == top && top > 0 {
			fmt.Fprintf(b, "\n%s more; --top shows them\n", units.Count(len(f.Groups)-top, "group"))
			break
		}
		g.writeText(b, i+1)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *StallGroup) writeText(b *strings.Builder, rank int) {
	fmt.Fprintf(b, "\n%d. %s × %s on average = %s s%s\n", rank, units.Count(g.Users, "user"), units.Short(g.Mean),
		units.Commas(fmt.Sprintf("%.1f", g.Score)),
		between(g.First, g.Last))
	fmt.Fprintf(b, "   %s\n", g.Worst.Verdict)
	for depth, method := range g.Worst.HotPath {
		fmt.Fprintf(b, "   %s%s\n", strings.Repeat("  ", depth), method)
	}
	fmt.Fprintf(b, "   %s in %s; median %s, nine of ten below %s, longest %s: %s\n", units.Count(g.Stalls, "stall"),
		units.Count(g.Recordings, "recording"), units.Short(g.Median), units.Short(g.P90), units.Short(g.Longest),
		sourceOf(&g.Worst))
	if len(g.ByDevice) > 0 {
		fmt.Fprintf(b, "   on %s\n", devicesText(g.ByDevice))
	}
}

// sourceOf names the stall: by its report, or by its recording and number.
func sourceOf(c *analysis.Row) string {
	if ofReport(c) {
		return "report " + c.ReportID
	}
	return placeOf(c)
}

// ofReport reports whether a report has the stall, and no recording.
func ofReport(c *analysis.Row) bool { return c.Number == 0 && c.Incident == "" }

// devicesText names the first devices with the number of their users.
func devicesText(devices []Share) string {
	const most = 3
	var parts []string
	for _, d := range devices[:min(most, len(devices))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", d.Device, units.Count(d.Users, "user")))
	}
	if more := len(devices) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// WriteJSON writes the groups for programs, at most top of them, 0 for all. Keys are added, never renamed or removed.
func (f *Fleet) WriteJSON(w io.Writer, top int) error {
	cut := *f
	if top > 0 && top < len(cut.Groups) {
		cut.Groups = cut.Groups[:top]
	}
	return writeJSON(w, cut)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// between names a range of versions behind a comma; it is empty if there is none.
func between(first, last string) string {
	switch {
	case first == "" && last == "":
		return ""
	case first == last:
		return ", version " + first
	}
	return ", versions " + first + " to " + last
}

// placeOf says which stall or incident of which recording it is.
func placeOf(c *analysis.Row) string {
	if c.Incident != "" {
		return fmt.Sprintf("%s i%d", c.Recording, c.Number)
	}
	return fmt.Sprintf("%s #%d", c.Recording, c.Number)
}
