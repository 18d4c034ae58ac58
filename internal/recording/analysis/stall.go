package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Stall is a message, or an outermost call, that lasted at least the slow threshold, and all that is known of it.
type Stall struct {
	// Recording is where it comes from, Number counts those of the recording from 1.
	Recording *Recording
	Number    int
	// Thread is what it ran on.
	Thread *Thread
	// Sequence is its number on its thread, if the device reported it.
	Sequence uint64
	// FirstRecord and EndRecord are the numbers of its thread's first record in it, and of the one after its last.
	FirstRecord, EndRecord uint64
	// Begin is how long after the recording's origin it began, see [Recording.At]; Time when that was, in UTC; zero
	// if it is not known.
	Begin time.Duration
	Time  time.Time
	// Wall is how long it took; CPU how long of that its thread was on a processor, and GC how long garbage was
	// collected meanwhile, both -1 if not known. GCCount is how often, or -1.
	Wall, CPU, GC time.Duration
	GCCount       int64
	// Suspended is how much of Wall the process did not run, Suspensions when that was. Ran is the rest of Wall:
	// HotPath, MostSelf and Verdict are about that alone.
	Suspended, Ran time.Duration
	Suspensions    []Suspension
	// Precision is how far a time of a method's entry or exit in it can be off: [Recording.Precision], or more if the
	// clock was late.
	Precision time.Duration
	// Reported is whether the device reported it; if not, it was found by its calls. Ended is false if the recording
	// ended before.
	Reported, Ended bool
	// Kind is what it is; Threshold how long a stall of that kind lasts at least, 0 if the recording does not say.
	Kind      StallKind
	Threshold time.Duration
	// Message says what ran.
	Message resolve.Message
	// Scene is where the app was, empty if that is not known; Foreground whether it was seen.
	Scene      string
	Foreground bool
	// PostedBy is the method that posted it, nil if that is not known.
	PostedBy *Poster
	// HotPath leads to where the time went, the outermost call first; see [Stall.Key].
	HotPath []Step
	// MostSelf are the methods with the most time of their own, at most five.
	MostSelf []Step
	// Key is equal for messages whose hot paths have the same methods by name, in whatever builds: 16 hexadecimal
	// digits. DeviceKey is what the device wrote, which goes by IDs.
	Key, DeviceKey string
	// Samples are the stacks that were taken of its thread meanwhile, the first one first.
	Samples []StackSample
	// State is what its thread was in when it passed the threshold, and LockOwner who held the lock that it waited
	// for then, or later: "THREAD holds CLASS"; empty if that is not known. Holder is what was seen of that thread,
	// the first first.
	State, LockOwner string
	Holder           []StackSample
	// Before is what ran before it, the oldest first. It is known only if BeforeKnown is set.
	Before      []Past
	BeforeKnown bool
	// Pending is what waited behind it, the next first. It is known only if PendingKnown is set.
	Pending      []Waiting
	PendingKnown bool
	// Machine is the state of the machine while it ran, the first one first; empty if it was not recorded.
	Machine []MachineState
	// Verdict is what it was slow for.
	Verdict Verdict
	// Hang says where its thread was if it had not ended when the recording ended; otherwise it is nil.
	Hang *Hang
	// Exit is how the process ended, if the stall had not ended by then and that is known; otherwise it is nil.
	Exit *StallExit
	// Tree has its calls, merged by path, without the time in which the process did not run. Names has what they are
	// called.
	Tree  *trace.Tree
	Names *resolve.Names
	// Repairs are those that its calls needed.
	Repairs trace.Repairs
	// NotRecorded is how much of Wall lies in gaps, so that it is not known in which methods it was spent.
	NotRecorded time.Duration
	// CallersUnknown is set if records before it are lost, so that it may be a part of a longer call.
	CallersUnknown bool

	stopped    []trace.Suspension
	begin      int64  // in nanoseconds of [trace.Clock.NanoTime]
	first, end uint64 // its records; equal if there are none
}

// StackSample is a stack that was taken while a message ran.
type StackSample struct {
	// After is how long after the message's begin.
	After time.Duration `json:"afterNanos"`
	// State is Java's name of the thread's state, "unknown" if it is not known.
	State string `json:"state"`
	// Activity is what that and the stack say.
	Activity foreign.Activity `json:"activity"`
	// Frames is the stack as Java prints it, the innermost frame first.
	Frames []string `json:"frames"`

	cpu time.Duration // of the thread until then, -1 if not known
}

// Past is something that ran before.
type Past struct {
	// Ago is how long before the begin of the stall it began.
	Ago time.Duration `json:"agoNanos"`
	// Wall is how long it took, CPU how long of that on a processor, -1 if not known.
	Wall time.Duration `json:"wallNanos"`
	CPU  time.Duration `json:"cpuNanos"`
	// Kind is "message", "idle" for none, "system" for one of the system's, "running", "merged" for several short
	// ones, "idle-handler" for a run of an IdleHandler, or "input" for an input event.
	Kind string `json:"kind"`
	// Count is how many messages it stands for.
	Count uint64 `json:"count"`
	// Message says what ran; of merged ones the longest.
	Message resolve.Message `json:"message"`
}

// Waiting is a message that waited.
type Waiting struct {
	// Late is how long it was overdue when the queue was read; negative if it was not due yet.
	Late time.Duration `json:"lateNanos"`
	// Handler and Callback are classes, What and Arg1 as in Android's Message.
	Handler  string `json:"handler,omitempty"`
	Callback string `json:"callback,omitempty"`
	What     int64  `json:"what"`
	Arg1     int64  `json:"arg1"`
	// Asynchronous is whether barriers let it pass; Barrier is set for one, whose token is Arg1.
	Asynchronous bool `json:"asynchronous,omitempty"`
	Barrier      bool `json:"barrier,omitempty"`
}

// newStall puts names to what was recorded of a message.
func newStall(s *trace.Stall, r *Recording) *Stall {
	j, names, by := &s.Report, r.Names, r.by
	out := &Stall{
		Recording: r, Thread: r.Thread(s.Thread.Index), Sequence: j.Message,
		FirstRecord: j.FirstRecord, EndRecord: j.EndRecord,
		Wall: time.Duration(j.Wall), CPU: time.Duration(j.CPU), GC: -1, GCCount: j.GCCount,
		Reported: s.Reported, Ended: s.Ended, Kind: stallKind(j.Kind), Threshold: r.thresholdOf(j.Kind),
		Message: resolve.ParseMessage(j.Description, names, by),
		Scene:   by.Class(j.Scene), Foreground: j.Foreground,
		State: j.State.String(), LockOwner: r.lockOwner(s), DeviceKey: j.StackKey,
		Tree: &s.Tree, Names: names, Repairs: s.Repairs,
		begin: j.Begin, first: j.FirstRecord, end: j.EndRecord,
	}
	if j.GCMillis >= 0 {
		out.GC = time.Duration(j.GCMillis) * time.Millisecond
	}
	out.interrupt(s)
	out.Begin = time.Duration(r.At(j.Begin))
	clock := s.Clock
	if clock == nil {
		clock = r.clock
	}
	if clock != nil && clock.WallMillis > 0 {
		out.Time = time.UnixMilli(clock.WallMillis).Add(time.Duration(j.Begin - clock.NanoTime)).UTC()
	}
	out.NotRecorded, out.CallersUnknown = notRecorded(s), s.CallersUnknown
	out.PostedBy = posterOf(j, names)
	out.HotPath = hotPath(&s.Tree, names)
	out.MostSelf = mostSelf(&s.Tree, names, 5)
	out.Key = pathKey(out.HotPath)
	for _, sample := range s.Samples {
		out.Samples = append(out.Samples, newStackSample(sample, j.Begin, by))
	}
	for _, h := range s.Holders {
		if h.Waiting.Thread != s.Thread.Index {
			continue
		}
		if foreign.ActivityOf(h.Waiting.State.String(), by.Frames(h.Waiting.Frames)) != foreign.ActivityLock {
			continue
		}
		out.Holder = append(out.Holder, newStackSample(h.Holder, j.Begin, by))
		if out.LockOwner == "" {
			out.LockOwner = r.Thread(h.Thread.Index).Label + resolve.Holds + "it"
		}
	}
	out.setMachine(s)
	out.setBefore(s, by)
	out.setPending(s, by)
	if out.Hang = out.hangOf(s, by); out.Hang != nil {
		if locks := out.Hang.Locks; len(locks) > 0 && locks[0].Holder != "" {
			out.LockOwner = locks[0].Holder + resolve.Holds + cmp.Or(locks[0].Class, "it")
		}
	}
	// A program that ended while a thread made calls did not hang there: System.exit ends the thread that calls it.
	if out.Verdict = verdictOn(out); out.Hang != nil && !(out.Hang.Calling && r.Damage.Closed) {
		out.Verdict = out.Hang.verdict(out.Verdict.Causes)
	}
	if text := out.suspendedText(); text != "" {
		out.Verdict.Text += "; " + text
	}
	if out.Exit = out.exitOf(); out.Exit != nil {
		if out.Exit.Deadlock && (out.Hang == nil || out.Hang.Of == 0 || out.Hang.Activity == foreign.ActivityLock) {
			// The system has seen all threads at one moment, and no sample of the thread shows anything else.
			out.Verdict.Kind, out.Verdict.Likely = KindDeadlock, false
		}
		out.Verdict.Text += "; " + out.Exit.text(out)
	}
	return out
}

// lockOwner returns who held the lock, in the names of the recording's threads. The device writes a name alone, which
// several threads may have; the lock of a stack sample or a stack sample of the holder says which one it was.
func (r *Recording) lockOwner(s *trace.Stall) string {
	text := r.by.Owner(s.Report.LockOwner)
	i := strings.LastIndex(text, resolve.Holds)
	if i < 0 {
		return text
	}
	name, held := text[:i], text[i:]
	for _, h := range s.Holders {
		if t := r.Thread(h.Thread.Index); t.Name == name && h.Waiting.Thread == s.Thread.Index {
			return t.Label + held
		}
	}
	for _, sample := range s.Samples {
		if sample.Lock.Owned && r.Thread(sample.Lock.Owner).Name == name {
			return r.Thread(sample.Lock.Owner).Label + held
		}
	}
	var others []*Thread
	for _, t := range r.threads {
		if t.Name == name && t.Index != s.Thread.Index {
			others = append(others, t)
		}
	}
	switch {
	case len(others) == 1:
		return others[0].Label + held
	case len(others) > 1:
		return fmt.Sprintf("%s (one of %d threads of this name)%s", name, len(others), held)
	case name == r.Thread(s.Thread.Index).Name:
		return name + " (another thread of this name)" + held
	}
	return name + held
}

// notRecorded returns how much of a stall's time lies in gaps: between records, or between the stall's own begin or
// end and its records.
func notRecorded(s *trace.Stall) time.Duration {
	nanos := int64(0)
	for i := range s.Tree.Nodes {
		if n := &s.Tree.Nodes[i]; n.Method == trace.MethodNotRecorded {
			nanos += n.Self
		}
	}
	wall := s.Ran()
	if s.Repairs.Lost > 0 && len(s.Tree.Nodes) > 0 {
		nanos += max(0, wall-s.Tree.Nodes[0].Total)
	}
	return time.Duration(max(0, min(nanos, wall)))
}

func newStackSample(s *trace.StackSample, begin int64, by resolve.Residual) StackSample {
	frames := by.Frames(s.Frames)
	state := s.State.String()
	return StackSample{After: time.Duration(s.Nanos - begin), State: state, Activity: foreign.ActivityOf(state, frames),
		Frames: frames, cpu: time.Duration(s.CPU)}
}

var pastKinds = [...]string{"message", "idle", "system", "running", "merged", "idle-handler", "input"}

// setBefore takes over the history. That there is none is known only of the first message of a recording of ours,
// which says which records it has; reports of others have no history.
func (s *Stall) setBefore(from *trace.Stall, by resolve.Residual) {
	s.BeforeKnown = len(from.Before) > 0 || from.Reported && from.Report.Message == 0 &&
		s.Recording.Meta["records"] != ""
	for _, m := range from.Before {
		kind := "message"
		if int(m.Kind) < len(pastKinds) {
			kind = pastKinds[m.Kind]
		}
		s.Before = append(s.Before, Past{time.Duration(from.Report.Begin - m.Begin), time.Duration(m.Wall),
			time.Duration(m.CPU), kind,
			m.Count, resolve.ParseMessage(m.Description, s.Names, by)})
	}
}

// setPending takes over the queue, which the threshold found.
func (s *Stall) setPending(from *trace.Stall, by resolve.Residual) {
	if from.Pending == nil || !from.Pending.Available {
		return
	}
	s.PendingKnown = true
	// The queue was read when the threshold was passed, and a stack sample was taken then.
	looked := from.Report.Begin + s.Threshold.Nanoseconds()
	if i := slices.IndexFunc(from.Samples,
		func(sample *trace.StackSample) bool { return sample.Nanos >= looked }); i >= 0 {
		looked = from.Samples[i].Nanos
	}
	for _, m := range from.Pending.List {
		s.Pending = append(s.Pending, Waiting{time.Duration(looked - m.When), by.Class(m.Target), by.Class(m.Callback),
			m.What, m.Arg1,
			m.Asynchronous, m.Barrier})
	}
}
