package analysis

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Text writes answers for people, recording by recording: it begins with what is missing from a recording, which is
// known only when that has been read, and holds the text of its stalls until then.
type Text struct {
	out io.Writer
	// held has what was written to w and not to out yet.
	held bytes.Buffer
	w    *bufio.Writer
	// stalls and recordings are how many there were.
	stalls, recordings int
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
	shownStacks  = 3  // of those that saw different stacks, the first
)

// Begin says what a recording is.
func (t *Text) Begin(r *Recording) error {
	t.recordings++
	if banner := r.Banner(); banner != "" {
		fmt.Fprintf(t.w, "!!! %s\n", banner)
	}
	fmt.Fprintf(t.w, "%s:%s\n", r.Name, r.program())
	if r.view != nil && r.view.String() != "" {
		fmt.Fprintf(t.w, "shown: %s\n", resolve.Printable(r.view.String()))
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

// Banner warns that names are not to be trusted; "" if they are.
func (r *Recording) Banner() string {
	if r.Forced {
		return fmt.Sprintf("%s: NAMES MAY BE WRONG: the recording belongs to mapping %s, the names are from another "+
			"mapping", r.Name, r.Digest)
	}
	return ""
}

// program says whose recording it is.
func (r *Recording) program() string {
	var parts []string
	for _, key := range []string{"package", "process", "sun.java.command"} {
		if v := r.Meta[key]; v != "" && (key != "process" || v != r.Meta["package"]) {
			parts = append(parts, v)
		}
	}
	if v := r.Version(); v != "" {
		parts = append(parts, "version "+v)
	}
	switch {
	case r.Resolved:
		parts = append(parts, "mapping "+r.Digest)
	case !resolve.Stamped(r.Digest):
		parts = append(parts, "the recording does not name its mapping")
	default:
		parts = append(parts, "mapping "+r.Digest+" (not given)")
	}
	if r.HasCalls() {
		parts = append(parts, "times of methods ± "+millis(r.Precision))
	}
	if r.Parts > 1 {
		parts = append(parts, count(r.Parts, "part"))
	}
	return " " + strings.Join(parts, ", ")
}

// Stall writes a stall.
func (t *Text) Stall(s *Stall) error {
	t.stalls++
	w := t.w
	fmt.Fprintf(w, "\n%s\n", s.Title())
	field := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-9s%s\n", name, fmt.Sprintf(format, args...))
	}
	field("what", "%s%s", s.Message, s.where())
	if text := s.kindText(); text != "" {
		field("", "%s", text)
	}
	if s.PostedBy != nil {
		field("posted", "by %s", s.PostedBy)
	}
	if s.CallersUnknown {
		field("", "records before it are lost: it may be a part of a longer call")
	}
	field("why", "%s", s.Verdict.Text)
	field("time", "%s", s.times())
	t.machine(s)
	t.path(s)
	t.mostSelf(s)
	t.samples(s)
	t.exit(s)
	t.before(s)
	t.pending(s)
	if s.Repairs != (trace.Repairs{}) {
		field("repaired", "%s", repairsText(s.Repairs))
	}
	return w.Flush()
}

// Title says in a line which message it is.
func (s *Stall) Title() string {
	return fmt.Sprintf("%s #%d: %s on %s%s", s.Recording.Name, s.Number, millis(s.Wall), s.threadName(), s.when())
}

func (s *Stall) threadName() string {
	if s.Thread.Name == "" {
		return s.Thread.Label
	}
	return "thread " + s.Thread.Label
}

func (s *Stall) when() string {
	text := fmt.Sprintf(", %.3f s in", s.Begin.Seconds())
	if !s.Time.IsZero() {
		text += s.Time.Format(", 2006-01-02 15:04:05.000 UTC")
	}
	switch {
	case !s.Ended:
		text += ", still open when the recording ended"
	case !s.Reported:
		text += ", not reported by the device"
	}
	return text
}

func (s *Stall) where() string {
	switch {
	case s.Scene != "" && s.Foreground:
		return "; scene " + s.Scene + ", in the foreground"
	case s.Scene != "":
		return "; scene " + s.Scene + ", in the background"
	}
	return ""
}

func (s *Stall) times() string {
	parts := []string{"wall " + millis(s.Wall)}
	if s.Suspended > 0 {
		parts = append(parts, "not running "+millis(s.Suspended))
	}
	if s.CPU >= 0 {
		parts = append(parts, fmt.Sprintf("CPU %s (%s)", millis(s.CPU), percent(s.CPU, s.Ran)))
	} else {
		parts = append(parts, "CPU not recorded")
	}
	if s.GC >= 0 {
		parts = append(parts, fmt.Sprintf("garbage collection %s (%d)", millis(s.GC), s.GCCount))
	} else {
		parts = append(parts, "garbage collection not recorded")
	}
	return strings.Join(parts, ", ")
}

// path is a table of the hot path.
func (t *Text) path(s *Stall) {
	if len(s.HotPath) == 0 {
		fmt.Fprintf(t.w, "  %-9s%s\n", "path", "no calls were recorded")
		return
	}
	t.steps("path", s.HotPath, s, true)
}

func (t *Text) mostSelf(s *Stall) {
	if len(s.MostSelf) > 0 {
		t.steps("own time", s.MostSelf, s, false)
	}
}

// steps is a table of calls, nested if they call each other.
func (t *Text) steps(name string, steps []Step, s *Stall, nested bool) {
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
		fmt.Fprintf(t.w, "  %-9s%12s %12s %8d  %s%s%s\n", "", millis(time.Duration(step.Total)),
			millis(time.Duration(step.Self)),
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
func (t *Text) samples(s *Stall) {
	if len(s.Samples) == 0 {
		fmt.Fprintf(t.w, "  %-9sno stack sample was taken\n", "samples")
	}
	var at, elsewhere []StackSample
	for _, l := range s.Samples {
		if s.Verdict.Method == nil || mentions(l.Frames, *s.Verdict.Method) {
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
func (t *Text) stacks(name string, samples []StackSample) {
	shown := 0
	for i := 0; i < len(samples); {
		n := 1
		for i+n < len(samples) && slices.Equal(samples[i].Frames, samples[i+n].Frames) &&
			samples[i].State == samples[i+n].State {
			n++
		}
		l, more := &samples[i], ""
		if n > 1 {
			more = fmt.Sprintf(", and in %s until %s", count(n-1, "more sample"), millis(samples[i+n-1].After))
		}
		if shown++; shown > shownStacks {
			fmt.Fprintf(t.w, "  %-9s%s more\n", "", count(len(samples)-i, "sample"))
			return
		}
		fmt.Fprintf(t.w, "  %-9safter %s%s: %s, %s\n", name, millis(l.After), more, l.State, l.Activity)
		for k, f := range l.Frames {
			if k == shownFrames {
				fmt.Fprintf(t.w, "             ... %d more\n", len(l.Frames)-k)
				break
			}
			fmt.Fprintf(t.w, "             at %s\n", f)
		}
		i += n
	}
}

// before shows what ran before.
func (t *Text) before(s *Stall) {
	switch {
	case !s.BeforeKnown:
		fmt.Fprintf(t.w, "  %-9snot available\n", "before")
		return
	case len(s.Before) == 0:
		fmt.Fprintf(t.w, "  %-9snothing: this was the thread's first message\n", "before")
		return
	}
	list := s.Before[max(0, len(s.Before)-shownPast):]
	fmt.Fprintf(t.w, "  %-9sthe last %d of %d:\n", "before", len(list), len(s.Before))
	for _, p := range list {
		fmt.Fprintf(t.w, "             %s ago for %s\n", millis(p.Ago), p)
	}
}

// String says what ran, and for how long.
func (p Past) String() string {
	text := millis(p.Wall) + ": "
	switch p.Kind {
	case "idle":
		return text + "idle"
	case "merged":
		if p.Count > 1 {
			return text + fmt.Sprintf("%d short messages, the longest: %s", p.Count, p.Message)
		}
	}
	text += p.Message.String()
	if p.CPU >= 0 {
		text += fmt.Sprintf(", CPU %s", millis(p.CPU))
	}
	return text
}

// pending shows what waited.
func (t *Text) pending(s *Stall) {
	switch {
	case !s.PendingKnown:
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

// String says what waited, and since when.
func (p Waiting) String() string {
	text := "overdue by " + millis(p.Late)
	if p.Late < 0 {
		text = "due in " + millis(-p.Late)
	}
	if p.Barrier {
		return text + fmt.Sprintf(": a barrier (token %d), which blocks messages that are not asynchronous", p.Arg1)
	}
	what := p.What
	m := resolve.Message{Kind: "message", Handler: p.Handler, Callback: p.Callback, What: &what}
	text += ": " + m.String()
	if p.Asynchronous {
		text += ", asynchronous"
	}
	return text
}

// End sums a recording up.
func (t *Text) End(r *Recording) error {
	t.incidents(r)
	t.locks(r)
	fmt.Fprintf(t.w, "\n%s: %s\n\n", r.Name, r.Summary())
	for _, line := range r.Completeness.Lines() {
		if _, err := fmt.Fprintf(t.out, "!!! %s\n", line); err != nil {
			return err
		}
	}
	return t.flush()
}

// Summary says in a line what there was, and what was wrong.
func (r *Recording) Summary() string {
	parts := []string{fmt.Sprintf("%s in %.1f s", count(r.Stalls, "stall"), r.Span.Seconds())}
	if threshold := r.Meta["slowMillis"]; threshold != "" {
		parts[0] += ", of " + threshold + " ms and more"
	}
	if r.HasCalls() {
		parts = append(parts, fmt.Sprintf("%d records of %s", r.Records, count(r.Threads, "thread")))
	}
	if n := len(r.Incidents) + r.OmittedIncidents; n > 0 {
		parts = append(parts, count(n, "incident"))
	}
	if r.Unresolved > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s unresolved", r.Unresolved, count(r.Methods, "method")))
	}
	for _, m := range r.Missing {
		parts = append(parts, r.missingText(m))
	}
	if r.Overwritten > 0 {
		parts = append(parts, fmt.Sprintf("%d records were overwritten on the device", r.Overwritten))
	}
	if c := r.Completeness; c != nil && c.Suspended > 0 {
		parts = append(parts, "the process did not run for "+tenths(c.SuspendedTime, c.SuspendedTime))
	}
	if r.Exit != nil {
		parts = append(parts, r.Exit.String())
	}
	if text := repairsText(r.Repairs); text != "" {
		parts = append(parts, "repaired: "+text)
	}
	if text := damageText(r.Damage); text != "" {
		parts = append(parts, "damage: "+text)
	}
	return strings.Join(parts, "; ")
}

// Warnings says what the answers are not to be trusted for.
func (r *Recording) Warnings() []string {
	var list []string
	for _, line := range r.Completeness.Lines() {
		list = append(list, r.Name+": "+line)
	}
	if banner := r.Banner(); banner != "" {
		list = append(list, banner)
	} else if !resolve.Stamped(r.Digest) {
		list = append(list, r.Name+": the recording does not name its mapping, so the names may be wrong; "+
			"add the runtime to the inputs of tracegen instrument, which writes the mapping's digest into it")
	}
	if r.Unresolved > 0 && (r.Resolved || r.Forced) {
		list = append(list, fmt.Sprintf("%s: %d of %s unresolved: the mapping does not have their IDs", r.Name,
			r.Unresolved, count(r.Methods, "method")))
	}
	for _, text := range r.unmatched {
		list = append(list, r.Name+": "+text)
	}
	for _, m := range r.Missing {
		list = append(list, r.Name+": "+r.missingText(m))
	}
	if text := damageText(r.Damage); text != "" {
		list = append(list, r.Name+": damaged: "+text)
	}
	return list
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// repairsText lists what was repaired; "" if nothing.
func repairsText(r trace.Repairs) string { return countsText(repairCounts(r)) }

// damageText says what is wrong with a file; "" if nothing. That it was not closed is none.
func damageText(d trace.Damage) string {
	text := countsText(damageCounts(d))
	if d.Header {
		text += ", the header is damaged"
	}
	return strings.TrimPrefix(text, ", ")
}
