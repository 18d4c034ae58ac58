package oracle

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// shapes has what the planted faults need: branches, several returns, frames of several kinds, a handler, a constructor
// with arguments, an interface, a lambda.
const shapes = `
import java.util.function.IntSupplier;
public class Shapes {
	final int n;
	Shapes(int n) { this.n = n > 3 ? n : -n; }
	interface Named { String name(); default int length() { return name().length(); } }
	static int choose(int a, long b, String s) {
		if (a > 3) { return a; }
		for (int k = 0; k < b; k++) { if (s.charAt(k) == 'x') { return k; } }
		return -1;
	}
	int guarded(Object o) {
		try {
			synchronized (this) { return o.hashCode() + n; }
		} catch (NullPointerException e) {
			throw new IllegalStateException(e);
		} finally {
			Thread.yield();
		}
	}
	static IntSupplier later(int a) { return () -> a + 1; }
	static void nothing() { }
	static boolean missing(Absent a) { return a == null; }
	static class Absent { }
}
`

// compileShapes returns a jar of the sources above. It leaves out Shapes$Absent: a class that a descriptor names and no
// verifier needs, as real jars have them.
func compileShapes(t *testing.T, release string) string {
	t.Helper()
	j, err := FindJDK(17)
	Require(t, err)
	dir := t.TempDir()
	src := filepath.Join(t.TempDir(), "Shapes.java")
	fixture.Write(t, src, shapes)
	fixture.Run(t, exec.Command(j.Tool("javac"), "--release", release, "-Xlint:-options", "-d", dir, src))
	if err := os.Remove(filepath.Join(dir, "Shapes$Absent.class")); err != nil {
		t.Fatal(err)
	}
	return JarOf(t, dir, filepath.Join(t.TempDir(), "shapes.jar"))
}

// plant instruments a jar by ASM, with one of the faults that Plant.java lists.
func plant(ctx context.Context, t *testing.T, jar, fault string) string {
	t.Helper()
	j, err := FindJDK(11)
	Require(t, err)
	jars, err := asmJars(ctx)
	Require(t, err)
	main, err := tool{name: "asm", release: 11, path: jars}.build(ctx, j)
	Require(t, err)
	out := filepath.Join(t.TempDir(), fault+".jar")
	if err := j.java(ctx, "-cp", classPath(append(jars, main)...), "dev.tracegen.oracle.Plant",
		jar, out, DefaultRuntime, fault); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOraclesFindPlantedFaults checks for each oracle that it reports the faults that it is used for.
//
// Invariant: Classes that linked still link, and other programs find the mapping's IDs at every entry and exit.
func TestOraclesFindPlantedFaults(t *testing.T) {
	nightly.Only(t, "classes")
	tests := []struct {
		fault, release string
		link           string // part of HotSpot's message, empty if it is to link
		check          string // part of the message of ASM's checker
		calls          string // part of what is wrong with the calls
		otherIDs       bool   // an exit passes another ID than the entry
		fewerExits     bool   // a return has no exit, or too many
	}{
		{fault: "none", release: "17"},
		{fault: "none", release: "8"},
		{fault: "stack", release: "17", link: "Operand stack overflow", check: "maximum stack size"},
		{fault: "frame", release: "17", link: "not assignable", check: "frame"},
		{fault: "id", release: "17", otherIDs: true},
		{fault: "missing", release: "17", calls: "return with an open entry", fewerExits: true},
		{fault: "twice", release: "17", calls: "exit without an entry", fewerExits: true},
		{fault: "entry", release: "17", calls: "second entry"},
	}
	j, err := FindJDK(17)
	Require(t, err)
	var originals, planted []LinkJob
	jars := map[string]string{"8": compileShapes(t, "8"), "17": compileShapes(t, "17")}
	for _, tt := range tests {
		id := tt.fault + " " + tt.release
		originals = append(originals, LinkJob{ID: id, Jar: jars[tt.release]})
		planted = append(planted, LinkJob{ID: id, Jar: plant(t.Context(), t, jars[tt.release], tt.fault)})
	}
	before := Link(t, j, originals)
	for _, r := range before {
		if r.Status != Linked {
			t.Fatalf("an original does not link: %+v", r)
		}
	}
	after := Link(t, j, planted)
	classes, methods := Disassemble(t, planted, AsmOptions{Check: true})
	for _, tt := range tests {
		id := tt.fault + " " + tt.release
		t.Run(id, func(t *testing.T) {
			var link, check, calls []string
			for _, r := range Regressions(before, after) {
				link = appendIf(link, r.Job == id, r.Message)
			}
			for _, c := range classes {
				check = appendIf(check, c.Job == id && c.Error != "", c.Error)
			}
			otherIDs, fewerExits := false, false
			for _, m := range methods {
				if m.Job != id {
					continue
				}
				calls = appendIf(calls, m.Faults != "", m.Faults)
				fewerExits = fewerExits || len(m.ExitIDs) != m.Returns
				for _, exit := range m.ExitIDs {
					otherIDs = otherIDs || exit != m.EntryIDs[0]
				}
			}
			wantPart(t, "link", link, tt.link)
			wantPart(t, "check", check, tt.check)
			wantPart(t, "calls", calls, tt.calls)
			if otherIDs != tt.otherIDs {
				t.Errorf("exits with another ID: %v, want %v", otherIDs, tt.otherIDs)
			}
			if fewerExits != tt.fewerExits {
				t.Errorf("exits and returns differ in number: %v, want %v", fewerExits, tt.fewerExits)
			}
		})
	}
}

func appendIf(list []string, yes bool, s string) []string {
	if yes {
		return append(list, s)
	}
	return list
}

// wantPart checks that a message contains part, or that there is none if part is empty.
func wantPart(t *testing.T, who string, got []string, part string) {
	t.Helper()
	if part == "" {
		if len(got) > 0 {
			t.Errorf("%s: %q, want nothing", who, got)
		}
		return
	}
	if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, part) }) {
		t.Errorf("%s: %q, want one with %q", who, got, part)
	}
}
