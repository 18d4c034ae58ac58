// Package evidence joins what a recording has about a stall or a thread: calls merged by path, and what samples show of
// their own time.
//
// A [Tree] merges the calls of segments by path, with their samples. A [Joiner] is a [trace.Handler] that puts together
// what different chunks say of one stall: a [Stall].
//
// [Graft] joins calls and samples: it divides the own time of recorded calls among the calls that the samples of that
// time show below them, or between them and their callers. Sums never change: what an estimated call gets is taken off
// the own time of a recorded one. [Sums] has the times by method, [Bound] what they are with a probability of 95 %.
package evidence
