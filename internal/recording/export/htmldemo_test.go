package export_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// demo is a recording with one of everything that a page shows, in names that people would see: messages, threads of a
// pool with one name, frames, four stalls of different reasons, a hang, a gap, windows without short calls.
type demo struct {
	rnd     *rand.Rand
	chance  *rand.Rand // of samples
	records uint64
}

// demoNames are the names of a demo's methods.
type demoNames struct{}

var demoMethods = strings.Fields(`com.example.feed.MainActivity.onResume com.example.feed.FeedAdapter.onBindViewHolder
	com.example.feed.FeedAdapter.getItemViewType com.example.feed.ui.RowLayout.onMeasure
	com.example.feed.ui.RowLayout$Params.resolve com.example.images.ImageCache.get com.example.images.Decoder.decode
	com.example.images.Decoder.readHeader com.example.images.BitmapPool.obtain
	com.example.db.FeedDatabase.query com.example.db.FeedDatabase.migrate com.example.db.Cursors.toList
	com.example.net.FeedService.fetch com.example.net.Json.parse com.example.net.Json$Reader.nextToken
	com.example.util.concurrent.WorkerPool$Worker.run com.example.util.concurrent.WorkerPool.takeTask
	com.example.feed.ranking.Ranker.score com.example.feed.ranking.Ranker.compare`)

func (demoNames) Name(m trace.Method) (trace.Name, bool) {
	if m == 0 || int(m) > len(demoMethods) {
		return trace.NoNames{}.Name(m)
	}
	full := demoMethods[m-1]
	dot := strings.LastIndexByte(full, '.')
	class := full[:dot]
	file := class[strings.LastIndexByte(class, '.')+1:]
	file, _, _ = strings.Cut(file, "$")
	return trace.Name{Class: class, Method: full[dot+1:], Descriptor: "(I)V", File: file + ".java",
		Line: 20 + int(m)}, true
}

const demoBase = int64(5e12)

func demoAt(ms int64) int64 { return demoBase + ms*1e6 }

// Replay hands the recording to h.
func (d *demo) Replay(h trace.Handler) error {
	d.rnd, d.chance = rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(5, 6))
	d.records = 0
	threads := []trace.Thread{{Index: 0, ID: 2, Name: "main", Main: true}, {Index: 1, ID: 41, Name: "worker"},
		{Index: 2, ID: 42, Name: "worker"}, {Index: 3, ID: 43, Name: "image-decoder"}}
	err := errors.Join(
		h.Chunk(&trace.Meta{Values: map[string]string{"package": "com.example.feed", "versionName": "4.2.0",
			"device": "Pixel 8", "tickNanos": "1000000", "clockPeriodMillis": "5", "slowMillis": "700"}}),
		h.Chunk(&trace.Clock{NanoTime: demoAt(1000), BaseNanos: demoBase, WallMillis: 1_795_000_000_000}),
		h.Named(demoSort, "java.util.TimSort.sort"), h.Named(demoRead, "java.io.FileInputStream.readBytes"),
		h.Chunk(&trace.Threads{List: threads}), d.main(h))
	for k := range threads[1:] {
		err = errors.Join(err, d.worker(h, uint32(k+1)))
	}
	var frames []trace.Frame
	for at := int64(100); at < 12000; at += 17 * 8 {
		f := trace.Frame{VSync: demoAt(at), Start: demoAt(at), End: demoAt(at + 12), RefreshHz: 60}
		if d.rnd.IntN(6) == 0 {
			f.Dropped, f.End = 3, demoAt(at+50)
		}
		frames = append(frames, f)
	}
	return errors.Join(err, h.Chunk(&trace.Frames{List: frames}), h.Chunk(&trace.Completeness{Recorded: 90000,
		Lost: 30000, Runs: 12, NotRecorded: 1100e6, Windows: 1, WindowCalls: 4000, WindowNanos: 500e6,
		Gated: []trace.GatedCalls{{Method: 19, LeftOut: 6000}}}))
}

// sample adds steady samples to a segment, one each 20 ms, in the state given: below Ranker.score they show a library
// and Ranker.compare, which was switched off, and below some others a library alone.
func (d *demo) sample(s *trace.Segment, state trace.ThreadState) {
	const every = 20e6
	for at := s.Begin + d.chance.Int64N(every); at < s.End; at += every {
		one := trace.Sample{Call: -1, Nanos: at, Weight: min(every, s.End-s.Begin), State: state, CPU: -1}
		for i := range s.Calls {
			if s.Calls[i].Begin <= at && at < s.Calls[i].End {
				one.Call = int32(i)
			}
		}
		switch {
		case one.Call < 0:
			continue
		case s.Calls[one.Call].Method == 18:
			one.Below = []trace.Method{demoSort, 19}[:1+d.chance.IntN(2)]
		case s.Calls[one.Call].Method%3 == 0:
			one.Below = []trace.Method{demoRead}
		}
		s.Samples = append(s.Samples, one)
	}
}

// demoSort and demoRead are methods of libraries, which samples show.
const (
	demoSort = trace.FirstNamed + iota
	demoRead
)

// Damage implements analysis.Source.
func (*demo) Damage() trace.Damage { return trace.Damage{Closed: true} }

// demoStall is a slow message of the demo's main thread.
type demoStall struct {
	wall, cpu int64 // milliseconds
	method    trace.Method
	state     string
	frames    []string
	owner     string
}

var demoStates = map[string]trace.ThreadState{"RUNNABLE": 2, "BLOCKED": 3, "WAITING": 4, "TIMED_WAITING": 5}

var demoStalls = map[int]demoStall{
	20: {900, 60, 11, "TIMED_WAITING", []string{"java.lang.Object.wait(Native Method)",
		"com.example.db.FeedDatabase.migrate(FeedDatabase.java:88)"}, ""},
	55: {1450, 1380, 18, "RUNNABLE", []string{"com.example.feed.ranking.Ranker.score(Ranker.java:40)"}, ""},
	90: {760, 20, 6, "BLOCKED", []string{"com.example.images.ImageCache.get(ImageCache.java:31)"},
		"image-decoder holds com.example.images.ImageCache"},
	110: {800, 90, 10, "RUNNABLE", []string{"android.database.sqlite.SQLiteConnection.nativeExecute(Native)",
		"com.example.db.FeedDatabase.query(FeedDatabase.java:52)"}, ""},
}

func (d *demo) main(h trace.Handler) error {
	var history []trace.Message
	var err error
	now := demoAt(40)
	for k := range 130 {
		slow, isSlow := demoStalls[k]
		budget := d.rnd.Int64N(36)
		if isSlow {
			budget = slow.wall
		}
		s := trace.Segment{Kind: trace.SegmentMessage, Begin: now, FirstRecord: d.records}
		end := now + budget*1e6
		d.call(&s, -1, trace.MethodDispatch, now, end, func(k int32) {
			d.call(&s, k, 1, now, end, func(k int32) {
				if isSlow {
					d.call(&s, k, slow.method, now+budget*1e5, end-budget*5e4, nil)
					return
				}
				d.fill(&s, k, now, end, 0)
			})
		})
		s.End = end
		state := trace.ThreadState(2)
		if isSlow {
			state = demoStates[slow.state]
		}
		d.sample(&s, state)
		d.records += uint64(2 * len(s.Calls))
		s.EndRecord = d.records
		if now < demoAt(5500) && end > demoAt(5000) {
			s.Gaps = []trace.Gap{{Kind: trace.GapWindow, Begin: demoAt(5000), End: demoAt(5500), Calls: 4000}}
		}
		m := trace.Message{Kind: trace.MessageNormal, Sequence: uint64(k), Count: 1, Begin: now, Wall: uint64(budget * 1e6),
			CPU: budget * 7e5, Description: "Handler (android.view.Choreographer$FrameHandler) " +
				"{1a2b} android.view.Choreographer$FrameDisplayEventReceiver@77: 0"}
		if k%7 == 0 {
			m.Description = "Handler (com.example.feed.MainActivity$Refresh) {5e} null: 12"
		}
		history = append(history, m)
		err = errors.Join(err, h.Segment(&s))
		if isSlow {
			err = errors.Join(err, d.stall(h, &s, k, slow, m.Description, history))
		}
		now = end + d.rnd.Int64N(90)*1e6
	}
	return errors.Join(err, h.Chunk(&trace.Messages{Thread: 0, List: history}))
}

// stall hands on what the device wrote of a slow message: history, stacks, queue, report.
func (d *demo) stall(h trace.Handler, s *trace.Segment, k int, slow demoStall, what string,
	past []trace.Message) error {
	err := h.Chunk(&trace.Messages{Thread: 0, List: past})
	for at := int64(700); at < slow.wall; at += 50 {
		err = errors.Join(err, h.Chunk(&trace.StackSample{Nanos: s.Begin + at*1e6, State: demoStates[slow.state], CPU: -1,
			Frames: append(slow.frames, "com.example.feed.MainActivity.onResume(MainActivity.java:61)",
				"android.os.Handler.dispatchMessage(Handler.java:106)", "android.os.Looper.loop(Looper.java:223)")}))
	}
	return errors.Join(err, h.Chunk(&trace.Pending{Thread: 0, Message: uint64(k), Available: true,
		List: []trace.PendingMessage{{When: s.Begin + 300e6, What: 4, Target: "com.example.feed.MainActivity$Refresh"}}}),
		h.Chunk(&trace.StallChunk{Message: uint64(k), Begin: s.Begin, Wall: uint64(slow.wall * 1e6), CPU: slow.cpu * 1e6,
			FirstRecord: s.FirstRecord, EndRecord: s.EndRecord, Description: what, Scene: "com.example.feed.MainActivity",
			Foreground: true, GCCount: 2, GCMillis: 14, State: demoStates[slow.state], LockOwner: slow.owner, StackKey: "abc"}))
}

// worker is a thread of a pool: one outermost call after the other. Records of the second are missing for a while, and
// the third hangs at the end.
func (d *demo) worker(h trace.Handler, thread uint32) error {
	var err error
	for now := demoAt(200 * int64(thread)); now < demoAt(11000); {
		end := now + (100+d.rnd.Int64N(500))*1e6
		if thread == 3 && now > demoAt(9500) {
			end = demoAt(12000)
		}
		s := trace.Segment{Thread: thread, Kind: trace.SegmentOutermost, Begin: now, End: end, FirstRecord: d.records}
		d.call(&s, -1, 16, now, end, func(k int32) {
			if thread == 2 && now > demoAt(3000) && now < demoAt(5000) {
				gap := (end - now) / 4
				d.fill(&s, k, now, now+gap, 0)
				d.call(&s, k, trace.MethodNotRecorded, now+gap, end-gap, nil)
				s.Gaps = append(s.Gaps, trace.Gap{Kind: trace.GapLost, Begin: now + gap, End: end - gap, Records: 2500})
				now = end - gap
			}
			d.fill(&s, k, now, end, 0)
		})
		if end == demoAt(12000) {
			s.Calls[0].Marks = trace.MarkOpen
		}
		d.sample(&s, []trace.ThreadState{2, 2, 4, 3}[d.chance.IntN(4)])
		d.records += uint64(2 * len(s.Calls))
		s.EndRecord = d.records
		err = errors.Join(err, h.Segment(&s))
		now = end + d.rnd.Int64N(200)*1e6
	}
	return err
}

// call adds a call and what below adds to it.
func (d *demo) call(s *trace.Segment, parent int32, m trace.Method, begin, end int64, below func(int32)) {
	k := int32(len(s.Calls))
	s.Calls = append(s.Calls, trace.Call{Method: m, Parent: parent, Count: 1, Begin: begin, End: end})
	if below != nil {
		below(k)
	}
	s.Calls[k].Next = int32(len(s.Calls))
}

// fill adds calls below a call for most of its time.
func (d *demo) fill(s *trace.Segment, parent int32, begin, end int64, depth int) {
	for begin < end && depth < 12 {
		until := begin + max(1e5, d.rnd.Int64N(max(1, end-begin)+1))
		if until > end {
			return
		}
		from, to := begin, until
		d.call(s, parent, trace.Method(2+d.rnd.IntN(len(demoMethods)-1)), from, to, func(k int32) {
			d.fill(s, k, from, to, depth+1)
		})
		begin = until + d.rnd.Int64N(2e6)
	}
}

// batch is a recording of a program that runs once, for twenty seconds, with threads of a pool. Samples show libraries
// in its main thread; the other threads have none.
type batch struct {
	demo
	pool int
}

// Replay hands the recording to h.
func (b *batch) Replay(h trace.Handler) error {
	b.rnd, b.chance = rand.New(rand.NewPCG(7, 8)), rand.New(rand.NewPCG(9, 10))
	threads := []trace.Thread{{Name: "main"}}
	for k := range b.pool {
		threads = append(threads, trace.Thread{Index: uint32(k + 1), ID: int64(k + 30),
			Name: fmt.Sprintf("ForkJoinPool-1-worker-%d", k+1)})
	}
	err := errors.Join(h.Chunk(&trace.Meta{Values: map[string]string{"sun.java.command": "org.example.Indexer",
		"versionName": "1.9", "tickNanos": "1000000", "clockPeriodMillis": "1", "slowMillis": "700"}}),
		h.Chunk(&trace.Clock{NanoTime: demoBase, BaseNanos: demoBase, WallMillis: 1_795_000_000_000}),
		h.Named(demoSort, "java.util.TimSort.sort"), h.Named(demoRead, "java.io.FileInputStream.readBytes"),
		h.Named(demoMain, "org.example.Indexer.main"), h.Chunk(&trace.Threads{List: threads}))
	s := trace.Segment{Kind: trace.SegmentOutermost, Begin: demoAt(0), End: demoAt(20000)}
	b.call(&s, -1, demoMain, s.Begin, s.End, func(k int32) {
		for at := int64(100); at < 19000; {
			end := at + 300 + b.rnd.Int64N(2500)
			b.call(&s, k, trace.Method(2+b.rnd.IntN(17)), demoAt(at), demoAt(end), func(k int32) {
				b.fill(&s, k, demoAt(at), demoAt(end-200), 5)
			})
			at = end + b.rnd.Int64N(300)
		}
	})
	s.EndRecord = uint64(2 * len(s.Calls))
	b.sample(&s, 2)
	err = errors.Join(err, h.Segment(&s))
	for k := range threads[1:] {
		for at := 200 + b.rnd.Int64N(2000); at < 19000; {
			end := at + 20 + b.rnd.Int64N(400)
			s := trace.Segment{Thread: uint32(k + 1), Kind: trace.SegmentOutermost, Begin: demoAt(at), End: demoAt(end)}
			b.call(&s, -1, 16, s.Begin, s.End, func(k int32) { b.fill(&s, k, s.Begin, s.End, 8) })
			s.EndRecord = uint64(2 * len(s.Calls))
			err = errors.Join(err, h.Segment(&s))
			at = end + b.rnd.Int64N(4000)
		}
	}
	return err
}

// demoMain is the method that a batch runs.
const demoMain = demoRead + 1
