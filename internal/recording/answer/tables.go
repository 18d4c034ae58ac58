package answer

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// WriteTable writes the methods as a table for people, at most top of them, 0 for all.
func (m *Methods) WriteTable(w io.Writer, by Order, top int) error {
	b := bufio.NewWriter(w)
	writeCompleteness(b, m.recordings)
	list := m.Sorted(by)
	fmt.Fprintf(b, "%12s %12s %10s %12s %6s  %s\n", "self", "total", "calls", "longest", "stalls", "method")
	for i, t := range list {
		if i == top && top > 0 {
			fmt.Fprintf(b, "... %s more\n", units.Count(len(list)-i, "method"))
			break
		}
		longest := t.atLeast(t.Longest)
		if t.Calls == 0 && t.Estimate.Samples > 0 {
			longest = "-"
		}
		fmt.Fprintf(b, "%12s %12s %10s %12s %6d  %s%s%s%s\n", t.atLeast(t.Self),
			t.atLeast(t.Total), callsText(&t.Sum), longest, t.Stalls, t.Method, markedText(t.Marked),
			t.leftOutText(), restsText(&t.Sum))
	}
	return b.Flush()
}

// writeCompleteness writes what is missing from recordings.
func writeCompleteness(w io.Writer, list []*analysis.Recording) {
	for _, r := range list {
		for _, line := range r.Completeness.Lines() {
			fmt.Fprintf(w, "!!! %s: %s\n", r.Name, line)
		}
	}
}

// atLeast returns a time of a method, with ≥ before it if it may be greater in truth.
func (t *MethodTotal) atLeast(nanos int64) string {
	text := units.Millis(time.Duration(nanos))
	if t.lossy {
		return "≥ " + text
	}
	return text
}

// leftOutText says how many calls of a method were left out; it is empty if none were.
func (t *MethodTotal) leftOutText() string {
	more := ""
	if t.LetGo {
		more = "more than "
	}
	if t.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("  [%s%s left out]", more, units.Count(t.LeftOut, "call"))
}

func markedText(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  [%d repaired]", n)
}

// callsText returns how many calls there were; "-" if only samples show them.
func callsText(t *sums.Sum) string {
	if t.Calls == 0 && t.Estimate.Samples > 0 {
		return "-"
	}
	return strconv.FormatUint(t.Calls, 10)
}

// restsText says what the times of a method rest on, if it is not records alone.
func restsText(t *sums.Sum) string {
	if text := t.Rests(); text != "" {
		return "  [" + text + "]"
	}
	return ""
}
