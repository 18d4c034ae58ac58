package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// incidentTable is a kind of incidents that are figures. They are shown as a table, a row for each; main are the
// columns that are shown if there are too many.
type incidentTable struct {
	kind, title string
	main        []string
}

var incidentTables = []incidentTable{
	{analysis.IncidentSceneFrames, "frames by scene", []string{"frames", "dropped", "frozen-frames", "mean-millis",
		"worst-millis", "best-millis", "jitter-millis", "fps", "refresh-hz"}},
	{analysis.IncidentStartup, "starts", []string{"type", "slow", "limit-millis", "process-millis", "application-millis",
		"first-activity-millis", "away-millis"}},
}

// maxColumns is how many facts a table has at most.
const maxColumns = 10

// incidents shows what detectors found.
func (t *Text) incidents(r *analysis.Recording) {
	if text := r.DetectorsText(); text != "" {
		fmt.Fprintf(t.w, "\ndetectors: %s\n", text)
		if len(r.Incidents) == 0 {
			fmt.Fprintf(t.w, "  those that were on found nothing; what the others look for is not known\n")
		}
	}
	for _, i := range r.Incidents {
		if !slices.ContainsFunc(incidentTables, func(k incidentTable) bool {
			return k.kind == i.Kind && len(i.Stacks) == 0 && len(i.HotPath) == 0
		}) {
			t.incident(i, r)
		}
	}
	for _, k := range incidentTables {
		t.incidentTable(k, r)
	}
	if r.OmittedIncidents > 0 {
		fmt.Fprintf(t.w, "\n%d more incidents are not shown\n", r.OmittedIncidents)
	}
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
			if !i.Sampled() {
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
	shown := []*analysis.IncidentStack{i.BestStack()}
	if r.OneStall() {
		shown = nil
		for k := range i.Stacks[:min(len(i.Stacks), shownStacks)] {
			shown = append(shown, &i.Stacks[k])
		}
	}
	for _, s := range shown {
		fmt.Fprintf(t.w, "  %-9s%s after %s: %s, %s\n", "stack", cmp.Or(s.Thread, "a thread"),
			analysis.Millis(s.After), s.State, s.Activity)
		writeFrames(t.w, s.Frames)
	}
	if n := len(i.Stacks) - len(shown); n > 0 {
		fmt.Fprintf(t.w, "  %-9s%s; the JSON format has all\n", "", analysis.Count(n, "more stack"))
	}
}

// factTable has the incidents of a kind as rows, with their facts as columns in the order in which they first come.
func factTable(list []*analysis.Incident, kind string) (columns []string, rows []*analysis.Incident) {
	for _, i := range list {
		if i.Kind != kind {
			continue
		}
		rows = append(rows, i)
		for _, f := range i.Facts {
			if !slices.Contains(columns, f.Key) {
				columns = append(columns, f.Key)
			}
		}
	}
	return columns, rows
}

// incidentTable shows the incidents of a kind as a table.
func (t *Text) incidentTable(k incidentTable, r *analysis.Recording) {
	columns, rows := factTable(r.Incidents, k.kind)
	if len(rows) == 0 {
		return
	}
	more := ""
	if n := len(columns); n > maxColumns {
		columns = slices.DeleteFunc(columns, func(c string) bool { return !slices.Contains(k.main, c) })
		more = fmt.Sprintf(" (the JSON format has %s)", analysis.Count(n-len(columns), "more fact"))
	}
	fmt.Fprintf(t.w, "\n%s %s%s:\n", r.Name, k.title, more)
	table := [][]string{append([]string{"", "time"}, columns...)}
	for _, i := range rows {
		wall := "-"
		if i.Ended {
			wall = analysis.Millis(i.Wall)
		}
		row := []string{fmt.Sprintf("i%d %s", i.Number, cmp.Or(i.What, i.Scene, "-")), wall}
		for _, c := range columns {
			row = append(row, cmp.Or(i.Fact(c), "-"))
		}
		table = append(table, row)
	}
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for k, cell := range row {
			widths[k] = max(widths[k], len([]rune(cell)))
		}
	}
	for _, row := range table {
		fmt.Fprintf(t.w, "  %-*s", widths[0], row[0])
		for k, cell := range row[1:] {
			fmt.Fprintf(t.w, "  %*s", widths[k+1], cell)
		}
		fmt.Fprintln(t.w)
	}
}
