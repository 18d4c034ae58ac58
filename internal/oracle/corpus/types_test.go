package corpus_test

import (
	"path"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// typeTally counts the results of the type checker and HotSpot for the same classes.
type typeTally struct{ linked, falseAlarms, inferred, inferredWrong, rejected, missed, missing, modules int }

// TestCorpusTypesAgree compares the type checker with HotSpot for every class of the corpus: a class that links has no
// findings, and one that does not has some, unless it fails because another class is missing.
//
// Invariant: A class that HotSpot links has no findings about its types, and one that it rejects has some.
func TestCorpusTypesAgree(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := corpus.NeedAll(t)
	results := linkAll(t, jars)
	byJob := map[string]map[string]oracle.LinkResult{}
	for _, r := range results {
		if byJob[r.Job] == nil {
			byJob[r.Job] = map[string]oracle.LinkResult{}
		}
		byJob[r.Job][r.Entry] = r
	}
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	var all typeTally
	for _, j := range jars {
		homes := []oracle.JDK{jdks[len(jdks)-1]}
		if first, err := oracle.FindJDK(17); err == nil && first != homes[0] {
			homes = append([]oracle.JDK{first}, homes...) // the newer JDK has classes that the older one lacks
		}
		compareTypes(t, j, homes, byJob[j.Name], &all)
	}
	t.Logf("measured: %d module declarations", all.modules)
	t.Logf("measured: %d classes link: %d false alarms; %d of version 50 only by inference (%d with another result); "+
		"%d do not: %d missed; %d fail because a class is missing and the like",
		all.linked, all.falseAlarms, all.inferred, all.inferredWrong, all.rejected, all.missed, all.missing)
	if all.falseAlarms > 0 {
		t.Errorf("%d false alarms", all.falseAlarms)
	}
}

// checkModule checks that a module declaration has no findings. No JVM links it, but the module system read it at build
// time.
func checkModule(t *testing.T, name string, e *zipfile.Entry) {
	var codec zipfile.Codec
	data, err := codec.Read(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := classfile.Parse(data)
	if err != nil {
		return // no installed JDK supports this version
	}
	for _, f := range types.Check(c, nil) {
		t.Errorf("%s!%s: %v", name, e.Name, f)
	}
}

func compareTypes(t *testing.T, j corpus.Jar, homes []oracle.JDK, results map[string]oracle.LinkResult,
	all *typeTally) {
	paths := append([]string{j.Classes}, j.DepPaths...)
	for _, home := range homes {
		paths = append(paths, home.Home)
	}
	h, err := classpath.Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a, err := zipfile.Open(j.Classes)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec zipfile.Codec
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if path.Base(e.Name) == "module-info.class" {
			checkModule(t, j.Name, e)
			all.modules++
			continue
		}
		r, ok := results[e.Name]
		if !ok || r.Status == oracle.LinkNewer || r.Status == oracle.LinkOfBoot {
			continue
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(data)
		if err != nil {
			t.Errorf("%s!%s: %v", j.Name, e.Name, err)
			continue
		}
		k := types.Checker{Hierarchy: h, Frames: true}
		all.add(t, j.Name, r, k.Check(c))
	}
}

// saysNothing reports whether a failure is not about the class itself: another class is missing, or the test's
// class loader holds two classes of one name.
func saysNothing(r oracle.LinkResult, got types.Result) bool {
	for _, reason := range []string{"NoClassDefFoundError", "ClassNotFoundException", "loader constraint"} {
		if strings.Contains(r.Message, reason) {
			return true
		}
	}
	// For a class of version 50 that fails twice, the message is that of the first failure only.
	return r.Major == 50 && got.Inferred && len(got.Unknown) > 0
}

func (all *typeTally) add(t *testing.T, name string, r oracle.LinkResult, got types.Result) {
	switch {
	case r.Status == oracle.LinkFailed && saysNothing(r, got):
		all.missing++
	case r.Status == oracle.LinkFailed:
		all.rejected++
		if len(got.Findings) == 0 {
			all.missed++
			t.Logf("%s!%s: missed: %s", name, r.Entry, r.Message)
		}
	default:
		all.linked++
		if len(got.Findings) > 0 {
			all.falseAlarms++
			t.Logf("%s!%s: false alarm: %v %s (%d unknown)", name, r.Entry, got.Findings[0], got.Findings[0].Frame,
				len(got.Unknown))
		}
		if r.Status == oracle.LinkedBy50 {
			all.inferred++
		}
		if (r.Status == oracle.LinkedBy50) != got.Inferred && len(got.Findings) == 0 {
			all.inferredWrong++
			t.Logf("%s!%s: %s, inferred %v", name, r.Entry, r.Status, got.Inferred)
		}
	}
}
