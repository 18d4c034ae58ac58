// Package toolchain runs what makes an app of the runtime's classes: D8, R8, a Kotlin compiler, and the list of what
// Android 5.0 (API 21) has. Google publishes D8 and R8 in one artifact of Maven, com.android.tools:r8.
//
// The library that the classes are compiled against is Android 14 (API 34), as [Library] describes. D8 and R8 may not
// print anything: every line of theirs is a fault of the runtime, of its rules, or of the library.
//
// Tests run one version of D8 and R8, and all versions if TRACEGEN_CORPUS is full.
package toolchain
