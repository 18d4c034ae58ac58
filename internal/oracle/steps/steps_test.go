package steps_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/steps"
)

// bounded returns the methods of a program that are bounded, with their bounds.
func bounded(t *testing.T, input string) (bounds map[string]int, methods []string) {
	t.Helper()
	r, err := pipeline.Run(t.Context(), pipeline.Config{Inputs: []pipeline.Input{{Path: input,
		Output: filepath.Join(t.TempDir(), "out.jar")}}, RuntimeExternal: true, DryRun: true, Jobs: 1,
		Verify: pipeline.VerifyEquivalence, Filter: filter.New(filter.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	bounds = make(map[string]int)
	for s := range r.Skipped {
		if s.Reason != filter.ReasonBounded {
			continue
		}
		method := s.Class + " " + s.Name + " " + s.Descriptor
		bound, err := strconv.Atoi(strings.Fields(s.Detail)[2])
		if err != nil || bound > filter.MaxBound {
			t.Fatalf("%s: %q", method, s.Detail)
		}
		if _, again := bounds[method]; !again {
			methods = append(methods, method)
		}
		bounds[method] = max(bounds[method], bound)
	}
	return bounds, methods
}

// check compares what calls did with the bounds, and returns how many bounded methods were called.
func check(t *testing.T, bounds map[string]int, counted map[string]steps.Counted) (called int) {
	t.Helper()
	for method, c := range counted {
		if c.Most > bounds[method] {
			t.Errorf("%s: a call executes %d bytecodes, the bound is %d", method, c.Most, bounds[method])
		}
		if c.Calls > 0 {
			called++
		}
	}
	return called
}

// TestGeneratedPrograms runs generated programs, and counts the bytecodes that calls of their bounded methods execute.
//
// Invariant: No call of a bounded method executes more bytecodes than its bound.
func TestGeneratedPrograms(t *testing.T) {
	j := oracle.NeedJDK(t, 17)
	agent := steps.Need(t, j)
	count := 3
	if nightly.Runs("programs") {
		count = 60
	}
	all, called, withCalls := 0, 0, 0
	for seed := range uint64(count) {
		dir := t.TempDir()
		file, classes := filepath.Join(dir, "Main.java"), filepath.Join(dir, "classes")
		if err := os.WriteFile(file, []byte(source(seed)), 0o644); err != nil {
			t.Fatal(err)
		}
		oracle.Javac(t, j, classes, nil, []string{"--release", "17"}, file)
		bounds, methods := bounded(t, classes)
		all += len(methods)
		called += check(t, bounds, agent.Run(t, methods, "-cp", classes, "Main"))
		for _, bound := range bounds {
			if bound > 100 {
				withCalls++
			}
		}
	}
	t.Logf("measured: %d bounded methods, %d called, %d with bounds above 100", all, called, withCalls)
	if called < 5*count || withCalls == 0 {
		t.Errorf("%d of %d bounded methods were called in %d programs: the programs test little", called, all, count)
	}
}

// TestCorpusBounded runs a program of the corpus, a database with a few statements.
//
// Invariant: No call of a bounded method executes more bytecodes than its bound.
func TestCorpusBounded(t *testing.T) {
	nightly.Only(t, "tools")
	agent := steps.Need(t, oracle.NeedJDK(t, 17))
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), "h2-2.1.214")
	oracle.Require(t, err)
	jar := jars[0].Path
	bounds, methods := bounded(t, jar)
	called := check(t, bounds, agent.Run(t, methods, "-cp", jar, "org.h2.tools.Shell", "-url", "jdbc:h2:mem:t", "-sql",
		"create table t(id int primary key, name varchar(20), at timestamp); "+
			"insert into t values (1, 'a', timestamp '2020-02-29 12:00:00'), (2, 'b', null); "+
			"update t set name = name || 'x' where id > 1; "+
			"select upper(name), count(*), max(at) from t group by name having count(*) > 0 order by name desc; "+
			"delete from t where id in (select id from t where name like 'b%')"))
	t.Logf("measured: %d bounded methods, %d called", len(methods), called)
	if called < 100 {
		t.Errorf("%d bounded methods were called, want 100", called)
	}
}
