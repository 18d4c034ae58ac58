package art

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// junit are the artifacts that run the tests of runtime-java/core, in the versions of its Maven build, with their
// SHA-256.
var junit = [][2]string{
	{"org.junit.jupiter:junit-jupiter-api:5.11.4",
		"ab83ef9e51ac4597d59d26b4b58812129550e2f579a404c8af7d09f5ce5b4293"},
	{"org.junit.jupiter:junit-jupiter-engine:5.11.4",
		"cdf8ac59f3fad774ca738ad03890950eeb91833ef0e8908753177edd26f1581c"},
	{"org.junit.platform:junit-platform-commons:1.11.4",
		"9edd969b0d0670c54105bc91ae79bd1c6f503e12115faba82073b84c86bbc334"},
	{"org.junit.platform:junit-platform-engine:1.11.4",
		"b1dd998f64f9acadc15966d9cd3d08074662677b3e390f0a38fcbf0bb4c72330"},
	{"org.junit.platform:junit-platform-launcher:1.11.4",
		"d7430bd029e7fcced53ee445e4d2d1a8a1e043ea4c4df43b6335a857f79761ae"},
	{"org.opentest4j:opentest4j:1.3.0",
		"48e2df636cab6563ced64dcdff8abb2355627cb236ef0bf37598682ddf742f1b"},
	{"org.apiguardian:apiguardian-api:1.1.2",
		"b509448ac506d607319f182537f0b35d71007582ec741832a1f111e5b5b70b38"},
	{"org.jspecify:jspecify:1.0.0",
		"1fad6e6be7557781e4d33729d49ae1cdc8fdda6fe477bb0cc68ce351eafdfbab"},
}

// coreTests are the JUnit tests of runtime-java/core, as DEX files.
type coreTests struct {
	bench   *Bench
	sources string
	// classes are the names of the classes of tests.
	classes []string
	jars    []string
}

// buildCoreTests compiles the recorder and its tests.
func buildCoreTests(t *testing.T, b *Bench) coreTests {
	t.Helper()
	var libraries []string
	for _, a := range junit {
		jar, err := oracle.FetchSum(t.Context(), a[0], a[1])
		oracle.Require(t, err)
		libraries = append(libraries, jar)
	}
	slices.Sort(libraries)
	root, err := oracle.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := coreTests{bench: b, sources: filepath.Join(root, "runtime-java")}
	dir := t.TempDir()
	core, tests := filepath.Join(dir, "core"), filepath.Join(dir, "tests")
	// The Activity of the tests is a stub, as in the Maven build.
	c.compile(t, core, libraries, "core/src/main/java", "core/src/android/java", "android-stub/src/main/java")
	c.compile(t, tests, append([]string{core}, libraries...), "core/src/test/java")
	c.compile(t, tests, libraries, "../internal/oracle/art/testdata/RunTests.java")
	for _, file := range oracle.ClassFiles(t, tests) {
		if name, ok := strings.CutSuffix(file, "Test.class"); ok {
			name, err = filepath.Rel(tests, name+"Test")
			if err != nil {
				t.Fatal(err)
			}
			c.classes = append(c.classes, strings.ReplaceAll(filepath.ToSlash(name), "/", "."))
		}
	}
	jar := filepath.Join(dir, "tests.jar")
	b.D8(t, jar, slices.Concat(oracle.ClassFiles(t, core), oracle.ClassFiles(t, tests), libraries)...)
	c.jars = []string{jar}
	return c
}

// compile compiles sources, which are files or directories below runtime-java, for Java 8, the runtime's release.
func (c coreTests) compile(t *testing.T, out string, path []string, sources ...string) {
	t.Helper()
	below := make([]string, 0, len(sources))
	for _, source := range sources {
		below = append(below, filepath.Join(c.sources, source))
	}
	oracle.Javac(t, oracle.NeedJDK(t, 17), out, path, nil, below...)
}

// run runs the tests of a class in a process of its own, and makes a subtest of each.
func (c coreTests) run(t *testing.T, class string, jit bool) {
	t.Helper()
	p := Program{ClassPath: c.jars, Main: "RunTests", Args: []string{class}, JIT: jit,
		Dir: filepath.Join(c.sources, "core")}
	// How a test starts another process: this command without the main class.
	command := c.bench.Command(t.Context(), p).Args
	command = command[:len(command)-2]
	p.Options = []string{"-Djava.io.tmpdir=" + t.TempDir(), "-Dtracegen.update=false", "-Dtracegen.stress=200000",
		"-Dtracegen.java=" + strings.Join(command, "\n")}
	r := c.bench.Run(t, p)
	tests := 0
	for line := range strings.Lines(r.Stdout) {
		rest, ok := strings.CutPrefix(line, "test ")
		if !ok {
			continue
		}
		name, verdict, _ := strings.Cut(strings.TrimSpace(rest), " ")
		tests++
		t.Run(strings.TrimSuffix(name, "()"), func(t *testing.T) {
			switch {
			case strings.HasPrefix(verdict, "skipped"):
				t.Skip(verdict)
			case verdict != "ok":
				t.Error(verdict)
			}
		})
	}
	if r.Exit != 0 || tests == 0 || !strings.HasSuffix(r.Stdout, "end\n") {
		t.Errorf("exit code %d after %d tests", r.Exit, tests)
	}
	if t.Failed() {
		t.Log(r.Stdout + r.Stderr)
	}
}

// TestCoreOnART runs the recorder's JUnit tests on ART with its optimizing compiler, each class in a process.
//
// Invariant: What the recorder's tests prove on a JVM holds on ART, too.
func TestCoreOnART(t *testing.T) {
	nightly.Only(t, "art")
	c := buildCoreTests(t, NeedCompiler(t))
	for _, class := range c.classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			c.run(t, class, true)
		})
	}
}

// TestCoreOnARTInterpreted runs those JUnit tests on ART's interpreter that take few seconds: of the calls, of what a
// recording has, and of messages.
func TestCoreOnARTInterpreted(t *testing.T) {
	nightly.Only(t, "art-push")
	c := buildCoreTests(t, Need(t))
	for _, name := range []string{"RecorderTest", "FastPathTest", "RecordingWriterTest", "SegmentsTest",
		"detector.AnrTest"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, "dev.tracegen.runtime."+name, false)
		})
	}
}
