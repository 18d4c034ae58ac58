package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Exit is how the process of a recording ended, as Android's ApplicationExitInfo said to a later process of the app.
// Numbers are nil, and texts empty, where that is not known.
type Exit struct {
	// Reason is a name such as "anr", "crash", "low-memory", "user-requested" or "signaled"; Status the exit code or
	// the number of the signal, Description what the system says.
	Reason      string `json:"reason"`
	Status      *int64 `json:"status,omitempty"`
	Description string `json:"description,omitempty"`
	// WallMillis is when it ended, in milliseconds since 1970, UTC.
	WallMillis *int64 `json:"wallMillis,omitempty"`
	// Importance is that of ActivityManager.RunningAppProcessInfo, PSS and RSS its memory in kilobytes, PID its ID.
	Importance *int64 `json:"importance,omitempty"`
	PSS        *int64 `json:"pssKb,omitempty"`
	RSS        *int64 `json:"rssKb,omitempty"`
	PID        *int64 `json:"pid,omitempty"`
	// JoinedBy is how the system's record of the process was found: by "summary", which the process had
	// set for itself, or by "pid" and its start.
	JoinedBy string `json:"joinedBy,omitempty"`
	// Main is the stack of the main thread in Trace; nil if there is none.
	Main *resolve.TraceThread `json:"mainThread,omitempty"`
	// Locks are the locks of the process in Trace, and who waits for them; nil if Trace has no threads.
	Locks *resolve.TraceProcess `json:"locks,omitempty"`
	// Trace is what the system wrote of all threads, of an ANR for instance, at most 256 KiB.
	Trace string `json:"trace,omitempty"`
}

// maxExitTrace is how many bytes of the system's trace a recording has: 256 KiB.
const maxExitTrace = 256 << 10

// reasonANR is the reason of a process that the system ended because it did not respond.
const reasonANR = "anr"

// exited takes over how the process ended. If the recording says it twice, the first says it.
func (r *Recording) exited(c *trace.Exit) {
	if r.Exit != nil {
		return
	}
	number := func(key string) *int64 {
		if n, err := strconv.ParseInt(c.Values[key], 10, 64); err == nil {
			return &n
		}
		return nil
	}
	e := &Exit{Reason: resolve.Printable(c.Values["reason"]), Status: number("status"),
		Description: resolve.Printable(strings.TrimSpace(c.Values["description"])), WallMillis: number("wallMillis"),
		Importance: number("importance"), PSS: number("pssKb"), RSS: number("rssKb"), PID: number("pid"),
		JoinedBy: resolve.Printable(c.Values["joinedBy"]), Trace: c.Values["trace"]}
	if e.Reason == "" {
		e.Reason = "unknown"
	}
	if e.Locks = e.traceOf(r.by); e.Locks != nil {
		e.Main, e.Locks.Main = e.Locks.Main, nil
		e.Locks.Truncated = e.Locks.Truncated || len(e.Trace) >= maxExitTrace-utf8.UTFMax
	}
	e.Trace = r.by.Text(e.Trace)
	r.Exit = e
}

// StallExit is how the process ended while a stall was running.
type StallExit struct {
	// Reason and Description are those of [Exit].
	Reason      string `json:"reason"`
	Description string `json:"description,omitempty"`
	// After is how long after the stall was seen for the last time the process ended; nil if that is not known.
	After *time.Duration `json:"afterNanos,omitempty"`
	// Main is the main thread in the system's trace, if the stall is of that thread; otherwise it is nil. Same is
	// whether the method that the verdict names is on its stack.
	Main *resolve.TraceThread `json:"mainThread,omitempty"`
	Same bool                 `json:"sameMethod,omitempty"`
	// Locks says which locks the main thread waits for in the system's trace, and which threads hold them; empty if it
	// waits for none, or if the stall is of another thread. Deadlock is whether one of them waits for the main thread.
	Locks    string `json:"locks,omitempty"`
	Deadlock bool   `json:"deadlock,omitempty"`
}

// exitOf returns how the process ended while the stall was running; nil if the stall ended before, or if that is not
// known.
func (s *Stall) exitOf() *StallExit {
	e := s.Recording.Exit
	if s.Ended || e == nil {
		return nil
	}
	out := &StallExit{Reason: e.Reason, Description: e.Description}
	if e.WallMillis != nil && !s.Time.IsZero() {
		if after := time.UnixMilli(*e.WallMillis).Sub(s.Time.Add(s.Wall)); after >= 0 {
			out.After = &after
		}
	}
	if s.Thread.Main && e.Main != nil {
		out.Main = e.Main
		if e.Locks != nil {
			out.Locks, out.Deadlock = e.Locks.LocksText(), e.Locks.Deadlock() != nil
		}
		m := s.Verdict.Method
		out.Same = m != nil && !m.Unresolved && m.In(e.Main.Frames)
	}
	return out
}

// text says how the process ended, and claims an ANR only if the system says that it was one.
func (e *StallExit) text(s *Stall) string {
	text := fmt.Sprintf("the process ended by %s (ApplicationExitInfo)", e.Reason)
	if e.After != nil {
		text += fmt.Sprintf(" %s after it was last seen", units.AtLeast(*e.After))
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	if e.Reason != reasonANR {
		text += "; the system reports no ANR"
	}
	if e.Main == nil {
		return text
	}
	const shows = "; the system's trace shows the main thread in "
	if e.Same {
		text += shows + s.Verdict.Method.Title() + ", too"
	} else if frame := foreign.FirstOfApp(e.Main.Frames); frame != "" {
		text += shows + foreign.FrameMethod(frame)
	}
	if e.Locks != "" {
		text += "; in that trace, " + e.Locks
	}
	return text
}

// String says in a line how the process ended.
func (e *Exit) String() string {
	text := "the process ended by " + e.Reason
	if e.WallMillis != nil {
		text += time.UnixMilli(*e.WallMillis).UTC().Format(", 2006-01-02 15:04:05.000 UTC")
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	return text
}

// traceOf returns the process of an exit in the system's trace; nil if it is not there.
func (e *Exit) traceOf(by resolve.Residual) *resolve.TraceProcess {
	all := by.Processes(e.Trace)
	for _, p := range all {
		if e.PID != nil && int64(p.PID) == *e.PID {
			return p
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}
