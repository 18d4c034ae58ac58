package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/textreport"
	"github.com/tracegen/tracegen/trace"
)

// Kind is what a message was slow for.
type Kind string

// The kinds of verdicts.
const (
	KindOwnWork Kind = "own-work" // it computed
	KindLock    Kind = "lock"     // it waited for a lock
	KindIO      Kind = "io"       // it waited for files, the network, a database, another process
	KindSleep   Kind = "sleep"    // it slept
	KindWait    Kind = "wait"     // it waited until another thread told it to go on
	KindStarved Kind = "starved"  // it was ready to run and got no processor
	KindGC      Kind = "gc"       // garbage was collected
	KindUnknown Kind = "unknown"  // the recording does not tell
)

// Verdict is what a message was slow for, judged by what was recorded and nothing else.
type Verdict struct {
	// Kind is the reason.
	Kind Kind `json:"kind"`
	// Likely is set if something is missing that would make it sure, which Text names.
	Likely bool `json:"likely,omitempty"`
	// Method is where the time went: the method with the most time of its own; nil if no traced method took any.
	Method *Method `json:"method,omitempty"`
	// Activity is what the thread was doing there when it was looked at, and In the platform's method that it was in;
	// empty if nobody looked.
	Activity Activity `json:"activity,omitempty"`
	In       string   `json:"in,omitempty"`
	// Text says it all in a line.
	Text string `json:"text"`
}

// enough is how much of a time something must take to be its reason: more than half.
func enough(part, whole time.Duration) bool { return part*2 >= whole && whole > 0 }

// judge says what a message was slow for. The processor's time and the collector's are of the whole message, a look
// is of one moment: what it saw counts for the method that took the time only if that was on the stack, and if the
// thread was off the processor long enough for it. Two looks that follow each other and met the method tell more of it
// than the whole message's time on a processor.
func judge(s *Stall) Verdict {
	v := Verdict{Kind: KindUnknown}
	took := s.Wall
	if enough(s.traced(), s.Wall) && len(s.MostSelf) > 0 {
		m := s.MostSelf[0].Method
		v.Method, took = &m, min(took, time.Duration(s.MostSelf[0].Self))
	}
	// The time off the processor: all of it if nobody knows.
	off := s.Wall - max(0, s.CPU)
	seen, elsewhere := s.seen(v.Method)
	cpu, of := s.cpuIn(v.Method)
	if of > 0 {
		off = time.Duration(float64(took) * float64(of-cpu) / float64(of))
	}
	known := s.CPU >= 0 || of > 0
	if seen != nil {
		v.Activity, v.In = seen.Activity, inPlatform(seen.Frames)
	}
	waits := kindOf(v.Activity, s.LockOwner)
	switch {
	case enough(s.GC, s.Wall):
		v.Kind = KindGC
	case waits != KindUnknown && waits != KindOwnWork && enough(off, took):
		v.Kind, v.Likely = waits, !known || v.Method != nil && v.Method.Unresolved
	case of > 0 && !enough(off, took), of == 0 && s.CPU >= 0 && !enough(off, s.Wall):
		v.Kind = KindOwnWork
	case !known && waits == KindOwnWork:
		v.Kind, v.Likely = KindOwnWork, true
	case known && waits == KindOwnWork:
		v.Kind = KindStarved
	}
	v.Text = s.sentence(v, elsewhere)
	return v
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

// seen gives the look that speaks for a method: the first of those that saw most often what it saw. elsewhere is a look
// that did not meet the method, if none did.
func (s *Stall) seen(m *Method) (seen, elsewhere *StackSample) {
	looks := s.Samples
	if len(looks) == 0 && s.State != trace.ThreadState(0).String() {
		looks = []StackSample{{State: s.State, Activity: activityOf(s.State, nil)}}
	}
	counts := map[Activity]int{}
	for i := range looks {
		l := &looks[i]
		if m != nil && len(l.Frames) > 0 && !mentions(l.Frames, *m) {
			elsewhere = l
			continue
		}
		counts[l.Activity]++
	}
	for i := range looks {
		l := &looks[i]
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

// cpuIn tells how long the thread was on a processor between looks that follow each other and both met a method, of how
// long in all; 0 of 0 if there are no two.
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

// kindOf is what an activity would be the reason for.
func kindOf(a Activity, owner string) Kind {
	switch {
	case a == ActivityLock || a == ActivityWait && owner != "":
		return KindLock
	case a.isIO():
		return KindIO
	case a == ActivitySleep:
		return KindSleep
	case a == ActivityWait:
		return KindWait
	case a == ActivityRunning:
		return KindOwnWork
	}
	return KindUnknown
}

// inPlatform gives the innermost frame's method if it is the platform's.
func inPlatform(frames []string) string {
	if len(frames) == 0 || !ofPlatform(textreport.FrameMethod(frames[0])) {
		return ""
	}
	return textreport.FrameMethod(frames[0])
}

// sentence says a verdict in a line.
func (s *Stall) sentence(v Verdict, elsewhere *StackSample) string {
	who, own := "most of it was in no traced method", ""
	if v.Method != nil {
		self := time.Duration(s.MostSelf[0].Self)
		who, own = v.Method.String(), fmt.Sprintf(" (%s of its own)", millis(self))
		if self*4 < s.Wall && (v.Kind == KindOwnWork || v.Kind == KindStarved || v.Kind == KindGC || v.Kind == KindUnknown) {
			who = "spread over many methods, the most in " + who
		}
	}
	at := ""
	if v.In != "" {
		at = " in " + v.In
	}
	var text string
	switch v.Kind {
	case KindOwnWork:
		text = "own work: " + who + own
	case KindLock:
		text = "waiting for a lock: " + who + own
		if s.LockOwner != "" {
			text += ", while " + s.LockOwner
		} else {
			text += "; who held it was not recorded"
		}
	case KindIO:
		text = fmt.Sprintf("I/O (%s): %s%s%s", v.Activity, who, own, at)
	case KindSleep:
		text = "sleep: " + who + own + at
	case KindWait:
		text = "waiting for another thread: " + who + own + at
	case KindStarved:
		text = "starved: it could have run, and got no processor; " + who + own
	case KindGC:
		text = fmt.Sprintf("garbage collection: %s in %d collections; the rest: %s%s", millis(s.GC), s.GCCount, who, own)
	case KindUnknown:
		text = "the recording does not tell: " + who + own
	}
	return strings.Join(append([]string{text}, s.evidence(v, elsewhere)...), "; ")
}

// evidence says what a verdict stands on, and what is missing.
func (s *Stall) evidence(v Verdict, elsewhere *StackSample) []string {
	var parts []string
	switch {
	case s.CPU >= 0:
		text := fmt.Sprintf("on a processor for %s", percent(s.CPU, s.Wall))
		if cpu, of := s.cpuIn(v.Method); of > 0 {
			text += fmt.Sprintf(", there for %s", percent(cpu, of))
		}
		parts = append(parts, text)
	case v.Kind != KindGC:
		parts = append(parts, "CPU time was not recorded")
	}
	if v.Kind != KindGC && s.GC*10 >= s.Wall && s.Wall > 0 {
		parts = append(parts, fmt.Sprintf("garbage collection for %s", percent(s.GC, s.Wall)))
	}
	switch {
	case elsewhere != nil:
		where := firstOfApp(elsewhere.Frames)
		if where == "" {
			where = elsewhere.Frames[0]
		}
		parts = append(parts, fmt.Sprintf("when it was looked at it was elsewhere, in %s (%s)", textreport.FrameMethod(where), elsewhere.Activity))
	case v.Activity == "" && v.Kind != KindOwnWork && v.Kind != KindGC:
		parts = append(parts, "nobody looked at what it did")
	case v.Kind == KindUnknown || v.Kind == KindOwnWork && v.Activity != ActivityRunning && v.Activity != "":
		parts = append(parts, fmt.Sprintf("%s when it was looked at", v.Activity))
	}
	return parts
}

// percent gives a share without decimals.
func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", (part*100+whole/2)/whole)
}

// millis gives a duration in milliseconds, the shorter the finer.
func millis(d time.Duration) string {
	decimals := 0
	switch a := max(d, -d); {
	case a == 0 || a >= 10*time.Millisecond:
	case a >= time.Millisecond:
		decimals = 1
	case a >= time.Microsecond:
		decimals = 3
	default:
		decimals = 6
	}
	text := strconv.FormatFloat(float64(d)/1e6, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " ms"
}
