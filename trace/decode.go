package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The types of chunks.
const (
	typeMeta     = 1
	typeClock    = 2
	typeThreads  = 3
	typeStrings  = 4
	typeRecords  = 5
	typeMessages = 6
	typeSamples  = 7
	typeFrames   = 8
	typeStall    = 9
	typePending  = 10
	typeEnd      = 11
	typeGate     = 12
	typeAlive    = 13
	typeWindow   = 14
	typeLeftOut  = 15

	typeSuspended = 16
	typeLate      = 17
	typeExit      = 18
	typeDropped   = 19
	typeIncident  = 20
	typeDetectors = 21
	typeMachine   = 22
	typeStacks    = 23
	typeLetGo     = 24

	typeCoroutines = 25
	typeCost       = 26

	typeCompositions = 27
)

var errShort = errors.New("it ends too early")

// payload is a cursor in a chunk's payload. It keeps the first error; all reads after that return zeros.
type payload struct {
	rest  []byte
	err   error
	delta bool
	names *stringTable
}

func (p *payload) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.rest = nil
}

func (p *payload) bytes(n uint64) []byte {
	if n > uint64(len(p.rest)) {
		p.fail(errShort)
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *payload) u8() uint8 {
	if b := p.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *payload) u32() uint32 {
	if b := p.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *payload) uv() uint64 {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 {
		p.fail(errShort)
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *payload) sv() int64 {
	v := p.uv()
	return int64(v>>1) ^ -int64(v&1)
}

func (p *payload) index() uint32 {
	v := p.uv()
	if v > math.MaxUint32 {
		p.fail(fmt.Errorf("%d is no thread's index", v))
		return 0
	}
	return uint32(v)
}

func (p *payload) str() string { return string(p.bytes(p.uv())) }

// name reads a string's number and returns the string.
func (p *payload) name() string { return p.names.get(p.uv()) }

// count reads how many items follow, each of which takes at least size bytes: no more are made room for than
// can be there.
func (p *payload) count(size int) int {
	n := p.uv()
	if n > uint64(len(p.rest)/size) {
		p.fail(errShort)
		return 0
	}
	return int(n)
}

// peekCount reads a count without using it up.
func (p *payload) peekCount() uint64 {
	v, _ := binary.Uvarint(p.rest)
	return v
}

// list reads a count and that many items.
func list[T any](p *payload, size int, item func(*payload) T) []T {
	n := p.count(size)
	items := make([]T, 0, n)
	for range n {
		items = append(items, item(p))
	}
	return items
}

// decoders returns the function for each known type but strings, which only the reader sees.
var decoders = map[uint16]func(*payload) Chunk{
	typeMeta:     func(p *payload) Chunk { return &Meta{decodeValues(p)} },
	typeClock:    func(p *payload) Chunk { return &Clock{p.sv(), p.sv(), p.sv(), p.sv(), p.str()} },
	typeThreads:  func(p *payload) Chunk { return &Threads{list(p, 4, decodeThread)} },
	typeRecords:  func(p *payload) Chunk { return decodeRecords(p) },
	typeMessages: func(p *payload) Chunk { return &Messages{p.index(), list(p, 7, decodeMessage)} },
	typeSamples: func(p *payload) Chunk {
		s := &StackSample{Nanos: p.sv(), Thread: p.index(), State: ThreadState(p.u8()),
			Frames: list(p, 1, (*payload).name), CPU: -1}
		if len(p.rest) > 0 {
			s.CPU = p.sv()
		}
		if len(p.rest) > 0 {
			s.Lock = decodeLockWait(p)
		}
		return s
	},
	typeFrames:  func(p *payload) Chunk { return &Frames{list(p, 18, decodeFrame)} },
	typeStall:   func(p *payload) Chunk { return decodeStall(p) },
	typePending: func(p *payload) Chunk { return decodePending(p) },
	typeGate: func(p *payload) Chunk {
		return &Gate{p.sv(), list(p, 2, decodeGatedMethod), list(p, 2, decodeGatedThread)}
	},
	typeWindow:       func(p *payload) Chunk { return &Window{p.index(), p.sv(), p.sv(), p.uv(), p.uv(), p.uv()} },
	typeLeftOut:      func(p *payload) Chunk { return &LeftOut{p.sv(), list(p, 2, decodeLeftOut)} },
	typeLetGo:        func(p *payload) Chunk { return &LetGo{p.sv(), list(p, 2, decodeLetGo)} },
	typeCoroutines:   func(p *payload) Chunk { return decodeCoroutines(p) },
	typeCompositions: func(p *payload) Chunk { return decodeCompositions(p) },
	typeAlive:        func(p *payload) Chunk { return &Alive{p.sv(), p.sv(), list(p, 6, decodeOpenCall)} },
	typeCost:         func(p *payload) Chunk { return &Cost{p.sv(), p.sv(), p.sv()} },
	typeSuspended: func(p *payload) Chunk {
		return &Suspended{list(p, 3, func(p *payload) Suspension {
			return Suspension{p.sv(), p.sv(), SuspensionCause(p.u8())}
		})}
	},
	typeLate: func(p *payload) Chunk {
		return &Late{list(p, 2, func(p *payload) LateInterval { return LateInterval{p.sv(), p.sv()} })}
	},
	typeExit:     func(p *payload) Chunk { return &Exit{decodeValues(p)} },
	typeDropped:  func(p *payload) Chunk { return &Dropped{list(p, 3, decodeDropped)} },
	typeIncident: func(p *payload) Chunk { return decodeIncident(p) },
	typeDetectors: func(p *payload) Chunk {
		return &Detectors{list(p, 2, func(p *payload) DetectorState { return DetectorState{p.str(), p.str()} })}
	},
	typeMachine: func(p *payload) Chunk {
		return &Machine{p.index(), p.uv(), p.sv(), list(p, 2, func(p *payload) IncidentFact {
			return IncidentFact{p.name(), p.str()}
		})}
	},
	typeStacks: func(p *payload) Chunk { return decodeStacks(p) },
	typeEnd: func(p *payload) Chunk {
		e := &End{Chunks: p.uv(), Records: p.uv(), Overwritten: p.uv()}
		e.More = len(p.rest) > 0 && p.u8()&1 != 0
		return e
	},
}

func decodeValues(p *payload) map[string]string {
	n := p.count(2)
	values := make(map[string]string, n)
	for range n {
		key := p.str()
		values[key] = p.str()
	}
	return values
}

// method reads the ID of a method.
func (p *payload) method() Method {
	v := p.uv()
	if v > idMask {
		p.fail(fmt.Errorf("%d is no method's ID", v))
		return 0
	}
	return Method(v)
}

func decodeGatedMethod(p *payload) GatedMethod { return GatedMethod{p.method(), p.u8()} }

func decodeGatedThread(p *payload) GatedThread { return GatedThread{p.index(), p.uv()} }

func decodeLetGo(p *payload) LetGoMethod { return LetGoMethod{p.method(), p.u8() != 0} }

func decodeCoroutines(p *payload) *Coroutines {
	c := &Coroutines{Thread: p.index(), First: p.uv()}
	number := int64(0)
	c.Marks = list(p, 7, func(p *payload) CoroutineMark {
		number += p.sv()
		m := CoroutineMark{Record: uint64(number), Kind: CoroutineKind(p.u8())}
		if m.Kind == CoroutineLost {
			m.Lost = p.uv()
		} else {
			m.Method = p.method()
		}
		m.Hash = p.u32()
		return m
	})
	return c
}

func decodeLeftOut(p *payload) LeftOutMethod { return LeftOutMethod{p.method(), p.uv()} }

func decodeOpenCall(p *payload) OpenCall {
	return OpenCall{p.index(), p.uv(), p.sv(), ThreadState(p.u8()), p.sv(), p.name()}
}

// indexOrNone reads an index that is one more than the thread's; 0 is written for none.
func (p *payload) indexOrNone() (thread uint32, none bool) {
	index := p.uv()
	if index > math.MaxUint32+1 {
		p.fail(fmt.Errorf("%d is no thread's index", index-1))
	}
	return uint32(max(index, 1) - 1), index == 0
}

func decodeDropped(p *payload) DroppedCount {
	var d DroppedCount
	d.Thread, d.AllThreads = p.indexOrNone()
	d.Kind, d.Count = DroppedKind(p.u8()), p.uv()
	return d
}

func decodeIncident(p *payload) *Incident {
	i := &Incident{Number: p.uv(), Detector: p.name(), Kind: p.name(), What: p.name()}
	i.Thread, i.WholeProcess = p.indexOrNone()
	i.Begin, i.End, i.FirstRecord, i.EndRecord = p.sv(), p.sv(), p.uv(), p.uv()
	i.Scene, i.Foreground = p.name(), p.u8() != 0
	i.Facts = list(p, 2, func(p *payload) IncidentFact { return IncidentFact{p.name(), p.str()} })
	i.Stacks = list(p, 4, func(p *payload) ThreadStack {
		return ThreadStack{p.name(), p.sv(), ThreadState(p.u8()), list(p, 1, (*payload).name)}
	})
	return i
}

// decodeLockWait reads the lock of a stack sample. The owner's index is one less than the written number; 0 is none.
func decodeLockWait(p *payload) LockWait {
	l := LockWait{Class: p.name(), Identity: p.u32()}
	if owner := p.index(); owner > 0 {
		l.Owned, l.Owner = true, owner-1
	}
	return l
}

func decodeThread(p *payload) Thread {
	return Thread{p.index(), p.sv(), p.str(), p.u8()&1 != 0}
}

func decodeMessage(p *payload) Message {
	return Message{MessageKind(p.u8()), p.uv(), p.uv(), p.sv(), p.uv(), p.sv(), p.name()}
}

// frameParts is how many numbers of a frame have no meaning: no runtime knows the parts of its time.
const frameParts = 10

func decodeFrame(p *payload) Frame {
	f := Frame{VSync: p.sv(), Start: p.sv(), End: p.sv(), Dropped: p.uv(), RefreshHz: math.Float32frombits(p.u32())}
	for range frameParts {
		p.sv()
	}
	return f
}

func decodeStall(p *payload) *StallChunk {
	c := &StallChunk{
		Thread: p.index(), Kind: MessageKind(p.u8()), Message: p.uv(),
		Begin: p.sv(), Wall: p.uv(), CPU: p.sv(),
		FirstRecord: p.uv(), EndRecord: p.uv(),
		Description: p.name(), Scene: p.name(), Foreground: p.u8() != 0,
		GCCount: p.sv(), GCMillis: p.sv(),
		State: ThreadState(p.u8()), LockOwner: p.name(), StackKey: p.str(), Repairs: p.uv(),
	}
	if len(p.rest) > 0 {
		c.PostedBy, c.Posted = p.method(), p.sv()
	}
	return c
}

func decodePending(p *payload) *Pending {
	return &Pending{p.index(), p.uv(), p.u8() != 0, list(p, 6, func(p *payload) PendingMessage {
		m := PendingMessage{When: p.sv(), What: p.sv(), Target: p.name(), Callback: p.name(), Arg1: p.sv()}
		flags := p.u8()
		m.Asynchronous, m.Barrier = flags&1 != 0, flags&2 != 0
		return m
	})}
}

func decodeRecords(p *payload) *Records {
	r := &Records{Thread: p.index(), First: p.uv(), Overwritten: p.uv()}
	decodeRecordList(p, r)
	if len(p.rest) > 0 {
		r.Marks = p.uv()
	}
	return r
}

func decodeRecordList(p *payload, r *Records) {
	if !p.delta {
		r.List = list(p, 8, func(p *payload) Record {
			low := p.u32()
			return Record(uint64(p.u32())<<32 | uint64(low))
		})
		return
	}
	var id, ticks int64
	r.List = list(p, 1, func(p *payload) Record {
		head := p.uv()
		id += int64(head>>3) ^ -int64(head>>2&1)
		if head&2 != 0 {
			ticks += p.sv()
		}
		if id < 0 || id > idMask || ticks < 0 || ticks > timeMask {
			p.fail(errors.New("a record's ID or time is out of range"))
			return 0
		}
		return Record(head<<63 | uint64(id)<<idShift | uint64(ticks))
	})
}

// stringTable has a recording's strings by their numbers. They come in order; some may be lost.
type stringTable struct{ byID map[uint64]string }

// maxStrings is twice what a writer has before it begins another file.
const maxStrings = 1 << 17

func (t *stringTable) add(p *payload) {
	first := p.uv()
	if first > maxStrings || p.peekCount() > maxStrings-first {
		p.fail(errors.New("there are too many strings"))
	}
	for k, s := range list(p, 1, (*payload).str) {
		t.byID[first+uint64(k)] = s
	}
}

// get returns the string, or a substitute for one that is lost.
func (t *stringTable) get(id uint64) string {
	if s, ok := t.byID[id]; ok || id == 0 {
		return s
	}
	return fmt.Sprintf("(string %d is lost)", id)
}
