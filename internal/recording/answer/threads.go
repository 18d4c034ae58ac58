package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// title says in a line which process it is.
func title(p *resolve.TraceProcess) string {
	text := "a process"
	if p.PID != 0 {
		text = fmt.Sprintf("process %d", p.PID)
	}
	for _, more := range []string{p.Command, p.Time} {
		if more != "" {
			text += ", " + more
		}
	}
	text += ": " + units.Count(p.Threads, "thread")
	if p.Truncated {
		text += "; the text is cut off, so that threads and deadlocks may be missing"
	}
	return text
}

// WriteTrace writes what a file with stacks shows, for people.
func WriteTrace(w io.Writer, name string, processes []*resolve.TraceProcess) error {
	var b strings.Builder
	for _, p := range processes {
		fmt.Fprintf(&b, "%s: %s\n", name, title(p))
		for _, c := range p.Deadlocks {
			fmt.Fprintf(&b, "  %-9s%s\n", "deadlock", resolve.DeadlockText(c))
		}
		if len(p.Deadlocks) == 0 {
			fmt.Fprintf(&b, "  %-9s%s\n", "deadlock", noCircle(p))
		}
		if p.Main == nil {
			fmt.Fprintf(&b, "  %-9s%s\n\n", "main", "the text has no main thread")
			continue
		}
		locks := p.LocksText()
		if p.Deadlock() != nil {
			locks = "in a deadlock"
		}
		fmt.Fprintf(&b, "  %-9s%s\n", "main", strings.Trim(cmp.Or(p.Main.State, "state unknown")+"; "+locks, "; "))
		writeFrames(&b, p.Main.Frames)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// noCircle says whether there is a deadlock, of a process whose threads show none.
func noCircle(p *resolve.TraceProcess) string {
	switch p.Answer {
	case resolve.DeadlockYes:
		return p.Note
	case resolve.DeadlockUnknown:
		return "cannot be known from this text: " + strings.Join(p.Because, "; ")
	}
	if p.Note != "" {
		return "none among these threads; " + p.Note
	}
	return "none among these threads"
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
func WriteTraceJSON(w io.Writer, version, name string, processes []*resolve.TraceProcess) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Schema    int                     `json:"schema"`
		Version   string                  `json:"version"`
		Trace     string                  `json:"trace"`
		Processes []*resolve.TraceProcess `json:"processes"`
	}{1, version, name, processes})
}

// locks shows the deadlocks in the system's trace of the process.
func (t *Text) locks(r *analysis.Recording) {
	if r.Exit == nil || r.Exit.Locks == nil || len(r.Exit.Locks.Deadlocks) == 0 {
		return
	}
	fmt.Fprintf(t.w, "\n%s: deadlocks in the system's trace of the process, which ended by %s:\n", r.Name, r.Exit.Reason)
	for _, c := range r.Exit.Locks.Deadlocks {
		fmt.Fprintf(t.w, "  %s\n", resolve.DeadlockText(c))
	}
	if r.Exit.Locks.Truncated {
		fmt.Fprintf(t.w, "  the trace is cut off at 256 KiB, so that threads and deadlocks may be missing\n")
	}
}
