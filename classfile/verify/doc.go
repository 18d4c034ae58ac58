// Package verify is the referee of rewritten classes, in two ways that know nothing of each other.
//
// [Check] judges one class as a JVM does when it links it; see Types below.
//
// [Equivalent] proves that a rewritten class is the original with calls of the runtime inserted, and nothing
// else: it recognises the inserted code, takes it out again, and what remains must be the original, byte by
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
// Utf8 "tracegen:...", says what it was. Equivalent does not trust these notes: a wrong one makes the result
// differ from the original.
//
// # Types
//
// Check and [Checker] are a verifier (JVMS 4.8 to 4.10) that follows HotSpot wherever that and the JVMS differ,
// because what counts is whether a class links: release 17 for the class file versions that it reads, up to 61, and
// 25 for newer ones. What the JVMS demands beyond that is told as a note,
// on request.
//
//	format        pool, names, descriptors, flags, attributes      what HotSpot's class file parser rejects
//	supers        final, sealed, hidden and circular superclasses  what it rejects when it has found them
//	operands      what instructions need whatever the types are    (JVMS 4.9.1)
//	type checking from version 50 on, one pass with the frames     (JVMS 4.10.1)
//	inference     before, with subroutines                         (JVMS 4.10.2)
//
// Both verifiers share what an instruction does with types (execute.go, invoke.go); they differ in where types come
// from, in how assignable arrays of interfaces are, and in a few things that only one allows, which stand at their
// places. A class of version 50 whose frames are wrong is inferred instead, unless its StackMapTable cannot even be
// decoded, and the findings about its frames are only told if inference objects too.
//
// All findings of a class are collected, one for one cause. Behind a wrong instruction the types are not known; type
// checking goes on with them at the next frame, and until then with what needs no types; inference gives up that path and
// keeps the others. Where types do not fit a frame, or two paths each other, nobody knows which of them is wrong: the place
// is told once, and then both are taken to be right. Where frames have slipped, the first that is missed is told alone. A
// method has at most 16 findings; the first is HotSpot's where types are checked, and inference's are in the order of the
// code.
//
// Each name that a class mentions is numbered once, so that a type is a number and most comparisons are of
// numbers. The hierarchy is asked only where two classes differ and neither is Object. A class that it does not know
// is assumed to fit, and told in [Result.Unknown].
//
// Nearly all instructions go a quick way (quick.go), which sees from the opcode and the types on top of the stack that
// all is well. It can only say yes: what it is not sure of goes the way that the rules are written down in, from the
// same state. Both ask the hierarchy the same questions in the same order, so that findings do not depend on it.
//
// The work for one class is bounded by a number of steps that grows with its size, memory by a number of words;
// a class that needs more gets a finding of the rule "limit". Frames are compared whole only once and then in the
// locals that changed, so that only classes made for the purpose come near.
//
// # Where HotSpot is not followed
//
//   - A class fails to link if another, which it only mentions, fails to load. That is seen only where the class itself is
//     the reason, by being final for instance; what else is wrong with the other is told when that is judged.
//   - Modules do not exist: a superclass in a package that its module does not export can be extended.
//   - Identifiers in class files before version 49 are held to Go's tables of Unicode, not to the JVM's.
package verify
