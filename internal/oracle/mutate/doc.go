// Package mutate plants single faults in real class files: what a verifier has to find, and harmless changes that it
// must not object to. A [Mutator] is made for one class; which fault it plants depends on the random numbers alone.
//
// No fault is aimed at what a certain verifier looks for: places are drawn from all that a class has of a kind, and
// values mostly from what the class itself has elsewhere, so that the result is well-formed often enough to be
// judged for its types.
package mutate
