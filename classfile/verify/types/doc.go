// Package types is a verifier (JVMS 4.8 to 4.10): [Check] and [Checker] judge one class as a JVM does when it links it. It follows HotSpot wherever that and the JVMS differ,
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
package types
