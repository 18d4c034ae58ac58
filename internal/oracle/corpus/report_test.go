package corpus_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// runReport is the part of a JSON report that these tests read.
type runReport struct {
	Mapping  struct{ Digest string }
	Totals   reportCounts
	Inputs   []reportCounts
	Packages []reportPackage
	Focus    []struct{ Class string }
}

type reportCounts struct {
	Classes, Rewritten, Methods, Traced int
	ClassBytes, OutputClassBytes        int64
	Calls                               int
	Skipped                             map[string]int
}

type reportPackage struct {
	Package                string
	Traced, Skipped, Calls int
	AddedBytes             int64
}

func readReport(t *testing.T, file string) (r runReport) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reported is an instrumented jar with its reports: predicted is that of a dry run, measured that of the run.
type reported struct {
	instrumented
	predicted, measured runReport
	reasons             map[string]int // lines of the list of skipped methods by "class method descriptor"
}

func runReported(t *testing.T, bin string, j corpus.Jar, flags ...string) reported {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	out := at("out" + filepath.Ext(j.Path))
	args := append([]string{"instrument", j.Path, "-o", out, "--mapping", at("mapping.txt"), "--runtime-external",
		"--compression", "fast", "-q"}, flags...)
	dry := exec.Command(bin, append(args, "--dry-run", "--report", "-")...)
	dry.Dir = dir
	said, err := dry.Output()
	if err != nil {
		t.Fatalf("%s: %v", j.Name, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Errorf("%s: the dry run wrote %s", j.Name, out)
	}
	tracegen(t, bin, append(args, "--reports", filepath.Dir(at("report.json")))...)
	r := reported{measured: readReport(t, at("report.json")), reasons: map[string]int{}}
	if err := json.Unmarshal(said, &r.predicted); err != nil {
		t.Fatal(err)
	}
	r.instrumented = instrumented{Jar: j, original: j.Classes, released: out,
		mapping: readMapping(t, at("mapping.txt")), skipped: countReasons(t, at("skipped.tsv"))}
	r.Classes = classesOf(t, out)
	data := fixture.Read(t, at("skipped.tsv"))
	for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 5 || f[3] == "" {
			t.Fatalf("%s: line %d of the skipped methods: %q", j.Name, n+1, line)
		}
		if n > 0 {
			r.reasons[unescapeText(strings.Join(f[:3], " "))]++
		}
	}
	return r
}

// TestCorpusReport compares the reports about every jar, of a dry run and of the run, with what other programs find in
// the outputs: the bytes of the classes and the calls of each package. It checks that every method with code has either
// one ID or one reason.
//
// Invariant: A dry run predicts bytes, calls and IDs; each method has one ID or one reason, and the sums of the
// report are right.
func TestCorpusReport(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := corpus.NeedAll(t)
	bin := oracle.BuildTool(t)
	_, before := oracle.Disassemble(t, jobs(jars), oracle.AsmOptions{})
	modes := [][]string{
		{"--exits", "normal"}, {"--exits", "throws", "--set", "trivial=none", "--set", "id-order=compact"}, {"--exits",
			"exact"},
		{"--exits", "throws", "--set", "constructor-entry=after-super", "--set", "trivial=matrix"},
	}
	for _, flags := range modes {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			var made []reported
			var list []instrumented
			for _, j := range jars {
				made = append(made, runReported(t, bin, j, flags...))
				list = append(list, made[len(made)-1].instrumented)
			}
			_, after := oracle.Disassemble(t, jobs(outputs(list)), oracle.AsmOptions{})
			var sum reportCounts
			worst, worstName := 0.0, ""
			for _, r := range made {
				if diff := cmp.Diff(r.predicted, r.measured); diff != "" {
					t.Errorf("%s: predicted and measured differ:\n%s", r.Name, diff)
				}
				compareBytes(t, r)
				compareCounts(t, r, ofJob(before, r.Name), ofJob(after, r.Name))
				total := r.measured.Totals
				sum.Methods, sum.Traced, sum.Calls = sum.Methods+total.Methods, sum.Traced+total.Traced, sum.Calls+total.Calls
				sum.ClassBytes, sum.OutputClassBytes = sum.ClassBytes+total.ClassBytes, sum.OutputClassBytes+total.OutputClassBytes
				if g := 100 * float64(total.OutputClassBytes-total.ClassBytes) / float64(total.ClassBytes); g > worst {
					worst, worstName = g, r.Name
				}
			}
			t.Logf("measured: %s: %d jars, %d methods, %d traced, %d calls; class files grew by %.2f %%, at most by %.2f %% "+
				"(%s); all as predicted", t.Name(),
				len(made), sum.Methods, sum.Traced, sum.Calls,
				100*float64(sum.OutputClassBytes-sum.ClassBytes)/float64(sum.ClassBytes), worst, worstName)
		})
	}
}

func ofJob(methods []oracle.AsmMethod, job string) (list []oracle.AsmMethod) {
	for _, m := range methods {
		if m.Job == job {
			list = append(list, m)
		}
	}
	return list
}

// compareBytes adds up the sizes of the class files of both jars as archive/zip reads them.
func compareBytes(t *testing.T, r reported) {
	t.Helper()
	size := func(jar string) (n int64) {
		for _, f := range classFiles(t, jar) {
			n += int64(len(f.data))
		}
		return n
	}
	in, out := size(r.original), size(r.Classes)
	if got := r.measured.Totals; got.ClassBytes != in || got.OutputClassBytes != out {
		t.Errorf("%s: the classes have %d and %d bytes, but the report has %d and %d", r.Name, in, out, got.ClassBytes,
			got.OutputClassBytes)
	}
	sum := int64(0)
	for _, p := range r.measured.Packages {
		sum += p.AddedBytes
	}
	if sum != out-in {
		t.Errorf("%s: %d bytes added, but the packages add up to %d", r.Name, out-in, sum)
	}
}

// compareCounts compares the numbers of the report, the mapping and the list of skipped methods with what ASM finds.
func compareCounts(t *testing.T, r reported, before, after []oracle.AsmMethod) {
	t.Helper()
	calls := map[string]int{}
	traced := map[string]int{} // occurrences with calls
	for _, m := range after {
		calls[packageText(m.Class)] += len(m.EntryIDs) + len(m.ExitIDs)
		if len(m.EntryIDs) > 0 {
			traced[strings.ReplaceAll(m.Class+" "+m.Name+" "+m.Desc, "/", ".")]++
		}
	}
	for _, f := range r.measured.Focus { // ASM's numbers do not include the call of the focus hook
		calls[packageText(f.Class)]++
	}
	all := 0
	for _, p := range r.measured.Packages {
		name := unescapeText(p.Package)
		if p.Calls != calls[name] {
			t.Errorf("%s: package %q has %d calls, but the report has %d", r.Name, name, calls[name], p.Calls)
		}
		all += p.Calls
		delete(calls, name)
	}
	for name, n := range calls {
		if n > 0 {
			t.Errorf("%s: package %q has %d calls, but is not in the report", r.Name, name, n)
		}
	}
	occurrences := map[string]int{}
	for _, m := range before {
		occurrences[strings.ReplaceAll(m.Class+" "+m.Name+" "+m.Desc, "/", ".")]++
	}
	for name, n := range occurrences {
		_, hasID := r.mapping[name]
		if reasons := r.reasons[name]; traced[name]+reasons != n || hasID != (traced[name] > 0) {
			t.Errorf("%s: %s occurs %d times: %d traced (has an ID: %v), %d with a reason", r.Name, name, n, traced[name],
				hasID, reasons)
		}
	}
	got := r.measured.Totals
	unread, listed := 0, 0
	for name, n := range r.reasons {
		if strings.HasSuffix(name, "  ") {
			unread += n // a class, not a method
		}
		listed += n
	}
	sum := 0
	for _, n := range got.Skipped {
		sum += n
	}
	if got.Methods != len(before) || got.Traced+sum-unread != got.Methods || sum != listed || all != got.Calls ||
		!reflect.DeepEqual(got.Skipped, r.skipped) {
		t.Errorf("%s: reported %+v; ASM sees %d methods, %d calls; %d lines of skipped methods", r.Name, got, len(before),
			all, listed)
	}
}

// packageText returns the package of a class, with dots.
func packageText(class string) string {
	class = strings.ReplaceAll(class, "/", ".")
	return class[:max(0, strings.LastIndexByte(class, '.'))]
}
