package group

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// spans has when the stalls of recordings with an ID were, so that an incident of a report is found to be covered by
// one.
type spans map[threadKey][]stallSpan

// threadKey is a thread of a recording.
type threadKey struct{ recording, thread string }

// stallSpan is from when to when a stall was, in nanoseconds since 1970.
type stallSpan struct{ begin, end int64 }

const (
	// maxSpans is how many stalls that begin before the middle of an incident are compared with it. Stalls of one thread
	// follow each other, but for input events in a message, so that the last ones decide.
	maxSpans = 1000
	// maxTime is the latest begin of a span, in milliseconds since 1970: in the year 2116. docs/sql/reports.sql has the
	// same limit.
	maxTime = math.MaxInt64 / 2 / int64(time.Millisecond)
)

// spanOf returns when a stall or an incident of a thread was; false if that is not known.
func spanOf(c *analysis.Row) (s stallSpan, known bool) {
	if c.Time <= 0 || c.Time > maxTime || c.Thread == "" || c.Lasted < 0 {
		return s, false
	}
	begin := c.Time * int64(time.Millisecond)
	return stallSpan{begin, begin + min(c.Lasted, math.MaxInt64/4)}, true
}

// add notes when a stall of a recording with an ID was. It notes nothing for an incident.
func (s spans) add(recording string, c *analysis.Row) {
	if at, known := spanOf(c); known && recording != "" && devicereport.IsStall(c.ReportKind) {
		key := threadKey{recording, c.Thread}
		s[key] = append(s[key], at)
	}
}

// mayBeCovered reports whether a stall may cover what a report is about. An incident of a recording was compared with
// the stalls of the recording when it was read.
func mayBeCovered(c *analysis.Row) bool { return ofReport(c) && !devicereport.IsStall(c.ReportKind) }

func (s spans) sort() {
	for _, list := range s {
		slices.SortFunc(list, func(a, b stallSpan) int {
			return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
		})
	}
}

// cover reports whether one of the spans, which are sorted, covers the incident of a report.
func (s spans) cover(c *analysis.Row) bool {
	at, known := spanOf(c)
	if !known {
		return false
	}
	list := s[threadKey{c.Recording, c.Thread}]
	// A stall that begins behind the middle of the incident does not cover it.
	middle := at.begin + (at.end-at.begin)/2
	before, _ := slices.BinarySearchFunc(list, middle+1, func(of stallSpan, t int64) int {
		return cmp.Compare(of.begin, t)
	})
	return slices.ContainsFunc(list[max(0, before-maxSpans):before], func(of stallSpan) bool {
		return analysis.Covers(of.begin, of.end, at.begin, at.end)
	})
}
