package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// recording is what is known of the recording that is being exported.
type recording struct {
	// number counts from 1.
	number int
	title  string
	banner string
	names  trace.Names
	named  map[trace.Method]string
	meta   map[string]string
	clock  *trace.Clock
	// origin is the time of clock that is 0 in the export; fixed is set once something has been exported by it.
	origin   int64
	fixed    bool
	threads  map[uint32]*thread
	methods  map[methodKey]int32
	tids     int64 // given so far, beside the main thread's
	exported int   // threads that the exporter has
	main     bool  // one of which is the main thread

	repairs   trace.Repairs
	damage    *trace.Damage
	end       *trace.End
	kinds     [4]uint64 // segments by kind
	moved     uint64    // segments that were put behind the one before
	calls     uint64
	nameless  map[trace.Method]bool // methods without a name
	duplicate uint64                // messages that were exported before
}

// ordered returns the threads that were exported, by index.
func (r *recording) ordered() []*thread {
	var all []*thread
	for _, index := range slices.Sorted(maps.Keys(r.threads)) {
		if t := r.threads[index]; t.of != nil {
			all = append(all, t)
		}
	}
	return all
}

// process is what to call the recording among others.
func (r *recording) process() string {
	for _, key := range []string{"process", "package", "processName"} {
		if p := r.meta[key]; p != "" {
			return p
		}
	}
	if r.title != "" {
		return r.title
	}
	return "recording " + strconv.Itoa(r.number)
}

// pid is the recording's number as a process. Up to the next one's there is room for its threads.
func (r *recording) pid() int64 { return int64(r.number) << 16 }

// nextTID is the number of a thread, or of what is shown as one, that has none yet.
func (r *recording) nextTID() int64 {
	r.tids++
	return r.pid() + r.tids
}

// rel returns a time since the recording's origin, in nanoseconds, 0 for times before it.
func (r *recording) rel(nanos int64) int64 { return max(0, difference(nanos, r.origin)) }

// difference is a-b, or the nearest number that there is.
func difference(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b >= 0 && d >= 0:
		return math.MinInt64
	}
	return d
}

// sum is a+b, or the nearest number that there is.
func sum(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// thread is a thread of a recording.
type thread struct {
	trace.Thread
	of *recording
	// tid is its number in the export: no other thread of any recording has it, and the main thread's is its process's.
	tid int64
	// order counts the recording's threads from 1, in the order in which they are exported.
	order int
	// shift is added to the times of the segment that is being exported.
	shift int64
	// last is when the last segment has ended, messages when the last message has.
	last, messages int64
	// sequence is the number of the message that is exported next.
	sequence uint64
}

// at returns a time of the segment that is being exported, in nanoseconds since the recording's origin.
func (t *thread) at(nanos int64) int64 { return max(0, sum(difference(nanos, t.of.origin), t.shift)) }

// took returns a call's time in nanoseconds.
func (t *thread) took(c *trace.Call) int64 { return t.at(c.End) - t.at(c.Begin) }

// fact is something that is to be said of a recording or an event. value is a string, int64, uint64, float64 or bool.
type fact struct {
	key   string
	value any
}

func (f fact) text() string { return fmt.Sprint(f.value) }

// facts says of a recording what its content does not: where it comes from, how exact its times are, what was repaired.
func (r *recording) facts() []fact {
	var all []fact
	add := func(key string, value any) { all = append(all, fact{key, value}) }
	if r.title != "" {
		add("recording", r.title)
	}
	if r.banner != "" {
		add("warning", r.banner)
	}
	for _, key := range slices.Sorted(maps.Keys(r.meta)) {
		add("meta."+key, r.meta[key])
	}
	if r.clock != nil {
		add("wallMillis at 0", difference(r.clock.WallMillis, difference(r.clock.NanoTime, r.origin)/1_000_000))
		if r.clock.Zone != "" {
			add("zone", r.clock.Zone)
		}
	}
	if u := r.uncertainty(); u != "" {
		add("times", u)
	}
	if r.kinds[trace.SegmentReport] > 0 {
		add("reports", "calls of reports are merged and placed in the order of the tree; only durations are right")
	}
	if r.kinds[trace.SegmentSamples] > 0 {
		add("samples", "made from stacks that were taken at intervals; a call lasts while it is on all of them")
	}
	add("calls", r.calls)
	if n := len(r.nameless); n > 0 {
		add("methods without a name", uint64(n))
	}
	if r.moved > 0 {
		add("segments moved behind the one before", r.moved)
	}
	return append(all, r.repairFacts()...)
}

// about returns the recording's meta data.
func (r *recording) about() *trace.Meta { return &trace.Meta{Values: r.meta} }

// uncertainty says how exact times are; it is empty if the recording does not say.
func (r *recording) uncertainty() string {
	tick, ok := r.about().Tick()
	if !ok {
		return ""
	}
	text := fmt.Sprintf("in ticks of %s", nanosText(tick.Nanoseconds()))
	if period := r.about().ClockPeriod(); period > 0 {
		text += fmt.Sprintf(" by a clock that moves every %d ms: a duration may be wrong by that much",
			period.Milliseconds())
	}
	return text
}

// nanosText returns a duration in the largest unit that leaves it whole.
func nanosText(n int64) string {
	for _, u := range []struct {
		nanos int64
		name  string
	}{{1_000_000_000, "s"}, {1_000_000, "ms"}, {1000, "µs"}} {
		if n%u.nanos == 0 {
			return strconv.FormatInt(n/u.nanos, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " ns"
}

// repairFacts says what replay repaired and what the reader found wrong.
func (r *recording) repairFacts() []fact {
	var all []fact
	count := func(key string, n uint64) {
		if n > 0 {
			all = append(all, fact{key, n})
		}
	}
	p := &r.repairs
	count("repairs.unwound", p.Unwound)
	count("repairs.truncated", p.Truncated)
	count("repairs.cut", p.Cut)
	count("repairs.open", p.Open)
	count("repairs.stray", p.Stray)
	count("repairs.retimed", p.Retimed)
	count("repairs.renamed", p.Renamed)
	count("repairs.swapped", p.Swapped)
	count("repairs.gaps", p.Gaps)
	count("repairs.lost", p.Lost)
	count("repairs.overfull", p.Overfull)
	count("repairs.jumps", p.Jumps)
	if r.end != nil {
		count("overwritten", r.end.Overwritten)
	}
	if d := r.damage; d != nil {
		count("damage.lostChunks", d.LostChunks)
		count("damage.malformed", d.Malformed)
		count("damage.skippedBytes", d.SkippedBytes)
		count("damage.unknown", d.Unknown)
		if d.Header {
			all = append(all, fact{"damage.header", true})
		}
		all = append(all, fact{"closed", d.Closed})
	}
	return all
}

// marksText names marks, but for those that only say that a call is in parts; it is empty if there are none.
func marksText(m trace.Marks) string {
	var all []string
	for k, name := range [...]string{"open", "unwound", "truncated", "retimed", "overfull", 7: "cut"} {
		if name != "" && m&(1<<k) != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// shown is the marks that are to be shown.
const shown = trace.MarkOpen | trace.MarkUnwound | trace.MarkTruncated | trace.MarkRetimed |
	trace.MarkOverfull | trace.MarkCut

// callFacts is what is to be said of a call beside its name and times.
func callFacts(c *trace.Call) []fact {
	var all []fact
	if m := marksText(c.Marks); m != "" {
		all = append(all, fact{"marks", m})
	}
	if c.Count != 1 {
		all = append(all, fact{"calls", uint64(c.Count)})
	}
	return all
}
