package analysis

import (
	"fmt"
	"strings"
	"testing"
)

// TestIncidentCalls: an incident has the calls of its records, wherever its chunk stands among them.
func TestIncidentCalls(t *testing.T) {
	const head = "meta slowMillis=700 records=all\nclock now=0\nthread index=0 name=main main=1\n"
	message := func(k int) string {
		return fmt.Sprintf("records thread=0 first=%d list=\"+1048574@%d +%d@%d -%d@%d -1048574@%d\"\n", 4*k, 100*k, 10+k,
			100*k+10, 10+k, 100*k+90, 100*k+90)
	}
	const incident = "incident number=0 detector=x kind=x thread=0 begin=100 end=300 first=4 stop=12\n"
	for name, c := range map[string]struct {
		tape, want string
	}{
		"behind":    {message(0) + message(1) + message(2) + message(3) + incident, "11 80 12 80"},
		"before":    {incident + message(0) + message(1) + message(2) + message(3), "11 80 12 80"},
		"among":     {message(0) + message(1) + incident + message(2) + message(3), "11 80 12 80"},
		"twice":     {message(0) + message(1) + incident + message(2) + incident + message(3), "11 80 12 80"},
		"too late":  {message(2) + incident + message(3), "12 80 missing"},
		"no calls":  {incident, "missing"},
		"elsewhere": {strings.ReplaceAll(message(1)+message(2), "thread=0", "thread=1") + incident, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			o := Options{End: func(r *Recording) error {
				for _, i := range r.Incidents {
					for _, s := range i.MostSelf {
						got = append(got, fmt.Sprint(s.Method.ID), fmt.Sprint(s.Self/1e6))
					}
					if i.CallsMissing {
						got = append(got, "missing")
					}
				}
				return nil
			}}
			analyze(t, "a", head+c.tape, o)
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestIncidentBounds: what is kept of incidents is bounded, and what is left out is counted.
//
// Invariant: The memory for incidents does not grow with the recording.
func TestIncidentBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("meta slowMillis=700 records=all\nclock now=0\nthread index=0 name=main main=1\n")
	for k := range maxIncidents + 10 {
		fmt.Fprintf(&b, "incident number=%d detector=x kind=x thread=0 begin=1 end=2 first=%d stop=%d\n", k, k, k+5)
	}
	o := Options{End: func(r *Recording) error {
		if len(r.Incidents) != maxIncidents || r.OmittedIncidents != 10 {
			t.Errorf("%d incidents and %d omitted", len(r.Incidents), r.OmittedIncidents)
		}
		return nil
	}}
	analyze(t, "a", b.String(), o)
}
