package inject

import (
	"encoding/binary"
	"math"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/contract"
)

// This file has everything that tracegen inserts into classes: names, descriptors and opcodes.

// The runtime classes that are called, in internal form.
const (
	DefaultRuntimeClass = contract.RuntimeClass
	MatrixRuntimeClass  = contract.MatrixRuntimeClass
)

const (
	entryName      = "i"
	exitName       = "o"
	callDescriptor = "(I)V"

	postName             = "posted"
	postObjectDescriptor = "(Ljava/lang/Object;Ljava/lang/Object;I)V"
	postWhatDescriptor   = "(Ljava/lang/Object;II)V"

	// Of calls with an object and the ID: the result at an exit, or a continuation.
	resultDescriptor = "(Ljava/lang/Object;I)V"
	continuesName    = "continues"
	startsName       = "starts"
	resumesName      = "resumes"

	// What Kotlin compiles suspending code to.
	coroutinePackage = "kotlin/coroutines/jvm/internal/"
	continuationType = "Lkotlin/coroutines/Continuation;"
	objectType       = "Ljava/lang/Object;"
	resumeName       = "invokeSuspend"
	resumeDescriptor = "(Ljava/lang/Object;)Ljava/lang/Object;"

	focusCallName       = "at"
	focusCallDescriptor = "(Landroid/app/Activity;Z)V"
	focusName           = "onWindowFocusChanged"
	focusDescriptor     = "(Z)V"

	throwableClass = "java/lang/Throwable"

	mappingInfoClass  = "dev/tracegen/runtime/MappingInfo"
	digestName        = "digest"
	digestDescriptor  = "()Ljava/lang/String;"
	digestLength      = 16
	notesPrefix       = "tracegen:"
	widestCall        = 6 // bytes of a call with the longest push
	widestReport      = widestCall + 1
	hugeMethodLimit   = 8000
	focusStackWords   = 2
	exactHandlerStack = 2
	largestSipush     = math.MaxInt16
	placeholderID     = 1 << 16 // the ID in trials, which needs a constant and the longest push
	continuationID    = placeholderID + 1
	iconstID          = 1     // pushed by one byte
	bipushID          = 6     // pushed by two bytes
	shortBranches     = 32000 // in code of at most this many bytes, every branch fits two bytes
	entryStackWords   = 1
	probeStackWords   = 3 // the two words that are copied, and the ID
	objectStackWords  = 2 // the object, and the ID
	maxStackLimit     = math.MaxUint16
	lastID            = contract.LastMethodID
)

// block is the block of constants that is appended to a class's constant pool. Its first two constants are the name
// and the Class of the runtime class, which are added even if the class has them: by them strip finds the block.
type block struct {
	classfile.PoolBuilder
	runtimeClass string
	class        uint16
	entry        uint16 // Methodrefs, 0 until they are added
	exit         uint16
	focus        uint16
	postObject   uint16
	postWhat     uint16
	result       uint16
	continues    uint16
	starts       uint16
	resumes      uint16
	continued    uint16   // the Integer of the ID that continuations are reported with, 0 if that needs none
	integers     []uint16 // the indices of the IDs' Integers, in the order of the methods
	pushed       int      // how many of integers have been used
	trial        bool     // the ID is pushed by the longest instruction
}

// reset empties the block, which keeps its memory, for another class.
func (b *block) reset(pool *classfile.ConstantPool, runtimeClass string, trial bool) {
	*b = block{PoolBuilder: b.PoolBuilder, runtimeClass: runtimeClass, integers: b.integers[:0], trial: trial}
	b.Reset(pool)
}

func (b *block) start() { b.class = b.AddClass(b.AddUtf8(b.runtimeClass)) }

// runtimeMethod returns the index of the Methodref of a method of the runtime class. It adds it if *index is 0, and
// stores the index there.
func (b *block) runtimeMethod(index *uint16, name, descriptor string) uint16 {
	if b.class == 0 {
		b.start()
	}
	if *index == 0 {
		*index = b.AddMethodref(b.class, b.NameAndType(name, descriptor))
	}
	return *index
}

// appendEntryCall appends the bytecode that reports the entry of the method whose ID push pushes.
func (b *block) appendEntryCall(out, push []byte) []byte {
	return appendInvoke(append(out, push...), code.Invokestatic, b.runtimeMethod(&b.entry, entryName, callDescriptor))
}

// appendExitCall appends the bytecode that reports the exit of the method whose ID push pushes.
func (b *block) appendExitCall(out, push []byte) []byte {
	return appendInvoke(append(out, push...), code.Invokestatic, b.runtimeMethod(&b.exit, exitName, callDescriptor))
}

// reserve adds the Integers of the IDs that need one. They come before the other constants of the calls, so that as
// many as possible have an index below 256, which ldc can load; the alternative, ldc_w, is one byte longer.
func (b *block) reserve(methods []Traced, continuation uint32) {
	for _, m := range methods {
		if m.ID <= largestSipush {
			continue
		}
		if b.class == 0 {
			b.start()
		}
		b.integers = append(b.integers, b.AddInteger(int32(m.ID)))
		if m.ID == continuation {
			b.continued = b.integers[len(b.integers)-1]
		}
	}
	if continuation > largestSipush && b.continued == 0 {
		if b.class == 0 {
			b.start()
		}
		b.continued = b.AddInteger(int32(continuation))
	}
}

// appendPush appends the shortest instruction that pushes id. If id needs an Integer, it must be the next one that
// was reserved.
func (b *block) appendPush(out []byte, id uint32) []byte {
	index := uint16(0)
	if id > largestSipush {
		index = b.integers[b.pushed]
		b.pushed++
	}
	return b.appendPushOf(out, id, index)
}

// appendPushOf appends the shortest instruction that pushes id, of which index is the Integer if it needs one.
func (b *block) appendPushOf(out []byte, id uint32, index uint16) []byte {
	switch {
	case id <= 5:
		return append(out, byte(code.Iconst0)+byte(id))
	case id <= math.MaxInt8:
		return append(out, byte(code.Bipush), byte(id))
	case id <= largestSipush:
		return append(out, byte(code.Sipush), byte(id>>8), byte(id))
	}
	if index <= math.MaxUint8 && !b.trial {
		return append(out, byte(code.Ldc), byte(index))
	}
	return binary.BigEndian.AppendUint16(append(out, byte(code.LdcW)), index)
}

func appendInvoke(out []byte, op code.Op, methodref uint16) []byte {
	return binary.BigEndian.AppendUint16(append(out, byte(op)), methodref)
}

// appendFocusCall appends at(this, hasFocus), for the start of onWindowFocusChanged, where local variables 0 and 1
// are certain to hold `this` and the argument.
func (b *block) appendFocusCall(out []byte) []byte {
	out = append(out, byte(code.Aload0), byte(code.Iload1))
	return appendInvoke(out, code.Invokestatic, b.runtimeMethod(&b.focus, focusCallName, focusCallDescriptor))
}

// focusMethod returns the method_info (JVMS 4.6) of an onWindowFocusChanged that calls the superclass's and
// then at.
func (b *block) focusMethod(superClass uint16) []byte {
	call := b.appendFocusCall(nil)
	super := b.AddMethodref(superClass, b.NameAndType(focusName, focusDescriptor))
	bytecode := appendInvoke([]byte{byte(code.Aload0), byte(code.Iload1)}, code.Invokespecial, super)
	bytecode = append(append(bytecode, call...), byte(code.Return))

	var out []byte
	put := func(values ...uint16) {
		for _, v := range values {
			out = binary.BigEndian.AppendUint16(out, v)
		}
	}
	put(classfile.AccPublic, b.Utf8(focusName), b.Utf8(focusDescriptor), 1, b.Utf8("Code"))
	out = binary.BigEndian.AppendUint32(out, uint32(12+len(bytecode)))
	put(focusStackWords, 2, 0, uint16(len(bytecode)))
	out = append(out, bytecode...)
	put(0, 0)
	return out
}

// appendHandler appends the bytecode of the handler of [ExitsExact]: it reports the exit and throws the exception
// again.
func appendHandler(out, exit []byte) []byte { return append(append(out, exit...), byte(code.Athrow)) }
