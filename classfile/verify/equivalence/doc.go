// Package equivalence proves that a rewritten class is the original with calls of the runtime inserted, and nothing
// else: [Check] recognises the inserted code, takes it out again, and what remains must be the original, byte by
// byte. [Strip] is the same without an original to compare with. Package inject has no part in this: what it
// inserted is decoded here from the class file alone, so that a fault there is not repeated here. Only the
// opcode table and the two data flow analyses of package code are shared.
//
// # What is recognised
//
// Constants are appended to the pool as one block, which starts with a new Utf8 holding the runtime class's
// name and a new Class naming it. Inserted calls are invokestatic instructions that use a Methodref of that
// block: what the original held has smaller indices, so that its own calls are never taken for ours.
//
//	entry   push ID; invokestatic i(I)V                     at the start, or behind the call of another constructor
//	focus   aload_0; iload_1; invokestatic at(Activity,Z)V  behind the entry, in onWindowFocusChanged(Z)V
//	exit    push ID; invokestatic o(I)V                     directly before a return or athrow
//	handler push ID; invokestatic o(I)V; athrow             at the very end, the target of the last exception entries
//
// # Sides
//
// One position of the original is up to three positions of the rewritten code: before the inserted code,
// between entry and exit code, and at the instruction itself. Taking the code out makes them one again, and
// would hide which of them a branch led to. Every position is therefore checked, when it is mapped back, to
// stand on the side that its kind demands: branches, handlers, ranges and frames behind entry code but before
// exit code; Uninitialized offsets and annotated instructions at the instruction; lines and variables that
// begin with the method at its start.
//
// # What cannot be seen
//
// Inserting loses a few facts: what max_stack was, whether a branch was widened, which form a frame had.
// Strip guesses them in a fixed way, and where the guess would be wrong the last constant of the block, a
// Utf8 "tracegen:...", says what it was. Check does not trust these notes: a wrong one makes the result
// differ from the original.
package equivalence
