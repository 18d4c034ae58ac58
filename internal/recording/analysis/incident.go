package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Incident is what a detector of the runtime has found that is no stall, with the names of this build.
type Incident struct {
	// Number is its number in the recording, from 0. The device's report of it has the same number.
	Number uint64 `json:"number"`
	// Detector is the name of the detector, Kind what it found; trace/EVIDENCE.md lists both.
	Detector string `json:"detector"`
	Kind     string `json:"kind"`
	// What is a name of what was slow, empty if there is none.
	What string `json:"what,omitempty"`
	// Thread is the thread that it concerns; nil if it concerns the whole process.
	Thread *Thread `json:"thread"`
	// Begin is how long after the recording's origin it began, see [Recording.At]; Time when that was; zero if it is not
	// known. Wall is how long it lasted, 0 if Ended is false: it had not ended when it was written.
	Begin time.Duration `json:"beginNanos"`
	Time  Moment        `json:"time,omitzero"`
	Wall  time.Duration `json:"wallNanos"`
	Ended bool          `json:"ended"`
	// Scene is where the app was, empty if that is not known; Foreground whether it was seen.
	Scene      string `json:"scene,omitempty"`
	Foreground bool   `json:"foreground"`
	// Text says in a line what was found, and what that does not prove.
	Text string `json:"text"`
	// Facts are what the detector knows, in its order. A key may be one that this program does not know.
	Facts []IncidentFact `json:"facts"`
	// Stacks are the stacks that were taken, the first one first.
	Stacks []IncidentStack `json:"stacks"`
	// Stalls are the numbers of the stalls of the same thread that it overlaps, at most 20, the first one first.
	// Covered is set if one of them covers half of it or more: the stall shows the calls then. Sampled is set if
	// one of those has stack samples.
	Stalls  []int `json:"stalls"`
	Covered bool  `json:"covered"`
	Sampled bool  `json:"-"`
	// HotPath and MostSelf are as those of a [Stall], of the calls within it. CallsMissing is set if not all calls of its
	// records are among them.
	HotPath      []Step `json:"hotPath"`
	MostSelf     []Step `json:"mostSelf"`
	CallsMissing bool   `json:"callsMissing,omitempty"`
	// Key is equal for those incidents of one kind that have the same cause: 16 hexadecimal digits.
	Key string `json:"key"`
	// Tree has its calls, merged by path; nil if there are none.
	Tree *evidence.Tree `json:"-"`

	chunk     *trace.Incident
	inCounted bool // a stall that counts covers it
}

// IncidentFact is something that a detector knows of an incident.
type IncidentFact struct {
	// Key is a word with hyphens. If it ends in "-millis", Value is a number of milliseconds.
	Key   string `json:"key"`
	Value string `json:"value"`
}

// printableFacts returns facts of a recording, as an empty list if there are none.
func printableFacts(facts []trace.IncidentFact) []IncidentFact {
	all := []IncidentFact{}
	for _, f := range facts {
		all = append(all, IncidentFact{resolve.Printable(f.Key), resolve.Printable(f.Value)})
	}
	return all
}

// IncidentStack is a stack of an [Incident].
type IncidentStack struct {
	// Thread is the name of the thread, After how long after the begin of the incident the stack was taken.
	Thread string        `json:"thread"`
	After  time.Duration `json:"afterNanos"`
	// State, Activity and Frames are as those of a [StackSample].
	State    string           `json:"state"`
	Activity foreign.Activity `json:"activity"`
	Frames   []string         `json:"frames"`
}

// Detector is what a detector of the runtime did while a recording was made.
type Detector struct {
	// Name is its name. State is its last state: "on", "off", or a text that begins with one of these words or with
	// "not available" and says why.
	Name  string `json:"name"`
	State string `json:"state"`
	// Earlier has its states before that, the first one first, at most 16.
	Earlier []string `json:"earlier"`
}

// Watched reports whether the detector was on until the recording ended. If not, it may have missed what it looks for.
func (d *Detector) Watched() bool { return d.State == "on" && len(d.Earlier) == 0 }

// Fact returns the value of a fact; empty if the detector does not say it.
func (i *Incident) Fact(key string) string {
	for _, f := range i.Facts {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

const (
	// maxIncidents is how many incidents of a recording are kept; of further ones only the number is known.
	maxIncidents = 1 << 12
	// maxIncidentTexts is how many facts and frames of incidents are kept.
	maxIncidentTexts = 1 << 19
	// maxRecentCalls is how many calls are kept for the incidents that come behind them.
	maxRecentCalls = 1 << 17
	// maxStallSpans is how many stalls are kept to compare incidents with.
	maxStallSpans = 1 << 16
	// maxStallsOfIncident is how many stalls an incident names.
	maxStallsOfIncident = 20
	// maxEarlierStates is how many earlier states of a detector are kept.
	maxEarlierStates = 16
)

// incidents collects what detectors found in a recording. An incident may come in two chunks, behind its calls or in
// the middle of them: a message that is still running when the chunk is written has its calls later. So the last calls
// are kept, and an incident takes calls until its last record has come.
type incidents struct {
	byNumber map[uint64]*foundIncident
	open     []*foundIncident // that take calls
	omitted  int
	texts    int
	recent   []*trace.Segment // the last ones of the threads that incidents are about, from first on
	first    int
	calls    int             // how many recent has
	about    map[uint32]bool // threads that an incident was about
	stalls   []stallSpan
	clock    *trace.Clock // the last one
	states   map[string]*Detector
}

// foundIncident is the last chunk of an incident, and its calls.
type foundIncident struct {
	*trace.Incident
	clock   *trace.Clock
	tree    evidence.Tree
	folder  *fold.Folder
	partial bool // calls from its begin are missing
	some    bool // calls were found
	texts   int
}

// stallSpan is when a stall was.
type stallSpan struct {
	thread     uint32
	begin, end int64
	number     int
	sampled    bool // stack samples of it are shown
	counts     bool
}

func (x *incidents) chunk(c trace.Chunk, r *Recording) error {
	switch c := c.(type) {
	case *trace.Clock:
		x.clock = c
	case *trace.Detectors:
		x.detectors(c)
	case *trace.Incident:
		return x.incident(c, r)
	}
	return nil
}

// detectors notes what detectors do now. A name that a later chunk lacks keeps its state.
func (x *incidents) detectors(c *trace.Detectors) {
	if x.states == nil {
		x.states = map[string]*Detector{}
	}
	for _, s := range c.List {
		name, state := resolve.Printable(s.Name), resolve.Printable(s.State)
		d := x.states[name]
		switch {
		case d == nil && len(x.states) >= maxIncidents:
		case d == nil:
			x.states[name] = &Detector{Name: name, State: state, Earlier: []string{}}
		case d.State != state:
			if len(d.Earlier) < maxEarlierStates {
				d.Earlier = append(d.Earlier, d.State)
			}
			d.State = state
		}
	}
}

// incident takes a chunk, which replaces an earlier one of the same number.
func (x *incidents) incident(c *trace.Incident, r *Recording) error {
	if x.byNumber == nil {
		x.byNumber, x.about = map[uint64]*foundIncident{}, map[uint32]bool{}
	}
	before := x.byNumber[c.Number]
	if before == nil && len(x.byNumber) >= maxIncidents {
		x.omitted++
		return nil
	}
	f := &foundIncident{Incident: c, clock: x.clock}
	if before != nil {
		x.texts -= before.texts
		x.open = slices.DeleteFunc(x.open, func(o *foundIncident) bool { return o == before })
	}
	f.texts = len(c.Facts)
	for k := range c.Stacks {
		f.texts += 1 + len(c.Stacks[k].Frames)
	}
	if x.texts+f.texts > maxIncidentTexts {
		without := *c
		without.Facts, without.Stacks, f.texts = nil, nil, 0
		f.Incident = &without
	}
	x.texts += f.texts
	x.byNumber[c.Number] = f
	if c.WholeProcess || c.EndRecord <= c.FirstRecord {
		return nil
	}
	x.about[c.Thread] = true
	f.folder = fold.New(func(s *trace.Segment) error {
		f.some = true
		f.tree.Add(s)
		f.tree.Trim(maxIncidentNodes)
		return nil
	}, func(trace.Method, string) error { return nil })
	off := r.Precision.Nanoseconds()
	f.folder.From = max(c.Begin, math.MinInt64+off+1) - off
	if c.End > 0 {
		f.folder.To = min(c.End, math.MaxInt64-off-1) + off + 1
	}
	f.partial = true
	x.open = append(x.open, f)
	for _, s := range x.recent[x.first:] {
		if err := x.give(s); err != nil {
			return err
		}
	}
	return nil
}

// maxIncidentNodes is how many nodes the tree of an incident keeps.
const maxIncidentNodes = 1 << 12

// segment takes calls of any thread.
func (x *incidents) segment(s *trace.Segment, r *Recording) error {
	if err := x.give(s); err != nil {
		return err
	}
	if !x.about[s.Thread] && !r.Thread(s.Thread).Main || s.EndRecord <= s.FirstRecord {
		return nil
	}
	if len(s.Calls) > maxRecentCalls {
		x.recent, x.first, x.calls = nil, 0, 0
		return nil
	}
	kept := *s
	kept.Calls, kept.Gaps = slices.Clone(s.Calls), slices.Clone(s.Gaps)
	x.recent = append(x.recent, &kept)
	x.calls += len(s.Calls)
	for x.calls > maxRecentCalls {
		x.calls -= len(x.recent[x.first].Calls)
		x.recent[x.first] = nil
		x.first++
	}
	// Each segment is moved once for two that are added, however short they are.
	if x.first > len(x.recent)/2 {
		x.recent, x.first = slices.Delete(x.recent, 0, x.first), 0
	}
	return nil
}

// give hands a segment to the incidents that it belongs to.
func (x *incidents) give(s *trace.Segment) error {
	for k := 0; k < len(x.open); k++ {
		f := x.open[k]
		if f.Thread != s.Thread || s.EndRecord <= f.FirstRecord {
			continue
		}
		if s.FirstRecord >= f.EndRecord {
			x.open = slices.Delete(x.open, k, k+1)
			k--
			continue
		}
		f.partial = f.partial && s.FirstRecord > f.FirstRecord
		if err := f.folder.Segment(s); err != nil {
			return err
		}
	}
	return nil
}

// stall notes when a stall was.
func (x *incidents) stall(s *Stall) {
	if len(x.stalls) < maxStallSpans {
		x.stalls = append(x.stalls, stallSpan{s.Thread.Index, s.begin, s.begin + int64(s.Wall), s.Number,
			len(s.Samples) > 0, s.NotCounted() == ""})
	}
}

// finish sets what the recording has of incidents and detectors.
func (x *incidents) finish(r *Recording, shown *viewer) error {
	for _, d := range x.states {
		r.Detectors = append(r.Detectors, *d)
	}
	slices.SortFunc(r.Detectors, func(a, b Detector) int { return cmp.Compare(a.Name, b.Name) })
	r.OmittedIncidents = x.omitted
	for _, f := range x.byNumber {
		if f.folder != nil {
			if err := f.folder.Flush(); err != nil {
				return err
			}
		}
		if shown == nil || shown.incident(f.Incident) {
			r.Incidents = append(r.Incidents, x.newIncident(f, r))
		}
	}
	slices.SortFunc(r.Incidents, func(a, b *Incident) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// newIncident puts names to an incident.
func (x *incidents) newIncident(f *foundIncident, r *Recording) *Incident {
	c := f.Incident
	i := &Incident{chunk: c, Number: c.Number, Detector: resolve.Printable(c.Detector), Kind: resolve.Printable(c.Kind),
		What: whatRan(c.What, r.Names, r.by), Begin: time.Duration(r.At(c.Begin)), Ended: c.End != 0 && c.End >= c.Begin,
		Scene: r.by.Class(c.Scene), Foreground: c.Foreground, Facts: printableFacts(c.Facts), Stacks: []IncidentStack{},
		Stalls: []int{}, HotPath: []Step{}, MostSelf: []Step{}}
	if !c.WholeProcess {
		i.Thread = r.Thread(c.Thread)
	}
	if i.Ended {
		i.Wall = time.Duration(max(0, min(c.End, math.MaxInt64/2)-max(c.Begin, -math.MaxInt64/2)))
	}
	i.Time = momentOf(cmp.Or(f.clock, r.clock), c.Begin)
	for k := range c.Stacks {
		s := &c.Stacks[k]
		frames, state := r.by.Frames(s.Frames), s.State.String()
		i.Stacks = append(i.Stacks, IncidentStack{resolve.Printable(s.Thread), time.Duration(s.Nanos - c.Begin), state,
			foreign.ActivityOf(state, frames), frames})
	}
	if f.some && len(f.tree.Nodes) > 1 {
		i.Tree = &f.tree
		i.HotPath, i.MostSelf = list(hotPath(i.Tree, r.Names)), list(mostSelf(i.Tree, r.Names, 5))
	}
	i.CallsMissing = f.folder != nil && f.partial
	x.overlaps(i)
	_, i.Key = i.cause()
	i.Text = i.text(r)
	return i
}

// whatRan returns what was slow in the names of its build: a message, or the class of a scene.
func whatRan(what string, names *resolve.Names, by resolve.Residual) string {
	if m := resolve.ParseMessage(what, names, by); m.Kind != "other" && m.Kind != "unknown" {
		return m.String()
	}
	return by.Class(what)
}

// overlaps finds the stalls of the incident's thread that it overlaps.
func (x *incidents) overlaps(i *Incident) {
	c := i.chunk
	if c.WholeProcess {
		return
	}
	end := lastSeen(c)
	for _, s := range x.stalls {
		if s.thread != c.Thread || s.end < c.Begin || s.begin > end {
			continue
		}
		if len(i.Stalls) < maxStallsOfIncident {
			i.Stalls = append(i.Stalls, s.number)
		}
		if Covers(s.begin, s.end, c.Begin, end) {
			i.Covered, i.Sampled, i.inCounted = true, i.Sampled || s.sampled, i.inCounted || s.counts
		}
	}
}

// incident reports whether an incident is in the view.
func (v *viewer) incident(c *trace.Incident) bool {
	return (c.WholeProcess || v.thread(c.Thread)) && v.overlaps(c.Begin, lastSeen(c))
}

// lastSeen returns until when an incident lasted, or, if it has no end, when the last of its stacks was taken.
func lastSeen(c *trace.Incident) int64 {
	end := max(c.End, c.Begin)
	for k := range c.Stacks {
		end = max(end, c.Stacks[k].Nanos)
	}
	return end
}
