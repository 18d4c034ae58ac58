package pipeline_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// below is a class with one method, f.
func below(name, super string, interfaces ...string) file {
	return classFile(assembly.Class{Name: name, Super: super, Interfaces: interfaces,
		Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V", Code: "return"}}})
}

// TestRulesOnSupertypes: chains are followed through all inputs and the class path, end at a class that is not found,
// and may be circles.
//
// Invariant: Rules on supertypes follow the chain through all inputs and the class path.
func TestRulesOnSupertypes(t *testing.T) {
	dir := t.TempDir()
	first := archive(t, filepath.Join(dir, "first.jar"), runtimeClass("dev/tracegen/runtime/AppMethodBeat"),
		mappingInfo(),
		below("a/Leaf", "a/Mid"), below("a/Base", "lib/Root"), below("c/X", "c/Y"), below("d/Plain",
			"java/lang/Object"),
		below("META-INF/versions/11/a/Late", "a/Leaf"))
	second := archive(t, filepath.Join(dir, "second.jar"),
		below("a/Mid", "a/Base", "lib/Face"), below("c/Y", "c/X", "lib/Face"), below("e/Other", "gone/Away"))
	// The class path has a class of the inputs too, which has no say.
	lib := archive(t, filepath.Join(dir, "lib.jar"), below("lib/Root", "far/Top", "far/Face"),
		below("far/Top", "far/Further"),
		below("a/Mid", "gone/Away"))
	all := "a/Base a/Leaf a/Mid c/X c/Y d/Plain e/Other META-INF/versions/11/a/Late"
	cases := []struct{ rules, blocked, withClassPath string }{
		{"block: { extends: a.Base }", "a/Mid a/Leaf META-INF/versions/11/a/Late", ""},
		{"block: { extends: lib.Root }", "a/Base a/Mid a/Leaf META-INF/versions/11/a/Late", ""},
		{"block: { extends: far.Top }", "", "a/Base a/Mid a/Leaf META-INF/versions/11/a/Late"},
		{"block: { implements: far.Face }", "", "a/Base a/Mid a/Leaf META-INF/versions/11/a/Late"},
		{"block: { extends: far.Further }", "", "a/Base a/Mid a/Leaf META-INF/versions/11/a/Late"},
		{"block: { implements: lib.Face }", "a/Mid a/Leaf META-INF/versions/11/a/Late c/X c/Y", ""},
		{"block: { extends: a.Base, implements: lib.Face, class: '*.L*' }", "a/Leaf", ""},
		{"block: { extends: c.X }", "c/X c/Y", ""},
		{"block: { extends: gone.Away }", "e/Other", ""},
		{"block: { extends: java.lang.Object }", "d/Plain", ""},
		{"block: '**'\n- allow: { extends: lib.Root }", "c/X c/Y d/Plain e/Other", ""},
	}
	for _, c := range cases {
		parsed, err := filter.ParseConfig("t.yml", []byte("rules:\n- "+c.rules), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, classPath := range [][]string{nil, {lib}} {
			for _, inputs := range [][]string{{first, second}, {second, first}} {
				want := map[string]filter.Reason{}
				blocked := c.blocked
				if classPath != nil && c.withClassPath != "" {
					blocked = c.withClassPath
				}
				for _, name := range strings.Fields(blocked) {
					want[name+".class"] = filter.ReasonBlocked
				}
				config := pipeline.Config{Filter: filter.New(filter.Options{Rules: parsed.Rules, Trivial: filter.None}),
					DryRun: true,
					Verify: pipeline.VerifyEquivalence, ClassPath: pipeline.ClassPath{Paths: classPath}}
				for _, in := range inputs {
					config.Inputs = append(config.Inputs, pipeline.Input{Path: in, Output: in + ".out.jar"})
				}
				got := map[string]filter.Reason{}
				for s := range instrument(t, config).Skipped {
					if s.Reason != filter.ReasonRuntime {
						got[s.Entry] = s.Reason
					}
					if s.Reason == filter.ReasonBlocked && !strings.HasPrefix(s.Detail, "t.yml:2: block {") &&
						!strings.HasPrefix(s.Detail, "t.yml:2: block **") {
						t.Errorf("%s: %s by %q", c.rules, s.Entry, s.Detail)
					}
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s with class path %v: got %v, want %v of %s", c.rules, classPath, got, want, all)
				}
			}
		}
	}
}
