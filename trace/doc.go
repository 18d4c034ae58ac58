// Package trace reads the recordings of the runtime: which methods a program entered and left, and when,
// thread by thread, with what was going on around it.
//
// [Open] and [NewReader] give a [Reader], whose Next gives one [Chunk] after the other: [Meta] and [Clock]
// first, then [Records], [Messages], [StallChunk] and the others in the order they were written. FORMAT.md beside
// this file specifies the bytes.
//
// [Replay] makes calls of the records, message by message, and mends what is damaged: it hands each [Segment] of a
// thread to a [Handler], in memory that does not grow with the recording. A [Tree] merges segments by path, and
// a [Joiner] puts together what stands in different chunks of one slow message: a [Stall].
//
// [OpenSource] takes texts as well: reports of Matrix, in the shapes in which people paste them, logs of BlockCanary, and stack
// traces. They drive the same Handler, report by report.
//
// A recording may have been cut anywhere, and may be damaged. Whatever is whole is given; what is not is
// skipped, and told by [Reader.Damage]. A reader holds one chunk and the recording's strings in memory,
// never more than is there to be read or a fixed multiple of it. No input makes it panic.
package trace
