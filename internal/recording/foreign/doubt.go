package foreign

import (
	"slices"
	"strings"
)

// DoubtKind is why it cannot be known from a text whether there is a deadlock.
type DoubtKind int

// The reasons.
const (
	// DoubtCut: the text was cut off.
	DoubtCut DoubtKind = iota
	// DoubtUnread: lines that look as if they said something about locks were not understood.
	DoubtUnread
	// DoubtStates: the text does not say the states of threads, nor the locks that they wait for.
	DoubtStates
	// DoubtLock: threads wait for locks that the text does not name.
	DoubtLock
	// DoubtHolder: threads wait for locks of which the text does not say who holds them.
	DoubtHolder
	// DoubtWaiting: threads wait for locks whose holder waits for something else, which another thread may have to do.
	DoubtWaiting
	// DoubtInit: threads that initialize a class, or others, may wait for the initialization of another one, and the text
	// does not say so.
	DoubtInit
	// DoubtVirtual: the process has virtual threads, and the text leaves out those that wait.
	DoubtVirtual
)

// Doubt is a reason, and the waits that it is about: each has a thread, and a lock and its holder if they are known.
type Doubt struct {
	// Kind is the reason.
	Kind DoubtKind
	// Waits are in the order of the threads in the text.
	Waits []Wait
}

// Doubts returns why it cannot be known from the text that there is no deadlock but those of [Process.Deadlocks]:
// nothing if each thread is known to run, to wait for no lock, or for one whose holder does so.
func (p *Process) Doubts() []Doubt {
	var kinds [DoubtVirtual + 1][]Wait
	all := p.holders()
	lookedFor := p.lookedForAll()
	for _, t := range p.Threads {
		w, waits := p.wait(t, all)
		if !t.initShown && !t.claimed && slices.ContainsFunc(t.Frames, initializes) {
			kinds[DoubtInit] = append(kinds[DoubtInit], w)
		}
		switch {
		case !waits && t.hidesLock():
			kinds[DoubtLock] = append(kinds[DoubtLock], w)
		case !waits && t.Kind() == Unsaid && !t.claimed:
			kinds[DoubtStates] = append(kinds[DoubtStates], w)
		case !waits || t.timed() || w.Holder == nil && lookedFor:
		case w.Holder == nil:
			kinds[DoubtHolder] = append(kinds[DoubtHolder], w)
		case w.Holder.Waits == nil && w.Holder.Kind() == Waiting:
			kinds[DoubtWaiting] = append(kinds[DoubtWaiting], w)
		}
	}
	var doubts []Doubt
	for k, waits := range kinds {
		kind := DoubtKind(k)
		if len(waits) > 0 || kind == DoubtCut && p.Truncated || kind == DoubtUnread && p.Unread > 0 ||
			kind == DoubtVirtual && p.hidesVirtual() {
			doubts = append(doubts, Doubt{kind, waits})
		}
	}
	return doubts
}

// hidesLock reports whether a thread waits for a lock that the text does not name.
func (t *Thread) hidesLock() bool {
	if t.Kind() == Blocked || t.mutex || t.acquires() && !t.timed() {
		return true
	}
	// HotSpot up to JDK 13 does not say that a thread waits until another one has initialized a class.
	return t.inWait && t.State == "RUNNABLE" && len(t.Frames) > 0 &&
		!strings.HasPrefix(FrameMethod(t.Frames[0]), "java.lang.Object.wait")
}

// initializes reports whether a frame is of the initialization of a class.
func initializes(frame string) bool { return strings.HasSuffix(FrameMethod(frame), ".<clinit>") }

// timed reports whether a thread waits for some time only.
func (t *Thread) timed() bool { return strings.HasPrefix(strings.ToLower(t.State), "timed") }

// firstVirtual is the first version of Java that has virtual threads.
const firstVirtual = 21

// lookedForAll reports whether the JVM has looked for deadlocks with all locks that threads wait for, and found none.
// It knows the owners of monitors and of locks that one thread holds alone, unless that is a virtual one.
func (p *Process) lookedForAll() bool {
	if !p.checked || p.Stated || p.java >= firstVirtual {
		return false
	}
	return !slices.ContainsFunc(p.Threads, func(t *Thread) bool {
		if t.Waits == nil {
			return t.hidesLock()
		}
		return t.Waits.Init || t.inWait ||
			t.parked && !strings.HasPrefix(t.Waits.Class, "java.util.concurrent.locks.ReentrantLock$")
	})
}

// hidesVirtual reports whether the process has virtual threads, or threads that may carry them, in a text that does
// not show those that wait.
func (p *Process) hidesVirtual() bool {
	if p.allShown {
		return false
	}
	for _, t := range p.Threads {
		if p.java >= firstVirtual && strings.HasPrefix(t.Name, "ForkJoinPool-1-") {
			return true
		}
	}
	return p.virtual
}

// HidesVirtual reports whether the text would not show virtual threads that wait, if the process had any.
func (p *Process) HidesVirtual() bool { return p.java >= firstVirtual && !p.allShown }
