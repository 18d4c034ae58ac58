package export

import (
	"cmp"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
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
	Ended   bool   `json:"ended"`

	evidence *pageEvidence
}

// pageEvidence is what else a page shows of a stall. Times are in nanoseconds, -1 if not known; a list that is null is
// not known either.
type pageEvidence struct {
	Where     string        `json:"where,omitempty"`
	CPU       time.Duration `json:"cpu"`
	GC        time.Duration `json:"gc"`
	GCCount   int64         `json:"gcCount"`
	Time      string        `json:"time,omitempty"`
	Reported  bool          `json:"reported"`
	PostedBy  string        `json:"postedBy,omitempty"`
	LockOwner string        `json:"lockOwner,omitempty"`
	Samples   []pageSample  `json:"samples"`
	Holder    []pageSample  `json:"holder"`
	Before    []string      `json:"before"`
	Pending   []string      `json:"pending"`
	Path      []pageStep    `json:"path"`
	Own       []pageStep    `json:"own"`
	Repaired  string        `json:"repaired,omitempty"`
	// Stopped is how much of the stall the process did not run, Precision how exact the times of methods are, Exit the
	// main thread in the system's trace of the process, if it ended meanwhile.
	Stopped   time.Duration         `json:"stopped,omitempty"`
	Precision string                `json:"precision"`
	Exit      *analysis.TraceThread `json:"exit,omitempty"`
}

// pageSample is a stack sample.
type pageSample struct {
	After    time.Duration `json:"after"`
	State    string        `json:"state"`
	Activity string        `json:"activity"`
	Frames   []string      `json:"frames"`
}

// pageStep is a step of a path, or a method with its times.
type pageStep struct {
	Name  string `json:"name"`
	Total int64  `json:"total"`
	Self  int64  `json:"self"`
	Calls uint64 `json:"calls"`
}

func newPageStall(e *event) *pageStall {
	s := e.stall
	return &pageStall{Number: s.Number, Thread: s.Thread.Index, Begin: e.begin, Wall: e.end - e.begin, Ended: s.Ended,
		What: clean(s.Message.String()), Verdict: clean(s.Verdict.Text), Reason: reason(s.Verdict.Kind),
		evidence: newPageEvidence(s)}
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
	e := &pageEvidence{CPU: s.CPU, GC: s.GC, GCCount: s.GCCount, Reported: s.Reported, LockOwner: s.LockOwner,
		Where: s.Place(), Repaired: s.Repaired(), Samples: pageSamples(s.Samples), Holder: pageSamples(s.Holder),
		Path: pageSteps(s.HotPath), Own: pageSteps(s.MostSelf)}
	if s.PostedBy != nil {
		e.PostedBy = clean(s.PostedBy.String())
	}
	e.Stopped, e.Precision = s.Suspended, s.Exactness()
	if s.Exit != nil {
		e.Exit = s.Exit.Main
	}
	if !s.Time.IsZero() {
		e.Time = s.Time.Format("2006-01-02 15:04:05.000 UTC")
	}
	if s.BeforeKnown {
		e.Before = []string{}
		for _, b := range s.Before {
			e.Before = append(e.Before, b.String())
		}
	}
	if s.PendingKnown {
		e.Pending = []string{}
		for _, w := range s.Pending {
			e.Pending = append(e.Pending, w.String())
		}
	}
	return e
}

func pageSamples(samples []analysis.StackSample) []pageSample {
	all := make([]pageSample, len(samples))
	for i, s := range samples {
		all[i] = pageSample{s.After, s.State, string(s.Activity), s.Frames}
	}
	return all
}

func pageSteps(steps []analysis.Step) []pageStep {
	all := make([]pageStep, len(steps))
	for i, s := range steps {
		all[i] = pageStep{s.Method.Identity(), s.Total, s.Self, s.Calls}
	}
	return all
}
