// Package types is a type checker for class files: a verifier (JVMS 4.8 to 4.10) that reports whether a JVM links a
// class. [Check] and [Checker] check one class at a time; they see the other classes that it mentions through a
// [Hierarchy].
//
// What counts is whether a class links. Where HotSpot and the JVMS differ, the checker therefore follows HotSpot:
// release 17 for the class file versions that it reads, up to 61, and release 25 for newer ones. If the JVMS is
// stricter, the checker reports a note, on request.
//
// # The steps
//
// Checks run in the order in which HotSpot makes them. Each step has its files.
//
//	step           what it checks                                        JVMS          files
//	class format   constant pool, names, descriptors, flags, attributes  4.1 to 4.7    constantpool.go, identifiers.go,
//	                                                                                   characters.go, descriptors.go,
//	                                                                                   classformat.go, attributes.go,
//	                                                                                   codeformat.go, moduleformat.go
//	inheritance    final, sealed, inaccessible, circular superclasses    5.3.5         inheritance.go, superclasses.go
//	constraints    what instructions need whatever the types are         4.9.1         operands.go, execute.go
//	type checking  from version 50 on: one pass, with the frames         4.10.1        typechecking.go, stackmaptable.go
//	inference      before version 50: merging until nothing changes      4.10.2        inference.go, subroutines.go
//
// Type checking and inference share one engine: the step of an instruction (execute.go, invoke.go, typestate.go), which
// follows a row of the table of opcodes (opcodes.go), and the rules of assignment (assignable.go). They differ in where
// the types at a branch target come from, in how arrays of interfaces are assigned, and in a few things that only one
// of them allows; these stand where they matter, as tests of method.inferring.
//
// # Versions 50 and older
//
// A class of version 50 whose frames are wrong gets a second chance: its types are inferred instead (JVMS 4.10). Only
// if inference fails, too, is it rejected, with the findings about its frames. There is no second chance if its
// StackMapTable cannot be decoded, because HotSpot throws then.
//
// # One finding for one fault
//
// All findings of a class are collected, and one fault makes one finding. What follows from it must not be reported:
//
//   - After a wrong instruction the type state is unknown. Type checking continues with types at the next frame; until
//     then it checks only what needs no types. Inference gives up the path and follows the others.
//   - If a type state does not fit a frame, or two paths do not fit each other, either may be wrong. The place is
//     reported once, and the words that differ are unknown afterwards: they fit everywhere.
//   - If all frames have slipped from their places, the first that is missed is reported.
//
// A method has at most 16 findings. With type checking, the first is the one that HotSpot reports; with inference,
// findings are in the order of the code.
//
// # Speed
//
//   - Constants, names and descriptors pass quick tests first: of the kinds that a constant refers to, and of the
//     characters of a string, eight at once (characters.go). What fails a quick test is checked exactly. A string is
//     checked once for each use.
//   - Each name that a class mentions is numbered once, so that a verification type is a number (vtypes.go), and most
//     comparisons are of numbers. The hierarchy is asked only if two classes differ and neither is Object. A class that
//     the hierarchy does not have is assumed to fit; [Result.Unknown] lists it.
//   - One pass over a method finds out whether it is correct, and what is wrong with it. Texts are made only for a
//     finding. An instruction needs a row of a table, and a look at the types on top of the stack; what it demands of a
//     constant is checked once for all instructions with that opcode.
//   - A handler looks at the locals again only when they have changed.
//   - The work for one class is bounded by a number of steps that grows with its size, the memory by a number of words.
//     A class that needs more has a finding of the rule "limit"; only classes made for the purpose come near it.
//
// # Where the checker does not follow HotSpot
//
//   - A class fails to link if another class, which it only mentions, fails to load. The checker sees that only if the
//     class itself is the reason, for example by being final. Other faults of the other class are reported when that is
//     checked.
//   - Modules are ignored: a class may extend a class in a package that its module does not export.
//   - Identifiers in class files before version 49 are checked with Go's tables of Unicode, not with the JVM's.
package types
