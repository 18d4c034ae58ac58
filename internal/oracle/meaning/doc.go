// Package meaning holds the tests that run programs. A program must do the same when it is instrumented, and the events
// that it reports must be those that its source specifies.
//
// Two kinds of programs run, first unchanged and then instrumented in several modes, with the recorder of package
// oracle as the runtime:
//
//   - Real programs, at least 300 methods and a million events each: compilers, interpreters, a database,
//     printers of pictures, a library's own tests. Their output and every file that they write must be
//     the original's, byte by byte. In the mode exact every entry must have its exit, thread by thread;
//     in no mode may there be an exit without its entry. See programs_test.go.
//   - Small programs, below testdata/shapes, assembled, coroutines and focus: every way into and out
//     of a method. Comments in them list the sequence of events that they must report, mode by mode; see
//     shapes_test.go for the notation. HotSpot verifies all their classes. They run on ART as well, interpreted,
//     compiled by its JIT and compiled ahead, with the same recorder: see art_test.go.
//
// The package consists of tests alone, and imports both the pipeline and the oracles, which no other package does.
package meaning
