package export

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// pageStall is a stall as the list of a page shows it.
type pageStall struct {
	Number  int    `json:"number"`
	Thread  uint32 `json:"thread"`
	Begin   int64  `json:"begin"`
	Wall    int64  `json:"wall"`
	What    string `json:"what"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"` // the verdict's kind, for people
	// Cause is equal for stalls that are one in the list. Method is what is to blame, Class its class; both are empty if
	// that is not known.
	Cause  string `json:"cause"`
	Method string `json:"method,omitempty"`
	Class  string `json:"class,omitempty"`
	Ended  bool   `json:"ended"`
	// Role is "stall", "run" or "idle"; see [analysis.Role].
	Role analysis.Role `json:"role"`
	// Unknown is set if Wall is 0 because it is not known.
	Unknown bool `json:"wallUnknown,omitempty"`

	evidence *pageEvidence
}

// pageEvidence is what else a page shows of a stall: what JSON has of it, some of it in the words of the report. A list
// that is null is not known.
type pageEvidence struct {
	*analysis.Stall
	Where     string   `json:"where,omitempty"`
	Time      string   `json:"time,omitempty"`
	PostedBy  string   `json:"postedBy,omitempty"`
	Before    []string `json:"before"`
	Pending   []string `json:"pending"`
	Repaired  string   `json:"repaired,omitempty"`
	Exactness string   `json:"exactness"`
}

func newPageStall(e *event) *pageStall {
	s := e.stall
	p := &pageStall{Number: s.Number, Thread: s.Thread.Index, Begin: e.begin, Wall: e.end - e.begin, Ended: s.Ended,
		What: clean(s.Message.String()), Verdict: clean(s.Verdict.Text), Reason: reason(s.Verdict.Kind),
		Role: s.Role, Unknown: s.WallUnknown, evidence: newPageEvidence(s)}
	row := analysis.RowOf(s)
	p.Cause = row.Key + " " + p.Reason
	if len(row.HotPath) == 0 {
		p.Cause += " " + p.What // without calls all have one key
	}
	if m := s.Verdict.Method; m != nil {
		p.Method, p.Class = clean(m.Title()), clean(classIn(m.Title(), m.Class, m.Name))
	}
	return p
}

// pageState is what a thread did in a time, as a stack that was taken then shows, or the verdict of a stall: it ran, it
// waited, or a lock blocked it.
type pageState struct {
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
	State string `json:"state"`
}

// stalled notes the states of the thread in a stall: a stack stands for the time up to the middle between it and the
// next, the first and the last also for what is before and behind. Without stacks, the verdict says it if it can.
func (pt *pageThread) stalled(e *event) {
	s := e.stall
	if len(s.Samples) == 0 {
		if state := stateOfVerdict(s.Verdict.Kind); state != "" {
			pt.stalls.add(e.begin, e.end, state)
		}
		return
	}
	begin := e.begin
	for k, sample := range s.Samples {
		end := e.end
		if k+1 < len(s.Samples) {
			end = min(end, e.begin+(sample.After+s.Samples[k+1].After).Nanoseconds()/2)
		}
		pt.stalls.add(begin, end, stateOfActivity(sample.Activity))
		begin = max(begin, end)
	}
}

func stateOfActivity(a foreign.Activity) string {
	switch a {
	case foreign.ActivityRunning:
		return "running"
	case foreign.ActivityLock:
		return "blocked"
	case foreign.ActivityUnknown:
		return ""
	}
	return "waiting"
}

func stateOfVerdict(k analysis.Kind) string {
	switch k {
	case analysis.KindOwnWork, analysis.KindGC:
		return "running"
	case analysis.KindLock, analysis.KindDeadlock:
		return "blocked"
	case analysis.KindIO, analysis.KindSleep, analysis.KindWait, analysis.KindStarved:
		return "waiting"
	}
	return ""
}

// reason is a verdict's name for people.
func reason(kind analysis.Kind) string {
	for _, v := range analysis.Verdicts() {
		if v.Kind == kind {
			return v.Name
		}
	}
	return string(kind)
}

// sortStalls puts stalls in the order of time, and their evidence with them.
func (r *pageRecording) sortStalls() {
	slices.SortStableFunc(r.Stalls, func(a, b *pageStall) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, s := range r.Stalls {
		r.more.Stalls = append(r.more.Stalls, s.evidence)
	}
}

func newPageEvidence(s *analysis.Stall) *pageEvidence {
	e := &pageEvidence{Stall: s, Where: s.Place(), Repaired: s.Repaired(), Exactness: s.Exactness(),
		Before: texts(s.Before), Pending: texts(s.Pending)}
	if s.PostedBy != nil {
		e.PostedBy = clean(s.PostedBy.String())
	}
	if !s.Time.IsZero() {
		e.Time = s.Time.Format("2006-01-02 15:04:05.000 UTC")
	}
	return e
}

// texts returns what each element says; nil for nil.
func texts[T interface{ String() string }](all []T) []string {
	if all == nil {
		return nil
	}
	out := make([]string, len(all))
	for k, one := range all {
		out[k] = one.String()
	}
	return out
}
