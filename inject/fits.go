package inject

import (
	"bytes"
	"math"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// The greatest lengths in bytes of notes with their separators: of one about a frame, "65535f65535=255;", and of
// all others that one method can have, "65535s65535;65535h;65535t;".
const (
	frameNote  = 16
	methodNote = 26
)

// smallestExtended is the smallest size in bytes of a frame that can need a note: one that has a two-byte
// offset_delta (JVMS 4.7.4).
const smallestExtended = 3

// fixedConstants is more than the number of constants that the block has besides the Integers of IDs.
const fixedConstants = 32

// FitsWithoutTrial reports whether [Injector.Try] need not be called for the class, since [Injector.Rewrite]
// refuses the same methods with any IDs. bodies are the codes of the methods that might get an ID; no method may
// get a focus call.
//
// Whether a method is refused depends on the IDs only through their lengths: through the length of the code and so
// the reach of branches, the number of constants, and the length of the notes for strip. FitsWithoutTrial computes
// an upper bound of each, and returns true if all of them are below their limits. What remains are refusals for
// another reason, such as malformed code, which Rewrite reports as well. The bounds are rough, but cheap to
// compute: they need no decoding, and most classes are far below the limits. Of a continuation class, bodies also has
// the methods that report its instances.
func (in *Injector) FitsWithoutTrial(c *classfile.Class, bodies []classfile.Code) bool {
	notes := len(notesPrefix)
	for i := range bodies {
		b := &bodies[i]
		most := grown(b.Bytecode, in.options)
		crossesLimit := len(b.Bytecode) <= hugeMethodLimit && most > hugeMethodLimit
		if most > shortBranches || in.options.KeepCompilable && crossesLimit {
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

// grown returns an upper bound of the length of the code with its calls. The instructions that cause growth are
// returns, athrows, invokespecials (of a constructor), switches (by padding), and with posts the calls that may have
// probes. It counts the bytes that have the value of such an opcode, of which there are at least as many as
// instructions.
func grown(bytecode []byte, o Options) int {
	most := widestCall + 3 // 3 for the padding of a switch; a probe is no longer than this, nor an exit with the result
	if o.Coroutines {
		most += widestReport // behind the call of a constructor, or in front of the entry call
	}
	if n := len(bytecode) * (1 + most); n <= hugeMethodLimit {
		return n
	}
	calls := 2 // the entry call, and the handler of exact exits
	for op := code.Ireturn; op <= code.Return; op++ {
		calls += bytes.Count(bytecode, []byte{byte(op)})
	}
	for _, op := range []code.Op{code.Athrow, code.Invokespecial, code.Tableswitch, code.Lookupswitch} {
		calls += bytes.Count(bytecode, []byte{byte(op)})
	}
	if o.Posts {
		calls += bytes.Count(bytecode, []byte{byte(code.Invokevirtual)}) +
			bytes.Count(bytecode, []byte{byte(code.Invokeinterface)})
	}
	return len(bytecode) + most*calls
}
