package steps_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/steps"
)

// bounded returns the methods of a program that are bounded, with their bounds.
func bounded(t *testing.T, paths ...string) (bounds map[string]int, methods []string) {
	t.Helper()
	var inputs []pipeline.Input
	for i, path := range paths {
		inputs = append(inputs, pipeline.Input{Path: path, Output: filepath.Join(t.TempDir(), fmt.Sprint(i, ".jar"))})
	}
	r, err := pipeline.Run(t.Context(), pipeline.Config{Inputs: inputs, RuntimeExternal: true, DryRun: true, Jobs: 1,
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
		fixture.Write(t, file, source(seed))
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

// TestGeneratedProgramsOnART runs generated programs on ART.
//
// Invariant: No call of a bounded method executes more instructions on ART than its bound.
func TestGeneratedProgramsOnART(t *testing.T) {
	nightly.Only(t, "art")
	b, j := art.NeedCounting(t), oracle.NeedJDK(t, 17)
	const count = 10
	called := 0
	for seed := range uint64(count) {
		dir := t.TempDir()
		file, classes := filepath.Join(dir, "Main.java"), filepath.Join(dir, "classes")
		fixture.Write(t, file, source(seed))
		oracle.Javac(t, j, classes, nil, []string{"--release", "8"}, file)
		bounds, methods := bounded(t, classes)
		called += check(t, bounds, steps.RunART(t, b, methods, artProgram(t, b, classes, "Main")))
	}
	t.Logf("measured: %d bounded methods called", called)
	if called < 5*count {
		t.Errorf("%d bounded methods were called in %d programs: the programs test little", called, count)
	}
}

// artProgram returns the program of a directory of classes and of jars.
func artProgram(t *testing.T, b *art.Bench, classes, main string, jars ...string) art.Program {
	t.Helper()
	var files []string
	err := filepath.WalkDir(classes, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".class" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dex := filepath.Join(t.TempDir(), "dex.jar")
	b.D8(t, dex, append(files, jars...)...)
	return art.Program{ClassPath: []string{dex}, Main: main}
}

// TestCorpusBoundedOnART runs a program that uses libraries of Android apps.
//
// Invariant: No call of a bounded method executes more instructions on ART than its bound.
func TestCorpusBoundedOnART(t *testing.T) {
	nightly.Only(t, "art")
	b, j := art.NeedCounting(t), oracle.NeedJDK(t, 17)
	var jars []string
	for _, jar := range corpus.Need(t, "gson-2.11.0", "rxjava-3.1.10", "reactive-streams-1.0.4", "okio-jvm-3.9.0",
		"kotlin-stdlib-2.2.20", "guava-33.4.8-jre") {
		jars = append(jars, jar.Path)
	}
	classes := filepath.Join(t.TempDir(), "classes")
	oracle.Javac(t, j, classes, jars, []string{"--release", "8"}, filepath.Join("testdata", "Uses.java"))
	bounds, methods := bounded(t, append(jars, classes)...)
	called := check(t, bounds, steps.RunART(t, b, methods, artProgram(t, b, classes, "Uses", jars...)))
	t.Logf("measured: %d bounded methods, %d called", len(methods), called)
	if called < 100 {
		t.Errorf("%d bounded methods were called, want 100", called)
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
