package trace

// event is one step of what a thread did, made from its records and repaired: the type between the two steps of a
// replay. A [repairer] makes events from records, a [builder] makes calls from events and decides nothing.
//
// Whatever the records were, the events of a thread are well formed:
//
//   - Times do not decrease.
//   - An eventExit ends the innermost open call. There is one.
//   - Between an eventGap and the eventRejoined or eventUndecided that follows it, no call ends that was open before
//     the gap. Each eventGap is followed by one of them before the next eventDone or eventPause, and before the next
//     eventGap, unless nothing lies between the two gaps, which are one then.
//   - An eventLostEntry comes only between the two, and an eventRejoined too, while no call is open that was entered
//     behind that gap.
//   - At an eventDone no call is open.
//   - An eventMessage comes only while no message is open, and an eventMessageEnd ends each, before the calls around it
//     end.
//   - The entry of a message's dispatch comes only while no call is open. Behind a gap an eventDone comes before it.
type event struct {
	marks  Marks // of the call that is entered or ends here
	kind   eventKind
	repair repairKind // of an eventRepair
	method Method     // of an eventEntry and an eventLostEntry
	at     int64      // nanoseconds of [Clock.NanoTime]
	number uint64     // the number of a record, or a count; each kind says which
}

type eventKind uint8

const (
	// eventEntry is the entry into a method. number is its record's.
	eventEntry eventKind = iota
	// eventExit is the end of the innermost open call.
	eventExit
	// eventLostEntry is the exit of a call that was entered in the gap before it: the call encloses all that came
	// behind the gap.
	eventLostEntry
	// eventLoss says that records are missing from the record number on, and that those before it are the last ones
	// before the gap. Without it, it is not known when the gap before the next eventGap began, and no call is open.
	eventLoss
	// eventGap says that records are missing before the record number.
	eventGap
	// eventRejoined says which calls were open on both sides of the gap: the first number of those that were open
	// before it. All calls that enclose what came behind the gap are known: these, and those of which an
	// eventLostEntry came.
	eventRejoined
	// eventUndecided says that the first number of the calls that were open before the gap were open on both sides of
	// it. What came behind the gap may be enclosed by more calls, which were entered in the gap.
	eventUndecided
	// eventDone says that no later call encloses the earlier ones. number is the number of the first record behind it.
	eventDone
	// eventPause says that the segment has become too long: its first part is handed on, and the open calls continue.
	// number is the number of the first record behind it.
	eventPause
	// eventMessage says that the next entry begins a message: a call of a method whose calls are messages. If calls are
	// open, they are suspended as by an eventPause. number is the number of the entry.
	eventMessage
	// eventMessageEnd says that the message has ended with the exit before it. If calls are open, they are suspended as
	// by an eventPause. number is the number of the first record behind it.
	eventMessageEnd
	// eventSample is a steady sample that was taken here. number is its index in [repairer.placed].
	eventSample
	// eventMark is a mark of a coroutine. number is its index in [repairer.marked]. That of a call's end comes before the
	// eventExit, that of its begin behind the eventEntry.
	eventMark
	// eventRepair says that number records were repaired in the way repair, beside the repairs that marks of calls count.
	eventRepair
)

// repairKind is a counter of [Repairs].
type repairKind uint8

const (
	repairStray repairKind = iota
	repairRetimed
	repairGaps
	repairLost
)

// count adds n repairs of a kind.
func (r *Repairs) count(kind repairKind, n uint64) {
	switch kind {
	case repairStray:
		r.Stray += n
	case repairRetimed:
		r.Retimed += n
	case repairGaps:
		r.Gaps += n
	case repairLost:
		r.Lost += n
	}
}

// countMarks adds what the marks of a call that ends say was repaired.
func (r *Repairs) countMarks(marks Marks) {
	switch {
	case marks&MarkUnwound != 0:
		r.Unwound++
		if marks&MarkContradicted != 0 {
			r.Contradicted++
		}
	case marks&MarkOpen != 0:
		r.Open++
	case marks&MarkCut != 0:
		r.Cut++
	}
}
