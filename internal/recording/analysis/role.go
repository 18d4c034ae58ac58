package analysis

import (
	"strings"
	"time"

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

// roleOf returns what a stall is.
func (s *Stall) roleOf(from *evidence.Stall) Role {
	m := s.Message.Method
	if from.Kind == trace.SegmentOutermost && len(s.HotPath) > 0 {
		m = &s.HotPath[0].Method // the device may not have reported it
	}
	if m == nil || from.Kind == trace.SegmentRequest {
		return RoleStall
	}
	if m.Name == "main" {
		return RoleRun
	}
	busy := s.Ran - s.idle()
	switch {
	case busy < max(s.Threshold, s.Ran/10) && busy < s.Ran:
		return RoleIdle
	case s.startedThread(m):
		return RoleRun
	}
	return RoleStall
}

// idle returns for how long its thread waited for work, by the time that stack samples stand for, and sets what for
// at last.
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
	return idle
}

// startedThread reports whether its thread was started to call this method: the frames of its stack outside of the
// method only begin a thread, or are a lambda or a method run of the same class, which is too short to be traced.
// Without a stack, it is one whose thread begins with a call of run.
func (s *Stall) startedThread(m *resolve.Method) bool {
	outer := outerClass(m.Class)
	for _, sample := range s.Samples {
		for k := len(sample.Frames) - 1; k >= 0; k-- {
			method := foreign.FrameMethod(sample.Frames[k])
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
	return m.Name == "run" && (m.Descriptor == "()V" || m.Descriptor == "") && s.first == 0
}

func outerClass(class string) string {
	outer, _, _ := strings.Cut(class, "$")
	return outer
}
