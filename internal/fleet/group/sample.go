package group

import (
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/trace"
)

// Unit is what a sample counts its methods' times by.
type Unit string

// The units.
const (
	// UnitRecording takes each recording for one unit.
	UnitRecording Unit = "recording"
	// UnitMessage takes each message for one, and where there are none each outermost call.
	UnitMessage Unit = "message"
	// UnitUser takes each user for one. It is for reports, which have no times of methods.
	UnitUser Unit = "user"
)

// moments are what a mean and a variance are made of. Units in which nothing was counted need not be added.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// over returns mean and variance over n units, those that were not added counting 0.
func (m *moments) over(n float64) (mean, variance float64) {
	if n == 0 {
		return 0, 0
	}
	mean = m.sum / n
	if n > 1 {
		variance = max(0, (m.squares-n*mean*mean)/(n-1))
	}
	return mean, variance
}

// methodSample is what is known of a method in a sample. Times are in nanoseconds.
type methodSample struct {
	self, total, cpu moments // by unit
	calls            uint64
	// samples is how many stacks show it as the innermost method, estimated what of its own time only they show.
	samples, estimated float64
}

// groupSample is what is known of a group of stalls in a sample. The cases are stalls, or the users that have them.
type groupSample struct {
	cases int
	wall  moments
	worst analysis.Row
}

// Sample sums up how long each method took in each unit of some recordings of one build. The zero value but for Unit
// is empty. It holds a few numbers for each method. It is not safe for several goroutines.
type Sample struct {
	// Unit is what times are counted by.
	Unit Unit
	// Paths is set to keep the calls by path, for [Comparison.WriteHTML].
	Paths bool
	// Units and Recordings are how many there were.
	Units, Recordings int

	measured int // units whose methods have CPU times
	versions span
	methods  map[string]*methodSample // by methodKey
	stalls   map[string]*groupSample
	paths    pathFrames
	now      *sampler
}

// Stall takes a stall. One that does not count is in no group.
func (s *Sample) Stall(stall *analysis.Stall) error {
	if stall.NotCounted() != "" {
		return nil
	}
	if s.stalls == nil {
		s.stalls = map[string]*groupSample{}
	}
	g := s.stalls[stall.Key]
	if g == nil {
		g = &groupSample{}
		s.stalls[stall.Key] = g
	}
	g.cases++
	g.wall.add(float64(stall.Ran))
	if c := analysis.RowOf(stall); g.cases == 1 || c.Wall > g.worst.Wall {
		g.worst = c
	}
	return nil
}

// Sample returns what was added as a sample of users, of whom anything was reported. Nothing can be added afterwards.
func (s *Stalls) Sample(users int) *Sample {
	f := s.Groups()
	sample := &Sample{Unit: UnitUser, Units: users, Recordings: f.Recordings, versions: s.versions,
		stalls: map[string]*groupSample{}}
	for _, g := range f.Groups {
		wall := moments{n: float64(g.Stalls), sum: float64(g.Total)}
		sample.stalls[g.Key] = &groupSample{cases: g.Users, wall: wall, worst: g.Worst}
	}
	return sample
}

// methodSample returns what is known of a method.
func (s *Sample) methodSample(key string) *methodSample {
	if s.methods == nil {
		s.methods = map[string]*methodSample{}
	}
	m := s.methods[key]
	if m == nil {
		m = &methodSample{}
		s.methods[key] = m
	}
	return m
}

// Add begins a recording and returns the handler for its content. End ends it.
func (s *Sample) Add(r *analysis.Recording) (trace.Handler, error) {
	s.Recordings++
	s.versions.add(buildOf(r))
	s.now = &sampler{sample: s, Calls: sums.NewCalls(), names: r.Names, methods: map[trace.Method]*methodSample{}}
	return s.now, nil
}

// End ends the recording that was added last.
func (s *Sample) End(*analysis.Recording) error {
	if s.now != nil && (s.Unit == UnitRecording || s.now.any) {
		if s.Unit == UnitRecording {
			s.now.Graft(nil)
		}
		s.now.endUnit()
		if s.Unit == UnitMessage && s.now.between && s.Units > 1 {
			s.Units-- // what came behind the last message is no unit
		}
	}
	if s.now != nil && s.Paths {
		s.now.endPaths()
	}
	s.now = nil
	return nil
}

// sampler adds one recording to a sample.
type sampler struct {
	*sums.Calls // of the unit that is being read
	sample      *Sample
	names       *resolve.Names
	methods     map[trace.Method]*methodSample
	tree        evidence.Tree
	any         bool // a call has come since the last unit
	between     bool // the last segment was no message, and none has come since
}

// Segment adds the calls of a segment to those of the unit.
func (p *sampler) Segment(s *trace.Segment) error {
	// A message has too few samples to divide its own times among them.
	add := p.Sums.Segment
	if p.sample.Unit == UnitRecording {
		add = p.Calls.Segment
	}
	if err := add(s); err != nil {
		return err
	}
	p.any = p.any || len(s.Calls) > 0
	if p.sample.Paths {
		p.addPaths(s)
	}
	p.between = s.Kind == trace.SegmentBetween
	goesOn := len(s.Calls) > 0 && s.Calls[s.Message].Marks&trace.MarkSuspended != 0
	if p.sample.Unit == UnitMessage && !goesOn && !p.between {
		p.endUnit()
	}
	return nil
}

// method finds a method's numbers, by its name as all builds have it.
func (p *sampler) method(id trace.Method) *methodSample {
	if m := p.methods[id]; m != nil {
		return m
	}
	name, _ := p.names.Name(id)
	m := p.sample.methodSample(methodKey(name.Class, name.Method, name.Descriptor))
	p.methods[id] = m
	return m
}

// methodKey distinguishes methods. A line feed is in no name: names of what is no method, and names as source code has
// them, have blanks.
func methodKey(class, method, descriptor string) string {
	return class + "\n" + method + "\n" + descriptor
}

// splitKey returns what a methodKey is made of.
func splitKey(key string) (class, method, descriptor string) {
	parts := strings.SplitN(key, "\n", 3)
	return parts[0], parts[1], parts[2]
}

// endUnit ends a unit of work.
func (p *sampler) endUnit() {
	p.sample.Units++
	p.any = false
	measured := false
	p.Take(func(t *sums.Sum) {
		m := p.method(t.Method)
		m.self.add(float64(t.Self))
		m.total.add(float64(t.Total))
		m.calls += t.Calls
		e := &t.Estimate
		m.samples += float64(e.Samples)
		m.estimated += float64(e.Self)
		if e.Known > 0 && e.CPU >= 0 {
			measured = true
			m.cpu.add(float64(e.CPU) * float64(t.Self) / float64(e.Known))
		}
	})
	if measured {
		p.sample.measured++
	}
}
