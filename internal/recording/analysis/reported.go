package analysis

import (
	"cmp"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// namedPath puts names to the hot path of a report, which has the IDs of methods, the outermost first. The key is equal
// to [Stall.Key] of a stall with the same hot path.
func namedPath(names *resolve.Names, ids []uint32) (path []resolve.Method, key string) {
	var steps []Step
	for _, id := range ids {
		m := names.Method(trace.Method(id))
		if m.Pseudo() {
			continue
		}
		path = append(path, m)
		steps = append(steps, Step{Method: m})
	}
	return path, pathKey(steps)
}

// residualOf returns what restores names by the mapping of R8 that the names have, or else by the other one, which may
// be nil.
func residualOf(names *resolve.Names, other *r8.Mapping) resolve.Residual {
	if names != nil && names.R8() != nil {
		other = names.R8()
	}
	return resolve.Residual{By: other}
}

// ownSamples returns the samples of a report with restored names, without those of the thread that held the lock.
func ownSamples(r *devicereport.Report, by resolve.Residual) (own []devicereport.Sample) {
	thread := r.Thread
	for _, s := range r.Samples {
		if thread = cmp.Or(thread, s.Thread); s.Thread == "" || s.Thread == thread {
			s.Frames = by.Frames(s.Frames)
			own = append(own, s)
		}
	}
	return own
}

// reported is what a report says about the cause of a stall. Times are -1 if they are not known.
type reported struct {
	// Ran is how long it took, CPU how long of that on a processor, GC how long garbage was collected.
	Ran, CPU, GC time.Duration
	// Method is the method to blame, empty if it is not known. LockOwner is who held the lock that it waited for.
	Method, LockOwner string
	// Samples has what its thread did in each stack sample; see [ActivityOf].
	Samples []foreign.Activity
}

// The shares of the time of a stall, in percent, from which on a report's verdict names them.
const (
	gcShare  = 50
	cpuShare = 70
)

// verdictOnReport returns why a stall was slow, and a text, as far as a report shows it. A recording shows more.
func verdictOnReport(r reported) (Kind, string) {
	e, count := grounds{Stall: &Stall{LockOwner: r.LockOwner}}, map[Kind]int{}
	for _, a := range r.Samples {
		count[e.kindOf(a)]++
	}
	kind, most := KindUnknown, 0
	for _, k := range []Kind{KindLock, KindIO, KindSleep, KindWait} {
		if count[k] > most && 2*count[k] >= len(r.Samples) {
			kind, most = k, count[k]
		}
	}
	reaches := func(part time.Duration, percent int64) bool {
		return part >= 0 && r.Ran > 0 && int64(part) >= int64(r.Ran)/100*percent
	}
	switch {
	case reaches(r.GC, gcShare):
		kind = KindGC
	case reaches(r.CPU, cpuShare):
		kind = KindOwnWork
	case r.LockOwner != "" && kind == KindUnknown:
		kind = KindLock
	}
	text := nameOf(kind)
	if kind == KindUnknown {
		text = verdictUnknown.Name
	}
	if r.Method != "" {
		text += ": " + r.Method
	}
	if kind == KindLock && r.LockOwner != "" {
		text += ", while " + resolve.Printable(r.LockOwner)
	}
	if r.CPU >= 0 && r.Ran > 0 {
		text += "; CPU " + units.Percent(min(r.CPU, r.Ran)/1000, r.Ran/1000) // percent multiplies by 100
	}
	return kind, text
}
