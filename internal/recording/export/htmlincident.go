package export

import (
	"fmt"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// pageIncident is an incident as the list of a page shows it. Times are in nanoseconds.
type pageIncident struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	What  string `json:"what,omitempty"`
	Begin int64  `json:"begin"`
	// End is Begin if it has no end; Ended says so.
	End   int64 `json:"end"`
	Ended bool  `json:"ended"`
	// Thread is the name of the thread that it concerns; empty for the whole process.
	Thread string `json:"thread,omitempty"`
	// Stalls are the numbers of the stalls that it overlaps.
	Stalls []int    `json:"stalls"`
	Facts  []string `json:"facts"`
	// Methods lead to where the time went, the outermost first; Stack is the best one.
	Methods []string `json:"methods,omitempty"`
	Stack   []string `json:"stack,omitempty"`
}

func pageIncidents(r *analysis.Recording) []pageIncident {
	var all []pageIncident
	for _, i := range r.Incidents {
		p := pageIncident{Name: clean(fmt.Sprintf("i%d %s", i.Number, i.Kind)), Text: clean(i.Text), What: clean(i.What),
			Begin: int64(i.Begin), End: int64(i.Begin + max(0, min(i.Wall, time.Duration(1)<<62-i.Begin))), Ended: i.Ended,
			Stalls: i.Stalls, Facts: []string{}, Methods: i.Methods()}
		if stack := i.BestStack(); stack != nil {
			p.Stack = stack.Frames
		}
		if i.Thread != nil {
			p.Thread = i.Thread.Label
		}
		for _, f := range i.Facts {
			p.Facts = append(p.Facts, clean(f.Key+" "+f.Value))
		}
		all = append(all, p)
	}
	return all
}
