package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// frame is a call as the tests compare it.
type frame struct {
	method     Method
	begin, end int64
}

// collect is a Handler that notes all calls, those of several segments put together, and holds segments to what they
// promise.
type collect struct {
	balance
	frames   map[frame]int
	repairs  Repairs
	segments []Segment
	begun    map[uint32][]int64
	unmarked int
}

func (c *collect) Segment(s *Segment) error {
	if err := c.balance.Segment(s); err != nil {
		return err
	}
	if c.frames == nil {
		c.frames, c.begun = map[frame]int{}, map[uint32][]int64{}
	}
	s.Walk(func(i int) {
		c.begun[s.Thread] = append(c.begun[s.Thread], s.Calls[i].Begin)
	}, func(i int) {
		open := c.begun[s.Thread]
		c.frames[frame{s.Calls[i].Method, open[len(open)-1], s.Calls[i].End}]++
		c.begun[s.Thread] = open[:len(open)-1]
		if s.Calls[i].Marks == 0 {
			c.unmarked++
		}
	})
	c.repairs.Add(s.Repairs)
	kept := *s
	kept.Calls = slices.Clone(s.Calls)
	c.segments = append(c.segments, kept)
	return nil
}

// replayed replays records that come in chunks of the given size.
func replayed(t testing.TB, records []Record, size int) *collect {
	t.Helper()
	return replayedIn(t, records, size, maxCalls)
}

func replayedIn(t testing.TB, records []Record, size, most int) *collect {
	t.Helper()
	var chunks []Chunk
	for from := 0; from < len(records); from += size {
		chunks = append(chunks, &Records{First: uint64(from), List: records[from:min(len(records), from+size)]})
	}
	c := &collect{balance: balance{t: t}}
	replayChunks(t, c, most, chunks)
	for thread, open := range c.open {
		if open != 0 {
			t.Fatalf("thread %d: %d calls are entered and not left", thread, open)
		}
	}
	return c
}

// replayedChunks replays chunks of any kind, with gaps between some.
func replayedChunks(t testing.TB, chunks ...Chunk) *collect {
	t.Helper()
	c := &collect{balance: balance{t: t}}
	replayChunks(t, c, maxCalls, chunks)
	return c
}

// replayChunks hands what is replayed on to a handler. A tick is a nanosecond, unless the chunks say otherwise.
func replayChunks(t testing.TB, h Handler, most int, chunks []Chunk) {
	t.Helper()
	p := newReplay(h)
	p.limits = limits{tick: 1, calls: most}
	for _, chunk := range chunks {
		if err := p.chunk(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
}

func entry(m Method, at int64) Record { return 1<<63 | exit(m, at) }
func exit(m Method, at int64) Record  { return Record(m)<<idShift | Record(at) }

// program makes traces.
type program struct {
	methods int // how many there are
	fanout  int // how many calls a call makes at most
	depth   int
	message int // how many calls a message has, about; 0 for none
	repeat  int // how many calls of one method may directly call each other
	step    int64
}

// trace makes records of n calls.
func (g program) trace(r *rand.Rand, n int) []Record {
	var records []Record
	var open []Method
	now := int64(1000)
	tick := func() int64 {
		now += r.Int64N(g.step)
		return now
	}
	enter := func(m Method) {
		records = append(records, entry(m, tick()))
		open = append(open, m)
		n--
	}
	leave := func() {
		records = append(records, exit(open[len(open)-1], tick()))
		open = open[:len(open)-1]
	}
	for n > 0 {
		if len(open) == 0 && g.message > 0 {
			enter(MethodDispatch)
			continue
		}
		down := len(open) > 0 && (len(open) >= g.depth || r.IntN(g.fanout+1) == 0)
		if len(open) == 1 && g.message > 0 {
			down = r.IntN(g.message) == 0
		}
		if down {
			leave()
			continue
		}
		m := Method(1 + r.IntN(g.methods))
		for g.repeat > 0 && len(open) >= g.repeat && !slices.ContainsFunc(open[len(open)-g.repeat:],
			func(o Method) bool { return o != m }) {
			m = Method(1 + r.IntN(g.methods))
		}
		enter(m)
	}
	for len(open) > 0 {
		leave()
	}
	return records
}

// framesOf is a replay of undamaged records.
func framesOf(records []Record) map[frame]int {
	frames := map[frame]int{}
	var open []Record
	for _, r := range records {
		if r.Entry() {
			open = append(open, r)
			continue
		}
		e := open[len(open)-1]
		open = open[:len(open)-1]
		frames[frame{Method(r.ID()), e.Ticks(), r.Ticks()}]++
	}
	return frames
}

// damage hurts k records: it removes exits, as exceptions do, or changes times.
func damage(r *rand.Rand, records []Record, k int, kind string) []Record {
	records = slices.Clone(records)
	for ; k > 0; k-- {
		at := r.IntN(len(records) - 1)
		switch {
		case kind == "time":
			records[at] ^= 1 << r.IntN(idShift)
		case !records[at].Entry():
			records = slices.Delete(records, at, at+1)
		}
	}
	return records
}

func survivors(truth, got map[frame]int) (n int) {
	for f, count := range truth {
		n += min(count, got[f])
	}
	return n
}

var damages = []string{"exit", "time"}

// hurt replays damaged traces, and passes to each how many calls are lost, and how many records were damaged.
func (g program) hurt(t *testing.T, kind string, each func(seed uint64, lost, k int, c *collect)) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 50 + r.IntN(400)
		k := 1 + r.IntN(max(1, n/50))
		records := g.trace(r, n)
		hurt := damage(r, records, k, kind)
		got := replayed(t, hurt, 1+r.IntN(len(hurt)))
		each(seed, n-survivors(framesOf(records), got.frames), k, got)
	}
}

// TestDamagedRecords: of n calls with k damaged records n − 2k survive at least.
//
// Invariant: Of n calls with k damaged records, n − 2k are replayed exactly, unless calls of one method that
// directly call each other make that undecidable; repairs are counted.
func TestDamagedRecords(t *testing.T) {
	for _, g := range []program{
		{methods: 1000, fanout: 3, depth: 12, message: 8, repeat: 2, step: 20},
		{methods: 1000, fanout: 3, depth: 12, message: 0, repeat: 2, step: 20},
		{methods: 1000, fanout: 20, depth: 40, message: 30, repeat: 2, step: 2},
	} {
		for _, kind := range damages {
			t.Run(fmt.Sprintf("%+v/%s", g, kind), func(t *testing.T) {
				lost, damaged := 0, 0
				g.hurt(t, kind, func(seed uint64, n, k int, c *collect) {
					lost, damaged = lost+n, damaged+k
					if n > 2*k {
						t.Errorf("seed %d: %d records damaged, %d calls lost: %+v", seed, k, n, c.repairs)
					}
				})
				t.Logf("measured: %d records damaged, %d calls lost", damaged, lost)
			})
		}
	}
}

// TestDeepCalls: 100,000 calls in one another, whole and with one record damaged.
//
// Invariant: Of n calls with k damaged records, n − 2k are replayed exactly, unless calls of one method that
// directly call each other make that undecidable; repairs are counted.
func TestDeepCalls(t *testing.T) {
	const n = 100_000
	var records []Record
	for i := range int64(n) {
		records = append(records, entry(Method(1+i%1000), i))
	}
	for i := range int64(n) {
		records = append(records, exit(Method(1+(n-1-i)%1000), n+i))
	}
	truth := framesOf(records)
	for _, most := range []int{maxCalls, 1000} {
		c := replayedIn(t, records, 5000, most)
		if survivors(truth, c.frames) != n || c.repairs != (Repairs{}) {
			t.Errorf("segments of %d: %d calls survive, %+v", most, survivors(truth, c.frames), c.repairs)
		}
		for seed := range uint64(5) {
			c := replayedIn(t, damage(rand.New(rand.NewPCG(seed, 1)), records, 1, "time"), 5000, most)
			if got := survivors(truth, c.frames); got < n-2 {
				t.Errorf("segments of %d, seed %d: %d calls survive, %+v", most, seed, got, c.repairs)
			}
		}
	}
}

// TestHostileRecords holds replay to what it promises with the worst that records can be.
//
// Invariant: In every replay calls nest, no time is negative, and every entered call ends, whatever the records are.
func TestHostileRecords(t *testing.T) {
	const n = 1 << 18
	r := rand.New(rand.NewPCG(1, 2))
	for name, record := range map[string]func(i int64) Record{
		"exits":       func(i int64) Record { return exit(Method(i%1000), i) },
		"entries":     func(i int64) Record { return entry(Method(i%1000), i) },
		"noise":       func(i int64) Record { return Record(r.Uint64()) },
		"few methods": func(i int64) Record { return entry(Method(r.IntN(3)), i) ^ Record(r.IntN(2))<<63 },
		"dispatches":  func(i int64) Record { return entry(MethodDispatch-Method(i%2), i) },
		"deep and outside": func(i int64) Record {
			return entry(Method(i/100),
				i) ^ Record(i%3/2)<<63 ^ Record(i%3/2)<<(idShift+9)
		},
		"back in time": func(i int64) Record { return entry(1, n-i) ^ Record(i%2)<<63 },
	} {
		t.Run(name, func(t *testing.T) {
			var records []Record
			for i := range int64(n) {
				records = append(records, record(i))
			}
			c := replayedIn(t, records, 777, 1000)
			t.Logf("%d calls, %+v", c.calls, c.repairs)
		})
	}
}

// lineage returns for each call of a segment, and all that are around it, their methods and ends.
func lineage(s *Segment, call int32) (path string) {
	for k := call; k >= 0; k = s.Calls[k].Parent {
		path += fmt.Sprintf("%d until %d, ", s.Calls[k].Method, s.Calls[k].End)
	}
	return path
}

func lineages(c *collect) []string {
	var all []string
	for i := range c.segments {
		for k := range c.segments[i].Calls {
			all = append(all, lineage(&c.segments[i], int32(k)))
		}
	}
	slices.Sort(all)
	return all
}

// numbered returns records whose times are their numbers.
func (g program) numbered(r *rand.Rand, n int) []Record {
	records := g.trace(r, n)
	for i, record := range records {
		records[i] = record&^timeMask | Record(i)
	}
	return records
}

// TestWrappedRing begins in the middle: calls that were entered before are known by their exits. They are replayed as
// they were, except for their begin.
//
// Invariant: Of n calls with k damaged records, n − 2k are replayed exactly, unless calls of one method that
// directly call each other make that undecidable; repairs are counted.
func TestWrappedRing(t *testing.T) {
	for _, message := range []int{0, 20} {
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 3))
			records := program{methods: 100, fanout: 4, depth: 15, message: message, repeat: 1, step: 5}.numbered(r,
				300)
			cut := 1 + r.IntN(len(records)-1)
			var parts []Chunk
			for from, size := cut, 1+r.IntN(len(records)-cut); from < len(records); from += size {
				parts = append(parts, &Records{First: uint64(from), List: records[from:min(len(records), from+size)]})
			}
			got := replayedChunks(t, parts...)
			// The calls that end behind the cut are what there must be.
			var want []string
			truncated := uint64(0)
			whole := replayed(t, records, len(records))
			for i := range whole.segments {
				s := &whole.segments[i]
				for k := range s.Calls {
					if s.Calls[k].End >= int64(cut) {
						want = append(want, lineage(s, int32(k)))
						if s.Calls[k].Begin < int64(cut) {
							truncated++
						}
					}
				}
			}
			slices.Sort(want)
			if lines := lineages(got); !slices.Equal(lines, want) {
				t.Fatalf("message %d, seed %d, cut at %d:\n%q\nwant\n%q", message, seed, cut, lines, want)
			}
			if got.repairs != (Repairs{Truncated: truncated}) {
				t.Errorf("seed %d: %+v, want %d truncated", seed, got.repairs, truncated)
			}
		}
	}
}

// TestGaps: of a trace of n calls of which k records in a row are missing n − 2k survive, but for those that were open
// when the gap began: these end there, and those that were entered in the gap are there with their ends.
//
// Invariant: Of n calls of which k records in a row are missing, n − 2k are replayed exactly, but for those that were
// open when the gap began.
func TestGaps(t *testing.T) {
	lost, missing := 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		records := program{methods: 1000, fanout: 4, depth: 15, message: 10, repeat: 1, step: 5}.numbered(r, 300)
		k := 1 + r.IntN(20)
		from := 1 + r.IntN(len(records)-k-1)
		behind := &Records{First: uint64(from + k), List: records[from+k:]}
		if seed%2 == 0 {
			behind.Overwritten = uint64(k)
		}
		c := replayedChunks(t, &Records{List: records[:from]}, behind)
		n := 300 - survivors(framesOf(records), c.frames)
		lost, missing = lost+n, missing+k
		if n > 2*k+int(c.repairs.Cut) || c.repairs.Gaps != 1 || c.repairs.Lost != uint64(k) {
			t.Errorf("seed %d: %d records missing, %d calls lost: %+v", seed, k, n, c.repairs)
		}
	}
	t.Logf("measured: %d records missing, %d calls lost", missing, lost)
}

// TestGapsInARow: a ring that is overwritten faster than it is read leaves gaps with nothing between. They cost what
// one gap costs, and the records behind them keep their numbers.
func TestGapsInARow(t *testing.T) {
	records := program{methods: 1000, fanout: 4, depth: 15, repeat: 1, step: 5}.numbered(rand.New(rand.NewPCG(1, 5)),
		300)
	const from, k = 200, 30
	before, behind := &Records{List: records[:from]}, &Records{First: from + k, List: records[from+k:]}
	want := replayedChunks(t, before, behind)
	got := replayedChunks(t, before, &Records{First: from + 10, Overwritten: 10},
		&Records{First: from + 20, Overwritten: 10},
		&Records{First: from + k, Overwritten: 10, List: records[from+k:]})
	if !slices.Equal(lineages(got), lineages(want)) {
		t.Errorf("%q\nwant\n%q", lineages(got), lineages(want))
	}
	if got.repairs.Gaps != 3 || got.repairs.Lost != k {
		t.Errorf("%+v, want 3 gaps and %d records lost", got.repairs, k)
	}
	if end := got.segments[len(got.segments)-1].EndRecord; end != uint64(len(records)) {
		t.Errorf("the last record has the number %d, want %d", end, len(records))
	}
}

// TestSlowOnly has recordings of slow messages alone: what lies between them is not missing.
func TestSlowOnly(t *testing.T) {
	meta := &Meta{map[string]string{"records": "slow", "tickNanos": "1"}}
	at := func(t int64) []Record {
		return []Record{entry(MethodDispatch, t), entry(1, t+1), exit(1, t+2), exit(MethodDispatch, t+5)}
	}
	c := &collect{balance: balance{t: t}}
	p := newReplay(c)
	p.limits = limits{tick: 1, calls: maxCalls}
	for i, part := range []Chunk{meta, &Records{First: 10, List: at(10)}, &StallChunk{FirstRecord: 10, EndRecord: 14},
		&Records{First: 14, List: at(20)}, &StallChunk{FirstRecord: 14, EndRecord: 18}, &Records{First: 40,
			List: at(40)[:3]}, &StallChunk{FirstRecord: 40, EndRecord: 44},
		&Records{First: 90, Overwritten: 5, List: at(90)[2:]}, &StallChunk{FirstRecord: 85,
			EndRecord: 92}, &Records{First: 90, List: at(90)[2:]}} {
		if err := p.chunk(part); err != nil {
			t.Fatal(err)
		}
		if want := i / 2; i%2 == 0 && i <= 8 && len(c.segments) != want {
			t.Fatalf("after chunk %d: %d segments, want %d: one comes before its stall", i, len(c.segments), want)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	if want := (Repairs{Open: 1, Truncated: 2, Gaps: 1, Lost: 5}); c.repairs != want || len(c.segments) != 4 {
		t.Errorf("%d segments, %+v, want %+v", len(c.segments), c.repairs, want)
	}
	last := c.segments[3]
	if len(last.Calls) != 2 || last.Kind != SegmentMessage || last.FirstRecord != 90 || last.EndRecord != 92 ||
		last.Calls[1].Parent != 0 || last.Calls[0].Marks != MarkTruncated {
		t.Errorf("%+v", last)
	}
}

// TestSuspended: handed on in parts, calls are as they are whole, and numbers and times go on.
//
// Invariant: In every replay calls nest, no time is negative, and every entered call ends, whatever the records are.
func TestSuspended(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	records := program{methods: 9, fanout: 4, depth: 15, message: 40, step: 5}.trace(r, 3000)
	truth := framesOf(records)
	for _, most := range []int{1, 2, 7, 100} {
		c := replayedIn(t, records, 50, most)
		if survivors(truth, c.frames) != 3000 || c.repairs != (Repairs{}) {
			t.Errorf("parts of %d: %d calls survive, %+v", most, survivors(truth, c.frames), c.repairs)
		}
		next := uint64(0)
		for _, s := range c.segments {
			if s.FirstRecord != next || len(s.Calls) > max(most, 2*15+2) {
				t.Fatalf("parts of %d: records %d to %d behind %d, %d calls", most, s.FirstRecord, s.EndRecord, next,
					len(s.Calls))
			}
			next = s.EndRecord
		}
	}
}
