package equivalence

import (
	"encoding/binary"
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
