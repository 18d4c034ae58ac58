package trace

import (
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/contract"
)

// Chunk is a part of a recording: one of the pointer types [*Meta], [*Clock], [*Threads], [*Records],
// [*Messages], [*StackSample], [*Frames], [*StallChunk], [*Pending], [*Gate], [*Alive], [*Window],
// [*LeftOut], [*LetGo], [*Coroutines], [*Compositions], [*Suspended], [*Late], [*Exit], [*Dropped], [*Incident],
// [*Detectors], [*Machine], [*Stacks], [*Cost], [*End], [*MissingParts] of several files and, of a replay alone,
// [*Completeness].
type Chunk interface{ chunk() }

// MethodDispatch is the ID of a message's dispatch, which encloses the calls of the message.
const MethodDispatch = contract.DispatchID

// Record is an entry into a method or an exit from it.
type Record uint64

const (
	idShift  = 43
	idMask   = 1<<20 - 1
	timeMask = 1<<idShift - 1
)

// Entry reports whether the method was entered; otherwise it was left.
func (r Record) Entry() bool { return r>>63 != 0 }

// ID returns the method's ID in the mapping.
func (r Record) ID() uint32 { return uint32(r>>idShift) & idMask }

// Ticks returns the time of the record, in ticks since [Clock.BaseNanos]. [Meta.Tick] returns how long a tick is.
func (r Record) Ticks() int64 { return int64(r & timeMask) }

// Meta has the facts about a recording. It is its first chunk.
type Meta struct {
	// Values always has mappingId, encoder, tickNanos, clockPeriodMillis, slowMillis and records, and also the keys
	// that the program added.
	Values map[string]string
}

// MappingID returns the digest of the mapping that the program was instrumented with: 16 hexadecimal
// digits, zeros if it was not stamped, empty if the recording does not say.
func (m *Meta) MappingID() string { return m.Values["mappingId"] }

// number returns the number, not negative, that a key has for its value; ok is false if it has none.
func (m *Meta) number(key string) (n int64, ok bool) {
	n, err := strconv.ParseInt(m.Values[key], 10, 40)
	return n, err == nil && n >= 0
}

// SlowThreshold returns how long a message or an outermost call lasts at least that is a stall. ok is false if the
// recording does not say.
func (m *Meta) SlowThreshold() (threshold time.Duration, ok bool) {
	n, ok := m.number("slowMillis")
	return time.Duration(n) * time.Millisecond, ok
}

// StallThreshold returns how long a stall of a kind lasts at least. ok is false if the recording does not say.
// [Meta.SlowThreshold] holds for a kind that has none of its own.
func (m *Meta) StallThreshold(kind MessageKind) (threshold time.Duration, ok bool) {
	key := ""
	switch kind {
	case MessageIdleHandler:
		key = "slowIdleMillis"
	case MessageInput:
		key = "slowInputMillis"
	}
	if n, ok := m.number(key); ok {
		return time.Duration(n) * time.Millisecond, true
	}
	return m.SlowThreshold()
}

// Tick returns the unit of the records' times. ok is false if the recording does not say: it has no records then.
func (m *Meta) Tick() (tick time.Duration, ok bool) {
	n, ok := m.number("tickNanos")
	return time.Duration(n), ok && n > 0
}

// ClockPeriod returns how often the clock moves that records are stamped with, 0 if each has its exact time or if the
// recording does not say.
func (m *Meta) ClockPeriod() time.Duration {
	n, _ := m.number("clockPeriodMillis")
	return time.Duration(n) * time.Millisecond
}

// Precision returns how far off the time of a method's entry or exit can be: the period of the clock or the unit of
// times, whichever is greater; at least 1 ms if the recording does not say what its unit is. Times of messages are
// exact.
func (m *Meta) Precision() time.Duration {
	tick, ok := m.Tick()
	if !ok {
		tick = time.Millisecond
	}
	return max(m.ClockPeriod(), tick)
}

// OnlyStalls reports whether only the records of stalls were written.
func (m *Meta) OnlyStalls() bool { return m.Values["records"] == "slow" }

// Clock has the times of several clocks at one moment. There is one after [Meta], and one before
// every [StallChunk].
type Clock struct {
	// NanoTime is the clock of all times in a recording, in nanoseconds: monotonic, with any base.
	NanoTime int64
	// ElapsedRealtime is like it but goes on in deep sleep.
	ElapsedRealtime int64
	// WallMillis is milliseconds since 1970, UTC.
	WallMillis int64
	// BaseNanos is the NanoTime of the records' tick 0.
	BaseNanos int64
	// Zone is the name of the device's time zone.
	Zone string
}

// Threads introduces threads. A thread is introduced before the first chunk that is about it.
type Threads struct {
	// List has the threads that are new.
	List []Thread
}

// Thread is a thread of the program.
type Thread struct {
	// Index is its number in the recording.
	Index uint32 `json:"index"`
	// ID is its ID in Java.
	ID int64 `json:"id"`
	// Name is its name when it was first seen.
	Name string `json:"name"`
	// Main is set for the main thread.
	Main bool `json:"main"`
}

// Records has consecutive records of one thread.
type Records struct {
	// Thread is its index.
	Thread uint32
	// First is the number of the first of List: how many the thread had made before.
	First uint64
	// Overwritten is how many records before First are lost since the thread made them faster than they
	// could be written.
	Overwritten uint64
	// Marks is how many marks of coroutines the thread had made by then, as [Coroutines.First] counts them.
	Marks uint64
	// List has the records, the oldest first.
	List []Record
}

// MessageKind is the kind of an entry of a thread's history.
type MessageKind uint8

// The kinds of messages.
const (
	MessageNormal  MessageKind = iota // a message by itself
	MessageIdle                       // the thread waited
	MessageSystem                     // a message from the system to the app
	MessageRunning                    // one that had not ended when this was written
	MessageMerged                     // several short ones

	MessageIdleHandler // a run of an IdleHandler
	MessageInput       // an input event
)

// Messages has the messages of a thread before a stall, or until the end of the recording.
type Messages struct {
	// Thread is its index.
	Thread uint32
	// List has the messages, the oldest first.
	List []Message
}

// Message is one entry of a thread's history.
type Message struct {
	// Kind is its kind.
	Kind MessageKind
	// Sequence is the number of the first message, counted from 0 on its thread.
	Sequence uint64
	// Count is how many messages it stands for.
	Count uint64
	// Begin is in nanoseconds of [Clock.NanoTime].
	Begin int64
	// Wall is its duration in nanoseconds.
	Wall uint64
	// CPU is how long the thread was on a processor, in nanoseconds; -1 if not known.
	CPU int64
	// Description says what ran.
	Description string
}

// DescribedMethod returns the method of an outermost call, whose description is "method " and its ID. ok is false for
// any other description.
func DescribedMethod(description string) (m Method, ok bool) {
	digits, ok := strings.CutPrefix(description, callPrefix)
	id, err := strconv.ParseUint(digits, 10, 20)
	return Method(id), ok && err == nil
}

// callPrefix is before the ID in the description of an outermost call.
const callPrefix = "method "

// DescribeMethod returns the description of an outermost call.
func DescribeMethod(m Method) string { return callPrefix + strconv.Itoa(int(m)) }

// ThreadState is a state of a Java thread; 0 is not known, the others are 1 more than the ordinal of Java's
// Thread.State.
type ThreadState uint8

// The states of a thread that does not run.
const (
	ThreadBlocked      ThreadState = 3 // it waits for a lock
	ThreadWaiting      ThreadState = 4
	ThreadTimedWaiting ThreadState = 5

	stateTerminated ThreadState = 6 // it has ended
)

// String returns Java's name of the state.
func (s ThreadState) String() string {
	names := [...]string{"unknown", "NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// StackSample is the stack of a thread at one moment of a stall, of this thread or of one that waited for it.
type StackSample struct {
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// Thread is its index.
	Thread uint32
	// State is what it was doing.
	State ThreadState
	// Frames is its stack as Java prints it, the innermost first.
	Frames []string
	// CPU is how long it had been on a processor by then, in nanoseconds; -1 if that is not known.
	CPU int64
	// Lock is the lock that it waited for, or the object that it waited on.
	Lock LockWait
}

// LockWait is the lock that a thread waits for, or the object that it waits on. The zero value means that there is none
// or that it is not known.
type LockWait struct {
	// Class is the lock's class.
	Class string
	// Identity is its System.identityHashCode, which distinguishes locks of one class.
	Identity uint32
	// Owned is whether it is known which thread holds it, and Owner is the index of that thread.
	Owned bool
	Owner uint32
}

// Frames has frames that were drawn.
type Frames struct {
	// List has them in the order in which they were reported.
	List []Frame
}

// Frame is one frame's times, in nanoseconds of [Clock.NanoTime].
type Frame struct {
	// VSync is when the display asked for it, Start and End are when work on it began and ended.
	VSync, Start, End int64
	// Dropped is how many were missed before it.
	Dropped uint64
	// RefreshHz is the display's rate, 0 if not known.
	RefreshHz float32
}

// StallChunk is the device's description of a stall, written when the stall had ended.
type StallChunk struct {
	// Thread is the index of the thread that it ran on.
	Thread uint32
	// Kind is [MessageNormal], also of an outermost call, [MessageIdleHandler] or [MessageInput]. Other kinds may be
	// added.
	Kind MessageKind
	// Message is its number on its thread.
	Message uint64
	// Begin is in nanoseconds of [Clock.NanoTime], Wall and CPU (-1 if not known) are durations in nanoseconds.
	Begin int64
	Wall  uint64
	CPU   int64
	// NoWall is set if Wall is not known: another tool's text does not say it. A recording always does.
	NoWall bool
	// FirstRecord and EndRecord are the numbers of its first record and of the one after its last.
	FirstRecord, EndRecord uint64
	// Description says what ran, Scene where the app was.
	Description, Scene string
	// Foreground is whether the app was seen.
	Foreground bool
	// GCCount and GCMillis are the garbage collections meanwhile, -1 if not known.
	GCCount, GCMillis int64
	// State is the state of the thread when the threshold was passed. LockOwner is the thread that held the lock it
	// waited for then; it is empty if there was none, or if it is not known.
	State     ThreadState
	LockOwner string
	// StackKey is equal for stalls with the same cause.
	StackKey string
	// Repairs is how many places of the call tree the device repaired.
	Repairs uint64
	// PostedBy is the method that posted the message, 0 if not known: only programs that were instrumented with
	// trace-posts say so. Posted is when, in nanoseconds of [Clock.NanoTime], 0 if not known.
	PostedBy Method
	Posted   int64
}

// Pending has the messages that waited in a thread's queue when a message passed the threshold.
type Pending struct {
	// Thread is the index of the queue's thread, Message the number of the message that ran.
	Thread  uint32
	Message uint64
	// Available is false if the queue could not be read. List is empty then, the queue need not be.
	Available bool
	// List has the waiting messages, the next one first.
	List []PendingMessage
}

// PendingMessage is a message that waits.
type PendingMessage struct {
	// When is when it is due, in [Clock.NanoTime].
	When int64
	// What and Arg1 are Android's Message.what and arg1; Arg1 is the token of a barrier.
	What, Arg1 int64
	// Target and Callback are classes, empty if there is none.
	Target, Callback string
	// Asynchronous is whether barriers do not hold it back.
	Asynchronous bool
	// Barrier is set for a synchronisation barrier.
	Barrier bool
}

// Gate says that threads have switched methods off or on. The calls of a method that is off are left out of a thread's
// records, entry and exit together. So calls are built as if those had not been made; their time is their caller's own.
// A call that was open when its method was switched off ends with its exit as any other, and a call that was left out
// when it began has no exit in the records.
type Gate struct {
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// Methods has the methods that were switched.
	Methods []GatedMethod
	// Threads has the threads that changed it.
	Threads []GatedThread
}

// GatedMethod is a method that was switched.
type GatedMethod struct {
	Method Method
	// State is 1 if calls that begin are left out, and 0 if they are recorded. 2 is not written; it would mean that
	// also exits of calls are left out whose entries are there.
	State uint8
}

// GatedThread is a thread that has switched methods.
type GatedThread struct {
	// Thread is its index.
	Thread uint32
	// Next is the number of the first record behind the change, 0 if the thread begins so in this file.
	Next uint64
}

// Window is a time in which a thread made records faster than they could be written, so that short calls that began and
// ended within it were left out. Nothing else is missing: calls that were open before it, are open behind it, or took
// long, are recorded with their times. It comes before its records.
type Window struct {
	// Thread is the thread's index.
	Thread uint32
	// Begin and End are in [Clock.NanoTime].
	Begin, End int64
	// FirstRecord and EndRecord are the numbers of the first of its records, and of the one behind the last.
	FirstRecord, EndRecord uint64
	// Calls is how many calls were left out.
	Calls uint64
}

// LeftOut says how many calls of methods were left out because they were off, on all threads together, since the
// [LeftOut] before.
type LeftOut struct {
	// Nanos is when it was counted, in [Clock.NanoTime].
	Nanos int64
	// Methods has the methods with left-out calls.
	Methods []LeftOutMethod
}

// LeftOutMethod is a method and how many of its calls were left out.
type LeftOutMethod struct {
	Method Method
	Calls  uint64
}

// LetGo says that methods that are off were let go, or have come back. From when a method is let go until it comes back
// or is on again, its calls are not even counted. Recordings have it since minor version 6.
type LetGo struct {
	// Nanos is when that was written, in [Clock.NanoTime].
	Nanos int64
	// Methods has the methods that changed.
	Methods []LetGoMethod
}

// Cost is what recording has cost until the recording ended, in nanoseconds of CPU time; -1 is not known.
type Cost struct {
	// Process is the time of the whole process, and contains the others.
	Process int64
	// Recorder is that of the recorder's own threads, Agent about that in which record's agent replaced classes.
	Recorder, Agent int64
}

// LetGoMethod is a method, and whether it was let go.
type LetGoMethod struct {
	Method Method
	// Gone is whether it was let go; it has come back if not.
	Gone bool
}

// Alive is a sign of life: the program ran at this time, and these calls were open. The runtime writes it from time to
// time while a message or an outermost call is open beyond the slow threshold, and once when the recording is closed,
// with all open calls.
type Alive struct {
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// WallMillis is the same moment in milliseconds since 1970, UTC.
	WallMillis int64
	// Open has the open calls. Not all calls that are open need be in it, but for the last chunk.
	Open []OpenCall
}

// OpenCall is a message or an outermost call that had not ended at the time of an [Alive].
type OpenCall struct {
	// Thread is its thread's index, Message its number on the thread.
	Thread  uint32
	Message uint64
	// Begin is when it began, in [Clock.NanoTime].
	Begin int64
	// State is the state of its thread.
	State ThreadState
	// CPU is how long the thread had been on a processor by then, in nanoseconds; -1 if that is not known.
	CPU int64
	// Description says what ran, as in [StallChunk]; empty if that is not known.
	Description string
}

// End is the last chunk of a recording that was closed. Its counts are what the file should hold.
type End struct {
	// Chunks is how many chunks came before it, Records how many records are in them.
	Chunks, Records uint64
	// Overwritten is how many records were lost on the device.
	Overwritten uint64
	// More is set if the recording goes on in another part.
	More bool
}

// Suspended has times in which the process did not run.
type Suspended struct {
	// List has them. They do not overlap, unless the file is damaged.
	List []Suspension
}

// Suspension is a time in which the process did not run, so that it is no part of a stall.
type Suspension struct {
	// Begin and End are in [Clock.NanoTime].
	Begin, End int64
	// Cause is why.
	Cause SuspensionCause
}

// SuspensionCause is why a process did not run.
type SuspensionCause uint8

// The causes of suspensions. Others may be added.
const (
	SuspendedFrozen   SuspensionCause = 1 // the process was frozen or stopped: none of its threads got a processor
	SuspendedAsleep   SuspensionCause = 2 // the device slept
	SuspendedDebugger SuspensionCause = 3 // a debugger was attached
)

// Late has times in which the clock that records are stamped with should have moved and did not.
type Late struct {
	// List has them in the order in which they were found.
	List []LateInterval
}

// LateInterval is a time in which the clock did not move: the time of a record in it is too early, by End - Begin at
// most. Both are in [Clock.NanoTime].
type LateInterval struct{ Begin, End int64 }

// Exit says how the process of a recording ended that has no [End]. A later process has appended it.
type Exit struct {
	// Values has the known ones of reason, status, description, wallMillis, importance, pssKb, rssKb, pid, joinedBy,
	// trace.
	Values map[string]string
}

// Dropped says what the recorder did not write since the [Dropped] before.
type Dropped struct {
	// List has the counts.
	List []DroppedCount
}

// DroppedCount is how often something was not written.
type DroppedCount struct {
	// Thread is the index of the thread that it is about. AllThreads is set if it is about all threads together.
	Thread     uint32
	AllThreads bool
	// Kind is the kind of the dropped things.
	Kind DroppedKind
	// Count is how often.
	Count uint64
}

// DroppedKind is a kind of things that a recorder has dropped.
type DroppedKind uint8

// The kinds of dropped things. Others may be added.
const (
	DroppedRecords  DroppedKind = 1 // records for which there was no memory
	DroppedSamples  DroppedKind = 2 // stack samples
	DroppedStalls   DroppedKind = 3 // stalls
	DroppedFrames   DroppedKind = 4 // frames
	DroppedListener DroppedKind = 5 // stalls that the app's listener did not get
	DroppedSigns    DroppedKind = 6 // signs of life
	DroppedChunks   DroppedKind = 7 // chunks that could not be written to the disk

	DroppedIncidents DroppedKind = 8 // incidents
	DroppedVirtual   DroppedKind = 9 // virtual threads that made calls, by choice
)

// Incident is a detector's finding that is no stall, such as a sync barrier that was not removed.
// An incident that lasts has two chunks: one when it was found and one when it had ended. Of several chunks with the
// same number in one recording, the last counts.
type Incident struct {
	// Number counts the incidents of the recording, in all its parts.
	Number uint64
	// Detector is the name of the detector, Kind what it found; trace/EVIDENCE.md lists both. Others may be
	// added. What is a name of what was slow, empty if there is none.
	Detector, Kind, What string
	// Thread is the index of the thread that it concerns. WholeProcess is set if it concerns no single thread.
	Thread       uint32
	WholeProcess bool
	// Begin and End are in [Clock.NanoTime]. End is 0 if the incident had not ended.
	Begin, End int64
	// FirstRecord and EndRecord are the numbers of the first record of the thread that belongs to it, and of the one
	// behind the last; equal if there are none.
	FirstRecord, EndRecord uint64
	// Scene is where the app was, empty if that is not known; Foreground is whether it was seen.
	Scene      string
	Foreground bool
	// Facts are further facts, in the order of the detector.
	Facts []IncidentFact
	// Stacks are the stacks that were taken, the first one first.
	Stacks []ThreadStack
}

// IncidentFact is something that a detector knows of an incident.
type IncidentFact struct {
	// Key is a word with hyphens. If it ends in "-millis", Value is a number of milliseconds.
	Key, Value string
}

// ThreadStack is the stack of a thread at one moment of an [Incident].
type ThreadStack struct {
	// Thread is the name of the thread.
	Thread string
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// State is the state of the thread.
	State ThreadState
	// Frames is its stack as Java prints it, the innermost frame first.
	Frames []string
}

// Detectors says what each detector of the runtime did from here on, until the next [Detectors].
type Detectors struct {
	// List has the detectors in the order of their names.
	List []DetectorState
}

// DetectorState is the state of a detector.
type DetectorState struct {
	// Name is the name of the detector. State is "on", "off", or begins with one of these words or with
	// "not available" and says why.
	Name, State string
}

// Machine is the state of processor, memory, disk and input and output at a moment of a message: when it passed
// the threshold, and when it had ended.
type Machine struct {
	// Thread is the index of the message's thread, Message its number.
	Thread  uint32
	Message uint64
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// Facts are numbers or words by the keys of trace/EVIDENCE.md. Rates and counts are over the time before Nanos that
	// the fact over-millis has.
	Facts []IncidentFact
}

func (*Meta) chunk()        {}
func (*Clock) chunk()       {}
func (*Threads) chunk()     {}
func (*Records) chunk()     {}
func (*Messages) chunk()    {}
func (*StackSample) chunk() {}
func (*Frames) chunk()      {}
func (*StallChunk) chunk()  {}
func (*Pending) chunk()     {}
func (*Gate) chunk()        {}
func (*Alive) chunk()       {}
func (*Window) chunk()      {}
func (*LeftOut) chunk()     {}
func (*LetGo) chunk()       {}
func (*Coroutines) chunk()  {}
func (*Cost) chunk()        {}
func (*Suspended) chunk()   {}
func (*Late) chunk()        {}
func (*Exit) chunk()        {}
func (*Dropped) chunk()     {}
func (*Incident) chunk()    {}
func (*Detectors) chunk()   {}
func (*Machine) chunk()     {}
func (*End) chunk()         {}
