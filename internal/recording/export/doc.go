// Package export writes recordings in the formats of other programs: flame graphs, time lines, profiles, and a page for
// any browser.
//
// [Formats] is the table of formats, [New] begins an export. A [Writer] is a [trace.Handler]: it gets what package
// analysis reads, one recording after the other, and is closed at the end.
//
//	analysis.Analyze ─► Also: Segment, Chunk ─► writer ─► exporter ─► file
//	                └─► Stall ────────────────►
//
// The writer does what all formats have in common: it makes events of chunks, puts segments in the order of time, and
// leaves out messages that a history repeats. What is true of a recording comes from package analysis, and is neither
// decided nor worded here: the origin of times, names of threads, methods and messages, stalls with their numbers and
// verdicts, facts. An exporter gets the segments of one thread in the order of time, and events beside them.
//
// What was damaged or repaired is always shown: as the marks of a call where the format has room, and as facts of the
// recording. The same recordings make the same bytes.
package export
