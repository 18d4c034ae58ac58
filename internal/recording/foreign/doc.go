// Package foreign recognises the texts of other tools: those in which they report stalls, as people paste them from
// logs, from files and from issue trackers, and the stacks of all threads of a process. It says what is there; its
// users decide what becomes of it: package source makes calls of a report, package symbolize puts names into it.
//
// A [Reader] finds whole reports: those of Matrix as JSON, as logged, or the lines of a stack; logs of BlockCanary;
// stack traces. The other functions recognise the parts of a text where it stands: [CutRecord] and [TableRow] one
// record, [NextKey] a key that has records behind it, [Block] lines that nothing announces, [FrameMethod] a
// frame of a stack.
//
// # Records
//
// A record is "depth,ID,count,cost", the line of Matrix's MethodItem, with milliseconds for the cost. In the table that
// Matrix logs below "[id count cost]" the same is "..ID count cost", with a dot for each level.
package foreign
