package analysis

import (
	"cmp"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Role is what a stall is in the program: something slow, or what its thread is there for.
type Role string

// The roles. A message always has the first one.
const (
	// RoleStall is something slow: a message, or a call that a loop, a pool or a framework made.
	RoleStall Role = "stall"
	// RoleRun is a run of the program: main, or all that a thread was started for.
	RoleRun Role = "run"
	// RoleIdle is waiting for work: without that it would not be slow, or it took a tenth of the time at most.
	RoleIdle Role = "idle"
)

// occasion is what decides about a role. It is made of a recording or of a report, so that both have one rule.
type occasion struct {
	// Method is the outermost call; nil of a message.
	Method *resolve.Method
	// Ran is how long it lasted, Idle how much of that its thread waited for work, Threshold how long a stall lasts at
	// least, 0 if that is not known.
	Ran, Idle, Threshold time.Duration
	// Stacks were taken meanwhile: whole ones, up to the begin of the thread.
	Stacks [][]string
	// First is set if it is the first thing that its thread is known to have done.
	First bool
}

// role returns what it is in the program.
func (o *occasion) role() Role {
	if o.Method == nil {
		return RoleStall
	}
	if o.Method.Name == "main" {
		return RoleRun
	}
	busy := o.Ran - o.Idle
	switch {
	case busy < max(o.Threshold, o.Ran/10) && busy < o.Ran:
		return RoleIdle
	case o.startedThread():
		return RoleRun
	}
	return RoleStall
}

// roleOf returns what a stall is.
func (s *Stall) roleOf(from *evidence.Stall) Role {
	o := occasion{Method: s.Message.Method, Ran: s.Ran, Threshold: s.Threshold, First: s.first == 0}
	if from.Kind == trace.SegmentOutermost && len(s.HotPath) > 0 {
		o.Method = &s.HotPath[0].Method // the device may not have reported it
	}
	if from.Kind == trace.SegmentRequest {
		o.Method = nil
	}
	if o.Method != nil && o.Method.Name != "main" {
		o.Idle = s.idle()
	}
	for _, sample := range s.Samples {
		if !s.steady {
			o.Stacks = append(o.Stacks, sample.Frames)
		}
	}
	return o.role()
}

// roleOfReport returns what the stall of a report is. path has the methods of its hot path, samples are its thread's.
func roleOfReport(r *devicereport.Report, path []resolve.Method, samples []devicereport.Sample) Role {
	if _, isCall := trace.DescribedMethod(r.What); !isCall || len(path) == 0 {
		return RoleStall
	}
	o := occasion{Method: &path[0], Ran: r.Ran()}
	all, idle := int64(0), int64(0)
	for _, sample := range samples {
		o.Stacks = append(o.Stacks, sample.Frames)
		if all += sample.Count; foreign.Idle(sample.Frames, false) != "" {
			idle += sample.Count
		}
	}
	o.Idle = scaled(o.Ran, time.Duration(idle), time.Duration(all))
	return o.role()
}

// idle returns for how long its thread waited for work, by the time that stack samples stand for or by the calls of
// methods that only wait, and sets what for at last.
func (s *Stall) idle() time.Duration {
	e := grounds{Stall: s.running()}
	for i := range e.Samples {
		e.weighed = append(e.weighed, weighed{StackSample: &e.Samples[i]})
	}
	e.cut()
	forever := !s.Ended || 2*s.Wall >= time.Duration(s.Recording.end-s.Recording.begin)
	idle := time.Duration(0)
	for _, w := range e.weighed {
		if work := foreign.Idle(w.Frames, forever); work != "" {
			idle += w.took
			s.Awaited = work
		}
	}
	seen := time.Duration(0)
	for i := range s.MostSelf {
		if work := foreign.IdleCall(s.MostSelf[i].Method.Identity()); work != "" {
			seen += time.Duration(s.MostSelf[i].Self)
			s.Awaited = cmp.Or(s.Awaited, work)
		}
	}
	return max(idle, seen)
}

// startedThread reports whether its thread was started to call this method: the frames of its stack outside of the
// method only begin a thread, or are a lambda or a method run of the same class, which is too short to be traced.
// Without a stack, it is one whose thread begins with a call of run. The loop of a pool's worker always is.
func (o *occasion) startedThread() bool {
	m := o.Method
	if foreign.IsWorkerLoop(m.Identity()) {
		return true
	}
	outer := outerClass(m.Class)
	for _, frames := range o.Stacks {
		for k := len(frames) - 1; k >= 0; k-- {
			method := foreign.FrameMethod(frames[k])
			at := strings.LastIndexByte(method, '.')
			short := method[at+1:] == "run" || strings.HasPrefix(method[at+1:], "lambda$")
			switch {
			case method == m.Identity():
				return true
			case foreign.StartsThread(method):
			case !short || outerClass(method[:max(0, at)]) != outer:
				return false
			}
		}
	}
	return m.Name == "run" && (m.Descriptor == "()V" || m.Descriptor == "") && o.First
}

func outerClass(class string) string {
	outer, _, _ := strings.Cut(class, "$")
	return outer
}
