package analysis

import "testing"

// TestBeforeIsNotAvailable: only a recording of our runtime knows that nothing ran before; what it is no part of, as in
// reports of others, is not available.
func TestBeforeIsNotAvailable(t *testing.T) {
	for records, want := range map[string]bool{" records=all": true, "": false} {
		asked := false
		analyze(t, "r", `
meta slowMillis=700`+records+`
clock now=0
thread index=0 name=main main=1
records thread=0 first=0 list="+1048574@0 -1048574@800"
stall thread=0 sequence=0 begin=0 wall=800 first=0 end=2 what="Handler (a.H) null: 1"
end`, Options{Stall: func(s *Stall) error {
			asked = true
			if (s.Before != nil) != want || len(s.Before) > 0 || s.Pending != nil {
				t.Errorf("%q: before is known: %t, want %t; %d ran; what waits is known: %t", records, s.Before != nil,
					want, len(s.Before), s.Pending != nil)
			}
			return nil
		}})
		if !asked {
			t.Error("no slow message was found")
		}
	}
}
