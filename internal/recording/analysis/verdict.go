package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
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
	KindMixed    Kind = "mixed"
	KindUnknown  Kind = "unknown"
)

// Verdict is why a stall was slow. It is decided by what was recorded and nothing else.
type Verdict struct {
	// Kind is the reason.
	Kind Kind `json:"kind"`
	// Likely is set if something is missing that would make it sure, which Text names.
	Likely bool `json:"likely,omitempty"`
	// Method is where the time went: the method with the most time of its own; nil if no traced method took any.
	Method *resolve.Method `json:"method,omitempty"`
	// Activity is what the thread was doing there in most of the time that the stack samples stand for, and In the
	// platform's method that the program had called; empty if no stack was taken.
	Activity foreign.Activity `json:"activity,omitempty"`
	In       string           `json:"in,omitempty"`
	// Causes are what the stall's time was spent on, as far as that is known, the greatest first. Their sum may be less
	// than the stall; time of the collector is in others too.
	Causes []Cause `json:"causes"`
	// Text says it all in a line.
	Text string `json:"text"`
}

// VerdictKind is a row of the table of verdicts: all that the program says of one kind.
type VerdictKind struct {
	// Kind is its name in JSON.
	Kind Kind
	// Name is its name for people, Help a line about when it applies, which may be empty.
	Name, Help string

	// shown reports whether a sample that shows an activity is evidence for it; nil if samples decide nothing.
	shown func(e *grounds, a foreign.Activity) bool
	// applies reports whether it is the verdict although it has no majority of the time; nil for never.
	applies func(e *grounds) bool
	// likely reports whether something is missing that would make it sure; nil for never.
	likely func(e *grounds) bool
	// sentence says the verdict without what it stands on.
	sentence func(e *grounds) string
	// spread says that time that is spread over many methods is worth saying.
	spread bool
	// cpu and stack say that CPU time and stacks matter to it: the sentence says so where they were not recorded. counted
	// says that samples decide it, so that the sentence says how many, and how much of the stall that explains.
	cpu, stack, counted bool
	// activity reports whether what the stack shows is said beside it; nil if never.
	activity func(e *grounds) bool
}

// Verdicts returns the table of verdicts. A stall gets the first one that explains half of its time, of those that do
// the one that explains most; if none does, the first of the last two that applies. A [Hang] decides for itself, and it
// alone is a deadlock.
func Verdicts() []VerdictKind { return append(causes(), verdictDeadlock, verdictMixed, verdictUnknown) }

// causes returns the verdicts that a share of a stall's time decides.
func causes() []VerdictKind {
	return []VerdictKind{verdictGC, verdictLock, verdictIO, verdictSleep, verdictWait, verdictOwnWork, verdictStarved}
}

var (
	verdictOwnWork = VerdictKind{Kind: KindOwnWork, Name: "own work",
		Help:     "it was on a processor; names the method with the most own time",
		shown:    func(_ *grounds, a foreign.Activity) bool { return a.Runs() },
		likely:   func(e *grounds) bool { return !e.cpuKnown() },
		sentence: func(e *grounds) string { return "own work: " + e.where() },
		spread:   true, cpu: true,
		activity: func(e *grounds) bool { return e.activity != foreign.ActivityRunning && e.activity != "" },
	}
	verdictLock = VerdictKind{Kind: KindLock, Name: "waiting for a lock",
		Help: "it was BLOCKED, or waited for a lock; names the holder",
		shown: func(e *grounds, a foreign.Activity) bool {
			return a == foreign.ActivityLock || a == foreign.ActivityWait && e.LockOwner != ""
		},
		likely: waiting,
		sentence: func(e *grounds) string {
			if e.LockOwner != "" {
				return "waiting for a lock: " + e.where() + ", while " + e.LockOwner
			}
			return "waiting for a lock: " + e.where() + "; the holder was not recorded"
		},
		cpu: true, stack: true, counted: true,
	}
	verdictIO = VerdictKind{Kind: KindIO, Name: "I/O",
		Help:   "it was in a method of files, sockets, SQLite, Binder or processes",
		shown:  func(_ *grounds, a foreign.Activity) bool { return a.IsIO() },
		likely: waiting,
		sentence: func(e *grounds) string {
			if idle := foreign.Idle(e.frames, false); idle != "" {
				return "idle, waiting for " + idle + ": " + e.where() + e.inPlatform()
			}
			return fmt.Sprintf("I/O (%s): %s%s", e.activity, e.where(), e.inPlatform())
		},
		cpu: true, stack: true, counted: true,
	}
	verdictSleep = VerdictKind{Kind: KindSleep, Name: "sleep", Help: "it was in Thread.sleep or SystemClock.sleep",
		shown:    func(_ *grounds, a foreign.Activity) bool { return a == foreign.ActivitySleep },
		likely:   waiting,
		sentence: func(e *grounds) string { return "sleep: " + e.where() + e.inPlatform() },
		cpu:      true, stack: true, counted: true,
	}
	verdictWait = VerdictKind{Kind: KindWait, Name: "waiting", Help: "it waited until another thread notified it",
		shown:  func(e *grounds, a foreign.Activity) bool { return a == foreign.ActivityWait && e.LockOwner == "" },
		likely: waiting,
		sentence: func(e *grounds) string {
			what := "waiting for another thread: "
			if idle := foreign.Idle(e.frames, false); idle != "" {
				what = "idle, waiting for " + idle + ": "
			} else if foreign.InRunBlocking(e.frames) {
				what = "waiting in runBlocking for a coroutine: "
			} else if len(e.frames) == 0 {
				what = "waiting, for what is not known: " // a state alone: Java's is the same of a thread that sleeps
			}
			return what + e.where() + e.inPlatform()
		},
		cpu: true, stack: true, counted: true,
	}
	verdictStarved = VerdictKind{Kind: KindStarved, Name: "starved", Help: "it was ready to run and got no processor",
		sentence: func(e *grounds) string { return "starved: ready to run, without a processor; " + e.where() },
		spread:   true, cpu: true, stack: true, counted: true,
	}
	verdictGC = VerdictKind{Kind: KindGC, Name: "garbage collection", Help: "collections took half of the time or more",
		shown: func(_ *grounds, a foreign.Activity) bool { return a == foreign.ActivityGC },
		sentence: func(e *grounds) string {
			if spent := e.share(KindGC).Nanos; e.GC < spent {
				return fmt.Sprintf("garbage collection: waited %s for it%s; %s", units.Millis(spent), e.inPlatform(), e.where())
			}
			return fmt.Sprintf("garbage collection: %s in %d collections; the rest: %s", units.Millis(e.GC), e.GCCount,
				e.where())
		},
		spread: true,
	}
	verdictMixed = VerdictKind{Kind: KindMixed, Name: "mixed",
		Help:     "no cause explains half of the time, and several do together",
		applies:  func(e *grounds) bool { return len(e.parts()) > 1 && enough(e.explained(), e.Wall) },
		sentence: func(e *grounds) string { return "mixed: " + e.partsText() + "; most own time: " + e.where() },
		cpu:      true,
	}
	verdictUnknown = VerdictKind{Kind: KindUnknown, Name: "cause unknown", Help: "the recording does not show it",
		applies:  func(*grounds) bool { return true },
		sentence: func(e *grounds) string { return "cause unknown: " + e.where() },
		spread:   true, cpu: true, stack: true,
		activity: func(*grounds) bool { return true },
	}
)

// waiting is when a verdict about waiting is only likely.
func waiting(e *grounds) bool {
	return !e.cpuKnown() || e.init != nil || e.method != nil && e.method.Unresolved || len(e.Samples) == 0
}

// grounds are what verdicts are decided by. The processor's time and the collector's are of the whole stall, a stack
// sample stands for a part of it; see [grounds.weigh].
type grounds struct {
	*Stall
	method     *resolve.Method // with the most time of its own, nil if traced methods took less than half
	step       *Step           // of the method to blame, nil if there is none
	took       time.Duration   // the method's own time, or the stall's
	cpu, cpuOf time.Duration   // the time on a processor between samples that show the method, and how long that was
	cpuSeen    time.Duration   // the time on a processor between samples
	weighed    []weighed
	causes     []Cause          // the greatest first
	activity   foreign.Activity // what most samples of the cause show, empty if there is none
	frames     []string         // of the first of these
	elsewhere  *StackSample     // a sample that does not show the method, if none does
	spread     bool
}

func evidenceOf(s *Stall) *grounds {
	e := &grounds{Stall: s, took: s.Wall}
	if enough(s.traced(), s.Wall) && len(s.MostSelf) > 0 {
		m := s.MostSelf[0].Method
		e.method, e.step, e.took = &m, &s.MostSelf[0], min(e.took, time.Duration(s.MostSelf[0].Self))
	}
	e.cpu, e.cpuOf = s.cpuIn(e.method)
	samples := samplesOf(s)
	shown := false
	for i := range samples {
		l := &samples[i]
		w := weighed{StackSample: l, kind: e.kindOf(l.Activity)}
		if w.kind == KindLock && l.Activity == foreign.ActivityWait && foreign.Idle(l.Frames, false) != "" {
			w.kind = KindWait // the lock was another wait of the same run
		}
		w.shows = e.method == nil || len(l.Frames) == 0 || e.method.In(l.Frames)
		if shown = shown || w.shows; !w.shows {
			e.elsewhere = l
		}
		e.weighed = append(e.weighed, w)
	}
	if shown {
		e.elsewhere = nil
	}
	e.weigh()
	return e
}

// see finds what most of the time of the samples shows that are evidence for the verdict, or that show the method.
func (e *grounds) see(k VerdictKind) {
	counts := map[foreign.Activity]time.Duration{}
	counted := func(w *weighed) bool { return k.counted && w.kind == k.Kind || !k.counted && w.shows }
	for i := range e.weighed {
		if w := &e.weighed[i]; counted(w) {
			counts[w.Activity] += w.spent + 1 // of those that explain nothing the most frequent one
		}
	}
	for i := range e.weighed {
		if w := &e.weighed[i]; counted(w) && (e.activity == "" || counts[w.Activity] > counts[e.activity]) {
			e.activity, e.frames = w.Activity, w.Frames
		}
	}
}

// cpuKnown reports whether CPU time was recorded.
func (e *grounds) cpuKnown() bool { return e.CPU >= 0 || e.cpuOf > 0 }

// enough reports whether a part of a time is large enough to be its reason: half or more.
func enough(part, whole time.Duration) bool { return part*2 >= whole && whole > 0 }

// verdictOn returns the verdict on a stall.
func verdictOn(s *Stall) Verdict {
	e := evidenceOf(s.running())
	if e.mostlyLost() && len(s.Samples) == 0 {
		return e.verdict(verdictUnknown)
	}
	var best *VerdictKind
	most := time.Duration(-1)
	for _, k := range causes() {
		if d := e.share(k.Kind).Nanos; d > most && enough(d, e.Wall) {
			best, most = &k, d
		}
	}
	for _, k := range Verdicts() {
		if best == nil && k.applies != nil && k.applies(e) {
			best = &k
		}
	}
	return e.verdict(*best)
}

func (e *grounds) verdict(k VerdictKind) Verdict {
	e.spread = k.spread
	e.blame(k.Kind)
	e.see(k)
	v := Verdict{Kind: k.Kind, Likely: k.likely != nil && k.likely(e) || e.lost() && k.Kind != KindUnknown,
		Activity: e.activity, In: foreign.CalledPlatform(e.frames),
		Causes: list(e.causes), Text: strings.Join(append([]string{k.sentence(e)}, e.stands(k)...), "; ")}
	if e.step != nil {
		v.Method = &e.step.Method
	}
	return v
}

// parts returns the causes that are worth naming: a tenth of the stall or more.
func (e *grounds) parts() []Cause {
	return slices.DeleteFunc(slices.Clone(e.causes), func(c Cause) bool { return c.Nanos*10 < e.Wall })
}

// explained returns how much of the stall has a cause. Collections are in what they interrupt, too.
func (e *grounds) explained() time.Duration {
	sum := time.Duration(0)
	for _, c := range e.causes {
		sum += c.Nanos
	}
	return min(sum, e.Wall)
}

// partsText lists the causes with their shares.
func (e *grounds) partsText() string {
	var parts []string
	for _, c := range e.parts() {
		parts = append(parts, nameOf(c.Kind)+" "+units.Percent(c.Nanos, e.Wall))
	}
	if rest := e.Wall - e.explained(); rest*10 >= e.Wall {
		parts = append(parts, "not explained "+units.Percent(rest, e.Wall))
	}
	return strings.Join(parts, ", ")
}

// nameOf returns the name of a kind of verdict.
func nameOf(kind Kind) string {
	for _, k := range causes() {
		if k.Kind == kind {
			return k.Name
		}
	}
	return string(kind)
}

// traced is how much of the time was spent in traced methods.
func (s *Stall) traced() time.Duration {
	nanos := int64(0)
	for i := range s.Tree.Nodes {
		n := &s.Tree.Nodes[i]
		switch {
		case i == 0:
			nanos += n.Total
		case n.Method == trace.MethodDispatch || n.Method == trace.MethodNotRecorded:
			nanos -= n.Self
		}
	}
	return time.Duration(nanos)
}

// cpuIn returns how long the thread was on a processor between samples that follow each other and both show a method,
// and how long that was in all; 0 and 0 if there are no two.
func (s *Stall) cpuIn(m *resolve.Method) (cpu, of time.Duration) {
	for i := 1; i < len(s.Samples); i++ {
		a, b := &s.Samples[i-1], &s.Samples[i]
		if m != nil && a.cpu >= 0 && b.cpu >= a.cpu && m.In(a.Frames) && m.In(b.Frames) {
			cpu += b.cpu - a.cpu
			of += b.After - a.After
		}
	}
	return min(cpu, of), of
}

// where says where the time went.
func (e *grounds) where() string {
	switch {
	case e.WallUnknown:
		text := "it is not known how long it took"
		if len(e.Samples) > 0 {
			if frame := foreign.FirstOfApp(e.Samples[0].Frames); frame != "" {
				text += ", the stack shows " + foreign.FrameMethod(frame)
			}
		}
		return text
	case e.method == nil && e.mostlyLost():
		return e.lostText()
	case e.method == nil:
		return "most of the time was in no traced method"
	case e.step == nil:
		return fmt.Sprintf("not in %s, which has the most own time (%s)", e.method, units.Millis(e.took))
	}
	self := time.Duration(e.step.Self)
	spread := ""
	if e.spread && self*4 < e.Wall {
		spread = "time is spread over many methods, the largest part in "
	}
	return fmt.Sprintf("%s%s (own time %s)", spread, e.step.Method, units.Millis(self))
}

// inPlatform says which method of the platform the program had called.
func (e *grounds) inPlatform() string {
	if in := foreign.CalledPlatform(e.frames); in != "" {
		return " in " + in
	}
	return ""
}

// explains says how many samples show the cause, and how much of the stall that explains.
func (e *grounds) explains(k VerdictKind) string {
	c := e.share(k.Kind)
	if len(e.Samples) == 0 {
		return "only the thread's state at the threshold shows it"
	}
	return fmt.Sprintf("%d of %s, about %s", c.Samples, units.Count(len(e.Samples), "sample"), units.Part(c.Nanos, e.Wall))
}

// stands says what a verdict stands on, and what is missing.
func (e *grounds) stands(k VerdictKind) []string {
	var parts []string
	if e.lost() && !(e.method == nil && e.mostlyLost()) {
		parts = append(parts, e.lostText())
	}
	if k.counted || k.Kind == KindOwnWork && !e.cpuKnown() {
		parts = append(parts, e.explains(k))
	}
	switch {
	case e.CPU >= 0 && e.WallUnknown:
		parts = append(parts, "CPU "+units.Millis(e.CPU))
	case e.CPU >= 0:
		text := fmt.Sprintf("CPU %s", units.Percent(e.CPU, e.Wall))
		if e.cpuOf > 0 {
			text += fmt.Sprintf(", in this method %s", units.Percent(e.cpu, e.cpuOf))
		}
		parts = append(parts, text)
	case k.cpu:
		parts = append(parts, "CPU time was not recorded")
	}
	if k.Kind != KindMixed {
		for _, c := range e.parts() {
			if c.Kind != k.Kind && !(c.Kind == KindOwnWork && e.CPU >= 0) {
				parts = append(parts, nameOf(c.Kind)+" "+units.Percent(c.Nanos, e.Wall))
			}
		}
	}
	switch {
	case e.elsewhere != nil:
		where := foreign.FirstOfApp(e.elsewhere.Frames)
		if where == "" {
			where = e.elsewhere.Frames[0]
		}
		parts = append(parts, fmt.Sprintf("the stack samples were elsewhere, in %s (%s)", foreign.FrameMethod(where),
			e.elsewhere.Activity))
	case len(e.Samples) == 0 && k.stack && !k.counted:
		parts = append(parts, "no stack sample was taken")
	case k.activity != nil && k.activity(e) && e.activity == foreign.ActivityUnknown:
		parts = append(parts, "the stack samples do not show what it waited for")
	case k.activity != nil && k.activity(e) && e.activity != "":
		parts = append(parts, fmt.Sprintf("the stack samples show %s", e.activity))
	}
	return parts
}
