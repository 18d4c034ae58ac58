package meaning

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// A planted stall is a real program that calls back into a class of ours, which stalls three calls further down.
type planted struct {
	program
	kind   analysis.Kind
	method string // in which the program stalls
	path   []string
	// owner is the thread that held the lock.
	owner string
}

var stalls = []planted{
	{
		program: program{name: "H2 computes", small: true, jars: []string{"h2-2.3.232"},
			files: []string{"plant/Ledger.java", "plant/audit.sql"},
			args:  []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:sample", "-script", "audit.sql"}},
		kind: analysis.KindOwnWork, method: "plant.Ledger.digest",
		path: []string{"plant.Ledger.audit", "plant.Ledger.reconcile", "plant.Ledger.digest"},
	},
	{
		program: program{name: "Xalan waits for a lock", small: true, jars: []string{"xalan-2.7.0", "xercesImpl-2.6.2"},
			files: []string{"plant/Stock.java", "plant/stock.xsl", "list.xml"},
			args:  []string{"org.apache.xalan.xslt.Process", "-IN", "list.xml", "-XSL", "stock.xsl", "-OUT", "list.txt"}},
		kind: analysis.KindLock, method: "plant.Stock.take", path: []string{"plant.Stock.price", "plant.Stock.lookUp",
			"plant.Stock.take"}, owner: "restocker",
	},
	{
		program: program{name: "Groovy waits for the network", small: true, jars: []string{"groovy-4.0.28"},
			files: []string{"plant/Archive.java", "plant/restore.groovy"},
			args:  []string{"groovy.ui.GroovyMain", "restore.groovy"}},
		kind: analysis.KindIO, method: "plant.Archive.fill", path: []string{"plant.Archive.restore", "plant.Archive.open",
			"plant.Archive.fill"},
	},
	{
		program: program{name: "Clojure sleeps", jars: []string{"clojure-1.12.0"},
			files: []string{"plant/Retry.java", "plant/retry.clj"},
			args:  []string{"clojure.main", "retry.clj"}},
		kind: analysis.KindSleep, method: "plant.Retry.backOff", path: []string{"plant.Retry.attempt",
			"plant.Retry.attempt", "plant.Retry.attempt", "plant.Retry.backOff"},
	},
	{
		program: program{name: "H2 collects garbage", jars: []string{"h2-2.3.232"},
			files: []string{"plant/Cache.java", "plant/rebuild.sql"},
			args:  []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:sample", "-script", "rebuild.sql"}},
		kind: analysis.KindGC, method: "plant.Cache.churn", path: []string{"plant.Cache.rebuild", "plant.Cache.fill",
			"plant.Cache.churn"},
	},
}

// TestCorpusBlame plants stalls in real programs and runs them with the real runtime. The analysis of the recording
// must name the planted method and the kind of stall.
//
// Invariant: For real programs with a planted stall (CPU, lock, I/O), the planted method and the kind of stall are
// reported.
func TestCorpusBlame(t *testing.T) {
	nightly.Only(t, "programs")
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	for _, p := range stalls {
		if !p.small && !corpus.IsFull() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := newRunner(t, p.program, j, "")
			answers, text, classes := r.answers(t, jars.JVM)
			if classes < 1000 {
				t.Errorf("the program has %d classes, want 1000", classes)
			}
			if len(answers) == 0 {
				t.Fatalf("nothing was slow:\n%s", text)
			}
			p.checkVerdict(t, answers[0])
			t.Logf("measured: %s: %d classes; %s", p.name, classes, answers[0].Verdict.Text)
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// checkVerdict compares the verdict on the longest stall with the planted stall.
func (p planted) checkVerdict(t *testing.T, s *analysis.Stall) {
	t.Helper()
	v := s.Verdict
	if v.Method == nil || v.Method.Identity() != p.method {
		t.Errorf("the reported method is %v, want %s", v.Method, p.method)
	}
	want := p.kind
	if want == analysis.KindOwnWork && s.CPU >= 0 && s.CPU*2 < s.Wall {
		want = analysis.KindStarved // because of other processes on this machine
	}
	mixed := want == analysis.KindStarved && v.Kind == analysis.KindMixed // it had a processor for nearly half of it
	if v.Kind != want && !mixed {
		t.Errorf("the verdict is %s, want %s: %s", v.Kind, want, v.Text)
	}
	var path []string
	for _, step := range s.HotPath {
		path = append(path, step.Method.Identity())
	}
	if !contains(path, p.path) {
		t.Errorf("the hot path is %q, want %q in it", path, p.path)
	}
	if p.owner != "" && (!strings.HasPrefix(s.LockOwner, p.owner+" ") || len(s.Holder) == 0 ||
		s.Holder[0].Activity != foreign.ActivitySleep) {
		t.Errorf("the lock's owner is %q, seen as %+v; want %s, asleep", s.LockOwner, s.Holder, p.owner)
	}
}

// contains reports whether the words are in a list, in this order and without others between them.
func contains(list, words []string) bool {
	for k := range list {
		if len(list[k:]) >= len(words) && slices.Equal(list[k:k+len(words)], words) {
			return true
		}
	}
	return false
}

// answers returns the stalls of a run, the longest first, the report about it, and the number of classes of the
// program.
func (r *runner) answers(t *testing.T, runtime string) (slow []*analysis.Stall, text string, classes int) {
	t.Helper()
	rec := r.record(t, runtime)
	var report bytes.Buffer
	writer := answer.NewText(&report)
	rec.analyze(t, analysis.Options{Begin: writer.Begin, End: writer.End, Stall: func(s *analysis.Stall) error {
		slow = append(slow, s)
		return writer.Stall(s)
	}})
	slices.SortStableFunc(slow, func(a, b *analysis.Stall) int { return int(b.Wall - a.Wall) })
	return slow, report.String(), rec.classes
}

// A taken recording is one with the mapping of its build.
type taken struct {
	file, mapping string
	classes       int // that were read
}

// record instruments the program and the runtime, with trivial methods skipped and with them traced, and runs it.
func (r *runner) record(t *testing.T, runtime string) taken {
	t.Helper()
	dir := t.TempDir()
	rec := taken{file: filepath.Join(dir, "recording.tgd"), mapping: filepath.Join(dir, "methodMapping.txt")}
	config := pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.Smart}),
		Inject: inject.Options{Exits: inject.ExitsThrows},
		Jobs:   2,
		Files: func(r *pipeline.Result) ([]pipeline.File, error) {
			return []pipeline.File{{Path: rec.mapping, Content: r.Mapping}}, nil
		},
	}
	var path []string
	for k, in := range append(slices.Clone(r.instrument), runtime) {
		out := filepath.Join(dir, strconv.Itoa(k)+"-"+filepath.Base(in))
		config.Inputs = append(config.Inputs, pipeline.Input{Path: in, Output: out})
		path = append(path, out)
	}
	result, err := pipeline.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range result.Inputs {
		rec.classes += in.Classes
	}
	out := r.command(t, append(path, r.plain...), "-Dtracegen.output="+rec.file).run(t)
	if out.code != 0 {
		t.Fatalf("the program ends with code %d\n%s", out.code, tail(out.text))
	}
	return rec
}

// analyze reads a recording with the mapping of its build.
func (rec taken) analyze(t *testing.T, o analysis.Options) {
	t.Helper()
	in, err := source.Open(rec.file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if o.Mappings, err = resolve.OpenMappings(rec.mapping, nil); err != nil {
		t.Fatal(err)
	}
	if err := analysis.Analyze("recording.tgd", in, o); err != nil {
		t.Fatal(err)
	}
}
