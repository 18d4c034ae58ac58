package inject

import (
	"bytes"
	"math"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// The most bytes that a note takes with its separator: "65535f65535=255;", and "65535s65535;65535h;65535t;" for what
// one method can have besides.
const (
	frameNote  = 16
	methodNote = 26
)

// smallestExtended is the size of a frame that can take a note: one that has a two-byte delta without need
// (JVMS 4.7.4). The others are undone as they are.
const smallestExtended = 3

// fixedConstants is more than what the block takes beside the Integers of IDs, while no branch is widened.
const fixedConstants = 32

// Roomy says whether the class is so far from every limit that depends on how long the encodings of IDs are, that
// [Injector.Rewrite] refuses with any IDs what [Injector.Try] does, and nothing else. Then there is no need to try: what
// is left to be refused for shows the first time that the class is rewritten. The limits are the lengths of code (and
// with that the reach of branches), the number of constants, the length of the notes for strip. bodies are those
// of the methods that might get an ID; no method may get a focus call.
func (in *Injector) Roomy(c *classfile.Class, bodies []classfile.Code) bool {
	notes := len(notesPrefix)
	for i := range bodies {
		b := &bodies[i]
		most := grown(b.Bytecode)
		if most > shortBranches || in.options.KeepCompilable && len(b.Bytecode) <= hugeMethodLimit && most > hugeMethodLimit {
			return false
		}
		notes += methodNote
		for k := range b.Attributes {
			if a := &b.Attributes[k]; a.Name == "StackMapTable" {
				notes += frameNote * (len(a.Info) / smallestExtended)
			}
		}
	}
	return notes <= math.MaxUint16 && c.ConstantPool().Len()+len(bodies)+fixedConstants <= math.MaxUint16
}

// grown bounds the length of code with its calls. Bytes that look like a return, an athrow, an invokespecial or a
// switch are at least as many as there are of these instructions.
func grown(bytecode []byte) int {
	const most = widestCall + 3 // or the padding of a switch
	if n := len(bytecode) * (1 + most); n <= hugeMethodLimit {
		return n
	}
	calls := 2 // the entry, the handler of exact exits with its athrow
	for op := code.Ireturn; op <= code.Return; op++ {
		calls += bytes.Count(bytecode, []byte{byte(op)})
	}
	for _, op := range []code.Op{code.Athrow, code.Invokespecial, code.Tableswitch, code.Lookupswitch} {
		calls += bytes.Count(bytecode, []byte{byte(op)})
	}
	return len(bytecode) + most*calls
}
