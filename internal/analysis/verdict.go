package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/textreport"
	"github.com/tracegen/tracegen/trace"
)

// Kind is why a stall was slow, as programs read it.
type Kind string

// The kinds of verdicts; [Verdicts] says what each means and when it applies.
const (
	KindOwnWork  Kind = "own-work"
	KindLock     Kind = "lock"
	KindIO       Kind = "io"
	KindSleep    Kind = "sleep"
	KindWait     Kind = "wait"
	KindStarved  Kind = "starved"
	KindDeadlock Kind = "deadlock"
	KindGC       Kind = "gc"
	KindUnknown  Kind = "unknown"
)

// Verdict is why a stall was slow. It is decided by what was recorded and nothing else.
type Verdict struct {
	// Kind is the reason.
	Kind Kind `json:"kind"`
	// Likely is set if something is missing that would make it sure, which Text names.
	Likely bool `json:"likely,omitempty"`
	// Method is where the time went: the method with the most time of its own; nil if no traced method took any.
	Method *Method `json:"method,omitempty"`
	// Activity is what the thread was doing there when its stack was taken, and In the platform's method that it was
	// in; empty if no stack was taken.
	Activity Activity `json:"activity,omitempty"`
	In       string   `json:"in,omitempty"`
	// Text says it all in a line.
	Text string `json:"text"`
}

// VerdictKind is a row of the table of verdicts: all that the program says of one kind.
type VerdictKind struct {
	// Kind is its name in JSON.
	Kind Kind
	// Name is its name for people, Help a line about when it applies, which may be empty.
	Name, Help string

	// applies reports whether the evidence is for it, and whether it is only likely, as something is missing.
	applies func(e *evidence) (applies, likely bool)
	// sentence says the verdict without what it stands on.
	sentence func(e *evidence) string
	// spread says that time that is spread over many methods is worth saying.
	spread bool
	// cpu and stack say that CPU time and stacks matter to it: the sentence says so where they were not recorded.
	cpu, stack bool
	// activity reports whether what the stack shows is said beside it; nil if never.
	activity func(e *evidence) bool
}

// Verdicts returns the table of verdicts, in the order in which they are tried: a stall gets the first one that
// applies.
func Verdicts() []VerdictKind {
	return []VerdictKind{verdictGC, verdictDeadlock, verdictLock, verdictIO, verdictSleep, verdictWait, verdictOwnWork, verdictStarved,
		verdictUnknown}
}

var (
	verdictOwnWork = VerdictKind{Kind: KindOwnWork, Name: "own work",
		Help: "it was on a processor; names the method with the most own time",
		applies: func(e *evidence) (bool, bool) {
			busy := e.cpuOf > 0 && !e.offProcessor() || e.cpuOf == 0 && e.CPU >= 0 && !enough(e.off, e.Wall)
			likely := !e.cpuKnown() && e.activity == ActivityRunning
			return busy || likely, !busy
		},
		sentence: func(e *evidence) string { return "own work: " + e.where() },
		spread:   true, cpu: true,
		activity: func(e *evidence) bool { return e.activity != ActivityRunning && e.activity != "" },
	}
	verdictLock = VerdictKind{Kind: KindLock, Name: "waiting for a lock",
		Help: "it was BLOCKED, or waited for a lock; names the holder",
		applies: waiting(func(e *evidence) bool {
			return e.activity == ActivityLock || e.activity == ActivityWait && e.LockOwner != ""
		}),
		sentence: func(e *evidence) string {
			if e.LockOwner != "" {
				return "waiting for a lock: " + e.where() + ", while " + e.LockOwner
			}
			return "waiting for a lock: " + e.where() + "; the holder was not recorded"
		},
		cpu: true, stack: true,
	}
	verdictIO = VerdictKind{Kind: KindIO, Name: "I/O",
		Help:    "it was in a method of files, sockets, SQLite, Binder or processes",
		applies: waiting(func(e *evidence) bool { return e.activity.isIO() }),
		sentence: func(e *evidence) string {
			return fmt.Sprintf("I/O (%s): %s%s", e.activity, e.where(),
				e.inPlatform())
		},
		cpu: true, stack: true,
	}
	verdictSleep = VerdictKind{Kind: KindSleep, Name: "sleep", Help: "it was in Thread.sleep or SystemClock.sleep",
		applies:  waiting(func(e *evidence) bool { return e.activity == ActivitySleep }),
		sentence: func(e *evidence) string { return "sleep: " + e.where() + e.inPlatform() },
		cpu:      true, stack: true,
	}
	verdictWait = VerdictKind{Kind: KindWait, Name: "waiting", Help: "it waited until another thread notified it",
		applies:  waiting(func(e *evidence) bool { return e.activity == ActivityWait }),
		sentence: func(e *evidence) string { return "waiting for another thread: " + e.where() + e.inPlatform() },
		cpu:      true, stack: true,
	}
	verdictStarved = VerdictKind{Kind: KindStarved, Name: "starved", Help: "it was ready to run and got no processor",
		applies:  func(e *evidence) (bool, bool) { return e.cpuKnown() && e.activity == ActivityRunning, false },
		sentence: func(e *evidence) string { return "starved: ready to run, without a processor; " + e.where() },
		spread:   true, cpu: true, stack: true,
	}
	verdictGC = VerdictKind{Kind: KindGC, Name: "garbage collection", Help: "collections took half of the time or more",
		applies: func(e *evidence) (bool, bool) { return enough(e.GC, e.Wall), false },
		sentence: func(e *evidence) string {
			return fmt.Sprintf("garbage collection: %s in %d collections; the rest: %s", millis(e.GC), e.GCCount,
				e.where())
		},
		spread: true,
	}
	verdictUnknown = VerdictKind{Kind: KindUnknown, Name: "cause unknown", Help: "the recording does not show it",
		applies:  func(*evidence) (bool, bool) { return true, false },
		sentence: func(e *evidence) string { return "cause unknown: " + e.where() },
		spread:   true, cpu: true, stack: true,
		activity: func(*evidence) bool { return true },
	}
)

// waiting is when a verdict about waiting applies: a stack shows it, and the thread was off the processor for long
// enough.
func waiting(shown func(*evidence) bool) func(*evidence) (bool, bool) {
	return func(e *evidence) (bool, bool) {
		likely := !e.cpuKnown() || e.method != nil && e.method.Unresolved
		return e.offProcessor() && shown(e), likely
	}
}

// evidence is what verdicts are decided by. The processor's time and the collector's are of the whole stall, a stack
// sample is of one moment: what it shows counts for the method that took the time only if that method was on the stack,
// and if the thread was off the processor for long enough. Two samples that follow each other and both show the method
// say more about it than the whole stall's time on a processor.
type evidence struct {
	*Stall
	method     *Method       // with the most time of its own, nil if traced methods took less than half
	took       time.Duration // the method's own time, or the stall's
	off        time.Duration // the time off the processor: all of took if that is not known
	cpu, cpuOf time.Duration // the time on a processor between samples that show the method, and how long that was
	activity   Activity      // what the sample shows that stands for the method, empty if there is none
	frames     []string      // of that sample
	elsewhere  *StackSample  // a sample that does not show the method, if none does
	spread     bool
}

func evidenceOf(s *Stall) *evidence {
	e := &evidence{Stall: s, took: s.Wall}
	if enough(s.traced(), s.Wall) && len(s.MostSelf) > 0 {
		m := s.MostSelf[0].Method
		e.method, e.took = &m, min(e.took, time.Duration(s.MostSelf[0].Self))
	}
	e.off = s.Wall - max(0, s.CPU)
	if e.cpu, e.cpuOf = s.cpuIn(e.method); e.cpuOf > 0 {
		e.off = time.Duration(float64(e.took) * float64(e.cpuOf-e.cpu) / float64(e.cpuOf))
	}
	seen, elsewhere := s.seen(e.method)
	e.elsewhere = elsewhere
	if seen != nil {
		e.activity, e.frames = seen.Activity, seen.Frames
	}
	return e
}

// cpuKnown reports whether CPU time was recorded.
func (e *evidence) cpuKnown() bool { return e.CPU >= 0 || e.cpuOf > 0 }

// offProcessor reports whether the thread was off the processor for long enough to explain the method's time.
func (e *evidence) offProcessor() bool { return enough(e.off, e.took) }

// enough reports whether a part of a time is large enough to be its reason: half or more.
func enough(part, whole time.Duration) bool { return part*2 >= whole && whole > 0 }

// verdictOn returns the verdict on a stall.
func verdictOn(s *Stall) Verdict {
	e := evidenceOf(s)
	for _, k := range Verdicts() {
		if applies, likely := k.applies(e); applies {
			return e.verdict(k, likely)
		}
	}
	return e.verdict(verdictUnknown, false)
}

func (e *evidence) verdict(k VerdictKind, likely bool) Verdict {
	e.spread = k.spread
	return Verdict{Kind: k.Kind, Likely: likely, Method: e.method, Activity: e.activity, In: inPlatform(e.frames),
		Text: strings.Join(append([]string{k.sentence(e)}, e.stands(k)...), "; ")}
}

// traced is how much of the time was spent in traced methods.
func (s *Stall) traced() time.Duration {
	nanos := int64(0)
	for i := range s.Tree.Nodes {
		n := &s.Tree.Nodes[i]
		switch {
		case i == 0:
			nanos += n.Total
		case n.Method == trace.MethodDispatch:
			nanos -= n.Self
		}
	}
	return time.Duration(nanos)
}

// seen returns the stack sample that stands for a method: the first of those that show what most of them show.
// elsewhere is a sample that does not show the method, if none does.
func (s *Stall) seen(m *Method) (seen, elsewhere *StackSample) {
	samples := s.Samples
	if len(samples) == 0 && s.State != trace.ThreadState(0).String() {
		samples = []StackSample{{State: s.State, Activity: activityOf(s.State, nil)}}
	}
	counts := map[Activity]int{}
	for i := range samples {
		l := &samples[i]
		if m != nil && len(l.Frames) > 0 && !mentions(l.Frames, *m) {
			elsewhere = l
			continue
		}
		counts[l.Activity]++
	}
	for i := range samples {
		l := &samples[i]
		if m != nil && len(l.Frames) > 0 && !mentions(l.Frames, *m) {
			continue
		}
		if seen == nil || counts[l.Activity] > counts[seen.Activity] {
			seen = l
		}
	}
	if seen != nil {
		elsewhere = nil
	}
	return seen, elsewhere
}

// cpuIn returns how long the thread was on a processor between samples that follow each other and both show a method,
// and how long that was in all; 0 and 0 if there are no two.
func (s *Stall) cpuIn(m *Method) (cpu, of time.Duration) {
	for i := 1; i < len(s.Samples); i++ {
		a, b := &s.Samples[i-1], &s.Samples[i]
		if m != nil && a.cpu >= 0 && b.cpu >= a.cpu && mentions(a.Frames, *m) && mentions(b.Frames, *m) {
			cpu += b.cpu - a.cpu
			of += b.After - a.After
		}
	}
	return min(cpu, of), of
}

// inPlatform returns the innermost frame's method if it is the platform's.
func inPlatform(frames []string) string {
	if len(frames) == 0 || !ofPlatform(textreport.FrameMethod(frames[0])) {
		return ""
	}
	return textreport.FrameMethod(frames[0])
}

// where says where the time went.
func (e *evidence) where() string {
	if e.method == nil {
		return "most of the time was in no traced method"
	}
	self := time.Duration(e.MostSelf[0].Self)
	spread := ""
	if e.spread && self*4 < e.Wall {
		spread = "time is spread over many methods, most of it in "
	}
	return fmt.Sprintf("%s%s (own time %s)", spread, e.method, millis(self))
}

// inPlatform says which method of the platform the thread was in.
func (e *evidence) inPlatform() string {
	if in := inPlatform(e.frames); in != "" {
		return " in " + in
	}
	return ""
}

// stands says what a verdict stands on, and what is missing.
func (e *evidence) stands(k VerdictKind) []string {
	var parts []string
	switch {
	case e.CPU >= 0:
		text := fmt.Sprintf("CPU %s", percent(e.CPU, e.Wall))
		if e.cpuOf > 0 {
			text += fmt.Sprintf(", in this method %s", percent(e.cpu, e.cpuOf))
		}
		parts = append(parts, text)
	case k.cpu:
		parts = append(parts, "CPU time was not recorded")
	}
	if k.Kind != KindGC && e.GC*10 >= e.Wall && e.Wall > 0 {
		parts = append(parts, fmt.Sprintf("garbage collection %s", percent(e.GC, e.Wall)))
	}
	switch {
	case e.elsewhere != nil:
		where := firstOfApp(e.elsewhere.Frames)
		if where == "" {
			where = e.elsewhere.Frames[0]
		}
		parts = append(parts, fmt.Sprintf("the stack samples were elsewhere, in %s (%s)", textreport.FrameMethod(where),
			e.elsewhere.Activity))
	case e.activity == "" && k.stack:
		parts = append(parts, "no stack sample was taken")
	case k.activity != nil && k.activity(e) && e.activity == ActivityUnknown:
		parts = append(parts, "the stack samples do not show what it waited for")
	case k.activity != nil && k.activity(e) && e.activity != "":
		parts = append(parts, fmt.Sprintf("the stack samples show %s", e.activity))
	}
	return parts
}
