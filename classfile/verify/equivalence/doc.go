// Package equivalence proves that a rewritten class is the original with calls of the runtime class inserted, and
// nothing else. It also takes these calls out again.
//
// [Check] recognises the inserted code, takes it out, and compares the rest with the original byte by byte. It also
// checks that the calls are those that were asked for: [Instrumentation] says which. [Strip] takes the code out in the
// same way, without an original to compare with.
//
// The package does not import package inject. It decodes the inserted code from the class file alone, so that a fault
// of the injector is not repeated here. The two packages share only the opcode table and two data flow analyses of
// package code.
//
// # What is recognised
//
// New constants are appended to the pool as one block. The block starts with a new Utf8 that holds the name of the
// runtime class, and a new Class that refers to it; both are new even if the pool had equal ones. An inserted call is
// an invokestatic that uses a Methodref of the block. Constants of the original have smaller indexes, so that a call
// that was in the original is never taken for an inserted one.
//
//	entry   push ID; invokestatic i(I)V                     at the start, or after the call of another constructor
//	focus   aload_0; iload_1; invokestatic at(Activity,Z)V  after the entry call, in onWindowFocusChanged(Z)V
//	exit    push ID; invokestatic o(I)V                     directly before a return or athrow
//	result  dup; push ID; invokestatic o(Object,I)V         directly before an areturn of suspending code
//	instance aload_0; push ID; invokestatic (Object,I)V     before the entry call, in continuation classes
//	handler push ID; invokestatic o(I)V; athrow             at the very end, the target of the last exception entries
//
// # Sides of a position
//
// One position p of the original can become three positions of the rewritten code. With an entry and an exit call
// before the instruction at p these are:
//
//	A:  entry call
//	B:  exit call
//	C:  the instruction
//
// Taking the calls out makes A, B and C one position again, and that would hide faults: a branch to A instead of B runs
// the entry call a second time, but leads to p in the stripped code all the same. Every position that the class file
// holds is therefore checked when it is mapped back. It must stand on the side that its kind demands:
//
//   - A: lines and variables that begin with the method;
//   - B: branch targets, handlers, exception ranges, frames, and all other beginnings and ends;
//   - C: offsets of Uninitialized types and of annotated instructions.
//
// # Facts that inserting code loses
//
// A rewritten class does not show what max_stack was, and which form a frame had. Strip guesses these facts by fixed
// rules. If the guess would be wrong, the injector appends a note: the last constant of
// the block is then a Utf8 "tracegen:...", which says what the fact was. Check does not trust notes: with a wrong one,
// the stripped code differs from the original.
//
// # How code is taken out
//
//   - insertedcode.go finds the inserted calls of a method and maps every position back to the original.
//   - rebuildcode.go writes the Code attribute of the original; codetables.go and stackframes.go restore the attributes
//     inside of it.
//   - expectedcalls.go, exits.go, postcalls.go and coroutinecalls.go compare the calls with what was asked for.
//   - constantblock.go and stripnotes.go read the block of new constants and its notes.
package equivalence
