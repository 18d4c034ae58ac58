package analysis

import (
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// initWait is a thread that most likely waits until another one has initialized a class. A JVM says of it that it is
// ready to run, and no frame shows the wait. What shows it is that it gets no processor time at one place in a method
// of the program, while another thread is in the initializer of a class.
type initWait struct {
	thread *Thread
	// class is what that thread initializes; own is the class that the waiting thread initializes itself, empty if it
	// does not. circle is whether the other thread gets no processor time there either, in the same way: then each
	// waits for the class of the other one.
	class, own string
	circle     bool
}

// stillShare is the share of a processor that a thread may use that waits.
const stillShare = 50

// stillBetween reports whether a thread was at one place in the program between two samples, and used no processor.
func stillBetween(a, b *trace.StackSample) bool {
	return trace.ThreadState(a.State).String() == "RUNNABLE" && a.State == b.State && a.CPU >= 0 && b.CPU >= a.CPU &&
		(b.CPU-a.CPU)*stillShare <= b.Nanos-a.Nanos && slices.Equal(a.Frames, b.Frames) && len(a.Frames) > 0 &&
		!foreign.OfPlatform(foreign.FrameMethod(a.Frames[0]))
}

// waitForClass finds out whether the thread waited until a class was initialized, and says so in its samples; nil if it
// did not.
func (s *Stall) waitForClass(from *evidence.Stall, by resolve.Residual) *initWait {
	var found *initWait
	for i := 1; i < len(from.Initializing); i++ {
		before, now := from.Initializing[i-1], from.Initializing[i]
		if !stillBetween(before.Waiting, now.Waiting) {
			continue
		}
		circle := before.Holder != now.Holder && before.Thread == now.Thread && stillBetween(before.Holder, now.Holder) &&
			slices.ContainsFunc(now.Waiting.Frames, evidence.Initializes)
		if found == nil || !found.circle {
			found = &initWait{s.Recording.Thread(now.Thread.Index), initialized(by.Frames(now.Holder.Frames)),
				initialized(by.Frames(now.Waiting.Frames)), circle}
		}
		for k, sample := range from.Samples {
			if sample == before.Waiting || sample == now.Waiting {
				s.Samples[k].Activity = foreign.ActivityLock
			}
		}
	}
	return found
}

// initialized returns the class whose initializer is the innermost one on a stack.
func initialized(frames []string) string {
	for _, f := range frames {
		if class, ok := strings.CutSuffix(foreign.FrameMethod(f), ".<clinit>"); ok {
			return class
		}
	}
	return ""
}

// owner says who initializes the class, as [Stall.LockOwner] does.
func (w *initWait) owner() string {
	return w.thread.Label + resolve.Holds + initializationOf + w.class
}

// initializationOf names what a thread has that initializes a class, and others wait for.
const initializationOf = "the initialization of "

// locks returns the wait, and in a circle that of the other thread too.
func (w *initWait) locks(thread string) []LockWait {
	all := []LockWait{{Thread: thread, Holder: w.thread.Label, Class: initializationOf + w.class}}
	if w.circle {
		return append(all, LockWait{Thread: w.thread.Label, Holder: thread, Class: initializationOf + w.own})
	}
	return all
}
