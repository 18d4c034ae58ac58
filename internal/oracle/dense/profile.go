package dense

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// Profile is where the time of the main thread went. Time is in nanoseconds, or in samples.
type Profile struct {
	// Total is the time in any method of the profile.
	Total float64
	// Inclusive is by method the time in it and what it calls, that of recursive calls once. Self is the time in it
	// and no other method of the profile.
	Inclusive, Self map[mapping.Identity]float64
	// Broken is the time of stacks that do not begin with a main method, and are not part of the profile.
	Broken float64
}

func newProfile() *Profile {
	return &Profile{Inclusive: map[mapping.Identity]float64{}, Self: map[mapping.Identity]float64{}}
}

// Add adds the time of another profile.
func (p *Profile) Add(q *Profile) {
	p.Total += q.Total
	p.Broken += q.Broken
	for m, t := range q.Inclusive {
		p.Inclusive[m] += t
	}
	for m, t := range q.Self {
		p.Self[m] += t
	}
}

// add adds the time of a stack, whose innermost method comes first.
func (p *Profile) add(stack []mapping.Identity, time float64) {
	if len(stack) == 0 {
		return
	}
	p.Total += time
	p.Self[stack[0]] += time
	for k, m := range stack {
		if !slices.Contains(stack[:k], m) {
			p.Inclusive[m] += time
		}
	}
}

// ReadJFR makes a profile of the samples in a file of JFR. Methods that are not traced, and those of off, are left out,
// so that their time is that of the methods that called them. Stacks whose outer frames are missing are counted only.
func (r *Prepared) ReadJFR(ctx context.Context, file string, off map[mapping.Identity]bool) (*Profile, error) {
	stacks, err := oracle.JFRStacks(ctx, r.jdk, file, "main")
	if err != nil {
		return nil, err
	}
	p := newProfile()
	for _, s := range stacks {
		var stack []mapping.Identity
		for _, text := range s.Methods {
			words := strings.SplitN(text, " ", 3)
			m := mapping.Identity{Class: words[0], Name: words[1], Descriptor: words[2]}
			if _, traced := r.Mapping.ByMethod(m); traced && !off[m] {
				stack = append(stack, m)
			}
		}
		outer := strings.SplitN(s.Methods[len(s.Methods)-1], " ", 3)
		if len(stack) > 0 && (outer[1] != "main" || outer[2] != "([Ljava/lang/String;)V") {
			p.Broken += float64(s.Samples)
			continue
		}
		p.add(stack, float64(s.Samples))
	}
	return p, nil
}

// Figures is what a recording says about itself.
type Figures struct {
	// Records is how many it has, Lost how many were overwritten. Closed is whether it has an end.
	Records, Lost uint64
	Closed        bool
	// Gated and Windowed is how many calls the gate and windows have left out, Windows how many there were.
	Gated, Windowed uint64
	Windows         int
	// Off has the methods that were switched off for some time.
	Off map[mapping.Identity]bool
	// Repairs and Damage are those that were needed to read it.
	Repairs trace.Repairs
	Damage  trace.Damage
}

// ReadRecording returns what a recording says about itself.
func (r *Prepared) ReadRecording(file string) (*Figures, error) {
	f := &Figures{Off: map[mapping.Identity]bool{}}
	damage, err := read(file, &figuresReader{f, r.Mapping})
	f.Damage = damage
	return f, err
}

// ReadCalls makes a profile of the calls in a recording. Calls of methods of off are left out, so that their time is
// that of the methods that called them.
func (r *Prepared) ReadCalls(file string, off map[mapping.Identity]bool) (*Profile, error) {
	p := &profileReader{Profile: newProfile(), mapping: r.Mapping, off: off}
	_, err := read(file, p)
	return p.Profile, err
}

func read(file string, h trace.Handler) (damage trace.Damage, err error) {
	in, err := trace.Open(file)
	if err != nil {
		return damage, err
	}
	defer in.Close()
	err = trace.Replay(in, h)
	return in.Damage(), err
}

// figuresReader is a trace.Handler.
type figuresReader struct {
	*Figures
	mapping *mapping.Mapping
}

func (f *figuresReader) Chunk(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Gate:
		for _, m := range c.Methods {
			if e, ok := f.mapping.ByID(uint32(m.Method)); ok {
				f.Off[e.Identity] = true
			}
		}
	case *trace.LeftOut:
		for _, m := range c.Methods {
			f.Gated += m.Calls
		}
	case *trace.Window:
		f.Windows++
		f.Windowed += c.Calls
	case *trace.End:
		f.Records, f.Lost, f.Closed = c.Records, c.Overwritten, true
	}
	return nil
}

func (f *figuresReader) Named(trace.Method, string) error { return nil }

func (f *figuresReader) Segment(s *trace.Segment) error {
	f.Repairs.Add(s.Repairs)
	return nil
}

// profileReader is a trace.Handler.
type profileReader struct {
	*Profile
	mapping *mapping.Mapping
	off     map[mapping.Identity]bool
	names   map[trace.Method]mapping.Identity
	thread  uint32 // the main one
}

func (p *profileReader) Chunk(c trace.Chunk) error {
	if c, ok := c.(*trace.Threads); ok {
		for _, t := range c.List {
			if t.Main {
				p.thread = t.Index
			}
		}
	}
	return nil
}

func (p *profileReader) Named(trace.Method, string) error { return nil }

func (p *profileReader) Segment(s *trace.Segment) error {
	if s.Thread != p.thread {
		return nil
	}
	// shown is for each call the innermost call that is part of the profile: itself, or one that it is in; -1 for none.
	shown := make([]int32, len(s.Calls))
	open := map[mapping.Identity]int{}
	var ends []int32 // of open calls that are part of the profile, with their methods
	var methods []mapping.Identity
	for i := range s.Calls {
		c := &s.Calls[i]
		for n := len(ends); n > 0 && ends[n-1] <= int32(i); n-- {
			open[methods[n-1]]--
			ends, methods = ends[:n-1], methods[:n-1]
		}
		above := int32(-1)
		if c.Parent >= 0 {
			above = shown[c.Parent]
		}
		shown[i] = above
		m, known := p.identity(c.Method)
		if !known || p.off[m] {
			continue
		}
		shown[i] = int32(i)
		time := float64(c.End - c.Begin)
		p.Self[m] += time
		if above < 0 {
			p.Total += time
		} else if outer, ok := p.identity(s.Calls[above].Method); ok {
			p.Self[outer] -= time
		}
		if open[m] == 0 {
			p.Inclusive[m] += time
		}
		open[m]++
		ends, methods = append(ends, c.Next), append(methods, m)
	}
	return nil
}

func (p *profileReader) identity(m trace.Method) (mapping.Identity, bool) {
	id, ok := p.names[m]
	if !ok {
		if p.names == nil {
			p.names = map[trace.Method]mapping.Identity{}
		}
		if e, found := p.mapping.ByID(uint32(m)); found {
			id = e.Identity
		}
		p.names[m] = id
	}
	return id, id.Name != ""
}

// Kind is one of two times of a method.
type Kind string

// The times: with the methods that it calls, and without.
const (
	Inclusive Kind = "inclusive"
	Self      Kind = "self"
)

// Share returns the share of a method in percent.
func (p *Profile) Share(k Kind, m mapping.Identity) float64 {
	return 100 * p.times(k)[m] / max(p.Total, 1)
}

func (p *Profile) times(k Kind) map[mapping.Identity]float64 {
	if k == Self {
		return p.Self
	}
	return p.Inclusive
}

// Biggest returns the n methods with the greatest shares for which keep returns true, the greatest first.
func (p *Profile) Biggest(k Kind, n int, keep func(mapping.Identity) bool) []mapping.Identity {
	times := p.times(k)
	list := slices.DeleteFunc(slices.Collect(maps.Keys(times)), func(m mapping.Identity) bool { return !keep(m) })
	slices.SortFunc(list, func(a, b mapping.Identity) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Descriptor, b.Descriptor))
	})
	return list[:min(n, len(list))]
}

// Nearly is the share above which a method says nothing about where the time went, in percent.
const Nearly = 98

// Comparison is how a recording differs from JFR, in one kind of time. All shares are in percent, and all differences
// in points of percent.
type Comparison struct {
	// Kind is the kind of time.
	Kind Kind
	// Biggest has the ten biggest methods of JFR, without those that have nearly all the time on both sides.
	Biggest []mapping.Identity
	// All is the mean absolute difference of the ten biggest methods, Rest that of Biggest.
	All, Rest float64
	// Noise is the same as Rest for two runs of JFR.
	Noise float64
	// First is the recording's biggest method without those of nearly all, FirstOfJFR that of JFR.
	First, FirstOfJFR mapping.Identity
	// FirstShare is the recording's share of First, FirstInJFR JFR's share of First, BestInJFR that of FirstOfJFR.
	FirstShare, FirstInJFR, BestInJFR float64
}

// Behind returns by how much the recording's biggest method is smaller than the biggest one, both as JFR has them.
func (c *Comparison) Behind() float64 { return c.BestInJFR - c.FirstInJFR }

// Compare compares a recording with two runs of JFR.
func Compare(k Kind, ours *Profile, jfr [2]*Profile) *Comparison {
	both := newProfile()
	both.Add(jfr[0])
	both.Add(jfr[1])
	all := func(mapping.Identity) bool { return true }
	rest := func(m mapping.Identity) bool { return both.Share(k, m) < Nearly || ours.Share(k, m) < Nearly }
	mean := func(p, q *Profile, list []mapping.Identity) float64 {
		sum := 0.0
		for _, m := range list {
			sum += math.Abs(p.Share(k, m) - q.Share(k, m))
		}
		return sum / float64(max(1, len(list)))
	}
	c := &Comparison{Kind: k, Biggest: both.Biggest(k, 10, rest)}
	c.All = mean(ours, both, both.Biggest(k, 10, all))
	c.Rest = mean(ours, both, c.Biggest)
	c.Noise = mean(jfr[0], jfr[1], c.Biggest)
	if own := ours.Biggest(k, 1, rest); len(own) > 0 && len(c.Biggest) > 0 {
		c.First, c.FirstOfJFR = own[0], c.Biggest[0]
		c.FirstShare = ours.Share(k, c.First)
		c.FirstInJFR, c.BestInJFR = both.Share(k, c.First), both.Share(k, c.FirstOfJFR)
	}
	return c
}
