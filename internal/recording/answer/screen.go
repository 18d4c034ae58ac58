package answer

import (
	"fmt"
	"io"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

const (
	screenLines  = 60  // at most, for any recordings
	screenWidth  = 120 // columns at most
	shownHead    = 14  // lines about the recordings themselves
	shownEntries = 10  // causes of stalls and runs together
	shownRuns    = 3   // of these, runs if there are stalls too
	shownFound   = 3   // causes of incidents
	shownRanked  = 10  // methods by the time they ran; of those that waited half as many
	leastSamples = 5   // that show a method in no recorded call, so that it is ranked
)

// Screen writes for people what matters most in recordings, in at most 60 lines. Stalls with one [analysis.Row.Key]
// are one line, as in package group. Its memory grows with the number of causes and methods, not with that of stalls.
type Screen struct {
	// Idle is whether waiting for work is shown as a stall.
	Idle bool
	// Details is set if a [Text] has been written before: the screen does not repeat what that says of recordings.
	Details bool
	// Methods sums up the methods of all recordings.
	Methods Methods

	recordings []*analysis.Recording
	causes     map[string]*cause
	machine    machineFacts
	seen       map[methodKey]seenTime
	idle       cause // what is not shown
}

// seenTime is how much own time of a method in stalls is known to have been spent on what: it ran, it waited, and how
// much of that for work.
type seenTime struct{ ran, waited, idle time.Duration }

// cause is all stalls with one key and one role.
type cause struct {
	role           analysis.Role
	count          int
	total, longest time.Duration
	worst          analysis.Row
	what           string   // ran in the worst, unless that is a call
	path           []string // of the worst, the outermost method first
	awaited        string   // the work that it waited for
}

// Connect makes the screen take what is analyzed with these options.
func (s *Screen) Connect(o *analysis.Options) {
	s.causes, s.seen = map[string]*cause{}, map[methodKey]seenTime{}
	first(&o.Stall, s.stall)
	first(&o.End, func(r *analysis.Recording) { s.recordings = append(s.recordings, r) })
	s.Methods.least = leastSamples
	s.Methods.Connect(o)
}

// stall counts a stall with those of its cause.
func (s *Screen) stall(x *analysis.Stall) {
	row, role := analysis.RowOf(x), x.Role
	if role == analysis.RoleIdle && s.Idle {
		role = analysis.RoleStall
	}
	s.machine.add(x)
	s.look(x, role == analysis.RoleIdle)
	c := &s.idle
	if role != analysis.RoleIdle {
		key := string(role) + row.Key
		if c = s.causes[key]; c == nil {
			c = &cause{role: role}
			s.causes[key] = c
		}
	}
	if !c.add(row) {
		return
	}
	c.awaited, c.path, c.what = x.Awaited, nil, ""
	if x.Message.Kind != "call" && x.Message.Kind != "unknown" {
		c.what = x.Message.String()
	}
	for _, step := range x.HotPath {
		if step.Method.ID != trace.MethodDispatch && !step.Method.Pseudo() {
			c.path = append(c.path, step.Method.Title())
		}
	}
}

// look notes what is known of the own time of methods in a stall. Of a stall with steady samples it notes only the
// waits for work: the table of methods has the rest.
func (s *Screen) look(x *analysis.Stall, idle bool) {
	add := func(m resolve.Method, to seenTime) {
		key := methodKey{Method: m.Key()}
		seen := s.seen[key]
		s.seen[key] = seenTime{seen.ran + to.ran, seen.waited + to.waited, seen.idle + to.idle}
	}
	if grafted := evidence.Graft(x.Tree); grafted != x.Tree {
		if !idle {
			return
		}
		for _, sum := range evidence.Sums(grafted) {
			m := x.Names.Method(sum.Method)
			share := waitedShare(m, sum.Sampled, sum.Waiting+sum.Blocked, sum.CPU)
			add(m, seenTime{idle: time.Duration(float64(sum.Sampled) * share)})
		}
		return
	}
	for i, spent := range x.Spent() {
		seen := seenTime{ran: spent.Ran, waited: spent.Waited}
		if idle {
			seen.idle = spent.Waited
		}
		add(x.MostSelf[i].Method, seen)
	}
}

// Close writes it.
func (s *Screen) Close(w io.Writer) error {
	var lines []string
	if !s.Details {
		lines = s.head()
	}
	lines = append(lines, s.entries()...)
	lines = append(lines, s.found()...)
	var more []string
	if !s.Details {
		more = []string{"", "-v shows each stall with its stacks, --stall N one of them, --format table all methods"}
		lines = append(lines, s.kotlin(screenLines-leftForMethods-len(lines)-len(more))...)
	}
	lines = append(lines, s.ranking(screenLines-len(lines)-len(more))...)
	for _, line := range append(lines, more...) {
		if _, err := fmt.Fprintln(w, cut(line, screenWidth)); err != nil {
			return err
		}
	}
	return nil
}
