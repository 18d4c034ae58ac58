package generated

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

var sources = flag.Int("sources", 200, "how many programs TestCorpusCompiled compiles in each way")

// compilation is a way to compile a program: javac of that release of the JDK, or ECJ, for a release of Java.
type compilation struct {
	ecj          bool
	jdk, release int
	debug        string // -g or -g:none
}

func (c compilation) String() string {
	name := fmt.Sprint("javac ", c.jdk)
	if c.ecj {
		name = "ECJ"
	}
	return fmt.Sprintf("%s, release %d, %s", name, c.release, c.debug)
}

// compilations are all ways; a JDK 25 may be missing. TestCompiled has the first few. ECJ 3.40 has Java 24 at most.
var compilations = []compilation{
	{jdk: 17, release: 8, debug: "-g"},
	{jdk: 17, release: 17, debug: "-g"},
	{ecj: true, jdk: 17, release: 8, debug: "-g"},
	{jdk: 25, release: 25, debug: "-g"},
	{jdk: 17, release: 8, debug: "-g:none"},
	{jdk: 17, release: 11, debug: "-g"},
	{jdk: 17, release: 11, debug: "-g:none"},
	{jdk: 17, release: 17, debug: "-g:none"},
	{jdk: 25, release: 8, debug: "-g"},
	{jdk: 25, release: 8, debug: "-g:none"},
	{jdk: 25, release: 11, debug: "-g"},
	{jdk: 25, release: 11, debug: "-g:none"},
	{jdk: 25, release: 17, debug: "-g"},
	{jdk: 25, release: 17, debug: "-g:none"},
	{jdk: 25, release: 21, debug: "-g"},
	{jdk: 25, release: 21, debug: "-g:none"},
	{jdk: 25, release: 25, debug: "-g:none"},
	{ecj: true, jdk: 17, release: 8, debug: "-g:none"},
	{ecj: true, jdk: 17, release: 11, debug: "-g"},
	{ecj: true, jdk: 17, release: 11, debug: "-g:none"},
	{ecj: true, jdk: 17, release: 17, debug: "-g"},
	{ecj: true, jdk: 17, release: 17, debug: "-g:none"},
	{ecj: true, jdk: 25, release: 21, debug: "-g"},
	{ecj: true, jdk: 25, release: 21, debug: "-g:none"},
}

// compile compiles the programs of these seeds and returns their classes by program.
func (c compilation) compile(t *testing.T, runner string, seeds []uint64) (map[uint64][]class, error) {
	t.Helper()
	j, err := exactJDK(c.jdk)
	if err != nil {
		return nil, err
	}
	dir := t.TempDir()
	args := []string{"-J-Xss16m", "-proc:none", "-nowarn", "-Xlint:none"}
	tool := j.Tool("javac")
	if c.ecj {
		list, err := corpus.Load()
		if err != nil {
			return nil, err
		}
		jars, err := list.Fetch(t.Context(), "ecj-3.40.0")
		if err != nil {
			return nil, err
		}
		tool, args = j.Tool("java"), []string{"-Xss16m", "-jar", jars[0].Path, "-nowarn", "-proc:none"}
	}
	out := filepath.Join(dir, "out")
	args = append(args, "--release", strconv.Itoa(c.release), c.debug, "-cp", runner, "-d", out)
	for _, seed := range seeds {
		file := filepath.Join(dir, fmt.Sprintf("S%d.java", seed))
		if err := os.WriteFile(file, []byte(Source(seed, c.release, !c.ecj)), 0o666); err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	if text, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
		if strings.Contains(string(text), "Internal compiler error") ||
			strings.Contains(string(text), "exception has occurred in the compiler") {
			return c.compileEach(t, runner, seeds)
		}
		return nil, fmt.Errorf("%v: %w\n%s", c, err, text[:min(len(text), 4000)])
	}
	return classesBelow(filepath.Join(out, "s"))
}

// compileEach compiles one program after the other, and leaves out those for which the compiler breaks off with a fault
// of its own. ECJ 3.40 does so for two in five sources of release 17 and 21.
func (c compilation) compileEach(t *testing.T, runner string, seeds []uint64) (map[uint64][]class, error) {
	t.Helper()
	if len(seeds) == 1 {
		t.Logf("%v: an internal error of the compiler for seed %d", c, seeds[0])
		return nil, nil
	}
	all := map[uint64][]class{}
	for _, seed := range seeds {
		one, err := c.compile(t, runner, []uint64{seed})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, one)
	}
	if len(all) < len(seeds)/2 {
		return nil, fmt.Errorf("%v compiles only %d of %d sources", c, len(all), len(seeds))
	}
	return all, nil
}

// classesBelow reads the classes of programs.
func classesBelow(dir string) (map[uint64][]class, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.class"))
	if err != nil {
		return nil, err
	}
	all := map[uint64][]class{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".class")
		top, _, _ := strings.Cut(name[1:], "$")
		seed, err := strconv.ParseUint(top, 10, 64)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all[seed] = append(all[seed], class{"s." + name, data})
	}
	return all, nil
}

// exactJDK returns the JDK of that release.
func exactJDK(feature int) (oracle.JDK, error) {
	all, err := oracle.FindJDKs()
	if err != nil {
		return oracle.JDK{}, err
	}
	for _, j := range all {
		if j.Feature == feature {
			return j, nil
		}
	}
	return oracle.JDK{}, fmt.Errorf("%w: JDK %d", oracle.ErrMissing, feature)
}

// runSources compiles programs in that way, and runs them with and without the calls of the runtime.
func runSources(t *testing.T, runner string, c compilation, from uint64, count int) {
	t.Helper()
	const piece = 100
	for ; count > 0; from, count = from+piece, count-piece {
		var seeds []uint64
		for seed := from; seed < from+uint64(min(piece, count)); seed++ {
			seeds = append(seeds, seed)
		}
		compiled, err := c.compile(t, runner, seeds)
		if errors.Is(err, oracle.ErrMissing) && c.jdk > 17 {
			t.Skipf("not run: %v", err) // no registry has it
		}
		oracle.Require(t, err)
		var all []program
		for _, seed := range seeds {
			if compiled[seed] == nil {
				continue
			}
			name := fmt.Sprintf("s.S%d", seed)
			rerun := fmt.Sprintf("TRACEGEN_CORPUS=full go test ./internal/oracle/generated -run 'TestCorpusCompiled/%s' "+
				"-args -sources 1 -from %d -keep DIR", strings.ReplaceAll(c.String(), " ", "_"), seed)
			p, err := instrument(name, "m0", rerun, compiled[seed])
			if err != nil {
				t.Errorf("%v\nrun it again: %s", err, rerun)
				save(t, p)
			}
			p.fewer = true
			all = append(all, p)
		}
		compare(t, runner, all, c.release)
	}
}

// TestCompiled compiles 12 generated sources in each of the first ways, and runs them with and without the calls of the
// runtime.
//
// Invariant: A compiled program returns, prints and throws the same with and without calls of the runtime, whatever
// compiled it.
func TestCompiled(t *testing.T) {
	runner := compileRunner(t)
	for _, c := range compilations[:4] {
		t.Run(c.String(), func(t *testing.T) { runSources(t, runner, c, 1, 12) })
	}
}

// TestCorpusCompiled does so for many more sources, in all ways.
//
// Invariant: A compiled program returns, prints and throws the same with and without calls of the runtime, whatever
// compiled it.
func TestCorpusCompiled(t *testing.T) {
	nightly.Only(t, "mutants")
	if os.Getenv("TRACEGEN_CORPUS") != "full" {
		t.Skip("skipped: TRACEGEN_CORPUS is not full")
	}
	runner := compileRunner(t)
	for _, c := range compilations {
		t.Run(c.String(), func(t *testing.T) { runSources(t, runner, c, *from, *sources) })
	}
}

// TestSameSource checks that seed and release determine a source, and that it has what the release allows.
func TestSameSource(t *testing.T) {
	var all strings.Builder
	for seed := range uint64(200) {
		text := Source(seed, 21, true)
		if text != Source(seed, 21, true) {
			t.Errorf("seed %d makes two sources", seed)
		}
		all.WriteString(text)
	}
	for _, part := range []string{"finally {", "synchronized (", "yield ", "when counter", "record Point", "continue loop",
		"class Local", "int wide(", "int huge(", "::mix", "try (Door", "Host.thread(", "break block", "(wide(input)",
		"(huge(input)", "yield", "float v", "Risky(int v)", "Serializable) a", "record Local"} {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no source has %q", part)
		}
	}
	if old := Source(1, 8, true); slices.ContainsFunc([]string{"record ", "sealed ", "yield "},
		func(part string) bool { return strings.Contains(old, part) }) {
		t.Error("a source for Java 8 has later syntax")
	}
}
