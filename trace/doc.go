// Package trace reads the recordings of the runtime: which methods a program entered and left, and when, thread by
// thread, with what else happened meanwhile.
//
// [NewReader] returns a [Reader], whose Next returns one [Chunk] after the other: [Meta] and [Clock] first,
// then [Records], [Messages], [StallChunk] and the others in the order in which they were written. FORMAT.md and
// EVIDENCE.md beside this file specify the bytes.
//
// [Replay] makes calls of the records, in two steps for each thread. First, damaged records are repaired: the result is
// a well-formed sequence of events (type event). Then the events become calls, which a [Handler] gets in parts: a
// [Segment] is one message or one outermost call. The memory for this does not grow with the recording.
//
//	Reader ─► Records ─► repairer ─► event ─► builder ─► Segment ─► Handler
//
// Steady samples ([Stacks]) get their place among the records: a [Sample] of a segment has the recorded calls that were
// open and, by the names of frames, the estimated calls below and between them. An open call whose frame is missing has
// ended before: its exit is missing, as an exception leaves it.
//
// A recording may have been cut anywhere, and may be damaged. The reader returns every chunk that is whole, skips the
// rest, and reports the skipped bytes by [Reader.Damage]. It holds one chunk and the recording's strings in memory:
// never more than a fixed multiple of what it has read. No input makes it panic.
package trace
