package types

import (
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// stackFrame is a decoded frame of a StackMapTable, with all its locals.
type stackFrame struct {
	pc                int
	locals, stack     []vtype // locals may share memory with those of the frame before
	thisUninitialized bool
	unset             []uint16 // see typeState

	// checked is set when all locals have been compared. The locals that changed since then are those in
	// typeState.changed from index checkedTo on.
	checked   bool
	checkedTo int

	// doubtful marks the words, locals and then the stack, in which the first state that was compared differed; it is
	// nil if there is none. unusable is set if that state had a stack of another depth.
	doubtful []bool
	unusable bool
}

// isDoubtful reports whether the type of a word is unknown, because the first state that was compared differed in it.
func (f *stackFrame) isDoubtful(word int) bool { return word < len(f.doubtful) && f.doubtful[word] }

// frame_type values (JVMS 4.7.4). Package code has them, too, but the type checker shares no line with the code that
// moved the frames.
const (
	typeSameEnd        = 64
	typeSameLocals1End = 128
	typeEarlyLarval    = 246 // JEP 401
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
	// badOffset is the offset of an uninitialized type of the frame at which there is no new, empty without one. HotSpot
	// reads such a frame to its end, and throws if its format is wrong there.
	badOffset string
}

// readFrames decodes the method's StackMapTable, if it has one, into frames, which are in ascending order. After a
// malformed frame it is not known where frames are, so that none is reported as missing.
func (m *method) readFrames() {
	table, ok := classfile.FindAttribute(m.code.Attributes, "StackMapTable")
	if !ok || len(table.Info) == 0 {
		return
	}
	r := frameReader{method: m, b: table.Info}
	n := r.u2()
	last := stackFrame{pc: -1, locals: m.initial[:len(m.initial):len(m.initial)],
		thisUninitialized: m.thisUninitialized, unset: m.unset}
	for i := 0; i < n && !m.failed(); i++ {
		end := last.pc + 1
		last = r.next(last)
		if !m.failed() && !m.isStart(last.pc) {
			m.failAt(last.pc, ruleStackMap, "an instruction at a frame's offset", "none")
		}
		if m.failed() {
			m.framesUnknownFrom = end
			break
		}
		m.frames = append(m.frames, last)
	}
	if len(r.b) != 0 {
		m.malformed("the end of StackMapTable", fmt.Sprintf("%d bytes more", len(r.b)))
	}
	m.report()
}

// frameAt returns the frame at a position, nil if there is none.
func (m *method) frameAt(pc int) *stackFrame {
	lo, hi := 0, len(m.frames)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); m.frames[mid].pc < pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(m.frames) || m.frames[lo].pc != pc {
		return nil
	}
	return &m.frames[lo]
}

// malformed sets a problem of the format of the table, for which HotSpot throws: there is no second chance.
func (m *method) malformed(want, got string) {
	if m.failed() {
		return
	}
	m.pc = -1
	m.failFatal(ruleStackMap, want, got)
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

// next decodes one frame; last is the one before.
func (r *frameReader) next(last stackFrame) stackFrame {
	kind := r.u1()
	f := stackFrame{pc: last.pc + 1, locals: last.locals, thisUninitialized: last.thisUninitialized, unset: last.unset}
	isLarval := kind == typeEarlyLarval && r.major >= majorValues
	if isLarval {
		f.unset = r.unsetFields()
		kind = r.u1()
	}
	switch {
	case kind < typeSameEnd:
		f.pc += kind
	case kind < typeSameLocals1End:
		f.pc += kind - typeSameEnd
	case kind < typeSameLocals1Ext:
		r.malformed("a known frame_type", fmt.Sprint(kind))
		return f
	default:
		f.pc += r.u2()
	}
	r.pc = f.pc // findings about the frame are at its position
	if kind >= typeSameEnd {
		r.body(kind, &f)
	}
	if !f.thisUninitialized {
		if f.unset = nil; isLarval {
			r.malformed("an uninitialised this in an early_larval_frame", "none")
		}
	}
	if r.badOffset != "" && !r.failed() {
		r.fail(ruleStackMap, "a new instruction at the offset of an uninitialized type", r.badOffset)
		r.report()
	}
	r.badOffset = ""
	return f
}

// unsetFields decodes the fields of an early_larval_frame: NameAndType constants of fields with ACC_STRICT_INIT.
func (r *frameReader) unsetFields() (unset []uint16) {
	for range r.u2() {
		i := uint16(r.u2())
		if r.failed() {
			return nil
		}
		name, descriptor, err := r.pool.NameAndType(i)
		field := slices.IndexFunc(r.strictFields, func(n uint16) bool {
			f := &r.class.Fields()[n]
			return err == nil && f.Name == name && f.Descriptor == descriptor
		})
		if field < 0 {
			r.malformed(fmt.Sprintf("the NameAndType of a field with ACC_STRICT_INIT at index %d", i),
				kindAt(r.pool, i))
			return nil
		}
		if n := r.strictFields[field]; !slices.Contains(unset, n) {
			unset = append(unset, n)
		}
	}
	return unset
}

// body decodes what follows frame_type and offset_delta.
func (r *frameReader) body(kind int, f *stackFrame) {
	switch {
	case kind <= typeSameLocals1Ext:
		f.stack = r.types(nil, 1, int(r.code.MaxStack))
	case kind < typeSameExtended:
		f.locals = r.chop(f.locals, typeSameExtended-kind)
		f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis)
	case kind == typeSameExtended:
	case kind < typeFull:
		r.words += len(f.locals)
		given := len(f.locals)
		f.locals = r.types(f.locals, kind-typeSameExtended, int(r.code.MaxLocals))
		f.thisUninitialized = f.thisUninitialized || slices.Contains(f.locals[given:], tUninitializedThis)
	default:
		f.locals = r.types(nil, r.u2(), int(r.code.MaxLocals))
		f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis) // see also below
		f.stack = r.types(nil, r.u2(), int(r.code.MaxStack))
	}
	// Before version 71, an uninitialised this that is only on the stack does not set the flag.
	if r.major >= majorValues && slices.Contains(f.stack, tUninitializedThis) {
		f.thisUninitialized = true
	}
	if r.words > maxFrameWords {
		r.fail(ruleLimit, fmt.Sprintf("frames of at most %d locals in all", maxFrameWords), "more")
	}
}

// chop drops the last values; a long or double is two words.
func (r *frameReader) chop(locals []vtype, values int) []vtype {
	for range values {
		n := len(locals)
		switch {
		case n == 0:
			r.fail(ruleStackMap, "a local to chop", "none")
			return nil
		case locals[n-1].isSecondWord() && n > 1:
			locals = locals[:n-2]
		default:
			locals = locals[:n-1]
		}
	}
	return locals
}

// types decodes n verification_type_info structures and appends them to a copy of the words before. At most as many
// words as most are allowed.
func (r *frameReader) types(before []vtype, n, most int) []vtype {
	start := len(r.frameWords)
	words := append(r.frameWords, before...)
	for i := 0; i < n && !r.failed(); i++ {
		t := r.oneType()
		words = append(words, t)
		if second, two := t.secondWord(); two {
			words = append(words, second)
		}
	}
	r.frameWords = words
	words = words[start:len(words):len(words)]
	r.words += n
	if len(words) > most {
		r.fail(ruleStackMap, fmt.Sprintf("at most %d words in a frame", most), fmt.Sprint(len(words)))
	}
	return words
}

// oneType decodes a verification_type_info.
func (r *frameReader) oneType() vtype {
	switch tag := r.u1(); tag {
	case tagObject:
		i := r.u2()
		c := r.constant(uint16(i))
		if c.tag != classfile.TagClass {
			r.malformed(fmt.Sprintf("a Class at index %d", i), kindAt(r.pool, uint16(i)))
			return tTop
		}
		return c.class
	case tagUninitialized:
		pc := r.u2()
		if pc >= len(r.starts) || r.starts[pc] != newStart {
			r.badOffset = fmt.Sprintf("none at %d", pc)
			return tUnknown
		}
		return uninitialized(pc)
	default:
		if tag > tagUninitialized {
			r.malformed("a known verification_type_info", fmt.Sprint(tag))
			return tTop
		}
		return [...]vtype{tTop, tInt, tFloat, tDouble, tLong, tNull, tUninitializedThis}[tag]
	}
}

// appendInitial appends the types of the locals at the method's start, which follow from its descriptor and flags (JVMS
// 4.10.1.6).
func (m *method) appendInitial(locals []vtype) []vtype {
	if m.methodFlags(m.member)&classfile.AccStatic == 0 {
		this := m.thisType
		if m.member.Name == "<init>" && m.thisType != m.object {
			this = tUninitializedThis
		}
		locals = append(locals, this)
	}
	return append(locals, m.typeOf(m.member).words...)
}
