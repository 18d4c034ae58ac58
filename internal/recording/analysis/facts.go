package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Thread is a thread of a recording, with the name that every format shows.
type Thread struct {
	trace.Thread
	// Label is the name of the main thread. Any other thread has " #" and Java's ID behind its name, because threads
	// of a pool often share a name. No two threads of a recording have the same label.
	Label string `json:"label"`
}

// Thread returns a thread of the recording by its index. A thread that the recording does not introduce is called by
// its index.
func (r *Recording) Thread(index uint32) *Thread {
	if t := r.threads[index]; t != nil {
		return t
	}
	return r.addThread(trace.Thread{Index: index})
}

func (r *Recording) addThread(t trace.Thread) *Thread {
	if r.threads == nil {
		r.threads, r.labels = map[uint32]*Thread{}, map[string]bool{}
	}
	t.Name = resolve.Printable(t.Name)
	label, number := t.Name, fmt.Sprintf("thread %d", t.Index)
	switch {
	case label == "":
		label = number
	case !t.Main && t.ID > 0:
		label += " #" + strconv.FormatInt(t.ID, 10)
	}
	for r.labels[label] {
		label += " (" + number + ")"
	}
	r.labels[label] = true
	added := &Thread{t, label}
	r.threads[t.Index] = added
	return added
}

// At returns a time of the recording, as [trace.Clock.NanoTime] counts it, in nanoseconds since the recording's origin:
// tick 0, which is when the runtime was loaded. In a text it is the begin of the first report; in a recording without
// a clock the first time that there is. A time before the origin becomes 0. All formats count times from the origin.
func (r *Recording) At(nanos int64) int64 { return max(0, r.Since(nanos)) }

// Since is At, but a time before the origin is negative.
func (r *Recording) Since(nanos int64) int64 {
	d := nanos - r.origin
	switch {
	case nanos >= 0 && r.origin < 0 && d < 0:
		return math.MaxInt64
	case nanos < 0 && r.origin >= 0 && d >= 0:
		return math.MinInt64
	}
	return d
}

// WallMillis returns what the wall clock showed at the origin, in milliseconds since 1970, UTC. ok is false if the
// recording has no clock.
func (r *Recording) WallMillis() (millis int64, ok bool) {
	if r.clock == nil {
		return 0, false
	}
	return r.clock.WallMillis - r.Since(r.clock.NanoTime)/1_000_000, true
}

// Process returns what to call the program among others: its process, package or main class, else the recording's name.
func (r *Recording) Process() string {
	for _, key := range []string{"process", "package", "processName"} {
		if p := r.Meta[key]; p != "" {
			return p
		}
	}
	return r.Name
}

// About returns the recording's meta data.
func (r *Recording) About() *trace.Meta { return &trace.Meta{Values: r.Meta} }

// Message returns what a message's or an outermost call's description says.
func (r *Recording) Message(description string) resolve.Message {
	return resolve.ParseMessage(description, r.Names, r.by)
}

// Sample returns a stack sample, with the names that its frames have in the source, and how long after begin it was
// taken.
func (r *Recording) Sample(s *trace.StackSample, begin int64) StackSample {
	return newStackSample(s, begin, r.by)
}

// Fact is an item of a recording's metadata, or a finding of reading it. Value is a string, a bool, or a
// number.
type Fact struct {
	// Key is what it is about.
	Key string
	// Value is what it says.
	Value any
}

// Facts returns what every format says of a recording beside its content: where it comes from, how exact its times
// are, what was repaired. They are complete when it has been read to its end.
func (r *Recording) Facts() []Fact {
	var all []Fact
	add := func(key string, value any) { all = append(all, Fact{key, value}) }
	count := func(key string, n uint64) {
		if n > 0 {
			add(key, n)
		}
	}
	if r.Name != "" {
		add("recording", r.Name)
	}
	if banner := r.Banner(); banner != "" {
		add("warning", banner)
	}
	if lines := r.Completeness.Lines(); len(lines) > 0 {
		add("completeness", strings.Join(lines, "; "))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Meta)) {
		add("meta."+key, r.Meta[key])
	}
	if millis, ok := r.WallMillis(); ok {
		add("wallMillis at 0", millis)
		if r.clock.Zone != "" {
			add("zone", resolve.Printable(r.clock.Zone))
		}
	}
	if u := r.Uncertainty(); u != "" {
		add("times", u)
	}
	if r.kinds[trace.SegmentReport] > 0 {
		add("reports", "calls of reports are merged and placed in the order of the tree; only durations are right")
	}
	if r.kinds[trace.SegmentSamples] > 0 {
		add("samples", "made from stacks that were taken at intervals; a call lasts while it is on all of them")
	}
	if c := r.Completeness; c != nil && c.Suspended > 0 {
		add("suspended", "the process did not run for "+units.Tenths(c.SuspendedTime, c.SuspendedTime))
	}
	if r.Exit != nil {
		add("exit", r.Exit.String())
		if r.Exit.Locks != nil {
			for _, c := range r.Exit.Locks.Deadlocks {
				add("deadlock", resolve.DeadlockText(c))
			}
		}
	}
	for _, d := range r.Detectors {
		add("detector "+d.Name, d.State)
	}
	for _, i := range r.Incidents {
		add(fmt.Sprintf("incident i%d", i.Number), i.Line(r))
	}
	all = append(all, r.viewFacts()...)
	add("stalls", uint64(r.Stalls))
	count("runs", uint64(r.Runs))
	count("waits for work", uint64(r.Waits))
	add("calls", r.Calls)
	count("methods without a name", uint64(r.Unresolved))
	for _, c := range repairCounts(r.Repairs) {
		count("repairs."+c.key, c.n)
	}
	count("samples that contradict calls", r.contradicting)
	if r.Parts > 1 {
		add("parts", uint64(r.Parts))
	}
	for _, m := range r.Missing {
		add("missing "+m.Range(), r.MissingText(m))
	}
	count("overwritten", r.Overwritten)
	for _, c := range damageCounts(r.Damage) {
		count("damage."+c.key, c.n)
	}
	if r.Damage.Header {
		add("damage.header", true)
	}
	add("closed", r.Damage.Closed)
	return all
}

// Uncertainty says how exact times are; it is empty if the recording does not say.
func (r *Recording) Uncertainty() string {
	tick, ok := r.About().Tick()
	if !ok {
		return ""
	}
	return "precise to " + units.Whole(max(r.About().ClockPeriod(), tick).Nanoseconds())
}

// counted is a number of things, by a name for programs and one for people.
type counted struct {
	key, what string
	n         uint64
}

// repairCounts lists what replay repaired.
func repairCounts(r trace.Repairs) []counted {
	return []counted{
		{"unwound", "calls without an exit", r.Unwound},
		{"contradicted", "of them ended earlier, as samples show of their methods", r.Contradicted},
		{"truncated", "calls without an entry", r.Truncated},
		{"open", "calls still open at the end", r.Open},
		{"cut", "calls whose end may be in a gap", r.Cut},
		{"stray", "exits without a call", r.Stray},
		{"retimed", "times beyond what is possible", r.Retimed},
		{"gaps", "gaps", r.Gaps},
		{"lost", "records lost in gaps", r.Lost},
		{"overfull", "calls shorter than the calls in them", r.Overfull},
		{"jumps", "jumps in depth", r.Jumps},
	}
}

// damageCounts lists what is wrong with a file's bytes.
func damageCounts(d trace.Damage) []counted {
	return []counted{
		{"lostChunks", "chunks lost", d.LostChunks},
		{"malformed", "chunks malformed", d.Malformed},
		{"skippedBytes", "bytes skipped", d.SkippedBytes},
		{"unknown", "chunks of an unknown kind", d.Unknown},
	}
}

// countsText lists counts for people; "" if all are 0.
func countsText(list []counted) string {
	var parts []string
	for _, c := range list {
		if c.n > 0 {
			what := c.what
			if c.n == 1 {
				noun, rest, _ := strings.Cut(what, " ")
				what = strings.TrimSpace(strings.TrimSuffix(noun, "s") + " " + rest)
			}
			parts = append(parts, fmt.Sprintf("%d %s", c.n, what))
		}
	}
	return strings.Join(parts, ", ")
}
