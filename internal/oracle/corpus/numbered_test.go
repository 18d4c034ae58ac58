package corpus_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// numberedSource is compiled twice, without and with what is new in the second build: a lambda and an anonymous
// class before those that were there.
const numberedSource = `
public class Screen {
    int sum;
    void show(java.util.List<String> names) {
        %s
        names.forEach(n -> { sum += n.length(); names.add(n + sum); });
        Runnable second = () -> { for (int i = 0; i < sum; i++) names.remove(i); };
        second.run();
        new Thread() { public void run() { sum = names.size(); names.clear(); } }.start();
    }
}`

const newInFront = `
        new Thread() { public void run() { sum = -1; names.sort(null); } }.start();
        names.removeIf(n -> n.isEmpty() || n.length() == sum);`

// TestNumberedBodies compiles a class before and after lambdas were inserted before others. The numbers in the names
// that javac makes shift, and comparing the mappings reports which code has moved where.
//
// Invariant: A lambda whose number changes is found again by the fingerprint of its code.
func TestNumberedBodies(t *testing.T) {
	nightly.Only(t, "corpora")
	j := oracle.NeedJDK(t, 17)
	var mappings [2]*mapping.Mapping
	for i, text := range []string{"", newInFront} {
		source := filepath.Join(t.TempDir(), "Screen.java")
		fixture.Write(t, source, fmt.Appendf(nil, numberedSource, text))
		result, err := pipeline.Run(t.Context(), pipeline.Config{
			Inputs: []pipeline.Input{{Path: compile(t, j.Tool("javac"), "8", source),
				Output: filepath.Join(t.TempDir(), "out.jar")}},
			DryRun: true, RuntimeExternal: true, Base: mappings[0], Verify: pipeline.VerifyEquivalence,
			Filter: filter.New(filter.Options{Trivial: filter.None}),
		})
		if err != nil {
			t.Fatal(err)
		}
		mappings[i] = result.Mapping
	}
	c := mapping.Compare(mappings[0], mappings[1])
	var got []string
	for _, d := range c.Renumbered {
		got = append(got, d.Old.Class+"."+d.Old.Name+" is "+d.New.Class+"."+d.New.Name)
	}
	want := "Screen.lambda$show$0 is Screen.lambda$show$1, Screen.lambda$show$1 is Screen.lambda$show$2, Screen$1.run " +
		"is Screen$2.run"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	for _, d := range c.Suspicious {
		if !mapping.Numbered(d.New.Identity) {
			t.Errorf("suspicious, but without a number: %s", d.New.Line())
		}
	}
	if len(c.Suspicious) == 0 {
		t.Error("names that stand for other code are not reported")
	}
}
