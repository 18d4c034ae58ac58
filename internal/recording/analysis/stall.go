package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Stall is a message, or an outermost call, that lasted at least the slow threshold, and all that is known of it. In
// JSON, a list that is null is not known.
type Stall struct {
	// Recording is where it comes from, Number counts those of the recording from 1.
	Recording *Recording `json:"-"`
	Number    int        `json:"number"`
	// Thread is what it ran on.
	Thread *Thread `json:"thread"`
	// Sequence is its number on its thread, if the device reported it.
	Sequence uint64 `json:"sequence"`
	// FirstRecord and EndRecord are the numbers of its thread's first record in it, and of the one after its last.
	FirstRecord uint64 `json:"-"`
	EndRecord   uint64 `json:"-"`
	// Begin is how long after the recording's origin it began, see [Recording.At]; Time when that was; zero if it is not
	// known.
	Begin time.Duration `json:"beginNanos"`
	Time  Moment        `json:"time,omitzero"`
	// Wall is how long it took; 0 if WallUnknown is set: another tool's text does not say it. CPU is how long of that its
	// thread was on a processor, and GC how long garbage was collected meanwhile, both -1 if not known. GCCount is how
	// often, or -1.
	Wall        time.Duration `json:"wallNanos"`
	WallUnknown bool          `json:"-"`
	CPU         time.Duration `json:"cpuNanos"`
	GC          time.Duration `json:"gcNanos"`
	GCCount     int64         `json:"gcCount"`
	// Suspended is how much of Wall the process did not run, Suspensions when that was. Ran is the rest of Wall:
	// HotPath, MostSelf and Verdict are about that alone.
	Suspended   time.Duration `json:"suspendedNanos"`
	Suspensions []Suspension  `json:"suspensions"`
	Ran         time.Duration `json:"-"`
	// Precision is how far a time of a method's entry or exit in it can be off: [Recording.Precision], or more if the
	// clock was late.
	Precision time.Duration `json:"precisionNanos"`
	// Reported is whether the device reported it; if not, it was found by its calls. Ended is false if the recording
	// ended before.
	Reported bool `json:"reported"`
	Ended    bool `json:"ended"`
	// Kind is what it is; Threshold how long a stall of that kind lasts at least, 0 if the recording does not say.
	Kind      StallKind     `json:"kind"`
	Threshold time.Duration `json:"thresholdNanos,omitempty"`
	// Role is what it is in the program. Awaited is the work that its thread waited for, empty if it did not.
	Role    Role   `json:"role"`
	Awaited string `json:"awaited,omitempty"`
	// Message says what ran.
	Message resolve.Message `json:"message"`
	// Scene is where the app was, empty if that is not known; Foreground whether it was seen.
	Scene      string `json:"scene,omitempty"`
	Foreground bool   `json:"foreground"`
	// PostedBy is the method that posted it, nil if that is not known.
	PostedBy *Poster `json:"postedBy,omitempty"`
	// Verdict is what it was slow for.
	Verdict Verdict `json:"verdict"`
	// Hang says where its thread was if it had not ended when the recording ended; otherwise it is nil.
	Hang *Hang `json:"hang,omitempty"`
	// Exit is how the process ended, if the stall had not ended by then and that is known; otherwise it is nil.
	Exit *StallExit `json:"exit,omitempty"`
	// Key is equal for messages whose hot paths have the same methods by name, in whatever builds: 16 hexadecimal
	// digits. DeviceKey is what the device wrote, which goes by IDs.
	Key       string `json:"key"`
	DeviceKey string `json:"deviceKey,omitempty"`
	// HotPath leads to where the time went, the outermost call first; see [Stall.Key].
	HotPath []Step `json:"hotPath"`
	// MostSelf are the methods with the most time of their own, at most five.
	MostSelf []Step `json:"mostSelf"`
	// State is what its thread was in when it passed the threshold, and LockOwner who held the lock that it waited
	// for then, or later: "THREAD holds CLASS"; empty if that is not known. Holder is what was seen of that thread,
	// the first first.
	State     string        `json:"state"`
	LockOwner string        `json:"lockOwner,omitempty"`
	Holder    []StackSample `json:"holderSamples"`
	// Samples are the stacks that were taken of its thread meanwhile, the first one first.
	Samples []StackSample `json:"samples"`
	// Before is what ran before it, the oldest first; nil if that is not known.
	Before []Past `json:"before"`
	// Pending is what waited behind it, the next first; nil if that is not known.
	Pending []Waiting `json:"pending"`
	// Machine is the state of the machine while it ran, the first one first; empty if it was not recorded.
	Machine []MachineState `json:"machine,omitempty"`
	// Tree has its calls, merged by path, without the time in which the process did not run. Names has what they are
	// called.
	Tree  *evidence.Tree `json:"-"`
	Names *resolve.Names `json:"-"`
	// Repairs are those that its calls needed.
	Repairs trace.Repairs `json:"repairs"`
	// NotRecorded is how much of Wall lies in gaps, so that it is not known in which methods it was spent.
	NotRecorded time.Duration `json:"notRecordedNanos,omitempty"`
	// CallersUnknown is set if records before it are lost, so that it may be a part of a longer call.
	CallersUnknown bool `json:"callersUnknown,omitempty"`

	steady     bool      // Samples are steady ones, which lack the frames outside of the outermost recorded call
	init       *initWait // nil if it did not wait for a class
	stopped    []trace.Suspension
	begin      int64  // in nanoseconds of [trace.Clock.NanoTime]
	first, end uint64 // its records; equal if there are none
}

// Moment is a time in UTC, which JSON has to the millisecond.
type Moment struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) {
	return []byte(m.Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// momentOf returns when something was, by a clock of the recording; zero if the clock is not known.
func momentOf(clock *trace.Clock, nanos int64) Moment {
	if clock == nil || clock.WallMillis <= 0 {
		return Moment{}
	}
	return Moment{time.UnixMilli(clock.WallMillis).Add(time.Duration(nanos - clock.NanoTime)).UTC()}
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
func newStall(s *evidence.Stall, r *Recording) *Stall {
	j, names, by := &s.Report, r.Names, r.by
	out := &Stall{
		Recording: r, Thread: r.Thread(s.Thread.Index), Sequence: j.Message,
		FirstRecord: j.FirstRecord, EndRecord: j.EndRecord,
		Wall: time.Duration(j.Wall), WallUnknown: j.NoWall, CPU: time.Duration(max(j.CPU, -1)), GC: -1, GCCount: j.GCCount,
		Reported: s.Reported, Ended: s.Ended, Kind: stallKind(j.Kind), Threshold: r.thresholdOf(j.Kind),
		Message: resolve.ParseMessage(j.Description, names, by),
		Scene:   by.Class(j.Scene), Foreground: j.Foreground,
		State: j.State.String(), LockOwner: r.lockOwner(s), DeviceKey: j.StackKey,
		Tree: &s.Tree, Names: names, Repairs: s.Repairs, Suspensions: []Suspension{}, Samples: []StackSample{},
		Holder: []StackSample{},
		begin:  j.Begin, first: j.FirstRecord, end: j.EndRecord,
	}
	if j.NoWall {
		r.unmeasured++
	}
	if j.GCMillis >= 0 {
		out.GC = time.Duration(j.GCMillis) * time.Millisecond
	}
	out.interrupt(s)
	out.Begin = time.Duration(r.At(j.Begin))
	out.Time = momentOf(cmp.Or(s.Clock, r.clock), j.Begin)
	out.NotRecorded, out.CallersUnknown = notRecorded(s), s.CallersUnknown
	out.PostedBy = posterOf(j, names)
	out.HotPath = list(hotPath(&s.Tree, names))
	out.MostSelf = list(mostSelf(&s.Tree, names, 5))
	out.Key = pathKey(out.HotPath)
	for _, sample := range s.Samples {
		out.Samples = append(out.Samples, newStackSample(sample, j.Begin, by))
	}
	if len(s.Samples) == 0 {
		out.steady = len(s.Steady) > 0
		for i := range s.Steady {
			sample := stackOf(&s.Steady[i], names)
			s.Samples = append(s.Samples, sample)
			out.Samples = append(out.Samples, newStackSample(sample, j.Begin, resolve.Residual{}))
		}
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
	if out.init = out.waitForClass(s, by); out.init != nil && out.LockOwner == "" {
		out.LockOwner = out.init.owner()
	}
	out.setMachine(s)
	out.setBefore(s, by)
	out.setPending(s, by)
	out.Hang = out.hangOf(s)
	if h := out.Hang; h != nil && len(h.Locks) > 0 && h.Locks[0].Holder != "" {
		out.LockOwner = h.Locks[0].Holder + resolve.Holds + cmp.Or(h.Locks[0].Class, "it")
	}
	out.Role = out.roleOf(s)
	// No hang is a thread that made calls until the program ended, as by System.exit, and a run that waits for work.
	out.Verdict = verdictOn(out)
	if h := out.Hang; h != nil && (h.idle == "" || out.Role == RoleStall) && !(h.Calling && r.Damage.Closed) {
		out.Verdict = h.verdict(out.Verdict.Causes)
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
	if k := out.Verdict.Kind; k == KindDeadlock || k == KindLock && out.Hang != nil && out.Hang.idle == "" {
		out.Role = RoleStall // whatever its thread was there for, it never got the lock
	}
	return out
}

// lockOwner returns who held the lock, in the names of the recording's threads. The device writes a name alone, which
// several threads may have; the lock of a stack sample or a stack sample of the holder says which one it was.
func (r *Recording) lockOwner(s *evidence.Stall) string {
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
func notRecorded(s *evidence.Stall) time.Duration {
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
	frames := foreign.WithoutTool(by.Frames(s.Frames))
	state := s.State.String()
	return StackSample{After: time.Duration(s.Nanos - begin), State: state, Activity: foreign.ActivityOf(state, frames),
		Frames: frames, cpu: time.Duration(s.CPU)}
}

// stackOf returns a steady sample as the stack samples of stalls are, which say more: of locks, and of the source.
// Its names are restored.
func stackOf(s *evidence.SteadyStack, names *resolve.Names) *trace.StackSample {
	out := &trace.StackSample{Nanos: s.Nanos, State: s.State, CPU: s.CPU}
	for _, m := range slices.Backward(s.Calls) {
		if method := names.Method(m); m != trace.MethodDispatch && !method.Pseudo() {
			out.Frames = append(out.Frames, method.Identity()+"(Unknown Source)") // as Java prints it
		}
	}
	return out
}

var pastKinds = [...]string{"message", "idle", "system", "running", "merged", "idle-handler", "input"}

// setBefore takes over the history. That there is none is known only of the first message of a recording of ours,
// which says which records it has; reports of others have no history.
func (s *Stall) setBefore(from *evidence.Stall, by resolve.Residual) {
	if from.Reported && from.Report.Message == 0 && s.Recording.Meta["records"] != "" {
		s.Before = []Past{}
	}
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
func (s *Stall) setPending(from *evidence.Stall, by resolve.Residual) {
	if from.Pending == nil || !from.Pending.Available {
		return
	}
	s.Pending = []Waiting{}
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
