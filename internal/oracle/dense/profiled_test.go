package dense

import (
	"bytes"
	"os"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/mapping"
)

// TestCorpusProfile records programs of very many calls, instruments them again with the profile that was learned from
// the recording, and records them again.
//
// Invariant: One recording is enough: of the second build, a recording has no more calls than the budget allows and
// changes nothing in the profile.
func TestCorpusProfile(t *testing.T) {
	nightly.Only(t, "programs")
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jdks, err := JDKs()
	oracle.Require(t, err)
	for _, p := range Programs() {
		if !p.Small && !corpus.IsFull() || p.Threads { // threads of one program take turns, and its calls are few
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			r, err := Prepare(t.Context(), p, c, jdks[0], t.TempDir())
			oracle.Require(t, err)
			run := func(r *Prepared, way Way) Run {
				run, err := r.Run(t.Context(), way)
				if err != nil {
					t.Fatal(err)
				}
				return run
			}
			plain, first := run(r, Plain), run(r, Recording)
			profile := new(filter.Profile)
			learned := learn(t, r, profile, first.File)
			if learned.None == 0 {
				t.Fatalf("nothing was learned: %+v", learned)
			}
			next, err := r.With(t.Context(), profile)
			if err != nil {
				t.Fatal(err)
			}
			second := run(next, Recording)
			if second.Text != plain.Text {
				t.Errorf("the second build printed something else:\n%s\nwant\n%s", lastLines(second.Text), lastLines(plain.Text))
			}
			again := learn(t, next, profile, second.File)
			var text bytes.Buffer
			_ = learned.Write(&text, "first")
			_ = again.Write(&text, "second")
			if again.None > 0 || again.Calls > budget.Calls {
				t.Errorf("the second recording changed the profile:\n%s", &text)
			}
			t.Logf("measured: CPU plain %.2f s, first build ×%.2f, second build ×%.2f\n%s", plain.CPU.Seconds(),
				first.CPU.Seconds()/plain.CPU.Seconds(), second.CPU.Seconds()/plain.CPU.Seconds(), &text)
		})
	}
}

// budget is the default of analyze.
var budget = answer.Budget{Calls: 500_000}

// learn adds to a profile what a recording shows.
func learn(t *testing.T, r *Prepared, profile *filter.Profile, file string) *answer.Learned {
	t.Helper()
	in, err := source.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var text bytes.Buffer
	if _, err := r.Mapping.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	path := file + ".mapping"
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var o analysis.Options
	if o.Mappings, err = resolve.OpenMappings(path, nil); err != nil {
		t.Fatal(err)
	}
	methods := new(answer.Methods)
	methods.Connect(&o)
	if err := analysis.Analyze("recording.tgd", in, o); err != nil {
		t.Fatal(err)
	}
	return methods.Learn(profile, budget, []*mapping.Mapping{r.Mapping})
}
