// Package verify holds what the two checks of rewritten classes share: what a [Finding] is, and which findings a rewrite
// has [Introduced].
//
//   - Package equivalence proves that a rewritten class is the original with calls inserted.
//   - Package types checks that a JVM would link a class.
//   - Package classpath finds the other classes that the type checker needs.
//
// The first two know nothing of each other.
package verify
