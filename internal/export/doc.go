// Package export writes recordings in the forms that other programs show: flame graphs, time lines, profiles.
//
// [Formats] lists the forms, [New] begins an export. A [Writer] is a [trace.Handler]: whoever replays a recording feeds
// it, several recordings one after the other if there are several, and closes it.
//
//	replay ─► Segment, Chunk ─► writer ─► exporter ─► w
//
// What all forms have in common is done once, in the writer: times are made relative to the recording's begin and put
// in order, messages that a history repeats are left out, what was found when a message passed the threshold is put
// together with the message. An exporter has one thread's segments in the order of time, and events beside them.
//
// What was damaged or assumed is never silent: each form shows it where it has room, as the marks of a call, and as
// facts of the recording ([Format.Marks] and the facts that every exporter gets).
//
// All forms but those that say otherwise ([Format.Memory]) are written as they come. No form depends on anything but
// what is replayed: the same recordings give the same bytes.
package export
