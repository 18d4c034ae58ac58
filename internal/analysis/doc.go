// Package analysis finds the stalls in recordings, and says why each was slow and which method is to blame.
//
// [Analyze] reads one recording after the other and hands on each stall as a [Stall], as soon as all of it is known:
//
//	trace.Replay ─► analyzer ─► trace.Joiner ─► newStall ─► verdictOn ─► Stall
//	                   │
//	                   ├──────► Methods   all calls by method, over all recordings
//	                   ├──────► Calls     all calls by path
//	                   └──────► Also      another handler, such as an export
//
// A [Recording] has what is said of it in every format: text, JSON, the page and all exports take its origin
// ([Recording.At]), the names of its threads ([Recording.Thread]), messages and methods, its facts
// ([Recording.Facts]), and the stalls with their numbers and verdicts from here.
//
// [Text] and [JSON] write stalls as they come. The memory holds one stall, the table of methods or the merged tree if
// they are asked for, and the mappings; it does not grow with the recording.
//
// # Names
//
// A recording has the digest of its mapping. [Mappings] finds that mapping, refuses another one ([MismatchError]), and
// returns [Names]. An ID that is not in the mapping is shown as "#4711", and counted.
//
// # Across builds
//
// IDs mean nothing beyond their build, so what compares or groups uses names. [Stall.HotPath] has methods by class,
// name and descriptor; [Stall.Key] is a hash of these and nothing else, equal for stalls with the same cause in any
// builds. [Recording.Meta] has what the program says of itself: its version ([Recording.Version]), and a user if it set
// one. [Methods] and [Calls] merge by name as well; methods without a name stay apart by mapping.
//
// # Verdicts
//
// [Verdicts] is the table of verdicts: the first one that applies is the stall's. A verdict is decided by the
// evidence that was recorded: CPU time and the collector's time, of the whole stall, and stack samples, each a state
// and a stack of one moment. The method to blame is the one with the most own time, whatever it was doing. A sample
// counts if that method is on its stack. The state and the platform's methods on top of the stack show what the thread
// was doing (the table in activity.go); that is the cause if the thread was off the processor for half of the
// method's time at least, or if its CPU time is not known. In general, a time explains another if it is at least half
// of it.
//
// # Times
//
// The times of a message come from an exact clock, those of methods from one that moves every [Recording.Precision]. An
// entry or an exit may be recorded late by as much; so a single call is off by that at most, and a sum of many calls
// much less, as the errors cancel out.
package analysis
