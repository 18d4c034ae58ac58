package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// maxExitTrace is how many bytes of the system's trace a recording has: 256 KiB.
const maxExitTrace = 256 << 10

// TraceProcess is a process in a text with the stacks of its threads: what the system writes of an ANR, or jstack.
type TraceProcess struct {
	// PID is its ID, Time when the stacks were taken, Command its command line; 0 or empty if the text does not say.
	PID     int    `json:"pid"`
	Time    string `json:"time,omitempty"`
	Command string `json:"command,omitempty"`
	// Threads is how many threads the text has. Truncated is set if the text was cut off: there may be more.
	Threads   int  `json:"threads"`
	Truncated bool `json:"truncated"`
	// Main is the main thread; nil if there is none. Waits leads from the lock that it waits for to the thread that
	// holds the last one; it is empty if it waits for none.
	Main  *TraceThread `json:"mainThread,omitempty"`
	Waits []TraceWait  `json:"mainWaits"`
	// Deadlocks are the circles of threads that wait for each other. Each begins with its first thread in the text.
	Deadlocks [][]TraceWait `json:"deadlocks"`
}

// TraceWait is a thread that waits for a lock, and the thread that holds it.
type TraceWait struct {
	// Thread waits for the lock, In is its innermost method that is not the platform's; empty if there is none.
	Thread string `json:"thread"`
	In     string `json:"in,omitempty"`
	// Class is the class of the lock, Lock its number in the text, which distinguishes locks of one class.
	Class string `json:"class"`
	Lock  string `json:"lock"`
	// Holder is the thread that holds the lock; empty if that is not known. HolderState and HolderIn are its state and
	// its innermost method that is not the platform's.
	Holder      string `json:"holder,omitempty"`
	HolderState string `json:"holderState,omitempty"`
	HolderIn    string `json:"holderIn,omitempty"`
}

// ReadTrace reads a text with stacks of all threads. by translates the names of a build that R8 has renamed; nil for
// none.
func ReadTrace(text string, by *r8.Mapping) []*TraceProcess {
	return processesOf(text, resolve.Residual{By: by})
}

func processesOf(text string, by resolve.Residual) []*TraceProcess {
	var all []*TraceProcess
	d := foreign.ParseDump(text)
	for k, p := range d.Processes {
		out := &TraceProcess{PID: p.PID, Time: resolve.Printable(p.Time), Command: resolve.Printable(p.Command),
			Threads: len(p.Threads), Truncated: p.Truncated || d.Omitted && k == len(d.Processes)-1, Waits: []TraceWait{},
			Deadlocks: [][]TraceWait{}}
		if main := p.Main(); main != nil {
			out.Main = &TraceThread{resolve.Printable(main.State), by.Frames(main.Frames)}
			out.Waits = lockWaits(p.Chain(main), by)
		}
		for _, circle := range p.Deadlocks() {
			out.Deadlocks = append(out.Deadlocks, lockWaits(circle, by))
		}
		all = append(all, out)
	}
	return all
}

func lockWaits(chain []foreign.Wait, by resolve.Residual) []TraceWait {
	out := []TraceWait{}
	for _, w := range chain {
		t := TraceWait{Thread: resolve.Printable(w.Thread.Name), In: inApp(w.Thread, by), Class: lockClass(w.Lock.Class, by),
			Lock: resolve.Printable(w.Lock.ID)}
		if h := w.Holder; h != nil {
			t.Holder = cmp.Or(resolve.Printable(h.Name), "a thread without a name")
			t.HolderState, t.HolderIn = resolve.Printable(h.State), inApp(h, by)
		}
		out = append(out, t)
	}
	return out
}

// lockClass translates the class of a lock, which may be a class itself: java.lang.Class<a.B>.
func lockClass(name string, by resolve.Residual) string {
	const of = "java.lang.Class<"
	if class, ok := strings.CutPrefix(name, of); ok && strings.HasSuffix(class, ">") {
		return of + by.Class(strings.TrimSuffix(class, ">")) + ">"
	}
	return by.Class(name)
}

// inApp returns the innermost method of a thread that is not the platform's; empty if there is none.
func inApp(t *foreign.Thread, by resolve.Residual) string {
	if f := foreign.FirstOfApp(by.Frames(t.Frames)); f != "" {
		return foreign.FrameMethod(f)
	}
	return ""
}

// lockText names a lock of several.
func (w *TraceWait) lockText(all []TraceWait) string {
	name := cmp.Or(w.Class, "a lock")
	if slices.ContainsFunc(all, func(o TraceWait) bool { return o.Class == w.Class && o.Lock != w.Lock }) {
		return name + "@" + w.Lock
	}
	return name
}

// DeadlockText says in a line which threads wait for each other.
func DeadlockText(circle []TraceWait) string {
	var parts []string
	for k := range circle {
		w := &circle[k]
		text := w.Thread
		if w.In != "" {
			text += " in " + w.In
		}
		parts = append(parts, fmt.Sprintf("%s waits for %s held by %s", text, w.lockText(circle), w.Holder))
	}
	return strings.Join(parts, ", ")
}

// waitsText says in a line where the locks lead that a thread waits for: a thread that runs is no deadlock.
func waitsText(chain []TraceWait) string {
	var b strings.Builder
	for k := range chain {
		w := &chain[k]
		if k == 0 {
			b.WriteString(w.Thread + " waits for ")
		} else {
			b.WriteString(", which waits for ")
		}
		b.WriteString(w.lockText(chain) + ", ")
		if w.Holder == "" {
			b.WriteString("the trace does not show its holder")
			return b.String()
		}
		b.WriteString("held by " + w.Holder)
	}
	last := &chain[len(chain)-1]
	if slices.ContainsFunc(chain, func(w TraceWait) bool { return w.Thread == last.Holder }) {
		return b.String() + ", which waits itself"
	}
	fmt.Fprintf(&b, ", which is %s", cmp.Or(last.HolderState, "in an unknown state"))
	if last.HolderIn != "" {
		b.WriteString(" in " + last.HolderIn)
	}
	return b.String()
}

// Deadlock returns the circle of threads that a thread is in; nil if it is in none.
func (p *TraceProcess) Deadlock(thread string) []TraceWait {
	for _, c := range p.Deadlocks {
		if slices.ContainsFunc(c, func(w TraceWait) bool { return w.Thread == thread }) {
			return c
		}
	}
	return nil
}

// LocksText says what the main thread waits for; empty if for no lock.
func (p *TraceProcess) LocksText() string {
	if circle := p.Deadlock("main"); circle != nil {
		return "deadlock: " + DeadlockText(circle)
	}
	if len(p.Waits) > 0 {
		return waitsText(p.Waits)
	}
	return ""
}

// traceOf returns the process of an exit in the system's trace; nil if it is not there.
func (e *Exit) traceOf(by resolve.Residual) *TraceProcess {
	all := processesOf(e.Trace, by)
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
