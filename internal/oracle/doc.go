// Package oracle runs programs that tracegen's authors did not write, as second opinions for tests: HotSpot's verifier,
// ASM, the JDK's own class file library, javap, and a second decoder in Go. Tests run them on originals and on outputs
// and compare the results. Nothing of the tool itself may import this package.
//
// # The oracles
//
//   - [Link] sends every class of many jars through the verifier of a JVM, without running any
//     initialiser.
//   - [Disassemble] reads classes with ASM and reports, method by method, which IDs are passed to
//     the runtime and whether every path through the code that enters also leaves once.
//   - [Runtime] returns the runtime that users get, [MakeRuntime] runs its own tests.
//   - [Recorder] is a runtime that checks entries against exits while a real program runs.
//
// # Programs and versions
//
// Last compared in November 2026:
//
//   - HotSpot 17, and 25 where installed: every class links (docs/verification.md), real programs behave as before.
//   - ASM 9, javap, jvm.go: structure, instructions, calls, and IDs of outputs.
//   - Go's archive/zip, unzip, the JDK's zip code, jar and javac: archives (docs/archives.md).
//   - ART of Android 11, its verifier, interpreter and compiler: package art.
//   - Matrix's Gradle plugin 2.0.8, MethodItem, TraceDataUtils: the mapping, read and written; its reports.
//   - ProGuard 7 and its retrace, R8's retrace 9.0.32 (built once by hand): renamed classes, retraced stack traces.
//   - Android's Looper, MessageQueue, Choreographer of API 23, 28, 34, and 37: the runtime's Android part.
//   - D8 and R8 9.5, 8.13, 8.5, animal-sniffer with the API of Android 5.0, Kotlin 2.2: the runtime in apps.
//   - Perfetto's trace processor, speedscope in Chromium, the Firefox Profiler, go tool pprof:
//     exports; the versions are pinned in internal/oracle/readers.
//   - versitygw 1.8, an S3 server: mappings in a bucket.
//   - bash, zsh, fish: completion; PowerShell is in no registry, and its script is not run.
//   - The schemas of SARIF 2.1.0, GitHub, and GitLab, and actionlint: SARIF files, action.yml, examples/ci, the
//     repository's workflow.
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
