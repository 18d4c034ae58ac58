package export_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"

	"github.com/tracegen/tracegen/trace"
)

// recorded writes a recording as FORMAT.md has it, so that tests can say what is in one.
type recorded struct {
	bytes.Buffer
	chunks, records uint32
	strings         map[string]uint64
}

func newRecorded(meta ...string) *recorded {
	r := &recorded{strings: map[string]uint64{"": 0}}
	head := append([]byte("TGD1"), 1, 0, 0, 0, 32, 0, 0, 0)
	head = append(head, make([]byte, 16)...)
	r.Write(binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head)))
	b := uv(nil, uint64(len(meta)/2))
	for _, s := range meta {
		b = str(b, s)
	}
	r.chunk(1, b)
	return r
}

func uv(b []byte, n uint64) []byte    { return binary.AppendUvarint(b, n) }
func sv(b []byte, n int64) []byte     { return binary.AppendVarint(b, n) }
func str(b []byte, s string) []byte   { return append(uv(b, uint64(len(s))), s...) }
func flag(b []byte, set bool) []byte  { return append(b, map[bool]byte{true: 1}[set]) }
func u32(b []byte, n uint32) []byte   { return binary.LittleEndian.AppendUint32(b, n) }
func bits(entry bool) uint64          { return map[bool]uint64{true: 1 << 63}[entry] }
func rate(b []byte, f float32) []byte { return u32(b, math.Float32bits(f)) }

func (r *recorded) chunk(kind byte, payload []byte) {
	head := append([]byte("TGCK"), kind, 0, 0, 0)
	head = u32(u32(head, uint32(len(payload))), r.chunks)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, payload)
	r.Write(append(u32(head, sum), payload...))
	r.Write(make([]byte, -len(payload)&3))
	r.chunks++
}

// name returns a string's number, after it has been written.
func (r *recorded) name(s string) uint64 {
	k, ok := r.strings[s]
	if !ok {
		k = uint64(len(r.strings))
		r.strings[s] = k
		r.chunk(4, str(uv(uv(nil, k), 1), s))
	}
	return k
}

// clock says that tick 0 was at base, and what time it was a second later.
func (r *recorded) clock(base, wallMillis int64) {
	now := base + 1_000_000_000
	r.chunk(2, str(sv(sv(sv(sv(nil, now), now), wallMillis), base), "UTC"))
}

func (r *recorded) thread(index uint32, name string, main bool) {
	r.chunk(3, flag(str(sv(uv(uv(nil, 1), uint64(index)), int64(index)+40), name), main))
}

// record is one of a thread: an entry is a positive ID, an exit the same made negative.
type record struct{ id, ticks int64 }

func (r *recorded) add(thread uint32, first uint64, list ...record) {
	b := uv(uv(uv(uv(nil, uint64(thread)), first), 0), uint64(len(list)))
	for _, rec := range list {
		id := max(rec.id, -rec.id)
		b = binary.LittleEndian.AppendUint64(b, bits(rec.id > 0)|uint64(id)<<43|uint64(rec.ticks))
	}
	r.records += uint32(len(list))
	r.chunk(5, b)
}

func (r *recorded) messages(thread uint32, list ...trace.Message) {
	b := uv(uv(nil, uint64(thread)), uint64(len(list)))
	for _, m := range list {
		b = append(b, byte(m.Kind))
		b = sv(uv(sv(uv(uv(b, m.Sequence), m.Count), m.Begin), m.Wall), m.CPU)
		b = uv(b, r.name(m.Description))
	}
	r.chunk(6, b)
}

func (r *recorded) sample(s trace.StackSample) {
	b := append(uv(sv(nil, s.Nanos), uint64(s.Thread)), byte(s.State))
	b = uv(b, uint64(len(s.Frames)))
	for _, f := range s.Frames {
		b = uv(b, r.name(f))
	}
	r.chunk(7, b)
}

func (r *recorded) frames(list ...trace.Frame) {
	b := uv(nil, uint64(len(list)))
	for _, f := range list {
		b = rate(uv(sv(sv(sv(b, f.VSync), f.Start), f.End), f.Dropped), f.RefreshHz)
		for range 10 {
			b = sv(b, -1)
		}
	}
	r.chunk(8, b)
}

func (r *recorded) stall(j trace.StallChunk) {
	description, scene, owner := r.name(j.Description), r.name(j.Scene), r.name(j.LockOwner)
	b := uv(append(uv(nil, uint64(j.Thread)), byte(j.Kind)), j.Message)
	b = uv(uv(sv(uv(sv(b, j.Begin), j.Wall), j.CPU), j.FirstRecord), j.EndRecord)
	b = sv(sv(flag(uv(uv(b, description), scene), j.Foreground), j.GCCount), j.GCMillis)
	b = uv(str(uv(append(b, byte(j.State)), owner), j.StackKey), j.Repairs)
	r.chunk(9, sv(uv(b, uint64(j.PostedBy)), j.Posted))
}

func (r *recorded) pending(p trace.Pending) {
	b := uv(flag(uv(uv(nil, uint64(p.Thread)), p.Message), p.Available), uint64(len(p.List)))
	for _, m := range p.List {
		target, callback := r.name(m.Target), r.name(m.Callback)
		b = append(sv(uv(uv(sv(sv(b, m.When), m.What), target), callback), m.Arg1),
			map[bool]byte{true: 1}[m.Asynchronous])
	}
	r.chunk(10, b)
}

// end closes the recording and returns its bytes.
func (r *recorded) end() []byte {
	r.chunk(11, uv(uv(uv(nil, uint64(r.chunks)), uint64(r.records)), 0))
	return r.Bytes()
}

// naming is the Names of the tests: IDs below 100 have one, every third with a line.
type naming struct{}

func (naming) Name(m trace.Method) (trace.Name, bool) {
	if m == trace.MethodDispatch || m >= 100 {
		return trace.NoNames{}.Name(m)
	}
	n := trace.Name{Class: "com.app.C" + string('A'+rune(m%5)),
		Method: "m" + string('a'+rune(m%26)) + string('a'+rune(m/26)), Descriptor: "(I)V"}
	if m%3 == 0 {
		n.File, n.Line = n.Class[8:]+".java", int(m)+10
	}
	return n, true
}

// wander makes a thread's records: messages of calls that nest at random, with recursion, ties and calls of no time,
// and now and then a call without an exit.
func wander(seed uint64, messages, calls int, unwound bool) []record {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var list []record
	now := int64(rnd.IntN(5))
	for range messages {
		list = append(list, record{trace.MethodDispatch, now})
		var open []int64
		for range calls {
			if rnd.IntN(3) > 0 {
				now += int64(rnd.IntN(4))
			}
			if len(open) > 0 && rnd.IntN(100) < 45+len(open)*3 {
				last := len(open) - 1
				if !unwound || last == 0 || rnd.IntN(20) > 0 {
					list = append(list, record{-open[last], now})
				}
				open = open[:last]
				continue
			}
			id := int64(rnd.IntN(12)) + 1
			if len(open) > 0 && rnd.IntN(5) == 0 {
				id = open[len(open)-1]
			}
			if rnd.IntN(30) == 0 {
				id = 5000 + int64(rnd.IntN(3))
			}
			open = append(open, id)
			list = append(list, record{id, now})
		}
		for len(open) > 0 {
			list = append(list, record{-open[len(open)-1], now})
			open = open[:len(open)-1]
			now += int64(rnd.IntN(2))
		}
		list = append(list, record{-trace.MethodDispatch, now})
		now += int64(rnd.IntN(30))
	}
	return list
}
