// Package oracle runs programs that tracegen's authors did not write, as second opinions for tests: HotSpot's verifier,
// ASM, the JDK's own class file library, javap, and a second decoder in Go. Tests run them on originals and on outputs
// and compare the results. Nothing of the tool itself may import this package.
//
// # The oracles
//
//   - [Link] sends every class of many jars through the verifier of a JVM, without running any
//     initialiser. [LinkBoot] does so for a module of the JDK, in a JVM that runs on its classes.
//   - [Disassemble] reads classes with ASM and reports, method by method, which IDs are passed to
//     the runtime and whether every path through the code that enters also leaves once.
//   - [VerifyClassFiles] runs java.lang.classfile, which JDK 24 and newer have.
//   - [Javap] returns the text of one class, [DecodeJVMGo] its structure as jvm.go reads it.
//   - [BuildRuntime] builds the runtime that users get, [MavenRuntime] runs its own tests.
//   - [Recorder] is a runtime that checks entries against exits while a real program runs.
//
// # Before and after
//
// Real jars hold classes that no JVM accepts: they lack dependencies or were broken by other tools. Therefore an
// oracle's result for an output counts only in comparison with its result for the original. [Regressions] makes that
// comparison.
//
// # What it needs
//
// The Java sources are embedded and compiled on first use with a JDK found by [FindJDKs]; ASM is fetched by Maven. Both
// are kept below the user's cache directory, under keys made from their content, and several test processes may use
// them at once. If something is missing the error wraps [ErrMissing]; [Require] turns it into a skip, or into a failure
// if the environment has CI set.
package oracle
