package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// balance is a Handler that holds segments to what they promise.
type balance struct {
	t     testing.TB
	calls int
	open  map[uint32]int
	until map[uint32]int64
}

func (b *balance) Chunk(Chunk) error          { return nil }
func (b *balance) Named(Method, string) error { return nil }

func (b *balance) Segment(s *Segment) error {
	if b.open == nil {
		b.open, b.until = map[uint32]int{}, map[uint32]int64{}
	}
	if until, ok := b.until[s.Thread]; len(s.Calls) == 0 || ok && s.Begin < until {
		b.t.Errorf("%d calls, begins %d before the one before ends", len(s.Calls), until-s.Begin)
	}
	b.until[s.Thread] = s.End
	b.calls += len(s.Calls)
	s.Walk(func(int) { b.open[s.Thread]++ }, func(int) { b.open[s.Thread]-- })
	for _, m := range s.Coroutines {
		ofCall := m.Kind == CoroutineContinues || m.Kind == CoroutineResumes || m.Kind == CoroutineSuspends
		if m.Call < -1 || int(m.Call) >= len(s.Calls) || ofCall && (m.Call < 0 || s.Calls[m.Call].Method != m.Method) {
			b.t.Errorf("%+v has no call", m)
		}
	}
	next := int32(0)
	for i, c := range s.Calls {
		outer := Call{Begin: s.Begin, End: s.End, Next: int32(len(s.Calls))}
		if c.Parent >= 0 {
			outer = s.Calls[c.Parent]
		}
		if c.Parent < 0 && int32(i) != next {
			b.t.Errorf("call %d has no caller", i)
		}
		if c.Parent < 0 {
			next = c.Next
		}
		if c.Begin < outer.Begin || c.End > outer.End || c.Begin > c.End || int(c.Parent) >= i || c.Next <= int32(i) ||
			c.Next > outer.Next {
			b.t.Errorf("call %d %+v does not lie within %+v", i, c, outer)
		}
	}
	return nil
}

// recordings are all that tests have: what the Java writer wrote for its tests, and what programs recorded.
func recordings(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.tgd")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	return files
}

func TestReplayVectors(t *testing.T) {
	for _, file := range recordings(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		b := balance{t: t}
		if err := Replay(r, &b, ReplayOptions{}); err != nil {
			t.Error(file, err)
		}
		for thread, open := range b.open {
			if open != 0 {
				t.Errorf("%s: thread %d: %d calls are entered and not left", file, thread, open)
			}
		}
		if b.calls == 0 {
			t.Errorf("%s: no calls", file)
		}
	}
}

// encoded makes a recording of one thread's records.
func encoded(t testing.TB, records []Record, size int) []byte {
	t.Helper()
	chunks := [][]byte{chunkOf(typeMeta, 0, 0, []byte("\x02\x09tickNanos\x071000000\x07records\x03all")),
		chunkOf(typeClock, 0, 1, []byte{0, 0, 0, 0, 0})}
	for from := 0; from < len(records); from += size {
		list := records[from:min(len(records), from+size)]
		body := binary.AppendUvarint([]byte{0}, uint64(from))
		body = binary.AppendUvarint(append(body, 0), uint64(len(list)))
		var before Record
		for _, r := range list {
			body = appendDelta(body, before, r)
			before = r
		}
		chunks = append(chunks, chunkOf(typeRecords, flagDelta, uint32(len(chunks)), body))
	}
	return file(t, chunks...)
}

func appendDelta(body []byte, before, r Record) []byte {
	zigzag := func(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }
	head := uint64(r>>63) | zigzag(int64(r.ID())-int64(before.ID()))<<2
	if r.Ticks() == before.Ticks() {
		return binary.AppendUvarint(body, head)
	}
	return binary.AppendUvarint(binary.AppendUvarint(body, head|2), zigzag(r.Ticks()-before.Ticks()))
}

// million is a trace such as programs make: messages of 20 kinds, each with a thousand calls of 2,000 methods, more or
// less, that are much the same each time; 500,000 calls in 20,000 paths.
func million() []Record {
	r := rand.New(rand.NewPCG(1, 1))
	kinds := make([][]Record, 20)
	for i := range kinds {
		kinds[i] = program{methods: 2000, fanout: 4, depth: 25, message: 1000, step: 2}.trace(r, 1000)
	}
	var records []Record
	last := int64(0)
	for len(records) < 1_000_000 {
		for _, record := range kinds[r.IntN(len(kinds))] {
			records = append(records, record&^timeMask|Record(last+record.Ticks()))
		}
		last = records[len(records)-1].Ticks()
	}
	return records
}

// BenchmarkReplay is about 1,000,000 records.
func BenchmarkReplay(b *testing.B) {
	records := million()
	data := encoded(b, records, 1<<16)
	var chunks []Chunk
	for from := 0; from < len(records); from += 1 << 16 {
		chunks = append(chunks, &Records{First: uint64(from), List: records[from:min(len(records), from+1<<16)]})
	}
	b.Run("decoded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := newReplay(ignore{})
			p.limits = limits{tick: 1, calls: maxCalls}
			for _, c := range chunks {
				p.chunk(c)
			}
			p.finish()
		}
	})
	b.Run("file", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			r, err := NewReader(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			Replay(r, ignore{}, ReplayOptions{})
		}
	})
}

// ignore is a Handler that does nothing.
type ignore struct{}

func (ignore) Chunk(Chunk) error          { return nil }
func (ignore) Named(Method, string) error { return nil }
func (ignore) Segment(*Segment) error     { return nil }

// FuzzReplay replays anything: any records in chunks with any numbers, and any file.
//
// Invariant: In every replay calls nest, no time is negative, and every entered call ends, whatever the records are.
func FuzzReplay(f *testing.F) {
	for _, name := range []string{"every.tgd", "many.tgd", "open.tgd", "coroutines.tgd", "compositions.tgd"} {
		f.Add(vector(f, name), uint16(7))
	}
	r := rand.New(rand.NewPCG(1, 8))
	var raw []byte
	for _, record := range damage(r, program{methods: 5, fanout: 3, depth: 9, message: 9, step: 3}.trace(r, 100), 9,
		"time") {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(record))
	}
	f.Add(raw, uint16(60))
	f.Add(stacksFile(f), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		if r, err := NewReader(bytes.NewReader(data)); err == nil {
			names := ReplayOptions{Frames: func() FrameNames { return modelNames{20} }}
			if err := Replay(r, &collect{balance: balance{t: t}}, names); err != nil {
				t.Error(err)
			}
		}
		var records []Record
		for rest := data; len(rest) >= 8; rest = rest[8:] {
			records = append(records, Record(binary.LittleEndian.Uint64(rest)))
		}
		if len(records) == 0 {
			return
		}
		replayedIn(t, records, 1+int(size%64), 1+int(size>>8))
		// The same with gaps, doublings, other threads, and the ends of messages.
		c := &collect{balance: balance{t: t}}
		p := newReplay(c)
		p.limits, p.slowOnly = limits{tick: 1 + int64(size), base: -int64(size), calls: 5}, size%2 == 1
		p.frames = func() FrameNames { return modelNames{20} }
		for i, part := range slices.Collect(slices.Chunk(records, 1+int(size%64))) {
			first := uint64(part[0]) % uint64(len(data)*(i+1))
			p.chunk(stacksOf(part, i, first))
			p.chunk(marksOf(part, first))
			p.chunk(&Records{Thread: uint32(first % 3), First: first, Overwritten: uint64(part[0]) >> 60, List: part})
			p.chunk(&StallChunk{Thread: uint32(first % 3), EndRecord: first + uint64(size)%9})
		}
		if err := p.finish(); err != nil {
			t.Error(err)
		}
		for thread, open := range c.open {
			if open != 0 {
				t.Errorf("thread %d: %d calls are entered and not left", thread, open)
			}
		}
	})
}

// marksOf returns marks of any kind, of the methods of some records, right before these or elsewhere.
func marksOf(records []Record, first uint64) *Coroutines {
	c := &Coroutines{Thread: uint32(first % 3), First: first % 7}
	for i, r := range records {
		c.Marks = append(c.Marks, CoroutineMark{Record: first + uint64(i)/2, Kind: CoroutineKind(r>>40) % 6,
			Method: Method(r.ID()), Lost: uint64(r)})
	}
	return c
}

// stacksOf returns a sample of any stack: of the methods of some records.
func stacksOf(records []Record, i int, first uint64) *Stacks {
	c := &Stacks{Anew: i%3 == 0, Samples: []SteadySample{{Thread: uint32(first % 3), Nanos: records[0].Ticks(),
		Node: uint64(len(records)), Record: first + uint64(records[0])%3, Records: uint64(records[0]) % 5, CPU: -1}}}
	for k, r := range records {
		c.Nodes = append(c.Nodes, StackNode{uint64(k), fmt.Sprintf("p.C.m%d(C.java)", r.ID())})
	}
	return c
}

// stacksFile is a recording of a model with its samples.
func stacksFile(t testing.TB) []byte {
	run := model{traced: 20, all: 40, depth: 12, interval: 20, gate: 10, throws: 10}.run(rand.New(rand.NewPCG(1, 23)), 100)
	return file(t, chunkOf(typeMeta, 0, 0, []byte("\x02\x09tickNanos\x011\x07records\x03all")),
		chunkOf(typeClock, 0, 1, []byte{0, 0, 0, 0, 0}), chunkOf(typeStrings, 0, 2, stringsOf(run.chunk)),
		chunkOf(typeStacks, 0, 3, encodedStacks(run.chunk)), encodedRecords(4, run.records))
}

// stringsOf encodes the frames of a chunk as strings, in their order.
func stringsOf(c *Stacks) []byte {
	body := binary.AppendUvarint([]byte{1}, uint64(len(c.Nodes)))
	for _, n := range c.Nodes {
		body = append(binary.AppendUvarint(body, uint64(len(n.Frame))), n.Frame...)
	}
	return body
}

// encodedStacks encodes a chunk with the frames of [stringsOf].
func encodedStacks(c *Stacks) []byte {
	body := binary.AppendUvarint([]byte{1}, uint64(len(c.Nodes)))
	for i, n := range c.Nodes {
		body = binary.AppendUvarint(binary.AppendUvarint(body, n.Before), uint64(i+1))
	}
	body = binary.AppendUvarint(body, uint64(len(c.Samples)))
	last := SteadySample{}
	for _, s := range c.Samples {
		body = binary.AppendUvarint(body, uint64(s.Thread))
		body = append(binary.AppendVarint(body, s.Nanos-last.Nanos), byte(s.State))
		body = binary.AppendVarint(binary.AppendUvarint(body, s.Node), int64(s.Record-last.Record))
		body = binary.AppendVarint(binary.AppendUvarint(body, s.Records), s.CPU)
		last = s
	}
	return body
}

// encodedRecords encodes records of the thread 0.
func encodedRecords(number uint32, records []Record) []byte {
	body := binary.AppendUvarint([]byte{0, 0, 0}, uint64(len(records)))
	for _, r := range records {
		body = binary.LittleEndian.AppendUint64(body, uint64(r))
	}
	return chunkOf(typeRecords, 0, number, body)
}

// TestStacksFile reads samples from a file, whole and with a chunk missing.
//
// Invariant: A sample whose stack may be another one, as chunks are lost, is counted and has no place.
func TestStacksFile(t *testing.T) {
	whole := stacksFile(t)
	replayed := func(data []byte) *namedCollect {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		c := &namedCollect{collect: collect{balance: balance{t: t}}, names: map[Method]string{}}
		if err := Replay(r, c, ReplayOptions{Frames: func() FrameNames { return modelNames{20} }}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	run := model{traced: 20, all: 40, depth: 12, interval: 20, gate: 10, throws: 10}.run(rand.New(rand.NewPCG(1, 23)), 100)
	if c := replayed(whole); c.counts.Placed == 0 || int(c.counts.Placed+c.counts.Idle) != len(run.moments) {
		t.Errorf("%+v of %d samples", c.counts, len(run.moments))
	}
	// The same chunk does not begin the table, and another one was lost before it.
	chunk := encodedStacks(run.chunk)
	chunk[0] = 0
	meta := bytes.Index(whole, []byte(syncMark))
	first := bytes.Index(whole[meta:], chunkOf(typeStrings, 0, 2, stringsOf(run.chunk)))
	head := whole[:meta+first]
	lost := slices.Concat(head, chunkOf(typeStrings, 0, 2, stringsOf(run.chunk)), chunkOf(typeStacks, 0, 4, chunk),
		encodedRecords(5, run.records))
	if c := replayed(lost); int(c.counts.Unusable) != len(run.moments) || c.counts.Placed != 0 {
		t.Errorf("%+v, want %d samples without a stack", c.counts, len(run.moments))
	}
}
