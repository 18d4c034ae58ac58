package answer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Coroutines says what the suspend functions of a recording did. A call of one is all that it did from its begin to its
// end, on whatever threads.
type Coroutines struct {
	// Functions are the suspend functions and lambdas: those of the program and then those of libraries, the one that was
	// suspended for the longest time first.
	Functions []SuspendFunction `json:"functions"`
	// LostMarks is how many marks of coroutines the recorder has lost, UnplacedMarks how many fit no record, Ambiguous how
	// many calls are not followed, because two continuations have the same hash code. What is lost is missing in all
	// numbers of the functions.
	LostMarks     uint64 `json:"lostMarks,omitempty"`
	UnplacedMarks uint64 `json:"unplacedMarks,omitempty"`
	Ambiguous     uint64 `json:"ambiguous,omitempty"`
	// Partial is whether calls may have run on threads that are not recorded: times suspended are upper bounds then.
	Partial bool `json:"partial,omitempty"`
	// OnlyStalls is whether only what suspend functions did in stalls is recorded: no call is followed beyond its stall.
	OnlyStalls bool `json:"onlyStalls,omitempty"`
}

// SuspendFunction is a suspend function or lambda with all its calls.
type SuspendFunction struct {
	// Method is the function, or invokeSuspend of the class of the lambda.
	Method resolve.Method `json:"method"`
	Lambda bool           `json:"lambda,omitempty"`
	// Calls is how many there were, Resumed how often one went on after it was suspended, NotResumed how many were
	// suspended when the recording ended.
	Calls      uint64 `json:"calls"`
	Resumed    uint64 `json:"resumed"`
	NotResumed uint64 `json:"notResumed,omitempty"`
	// BeginUnknown is how many of the calls may be the rest of others, as marks are missing: if it is not 0, Calls is an
	// upper bound, and Resumed a lower one.
	BeginUnknown uint64 `json:"beginUnknown,omitempty"`
	// Running is how long they ran, Suspended how long they were suspended before they went on: at most, if AtMost is set,
	// as something is not recorded in which they may have run.
	Running   time.Duration `json:"runningNanos"`
	Suspended time.Duration `json:"suspendedNanos"`
	AtMost    bool          `json:"atMost,omitempty"`
	// Longest is the call that lasted longest, as far as that is known.
	Longest SuspendCall `json:"longest"`
	// Waits are what they were suspended for, Launchers where the lambdas were made, those with the longest time or the
	// most calls first; at most three.
	Waits     []CoroutineWait     `json:"waits"`
	Launchers []CoroutineLauncher `json:"launchers"`
	// Threads are those on which they ran, the one with the most pieces first; at most three.
	Threads []string `json:"threads"`
	// Late is by how much, at least, the latest lambda began after it was made; 0 if that is not known. Busy is what the
	// threads of its pool did meanwhile, if all were busy with coroutines.
	Late time.Duration  `json:"lateNanos,omitempty"`
	Busy *CoroutineBusy `json:"busy,omitempty"`
	// Glue is whether it is of Kotlin's library, or was made by the compiler. The report does not list it.
	Glue bool `json:"glue,omitempty"`
}

// SuspendCall is one call.
type SuspendCall struct {
	// Begin is when it began, from the origin of the recording on. Wall is how long it lasted, as far as that is known,
	// Running and Suspended how long of that it ran and was suspended.
	Begin     time.Duration `json:"beginNanos"`
	Wall      time.Duration `json:"wallNanos"`
	Running   time.Duration `json:"runningNanos"`
	Suspended time.Duration `json:"suspendedNanos"`
}

// CoroutineWait is what calls were suspended for.
type CoroutineWait struct {
	// Method is a suspend function that was called, or the longest call in a lambda that was launched and ended right
	// before; nil if it is not known.
	Method *resolve.Method `json:"method,omitempty"`
	// Launched is whether it is the latter, Thread then the thread on which the lambda ended. Nanos is for how long.
	Launched bool          `json:"launched,omitempty"`
	Thread   string        `json:"thread,omitempty"`
	Nanos    time.Duration `json:"nanos"`
}

// CoroutineLauncher is where lambdas were made.
type CoroutineLauncher struct {
	// Method made them, Calls is how many. By is what it has called for it, such as launch or withContext; nil if that is
	// not known.
	Method resolve.Method  `json:"method"`
	By     *resolve.Method `json:"by,omitempty"`
	Calls  uint64          `json:"calls"`
}

// CoroutineBusy is what the threads of a pool did while a lambda waited to begin.
type CoroutineBusy struct {
	// Thread is the label of the only thread or what the names of all Threads have in common. They ran Method for Nanos,
	// all together.
	Thread  string         `json:"thread"`
	Threads int            `json:"threads"`
	Method  resolve.Method `json:"method"`
	Nanos   time.Duration  `json:"nanos"`
}

// mostNamed is how many of the things that a suspend function waited for are named.
const mostNamed = 3

// coroutinesOf puts names to the joined calls of a recording, and sums them up by function; nil if it has none.
func coroutinesOf(r *analysis.Recording) *Coroutines {
	joined := r.Coroutines
	if joined == nil {
		return nil
	}
	out := &Coroutines{Functions: []SuspendFunction{}, LostMarks: joined.Lost, UnplacedMarks: joined.Unplaced,
		Ambiguous: joined.Ambiguous, Partial: r.PartlyRecorded(), OnlyStalls: r.About().OnlyStalls()}
	sums := map[trace.Method]*suspendSum{}
	for i := range joined.Calls {
		c := &joined.Calls[i]
		s := sums[c.Method]
		if s == nil {
			s = &suspendSum{waits: map[coroutine.Wait]time.Duration{}, launchers: map[uint64]uint64{},
				threads: map[uint32]uint64{}}
			s.Method, s.Lambda, s.Glue = r.Names.Method(c.Method), c.Lambda, c.Glue
			sums[c.Method] = s
		}
		s.add(c, r)
	}
	for _, m := range slices.Sorted(maps.Keys(sums)) {
		out.Functions = append(out.Functions, sums[m].finish(r))
	}
	slices.SortStableFunc(out.Functions, func(a, b SuspendFunction) int {
		return cmp.Or(cmp.Compare(a.ofLibrary(), b.ofLibrary()), cmp.Compare(b.Suspended, a.Suspended),
			cmp.Compare(b.Running, a.Running), resolve.CompareMethods(a.Method, b.Method))
	})
	return out
}

// ofLibrary is 1 for a function of a library, 0 for one of the program.
func (f *SuspendFunction) ofLibrary() int {
	if foreign.OfLibrary(f.Method.Identity()) {
		return 1
	}
	return 0
}

// suspendSum is a suspend function that is summed up.
type suspendSum struct {
	SuspendFunction
	waits     map[coroutine.Wait]time.Duration // the zero value is what is not known
	launchers map[uint64]uint64                // by the method, and below that what it has called
	threads   map[uint32]uint64
	late      *coroutine.Call
}

// add adds a call.
func (s *suspendSum) add(c *coroutine.Call, r *analysis.Recording) {
	suspended, atMost := c.Suspended()
	running := c.Running()
	s.Calls++
	s.Resumed += uint64(len(c.Pieces) - 1)
	s.Running += running
	s.Suspended += suspended
	s.AtMost = s.AtMost || atMost
	if c.End == coroutine.EndSuspended {
		s.NotResumed++
	}
	if c.BeginUnknown {
		s.BeginUnknown++
	}
	if l := &s.Longest; s.Calls == 1 || c.Wall() > l.Wall {
		*l = SuspendCall{time.Duration(r.Since(c.Begin())), c.Wall(), running, suspended}
	}
	for i := range c.Pieces {
		p := &c.Pieces[i]
		s.threads[p.Thread]++
		if d := c.SuspendedFor(i); d > 0 {
			wait := coroutine.Wait{}
			if p.Wait != nil {
				wait = *p.Wait
			}
			s.waits[wait] += d
		}
	}
	if l := c.Launched; l != nil && !c.BeginUnknown {
		if l.Method != 0 {
			s.launchers[uint64(l.Method)<<32|uint64(l.By)]++
		}
		if late := c.Late(); late > s.Late {
			s.Late, s.late = late, c
		}
	}
}

// finish puts names to what was summed up.
func (s *suspendSum) finish(r *analysis.Recording) SuspendFunction {
	s.Waits, s.Launchers, s.Threads = []CoroutineWait{}, []CoroutineLauncher{}, []string{}
	waits := slices.SortedFunc(maps.Keys(s.waits), func(a, b coroutine.Wait) int {
		return cmp.Or(cmp.Compare(s.waits[b], s.waits[a]), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Thread, b.Thread))
	})
	for _, w := range waits[:min(mostNamed, len(waits))] {
		out := CoroutineWait{Launched: w.Launched, Nanos: s.waits[w]}
		if w.Method != 0 {
			m := r.Names.Method(w.Method)
			out.Method = &m
		}
		if w.Launched {
			out.Thread = r.Thread(w.Thread).Label
		}
		s.Waits = append(s.Waits, out)
	}
	for _, key := range mostFrequent(s.launchers) {
		l := CoroutineLauncher{Method: r.Names.Method(trace.Method(key >> 32)), Calls: s.launchers[key]}
		if by := trace.Method(key); by != 0 {
			m := r.Names.Method(by)
			l.By = &m
		}
		s.Launchers = append(s.Launchers, l)
	}
	for _, t := range mostFrequent(s.threads) {
		s.Threads = append(s.Threads, r.Thread(t).Label)
	}
	if s.late != nil {
		s.Busy = busyOf(s.late, r)
	}
	return s.SuspendFunction
}

// mostFrequent returns the keys with the greatest counts, a few of them.
func mostFrequent[K cmp.Ordered](counts map[K]uint64) []K {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return keys[:min(mostNamed, len(keys))]
}

// busyOf returns what ran while a lambda waited to begin; nil if that is not known.
func busyOf(late *coroutine.Call, r *analysis.Recording) *CoroutineBusy {
	pool, name := r.Pool(late.Pieces[0].Thread)
	busy, ok := r.Coroutines.Occupied(late, pool)
	if !ok {
		return nil
	}
	return &CoroutineBusy{name, len(pool), r.Names.Method(busy.Method), busy.Took}
}
