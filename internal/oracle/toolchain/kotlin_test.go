package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusKotlin compiles Kotlin code that uses the runtime, and the no-op: code that treats what may be null as
// such, and code that does not, of which each line must be an error. The class path has no annotations: Kotlin does not
// need their classes.
//
// Invariant: Kotlin knows which values of the runtime's API may be null, without a dependency on annotations.
func TestCorpusKotlin(t *testing.T) {
	nightly.Only(t, "tools")
	if !corpus.IsFull() {
		t.Skip("skipped: needs the Kotlin compiler of the whole corpus")
	}
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	library := Library(t)
	fetched := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlin-stdlib-2.2.20")
	compiler := strings.Join(append(fetched[0].DepPaths, fetched[0].Path), string(os.PathListSeparator))
	for _, row := range []struct {
		name    string
		runtime []string
	}{{"runtime", jars.App()}, {"no-op", []string{jars.NoOp}}} {
		path := strings.Join(append(row.runtime, library, fetched[1].Path), string(os.PathListSeparator))
		compile := func(t *testing.T, file string) (errors []int, out string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", compiler,
				"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-no-jdk", "-Werror", "-cp", path,
				"-d", t.TempDir(), file)
			text, err := cmd.CombinedOutput()
			errors = kotlinErrors(t, string(text))
			if (err != nil) != (len(errors) > 0) {
				t.Fatalf("kotlin: %v\n%s", err, text)
			}
			return errors, string(text)
		}
		t.Run(row.name, func(t *testing.T) {
			if errors, out := compile(t, filepath.Join("testdata", "kotlin", "Right.kt")); len(errors) > 0 {
				t.Errorf("the right code does not compile:\n%s", out)
			}
			wrong := filepath.Join("testdata", "kotlin", "Wrong.kt")
			errors, out := compile(t, wrong)
			if want := wrongLines(t, wrong); !slices.Equal(errors, want) {
				t.Errorf("errors in the lines %v, want %v:\n%s", errors, want, out)
			}
		})
	}
}

var kotlinError = regexp.MustCompile(`(?m)^.*\.kt:(\d+):\d+: (?:error|warning): `)

// kotlinErrors returns the lines with an error or a warning, each once.
func kotlinErrors(t *testing.T, out string) []int {
	t.Helper()
	var lines []int
	for _, m := range kotlinError.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, n)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// wrongLines returns the numbers of the lines that end with the comment.
func wrongLines(t *testing.T, file string) []int {
	t.Helper()
	data := fixture.Read(t, file)
	var lines []int
	for k, line := range strings.Split(string(data), "\n") {
		if strings.HasSuffix(line, "// wrong") {
			lines = append(lines, k+1)
		}
	}
	return lines
}
