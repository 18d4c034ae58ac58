package pipeline

import (
	"slices"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// needsBuiltIn reports whether the built-in runtime has to be added: the inputs lack the runtime class, which has its
// original name in them.
func (c *Config) needsBuiltIn(facts []*plan.Class, runtime, original string) bool {
	return c.BuiltIn != nil && runtime == original &&
		!slices.ContainsFunc(facts, func(f *plan.Class) bool { return f.Name == runtime })
}

// notMerged lists the entries of the built-in runtime that a merged jar must not get: a manifest beside that of the
// first input, and a descriptor, which would make the whole jar the runtime's module.
var notMerged = []string{"META-INF/MANIFEST.MF", "module-info.class"}

// addBuiltIn adds the built-in runtime as the last input and scans it. It returns the facts of all classes. The facts
// are not kept for later runs: to scan so few classes costs less than to read what is kept of them.
func (w *work) addBuiltIn(c *Config, facts []*plan.Class, o plan.ScanOptions, r *results) ([]*plan.Class, error) {
	var without []string
	if c.Merge != "" {
		without = notMerged
	}
	in, err := input.OpenArchive(len(w.set.Inputs), c.BuiltIn.Name, c.BuiltIn.Data, without...)
	if err != nil {
		return nil, err
	}
	w.set.Add(in)
	w.builtIn = in
	r.addBuiltIn(c.BuiltIn.Data)
	for _, class := range in.Classes {
		w.progress.grow(class.Size)
	}
	s := w.newScanner(o, plan.NewGraph())
	for n := len(facts); n < len(w.set.Classes); n++ {
		found, err := s.scan(n)
		if err != nil {
			return nil, err
		}
		facts = append(facts, found)
	}
	return facts, nil
}
