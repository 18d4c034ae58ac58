// Package analysis finds the stalls in recordings, and says why each was slow and which method is to blame.
//
// [Analyze] reads one recording after the other and hands on each stall as a [Stall], as soon as all of it is known:
//
//	trace.Replay ─► analyzer ─► evidence.Joiner ─► newStall ─► verdictOn ─► Stall
//	                   │
//	                   └──────► Also      another handler, such as an export or a table of methods
//
// A [Recording] has what is said of it in every format: text, JSON, the page and all exports take its origin
// ([Recording.At]), the names of its threads ([Recording.Thread]), messages and methods, its facts
// ([Recording.Facts]), and the stalls with their numbers and verdicts from here. Packages answer and export write them.
// The memory holds one stall and the mappings; it does not grow with the recording. Stalls in which coroutines were
// resumed wait for its end, with those behind them, as far as their trees have no more than 262,144 nodes together.
//
// # Across builds
//
// IDs mean nothing beyond their build, so what compares or groups uses names. [Stall.HotPath] has methods by class,
// name and descriptor; [Stall.Key] is a hash of these and nothing else, equal for stalls with the same cause in any
// builds. [Recording.Meta] has the program's metadata: its version ([Recording.Version]), and a user if it set
// one.
//
// # Verdicts
//
// [Verdicts] is the table of verdicts. Stack samples, each a state and a stack of one moment, stand for the time around
// them; CPU time and the collector's time are known for the whole stall, CPU time also between samples. From these
// weigh.go estimates how much of the stall was spent on what, and the cause that explains half of it or more is the
// verdict. If none does, the verdict is that it is mixed or not known. The method to blame is the one with the most own
// time, unless the samples of the cause show another one. The state and the platform's methods on top of a stack show
// what the thread was doing (the table in activity.go of package foreign).
//
// # Times
//
// The times of a message come from an exact clock, those of methods from one that moves every [Recording.Precision]. An
// entry or an exit may be recorded late by as much; so a single call is off by that at most, and a sum of many calls
// much less, as the errors cancel out.
package analysis
