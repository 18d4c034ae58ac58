package dense

import (
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
	"os"
)

// Figures is what a recording says about itself.
type Figures struct {
	// Records is how many it has, Lost how many were overwritten.
	Records, Lost uint64
	// Gated and Windowed is how many calls the gate and windows have left out.
	Gated, Windowed uint64
	// Off has the methods that were switched off for some time.
	Off map[Method]bool
	// Samples is how many steady samples it has.
	Samples int
	// Repairs and Damage are those that were needed to read it.
	Repairs trace.Repairs
	Damage  trace.Damage
	// Profile is where the time of its threads went.
	Profile *Profile
}

// ReadRecording reads a recording.
func (r *Prepared) ReadRecording(file string) (*Figures, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	in, err := trace.NewReader(opened)
	if err != nil {
		return nil, err
	}
	f := r.reader()
	names := resolve.FrameNames{Names: f.names}
	if err := trace.Replay(in, f, trace.ReplayOptions{Frames: func() trace.FrameNames { return names }}); err != nil {
		return nil, err
	}
	f.Damage = in.Damage()
	f.profile()
	return f.Figures, nil
}

// recordingReader is a trace.Handler.
type recordingReader struct {
	*Figures
	program *Prepared
	names   *resolve.Names
	methods map[trace.Method]Method // by what a recording calls them
	main    uint32                  // the thread
	tree    evidence.Tree
	letGo   map[trace.Method]bool
}

func (r *Prepared) reader() *recordingReader {
	return &recordingReader{Figures: &Figures{Off: map[Method]bool{}, Profile: newProfile(r.traced)}, program: r,
		names: resolve.NewNames(r.Mapping, nil), methods: map[trace.Method]Method{}, letGo: map[trace.Method]bool{}}
}

func (f *recordingReader) Chunk(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Threads:
		for _, t := range c.List {
			if t.Main {
				f.main = t.Index
			}
		}
	case *trace.Gate:
		for _, m := range c.Methods {
			f.Off[f.method(m.Method)] = true
		}
	case *trace.LetGo:
		for _, m := range c.Methods {
			f.letGo[m.Method] = true
		}
	case *trace.LeftOut:
		for _, m := range c.Methods {
			f.Gated += m.Calls
		}
	case *trace.Window:
		f.Windowed += c.Calls
	case *trace.Stacks:
		f.Samples += len(c.Samples)
	case *trace.End:
		f.Records, f.Lost = c.Records, c.Overwritten
	}
	return nil
}

func (f *recordingReader) Named(m trace.Method, name string) error {
	f.names.Named(m, name)
	return nil
}

func (f *recordingReader) Segment(s *trace.Segment) error {
	f.Repairs.Add(s.Repairs)
	if f.program.Threads || s.Thread == f.main {
		f.tree.Add(s)
	}
	return nil
}

func (f *recordingReader) method(m trace.Method) Method {
	known, ok := f.methods[m]
	if !ok {
		name, _ := f.names.Name(m)
		known = Method(name.String())
		f.methods[m] = known
	}
	return known
}

// profile adds the time of the tree in which the thread did not wait.
func (f *recordingReader) profile() {
	tree, p := evidence.Graft(&f.tree), f.Profile
	if len(tree.Nodes) == 0 {
		return
	}
	running := make([]float64, len(tree.Nodes)) // with what is below
	for k := len(tree.Nodes) - 1; k > 0; k-- {
		running[k] += runningSelf(&tree.Nodes[k])
		running[tree.Nodes[k].Parent] += running[k]
	}
	open := map[Method]int{}
	var callers []Method // those that are traced, the innermost one last
	enter := func(k int32) {
		m := f.method(tree.Nodes[k].Method)
		if p.traced[m] {
			if open[m] == 0 {
				p.Inclusive[m] += running[k]
			}
			open[m]++
			callers = append(callers, m)
		}
		if len(callers) > 0 {
			self := runningSelf(&tree.Nodes[k])
			p.Total += self
			p.Self[callers[len(callers)-1]] += self
			p.Own[m] += self
		}
	}
	leave := func(k int32) {
		if m := f.method(tree.Nodes[k].Method); p.traced[m] {
			open[m]--
			callers = callers[:len(callers)-1]
		}
	}
	for k := tree.Nodes[0].Child; k > 0; {
		enter(k)
		if child := tree.Nodes[k].Child; child > 0 {
			k = child
			continue
		}
		for ; k > 0; k = tree.Nodes[k].Parent {
			leave(k)
			if next := tree.Nodes[k].Sibling; next > 0 {
				k = next
				break
			}
		}
	}
	sums := evidence.Sums(tree)
	evidence.Bound(sums, evidence.Divided{Recorded: &f.tree, Grafted: tree, LetGo: f.letGo})
	for _, s := range sums {
		m := f.method(s.Method)
		p.bound(Inclusive, m, s.TotalLow-s.Total, s.TotalHigh-s.Total)
		p.bound(Own, m, s.SelfLow-s.Self, s.SelfHigh-s.Self)
	}
}

func runningSelf(n *evidence.Node) float64 {
	return float64(n.Self - n.Grafted.Waiting - n.Grafted.Blocked)
}
