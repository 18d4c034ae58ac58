// Package dense runs programs that make very many calls, and compares what a recording says about them with what JFR,
// the profiler of the JDK, says about the same program without any change.
//
// A [Program] is prepared once: [Prepare] instruments its jars and the runtime. It is then run in several ways
// ([Way]), and the CPU time of each run is what the system reports. [Prepared.ReadRecording] reads a recording,
// [Prepared.ReadJFR] the samples of JFR. Both return a [Profile] of the main thread, or of all: the share of each
// method in the time, with the methods that it calls and without them ([Kind]).
//
// What is compared, and what cannot be:
//
//   - All methods are compared, also those that the recorder switched off, and in own time those of libraries and of
//     the JDK. The recording knows these from its steady samples.
//   - JFR samples a thread while it runs Java code or a native method: not while it waits or is in the JVM (to collect
//     garbage, to load classes). A recording has all of the time. So the programs must compute, and time in which a
//     recording knows that the thread waited is left out.
//   - The shares are of the time in any traced method. So the start of the JVM is on neither side.
//   - Methods of nearly all the time, such as main, always agree. Differences are computed with and without them.
//   - JFR differs from itself. It runs twice, and the difference of the two runs is reported beside ours.
//   - Recording changes the program: methods that are called often become slower until they are switched off. In one
//     way JFR runs in the recorded process, and sees the same program.
//   - JFR of releases before 25 loses the outer frames of many stacks, and does not mark them as cut off: in bsh 1.3.0
//     on release 17, main was missing in two of three. These stacks are left out, and counted.
package dense
