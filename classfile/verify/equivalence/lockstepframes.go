package equivalence

import (
	"encoding/binary"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// presetFrames compares the StackMapTables (JVMS 4.7.4) and notes what their frames say.
func (s *lockstep) presetFrames() bool {
	known := false
	for i := range s.tables {
		if t := &s.tables[i]; t.kind == framesName {
			if known || !s.sameFrames(t.old, t.now) {
				return false
			}
			known = true
		}
	}
	return true
}

// sameFrames compares two StackMapTables, frame by frame. The forms may differ as far as [body.restoreForm] restores
// them.
func (s *lockstep) sameFrames(old, now []byte) bool {
	if len(old) < 2 || len(now) < 2 || old[0] != now[0] || old[1] != now[1] {
		return false
	}
	pair := framePair{old: old, now: now, oldAt: 2, nowAt: 2}
	oldPC, nowPC := -1, -1
	for range binary.BigEndian.Uint16(old) {
		was, ok := frameAt(old, pair.oldAt)
		is, okNow := frameAt(now, pair.nowAt)
		if !ok || !okNow || !sameForm(was, is) {
			return false
		}
		oldPC, nowPC = oldPC+was.delta+1, nowPC+is.delta+1
		pair.oldAt, pair.nowAt, pair.words = was.body, is.body, 0
		if !s.sameBody(&pair, was.kind) || nowPC >= s.nowLength || !s.preset(oldPC, nowPC, pair.words) {
			return false
		}
	}
	return pair.oldAt == len(old) && pair.nowAt == len(now)
}

// framePair is where the comparison of two StackMapTables stands.
type framePair struct {
	old, now     []byte
	oldAt, nowAt int
	words        int // the words of the items that were compared last
}

// frameHead is the beginning of a stack_map_frame.
type frameHead struct {
	kind  byte // frame_type; for the two short forms, the extended form
	short bool
	delta int
	body  int // where it begins
}

// frameAt reads the beginning of a frame. ok is false for an early_larval_frame, too.
func frameAt(table []byte, at int) (f frameHead, ok bool) {
	if at >= len(table) {
		return f, false
	}
	switch kind := table[at]; {
	case kind < sameLocals1:
		return frameHead{extendedSame, true, int(kind), at + 1}, true
	case kind < firstReserved:
		return frameHead{extendedLocals1, true, int(kind) - sameLocals1, at + 1}, true
	case kind < extendedLocals1 || at+3 > len(table):
		return f, false
	default:
		return frameHead{kind, false, int(binary.BigEndian.Uint16(table[at+1:])), at + 3}, true
	}
}

// sameForm reports whether a frame of the form is had the form was before its delta grew: a short form became extended
// if it had to, and nothing else changed.
func sameForm(was, is frameHead) bool {
	switch {
	case was.kind != is.kind || is.short && !was.short:
		return false
	case was.kind == extendedSame || was.kind == extendedLocals1:
		grew := was.delta <= maxShortDelta && is.delta > maxShortDelta
		return is.short || was.short == grew
	}
	return true
}

// sameBody compares what follows offset_delta of two frames of that form.
func (s *lockstep) sameBody(p *framePair, kind byte) bool {
	switch {
	case kind == extendedLocals1:
		return s.sameItems(p, 1)
	case kind >= firstAppend && kind < fullFrame:
		if !s.sameItems(p, int(kind)-extendedSame) {
			return false
		}
		p.words = 0 // they are locals
	case kind == fullFrame:
		for range 2 { // the locals, then the stack
			n, ok := p.count()
			if !ok || !s.sameItems(p, n) {
				return false
			}
		}
	}
	return true
}

// count reads a count, which must be the same in both tables.
func (p *framePair) count() (n int, ok bool) {
	if p.oldAt+2 > len(p.old) || p.nowAt+2 > len(p.now) {
		return 0, false
	}
	n = int(binary.BigEndian.Uint16(p.old[p.oldAt:]))
	ok = n == int(binary.BigEndian.Uint16(p.now[p.nowAt:]))
	p.oldAt, p.nowAt = p.oldAt+2, p.nowAt+2
	return n, ok
}

// sameItems compares n verification_type_info structures, and notes where those say that there is a new.
func (s *lockstep) sameItems(p *framePair, n int) bool {
	old, now, at, to, words := p.old, p.now, p.oldAt, p.nowAt, n
	for range n {
		if at >= len(old) || to >= len(now) || old[at] != now[to] {
			return false
		}
		tag := old[at]
		at, to = at+1, to+1
		if tag < itemObject {
			if tag == longItem[0] || tag == doubleItem[0] {
				words++
			}
			continue
		}
		if tag > itemUninitialized || at+2 > len(old) || to+2 > len(now) {
			return false
		}
		was, is := binary.BigEndian.Uint16(old[at:]), binary.BigEndian.Uint16(now[to:])
		at, to = at+2, to+2
		if tag == itemUninitialized {
			s.news = append(s.news, newPair{int(was), int(is)})
		} else if was != is || int(was) >= s.start {
			return false
		}
	}
	p.oldAt, p.nowAt, p.words = at, to, words
	return true
}

// knownConstant is what lockstep has read of a constant.
type knownConstant struct {
	kind      constantKind
	arguments uint8 // stack words of a method's arguments, without this
	result    uint8 // those of its result, or of a field
}

// constantKind is the kind of a knownConstant. No constant is of two kinds.
type constantKind uint8

const (
	unknownConstant constantKind = iota // not read so far
	otherConstant
	memberField // a field, named by a Fieldref or the like
	memberMethod
	fieldDescriptor
	methodDescriptor
	className // a Class whose name is a Utf8
	linesName // a Utf8, LineNumberTable
	variablesName
	framesName
)

// tableKind returns the kind of the attribute inside of Code that has the name with that index.
func (s *lockstep) tableKind(name uint16) constantKind {
	if int(name) >= len(s.known) {
		return otherConstant
	}
	if kind := s.known[name].kind; kind != unknownConstant {
		return kind
	}
	kind := otherConstant
	text, _ := s.pool.Utf8(name)
	switch text {
	case "LineNumberTable":
		kind = linesName
	case "LocalVariableTable", "LocalVariableTypeTable":
		kind = variablesName
	case "StackMapTable":
		kind = framesName
	}
	s.known[name].kind = kind
	return kind
}

// readMember reads a constant that names a field or method, as [code.Instruction.StackWords] does. Its kind is
// otherConstant if StackWords would fail.
func (s *lockstep) readMember(i uint16) knownConstant {
	c := s.member(i)
	switch c.kind {
	case fieldDescriptor:
		c.kind = memberField
	case methodDescriptor:
		c.kind = memberMethod
	default:
		c = knownConstant{kind: otherConstant}
	}
	s.known[i] = c
	return c
}

// member returns what is known of the descriptor of the member that a constant names.
func (s *lockstep) member(i uint16) knownConstant {
	tag, info := s.pool.Entry(i)
	switch tag {
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		if !s.isClass(binary.BigEndian.Uint16(info)) {
			return knownConstant{}
		}
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
	default:
		return knownConstant{}
	}
	tag, info = s.pool.Entry(binary.BigEndian.Uint16(info[2:]))
	if tag != classfile.TagNameAndType || s.pool.Tag(binary.BigEndian.Uint16(info)) != classfile.TagUtf8 {
		return knownConstant{}
	}
	return s.descriptor(binary.BigEndian.Uint16(info[2:]))
}

// isClass reports whether constant i is a Class with a name.
func (s *lockstep) isClass(i uint16) bool {
	if int(i) >= len(s.known) {
		return false
	}
	if s.known[i].kind == unknownConstant {
		if tag, info := s.pool.Entry(i); tag == classfile.TagClass &&
			s.pool.Tag(binary.BigEndian.Uint16(info)) == classfile.TagUtf8 {
			s.known[i].kind = className
		}
	}
	return s.known[i].kind == className
}

// descriptor reads a Utf8 that is a descriptor.
func (s *lockstep) descriptor(i uint16) knownConstant {
	if int(i) >= len(s.known) {
		return knownConstant{}
	}
	if s.known[i].kind != unknownConstant {
		return s.known[i]
	}
	c := knownConstant{kind: otherConstant}
	if text, err := s.pool.Utf8(i); err != nil {
		return c
	} else if strings.HasPrefix(text, "(") {
		if arguments, result, err := code.DescriptorWords(text); err == nil {
			c = knownConstant{kind: methodDescriptor, arguments: uint8(arguments), result: uint8(result)}
		}
	} else if words, ok := code.FieldWords(text); ok {
		c = knownConstant{kind: fieldDescriptor, result: uint8(words)}
	}
	s.known[i] = c
	return c
}
