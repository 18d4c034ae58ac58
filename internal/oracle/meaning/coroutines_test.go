package meaning

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusCoroutines does for Kotlin's suspend functions what TestCorpusShapes does for Java.
func TestCorpusCoroutines(t *testing.T) {
	nightly.Only(t, "kotlin")
	recorder := oracle.NeedRecorder(t)
	j := jdk(t, 17)
	s := shapes{build: build{release: 8, compiler: 17, run: 17}, main: []string{"Run", "Coroutines"}}
	source := filepath.Join("testdata", "coroutines", "Coroutines.kt")
	s.sources = []string{source}
	s.classes = filepath.Join(t.TempDir(), "classes")
	javac(t, j, s.classes, "--release", "8", filepath.Join("testdata", "shapes", "Probe.java"),
		filepath.Join("testdata", "shapes", "Run.java"))
	compiler := corpus.Need(t, "kotlin-compiler-embeddable-2.2.20")[0]
	library := corpus.Need(t, "kotlin-stdlib-2.2.20")[0].Path
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-XX:TieredStopAtLevel=1",
		"-cp", pathList(append(compiler.DepPaths, compiler.Path)...), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
		"-no-stdlib", "-no-reflect", "-cp", pathList(library, s.classes), "-d", s.classes, source)
	fixture.Run(t, cmd)
	s.library = library
	s.check(t, j, recorder)
}
