// Package meaning holds the tests that run programs: what a program does must not change when it is
// instrumented, and the events it reports must be those that its source says.
//
// Two kinds of programs are run, first as they are and then instrumented in several modes, with the
// recorder of package oracle as the runtime:
//
//   - Real ones, at least 300 methods and a million events each: compilers, interpreters, a database,
//     printers of pictures, a library's own tests. Their output and every file that they write must be
//     the original's, byte by byte. In the mode exact every entry must have its exit, thread by thread;
//     in no mode may there be an exit without its entry. See programs_test.go.
//   - Small ones of ours, below testdata/shapes, assembled, coroutines and focus: every way into and out
//     of a method. Beside each stands the sequence of events that it must report, mode by mode; see
//     shapes_test.go for the notation. HotSpot verifies every class of theirs.
//
// The package consists of tests alone; it may look at the pipeline and at the oracles, which nothing
// else may.
package meaning
