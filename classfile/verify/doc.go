// Package verify holds what the two checks of rewritten classes share: what a [Finding] is, and which findings a
// rewrite has [Introduced].
//
//   - Package equivalence proves that a rewritten class is the original with calls inserted, and nothing else.
//   - Package types checks that a JVM links a class (JVMS 4.8 to 4.10).
//   - Package classpath finds the other classes that the type checker needs.
//
// Equivalence and types import neither each other nor package inject, so that no fault is repeated in what should find
// it. This package is small for the same reason: it is all that they share.
package verify
