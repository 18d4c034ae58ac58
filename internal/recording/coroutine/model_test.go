package coroutine

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// model is a random program of coroutines that runs on several threads. Its log is the truth.
type model struct {
	r         *rand.Rand
	functions []function
	hashes    int // hash codes are below that
	exits     bool
	threads   []*modelThread
	tasks     []task
	calls     []*truth
	budget    int
	// off is a method that is not recorded from a time on; 0 for none.
	off   trace.Method
	offAt int64
}

// function is a suspend function or a lambda: what it does.
type function struct {
	id     trace.Method
	lambda bool
	tail   bool // it has no continuation: it calls a suspend function as the last thing
	body   []step
}

type stepKind int

const (
	stepPlain   stepKind = iota // calls a method
	stepCall                    // calls a suspend function
	stepDelay                   // is suspended
	stepLaunch                  // launches a lambda
	stepContext                 // launches a lambda, and waits for it
	stepThrow
	stepKinds
)

type step struct {
	kind   stepKind
	callee int
	catch  bool
}

// frame is a call that is suspended or runs.
type frame struct {
	f      *function
	hash   uint32
	pc     int
	caller *frame // whose continuation it resumes; nil of a coroutine
	waiter *frame // that goes on when the coroutine has ended
	call   *truth
}

// truth is a call as it was.
type truth struct {
	id     int
	method trace.Method
	tail   bool
	pieces []truePiece
	end    End
	parent *truth
	// launched is the method that was open when the lambda was made.
	launched trace.Method
}

type truePiece struct {
	thread     int
	begin, end int64
	suspended  bool
	hidden     bool           // not recorded
	waits      []trace.Method // the functions that it called and that were suspended with it, the innermost first
}

type modelThread struct {
	index   int
	now     int64
	records []trace.Record
	marks   []trace.CoroutineMark
	open    []trace.Method
	period  int64 // of the clock
}

type task struct {
	at     int64
	thread int
	frame  *frame
	thrown bool
}

// tick is how long a record takes.
const tick = 1

func (t *modelThread) record(m trace.Method, entry bool) int64 {
	t.now += tick
	r := uint64(m)<<43 | uint64(t.time())
	if entry {
		r |= 1 << 63
		t.open = append(t.open, m)
	} else {
		t.open = t.open[:len(t.open)-1]
	}
	t.records = append(t.records, trace.Record(r))
	return t.time()
}

// time returns what the clock shows.
func (t *modelThread) time() int64 { return t.now / t.period * t.period }

func (t *modelThread) mark(kind trace.CoroutineKind, m trace.Method, hash uint32) {
	t.marks = append(t.marks, trace.CoroutineMark{Record: uint64(len(t.records)), Kind: kind, Method: m, Hash: hash})
}

// newModel makes a program. hashes is how many hash codes there are, exits is whether exceptions leave exits, period is
// that of the clock.
func newModel(r *rand.Rand, hashes int, exits bool, period int64, budget int) *model {
	m := &model{r: r, hashes: hashes, exits: exits, budget: budget}
	n := 3 + r.IntN(8)
	for i := range n {
		f := function{id: trace.Method(100 + i), lambda: i%3 == 2, tail: i%5 == 3}
		if i < 3 {
			f.tail = false
		}
		for range 1 + r.IntN(5) {
			s := step{kind: stepKind(r.IntN(int(stepKinds))), catch: r.IntN(2) == 0}
			if s.kind == stepThrow && r.IntN(3) > 0 {
				s.kind = stepDelay
			}
			lambda := s.kind == stepLaunch || s.kind == stepContext
			for {
				s.callee = r.IntN(n)
				if (s.callee%3 == 2) == lambda {
					break
				}
			}
			f.body = append(f.body, s)
		}
		if f.lambda {
			f.tail = false
		}
		if f.tail {
			f.body = []step{{kind: stepCall, callee: 0}}
		}
		m.functions = append(m.functions, f)
	}
	for i := range 2 + r.IntN(3) {
		m.threads = append(m.threads, &modelThread{index: i, period: period})
	}
	return m
}

func (m *model) hash() uint32 { return uint32(m.r.IntN(m.hashes)) }

// run runs some coroutines to their ends, or until there were enough records.
func (m *model) run() {
	for range 1 + m.r.IntN(4) {
		t := m.threads[m.r.IntN(len(m.threads))]
		t.record(1, true)
		m.launch(t, m.lambdaOf(), nil, nil)
		t.record(1, false)
	}
	for len(m.tasks) > 0 && m.budget > 0 {
		k := 0
		for i := range m.tasks {
			if m.start(i) < m.start(k) {
				k = i
			}
		}
		now := m.start(k)
		x := m.tasks[k]
		m.tasks = slices.Delete(m.tasks, k, k+1)
		t := m.threads[x.thread]
		t.now = now
		m.resume(t, x.frame, x.thrown)
	}
}

// marks returns how many marks were made.
func (m *model) marks() (n int) {
	for _, t := range m.threads {
		n += len(t.marks)
	}
	return n
}

func (m *model) start(task int) int64 {
	return max(m.tasks[task].at, m.threads[m.tasks[task].thread].now)
}

func (m *model) lambdaOf() *function {
	for {
		if f := &m.functions[m.r.IntN(len(m.functions))]; f.lambda {
			return f
		}
	}
}

// launch makes a coroutine: the literal, which never runs, and the instance that does.
func (m *model) launch(t *modelThread, f *function, by, waiter *frame) {
	launcher := trace.Method(0)
	if len(t.open) > 0 {
		launcher = t.open[len(t.open)-1]
	}
	if m.r.IntN(2) == 0 {
		t.mark(trace.CoroutineStarts, f.id, m.hash())
	}
	h := m.hash()
	t.mark(trace.CoroutineStarts, f.id, h)
	c := m.newCall(f)
	c.launched = launcher
	if by != nil {
		c.parent = by.call
	}
	m.schedule(t, &frame{f: f, hash: h, waiter: waiter, call: c}, false)
}

func (m *model) newCall(f *function) *truth {
	c := &truth{id: len(m.calls), method: f.id, tail: f.tail, end: EndUnknown}
	m.calls = append(m.calls, c)
	return c
}

func (m *model) schedule(t *modelThread, f *frame, thrown bool) {
	at := t.now
	if m.r.IntN(2) == 0 {
		at += int64(m.r.IntN(50))
	}
	m.tasks = append(m.tasks, task{at, m.r.IntN(len(m.threads)), f, thrown})
}

type outcome int

const (
	returned outcome = iota
	threw
	suspended
)

// resume runs a coroutine from its innermost frame on, as BaseContinuationImpl.resumeWith does.
func (m *model) resume(t *modelThread, f *frame, thrown bool) {
	for f != nil {
		if !m.hides(t, f.f.id) {
			t.mark(trace.CoroutineResumes, f.f.id, f.hash)
		}
		accessor := false
		if m.r.IntN(4) == 0 && !f.f.lambda {
			accessor = true
			t.record(2, true)
		}
		m.enter(t, f)
		out := threw
		if !thrown {
			out = m.body(t, f)
		}
		m.leave(t, f, out)
		if accessor {
			t.record(2, false)
		}
		if out == suspended {
			return
		}
		thrown = out == threw
		if f.caller == nil {
			if f.waiter != nil {
				m.schedule(t, f.waiter, thrown)
			}
			return
		}
		// A tail call has no frame of its own. It ends here, too.
		f = f.caller
		if thrown && f.f.body[f.pc-1].catch {
			thrown = false
		}
	}
}

// hides reports whether a method is not recorded now.
func (m *model) hides(t *modelThread, id trace.Method) bool { return id == m.off && t.now >= m.offAt }

func (m *model) enter(t *modelThread, f *frame) {
	p := truePiece{thread: t.index, hidden: m.hides(t, f.f.id)}
	if p.hidden {
		t.now += tick
		p.begin = t.now
	} else {
		p.begin = t.record(f.f.id, true)
	}
	f.call.pieces = append(f.call.pieces, p)
	m.budget--
}

// leave ends a piece.
func (m *model) leave(t *modelThread, f *frame, out outcome) {
	p := &f.call.pieces[len(f.call.pieces)-1]
	if p.hidden {
		t.now += tick
		p.end, p.suspended = t.now, out == suspended
		if out == returned || out == threw && m.exits {
			f.call.end = EndReturned
		} else if out == threw {
			f.call.end = EndThrew
		}
		return
	}
	switch out {
	case suspended:
		t.mark(trace.CoroutineSuspends, f.f.id, 0)
		p.end, p.suspended = t.record(f.f.id, false), true
	case threw:
		f.call.end = EndThrew
		if m.exits {
			f.call.end = EndReturned
			p.end = t.record(f.f.id, false)
		} else {
			t.open = t.open[:len(t.open)-1]
		}
	default:
		f.call.end = EndReturned
		p.end = t.record(f.f.id, false)
	}
}

// body runs a frame until it ends or is suspended.
func (m *model) body(t *modelThread, f *frame) outcome {
	for f.pc < len(f.f.body) && m.budget > 0 {
		s := f.f.body[f.pc]
		f.pc++
		m.budget--
		piece := &f.call.pieces[len(f.call.pieces)-1]
		switch s.kind {
		case stepPlain:
			t.record(3, true)
			t.record(3, false)
		case stepDelay:
			m.schedule(t, f, m.r.IntN(8) == 0)
			return suspended
		case stepLaunch:
			m.launch(t, &m.functions[s.callee], f, nil)
		case stepContext:
			m.launch(t, &m.functions[s.callee], f, f)
			return suspended
		case stepThrow:
			return threw
		case stepCall:
			out, waits := m.call(t, &m.functions[s.callee], f, f.call, 0)
			switch {
			case out == suspended:
				piece.waits = waits
				return suspended
			case out == threw && !s.catch:
				return threw
			}
		}
	}
	return returned
}

// call calls a suspend function. caller is the frame with the continuation that it gets.
func (m *model) call(t *modelThread, f *function, caller *frame, parent *truth, depth int) (outcome, []trace.Method) {
	if depth > 3 || len(t.open) > 40 {
		return returned, nil
	}
	c := m.newCall(f)
	c.parent = parent
	x := &frame{f: f, caller: caller, call: c}
	m.enter(t, x)
	out, waits := returned, []trace.Method(nil)
	if f.tail {
		out, waits = m.call(t, &m.functions[f.body[0].callee], caller, c, depth+1)
	} else {
		x.hash = m.hash()
		if !c.pieces[0].hidden {
			t.mark(trace.CoroutineContinues, f.id, x.hash)
		}
		out = m.body(t, x)
		waits = c.pieces[0].waits
	}
	c.pieces[0].waits = waits
	m.leave(t, x, out)
	return out, append(slices.Clone(waits), f.id)
}

// damage says what of a recording is lost.
type damage struct {
	records, marks int // how many runs of each on all threads
	longest        int
	main           bool // only the first thread is recorded
	// made is whether marks of the making of continuations are never lost.
	made bool
}

// chunks returns the recording, and whether it is lossy.
func (m *model) chunks(d damage) (all []trace.Chunk) {
	all = append(all, &trace.Meta{Values: map[string]string{"tickNanos": "1"}}, &trace.Clock{})
	type part struct {
		first int
		list  []trace.Chunk
	}
	var parts []part
	overwritten := uint64(0)
	for _, t := range m.threads {
		if d.main && t.index > 0 {
			continue
		}
		lost := make([]bool, len(t.records))
		marked := make([]bool, len(t.marks))
		lose(m.r, lost, d.records, d.longest)
		lose(m.r, marked, d.marks, d.longest)
		for i, mark := range t.marks {
			if d.made && (mark.Kind == trace.CoroutineStarts || mark.Kind == trace.CoroutineContinues) {
				marked[i] = false
			}
		}
		k, missing := 0, 0
		for at := 0; at < len(t.records); {
			if lost[at] {
				at++
				missing++
				overwritten++
				continue
			}
			end := at
			for end < len(t.records) && !lost[end] && (end == at || m.r.IntN(40) > 0) {
				end++
			}
			last := end == len(t.records)
			marks := &trace.Coroutines{Thread: uint32(t.index), First: uint64(k)}
			for ; k < len(t.marks) && (t.marks[k].Record < uint64(end) || last); k++ {
				n := len(marks.Marks) - 1
				switch {
				case !marked[k]:
					marks.Marks = append(marks.Marks, t.marks[k])
				case n >= 0 && marks.Marks[n].Kind == trace.CoroutineLost:
					marks.Marks[n].Lost++
				default:
					marks.Marks = append(marks.Marks, trace.CoroutineMark{Record: t.marks[k].Record, Lost: 1})
				}
			}
			var list []trace.Chunk
			if len(marks.Marks) > 0 && (d.made || d.marks == 0 || m.r.IntN(8) > 0) {
				list = append(list, marks)
			}
			list = append(list, &trace.Records{Thread: uint32(t.index), First: uint64(at), Overwritten: uint64(missing),
				Marks: uint64(k), List: t.records[at:end]})
			parts = append(parts, part{int(t.records[at].Ticks()), list})
			at, missing = end, 0
		}
		if d.made && k < len(t.marks) {
			rest := &trace.Coroutines{Thread: uint32(t.index), First: uint64(k), Marks: t.marks[k:]}
			parts = append(parts, part{int(t.now), []trace.Chunk{rest}})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	if m.off != 0 {
		all = append(all, &trace.Gate{Nanos: m.offAt, Methods: []trace.GatedMethod{{Method: m.off, State: 1}}})
	}
	for _, p := range parts {
		all = append(all, p.list...)
	}
	return append(all, &trace.End{Overwritten: overwritten})
}

// lose loses some runs.
func lose(r *rand.Rand, list []bool, runs, longest int) {
	for range runs {
		if len(list) > 1 {
			from := 1 + r.IntN(len(list)-1)
			for k := from; k < min(len(list), from+1+r.IntN(longest)); k++ {
				list[k] = true
			}
		}
	}
}

// chunkList is a recording in memory.
type chunkList []trace.Chunk

func (l *chunkList) Next() (trace.Chunk, error) {
	if len(*l) == 0 {
		return nil, io.EOF
	}
	c := (*l)[0]
	*l = (*l)[1:]
	return c, nil
}

// handler hands all to a joiner.
type handler struct{ *Joiner }

func (h handler) Chunk(c trace.Chunk) error {
	h.Joiner.Chunk(c)
	return nil
}
func (h handler) Named(trace.Method, string) error { return nil }
func (h handler) Segment(s *trace.Segment) error {
	h.Joiner.Segment(s)
	return nil
}

func joined(t *testing.T, chunks []trace.Chunk, partial bool) *Coroutines {
	t.Helper()
	list := chunkList(chunks)
	j := new(Joiner)
	if err := trace.Replay(&list, handler{j}, trace.ReplayOptions{}); err != nil {
		t.Fatal(err)
	}
	out := j.Join(partial)
	if out == nil {
		out = &Coroutines{}
	}
	return out
}

// caller returns the nearest call around it of which the recording has a mark: a tail call has none but if it is
// suspended.
func (x *truth) caller() *truth {
	p := x.parent
	for p != nil && p.tail && !p.pieces[0].suspended {
		p = p.parent
	}
	return p
}

// signature says where and when the pieces of a call began.
func (x *truth) signature() string {
	var pieces []string
	for _, p := range x.pieces {
		pieces = append(pieces, fmt.Sprint(p.thread, p.begin))
	}
	slices.Sort(pieces)
	return fmt.Sprint(x.method, pieces)
}

// signature is what a joined call was, in the form of [truth.signature].
func (c *Call) signature() string {
	var pieces []string
	for _, p := range c.Pieces {
		pieces = append(pieces, fmt.Sprint(p.Thread, p.Begin))
	}
	slices.Sort(pieces)
	return fmt.Sprint(c.Method, pieces)
}

// waitsAs reports whether a joined call waits for the innermost functions.
func (x *truth) waitsAs(got *Call) bool {
	for i, p := range x.pieces {
		wait := got.Pieces[i].Wait
		if len(p.waits) > 0 && (wait == nil || wait.Method != p.waits[0]) {
			return false
		}
	}
	return true
}

// place identifies a piece.
type place struct {
	thread uint32
	begin  int64
}

// checker compares what was joined with the truth.
type checker struct {
	m       *model
	out     *Coroutines
	call    map[place]*truth
	at      map[place]int
	wrong   []string
	claimed int // suspensions that were joined
}

func newChecker(m *model, out *Coroutines) *checker {
	c := &checker{m: m, out: out, call: map[place]*truth{}, at: map[place]int{}}
	for _, x := range m.calls {
		for i, p := range x.pieces {
			k := place{uint32(p.thread), p.begin}
			c.call[k], c.at[k] = x, i
		}
	}
	return c
}

func (c *checker) failf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// of returns the true call of a joined one.
func (c *checker) of(x *Call) *truth { return c.call[place{x.Pieces[0].Thread, x.Pieces[0].Begin}] }

// lies checks that nothing that is said is wrong.
func (c *checker) lies() {
	seen := map[place]bool{}
	for i := range c.out.Calls {
		x := &c.out.Calls[i]
		truth := c.of(x)
		if truth == nil {
			c.failf("call %d of %d at %d: no such piece", i, x.Method, x.Begin())
			continue
		}
		if truth.method != x.Method {
			c.failf("call %d of %d is one of %d", i, x.Method, truth.method)
		}
		c.pieces(x, truth, seen)
		c.end(x, truth)
		if x.Parent >= 0 {
			parent := truth.parent
			for parent != nil && parent != c.of(&c.out.Calls[x.Parent]) {
				parent = parent.parent
			}
			if parent == nil {
				c.failf("call %d of %d at %d has another parent", i, x.Method, x.Begin())
			}
		}
		if x.Launched != nil && x.Launched.Method != 0 && x.Launched.Method != truth.launched {
			c.failf("call %d of %d was launched by %d, want %d", i, x.Method, x.Launched.Method, truth.launched)
		}
	}
}

func (c *checker) pieces(x *Call, truth *truth, seen map[place]bool) {
	before := -1
	for k := range x.Pieces {
		p := &x.Pieces[k]
		at := place{p.Thread, p.Begin}
		if seen[at] {
			c.failf("%v is in two calls", at)
		}
		seen[at] = true
		if c.call[at] != truth {
			c.failf("%v is not of call %d of %d", at, truth.id, truth.method)
			return
		}
		index := c.at[at]
		if k == 0 && index > 0 && !x.BeginUnknown {
			c.failf("%v is not the first piece of its call", at)
		}
		if k > 0 {
			if c.claimed++; index != before+1 && !x.Pieces[k-1].AtMost {
				c.failf("%v: pieces are missing before it", at)
			}
		}
		if p.Suspended && !truth.pieces[index].suspended {
			c.failf("%v was not suspended", at)
		}
		end := truth.pieces[index].end
		if k+1 < len(x.Pieces) {
			end = min(end, x.Pieces[k+1].Begin)
		}
		if p.Suspended && !p.AtMost && p.End != end {
			c.failf("%v ended at %d, want %d", at, p.End, end)
		}
		if p.Wait != nil && !p.Wait.Launched && !slices.Contains(truth.pieces[index].waits, p.Wait.Method) {
			c.failf("%v waited for %d, want one of %d", at, p.Wait.Method, truth.pieces[index].waits)
		}
		before = index
	}
}

func (c *checker) end(x *Call, truth *truth) {
	last := c.at[place{x.Pieces[len(x.Pieces)-1].Thread, x.Pieces[len(x.Pieces)-1].Begin}] == len(truth.pieces)-1
	switch x.End {
	case EndReturned, EndThrew:
		if !last || truth.end == EndUnknown || x.End == EndReturned && truth.end == EndThrew && c.m.exits {
			c.failf("call at %d: end %d of %d, want %d", x.Begin(), x.End, x.Method, truth.end)
		}
	case EndSuspended:
		if !last || truth.end != EndUnknown {
			c.failf("call at %d of %d is not suspended at the end, but %d", x.Begin(), x.Method, truth.end)
		}
	case EndBy:
		if truth.end == EndUnknown && !truth.tail || truth.pieces[len(truth.pieces)-1].begin > x.Ended {
			c.failf("call at %d of %d had not ended by %d", x.Begin(), x.Method, x.Ended)
		}
	}
	if x.TailCall && !truth.tail {
		c.failf("call at %d of %d is no tail call", x.Begin(), x.Method)
	}
}

// whole checks that all is known.
func (c *checker) whole() {
	joined := map[*truth]*Call{}
	for i := range c.out.Calls {
		joined[c.of(&c.out.Calls[i])] = &c.out.Calls[i]
	}
	for _, x := range c.m.calls {
		got := joined[x]
		switch {
		case len(x.pieces) == 0 || x.pieces[0].hidden:
		case got == nil && x.tail && !x.pieces[0].suspended:
		case got == nil:
			c.failf("call of %d at %d is not there", x.method, x.pieces[0].begin)
		case len(got.Pieces) != len(x.pieces):
			c.failf("call of %d at %d has %d pieces, want %d", x.method, x.pieces[0].begin, len(got.Pieces), len(x.pieces))
		case got.End == EndUnknown && !c.m.exits && x.end != EndReturned:
			// A call without an exit may be the one that was suspended.
		case got.BeginUnknown || got.End == EndUnknown && !x.tail:
			c.failf("call of %d at %d: begin or end is not known", x.method, x.pieces[0].begin)
		case x.caller() != nil && c.m.exits && (got.Parent < 0 || c.of(&c.out.Calls[got.Parent]) != x.caller()):
			c.failf("call of %d at %d has not its parent", x.method, x.pieces[0].begin)
		case c.m.exits && !x.waitsAs(got):
			c.failf("call of %d at %d waits for something else", x.method, x.pieces[0].begin)
		}
	}
}
