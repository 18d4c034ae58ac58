package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/trace"
)

// Cause is what a part of a stall's time was spent on.
type Cause struct {
	// Kind is that of a verdict.
	Kind Kind `json:"kind"`
	// Nanos is how long that was, estimated by stack samples and the times of processor and collector.
	Nanos time.Duration `json:"nanos"`
	// Samples is how many stack samples show it.
	Samples int `json:"samples"`
}

// weighed is a stack sample with the time that it stands for: from half way to the sample before to half way to the
// next one, the first from the begin of the stall and the last to its end.
type weighed struct {
	*StackSample
	took  time.Duration // that time
	kind  Kind          // what it is evidence for: a kind of waiting, own work of a thread that is ready to run, unknown
	shows bool          // the method with the most own time is on the stack
	// spent is the part of its time that is explained by it: of waiting the part off the processor; of a thread that is
	// ready to run the part without a processor if CPU time is known, else all.
	spent time.Duration
}

// scaled is a time times a share.
func scaled(d time.Duration, part, whole time.Duration) time.Duration {
	if whole <= 0 {
		return 0
	}
	return time.Duration(float64(d) * float64(part) / float64(whole))
}

// weigh decides how long the stall was spent on what. CPU time goes to samples of a thread that is ready to run first:
// who waits needs no processor. Own time of a method is exact, so samples that do not show the method with the most own
// time cannot stand for more than the rest of the stall, and those that show it for no more than its total time.
func (e *grounds) weigh() {
	e.cut()
	e.spend()
	if e.method != nil {
		e.limit(true, time.Duration(e.MostSelf[0].Total))
		e.limit(false, e.Wall-e.took)
	}
	spent, samples := map[Kind]time.Duration{}, map[Kind]int{}
	for _, w := range e.weighed {
		spent[w.kind] += w.spent
		samples[w.kind]++
	}
	own, ready := spent[KindOwnWork], time.Duration(0)
	if e.cpuKnown() {
		own, ready = max(0, e.onProcessor()), max(0, own-max(0, e.GC))
	}
	add := func(kind Kind, d time.Duration) {
		if d > 0 {
			e.causes = append(e.causes, Cause{kind, d, samples[kind]})
		}
	}
	add(KindOwnWork, own)
	samples[KindStarved] = samples[KindOwnWork]
	add(KindStarved, ready)
	for _, kind := range []Kind{KindLock, KindIO, KindSleep, KindWait} {
		add(kind, spent[kind])
	}
	add(KindGC, max(e.GC, spent[KindGC])) // a thread that waits for a collection is stopped by it, too
	slices.SortStableFunc(e.causes, func(a, b Cause) int { return cmp.Compare(b.Nanos, a.Nanos) })
}

// onProcessor returns how long the thread was on a processor, as far as that is known.
func (e *grounds) onProcessor() time.Duration {
	if e.CPU >= 0 {
		return min(e.CPU, e.Wall)
	}
	return e.cpuSeen
}

// cut sets the time that each sample stands for.
func (e *grounds) cut() {
	before := time.Duration(0)
	for i := range e.weighed {
		w := &e.weighed[i]
		at := max(before, min(w.After, e.Wall))
		if i == 0 {
			w.took = at
		} else {
			last := &e.weighed[i-1]
			half := (at - before) / 2
			last.took, w.took = last.took+half, at-before-half
			if last.cpu >= 0 && w.cpu >= last.cpu {
				e.cpuSeen += min(w.cpu-last.cpu, at-before)
			}
		}
		before = at
	}
	if n := len(e.weighed); n > 0 {
		e.weighed[n-1].took += e.Wall - before
	}
}

// spend distributes the time that the thread spent off the processor among the samples.
func (e *grounds) spend() {
	var waited, ready time.Duration
	for i := range e.weighed {
		switch w := &e.weighed[i]; w.kind {
		case KindUnknown:
		case KindOwnWork:
			ready += w.took
		default:
			waited += w.took
		}
	}
	off := e.Wall - e.onProcessor()
	waitedOff := min(waited, off)
	readyOff := min(ready, off-waitedOff)
	if e.CPU < 0 && e.cpuOf == 0 {
		readyOff = ready
	} else if e.CPU < 0 {
		readyOff = 0 // whether it ran or was ready to run is not known
	}
	for i := range e.weighed {
		switch w := &e.weighed[i]; w.kind {
		case KindUnknown:
		case KindOwnWork:
			w.spent = scaled(w.took, readyOff, ready)
		default:
			w.spent = scaled(w.took, waitedOff, waited)
		}
	}
}

// limit scales what the samples stand for that show the method with the most own time, or of the others.
func (e *grounds) limit(shows bool, most time.Duration) {
	sum := time.Duration(0)
	for _, w := range e.weighed {
		if w.shows == shows {
			sum += w.spent
		}
	}
	for i := range e.weighed {
		if w := &e.weighed[i]; w.shows == shows && sum > max(0, most) {
			w.spent = scaled(w.spent, max(0, most), sum)
		}
	}
}

// kindOf returns what a sample is evidence for that shows an activity.
func (e *grounds) kindOf(a foreign.Activity) Kind {
	for _, k := range causes() {
		if k.shown != nil && k.shown(e, a) {
			return k.Kind
		}
	}
	return KindUnknown
}

// share returns how long the stall was spent on a cause.
func (e *grounds) share(kind Kind) Cause {
	for _, c := range e.causes {
		if c.Kind == kind {
			return c
		}
	}
	return Cause{Kind: kind}
}

// blame chooses the method that a verdict names: the one with the most own time, unless most of the time of the cause
// was spent elsewhere.
func (e *grounds) blame(kind Kind) {
	if e.method == nil {
		return
	}
	switch kind {
	case KindOwnWork, KindStarved:
		e.blameRunning()
	case KindLock, KindIO, KindSleep, KindWait:
		e.blameWaiting(kind)
	}
}

// blameWaiting looks for the method with the most own time that most samples of the cause show.
func (e *grounds) blameWaiting(kind Kind) {
	for i := range e.MostSelf {
		var all, on time.Duration
		for _, w := range e.weighed {
			if w.kind != kind {
				continue
			}
			all += w.spent
			if len(w.Frames) == 0 || e.MostSelf[i].Method.In(w.Frames) {
				on += w.spent
			}
		}
		if on*2 >= all {
			e.step = &e.MostSelf[i]
			return
		}
	}
	e.step = nil
}

// blameRunning takes the time off a method in which samples saw it wait. If more than half of its own time is gone, the
// method with the most that is left is to blame, or none if more is left in no traced method.
func (e *grounds) blameRunning() {
	left := make([]time.Duration, len(e.MostSelf))
	for i := range e.MostSelf {
		left[i] = time.Duration(e.MostSelf[i].Self)
	}
	for _, w := range e.weighed {
		if i := e.innermost(w.Frames); i >= 0 && w.kind != KindOwnWork {
			left[i] -= w.spent
		}
	}
	most := 0
	if left[0]*2 < time.Duration(e.MostSelf[0].Self) {
		for i := range left {
			if left[i] > left[most] {
				most = i
			}
		}
		if left[most] < e.Wall-e.traced() {
			e.step = nil
			return
		}
	}
	e.step = &e.MostSelf[most]
}

// innermost returns the index of that of the methods with the most own time that is the innermost on a stack, or -1.
func (e *grounds) innermost(frames []string) int {
	for _, f := range frames {
		method := foreign.FrameMethod(f)
		if i := slices.IndexFunc(e.MostSelf, func(s Step) bool { return s.Method.Identity() == method }); i >= 0 {
			return i
		}
	}
	return -1
}

// Spent is what is known of a method's own time in a stall.
type Spent struct {
	// Ran and Waited are how much of it the method is known to have run and waited. Of the rest it is not known.
	Ran, Waited time.Duration
}

// Spent returns what is known of the own time of each method of MostSelf: what stack samples show of which it is the
// innermost traced method, and of the rest what the thread's time on a processor proves.
func (s *Stall) Spent() []Spent {
	e := evidenceOf(s.running())
	spent := make([]Spent, len(s.MostSelf))
	for _, w := range e.weighed {
		i := e.innermost(w.Frames)
		if i < 0 && e.method != nil && (len(w.Frames) == 0 && w.kind != KindOwnWork || e.method.Unresolved) {
			i = 0 // a state alone, or no names: as verdicts say, it is of the method with the most own time
		}
		switch {
		case i < 0 || w.kind == KindUnknown:
		case w.kind == KindOwnWork:
			spent[i].Ran += w.took
		default:
			spent[i].Waited += w.spent
		}
	}
	for i := range spent {
		own, known := time.Duration(s.MostSelf[i].Self), &spent[i]
		known.Waited = min(known.Waited, own)
		known.Ran = min(known.Ran, own-known.Waited)
		if e.CPU >= 0 {
			on := e.onProcessor()
			known.Ran += min(own-known.Ran-known.Waited, max(0, own-(e.Wall-on)-known.Ran))
			known.Waited += min(own-known.Ran-known.Waited, max(0, own-on-known.Waited))
		}
	}
	return spent
}

// samplesOf returns the stall's samples. A state alone, as older runtimes and cut recordings have it, is a sample
// without a stack.
func samplesOf(s *Stall) []StackSample {
	if len(s.Samples) > 0 || s.State == trace.ThreadState(0).String() {
		return s.Samples
	}
	return []StackSample{{After: s.Wall / 2, State: s.State, Activity: foreign.ActivityOf(s.State, nil), cpu: -1}}
}
