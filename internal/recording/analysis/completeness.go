package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Completeness says how much of what a program did is in a recording. Records that are lost make gaps: what happened
// there is not known, and times are lower bounds. Calls that the runtime left out, because their method was off or in
// a window, are counted, and their time is in their callers.
type Completeness struct {
	// Recorded is how many records are there, Lost how many are missing; both count entries and exits. LostShare is
	// which share is missing, from 0 to 1.
	Recorded  uint64  `json:"recorded"`
	Lost      uint64  `json:"lost"`
	LostShare float64 `json:"lostShare"`
	// Runs is how many runs of records without a gap there are on all threads, NotRecorded how long the gaps
	// between them are on all threads together.
	Runs        uint64        `json:"runs"`
	NotRecorded time.Duration `json:"notRecordedNanos"`
	// Windows is how many times short calls were left out because a thread made records too fast, WindowCalls how
	// many calls, WindowTime how long these times were on all threads together.
	Windows     uint64        `json:"windows"`
	WindowCalls uint64        `json:"windowCalls"`
	WindowTime  time.Duration `json:"windowNanos"`
	// MethodsOff is how many methods the runtime switched off at some time, LeftOut how many of their calls it left
	// out, and Off which methods these are, the one with the most such calls first. MethodsLetGo is how many of them had
	// more calls, which were not counted.
	MethodsOff   int         `json:"methodsOff"`
	MethodsLetGo int         `json:"methodsLetGo"`
	LeftOut      uint64      `json:"leftOut"`
	Off          []OffMethod `json:"off"`
	// LostChunks is how many parts of the file are missing or cannot be read.
	LostChunks uint64 `json:"lostChunks"`

	// Late is how often the clock of records was late, LateTime how long these times are together, LateMost how long the
	// longest is: times of records in them may be off by as much.
	Late     uint64        `json:"late"`
	LateTime time.Duration `json:"lateNanos"`
	LateMost time.Duration `json:"lateMostNanos"`
	// Suspended is how often the process did not run, SuspendedTime how long that was.
	Suspended     uint64        `json:"suspended"`
	SuspendedTime time.Duration `json:"suspendedNanos"`
	// Dropped is what the recorder did not write, because it had no memory for it, no time, or a full disk.
	Dropped []DroppedCount `json:"dropped"`
}

// OffMethod is a method that the runtime switched off, and how many of its calls it left out.
type OffMethod struct {
	Method resolve.Method `json:"method"`
	Calls  uint64         `json:"calls"`
	// LetGo is whether there were more calls, which were not counted.
	LetGo bool `json:"letGo,omitempty"`
	// ID is the method's number in the recording.
	ID trace.Method `json:"-"`
}

// DroppedCount is how often something was not written.
type DroppedCount struct {
	// Kind is "records", "stack-samples", "stalls", "frames", "listener-calls", "signs-of-life", "chunks", "incidents",
	// "virtual-threads", which are not recorded by choice, or "kind-N" for one that this program does not know.
	Kind string `json:"kind"`
	// Thread is the label of the thread that it is about; empty if it is about all threads together.
	Thread string `json:"thread,omitempty"`
	// Count is how often.
	Count uint64 `json:"count"`

	kind trace.DroppedKind
}

// droppedKinds has the kinds of what is dropped: the name of each, and what people call one and several of them.
var droppedKinds = map[trace.DroppedKind]struct{ name, one, several string }{
	trace.DroppedRecords:  {"records", "record", "records"},
	trace.DroppedSamples:  {"stack-samples", "stack sample", "stack samples"},
	trace.DroppedStalls:   {"stalls", "stall", "stalls"},
	trace.DroppedFrames:   {"frames", "frame", "frames"},
	trace.DroppedListener: {"listener-calls", "stall for the app's listener", "stalls for the app's listener"},
	trace.DroppedSigns:    {"signs-of-life", "sign of life", "signs of life"},
	trace.DroppedChunks:   {"chunks", "chunk of the file", "chunks of the file"},

	trace.DroppedIncidents: {"incidents", "incident", "incidents"},
	trace.DroppedVirtual:   {"virtual-threads", "virtual thread", "virtual threads"},
}

// smallLoss is the share of lost records up to which times are not called lower bounds.
const smallLoss = 0.001

// shownOff is how many of the methods that were off are named.
const shownOff = 3

// newCompleteness puts names to what a replay has summed up.
func newCompleteness(c *trace.Completeness, r *Recording) *Completeness {
	names, d := r.Names, r.Damage
	out := &Completeness{Recorded: c.Recorded, Lost: c.Lost, LostShare: c.LostShare(), Runs: c.Runs,
		NotRecorded: time.Duration(c.NotRecorded), Windows: c.Windows, WindowCalls: c.WindowCalls,
		WindowTime: time.Duration(c.WindowNanos), MethodsOff: len(c.Gated), LeftOut: c.GatedCalls(),
		LostChunks: d.LostChunks + d.Malformed, Off: []OffMethod{},
		Late: c.Late, LateTime: time.Duration(c.LateNanos), LateMost: time.Duration(c.LateMost),
		Suspended: c.Suspended, SuspendedTime: time.Duration(c.SuspendedNanos), Dropped: []DroppedCount{}}
	for _, dropped := range c.Dropped {
		out.drop(dropped, r)
	}
	gated := slices.Clone(c.Gated)
	slices.SortStableFunc(gated, func(a, b trace.GatedCalls) int { return cmp.Compare(b.LeftOut, a.LeftOut) })
	for _, g := range gated {
		out.Off = append(out.Off, OffMethod{names.Method(g.Method), g.LeftOut, g.LetGo, g.Method})
		if g.LetGo {
			out.MethodsLetGo++
		}
	}
	return out
}

// count says how many calls of the method were left out.
func (m *OffMethod) count() string {
	if m.LetGo {
		return "more than " + units.Thousands(m.Calls)
	}
	return units.Thousands(m.Calls)
}

// drop takes over how often something was not written.
func (c *Completeness) drop(d trace.DroppedCount, r *Recording) {
	out := DroppedCount{Kind: cmp.Or(droppedKinds[d.Kind].name, fmt.Sprintf("kind-%d", d.Kind)), Count: d.Count,
		kind: d.Kind}
	if !d.AllThreads {
		out.Thread = r.Thread(d.Thread).Label
	}
	c.Dropped = append(c.Dropped, out)
}

// mostVirtual is how many virtual threads that were not recorded the runtime distinguishes.
const mostVirtual = 1 << 20

// droppedTexts list what the recorder did not write, by kind, and the virtual threads that it did not record by choice;
// both are empty if there is nothing.
func (c *Completeness) droppedTexts() (text, virtual string) {
	var parts []string
	for i := 0; i < len(c.Dropped); {
		first, n := &c.Dropped[i], uint64(0)
		for ; i < len(c.Dropped) && c.Dropped[i].kind == first.kind; i++ {
			n += min(c.Dropped[i].Count, math.MaxUint64-n)
		}
		what := droppedKinds[first.kind].several
		if n == 1 {
			what = droppedKinds[first.kind].one
		}
		if first.kind == trace.DroppedVirtual {
			virtual = were(n, "virtual thread") + " not recorded"
			if n >= mostVirtual {
				virtual = "at least " + virtual
			}
			continue
		}
		parts = append(parts, units.Thousands(n)+" "+cmp.Or(what, "of "+first.Kind))
	}
	return strings.Join(parts, ", "), virtual
}

// Lossy reports whether more than a small share of the records is missing, so that times are lower bounds.
func (c *Completeness) Lossy() bool { return c != nil && c.LostShare > smallLoss }

// Lines says in lines what is missing; none if nothing is that matters.
func (c *Completeness) Lines() []string {
	if c == nil {
		return nil
	}
	var lines []string
	if c.Lossy() {
		lines = append(lines, fmt.Sprintf("%s of the calls were recorded, in %s without a gap: %s of %s records were "+
			"lost. Times are lower bounds; do not rank methods by them", sharePercent(1-c.LostShare),
			units.Count(c.Runs, "run"),
			units.Thousands(c.Lost), units.Thousands(c.Recorded+c.Lost)))
	}
	if c.LeftOut > 0 {
		var names []string
		for _, m := range c.Off[:min(shownOff, len(c.Off))] {
			names = append(names, fmt.Sprintf("%s (%s)", m.Method.Title(), m.count()))
		}
		if len(c.Off) > shownOff {
			names = append(names, "...")
		}
		they, their := "they were", "their"
		if c.MethodsOff == 1 {
			they, their = "it was", "its"
		}
		counted := were(c.LeftOut, "call") + " left out"
		if c.MethodsLetGo > 0 {
			counted = fmt.Sprintf("%s left out and counted, and those of %s not counted for a time",
				were(c.LeftOut, "call"), were(uint64(c.MethodsLetGo), "method"))
		}
		lines = append(lines, fmt.Sprintf("%s switched off while the program ran, because %s called too often: "+
			"%s, and %s time is in the callers: %s", were(uint64(c.MethodsOff), "method"), they,
			counted, their, strings.Join(names, ", ")))
	}
	if c.WindowCalls > 0 {
		lines = append(lines, fmt.Sprintf("%s left out in %s, %s in all, in which threads made records too fast; their "+
			"time is in their callers", were(c.WindowCalls, "short call"), units.Count(c.Windows, "window"),
			units.Millis(c.WindowTime)))
	}
	dropped, virtual := c.droppedTexts()
	if dropped != "" {
		lines = append(lines, "the recorder did not write "+dropped+
			", because it lacked memory, time, or space on the disk")
	}
	if virtual != "" {
		lines = append(lines, virtual+"; with --threads all,virtual they are")
	}
	if c.Late > 0 {
		lines = append(lines, fmt.Sprintf("the clock of records was late %s, %s in all, by %s at most: times of methods "+
			"there may be off by as much", units.Count(c.Late, "time"), units.Millis(c.LateTime),
			units.Millis(c.LateMost)))
	}
	return lines
}

// Line says in a line how much is missing. Lines has the details.
func (c *Completeness) Line() string {
	text := "no record lost"
	switch {
	case c.Lossy():
		text = fmt.Sprintf("%s of the calls, %s lost: times are lower bounds", sharePercent(1-c.LostShare),
			units.Count(c.Lost, "record"))
	case c.Lost > 0:
		text = units.Count(c.Lost, "record") + " lost"
	}
	dropped, virtual := c.droppedTexts()
	if virtual != "" {
		text += "; " + virtual + " (--threads all,virtual)"
	}
	if n := c.LeftOut + c.WindowCalls; n > 0 {
		text += "; "
		if c.MethodsLetGo > 0 {
			text += "more than "
		}
		text += units.Count(n, "call") + " left out"
		if c.MethodsOff > 0 {
			text += " (" + units.Count(c.MethodsOff, "method") + " off)"
		}
		text += ": their time is in their callers"
	}
	if c.Late > 0 {
		text += "; clock late by up to " + units.Millis(c.LateMost)
	}
	if dropped != "" {
		text += "; not written: " + dropped
	}
	return text
}

// sharePercent returns a share from 0 to 1 in percent, with a decimal if it is near 0 or 1.
func sharePercent(share float64) string {
	decimals := 0
	if share >= 0.99 || share < 0.01 {
		decimals = 1
	}
	return strconv.FormatFloat(share*100, 'f', decimals, 64) + " %"
}

// were says how many of something there were.
func were(n uint64, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return units.Count(n, what) + " were"
}
