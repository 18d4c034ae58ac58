package meaning

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// TestAssembled runs code that no compiler of today makes, and code that is almost too big: subroutines, branches and
// switches over 32 KiB, methods near 64 KiB, with frames and without; and the wide jumps of javac itself.
func TestAssembled(t *testing.T) {
	nightly.Only(t, "programs")
	recorder := oracle.NeedRecorder(t)
	classes := assemble(t)
	want := expectations(t, []string{filepath.Join("testdata", "assembled", "Assemble.java")})
	for _, feature := range []int{17, 25} {
		t.Run(fmt.Sprintf("on %d", feature), func(t *testing.T) {
			j := jdk(t, feature)
			original := runAssembled(t, j, classes)
			for _, m := range shapeModes {
				t.Run(m.word, func(t *testing.T) {
					outputs, ids := instrument(t, filepath.Join(t.TempDir(), "out"), m.mode, []string{classes})
					checkTraced(t, ids)
					summary, events := filepath.Join(t.TempDir(), "summary"), filepath.Join(t.TempDir(), "events")
					got := runAssembled(t, j, outputs[classes], "-Xbootclasspath/a:"+recorder,
						oracle.RecorderFlag(summary), oracle.RecorderEventsFlag(events))
					compare(t, got, original)
					s := oracle.ReadSummary(t, summary)
					checkSummary(t, m.mode, s)
					checked := want.compareScenarios(t, m.word, scenarios(t, got.text, events, ids))
					t.Logf("measured: assembled classes on %d, %s: %d scenarios as their sources say, %d events, %d exits too "+
						"many, %d closed late",
						feature, m.word, checked, s.Entries+s.Exits, s.ExitsTooMany, s.ClosedLate)
				})
			}
		})
	}
}

func runAssembled(t *testing.T, j oracle.JDK, classes string, flags ...string) outcome {
	t.Helper()
	o := command{j, slices.Concat(flags, []string{"-Xverify:all", "-cp", classes, "Assembled"}), t.TempDir()}.run(t)
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, tail(o.text))
	}
	return o
}

// checkTraced checks that the methods of the test are traced, except for those that cannot grow.
func checkTraced(t *testing.T, ids *mapping.Mapping) {
	t.Helper()
	var names []string
	for e := range ids.All() {
		if strings.HasPrefix(e.Class, "Far") {
			names = append(names, e.Class+"."+e.Name)
		}
	}
	slices.Sort(names)
	want := strings.Fields("Far48.backward Far48.compilable Far48.forward Far48.large Far48.lookup Far48.subroutine " +
		"Far48.table Far48.wide " +
		"Far52.backward Far52.compilable Far52.forward Far52.large Far52.lookup Far52.table Far52.wide")
	if !slices.Equal(names, want) {
		t.Errorf("traced %v, want %v", names, want)
	}
}

// assemble returns the classes, of three kinds: written by ASM, compiled from generated source, and those that call
// them.
func assemble(t *testing.T) string {
	t.Helper()
	j := jdk(t, 17)
	asm := corpus.Need(t, "asm-9.9")[0].Path
	dir := t.TempDir()
	classes, tool := filepath.Join(dir, "classes"), filepath.Join(dir, "tool")
	javac(t, j, tool, "-cp", asm, filepath.Join("testdata", "assembled", "Assemble.java"))
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-cp", pathList(asm, tool), "Assemble", classes)
	fixture.Run(t, cmd)
	fat := filepath.Join(dir, "Fat.java")
	fixture.Write(t, fat, fatSource())
	javac(t, j, classes, "--release", "8", "-g", "-cp", classes, fat,
		filepath.Join("testdata", "assembled", "Assembled.java"), filepath.Join("testdata", "shapes", "Probe.java"))
	return classes
}

// fatSource has a method whose loop is longer than a short branch can span, so that javac compiles all of its jumps in
// their wide form, within a try whose finally is there twice.
func fatSource() string {
	var b strings.Builder
	b.WriteString("class Fat {\n\tstatic int run(int a, int n) {\n\t\tint sum = a;\n\t\tfor (int k = 0; k < 3; k++) " +
		"{\n\t\t\ttry {\n")
	for k := range 1200 {
		switch k % 4 {
		case 0:
			fmt.Fprintf(&b, "\t\t\t\tif (n == %d) { return sum + %d; }\n", 500*k, k)
		case 1:
			fmt.Fprintf(&b, "\t\t\t\tif (n + k == %d) { continue; }\n", 500*k+1)
		case 2:
			fmt.Fprintf(&b, "\t\t\t\tif (sum == %d) { throw new IllegalStateException(); }\n", k)
		default:
			fmt.Fprintf(&b, "\t\t\t\tsum = n > %d ? sum * 31 + %d : sum ^ %d;\n", k, k, k)
		}
	}
	b.WriteString("\t\t\t} catch (IllegalStateException e) {\n\t\t\t\tbreak;\n\t\t\t} finally {\n\t\t\t\tsum += " +
		"k;\n\t\t\t}\n\t\t}\n\t\treturn sum;\n\t}\n}\n")
	return b.String()
}
