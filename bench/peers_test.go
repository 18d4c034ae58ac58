package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestMain makes the test program also run the commands that the program runs in processes of its own: the floor, and
// those that prepare the inputs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		if err := dispatch(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// loopClass is a class with a method that every contestant traces.
func loopClass(name string) assembly.Class {
	return assembly.Class{Name: name, Major: 49, Methods: []assembly.Method{
		{Access: 9, Name: "f", Descriptor: "(I)I", Stack: 2, Locals: 1, Code: "top: iload_0 | iconst_1 | isub | istore_0 | " +
			"invokestatic java/lang/Thread.yield()V | invokestatic java/lang/Thread.yield()V | iload_0 | ifgt top | iload_0 " +
			"| ireturn"},
	}}
}

// TestEveryContestantDoesItsWork runs each contestant once, on two jars, of which one contains jsr, and on stored
// copies of them.
//
// Invariant: Every contestant of the benchmark does its work, and the hand-written ASM program does the same work as
// --trivial none.
func TestEveryContestantDoesItsWork(t *testing.T) {
	nightly.Only(t, "corpora")
	t.Chdir("..")
	dir := t.TempDir()
	corpora, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, err = corpora.Fetch(t.Context(), asmJar, matrixJar, byteBuddyJar, jacocoJar)
	oracle.Require(t, err)
	l, err := chooseContestants(t.Context(), corpora, dir, "", regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	in := input{name: "two jars", jars: []string{filepath.Join(dir, "new.jar"), filepath.Join(dir, "old.jar")}}
	writeJar(t, in.jars[0], [2]string{"a/A.class", string(loopClass("a/A").Bytes())}, [2]string{"text", "text"})
	writeJar(t, in.jars[1], [2]string{"a/B.class", string(loopClass("a/B").Bytes())},
		[2]string{"a/Old.class", string(oldClass("a/Old").Bytes())})
	rows := worksOf(t, l, in, filepath.Join(dir, "measured"))
	if missing := missingRows(l, rows, func(m mostRuns) int { return m.jar }); len(missing) > 0 {
		t.Errorf("not measured: %q", missing)
	}
	sameWork(t, rows[rowAll], rows[rowExpert])
	if n := rows[rowMatrix].changed; n != 2 {
		t.Errorf("Matrix changed %d classes without jsr, want 2", n)
	}
	in.name, in.stored = storedPrefix+in.name, true
	rows = worksOf(t, l, in, filepath.Join(dir, "stored"))
	if missing := missingRows(l, rows, func(m mostRuns) int { return m.stored }); len(missing) > 0 {
		t.Errorf("not measured with stored jars: %q", missing)
	}
	for _, name := range []string{rowExpert, rowExpertWarm, rowWarmTuned, rowAGP, rowAGPWarm} {
		sameWork(t, rows[rowAll], rows[name])
	}
	for name, w := range rows {
		if deflates := name == rowAGP || name == rowAGPWarm; deflates != (w.packed > 0) {
			t.Errorf("%s changed the method of %d stored classes", name, w.packed)
		}
	}
}

// worksOf runs every contestant once and returns what each has done.
func worksOf(t *testing.T, l lineup, in input, dir string) map[string]work {
	t.Helper()
	all, err := measureAll(t.Context(), l, in, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]work{}
	for _, s := range all {
		if s.inspect(); s.failed != nil {
			t.Errorf("%s failed: %v", s.name, s.failed)
		}
		if s.contestant.traces && (s.work.changed == 0 || s.work.calls < 2 || s.work.methods == 0) {
			t.Errorf("%s did nothing: %+v, %s", s.name, s.work, s.said)
		}
		rows[s.name] = s.work
	}
	return rows
}

// missingRows returns the contestants without a row, of those with runs.
func missingRows(l lineup, rows map[string]work, runs func(mostRuns) int) []string {
	var missing []string
	for _, c := range l.contestants {
		if _, measured := rows[c.name]; !measured && runs(c.most) > 0 {
			missing = append(missing, c.name)
		}
	}
	return missing
}

func sameWork(t *testing.T, ours, other work) {
	t.Helper()
	if ours.calls != other.calls || ours.methods != other.methods || ours.changed != other.changed {
		t.Errorf("tracegen did %+v, the other %+v; want the same work", ours, other)
	}
}
