package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/mapping"
)

// allMethods asks about everything.
type allMethods struct{}

func (allMethods) MatchClass(string) bool      { return true }
func (allMethods) Match(mapping.Identity) bool { return true }

// TestExplain wants the answers to be what a run makes of the same inputs: IDs and reasons method by method.
//
// Invariant: What explain says about a method is what a run does with it.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	in := sampleJar(t, filepath.Join(dir, "in.jar"))
	for _, exits := range inject.ExitModes() {
		c := config(in, filepath.Join(dir, "out.jar"))
		c.Inject.Exits = exits
		c.Filter = filter.New(filter.Options{})
		result := instrument(t, c)
		reasons := map[mapping.Identity]string{}
		for s := range result.Skipped {
			reasons[mapping.Identity{Class: s.Class, Name: s.Name, Descriptor: s.Descriptor}] = string(s.Reason) +
				s.Detail
		}
		explained, err := pipeline.Explain(t.Context(), c, allMethods{})
		if err != nil {
			t.Fatal(err)
		}
		if explained.Mapping.Digest() != result.Mapping.Digest() {
			t.Errorf("digest %s, the run has %s", explained.Mapping.Digest(), result.Mapping.Digest())
		}
		methods := 0
		for _, class := range explained.Classes {
			for _, m := range class.Methods {
				identity := mapping.Identity{Class: class.Class, Name: m.Name, Descriptor: m.Descriptor}
				id, traced := result.Mapping.ByMethod(identity)
				why, skipped := reasons[identity]
				said := string(m.Reason) + m.Detail // with the proof, for a bounded method
				if m.ID != id || m.Code != (traced || skipped) || m.Reason != "" && !strings.HasPrefix(said, why) {
					t.Errorf("%v: %+v; the run: ID %d, %q", identity, m, id, why)
				}
				if m.Code {
					methods++
				}
				if m.Code && m.CodeBytes == 0 {
					t.Errorf("%v: no code", identity)
				}
			}
		}
		if methods != result.Inputs[0].Methods {
			t.Errorf("%d methods, the run has %d", methods, result.Inputs[0].Methods)
		}
	}
}
