// Package export writes recordings in the formats of other programs: flame graphs, time lines, profiles, and a page for
// any browser.
//
// [Formats] is the table of formats, [New] begins an export. A [Writer] is a [trace.Handler]: it gets what package
// analysis replays, one recording after the other, and is closed at the end.
//
//	analysis.Analyze ─► Segment, Chunk ─► writer ─► exporter ─► file
//	                ├─► Evidence ───────►
//	                └─► Stall: the verdict
//
// The writer does what all formats have in common: it makes times relative to the recording's begin, puts them in
// order, and leaves out messages that a history repeats. Stalls come with all that was found while they lasted from
// [trace.Joiner], and verdicts from package analysis; nothing is joined or decided here. An exporter gets the segments
// of one thread in the order of time, and events beside them.
//
// What was damaged or repaired is always shown: as the marks of a call where the format has room, and as facts of the
// recording ([Format.Marks], and the facts that every exporter gets).
//
// A format is written as the recording is read, unless [Format.Memory] says otherwise. The same recordings make the
// same bytes.
package export
