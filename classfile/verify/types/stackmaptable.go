package types

import (
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// stackFrame is a decoded frame of a StackMapTable, with all its locals.
type stackFrame struct {
	pc                int
	locals, stack     []vtype // locals may share memory with those of the frame before
	thisUninitialized bool

	checked  bool // a state was compared with it
	unusable bool // the first of these had a stack of another depth
}

// frame_type values (JVMS 4.7.4). Package code has them, too, but the type checker shares no line with the code that
// moved the frames.
const (
	typeSameEnd        = 64
	typeSameLocals1End = 128
	typeSameLocals1Ext = 247
	typeChopFirst      = 248
	typeSameExtended   = 251
	typeFull           = 255
	tagObject          = 7
	tagUninitialized   = 8
)

// maxFrameWords bounds the memory for the types of a method: the locals of its frames, or the states of inference.
// append frames may stand for many thousand times their own size. Methods that compilers write stay far below.
const maxFrameWords = 1 << 25

// frameReader decodes a StackMapTable.
type frameReader struct {
	*method
	b     []byte
	words int
	// Where the locals of the last frame are in frameWords. The end is negative if they are not there.
	localsAt, localsEnd int
	// badOffset is the offset of an uninitialized type of the frame at which there is no new, empty without one. HotSpot
	// reads such a frame to its end, and throws if its format is wrong there.
	badOffset string
}

// readFrames decodes the method's StackMapTable, if it has one, into frames, which are in ascending order. After a
// malformed frame it is not known where frames are, so that none is reported as missing.
func (m *method) readFrames() {
	if len(m.stackMap) == 0 {
		return
	}
	r := frameReader{method: m, b: m.stackMap, localsEnd: -1}
	n := r.u2()
	f := stackFrame{pc: -1, locals: m.initial, thisUninitialized: m.thisUninitialized}
	for i := 0; i < n && !m.failed(); i++ {
		end := f.pc + 1
		r.next(&f)
		if !m.failed() && !m.isStart(f.pc) {
			m.failAt(f.pc, ruleStackMap, "an instruction at a frame's offset", "none")
		}
		if m.failed() {
			m.framesUnknownFrom = end
			break
		}
		m.starts[f.pc] |= keptStart
		m.kept[f.pc] = uint16(len(m.frames))
		m.frames = append(m.frames, f)
	}
	if len(r.b) != 0 {
		m.malformed("the end of StackMapTable", fmt.Sprintf("%d bytes more", len(r.b)))
	}
	m.report()
}

// frameAt returns the frame at a position, nil if there is none.
func (m *method) frameAt(pc int) *stackFrame {
	if pc < 0 || pc >= len(m.starts) || m.starts[pc]&keptStart == 0 {
		return nil
	}
	return &m.frames[m.kept[pc]]
}

// malformed sets a problem of the format of the table, for which HotSpot throws at once: a class of version 50 gets no
// second chance.
func (m *method) malformed(want, got string) {
	if !m.failed() {
		m.pc = -1
		m.fail(ruleStackMap, want, got)
		m.fatal = true
	}
}

func (r *frameReader) u1() int {
	if len(r.b) < 1 {
		r.malformed("more of StackMapTable", "its end")
		return 0
	}
	v := int(r.b[0])
	r.b = r.b[1:]
	return v
}

func (r *frameReader) u2() int {
	if len(r.b) < 2 {
		r.malformed("more of StackMapTable", "its end")
		return 0
	}
	v := int(u2(r.b))
	r.b = r.b[2:]
	return v
}

// next decodes one frame. f is the one before.
func (r *frameReader) next(f *stackFrame) {
	kind := r.u1()
	f.stack = nil
	switch {
	case kind < typeSameEnd:
		f.pc += 1 + kind
	case kind < typeSameLocals1End:
		f.pc += 1 + kind - typeSameEnd
	case kind < typeSameLocals1Ext:
		r.malformed("a known frame_type", fmt.Sprint(kind))
		return
	default:
		f.pc += 1 + r.u2()
	}
	r.pc = f.pc // findings about the frame are at its position
	if kind >= typeSameEnd {
		r.body(kind, f)
	}
	if r.badOffset != "" && !r.failed() {
		r.fail(ruleStackMap, "a new instruction at the offset of an uninitialized type", r.badOffset)
		r.report()
	}
	r.badOffset = ""
}

// body decodes what follows frame_type and offset_delta.
func (r *frameReader) body(kind int, f *stackFrame) {
	switch {
	case kind <= typeSameLocals1Ext:
		f.stack = r.types(1)
	case kind < typeSameExtended:
		r.chop(f, typeSameExtended-kind)
		f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis)
	case kind == typeSameExtended:
	case kind < typeFull:
		r.append(f, kind-typeSameExtended)
	default:
		r.localsAt = len(r.frameWords)
		f.locals = r.types(r.u2())
		r.localsEnd = len(r.frameWords)
		f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis) // see also below
		r.atMost(r.code.MaxLocals, f.locals)
		f.stack = r.types(r.u2())
	}
	r.atMost(r.code.MaxLocals, f.locals)
	r.atMost(r.code.MaxStack, f.stack)
	// Before version 71, an uninitialised this that is only on the stack does not set the flag.
	if r.major >= majorThisOnStack && slices.Contains(f.stack, tUninitializedThis) {
		f.thisUninitialized = true
	}
	if r.words > maxFrameWords {
		r.fail(ruleLimit, fmt.Sprintf("frames of at most %d locals in all", maxFrameWords), "more")
	}
}

// atMost checks that a frame has room for its words.
func (r *frameReader) atMost(most uint16, words []vtype) {
	if len(words) > int(most) {
		r.fail(ruleStackMap, fmt.Sprintf("at most %d words in a frame", most), fmt.Sprint(len(words)))
	}
}

// chop drops the last values of the locals; a long or double is two words.
func (r *frameReader) chop(f *stackFrame, values int) {
	n := len(f.locals)
	for range values {
		if n == 0 {
			r.fail(ruleStackMap, "a local to chop", "none")
			return
		}
		if n--; n > 0 && f.locals[n].isSecondWord() {
			n--
		}
	}
	r.localsEnd -= len(f.locals) - n
	f.locals = f.locals[:n]
}

// append appends values to the locals, in their memory if nothing was decoded since.
func (r *frameReader) append(f *stackFrame, values int) {
	given := len(f.locals)
	r.words += given
	if r.localsEnd != len(r.frameWords) {
		r.localsAt = len(r.frameWords)
		r.frameWords = append(r.frameWords, f.locals...)
	}
	added := r.types(values)
	r.localsEnd = len(r.frameWords)
	f.locals = r.frameWords[r.localsAt:r.localsEnd:r.localsEnd]
	f.thisUninitialized = f.thisUninitialized || slices.Contains(added, tUninitializedThis)
}

// types decodes n verification_type_info structures and appends the words to frameWords. The tags up to that of an
// uninitialised this are the types.
func (r *frameReader) types(n int) []vtype {
	words := r.frameWords
	for i := 0; i < n && !r.failed(); i++ {
		t := vtype(r.u1())
		switch {
		case t == tagObject:
			i := uint16(r.u2())
			c := r.constant(i)
			if c.tag != classfile.TagClass {
				r.malformed(fmt.Sprintf("a Class at index %d", i), kindAt(r.pool, i))
			}
			t = c.class
		case t == tagUninitialized:
			t = r.newAt(r.u2())
		case t > tagUninitialized:
			r.malformed("a known verification_type_info", fmt.Sprint(uint32(t)))
		}
		words = append(words, t)
		if second, two := t.secondWord(); two {
			words = append(words, second)
		}
	}
	start := len(r.frameWords)
	r.words += n
	r.frameWords = words
	return words[start:len(words):len(words)]
}

// newAt returns the type of an object that the new at a position makes.
func (r *frameReader) newAt(pc int) vtype {
	if !r.isStart(pc) || code.Op(r.code.Bytecode[pc]) != code.New {
		r.badOffset = fmt.Sprintf("none at %d", pc)
		return tUnknown
	}
	return uninitialized(pc)
}

// appendInitial appends the types of the locals at the method's start, which follow from its descriptor and flags (JVMS
// 4.10.1.6).
func (m *method) appendInitial(locals []vtype) []vtype {
	if m.methodFlags(m.member)&classfile.AccStatic == 0 {
		this := m.thisType
		if m.member.Name == "<init>" && m.thisType != tObject {
			this = tUninitializedThis
		}
		locals = append(locals, this)
	}
	return append(locals, m.argumentsOf(m.typeOf(m.member))...)
}
