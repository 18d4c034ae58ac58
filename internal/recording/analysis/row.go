package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// Row is a stall or an incident with names in place of IDs, so that it means the same in any build. It is made of a
// recording or of what a device has reported, and both make the same one.
type Row struct {
	// Key is equal for stalls with one cause: one hot path, see [Stall.Key], or without calls one stack or one text of
	// what ran.
	Key string `json:"key"`
	// Recording is what the recording was opened as, and Number counts its stalls from 1. Of a report, Recording is the
	// recording's ID, and Number is 0.
	Recording string `json:"recording"`
	Number    int    `json:"number"`
	// Incident is the kind of an incident, whose Number is that of the device; empty for a stall.
	Incident string `json:"incident,omitempty"`
	// ReportID identifies the stall in a recording with an ID: the report that the device sends of it has the same.
	// ReportKind is "message", "idle-handler", "input", or the kind of an incident; Detector is what found an incident.
	ReportID   string `json:"reportId,omitempty"`
	ReportKind string `json:"reportKind,omitempty"`
	Detector   string `json:"detector,omitempty"`
	// NotCounted is why it does not count; empty if it counts. An incident of which the device sent a report may also be
	// covered by a stall of the same recording: that shows in package group only.
	NotCounted NotCounted `json:"notCounted,omitempty"`
	// Thread is the name of its thread, empty if it concerns the whole process. Lasted is how long it lasted, with the
	// time in which the process did not run, in nanoseconds.
	Thread string `json:"thread,omitempty"`
	Lasted int64  `json:"lasted,omitempty"`
	// App, Version, Code, BuildID and Device are what the program said of itself: its package, versionName,
	// versionCode, build ID and device; empty if it said nothing.
	App     string `json:"app,omitempty"`
	Version string `json:"version,omitempty"`
	Code    string `json:"code,omitempty"`
	BuildID string `json:"buildId,omitempty"`
	Device  string `json:"device,omitempty"`
	// User is the user of the recording, empty if it has none.
	User string `json:"user,omitempty"`
	// Time is when it began, in milliseconds since 1970, UTC; 0 if that is not known.
	Time int64 `json:"time,omitempty"`
	// Wall is how long it took, without the time in which the process did not run, CPU how long of that on a processor,
	// in nanoseconds; CPU is -1 if it is not known.
	Wall int64 `json:"wall"`
	CPU  int64 `json:"cpu"`
	// Kind is what it was slow for, Verdict says it in words.
	Kind    Kind   `json:"kind"`
	Verdict string `json:"verdict"`
	// Title says what ran, Scene where the app was.
	Title string `json:"title"`
	Scene string `json:"scene,omitempty"`
	// HotPath has the methods that lead to where the time went, the outermost first; Method is the one to blame.
	HotPath []string `json:"hotPath"`
	Method  string   `json:"method,omitempty"`
	// Stack has the innermost frames of the stack of its thread that was taken most often; empty if none was taken.
	// Facts is what a detector says of an incident.
	Stack []string       `json:"stack,omitempty"`
	Facts []IncidentFact `json:"facts,omitempty"`
	// Calls are the longest calls, each behind its callers. Stacks are the stacks of its thread, the one of Stack first.
	Calls  []RowCall             `json:"-"`
	Stacks []devicereport.Sample `json:"-"`
}

// RowCall is the calls of a method that were reached the same way.
type RowCall struct {
	// Depth is how many callers it has, Count how many calls, Total their time in nanoseconds.
	Depth  int
	Method string
	Count  int64
	Total  int64
}

// stackFrames is how many frames of a stack a row has, rowCalls how many calls.
const (
	stackFrames = 32
	rowCalls    = 30
)

// userKeys are the keys by which programs name their user; the first that is there counts.
var userKeys = [...]string{"user", "userId", "uid", "uin", "installId", "deviceId"}

// RowOf makes a row of a stall.
func RowOf(s *Stall) Row {
	c := s.Recording.row(s.Number, s.Time)
	c.Key, c.ReportKind, c.NotCounted = s.Key, string(s.Kind), s.NotCounted()
	c.Wall, c.CPU, c.Lasted, c.Thread = s.Ran.Nanoseconds(), s.CPU.Nanoseconds(), s.Wall.Nanoseconds(), s.Thread.Name
	c.Kind, c.Verdict, c.Title, c.Scene = s.Verdict.Kind, s.Verdict.Text, s.Title(), s.Scene
	for _, step := range s.HotPath {
		c.HotPath = append(c.HotPath, step.Method.Identity())
	}
	stack := c.setStacks(stacksOf(s.Samples))
	for k, depth := range s.Tree.Longest(rowCalls) {
		n := &s.Tree.Nodes[k]
		c.Calls = append(c.Calls, RowCall{depth, s.Names.Method(n.Method).Identity(), int64(n.Calls), n.Total})
	}
	if s.Key == pathKey(nil) { // no traced method took long enough to be on a path
		c.HotPath, c.Key = causeOf(nil, "", stack, s.Message.String())
	}
	if s.Kind != StallMessage { // it is another trouble than a message with the same hot path
		c.Key, c.Verdict = string(s.Kind)+":"+c.Key, string(s.Kind)+", "+c.Verdict
	}
	if id := s.Recording.Meta["recordingId"]; id != "" && s.Reported {
		c.ReportID = stallID(id, s.Sequence, s.Thread.Index)
	}
	if m := s.Verdict.Method; m != nil {
		c.Method = m.Identity()
	}
	return c
}

// row returns a row with what the recording says of the program, of something that began at a time.
func (r *Recording) row(number int, began Moment) Row {
	c := Row{Recording: r.Name, Number: number, App: r.Meta["package"], BuildID: r.Meta["buildId"],
		Version: cmp.Or(r.Meta["versionName"], r.Version()), Code: r.Meta["versionCode"], Device: r.Meta["device"],
		User: r.User()}
	if !began.IsZero() {
		c.Time = began.UnixMilli()
	}
	return c
}

// stacksOf returns the different stacks, those of most samples first, of equals the first.
func stacksOf(samples []StackSample) (all []devicereport.Sample) {
	places := map[string]int{}
	for _, s := range samples {
		key := strings.Join(s.Frames, "\n")
		if _, known := places[key]; !known {
			places[key] = len(all)
			all = append(all, devicereport.Sample{State: s.State, Frames: s.Frames})
		}
		all[places[key]].Count++
	}
	return all
}

// stallID returns the ID of the report of a stall: of its recording, its number on its thread, and its thread.
func stallID(recording string, sequence uint64, thread uint32) string {
	return fmt.Sprintf("%s-s%d-%d", recording, sequence, thread)
}

// User returns the user of the recording, empty if it has none.
func (r *Recording) User() string {
	for _, key := range userKeys {
		if user := r.Meta[key]; user != "" {
			return user
		}
	}
	return ""
}

// When returns when it began, the zero time if that is not known.
func (c *Row) When() time.Time {
	if c.Time == 0 {
		return time.Time{}
	}
	return time.UnixMilli(c.Time).UTC()
}

// IncidentRows makes rows of the incidents of a recording that has been read to its end. [Row.NotCounted] says
// which do not count.
func IncidentRows(r *Recording) []Row {
	var all []Row
	for _, i := range r.Incidents {
		c := r.row(int(i.Number), i.Time)
		c.Incident, c.ReportKind, c.Detector, c.NotCounted = i.Kind, i.Kind, i.Detector, i.NotCounted()
		c.Wall, c.CPU, c.Lasted = i.Lasted().Nanoseconds(), -1, i.Lasted().Nanoseconds()
		c.Kind, c.Verdict, c.Title, c.Scene = KindUnknown, i.Kind+", "+i.Text, i.Title(r), i.Scene
		if i.Thread != nil {
			c.Thread = i.Thread.Name
		}
		c.setCause(i.cause())
		if best := i.BestStack(); best != nil {
			c.setStacks([]devicereport.Sample{{Thread: best.Thread, State: best.State, Count: 1, Frames: best.Frames}})
		}
		c.Facts = i.Facts
		if id := r.Meta["recordingId"]; id != "" {
			// As the report that the device sends of it.
			c.ReportID = fmt.Sprintf("%s-i%d", id, i.Number)
		}
		all = append(all, c)
	}
	return all
}

// keyFrames is how many frames of the app stand for a stack in the key of a report that has no calls.
const keyFrames = 3

// RowOfReport makes a row of what a device has reported. names are those of its build; other is a mapping of R8 for
// the frames of stacks if names have none, it may be nil. The ID of a method stands for one that names lack; the key is
// of no use in another build then.
//
// The key of a stalled message is that of its hot path, as in a recording. An idle handler, an input event and an
// incident have keys of their own kind. Without calls, the innermost frames of the app in the stack with the most
// samples stand for the hot path; without a stack, what the report says has run.
func RowOfReport(r *devicereport.Report, names *resolve.Names, other *r8.Mapping) Row {
	by := residualOf(names, other)
	what := whatRan(r.What, names, by)
	s := Row{
		Recording: r.Recording, ReportID: r.ID, ReportKind: r.Kind, Detector: resolve.Printable(r.Detector),
		App: r.Package, Version: resolve.Printable(r.VersionName), Code: resolve.Printable(r.VersionCode),
		BuildID: resolve.Printable(r.BuildID), Device: resolve.Printable(r.Device), User: resolve.Printable(r.User),
		Wall: r.Ran().Nanoseconds(), CPU: -1, Title: cmp.Or(what, resolve.Printable(r.Kind)),
		Scene: by.Class(r.Scene), Thread: r.Thread,
	}
	if r.Duration != nil {
		s.Lasted = r.Duration.Nanoseconds()
	}
	if r.Began != nil {
		s.Time = *r.Began
	}
	cause := reported{Ran: r.Ran(), CPU: -1, GC: -1, LockOwner: by.Owner(r.LockOwner)}
	if r.CPU != nil {
		s.CPU, cause.CPU = r.CPU.Nanoseconds(), *r.CPU
	}
	if r.GC != nil {
		cause.GC = *r.GC
	}
	named, key := namedPath(names, r.HotPath)
	occurred, samples := occurrenceOf(r), ownSamples(r, by)
	if occurred.Incident == "" {
		occurred.Role = roleOfReport(r, named, samples)
	}
	s.NotCounted = occurred.NotCounted()
	var path []string
	for _, m := range named {
		path = append(path, m.Identity())
	}
	for _, sample := range samples {
		for range min(sample.Count, 100) {
			cause.Samples = append(cause.Samples, foreign.ActivityOf(sample.State, sample.Frames))
		}
	}
	stack := s.setStacks(samples)
	for _, call := range r.Calls {
		method := names.Method(trace.Method(call.ID)).Identity()
		s.Calls = append(s.Calls, RowCall{call.Depth, method, call.Count, call.Total.Nanoseconds()})
	}
	for _, key := range slices.Sorted(maps.Keys(r.Facts)) {
		s.Facts = append(s.Facts, IncidentFact{resolve.Printable(key), resolve.Printable(r.Facts[key])})
	}
	s.setCause(causeOf(path, key, stack, what))
	cause.Method = s.Method
	if s.Kind, s.Verdict = verdictOnReport(cause); r.Kind != devicereport.KindMessage {
		s.Verdict = r.Kind + ", " + s.Verdict
	}
	return s
}

// occurrenceOf returns what decides whether a report counts. The device measures the length of a stall, and reports
// none that lasted less than the threshold without the time in which the process did not run; the report does not have
// the threshold.
func occurrenceOf(r *devicereport.Report) occurrence {
	o := occurrence{Slow: r.Facts["slow"], Ran: r.Ran()}
	if !devicereport.IsStall(r.Kind) {
		o.Incident = r.Kind
	}
	if r.Duration != nil {
		o.Lasted = *r.Duration
	}
	return o
}

// setStacks takes over stacks, and returns the frames of the one that was taken most often, of equals the first.
func (c *Row) setStacks(stacks []devicereport.Sample) []string {
	slices.SortStableFunc(stacks, func(a, b devicereport.Sample) int { return cmp.Compare(b.Count, a.Count) })
	if c.Stacks = stacks; len(stacks) == 0 {
		return nil
	}
	c.Stack = slices.Clone(stacks[0].Frames[:min(len(stacks[0].Frames), stackFrames)])
	return stacks[0].Frames
}

// Fact returns the value of a fact; empty if the detector does not say it.
func (c *Row) Fact(key string) string {
	return (&Incident{Facts: c.Facts}).Fact(key)
}

// setCause sets the hot path, the key and the method to blame, as [causeOf] returns them.
func (c *Row) setCause(path []string, key string) {
	c.HotPath = path
	if len(path) > 0 {
		c.Method = path[len(path)-1]
	}
	if c.Key = key; c.ReportKind != devicereport.KindMessage {
		c.Key = c.ReportKind + ":" + key
	}
}

// causeOf returns the methods that lead to where the time went, the outermost first, and a key of them. These are path,
// the methods of the hot path, and its key. Without calls they are the innermost ones of the app in a stack. Without a
// stack there are none, and what has run has the key.
func causeOf(path []string, key string, stack []string, what string) ([]string, string) {
	if len(path) > 0 {
		return path, key
	}
	path = foreign.AppMethods(stack, keyFrames)
	slices.Reverse(path)
	if len(path) == 0 {
		return nil, textKey("what", what)
	}
	return path, textKey(append([]string{"frames"}, path...)...)
}
