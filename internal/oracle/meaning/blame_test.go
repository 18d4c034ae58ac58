package meaning

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/trace"
)

// A planted stall is a real program that calls back into a class of ours, which stalls three calls further down.
type planted struct {
	program
	kind   analysis.Kind
	method string // to blame
	path   []string
	// owner is who held the lock.
	owner string
}

var stalls = []planted{
	{
		program: program{name: "H2 computes", small: true, jars: []string{"h2-2.3.232"}, files: []string{"plant/Ledger.java", "plant/audit.sql"},
			args: []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:sample", "-script", "audit.sql"}},
		kind: analysis.KindOwnWork, method: "plant.Ledger.digest", path: []string{"plant.Ledger.audit", "plant.Ledger.reconcile", "plant.Ledger.digest"},
	},
	{
		program: program{name: "Xalan waits for a lock", small: true, jars: []string{"xalan-2.7.0", "xercesImpl-2.6.2"},
			files: []string{"plant/Stock.java", "plant/stock.xsl", "list.xml"},
			args:  []string{"org.apache.xalan.xslt.Process", "-IN", "list.xml", "-XSL", "stock.xsl", "-OUT", "list.txt"}},
		kind: analysis.KindLock, method: "plant.Stock.take", path: []string{"plant.Stock.price", "plant.Stock.lookUp", "plant.Stock.take"}, owner: "restocker",
	},
	{
		program: program{name: "Groovy waits for the network", small: true, jars: []string{"groovy-4.0.28"}, files: []string{"plant/Archive.java", "plant/restore.groovy"},
			args: []string{"groovy.ui.GroovyMain", "restore.groovy"}},
		kind: analysis.KindIO, method: "plant.Archive.fill", path: []string{"plant.Archive.restore", "plant.Archive.open", "plant.Archive.fill"},
	},
	{
		program: program{name: "Clojure sleeps", jars: []string{"clojure-1.12.0"}, files: []string{"plant/Retry.java", "plant/retry.clj"},
			args: []string{"clojure.main", "retry.clj"}},
		kind: analysis.KindSleep, method: "plant.Retry.backOff", path: []string{"plant.Retry.attempt", "plant.Retry.attempt", "plant.Retry.attempt", "plant.Retry.backOff"},
	},
	{
		program: program{name: "H2 collects garbage", jars: []string{"h2-2.3.232"}, files: []string{"plant/Cache.java", "plant/rebuild.sql"},
			args: []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:sample", "-script", "rebuild.sql"}},
		kind: analysis.KindGC, method: "plant.Cache.churn", path: []string{"plant.Cache.rebuild", "plant.Cache.fill", "plant.Cache.churn"},
	},
}

// TestCorpusBlame plants stalls in real programs and runs them with the real runtime: what is said of the recording blames
// the planted method, and says why.
func TestCorpusBlame(t *testing.T) {
	if os.Getenv("TRACEGEN_CORPUS") == "off" || testing.Short() {
		t.Skip("skipped: no corpus in this run")
	}
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	jars, err := oracle.BuildRuntime(t.Context())
	oracle.Require(t, err)
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range stalls {
		if !p.small && !wholeCorpus() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := newRunner(t, p.program, j, "", c)
			answers, text, classes := r.answers(t, jars.Core)
			if classes < 1000 {
				t.Errorf("the program has %d classes, want 1000", classes)
			}
			if len(answers) == 0 {
				t.Fatalf("nothing was slow:\n%s", text)
			}
			p.judge(t, answers[0])
			t.Logf("measured: %s: %d classes; %s", p.name, classes, answers[0].Verdict.Text)
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// judge holds the longest message's verdict to what was planted.
func (p planted) judge(t *testing.T, s *analysis.Slow) {
	t.Helper()
	v := s.Verdict
	if v.Method == nil || v.Method.Identity() != p.method {
		t.Errorf("to blame is %v, want %s", v.Method, p.method)
	}
	want := p.kind
	if want == analysis.KindOwnWork && s.CPU >= 0 && s.CPU*2 < s.Wall {
		want = analysis.KindStarved // by whatever else runs on this machine
	}
	if v.Kind != want {
		t.Errorf("the verdict is %s, want %s: %s", v.Kind, want, v.Text)
	}
	var path []string
	for _, step := range s.HotPath {
		path = append(path, step.Method.Identity())
	}
	if !contains(path, p.path) {
		t.Errorf("the hot path is %q, want %q in it", path, p.path)
	}
	if p.owner != "" && (!strings.HasPrefix(s.LockOwner, p.owner+" holds ") || len(s.Holder) == 0 || s.Holder[0].Activity != analysis.ActivitySleep) {
		t.Errorf("the lock's owner is %q, seen as %+v; want %s, asleep", s.LockOwner, s.Holder, p.owner)
	}
}

// contains tells whether all words are in a list, in their order and with nothing between.
func contains(list, words []string) bool {
	for k := range list {
		if len(list[k:]) >= len(words) && slices.Equal(list[k:k+len(words)], words) {
			return true
		}
	}
	return false
}

// answers instruments the program along with the runtime, runs it, and gives the slow messages of its recording, the longest
// first, and how many classes were instrumented or looked at.
func (r *runner) answers(t *testing.T, runtime string) (slow []*analysis.Slow, text string, classes int) {
	t.Helper()
	dir := t.TempDir()
	config := pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.Smart}),
		Inject: inject.Options{Exits: inject.ExitsThrows},
		Jobs:   2,
	}
	mappingFile := filepath.Join(dir, "methodMapping.txt")
	config.Files = func(r *pipeline.Result) ([]pipeline.File, error) {
		return []pipeline.File{{Path: mappingFile, Content: r.Mapping}}, nil
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
		classes += in.Classes
	}
	file := filepath.Join(dir, "recording.tgd")
	out := r.command(t, append(path, r.plain...), "-Dtracegen.output="+file).run(t)
	if out.code != 0 {
		t.Fatalf("the program ends with code %d\n%s", out.code, tail(out.text))
	}
	in, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	mappings, err := analysis.OpenMappings(mappingFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	writer := analysis.NewText(&report)
	err = analysis.Analyze("recording.tgd", in, analysis.Options{Mappings: mappings, Begin: writer.Begin, End: writer.End, Slow: func(s *analysis.Slow) error {
		slow = append(slow, s)
		return writer.Slow(s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(slow, func(a, b *analysis.Slow) int { return int(b.Wall - a.Wall) })
	return slow, report.String(), classes
}
