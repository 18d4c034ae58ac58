// Package coroutine joins what suspend functions did on threads to asynchronous calls.
//
// A suspend function that waits returns: its call on the thread ends, and the function is entered again when the wait
// is over, often on another thread. The recording has marks at such calls ([trace.CoroutineMark]), with the identity
// hash code of the continuation that connects them. [Joiner] makes pieces of the marked calls while a recording is
// read, and [Joiner.Join] makes a [Call] of the pieces with one continuation:
//
//	trace.Segment ─► Joiner.Segment: pieces, launches, losses ─► Joiner.Join: calls
//
// Hash codes are not unique, and records and marks may be lost. So pieces are joined only if it is known that no other
// continuation was meant. What is not known is said: [EndUnknown], [Call.BeginUnknown], [Piece.AtMost].
//
// The memory grows with the number of marks, and is 0 for a recording without any.
package coroutine
