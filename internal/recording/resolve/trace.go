package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/mapping/r8"
)

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
	// Answer says whether there is a deadlock. Because says why that cannot be known from the text, in sentences.
	Answer  DeadlockAnswer `json:"deadlock"`
	Because []string       `json:"deadlockUnknown"`
	// Note is what the text would not show in any case; empty if there is nothing.
	Note string `json:"-"`

	main string // the name of the main thread
}

// Cut says that the text was not read to its end.
func (p *TraceProcess) Cut() {
	p.Truncated = true
	if p.Answer != DeadlockYes {
		p.Answer, p.Because = DeadlockUnknown, append(p.Because, doubtText(nil, foreign.Doubt{}, Residual{}))
	}
}

// TraceThread is a thread in the system's trace of a process.
type TraceThread struct {
	// State is ART's name of its state, such as Blocked or Native.
	State string `json:"state"`
	// Frames is its stack, the innermost frame first. Frames of native code are left out.
	Frames []string `json:"frames"`
}

// DeadlockAnswer says whether there is a deadlock.
type DeadlockAnswer string

// The answers. No means that no thread of the text is in one: each runs, or waits for a thread that runs.
const (
	DeadlockYes     DeadlockAnswer = "yes"
	DeadlockNo      DeadlockAnswer = "no"
	DeadlockUnknown DeadlockAnswer = "unknown"
)

// TraceWait is a thread that waits for a lock, and the thread that holds it.
type TraceWait struct {
	// Thread waits for the lock, In is its innermost method that is not the platform's; empty if there is none.
	Thread string `json:"thread"`
	In     string `json:"in,omitempty"`
	// Class is the class of the lock, Lock its number in the text, which distinguishes locks of one class.
	Class string `json:"class"`
	Lock  string `json:"lock"`
	// Init is set if the lock is the initialization of the class.
	Init bool `json:"initialization,omitempty"`
	// Holder is the thread that holds the lock; empty if that is not known. HolderState and HolderIn are its state and
	// its innermost method that is not the platform's.
	Holder      string `json:"holder,omitempty"`
	HolderState string `json:"holderState,omitempty"`
	HolderIn    string `json:"holderIn,omitempty"`
}

// ReadTrace reads a text with stacks of all threads. by translates the names of a build that R8 has renamed; nil for
// none.
func ReadTrace(text string, by *r8.Mapping) []*TraceProcess {
	return Residual{By: by}.Processes(text)
}

// Processes is [ReadTrace] with these names.
func (r Residual) Processes(text string) []*TraceProcess {
	var all []*TraceProcess
	d := foreign.ParseDump(text)
	for k, p := range d.Processes {
		out := &TraceProcess{PID: p.PID, Time: Printable(p.Time), Command: Printable(p.Command),
			Threads: len(p.Threads), Truncated: p.Truncated || d.Omitted && k == len(d.Processes)-1, Waits: []TraceWait{},
			Deadlocks: [][]TraceWait{}}
		if main := p.Main(); main != nil {
			out.main = Printable(main.Name)
			out.Main = &TraceThread{Printable(main.State), r.Frames(main.Frames)}
			out.Waits = lockWaits(p.Chain(main), r)
		}
		for _, circle := range p.Deadlocks() {
			out.Deadlocks = append(out.Deadlocks, lockWaits(circle, r))
		}
		out.answer(p, r)
		all = append(all, out)
	}
	return all
}

// answer decides whether there is a deadlock.
func (p *TraceProcess) answer(of *foreign.Process, by Residual) {
	p.Answer, p.Because = DeadlockNo, []string{}
	if of.HidesVirtual() {
		p.Note = "such a text leaves out virtual threads that wait"
	}
	doubts := of.Doubts()
	if p.Truncated && !of.Truncated {
		doubts = slices.Insert(doubts, 0, foreign.Doubt{Kind: foreign.DoubtCut})
	}
	switch {
	case len(p.Deadlocks) > 0:
		p.Answer = DeadlockYes
		return
	case of.Stated:
		p.Answer, p.Note = DeadlockYes, "it says so itself, and does not show the circle of locks"
		return
	}
	for _, d := range doubts {
		p.Answer = DeadlockUnknown
		p.Because = append(p.Because, doubtText(of, d, by))
	}
}

// doubtText says why it cannot be known whether there is a deadlock.
func doubtText(p *foreign.Process, d foreign.Doubt, by Residual) string {
	waits := []TraceWait{{}}
	if len(d.Waits) > 0 {
		waits = lockWaits(d.Waits[:1], by)
	}
	who, what := waits[0].place(), waits[0].lockText(waits)
	if n := len(d.Waits) - 1; n > 0 {
		who += fmt.Sprintf(" (and %s more)", units.Count(n, "thread"))
	}
	switch d.Kind {
	case foreign.DoubtCut:
		return "it is cut off"
	case foreign.DoubtUnread:
		return fmt.Sprintf("tracegen did not understand %s of it, such as “%s”", units.Count(p.Unread, "line"),
			Printable(p.UnreadLine))
	case foreign.DoubtStates:
		return fmt.Sprintf("it does not say whether %s waits for a lock", who)
	case foreign.DoubtLock:
		return fmt.Sprintf("it does not name the lock that %s waits for", who)
	case foreign.DoubtHolder:
		return fmt.Sprintf("it does not show which thread holds %s, for which %s waits", what, who)
	case foreign.DoubtInit:
		return fmt.Sprintf("it does not say whether %s waits for the initialization of a class", who)
	case foreign.DoubtWaiting:
		return fmt.Sprintf("%s waits for %s held by %s, which waits for something other than a lock", who, what,
			waits[0].Holder)
	}
	return "virtual threads that wait are not in it; jcmd's Thread.dump_to_file writes them"
}

func lockWaits(chain []foreign.Wait, by Residual) []TraceWait {
	out := []TraceWait{}
	for _, w := range chain {
		t := TraceWait{Thread: Printable(w.Thread.Name), In: inApp(w.Thread, by), Class: lockClass(w.Lock.Class, by),
			Lock: Printable(w.Lock.ID), Init: w.Lock.Init}
		if h := w.Holder; h != nil {
			t.Holder = cmp.Or(Printable(h.Name), "a thread without a name")
			t.HolderState, t.HolderIn = Printable(h.State), inApp(h, by)
		}
		out = append(out, t)
	}
	return out
}

// lockClass translates the class of a lock, which may be a class itself: java.lang.Class<a.B>.
func lockClass(name string, by Residual) string {
	const of = "java.lang.Class<"
	if class, ok := strings.CutPrefix(name, of); ok && strings.HasSuffix(class, ">") {
		return of + by.Class(strings.TrimSuffix(class, ">")) + ">"
	}
	return by.Class(name)
}

// inApp returns the innermost method of a thread that is not the platform's; empty if there is none.
func inApp(t *foreign.Thread, by Residual) string {
	if f := foreign.FirstOfApp(by.Frames(t.Frames)); f != "" {
		return foreign.FrameMethod(f)
	}
	return ""
}

// lockText names a lock of several.
func (w *TraceWait) lockText(all []TraceWait) string {
	name := cmp.Or(w.Class, "a lock")
	if w.Init {
		return "the initialization of " + w.Class
	}
	if slices.ContainsFunc(all, func(o TraceWait) bool { return o.Class == w.Class && o.Lock != w.Lock }) {
		return name + "@" + w.Lock
	}
	return name
}

// place names a thread, and the method that it is in.
func (w *TraceWait) place() string {
	if w.In == "" {
		return w.Thread
	}
	return w.Thread + " in " + w.In
}

// DeadlockText says in a line which threads wait for each other.
func DeadlockText(circle []TraceWait) string {
	var parts []string
	for k := range circle {
		w := &circle[k]
		parts = append(parts, fmt.Sprintf("%s waits for %s held by %s", w.place(), w.lockText(circle), w.Holder))
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

// Deadlock returns the circle of threads that the main thread is in; nil if it is in none.
func (p *TraceProcess) Deadlock() []TraceWait {
	for _, c := range p.Deadlocks {
		if slices.ContainsFunc(c, func(w TraceWait) bool { return w.Thread == p.main }) {
			return c
		}
	}
	return nil
}

// LocksText says what the main thread waits for; empty if for no lock.
func (p *TraceProcess) LocksText() string {
	if circle := p.Deadlock(); circle != nil {
		return "deadlock: " + DeadlockText(circle)
	}
	if len(p.Waits) > 0 {
		return waitsText(p.Waits)
	}
	return ""
}
