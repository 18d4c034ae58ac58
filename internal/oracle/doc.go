// Package oracle holds the referees that tracegen did not write: HotSpot's verifier, ASM, the JDK's
// own class file library, javap, and a second decoder in Go. Tests put originals and outputs to them
// and compare; nothing of the tool itself may import this package.
//
// # The referees
//
//   - [Link] puts every class of many jars through the verifier of a JVM, without running any
//     initialiser. [LinkBoot] does so for a module of the JDK, in a JVM that runs on its classes.
//   - [Disassemble] reads classes with ASM and reports, method by method, which IDs are passed to
//     the runtime and whether every path through the code that enters also leaves once.
//   - [VerifyClassFiles] asks java.lang.classfile, which JDK 24 and newer have.
//   - [Javap] gives the text of one class, [DecodeJVMGo] the structure as jvm.go sees it.
//   - [BuildRuntime] builds the runtime that users get, [MavenRuntime] runs its own tests.
//   - [Recorder] is a runtime that checks entries against exits while a real program runs.
//
// # Before and after
//
// Real jars hold classes that no JVM would take: they miss dependencies or were broken by their own
// tools. A referee's word counts only against its word on the original, which [Regressions] does.
//
// # What it needs
//
// The Java sources are embedded and compiled on first use with a JDK found by [FindJDKs]; ASM comes
// through Maven. Both are kept below the user's cache directory, keyed by what went into them, and
// several test processes may want them at once. What is missing gives an error that wraps
// [ErrMissing]; [Require] turns that into a skip, or into a failure where the environment has CI set.
package oracle
