package read

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// selection holds the options that say which part of the recordings analyze shows. Package analysis applies them,
// before any format is written.
type selection struct {
	from, to moment
	threads  []string
	least    least
	stall    int
	all      bool
	maxSize  cli.ByteSize
}

// defaultMaxSize is more than most viewers can open.
const defaultMaxSize cli.ByteSize = 1e9

func (s *selection) options() []cli.Option {
	s.maxSize = defaultMaxSize
	return cli.Grouped("Selection",
		cli.Option{Name: "from", Flag: cli.Custom(&s.from),
			Help: "show only what was after this `TIME`: since the begin of the recording (1.5s, 200ms), or UTC " +
				"(\"2026-11-22 13:19:28.350\"), as the report shows it"},
		cli.Option{Name: "to", Flag: cli.Custom(&s.to), Help: "show only what was before this `TIME`"},
		cli.Option{Name: "thread", Flag: cli.Texts(&s.threads),
			Help: "show only the thread with this `NAME` or ID; can be repeated"},
		cli.Option{Name: "stall", Flag: cli.Number(&s.stall, 0),
			Help: "show only the stall with this `NUMBER` of the report"},
		cli.Option{Name: "min", Flag: cli.Custom(&s.least),
			Help: "omit calls that took less than a `TIME` (5ms) or a share of the time shown (1%); in the format " +
				"tree, a share omits paths"},
		cli.Option{Name: "all", Flag: cli.Yes(&s.all), Help: "write each call, also those that are too short for a viewer"},
		cli.Option{Name: "max-size", Flag: cli.Custom(&s.maxSize),
			Help: "fail if the output is larger: no file is written, and standard output is cut"},
	)
}

// selects reports whether only a part of the recordings is shown.
func (s *selection) selects() bool {
	return s.from.set || s.to.set || len(s.threads) > 0 || s.least != (least{}) || s.stall != 0
}

// check refuses options that exclude each other.
func (s *selection) check(recordings int) error {
	switch {
	case s.stall < 0:
		return cli.Misuse("--stall %d: must not be negative", s.stall)
	case s.stall > 0 && recordings > 1:
		return cli.Misuse("--stall %d is a stall of one recording, but there are %d: name one", s.stall, recordings)
	case s.from.set && s.to.set && s.from.Wall.IsZero() && s.to.Wall.IsZero() && s.from.After >= s.to.After,
		!s.from.Wall.IsZero() && !s.to.Wall.IsZero() && !s.from.Wall.Before(s.to.Wall):
		return cli.Misuse("--from %s is not before --to %s", &s.from, &s.to)
	}
	return nil
}

// resolutionShare is one part of how much of the time that is shown a call takes at least that is not folded. A viewer
// is some thousand pixels wide, so that such a call is seen after zooming in once or twice.
const resolutionShare = 100_000

// view returns the part of a recording that is shown; nil for all of it. only is the stall of --stall or nil; fold is
// set for a format whose short calls are folded.
func (s *selection) view(extent trace.Extent, only *analysis.Stall, fold, tree bool) *analysis.View {
	v := &analysis.View{Threads: s.threads, Only: only, Least: s.least.Nanos}
	begin, end := time.Duration(0), extent.Span
	if s.from.set {
		v.From = &s.from.Moment
		begin = max(begin, s.from.After)
	}
	if s.to.set {
		v.To = &s.to.Moment
		if s.to.Wall.IsZero() {
			end = min(end, s.to.After)
		}
	}
	shown := max(0, end-begin)
	if only != nil {
		shown = only.Wall
	}
	if !tree {
		v.Least = max(v.Least, int64(math.Ceil(s.least.Share*float64(shown))))
	}
	if fold && extent.Precision > 0 {
		v.Resolution = rounded(max(extent.Precision, shown/resolutionShare)).Nanoseconds()
	}
	if !s.selects() && v.Resolution == 0 {
		return nil
	}
	return v
}

// rounded returns the greatest of 1, 2 and 5 with zeros behind it, in nanoseconds, that is not greater.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10 {
		unit *= 10
	}
	for _, n := range []time.Duration{5, 2} {
		if d >= n*unit {
			return n * unit
		}
	}
	return unit
}

// noSuchThread is the error for names of --thread that no recording has. found counts the recordings without a name.
func noSuchThread(without map[string]int, recordings int) error {
	var names []string
	for name, n := range without {
		if n == recordings {
			names = append(names, strconv.Quote(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("no thread has the name or ID %s; the report names the threads with stalls", strings.Join(names,
		", "))
}

// moment is the flag of a time of a recording.
type moment struct {
	analysis.Moment
	set bool
}

// momentLayouts are the forms of a time in UTC.
var momentLayouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339}

// Set implements pflag.Value.
func (m *moment) Set(text string) error {
	text = strings.TrimSpace(text)
	*m = moment{set: true}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		m.After = time.Duration(seconds * 1e9)
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		m.After = d
		return nil
	}
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, strings.TrimSuffix(text, " UTC")); err == nil {
			m.Wall = t
			return nil
		}
	}
	return errors.New("must be a time since the begin of the recording such as 1.5s, or a date and time in UTC such " +
		"as \"2026-11-22 13:19:28.350\"")
}

// String implements pflag.Value.
func (m *moment) String() string {
	if !m.set {
		return ""
	}
	return m.Moment.String()
}

// Type implements pflag.Value.
func (m *moment) Type() string { return "TIME" }
