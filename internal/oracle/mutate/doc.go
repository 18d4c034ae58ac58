// Package mutate plants single faults in real class files: faults that a verifier must find, and harmless changes that
// it must accept. A [Mutator] is made for one class; the random numbers alone decide which fault it plants. There are
// three sorts of faults ([Sort]): in the structures of the file, in instructions and frames, and by putting parts of
// two classes together.
//
// No fault is designed for what a certain verifier checks. Places are drawn from all places of a kind in the class, and
// values mostly from values that the class has elsewhere, so that the result is often well-formed enough for its types
// to be checked.
package mutate
