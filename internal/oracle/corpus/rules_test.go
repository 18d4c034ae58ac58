package corpus_test

import (
	"archive/zip"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// ASM's flags for properties that have no bit in the JVMS.
const asmRecord = 0x10000

// rule is a rule, and the methods that it matches according to ASM.
type rule struct {
	conditions string
	matches    func(*oracle.ClassTraits, *oracle.MethodTraits) bool
}

// rulesOf makes rules on flags, sizes, loops and on the annotations that occur in a jar.
func rulesOf(classes []oracle.ClassTraits) []rule {
	type side = func(*oracle.ClassTraits, *oracle.MethodTraits) int
	ofClass := func(c *oracle.ClassTraits, _ *oracle.MethodTraits) int { return c.Access }
	ofMethod := func(_ *oracle.ClassTraits, m *oracle.MethodTraits) int { return m.Access }
	ofEither := func(c *oracle.ClassTraits, m *oracle.MethodTraits) int { return c.Access | m.Access }
	ofLoop := func(_ *oracle.ClassTraits, m *oracle.MethodTraits) int {
		if m.Loop {
			return 1
		}
		return 0
	}
	var rules []rule
	for _, row := range []struct {
		name string
		of   side
		bit  int
	}{
		{"public", ofMethod, 1}, {"private", ofMethod, 2}, {"protected", ofMethod, 4}, {"static", ofMethod, 8},
		{"final", ofMethod, 0x10}, {"synchronized", ofMethod, 0x20}, {"varargs", ofMethod, 0x80},
		{"strictfp", ofMethod, 0x800},
		{"synthetic", ofEither, 0x1000}, {"interface", ofClass, 0x200}, {"abstract", ofClass, 0x400},
		{"enum", ofClass, 0x4000},
		{"record", ofClass, asmRecord}, {"loop", ofLoop, 1},
	} {
		rules = append(rules,
			rule{row.name + ": true", func(c *oracle.ClassTraits, m *oracle.MethodTraits) bool {
				return row.of(c,
					m)&row.bit != 0
			}},
			rule{row.name + ": false", func(c *oracle.ClassTraits, m *oracle.MethodTraits) bool {
				return row.of(c,
					m)&row.bit == 0
			}})
	}
	for _, n := range []int{1, 5, 17, 200} {
		rules = append(rules,
			rule{fmt.Sprintf(`instructions: "=%d"`, n), func(_ *oracle.ClassTraits,
				m *oracle.MethodTraits) bool {
				return m.Instructions == n
			}},
			rule{fmt.Sprintf(`instructions: ">%d"`, n), func(_ *oracle.ClassTraits,
				m *oracle.MethodTraits) bool {
				return m.Instructions > n
			}},
			rule{fmt.Sprintf(`instructions: ">=%d <%d"`, n, 2*n), func(_ *oracle.ClassTraits, m *oracle.MethodTraits) bool {
				return m.Instructions >= n && m.Instructions < 2*n
			}})
	}
	names := map[string]bool{}
	for i := range classes {
		for _, m := range append(classes[i].Methods, oracle.MethodTraits{Annotations: classes[i].Annotations}) {
			for _, name := range m.Annotations {
				names[name] = true
			}
		}
	}
	for name := range names {
		rules = append(rules, rule{`annotation: "` + name + `"`, func(c *oracle.ClassTraits, m *oracle.MethodTraits) bool {
			return slices.Contains(c.Annotations, name) || slices.Contains(m.Annotations, name)
		}})
	}
	return append(rules, rule{`annotation: "**"`, func(c *oracle.ClassTraits, m *oracle.MethodTraits) bool {
		return len(c.Annotations)+len(m.Annotations) > 0
	}})
}

func parseRules(t *testing.T, conditions string) *filter.Filter {
	t.Helper()
	c, err := filter.ParseConfig("t.yml", []byte("rules:\n- block: { "+conditions+" }\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return filter.New(filter.Options{Rules: c.Rules, Trivial: filter.None})
}

// TestCorpusRulesAgree compares the methods that rules match with those that meet the conditions according to ASM.
//
// Invariant: Rules match the methods that meet their conditions according to ASM.
func TestCorpusRulesAgree(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	all, err := oracle.Traits(t.Context(), jobs(jars))
	oracle.Require(t, err)
	asked, matched := 0, 0
	for _, j := range jars {
		var classes []oracle.ClassTraits
		for _, c := range all {
			if c.Job == j.Name {
				classes = append(classes, c)
			}
		}
		parsed := map[string]*classfile.Class{}
		z, err := zip.OpenReader(j.Classes)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if c, err := classfile.Parse(content(t, f)); err == nil {
				parsed[f.Name] = c
			}
		}
		z.Close()
		for _, r := range rulesOf(classes) {
			f := parseRules(t, r.conditions)
			for i := range classes {
				a, m := compareRule(t, r, f, &classes[i], parsed[classes[i].Entry])
				asked, matched = asked+a, matched+m
			}
			if t.Failed() {
				t.Fatalf("%s: rule %s", j.Name, r.conditions)
			}
		}
	}
	t.Logf("measured: ASM agrees on %d classes with rules on flags, sizes, loops and annotations: %d of %d questions "+
		"answered yes",
		len(all), matched, asked)
	if matched == 0 {
		t.Error("no rule matches any method")
	}
}

// compareRule compares which methods of a class a rule matches. It leaves out methods that are skipped before rules are
// evaluated.
func compareRule(t *testing.T, r rule, f *filter.Filter, asm *oracle.ClassTraits, c *classfile.Class) (asked,
	matched int) {
	if c == nil || c.AccessFlags()&classfile.AccModule != 0 {
		return 0, 0
	}
	cf := f.ForClass(c)
	if whole, ok := cf.Whole(); ok && whole.Reason != filter.ReasonBlocked {
		return 0, 0
	}
	next := 0
	for i := range c.Methods() {
		m := &c.Methods()[i]
		code, ok, err := c.Code(m)
		if err != nil || !ok {
			continue
		}
		of := &asm.Methods[next]
		next++
		if d := cf.Decide(m, code); (d.Reason == filter.ReasonBlocked) != r.matches(asm, of) || d.Pending != "" ||
			of.Name != m.Name {
			t.Errorf("%s#%s%s: got %+v, ASM has %+v and %+v", asm.Entry, m.Name, m.Descriptor, d, of, *asm)
		}
		asked++
		if r.matches(asm, of) {
			matched++
		}
	}
	return asked, matched
}

// TestCorpusSupertypesAgree compares the classes that a rule on supertypes matches in a whole run with those that ASM
// finds.
//
// Invariant: Rules match the methods that meet their conditions according to ASM.
func TestCorpusSupertypesAgree(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	all, err := oracle.Traits(t.Context(), jobs(jars))
	oracle.Require(t, err)
	rules, matched := 0, 0
	for _, j := range jars {
		direct, ancestors := map[string][]string{}, map[string]int{}
		var classes []oracle.ClassTraits
		for _, c := range all {
			if c.Job != j.Name {
				continue
			}
			classes = append(classes, c)
			if _, again := direct[c.Class]; !again || !strings.HasPrefix(c.Entry, "META-INF/") {
				direct[c.Class] = c.Supers
			}
		}
		for i := range classes {
			for name := range above(&classes[i], direct) {
				ancestors[name]++
			}
		}
		// The supertypes with the most subclasses, and some with few.
		names := slices.SortedFunc(maps.Keys(ancestors), func(a, b string) int {
			return cmp.Or(cmp.Compare(ancestors[b], ancestors[a]), cmp.Compare(a, b))
		})
		for k, name := range names {
			if k >= 3 && k%max(1, len(names)/3) != 0 {
				continue
			}
			matched += compareSupertype(t, j.Classes, name, classes, direct)
			rules++
		}
	}
	t.Logf("measured: ASM agrees on %d classes with %d rules on supertypes: %d classes matched", len(all), rules, matched)
}

// above returns all supertypes of a class.
func above(c *oracle.ClassTraits, direct map[string][]string) map[string]bool {
	found := map[string]bool{}
	for open := slices.Clone(c.Supers); len(open) > 0; {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if !found[name] {
			found[name] = true
			open = append(open, direct[name]...)
		}
	}
	return found
}

func compareSupertype(t *testing.T, jar, name string, classes []oracle.ClassTraits,
	direct map[string][]string) (matched int) {
	t.Helper()
	want := map[string]bool{}
	for i := range classes {
		if c := &classes[i]; len(c.Methods) > 0 && above(c, direct)[name] {
			want[c.Entry] = true
		}
	}
	result, err := pipeline.Run(t.Context(), pipeline.Config{
		Inputs: []pipeline.Input{{Path: jar, Output: filepath.Join(t.TempDir(), "out.jar")}}, DryRun: true,
		RuntimeExternal: true,
		Filter:          parseRules(t, `extends: "`+name+`"`), Verify: pipeline.VerifyEquivalence,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for s := range result.Skipped {
		if s.Reason == filter.ReasonBlocked {
			got[s.Entry] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: extends %s: %d classes, ASM has %d", jar, name, len(got), len(want))
		for entry := range got {
			if !want[entry] {
				t.Errorf("not %s", entry)
			}
		}
		for entry := range want {
			if !got[entry] {
				t.Errorf("also %s", entry)
			}
		}
	}
	return len(want)
}
