package mutate

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
)

// splitFrames finds the frames of a StackMapTable and the types in them.
func (b *body) splitFrames() {
	info := b.frames.Info
	if len(info) < 2 {
		return
	}
	at := 2
	for range binary.BigEndian.Uint16(info) {
		start := at
		kind := int(info[at])
		at++
		if kind >= 247 {
			at += 2
		}
		switch {
		case kind < 64 || kind >= 248 && kind <= 251:
		case kind < 128 || kind == 247:
			at = b.splitTypes(at, 1)
		case kind < 255:
			at = b.splitTypes(at, kind-251)
		default:
			for range 2 {
				n := int(binary.BigEndian.Uint16(info[at:]))
				at = b.splitTypes(at+2, n)
			}
		}
		b.frameSpans = append(b.frameSpans, span{start, at})
	}
}

func (b *body) splitTypes(at, n int) int {
	for range n {
		b.types = append(b.types, b.frames.Offset+at)
		if b.frames.Info[at] >= 7 {
			at += 2
		}
		at++
	}
	return at
}

// framePC returns the position of frame n in the code.
func (b *body) framePC(n int) int {
	pc := -1
	for _, s := range b.frameSpans[:n+1] {
		pc += 1 + b.delta(s)
	}
	return pc
}

func (b *body) delta(s span) int {
	kind := int(b.frames.Info[s.from])
	switch {
	case kind < 64:
		return kind
	case kind < 128:
		return kind - 64
	}
	return int(binary.BigEndian.Uint16(b.frames.Info[s.from+1:]))
}

// withFrames picks a random method that has frames.
func (m *Mutator) withFrames() (*body, bool) {
	for range 60 {
		if b := m.pick(); len(b.frameSpans) > 0 {
			return b, true
		}
	}
	return nil, false
}

// frameEntry changes the form or position of a frame.
func (m *Mutator) frameEntry(data []byte) bool {
	b, ok := m.withFrames()
	if !ok {
		return false
	}
	s := b.frameSpans[m.rng.IntN(len(b.frameSpans))]
	at := b.frames.Offset + s.from
	kind := int(data[at])
	now := kind
	switch {
	case kind < 64:
		now = m.rng.IntN(64)
		if m.rng.IntN(4) == 0 {
			now = m.rng.IntN(256)
		}
	case kind < 128:
		now = 64 + m.rng.IntN(64)
	case kind >= 248 && kind <= 251 && m.rng.IntN(2) == 0:
		now = 248 + m.rng.IntN(4)
	default:
		delta := binary.BigEndian.Uint16(data[at+1:])
		put2(data[at+1:], max(0, int(delta)+m.rng.IntN(9)-4))
		return binary.BigEndian.Uint16(data[at+1:]) != delta
	}
	data[at] = byte(now)
	return now != kind
}

// frameType changes a type in a frame: to another of the same size, or from one class to another.
func (m *Mutator) frameType(data []byte) bool {
	for range 60 {
		b, ok := m.withFrames()
		if !ok {
			return false
		}
		if len(b.types) == 0 {
			continue
		}
		at := b.types[m.rng.IntN(len(b.types))]
		old := data[at]
		switch {
		case old < 7:
			data[at] = byte(m.rng.IntN(7))
		case m.rng.IntN(12) == 0:
			data[at] ^= 15 // an Object for an Uninitialized, or the other way round
		case old == 7:
			put2(data[at+1:], m.classConstant())
			return true
		default:
			put2(data[at+1:], b.pcs[m.rng.IntN(len(b.pcs))])
			return true
		}
		return data[at] != old
	}
	return false
}

// dropFrame removes a frame and adjusts the next one so that it keeps its position.
func (m *Mutator) dropFrame([]byte) ([]byte, bool) {
	b, ok := m.withFrames()
	if !ok {
		return nil, false
	}
	n := m.rng.IntN(len(b.frameSpans))
	s := b.frameSpans[n]
	info := append([]byte(nil), b.frames.Info...)
	binary.BigEndian.PutUint16(info, binary.BigEndian.Uint16(info)-1)
	if n+1 < len(b.frameSpans) {
		next := b.frameSpans[n+1]
		delta := b.delta(s) + 1 + b.delta(next)
		kind := int(info[next.from])
		switch {
		case kind < 64 && delta < 64:
			info[next.from] = byte(delta)
		case kind >= 64 && kind < 128 && delta < 64:
			info[next.from] = byte(64 + delta)
		case kind < 128:
			return nil, false
		default:
			put2(info[next.from+1:], delta)
		}
	}
	info = append(info[:s.from], info[s.to:]...)
	return m.replaceAttribute(b, b.frames, info), true
}

// replaceAttribute returns the class with other content of an attribute of Code.
func (m *Mutator) replaceAttribute(b *body, a classfile.Attribute, info []byte) []byte {
	data := append([]byte(nil), m.data[:a.Offset]...)
	data = append(data, info...)
	data = append(data, m.data[a.Offset+len(a.Info):]...)
	binary.BigEndian.PutUint32(data[a.Offset-4:], uint32(len(info)))
	length := binary.BigEndian.Uint32(data[b.attribute-4:])
	binary.BigEndian.PutUint32(data[b.attribute-4:], uint32(int(length)+len(info)-len(a.Info)))
	return data
}

// cut shortens a method's code, and removes its tables of lines and variables, which would otherwise be wrong for
// reasons that do not matter here.
func (m *Mutator) cut(data []byte) ([]byte, bool) {
	b := m.pick()
	if len(b.pcs) < 2 {
		return nil, false
	}
	length := b.pcs[1+m.rng.IntN(len(b.pcs)-1)]
	var frames []byte
	if len(b.frameSpans) > 0 {
		frames = []byte{0, 0}
		kept := 0
		for n, s := range b.frameSpans {
			if b.framePC(n) < length {
				frames = append(frames, b.frames.Info[s.from:s.to]...)
				kept++
			}
		}
		put2(frames, kept)
	}
	info := codeInfo(b.code, b.code.Bytecode[:length], b.code.ExceptionTable, b.frames.NameIndex, frames)
	return m.replaceCode(data, b, info), true
}

// codeInfo returns the content of a Code that has these parts, and no frames if frames is nil.
func codeInfo(c classfile.Code, bytecode, table []byte, frameName uint16, frames []byte) []byte {
	info := binary.BigEndian.AppendUint16(nil, c.MaxStack)
	info = binary.BigEndian.AppendUint16(info, c.MaxLocals)
	info = binary.BigEndian.AppendUint32(info, uint32(len(bytecode)))
	info = append(info, bytecode...)
	info = binary.BigEndian.AppendUint16(info, uint16(len(table)/8))
	info = append(info, table...)
	if frames == nil {
		return append(info, 0, 0)
	}
	info = binary.BigEndian.AppendUint16(append(info, 0, 1), frameName)
	info = binary.BigEndian.AppendUint32(info, uint32(len(frames)))
	return append(info, frames...)
}
