package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// Recording is one recording's metadata and completeness. All but Name, Digest, Resolved and Meta is complete only when
// it has been read to its end.
type Recording struct {
	// Name is the name that it was opened by.
	Name string `json:"name"`
	// Digest is the digest of its mapping, empty if the recording has none; Resolved whether that mapping's names are
	// shown. Forced is set if another mapping's names are shown.
	Digest   string `json:"digest"`
	Resolved bool   `json:"resolved"`
	Forced   bool   `json:"forced"`
	// Meta is its metadata: keys such as package, process, java.version, and what the program has added, for
	// instance versionName, versionCode or a user.
	Meta map[string]string `json:"meta"`
	// Precision is how far a time of a method's entry or exit can be off: the period of the clock that records are
	// stamped with, or their unit. Times of messages are exact.
	Precision time.Duration `json:"precisionNanos"`
	// Span is from the first to the last call.
	Span time.Duration `json:"spanNanos"`
	// Stalls, Runs and Waits are how many there are of what lasted as long as a stall, by [Role]: Waits are for work.
	// Threads, Records and Overwritten are how many there are; Overwritten records were lost on the device.
	Stalls      int    `json:"stalls"`
	Runs        int    `json:"runs,omitempty"`
	Waits       int    `json:"waits,omitempty"`
	Threads     int    `json:"threads"`
	Records     uint64 `json:"records"`
	Overwritten uint64 `json:"overwritten"`
	// Calls is how many calls there were, Methods how many different methods were called, Unresolved how many of them
	// the mapping does not have.
	Calls      uint64 `json:"-"`
	Methods    int    `json:"methods"`
	Unresolved int    `json:"unresolved"`
	// Repairs is what was repaired in its calls, Damage what is wrong with the file.
	Repairs trace.Repairs `json:"repairs"`
	Damage  trace.Damage  `json:"damage"`
	// Parts is how many parts of the recording were read, Missing says which others are missing.
	Parts   int                  `json:"parts"`
	Missing []trace.MissingParts `json:"-"`
	// Samples is how many stacks were taken of threads with open calls, ToolSamples how many of them show a thread in the
	// runtime: from them, the frames of the runtime are taken out.
	Samples     uint64 `json:"samples"`
	ToolSamples uint64 `json:"toolSamples"`
	// Cost is what recording has cost; nil if the recording does not say, and until it has been read to its end.
	Cost *Cost `json:"cost,omitempty"`
	// Exit is how the process ended, if the recording was not closed and a later process found that out; otherwise it
	// is nil.
	Exit *Exit `json:"exit,omitempty"`
	// Completeness says how much of what the program did is in it. It is nil until it has been read to its end, and for
	// a text.
	Completeness *Completeness `json:"completeness,omitempty"`
	// Detectors says what the detectors of the runtime did, by name; it is nil if the recording does not say. Incidents
	// are what they found, by number; OmittedIncidents is how many more there are. All are complete when the recording
	// has been read to its end.
	Detectors        []Detector  `json:"detectors"`
	Incidents        []*Incident `json:"incidents"`
	OmittedIncidents int         `json:"omittedIncidents,omitempty"`
	// Coroutines has the calls of its suspend functions when it has been read to its end; nil if there are none.
	Coroutines *coroutine.Coroutines `json:"-"`
	// Compositions has the composables that it has executed, likewise.
	Compositions *composition.Compositions `json:"-"`
	// Names has the names of its methods.
	Names *resolve.Names `json:"-"`

	view          *View
	by            resolve.Residual
	restored      bool   // a stack of a text had a name that R8 has changed
	contradicting uint64 // samples that show calls to have ended
	unmeasured    int    // stalls of which it is not known how long they took
	threads       map[uint32]*Thread
	labels        map[string]bool // of threads
	clock         *trace.Clock    // the first
	origin        int64           // the time that is 0 in all formats
	fixed         bool            // the origin is known
	kinds         [8]uint64       // segments by kind
	begin, end    int64
	met           map[trace.Method]bool
}

// HasCalls reports whether calls were recorded, or may still be.
func (r *Recording) HasCalls() bool { return r.Meta["tickNanos"] != "" || r.Records > 0 }

// Empty reports whether it says nothing of what the program did: it has no call, message, incident, or end of a
// process.
func (r *Recording) Empty() bool {
	return r.Records == 0 && r.lasting() == 0 && r.kinds == [8]uint64{} && len(r.Incidents) == 0 && r.Exit == nil
}

// lasting returns how much lasted as long as a stall, whatever it was.
func (r *Recording) lasting() int { return r.Stalls + r.Runs + r.Waits }

// Version returns what the program says of its own version, "" if nothing.
func (r *Recording) Version() string {
	version, code := r.Meta["versionName"], r.Meta["versionCode"]
	switch {
	case version == "":
		return code
	case code == "":
		return version
	}
	return version + " (" + code + ")"
}

// Options say how recordings are read. The zero value reads them without names.
type Options struct {
	// Mappings are where names come from; nil for none. Force goes on where they do not fit.
	Mappings *resolve.Mappings
	Force    bool
	// Missing, if it is set, says why there is no mapping. A recording with IDs fails with it: it is for callers that
	// compare builds, as an ID has a meaning in its own build only.
	Missing error
	// R8 translates what a device said in the names of its build; nil for that which Mappings has, if any.
	R8 *r8.Mapping
	// Begin, if it is set, is called when a recording's meta data are read, Stall for each stall, End behind the
	// last.
	Begin func(*Recording) error
	Stall func(*Stall) error
	End   func(*Recording) error
	// View is which part of the recording is shown; nil for all of it.
	View *View
	// Also, if it is set, gets the recording, and returns a handler that gets all that is read as well, before the
	// stalls that it completes. The recording's origin is known when the handler gets something that has a time.
	Also func(*Recording) (trace.Handler, error)
	// Names has the names of methods if Mappings is nil; nil for none.
	Names trace.Names
}

// Source is what is analyzed: a [source.Source].
type Source interface {
	// Replay hands all that there is to the handler.
	Replay(trace.Handler) error
	// Damage returns what was found wrong with the bytes.
	Damage() trace.Damage
}

// Analyze reads one recording, or reports of other tools, to the end. An error is the source's, or what one of the
// functions returned, or a [*resolve.MismatchError].
func Analyze(name string, in Source, o Options) error {
	names := resolve.NamesBy(o.Names)
	a := &analyzer{Options: o, recording: &Recording{Name: resolve.Printable(name), Precision: time.Millisecond,
		Names: names, by: resolve.Residual{By: o.R8}, met: map[trace.Method]bool{}, Parts: 1}}
	a.joiner.Found = a.found
	if s, ok := in.(*source.Source); ok {
		a.recording.Parts, s.Messages, s.Frames = s.Parts(), a.messageMethods, a.frameNames
		s.Restorer = restorer{a}
	}
	if o.View != nil {
		a.recording.view = o.View
		a.viewer = newViewer(o.View, a.recording, a.show, a.showWhole)
	}
	if err := in.Replay(a); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	a.recording.Damage = in.Damage()
	if err := a.start(); err != nil {
		return err
	}
	if a.viewer != nil {
		if err := a.viewer.finish(); err != nil {
			return err
		}
	}
	if err := a.joiner.Finish(); err != nil {
		return err
	}
	return a.finish()
}

// frameNames returns what compares frames of steady samples with calls.
func (a *analyzer) frameNames() trace.FrameNames {
	return resolve.FrameNames{Names: a.recording.Names, Residual: a.recording.by}
}

// restorer restores the names in a text, so that all that comes of it has original names.
type restorer struct{ *analyzer }

// by returns what restores them.
func (x restorer) by() resolve.Residual {
	x.recording.by.Restored = true
	return resolve.Residual{By: x.recording.by.By}
}

// Class implements source.Restorer.
func (x restorer) Class(name string) string { return x.by().Class(name) }

// Frames implements source.Restorer.
func (x restorer) Frames(frames []string) []string {
	original := x.by().Frames(frames)
	x.recording.restored = x.recording.restored || !slices.Equal(original, frames)
	return original
}

// analyzer is a recording that is being read. It is the trace.Handler.
type analyzer struct {
	Options
	recording *Recording
	joiner    evidence.Joiner
	also      trace.Handler
	viewer    *viewer // nil if all is shown
	started   bool
	last      trace.Method
	complete  *trace.Completeness
	cost      *trace.Cost
	stopped   trace.Suspensions
	incidents incidents
	// coroutines joins the calls of suspend functions. held are stalls that wait until that is done.
	coroutines coroutine.Joiner
	held       []*Stall
	heldNodes  int
	// compositions counts what composables were executed.
	compositions composition.Joiner
}

// start finds the names, when the meta data are read or when it is known that there are none.
func (a *analyzer) start() error {
	if a.started {
		return nil
	}
	a.started = true
	r := a.recording
	r.Digest = r.Meta["mappingId"]
	if a.Mappings != nil {
		names, found, err := a.Mappings.Find(r.Name, r.Digest, a.Force)
		if err != nil {
			return err
		}
		r.Names, r.Resolved = names, found
		r.Forced = !found && resolve.Stamped(r.Digest) && names.Mapping() != nil
		if r.by.By == nil && !r.Forced {
			r.by.By = names.R8()
		}
	}
	r.Names.Forget()
	a.coroutines.Glue, a.compositions.Names = r.Names.Glue, r.Names
	a.coroutines.Library = func(m trace.Method) bool { name, _ := r.Names.Name(m); return foreign.OfLibrary(name.Class) }
	if a.Also != nil {
		var err error
		if a.also, err = a.Also(r); err != nil {
			return err
		}
	}
	if a.Begin != nil {
		return a.Begin(r)
	}
	return nil
}

// finish hands on what was summed up.
func (a *analyzer) finish() error {
	r := a.recording
	if a.Missing != nil && r.Names.Unknown() > 0 {
		return fmt.Errorf("%s has methods as IDs: %w", r.Name, a.Missing)
	}
	if a.complete != nil {
		steady := &a.complete.Samples
		r.Samples += steady.Placed + steady.Unusable + steady.Unfit
		r.ToolSamples += steady.Own
		r.contradicting = steady.Contradicting
		r.Cost = newCost(a.cost, a.complete)
	}
	if a.complete != nil && r.HasCalls() {
		r.Completeness = newCompleteness(a.complete, r)
	}
	r.Coroutines, r.Compositions = a.coroutines.Join(r.PartlyRecorded()), a.compositions.Join()
	for len(a.held) > 0 {
		if err := a.release(); err != nil {
			return err
		}
	}
	if err := a.incidents.finish(r, a.viewer); err != nil {
		return err
	}
	if r.Meta == nil {
		r.Meta = map[string]string{}
	}
	r.Incidents = list(r.Incidents)
	delete(r.met, trace.MethodNotRecorded)
	r.Methods = len(r.met)
	for m := range r.met {
		if _, ok := r.Names.Name(m); !ok {
			r.Unresolved++
		}
	}
	if r.begin < r.end {
		r.Span = time.Duration(r.end - r.begin)
	}
	if a.End != nil {
		return a.End(r)
	}
	return nil
}

// Chunk takes a recording's metadata and damage.
func (a *analyzer) Chunk(c trace.Chunk) error {
	r := a.recording
	switch c := c.(type) {
	case *trace.Meta:
		a.meta(c)
	case *trace.Clock:
		if r.clock == nil {
			r.clock = c
		}
		r.fix(r.originOf(c))
	case *trace.Threads:
		r.Threads += len(c.List)
		for _, t := range c.List {
			if r.threads[t.Index] == nil {
				r.addThread(t)
			}
		}
	case *trace.End:
		r.Overwritten = c.Overwritten
	case *trace.MissingParts:
		r.Missing = append(r.Missing, *c)
	case *trace.StackSample:
		r.Samples++
		if len(foreign.WithoutTool(c.Frames)) < len(c.Frames) {
			r.ToolSamples++
		}
	case *trace.Suspended:
		a.stopped.Add(c)
	case *trace.Exit:
		r.exited(c)
	case *trace.Cost:
		a.cost = c
	case *trace.Completeness:
		a.complete = c
	}
	a.coroutines.Chunk(c)
	a.compositions.Chunk(c)
	if err := a.incidents.chunk(c, r); err != nil {
		return err
	}
	if err := a.start(); err != nil {
		return err
	}
	if at, timed := timeOf(c); timed {
		r.fix(at)
	}
	shown := c
	if a.viewer != nil {
		var err error
		if shown, err = a.viewer.chunk(c); err != nil {
			return err
		}
	}
	if a.also != nil && shown != nil {
		if err := a.also.Chunk(shown); err != nil {
			return err
		}
	}
	return a.joiner.Chunk(c)
}

// meta takes the recording's metadata. A text has a chunk for each report; the first one counts.
func (a *analyzer) meta(c *trace.Meta) {
	r := a.recording
	if a.started && !r.IsText() {
		return // what is shown already goes by the first, or by its having been lost
	}
	if r.Meta == nil {
		r.Meta = make(map[string]string, len(c.Values))
		r.Precision = c.Precision()
	}
	for k, v := range c.Values {
		if _, said := r.Meta[resolve.Printable(k)]; !said {
			r.Meta[resolve.Printable(k)] = resolve.Printable(v)
		}
	}
}

// Named takes the name of a method that has no ID.
func (a *analyzer) Named(m trace.Method, name string) error {
	if err := a.start(); err != nil {
		return err
	}
	a.recording.Names.Named(m, name)
	if a.also != nil {
		return a.also.Named(m, name)
	}
	return nil
}

// Segment takes calls.
func (a *analyzer) Segment(s *trace.Segment) error {
	if err := a.start(); err != nil {
		return err
	}
	r := a.recording
	r.fix(s.Begin)
	r.kinds[s.Kind&7]++
	if r.begin == 0 && r.end == 0 || s.Begin < r.begin {
		r.begin = s.Begin
	}
	r.end = max(r.end, s.End)
	r.Repairs.Add(s.Repairs)
	r.Records += recordsOf(s)
	for i := range s.Calls {
		a.meet(s.Calls[i].Method)
		if s.Calls[i].Marks&trace.MarkResumed == 0 && s.Calls[i].Method != trace.MethodNotRecorded {
			r.Calls += uint64(s.Calls[i].Count)
		}
	}
	a.coroutines.Segment(s)
	a.compositions.Segment(s)
	shown := fold.ShowSuspensions(&a.stopped, s)
	if err := a.view(shown); err != nil {
		return err
	}
	if err := a.incidents.segment(shown, r); err != nil {
		return err
	}
	return a.joiner.Segment(s)
}

// view takes the calls of which the view is shown.
func (a *analyzer) view(s *trace.Segment) error {
	if a.viewer != nil {
		return a.viewer.segment(s)
	}
	if err := a.showWhole(s); err != nil {
		return err
	}
	return a.show(s)
}

// showWhole takes the calls that are shown, before short ones are folded.
func (a *analyzer) showWhole(s *trace.Segment) error {
	if w, ok := a.also.(Whole); ok {
		return w.Whole(s)
	}
	return nil
}

// show takes the calls that are shown.
func (a *analyzer) show(s *trace.Segment) error {
	if a.also != nil {
		return a.also.Segment(s)
	}
	return nil
}

// meet notes that a method was called: for most calls, that of the call before them.
func (a *analyzer) meet(m trace.Method) {
	if m != a.last && !a.recording.met[m] {
		a.recording.met[m] = true
	}
	a.last = m
}

// found takes a stall.
func (a *analyzer) found(s *evidence.Stall) error {
	out := newStall(s, a.recording)
	resumed := out.resumed(&a.coroutines)
	out.composed(&a.compositions)
	switch r := a.recording; out.Role {
	case RoleRun:
		r.Runs++
	case RoleIdle:
		r.Waits++
	default:
		r.Stalls++
	}
	out.Number = a.recording.lasting()
	a.incidents.stall(out)
	return a.hold(out, resumed)
}

// handOn hands on a stall of which all is known.
func (a *analyzer) handOn(s *Stall) error {
	if a.Stall != nil && (a.viewer == nil || a.viewer.stall(s)) {
		return a.Stall(s)
	}
	return nil
}

// recordsOf is how many records a segment was made of, those left out as strays not counted.
func recordsOf(s *trace.Segment) uint64 {
	if s.Kind == trace.SegmentReport || s.Kind == trace.SegmentSamples {
		return 0
	}
	n := uint64(0)
	for i := range s.Calls {
		n += s.Calls[i].Records()
	}
	return n
}
