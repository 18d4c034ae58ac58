// Package analysis answers what was slow in a recording, and which method is to blame.
//
// [Analyze] reads one recording after the other and gives each slow message as a [Stall], as soon as it is complete:
//
//	trace.Replay ─► analyzer ─► trace.Joiner ─► newStall ─► judge ─► Stall
//	                   │
//	                   ├──────► Methods   all calls by method, over all recordings
//	                   ├──────► Calls     all calls by path
//	                   └──────► Also      whoever else wants them
//
// [Text] and [JSON] write answers as they come. What is held in memory is one slow message, the table of methods or
// the merged tree if they are asked for, and the mappings; nothing grows with the recording.
//
// # Names
//
// A recording says which mapping it is of. [Mappings] finds that one, refuses another ([MismatchError]), and gives
// [Names], which never invent one: an ID that is not in the mapping is "#4711", and counted.
//
// # Across builds
//
// IDs mean nothing beyond their build, so whatever compares or groups goes by names. [Stall.HotPath] has methods by
// class, name and descriptor; [Stall.Key] is a hash of these and nothing else, equal for messages of one reason in any
// builds, and in [Recording.Meta] is what the program says of itself: its version ([Recording.Version]), and a user, if
// it was told one. [Methods] and [Calls] merge by name as well; only methods whose name is not known stay apart by
// mapping.
//
// # Judging
//
// A verdict stands on what was recorded: the time on a processor and the collector's, of the whole message; and looks,
// each a state and a stack of one moment. The method to blame is that with the most time of its own, whatever it
// was doing. A look counts if that method was on the stack. What the thread was doing is told by its state and by the
// platform's methods on top of the stack (tells); it counts for the reason if the thread was off the processor for half
// of the method's time at least, or if nobody knows. Without any of that, the verdict is that the recording does not
// tell. A time is the reason for another from half of it on.
//
// # Times
//
// The times of a message come from an exact clock, those of methods from one that moves every [Recording.Precision].
// An entry or an exit may be told late by as much; so a single call is off by that at most, and a sum of many calls
// much less, for what one gets too much the next gets too little.
package analysis
