// Package code knows what is inside a Code attribute (JVMS 4.7.3): instructions, the operand stack, frames,
// and every table that holds positions in the code.
//
// [At] and [Instructions] decode; [Op] has what JVMS chapter 6 says of each opcode, from one table.
// [Depths] and [Initialisation] are the two data flow analyses that inserting code needs. [Relocate]
// makes room: given code to insert at some places, it writes the Code attribute anew with everything moved
// that holds a code offset: branches (widened where they must be), switches and their padding, the exception
// table, StackMapTable, line and variable tables, type annotations.
//
// Frames are shifted, never computed from merged types: the one frame that did not exist before is the one
// behind a conditional branch that had to be widened, and it follows from the frame before it by straight
// execution.
package code
