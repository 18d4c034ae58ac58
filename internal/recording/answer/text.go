package answer

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Text writes answers for people, recording by recording: it begins with what is missing from a recording, which is
// known only when that has been read, and holds the text of its stalls until then.
type Text struct {
	out io.Writer
	// held has what was written to w and not to out yet.
	held bytes.Buffer
	w    *bufio.Writer
}

// NewText writes to w.
func NewText(w io.Writer) *Text {
	t := &Text{out: w}
	t.w = bufio.NewWriter(&t.held)
	return t
}

const (
	shownPast    = 5  // of what ran before, the last
	shownWaiting = 10 // of what waited, the first
	shownFrames  = 12 // of a stack, the innermost
	shownStacks  = 3  // of those that saw different stacks, and of those of an incident, the first
)

// Begin says what a recording is.
func (t *Text) Begin(r *analysis.Recording) error {
	if banner := r.Banner(); banner != "" {
		fmt.Fprintf(t.w, "!!! %s\n", banner)
	}
	fmt.Fprintf(t.w, "%s: %s\n", r.Name, strings.Join(slices.Concat(whose(r), howExact(r)), ", "))
	if shown := r.Shown(); shown != "" {
		fmt.Fprintf(t.w, "shown: %s\n", shown)
	}
	return t.flush()
}

// flush writes what is held.
func (t *Text) flush() error {
	if err := t.w.Flush(); err != nil {
		return err
	}
	_, err := t.held.WriteTo(t.out)
	return err
}

// whose says whose recording it is.
func whose(r *analysis.Recording) []string {
	var parts []string
	for _, key := range []string{"package", "process", "sun.java.command"} {
		if v := r.Meta[key]; v != "" && (key != "process" || v != r.Meta["package"]) {
			parts = append(parts, v)
		}
	}
	if v := r.Version(); v != "" {
		parts = append(parts, "version "+v)
	}
	return parts
}

// howExact says how exact the times of a recording are, and where its names come from.
func howExact(r *analysis.Recording) []string {
	var parts []string
	if r.HasCalls() {
		parts = append(parts, "times of methods ± "+units.Millis(r.Precision))
	}
	switch {
	case r.Resolved:
		parts = append(parts, "mapping "+r.Digest)
	case !r.HasIDs():
	case !resolve.Stamped(r.Digest):
		parts = append(parts, "the recording does not name its mapping")
	default:
		parts = append(parts, "mapping "+r.Digest+" (not given)")
	}
	if r.Parts > 1 {
		parts = append(parts, units.Count(r.Parts, "part"))
	}
	return parts
}

// Stall writes a stall.
func (t *Text) Stall(s *analysis.Stall) error {
	w := t.w
	fmt.Fprintf(w, "\n%s\n", s.Title())
	field := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-9s%s\n", name, fmt.Sprintf(format, args...))
	}
	field("what", "%s%s", s.Message, place(s))
	if text := kindText(s); text != "" {
		field("", "%s", text)
	}
	if s.PostedBy != nil {
		field("posted", "by %s", s.PostedBy)
	}
	if s.CallersUnknown {
		field("", "records before it are lost: it may be a part of a longer call")
	}
	field("why", "%s", s.Verdict.Text)
	field("time", "%s", timesOf(s))
	t.machine(s)
	t.path(s)
	t.mostSelf(s)
	t.samples(s)
	t.exit(s)
	t.before(s)
	t.pending(s)
	if s.Repairs != (trace.Repairs{}) {
		field("repaired", "%s", s.Repaired())
	}
	return w.Flush()
}

func timesOf(s *analysis.Stall) string {
	parts := []string{"wall " + s.Duration("")}
	if s.Suspended > 0 {
		parts = append(parts, "not running "+units.Millis(s.Suspended))
	}
	if s.CPU >= 0 && s.WallUnknown {
		parts = append(parts, "CPU "+units.Millis(s.CPU))
	} else if s.CPU >= 0 {
		parts = append(parts, fmt.Sprintf("CPU %s (%s)", units.Millis(s.CPU), units.Percent(s.CPU, s.Ran)))
	} else {
		parts = append(parts, "CPU not recorded")
	}
	if s.GC >= 0 {
		parts = append(parts, fmt.Sprintf("garbage collection %s (%d)", units.Millis(s.GC), s.GCCount))
	} else {
		parts = append(parts, "garbage collection not recorded")
	}
	return strings.Join(parts, ", ")
}

// place says where the app was, to be put behind something else; it is empty if that is not known.
func place(s *analysis.Stall) string {
	if at := s.Place(); at != "" {
		return "; " + at
	}
	return ""
}

// path is a table of the hot path.
func (t *Text) path(s *analysis.Stall) {
	if len(s.HotPath) == 0 {
		fmt.Fprintf(t.w, "  %-9s%s\n", "path", "no calls were recorded")
		return
	}
	t.steps("path", s.HotPath, s, true)
}

func (t *Text) mostSelf(s *analysis.Stall) {
	if len(s.MostSelf) > 0 {
		t.steps("own time", s.MostSelf, s, false)
	}
}

// steps is a table of calls, nested if they call each other.
func (t *Text) steps(name string, steps []analysis.Step, s *analysis.Stall, nested bool) {
	fmt.Fprintf(t.w, "  %-9s%12s %12s %8s  %s\n", name, "total", "self", "calls", s.Exactness())
	for i, step := range steps {
		indent := 0
		if nested {
			indent = min(i, 40)
		}
		marked := ""
		if step.Marked > 0 {
			marked = fmt.Sprintf("  [%d repaired]", step.Marked)
		}
		if step.Estimated > 0 {
			marked += fmt.Sprintf("  [estimated %s, %s]", units.Millis(time.Duration(step.Estimated)),
				units.Count(step.Samples, "sample"))
		}
		fmt.Fprintf(t.w, "  %-9s%12s %12s %8d  %s%s%s\n", "", units.Millis(time.Duration(step.Total)),
			units.Millis(time.Duration(step.Self)),
			step.Calls, strings.Repeat(" ", indent), step.Method, marked)
	}
}

// moreSamples says how many samples do not show the method that is to blame.
func moreSamples(n int) string {
	if n == 1 {
		return "1 more sample was in another method"
	}
	return fmt.Sprintf("%d more samples were in other methods", n)
}

// samples shows the stack samples of the thread, and of the thread that held its lock.
func (t *Text) samples(s *analysis.Stall) {
	if len(s.Samples) == 0 {
		fmt.Fprintf(t.w, "  %-9sno stack sample was taken\n", "samples")
	}
	var at, elsewhere []analysis.StackSample
	for _, l := range s.Samples {
		if s.Verdict.Method == nil || s.Verdict.Method.In(l.Frames) {
			at = append(at, l)
		} else {
			elsewhere = append(elsewhere, l)
		}
	}
	if len(at) == 0 {
		at, elsewhere = elsewhere, nil
	}
	t.stacks("samples", at)
	if len(elsewhere) > 0 {
		fmt.Fprintf(t.w, "  %-9s%s\n", "", moreSamples(len(elsewhere)))
	}
	t.stacks("holder", s.Holder)
}

// stacks shows stack samples, at most shownStacks of them; samples in a row with the same stack are shown as one.
func (t *Text) stacks(name string, samples []analysis.StackSample) {
	shown := 0
	for i := 0; i < len(samples); {
		n := 1
		for i+n < len(samples) && slices.Equal(samples[i].Frames, samples[i+n].Frames) &&
			samples[i].State == samples[i+n].State {
			n++
		}
		l, more := &samples[i], ""
		if n > 1 {
			more = fmt.Sprintf(", and in %s until %s", units.Count(n-1, "more sample"), units.Millis(samples[i+n-1].After))
		}
		if shown++; shown > shownStacks {
			fmt.Fprintf(t.w, "  %-9s%s more\n", "", units.Count(len(samples)-i, "sample"))
			return
		}
		fmt.Fprintf(t.w, "  %-9safter %s%s: %s, %s\n", name, units.Millis(l.After), more, l.State, l.Activity)
		writeFrames(t.w, l.Frames)
		i += n
	}
}

// before shows what ran before.
func (t *Text) before(s *analysis.Stall) {
	switch {
	case s.Before == nil:
		fmt.Fprintf(t.w, "  %-9snot available\n", "before")
		return
	case len(s.Before) == 0:
		fmt.Fprintf(t.w, "  %-9snothing: this was the thread's first message\n", "before")
		return
	}
	list := s.Before[max(0, len(s.Before)-shownPast):]
	fmt.Fprintf(t.w, "  %-9sthe last %d of %d:\n", "before", len(list), len(s.Before))
	for _, p := range list {
		fmt.Fprintf(t.w, "             %s ago for %s\n", units.Millis(p.Ago), p)
	}
}

// pending shows what waited.
func (t *Text) pending(s *analysis.Stall) {
	switch {
	case s.Pending == nil:
		fmt.Fprintf(t.w, "  %-9snot available\n", "waiting")
		return
	case len(s.Pending) == 0:
		fmt.Fprintf(t.w, "  %-9snothing: the queue was empty\n", "waiting")
		return
	}
	fmt.Fprintf(t.w, "  %-9s%d messages:\n", "waiting", len(s.Pending))
	for i, p := range s.Pending {
		if i == shownWaiting {
			fmt.Fprintf(t.w, "             ... %d more\n", len(s.Pending)-i)
			break
		}
		fmt.Fprintf(t.w, "             %s\n", p)
	}
}

// End sums a recording up.
func (t *Text) End(r *analysis.Recording) error {
	t.incidents(r)
	t.locks(r)
	for _, block := range [][]string{coroutinesOf(r).lines("", math.MaxInt), compositionsOf(r).lines("", math.MaxInt)} {
		for _, line := range afterBlank(block) {
			fmt.Fprintln(t.w, line)
		}
	}
	fmt.Fprintf(t.w, "\n%s: %s\n\n", r.Name, r.Summary())
	for _, line := range r.Completeness.Lines() {
		if _, err := fmt.Fprintf(t.out, "!!! %s\n", line); err != nil {
			return err
		}
	}
	return t.flush()
}

// exit shows the main thread in the system's trace.
func (t *Text) exit(s *analysis.Stall) {
	if s.Exit == nil || s.Exit.Main == nil {
		return
	}
	main := s.Exit.Main
	fmt.Fprintf(t.w, "  %-9sthe system's trace of the main thread: %s\n", s.Exit.Reason, main.State)
	// A report of one stall has room for all frames.
	whole := s.Recording.OneStall()
	for k, f := range main.Frames {
		if k == shownFrames && !whole {
			fmt.Fprintf(t.w, "             ... %d more; --stall %d shows all\n", len(main.Frames)-k, s.Number)
			break
		}
		fmt.Fprintf(t.w, "             at %s\n", f)
	}
}

// machine shows the states of the machine.
func (t *Text) machine(s *analysis.Stall) {
	for k := range s.Machine {
		m := &s.Machine[k]
		fmt.Fprintf(t.w, "  %-9safter %s: %s\n", "machine", units.Millis(m.After), m)
	}
}

// kindText names a stall that is no message, and its threshold; empty for a message or an outermost call.
func kindText(s *analysis.Stall) string {
	text := ""
	switch s.Kind {
	case analysis.StallIdleHandler:
		text = "a run of an IdleHandler"
	case analysis.StallInput:
		text = "an input event"
	default:
		return ""
	}
	if s.Threshold > 0 {
		text += ", which is a stall from " + units.Millis(s.Threshold) + " on"
	}
	return text
}
