// Package code decodes and rewrites the content of a Code attribute (JVMS 4.7.3): instructions, the operand stack,
// frames, and every table that holds positions in the code.
//
// [At] and [Instructions] decode instructions; [Op] has the facts of JVMS chapter 6 about each opcode, from one table.
//
// [Depths] and [Initialisation] are the two data flow analyses that inserting code needs: the depth of the operand
// stack before each instruction, from which the new max_stack follows, and the places in a constructor where `this` is
// initialised.
//
// [Relocator] inserts code. It writes the Code attribute anew and moves everything in it that holds a code offset:
// branches, switches and their padding, the exception table, StackMapTable, line and variable tables, type annotations.
// Frames are moved, but never computed by merging types, for which one would have to know the class hierarchy. The only
// new frame is that of an appended handler. Code in which a branch would not reach its target any more is refused.
//
// [Fingerprinter] computes a number by which a method body is recognised in another build.
//
// Positions are offsets in bytes from the start of the code array. Depths and sizes of arguments are in words: a long
// or double takes two, every other value one.
package code
