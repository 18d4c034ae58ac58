package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Hang says where the thread of a stall was that had not ended when the recording ended.
type Hang struct {
	// Method is the innermost traced method that was open and that most samples show.
	Method resolve.Method `json:"method"`
	// AtLeast is how long the thread had made no traced call when it was last seen. If Calling is set, it made some
	// until the end, and AtLeast is how long Method had been open.
	AtLeast time.Duration `json:"atLeastNanos"`
	Calling bool          `json:"calling"`
	// Open is how long Method had been open.
	Open time.Duration `json:"openNanos"`
	// Of is how many stack samples were taken in that time, Samples how many of them show Activity, which is what most
	// of them show. Shown is whether most of them show the method.
	Samples  int              `json:"samples"`
	Of       int              `json:"of"`
	Activity foreign.Activity `json:"activity,omitempty"`
	Shown    bool             `json:"shown"`
	// In is the platform's method that the program had called and that had not returned; empty if there is none.
	In string `json:"in,omitempty"`
	// CPU is the share of the time between the samples that the thread was on a processor, from 0 to 1; -1 if it is not
	// known.
	CPU float64 `json:"cpuShare"`
	// Locks leads from the lock that the thread waits for to the thread that holds the last one. Deadlock is whether
	// that thread waits for one of these locks itself.
	Locks    []LockWait `json:"locks"`
	Deadlock bool       `json:"deadlock"`

	likely      bool   // the locks are seen by what threads do not do
	state, idle string // idle is what its thread waited for with nothing to do, see [foreign.Idle]
}

// LockWait is a lock, the thread that waits for it, and the thread that holds it.
type LockWait struct {
	// Thread waits for the lock, and Holder holds it; empty if that is not known. Both are labels of threads.
	Thread string `json:"thread"`
	Holder string `json:"holder,omitempty"`
	// Class is the lock's class, empty if it is not known. Identity distinguishes locks of one class.
	Class    string `json:"class,omitempty"`
	Identity uint32 `json:"identity"`
	// HolderActivity is what the holder did, and HolderFrame its innermost frame that is not the platform's; empty if
	// no stack of it was taken.
	HolderActivity foreign.Activity `json:"holderActivity,omitempty"`
	HolderFrame    string           `json:"holderFrame,omitempty"`

	holderIn string
}

// verdictDeadlock is only the verdict on a hang: threads that wait for ever have no end.
var verdictDeadlock = VerdictKind{Kind: KindDeadlock, Name: "deadlock",
	Help: "it waits for a lock whose holder waits for one of its own"}

// defaultThreshold is the slow threshold of the runtime, for recordings that do not have theirs.
const defaultThreshold = 700 * time.Millisecond

// hangOf returns where the thread of a stall was when the recording ended; nil if the stall had ended, or if its thread
// has later records.
func (s *Stall) hangOf(from *evidence.Stall) *Hang {
	if len(from.Open) == 0 {
		return nil
	}
	threshold, ok := s.Recording.About().SlowThreshold()
	if !ok || threshold <= 0 {
		threshold = defaultThreshold
	}
	begin, end := from.Report.Begin, from.Report.Begin+int64(min(from.Report.Wall, math.MaxInt64/2))
	ran := func(since int64) time.Duration { // until the end, without the time in which the process did not run
		return time.Duration(end - since - trace.Sum(from.Suspended, since, end))
	}
	quiet := ran(from.LastRecord)
	h := &Hang{Calling: quiet < threshold, CPU: -1, Locks: []LockWait{}}
	at, since := len(from.Open)-1, from.LastRecord
	if h.Calling {
		for at > 0 && ran(from.Open[at].Begin) < threshold {
			at--
		}
		since = from.Open[at].Begin
	}
	running := s.running()
	var samples []*StackSample
	var raw []*trace.StackSample
	for i := range s.Samples {
		if s.Samples[i].After >= time.Duration(since-begin) {
			samples, raw = append(samples, &running.Samples[i]), append(raw, from.Samples[i])
		}
	}
	at = h.place(samples, from.Open, at, s.Names)
	h.Method = s.Names.Method(from.Open[at].Method)
	h.Open = ran(from.Open[at].Begin)
	h.AtLeast = quiet
	if h.Calling {
		h.AtLeast = h.Open
	}
	h.decide(samples, s.State)
	switch {
	case h.Activity == foreign.ActivityLock && s.init != nil:
		h.Locks, h.Deadlock, h.likely = s.init.locks(s.Thread.Label), s.init.circle, true
	case h.Activity == foreign.ActivityLock:
		h.findLocks(from, samples, raw, s.Recording)
	}
	return h
}

// place returns the index of the open call in which the thread was, from at outwards: the one that is innermost in most
// stack samples. If none is, it is the innermost one that most samples show. If they show none, it is at: an exit may
// be missing, or names in stacks may be others than those of the mapping.
//
// The order of frames decides before that of calls: where an exception has left a call without an exit, replay can only
// guess which of the open calls is the inner one.
func (h *Hang) place(samples []*StackSample, open []evidence.OpenAtEnd, at int, names *resolve.Names) int {
	methods := make([]resolve.Method, at+1)
	byName := map[string]int{}
	for k := range methods {
		methods[k] = names.Method(open[k].Method)
		byName[methods[k].Identity()] = k
	}
	innermost, shown := make([]int, at+1), make([]int, at+1)
	for _, sample := range samples {
		for _, f := range sample.Frames {
			if k, ok := byName[foreign.FrameMethod(f)]; ok {
				innermost[k]++
				break
			}
		}
		for k := range methods {
			if methods[k].In(sample.Frames) {
				shown[k]++
			}
		}
	}
	for _, counts := range [][]int{innermost, shown} {
		for k := at; k >= 0; k-- {
			if counts[k]*2 > len(samples) {
				h.Shown = true
				return k
			}
		}
	}
	return at
}

// decide finds what most samples show, of equals the last; state is that of the thread, which counts if there is no
// sample.
func (h *Hang) decide(samples []*StackSample, state string) {
	h.Of, h.state = len(samples), state
	counts, ins := map[foreign.Activity]int{}, map[string]int{}
	var cpu, of time.Duration
	for i, sample := range samples {
		if n := counts[sample.Activity] + 1; n >= h.Samples {
			h.Activity, h.Samples, h.state, h.idle = sample.Activity, n, sample.State, foreign.Idle(sample.Frames, false)
		}
		counts[sample.Activity]++
		if i > 0 && samples[i-1].cpu >= 0 && sample.cpu >= samples[i-1].cpu {
			cpu += sample.cpu - samples[i-1].cpu
			of += sample.After - samples[i-1].After
		}
	}
	if of > 0 {
		h.CPU = min(1, float64(cpu)/float64(of))
	}
	for _, sample := range samples {
		if in := foreign.CalledPlatform(sample.Frames); sample.Activity == h.Activity && in != "" {
			if ins[in]++; ins[in] >= ins[h.In] {
				h.In = in
			}
		}
	}
	if h.Of == 0 && state != trace.ThreadState(0).String() {
		h.Activity = foreign.ActivityOf(state, nil)
	}
}

// findLocks finds which locks the thread and the holders of these locks wait for. There is a deadlock if most samples
// that show a lock lead back to a thread that waits: the stacks of two threads are not taken at the same moment.
func (h *Hang) findLocks(from *evidence.Stall, samples []*StackSample, raw []*trace.StackSample,
	r *Recording) {
	followed, circles := 0, 0
	for i, sample := range samples {
		if sample.Activity != foreign.ActivityLock {
			continue
		}
		chain, circle := r.lockChain(from, raw[i])
		if len(chain) == 0 {
			continue
		}
		// A sample that was taken because of another thread's lock leads nowhere.
		if leads := circle || chain[0].HolderActivity != ""; leads || len(h.Locks) == 0 {
			if circle || circles == 0 {
				h.Locks = chain
			}
			if leads {
				followed++
			}
		}
		if circle {
			circles++
		}
	}
	h.Deadlock = circles*2 > followed
}

// lockChain follows the locks from a sample of the stall's thread. circle is whether a thread holds the last lock that
// waits itself.
func (r *Recording) lockChain(from *evidence.Stall, waiting *trace.StackSample) (chain []LockWait, circle bool) {
	waits := []uint32{}
	for waiting != nil {
		lock := waiting.Lock
		i := slices.IndexFunc(from.Holders, func(s evidence.HolderSample) bool { return s.Waiting == waiting })
		if lock == (trace.LockWait{}) && i < 0 {
			return chain, false
		}
		waits = append(waits, waiting.Thread)
		w := LockWait{Thread: r.Thread(waiting.Thread).Label, Class: r.by.Class(lock.Class), Identity: lock.Identity}
		if lock.Owned {
			w.Holder = r.Thread(lock.Owner).Label
			if slices.Contains(waits, lock.Owner) {
				return append(chain, w), true
			}
		}
		waiting = nil
		if i >= 0 {
			holder := &from.Holders[i]
			sample := newStackSample(holder.Holder, from.Report.Begin, r.by)
			w.Holder, w.HolderActivity = r.Thread(holder.Thread.Index).Label, sample.Activity
			w.HolderFrame = foreign.FrameMethod(foreign.FirstOfApp(sample.Frames))
			w.holderIn = foreign.CalledPlatform(sample.Frames)
			if sample.Activity == foreign.ActivityLock {
				waiting = holder.Holder
			}
		}
		chain = append(chain, w)
	}
	return chain, false
}

// verdict returns the verdict on the stall; causes are what all of the stall's time was spent on.
func (h *Hang) verdict(causes []Cause) Verdict {
	return Verdict{Kind: h.kind(), Likely: !h.Shown || h.Of == 0 || h.likely, Method: &h.Method, Activity: h.Activity,
		In: h.In, Causes: causes, Text: h.sentence()}
}

func (h *Hang) kind() Kind {
	switch {
	case h.Deadlock:
		return KindDeadlock
	case h.Activity.Runs() && h.CPU >= 0 && h.CPU < 0.5:
		return KindStarved
	}
	return (&grounds{Stall: &Stall{}}).kindOf(h.Activity)
}

// sentence says the verdict in a line.
func (h *Hang) sentence() string {
	text := fmt.Sprintf("stuck for at least %s in %s", units.AtLeast(h.AtLeast), h.Method)
	if h.Calling {
		text = fmt.Sprintf("not ended after at least %s in %s, which still made calls", units.AtLeast(h.AtLeast), h.Method)
	}
	switch {
	case h.Of == 0 && h.Activity == "":
		return text + "; no stack sample was taken"
	case h.Of == 0:
		return fmt.Sprintf("%s (no stack sample was taken; state %s)", text, h.state)
	}
	text += fmt.Sprintf(" (%d of %s: %s)", h.Samples, units.Count(h.Of, "sample"), h.doing())
	if !h.Shown {
		text += "; the samples do not show the method, so that an exception may have ended it"
	}
	return text
}

// doing says what most samples show.
func (h *Hang) doing() string {
	switch a := h.Activity; {
	case len(h.Locks) > 0:
		return h.locksText()
	case a == foreign.ActivityRunning && h.CPU >= 0:
		return fmt.Sprintf("running, CPU %.0f %%", 100*h.CPU)
	case a == foreign.ActivityUnknown:
		return "state " + h.state
	default:
		return a.Text(h.In)
	}
}

// locksText names the locks, and the threads that hold them and wait for them.
func (h *Hang) locksText() string {
	var parts []string
	for i, w := range h.Locks {
		lock := w.lock(h.Locks)
		switch {
		case h.Deadlock:
			parts = append(parts, fmt.Sprintf("%s waits for %s held by %s", w.Thread, lock, w.Holder))
		case w.Holder == "":
			parts = append(parts, "waiting for "+lock+", the holder was not recorded")
		case i == 0:
			parts = append(parts, fmt.Sprintf("waiting for %s held by %s", lock, w.Holder))
		default:
			parts = append(parts, fmt.Sprintf("which waits for %s held by %s", lock, w.Holder))
		}
	}
	if h.Deadlock {
		return "deadlock: " + strings.Join(parts, ", ")
	}
	if last := h.Locks[len(h.Locks)-1]; last.HolderActivity != "" && last.HolderActivity != foreign.ActivityLock {
		does := last.HolderActivity.Text(last.holderIn)
		if last.HolderFrame != "" {
			does += ", in " + last.HolderFrame
		}
		return strings.Join(parts, ", ") + ": " + does
	}
	return strings.Join(parts, ", ")
}

// lock names the lock, with its identity if another one has the same class.
func (w LockWait) lock(all []LockWait) string {
	if w.Class == "" {
		return "a lock"
	}
	for _, other := range all {
		if other.Class == w.Class && other.Identity != w.Identity {
			return w.Class + "@" + strconv.FormatUint(uint64(w.Identity), 16)
		}
	}
	return w.Class
}
