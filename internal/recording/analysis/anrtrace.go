package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
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
func ReadTrace(text string, by *r8.Mapping) []*TraceProcess { return residual{by}.trace(text) }

func (r residual) trace(text string) []*TraceProcess {
	var all []*TraceProcess
	d := foreign.ParseDump(text)
	for k, p := range d.Processes {
		out := &TraceProcess{PID: p.PID, Time: printable(p.Time), Command: printable(p.Command), Threads: len(p.Threads),
			Truncated: p.Truncated || d.Omitted && k == len(d.Processes)-1, Waits: []TraceWait{},
			Deadlocks: [][]TraceWait{}}
		if main := p.Main(); main != nil {
			out.Main = &TraceThread{printable(main.State), r.frames(main.Frames)}
			out.Waits = r.waits(p.Chain(main))
		}
		for _, circle := range p.Deadlocks() {
			out.Deadlocks = append(out.Deadlocks, r.waits(circle))
		}
		all = append(all, out)
	}
	return all
}

func (r residual) waits(chain []foreign.Wait) []TraceWait {
	out := []TraceWait{}
	for _, w := range chain {
		t := TraceWait{Thread: printable(w.Thread.Name), In: r.inApp(w.Thread), Class: r.lockClass(w.Lock.Class),
			Lock: printable(w.Lock.ID)}
		if h := w.Holder; h != nil {
			t.Holder, t.HolderState, t.HolderIn = cmp.Or(printable(h.Name), "a thread without a name"), printable(h.State),
				r.inApp(h)
		}
		out = append(out, t)
	}
	return out
}

// lockClass translates the class of a lock, which may be a class itself: java.lang.Class<a.B>.
func (r residual) lockClass(name string) string {
	const of = "java.lang.Class<"
	if class, ok := strings.CutPrefix(name, of); ok && strings.HasSuffix(class, ">") {
		return of + r.class(strings.TrimSuffix(class, ">")) + ">"
	}
	return r.class(name)
}

// inApp returns the innermost method of a thread that is not the platform's; empty if there is none.
func (r residual) inApp(t *foreign.Thread) string {
	if f := firstOfApp(r.frames(t.Frames)); f != "" {
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

// deadlockText says in a line which threads wait for each other.
func deadlockText(circle []TraceWait) string {
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

// inCircle reports whether a thread is in a deadlock.
func (p *TraceProcess) inCircle(thread string) []TraceWait {
	for _, c := range p.Deadlocks {
		if slices.ContainsFunc(c, func(w TraceWait) bool { return w.Thread == thread }) {
			return c
		}
	}
	return nil
}

// locksText says what the main thread waits for; empty if for no lock.
func (p *TraceProcess) locksText() string {
	if circle := p.inCircle("main"); circle != nil {
		return "deadlock: " + deadlockText(circle)
	}
	if len(p.Waits) > 0 {
		return waitsText(p.Waits)
	}
	return ""
}

// title says in a line which process it is.
func (p *TraceProcess) title() string {
	text := "a process"
	if p.PID != 0 {
		text = fmt.Sprintf("process %d", p.PID)
	}
	for _, more := range []string{p.Command, p.Time} {
		if more != "" {
			text += ", " + more
		}
	}
	text += ": " + count(p.Threads, "thread")
	if p.Truncated {
		text += "; the trace is cut off, so that threads and deadlocks may be missing"
	}
	return text
}

// WriteTrace writes what a file with stacks shows, for people.
func WriteTrace(w io.Writer, name string, processes []*TraceProcess) error {
	var b strings.Builder
	for _, p := range processes {
		fmt.Fprintf(&b, "%s: %s\n", name, p.title())
		for _, c := range p.Deadlocks {
			fmt.Fprintf(&b, "  %-9s%s\n", "deadlock", deadlockText(c))
		}
		if len(p.Deadlocks) == 0 {
			fmt.Fprintf(&b, "  %-9s%s\n", "deadlock", "none among these threads")
		}
		if p.Main == nil {
			fmt.Fprintf(&b, "  %-9s%s\n\n", "main", "the trace has no main thread")
			continue
		}
		locks := p.locksText()
		if p.inCircle("main") != nil {
			locks = "in a deadlock"
		}
		fmt.Fprintf(&b, "  %-9s%s\n", "main", strings.Trim(p.Main.State+"; "+locks, "; "))
		writeFrames(&b, p.Main.Frames)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFrames(w io.Writer, frames []string) {
	for k, f := range frames {
		if k == shownFrames {
			fmt.Fprintf(w, "             ... %d more\n", len(frames)-k)
			return
		}
		fmt.Fprintf(w, "             at %s\n", f)
	}
}

// WriteTraceJSON writes what a file with stacks shows, for programs. version is the program's.
func WriteTraceJSON(w io.Writer, version, name string, processes []*TraceProcess) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Schema    int             `json:"schema"`
		Version   string          `json:"version"`
		Trace     string          `json:"trace"`
		Processes []*TraceProcess `json:"processes"`
	}{1, version, name, list(processes)})
}

// traceOf returns the process of an exit in the system's trace; nil if it is not there.
func (e *Exit) traceOf(by residual) *TraceProcess {
	all := by.trace(e.Trace)
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

// locks shows the deadlocks in the system's trace of the process.
func (t *Text) locks(r *Recording) {
	if r.Exit == nil || r.Exit.Locks == nil || len(r.Exit.Locks.Deadlocks) == 0 {
		return
	}
	fmt.Fprintf(t.w, "\n%s: deadlocks in the system's trace of the process, which ended by %s:\n", r.Name, r.Exit.Reason)
	for _, c := range r.Exit.Locks.Deadlocks {
		fmt.Fprintf(t.w, "  %s\n", deadlockText(c))
	}
	if r.Exit.Locks.Truncated {
		fmt.Fprintf(t.w, "  the trace is cut off at 256 KiB, so that threads and deadlocks may be missing\n")
	}
}
