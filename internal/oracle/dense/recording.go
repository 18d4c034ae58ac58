package dense

import (
	"github.com/tracegen/tracegen/internal/recording/graft"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Figures is what a recording says about itself.
type Figures struct {
	// Records is how many it has, Lost how many were overwritten.
	Records, Lost uint64
	// Closed is whether it has an end.
	Closed bool
	// Gated and Windowed is how many calls the gate and windows have left out, Windows how many there were.
	Gated, Windowed uint64
	Windows         int
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
	in, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := r.reader()
	names := resolve.FrameNames{Names: f.names}
	if err := trace.ReplayWith(in, f, trace.ReplayOptions{Frames: func() trace.FrameNames { return names }}); err != nil {
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
	main    uint32 // the thread
	tree    trace.Tree
}

func (r *Prepared) reader() *recordingReader {
	return &recordingReader{Figures: &Figures{Off: map[Method]bool{}, Profile: newProfile(r.traced)}, program: r,
		names: resolve.NewNames(r.Mapping, nil)}
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
	case *trace.LeftOut:
		for _, m := range c.Methods {
			f.Gated += m.Calls
		}
	case *trace.Window:
		f.Windows++
		f.Windowed += c.Calls
	case *trace.Stacks:
		f.Samples += len(c.Samples)
	case *trace.End:
		f.Records, f.Lost, f.Closed = c.Records, c.Overwritten, true
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
	name, _ := f.names.Name(m)
	return Method(name.String())
}

// profile adds the time of the tree in which the thread did not wait.
func (f *recordingReader) profile() {
	tree := graft.Of(&f.tree)
	var stack []Method
	for k := 1; k < len(tree.Nodes); k++ {
		stack = stack[:0]
		for n := int32(k); n != 0; n = tree.Nodes[n].Parent {
			stack = append(stack, f.method(tree.Nodes[n].Method))
		}
		n := &tree.Nodes[k]
		f.Profile.add(stack, float64(n.Self-n.Grafted.Waiting-n.Grafted.Blocked))
	}
	for _, s := range graft.Sums(tree) {
		m := f.method(s.Method)
		f.Profile.bound(Inclusive, m, s.TotalLow-s.Total, s.TotalHigh-s.Total)
		f.Profile.bound(Own, m, s.SelfLow-s.Self, s.SelfHigh-s.Self)
	}
}
