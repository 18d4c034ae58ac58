package dense

import "github.com/tracegen/tracegen/trace"

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
	if err := trace.Replay(in, f); err != nil {
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
	named   map[trace.Method]Method // methods that the mapping lacks
	main    uint32                  // the thread
	tree    trace.Tree
}

func (r *Prepared) reader() *recordingReader {
	return &recordingReader{Figures: &Figures{Off: map[Method]bool{}, Profile: newProfile(r.traced)}, program: r,
		named: map[trace.Method]Method{}}
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
	case *trace.End:
		f.Records, f.Lost, f.Closed = c.Records, c.Overwritten, true
	}
	return nil
}

func (f *recordingReader) Named(m trace.Method, name string) error {
	f.named[m] = Method(name)
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
	if e, ok := f.program.Mapping.ByID(uint32(m)); ok {
		return methodOf(e.Identity)
	}
	return f.named[m]
}

// profile adds the time of the tree.
func (f *recordingReader) profile() {
	var stack []Method
	for k := 1; k < len(f.tree.Nodes); k++ {
		stack = stack[:0]
		for n := int32(k); n != 0; n = f.tree.Nodes[n].Parent {
			if m := f.method(f.tree.Nodes[n].Method); m != "" {
				stack = append(stack, m)
			}
		}
		f.Profile.add(stack, float64(f.tree.Nodes[k].Self))
	}
}
