package meaning

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// alone are the methods of Suspending.kt that wait without a state of their own: the suspend call is the last thing
// that they do.
var alone = regexp.MustCompile(`\.(tail|tailUnit|intrinsic|cancelled|channels|structured|openOne|next|opt|collect|emit|` +
	`\w+\$default)$|Kt\$ref\$1\.invoke$|Kt\$flows\$\d+(\$1)?\.(invoke|emit)$`)

// TestCorpusSuspending compiles suspend functions of all shapes with both front ends of the compiler, instruments them
// in all exit modes, and runs them with a runtime that compares what is reported: a resumed continuation enters the
// method that it was made in, and each call that waits has a state by which it is found again, but for tail calls.
//
// Invariant: An instrumented program with suspend functions prints what the program prints, and what it reports of
// continuations agrees with its calls.
func TestCorpusSuspending(t *testing.T) {
	nightly.Only(t, "kotlin")
	j := jdk(t, 17)
	fetched := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20", "kotlinx-coroutines-core-jvm-1.10.2")
	compiler, library := fetched[0], append(slices.Clone(fetched[1].DepPaths), fetched[1].Path)
	runtime := filepath.Join(t.TempDir(), "runtime")
	javac(t, j, runtime, "--release", "8",
		filepath.Join("testdata", "suspending", "dev", "tracegen", "runtime", "AppMethodBeat.java"))
	for _, language := range []string{"1.9", "2.2"} {
		classes := filepath.Join(t.TempDir(), "classes")
		cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
			"-cp", pathList(append(compiler.DepPaths, compiler.Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
			"-no-stdlib", "-no-reflect", "-nowarn", "-language-version", language, "-cp", pathList(library...),
			"-d", classes, filepath.Join("testdata", "suspending", "Suspending.kt"))
		fixture.Run(t, cmd)
		main := "suspending.SuspendingKt"
		plain := command{jdk: j, dir: t.TempDir(),
			args: []string{"-cp", pathList(append(library, classes)...), main}}.run(t)
		if plain.code != 0 || strings.Count(plain.text, "\n") < 40 {
			t.Fatalf("exit code %d: %s", plain.code, tail(plain.text))
		}
		for _, exits := range inject.ExitModes() {
			t.Run(language+"/"+exits.String(), func(t *testing.T) {
				work := t.TempDir()
				program, mappingFile := filepath.Join(work, "program.jar"), filepath.Join(work, "mapping.txt")
				result, err := pipeline.Run(t.Context(), pipeline.Config{
					Filter: filter.New(filter.Options{Trivial: filter.None}), RuntimeExternal: true,
					Inject: inject.Options{Exits: exits, Coroutines: true},
					Inputs: []pipeline.Input{{Path: classes, Output: program}}})
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				if _, err := result.Mapping.WriteTo(&text); err != nil {
					t.Fatal(err)
				}
				fixture.Write(t, mappingFile, text.String())
				out := command{jdk: j, dir: t.TempDir(), args: []string{"-Dmapping=" + mappingFile, "-Xverify:all", "-cp",
					pathList(append(library, program, runtime)...), main}}.run(t)
				said, reports, _ := strings.Cut(out.text, "reported ")
				if said != plain.text || out.code != 0 {
					t.Fatalf("exit code %d, it printed\n%s\nwant\n%s", out.code, said, plain.text)
				}
				checkReports(t, "reported "+reports, exits)
			})
		}
	}
}

// checkReports checks the counts that the runtime prints. An exit that is not reported leaves calls open, which the
// next exits of the thread contradict.
func checkReports(t *testing.T, text string, exits inject.ExitMode) {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		number, what, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "reported ")), " ")
		if strings.HasPrefix(what, "wrong") && exits == inject.ExitsExact {
			t.Error(line)
		}
		if name, ok := strings.CutPrefix(what, "alone "); ok && !alone.MatchString(name) {
			t.Errorf("%s waits without a state", name)
		}
		counts[what], _ = strconv.Atoi(number)
	}
	for what, least := range map[string]int{"continues": 100, "starts": 50, "resumed": 200, "suspended": 200} {
		if counts[what] < least {
			t.Errorf("%s: %d times, want at least %d", what, counts[what], least)
		}
	}
}
