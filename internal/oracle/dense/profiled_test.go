package dense

import (
	"bytes"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
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
// Invariant: One recording is enough: a recording of the second build has no more calls than the budget allows, and
// changes nothing in the profile. What a recording says that it has cost is about what it has cost.
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
			checkPrice(t, r, first, plain, run(r, Plain))
			profile := new(filter.Profile)
			learned := learn(t, r, profile, first.File, standard)
			if learned.None == 0 && p.Name != "loop" { // its tiny method is bounded, and not traced
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
			again := learn(t, next, profile, second.File, 2*standard)
			var text bytes.Buffer
			_ = learned.Write(&text, "first")
			_ = again.Write(&text, "second")
			if again.None > 0 || again.Calls > 2*standard {
				t.Errorf("the second recording changed the profile:\n%s", &text)
			}
			t.Logf("measured: CPU plain %.2f s, first build ×%.2f, second build ×%.2f\n%s", plain.CPU.Seconds(),
				first.CPU.Seconds()/plain.CPU.Seconds(), second.CPU.Seconds()/plain.CPU.Seconds(), &text)
		})
	}
}

// standard is the default of analyze for calls a second. The second recording may have twice as many: on a busy
// machine, it is known less well in which part of the time the threads had a processor.
const standard = 200_000

// priceError is how many times a recording may be off in what it says of its cost. The worst of eight programs was off
// 1.4 times on a quiet machine, and groovy 1.7 times beside other work.
const priceError = 1.9

// checkPrice compares what a recording says of its cost with the CPU time of plain runs before and after it. The runs
// are compared by CPU time, and not with each other's wall time.
func checkPrice(t *testing.T, r *Prepared, recorded Run, plain ...Run) {
	t.Helper()
	var o analysis.Options
	var cost *analysis.Cost
	o.End = func(r *analysis.Recording) error { cost = r.Cost; return nil }
	analyze(t, r, recorded.File, o)
	before, after := plain[0].CPU.Seconds(), plain[1].CPU.Seconds()
	truth := recorded.CPU.Seconds() / ((before + after) / 2)
	if cost == nil {
		t.Fatal("the recording does not say what it has cost")
	}
	t.Logf("measured: CPU ×%.2f (plain %.2f and %.2f s), %s; at least %.2f, about %.2f", truth, before, after, cost,
		cost.AtLeast(), cost.About())
	// What the process did behind the end of the recording is not in it.
	if cost.CPU > recorded.CPU || cost.CPU < recorded.CPU/2 {
		t.Errorf("the recording says that the process took %s of CPU time; it took %s", cost.CPU, recorded.CPU)
	}
	if low := cost.AtLeast(); low > truth*1.3 {
		t.Errorf("the process took %.2f times the CPU time of the plain program, and the recording says at least %.2f", truth,
			low)
	}
	about := cost.About()
	if about == 0 && r.Source != "" {
		return // a loop over a tiny method, of which stacks do not show it
	}
	if about > truth*priceError || about < truth/priceError {
		t.Errorf("the process took %.2f times the CPU time of the plain program, and the recording says about %.2f", truth,
			about)
	}
}

// learn adds to a profile what a recording shows.
func learn(t *testing.T, r *Prepared, profile *filter.Profile, file string, calls float64) *answer.Learned {
	t.Helper()
	var o analysis.Options
	methods := new(answer.Methods)
	methods.Connect(&o)
	analyze(t, r, file, o)
	return methods.Learn(profile, answer.Budget{Calls: calls}, []*mapping.Mapping{r.Mapping})
}

// analyze analyzes a recording.
func analyze(t *testing.T, r *Prepared, file string, o analysis.Options) {
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
	fixture.Write(t, path, text.Bytes())
	if o.Mappings, err = resolve.OpenMappings(path, nil); err != nil {
		t.Fatal(err)
	}
	if err := analysis.Analyze("recording.tgd", in, o); err != nil {
		t.Fatal(err)
	}
}
