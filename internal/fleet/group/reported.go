package group

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/resolve"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/mapping/r8"
)

// keyFrames is how many frames of the app stand for a stack in the key of a report that has no calls.
const keyFrames = 3

// FromReport makes a stall of what a device has reported. names are those of its build; other is a mapping of R8 for
// the frames of stacks if names have none, it may be nil. The ID of a method stands for one that names lack; the key is
// of no use in another build then.
//
// The key of a stalled message is that of its hot path, as in a recording. An idle handler, an input event and an
// incident have keys of their own kind. Without calls, the innermost frames of the app in the stack with the most
// samples stand for the hot path; without a stack, what the report says has run.
func FromReport(r *devicereport.Report, names *resolve.Names, other *r8.Mapping) Stall {
	s := Stall{
		Recording: r.Recording, ReportID: r.ID, ReportKind: r.Kind, Detector: resolve.Printable(r.Detector),
		App: r.Package, Version: resolve.Printable(r.VersionName), Code: resolve.Printable(r.VersionCode),
		Device: resolve.Printable(r.Device), User: resolve.Printable(r.User),
		Wall: r.Ran().Nanoseconds(), CPU: -1, Title: resolve.Printable(cmp.Or(r.What, r.Kind)),
		Scene: resolve.Printable(r.Scene), Thread: r.Thread, NotCounted: occurrence(r).NotCounted(),
	}
	if r.Duration != nil {
		s.Lasted = r.Duration.Nanoseconds()
	}
	if r.Began != nil {
		s.Time = *r.Began
	}
	cause := analysis.Reported{Ran: r.Ran(), CPU: -1, GC: -1, LockOwner: r.LockOwner}
	if r.CPU != nil {
		s.CPU, cause.CPU = r.CPU.Nanoseconds(), *r.CPU
	}
	if r.GC != nil {
		cause.GC = *r.GC
	}
	path, key := analysis.NamedPath(names, r.HotPath)
	for _, m := range path {
		s.HotPath = append(s.HotPath, m.Identity())
	}
	var longest []string
	var most int64
	thread := r.Thread
	for _, sample := range r.Samples {
		if thread = cmp.Or(thread, sample.Thread); sample.Thread != "" && sample.Thread != thread {
			continue // of the thread that held the lock
		}
		frames := analysis.NamedFrames(names, other, sample.Frames)
		for range min(sample.Count, 100) {
			cause.Samples = append(cause.Samples, analysis.ActivityOf(sample.State, frames))
		}
		if sample.Count > most {
			longest, most = frames, sample.Count
		}
	}
	s.setKey(key, longest, r.What)
	cause.Method = s.Method
	if s.Kind, s.Verdict = analysis.VerdictOnReport(cause); r.Kind != devicereport.KindMessage {
		s.Verdict = r.Kind + ", " + s.Verdict
	}
	return s
}

// occurrence returns what decides whether a report counts. The device measures the length of a stall, and reports none
// that lasted less than the threshold without the time in which the process did not run; the report does not have the
// threshold.
func occurrence(r *devicereport.Report) analysis.Occurrence {
	o := analysis.Occurrence{Slow: r.Facts["slow"], Ran: r.Ran()}
	if !devicereport.IsStall(r.Kind) {
		o.Incident = r.Kind
	}
	if r.Duration != nil {
		o.Lasted = *r.Duration
	}
	return o
}

// setIncidentKey sets the hot path and the key of an incident of a recording, so that they are those of its report.
func (c *Stall) setIncidentKey(i *analysis.Incident) {
	for _, step := range i.HotPath {
		c.HotPath = append(c.HotPath, step.Method.Identity())
	}
	var longest, last []string
	most, count, thread := 0, 0, ""
	if i.Thread != nil {
		thread = i.Thread.Name
	}
	for _, stack := range i.Stacks {
		if thread = cmp.Or(thread, stack.Thread); stack.Thread != thread {
			continue
		}
		if count++; !slices.Equal(stack.Frames, last) {
			last, count = stack.Frames, 1
		}
		if count > most {
			longest, most = last, count
		}
	}
	c.setKey(analysis.PathKey(i.HotPath), longest, i.What)
}

// setKey sets the key and the method to blame. key is that of the hot path, if there is one; otherwise the stack
// counts, or what has run.
func (c *Stall) setKey(key string, stack []string, what string) {
	if len(c.HotPath) == 0 {
		c.HotPath = analysis.AppMethods(stack, keyFrames)
		slices.Reverse(c.HotPath)
		key = textKey("frames", c.HotPath)
		if len(c.HotPath) == 0 {
			key = textKey("what", []string{what})
		}
	}
	if len(c.HotPath) > 0 {
		c.Method = c.HotPath[len(c.HotPath)-1]
	}
	if c.Key = key; c.ReportKind != devicereport.KindMessage {
		c.Key = c.ReportKind + ":" + key
	}
}

// textKey is a key of texts. of separates keys of different things.
func textKey(of string, texts []string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n", of)
	for _, t := range texts {
		fmt.Fprintf(h, "%s\n", t)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
