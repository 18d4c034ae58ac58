package trace

// Method is a called method: the ID of the mapping, [MethodDispatch], or, from [FirstNamed] on, a method that
// the recording itself names, as stack logs do; [Handler.Named] says how.
type Method uint32

// FirstNamed is the first Method that is no ID.
const FirstNamed Method = 1 << 20

// Marks say what replay had to assume about a call. A call without any was recorded as it is.
type Marks uint16

// The marks of a call.
const (
	// MarkOpen is a call that had not returned when the records end. Its End is the last time that is known.
	MarkOpen Marks = 1 << iota
	// MarkUnwound is a call whose exit is missing: an exception left it, or the record is lost. Its End is when
	// that showed.
	MarkUnwound
	// MarkTruncated is a call whose entry came before the records begin, or is lost. Its Begin is the time of the first
	// record that is known to lie within it: it lasted at least since then.
	MarkTruncated
	// MarkRetimed is a call one of whose times could not be, and was put between its neighbours'.
	MarkRetimed
	// MarkOverfull is a call of a report that is said to have taken less time than the calls below it. It is given
	// theirs.
	MarkOverfull
	// MarkResumed is a call that an earlier segment of the same thread has suspended.
	MarkResumed
	// MarkSuspended is a call that goes on in the thread's next segment.
	MarkSuspended
	// MarkCut is a call that was open when a gap began, and is not known to be open behind it. Its End is the time of
	// the last record before the gap: it lasted at least until then.
	MarkCut
	// MarkContradicted is a call whose exit is missing, and that a steady sample did not show any more: an exception had
	// left it. Its End is the last moment at which it is known to have run, so that later calls are its caller's.
	MarkContradicted
)

// Call is one call of a method, or in a report several that were merged.
type Call struct {
	// Method is the called method.
	Method Method
	// Parent is the index of its caller in [Segment.Calls], -1 if it has none there.
	Parent int32
	// Next is the index behind the last call below it: where the call beside it is, if there is one. The first
	// call below it, if any, has the index behind its own.
	Next int32
	// Count is how many calls it stands for: 1 in recordings.
	Count uint32
	// Begin and End are in nanoseconds of [Clock.NanoTime], Begin ≤ End. In a [MarkSuspended] or [MarkResumed] call
	// they are the times of its part in this segment.
	Begin, End int64
	// Marks are the assumptions of replay.
	Marks Marks
}

// SegmentKind is the kind of a segment.
type SegmentKind uint8

// The kinds of segments.
const (
	// SegmentMessage is a message of a looper: its first call is the dispatch.
	SegmentMessage SegmentKind = iota
	// SegmentOutermost is one call that no other recorded call encloses, outside of messages.
	SegmentOutermost
	// SegmentReport is a tree of calls that a device made up: calls are merged, and only durations are true.
	// Begin and End are laid out one behind the other, also for several reports.
	SegmentReport
	// SegmentSamples is made of stacks that were taken at intervals: a call lasts as long as it is on all of them. A
	// stack stands for the time until the next, the first also for that before it; one without any time for 1 ms. Times
	// are the device's wall clock if the stacks have some.
	SegmentSamples
	// SegmentRequest is a message of a thread without a looper: a call of a method whose calls are messages, which no
	// other such call encloses. Calls that enclose it come first, are resumed and suspended, and last as long as it.
	SegmentRequest
	// SegmentBetween is what a thread does between such messages, in calls that enclose them: the loop of a thread of
	// a pool. It is no message.
	SegmentBetween
)

// Segment is a part of what one thread did: a message, or what it did outside of any. Calls nest properly, and
// each lies within its caller.
type Segment struct {
	// Thread is the thread's index.
	Thread uint32
	// Kind is its kind.
	Kind SegmentKind
	// FirstRecord and EndRecord are the numbers of its first record and of the one after its last, both 0 if it
	// does not come from records.
	FirstRecord, EndRecord uint64
	// Begin and End enclose all calls.
	Begin, End int64
	// Calls are in the order in which they began, callers before their callees.
	Calls []Call
	// Message is the index in Calls of the method's call, in a [SegmentRequest].
	Message int
	// Repairs are the repairs of this segment.
	Repairs Repairs
	// Gaps are the times within it in which calls are missing, in the order of their begins.
	Gaps []Gap
	// Samples are the steady samples that were taken in it, the first one first.
	Samples []Sample
	// Coroutines has the marks of coroutines in it, in the order in which they were made. A segment that was made of
	// another one has none.
	Coroutines []PlacedMark
}

// Walk calls enter and leave for each call of the segment, in the order of time, an inner call left before an
// outer one. Both get the call's index. A call that is [MarkResumed] is not entered again, and one that is
// [MarkSuspended] not left: over all segments of a thread every enter has its leave.
func (s *Segment) Walk(enter, leave func(call int)) {
	for open, i := -1, 0; ; i++ {
		for open >= 0 && int(s.Calls[open].Next) <= i {
			if s.Calls[open].Marks&MarkSuspended == 0 {
				leave(open)
			}
			open = int(s.Calls[open].Parent)
		}
		if i == len(s.Calls) {
			return
		}
		if s.Calls[i].Marks&MarkResumed == 0 {
			enter(i)
		}
		open = i
	}
}

// Repairs counts what replay repaired. The zero value is a recording that needed no repair.
type Repairs struct {
	// Unwound is how many calls have no exit, Truncated how many no entry, Open how many had not returned, Cut how many
	// end at a gap because it is not known whether they were open behind it.
	Unwound   uint64 `json:"unwound"`
	Truncated uint64 `json:"truncated"`
	Open      uint64 `json:"open"`
	Cut       uint64 `json:"cut"`
	// Stray is how many exits belong to no call and were left out.
	Stray uint64 `json:"stray"`
	// Retimed is how many records had a time that could not be.
	Retimed uint64 `json:"retimed"`
	// Gaps is how often records are missing between others, Lost how many of them are.
	Gaps uint64 `json:"gaps"`
	Lost uint64 `json:"lost"`
	// Overfull is how many calls of reports take less time than their callees, Jumps how many lines have a
	// depth that skips some.
	Overfull uint64 `json:"overfull"`
	Jumps    uint64 `json:"jumps"`
	// Contradicted is how many of the Unwound calls ended before a later record showed it: calls that steady samples
	// contradict, and others of their methods.
	Contradicted uint64 `json:"contradicted,omitempty"`
}

// Add adds the counts of o.
func (r *Repairs) Add(o Repairs) {
	r.Unwound += o.Unwound
	r.Truncated += o.Truncated
	r.Open += o.Open
	r.Cut += o.Cut
	r.Stray += o.Stray
	r.Retimed += o.Retimed
	r.Gaps += o.Gaps
	r.Lost += o.Lost
	r.Overfull += o.Overfull
	r.Jumps += o.Jumps
	r.Contradicted += o.Contradicted
}

// Records is how many records the call has in its segment; 0 if it stands for a gap or for a time in which the process
// did not run.
func (c *Call) Records() uint64 {
	if c.Method >= MethodSuspended {
		return 0
	}
	n, m := uint64(2), c.Marks
	if m&(MarkTruncated|MarkResumed) != 0 {
		n--
	}
	if m&(MarkOpen|MarkUnwound|MarkSuspended|MarkCut|MarkContradicted) != 0 {
		n--
	}
	return n
}
