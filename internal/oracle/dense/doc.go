// Package dense runs real programs that make very many calls, and compares what a recording says about them with what
// JFR, the profiler of the JDK, says about the same program without any change.
//
// A [Program] is prepared once: [Prepare] instruments its jars and the runtime. It is then run in several ways ([Way]),
// and the CPU time of each run is what the system reports. [Prepared.ReadCalls] reads a recording, [Prepared.ReadJFR]
// the samples of JFR. Both return a [Profile] of the main thread: the share of each method in the time, with the
// methods that it calls (inclusive) and without them (self).
//
// What is compared, and what cannot be:
//
//   - Only methods that are traced and that the gate never switched off are compared. The time of all others is that of
//     the caller, on both sides.
//   - JFR samples a thread while it runs Java code: not while it waits, is in native code or in the JVM (to collect
//     garbage, to load classes). A recording has all of the time. So the programs must compute.
//   - The shares are of the time in any traced method. So the start of the JVM is on neither side.
//   - Methods of nearly all the time, such as main, always agree. Differences are computed with and without them.
//   - JFR differs from itself. It runs twice, and the difference of the two runs is reported beside ours.
package dense
