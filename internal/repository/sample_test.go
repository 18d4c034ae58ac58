package repository

import (
	"archive/zip"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

const sampleJar = "testdata/sample/sample.jar"

// TestSampleIsAsItsRecipeSays checks properties that the sample jar has only if testdata/sample/build has made it:
// times, version of the bytecode, a source for each class.
//
// Invariant: The sample jar is the one that its recipe builds.
func TestSampleIsAsItsRecipeSays(t *testing.T) {
	r, err := zip.OpenReader(sampleJar)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		if f.Modified.Format(time.DateOnly) != "2026-01-01" {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
	}
	oracle.EachClass(t, sampleJar, func(name string, class []byte) {
		if major := binary.BigEndian.Uint16(class[6:]); major != 52 {
			t.Errorf("%s has major version %d, want Java 8's 52", name, major)
		}
		outermost, _, _ := strings.Cut(strings.TrimSuffix(name, ".class"), "$")
		if _, err := os.Stat(filepath.Join("testdata/sample/src", outermost+".java")); err != nil {
			t.Errorf("%s has no source: %v", name, err)
		}
	})
}

// recordedLine is the last line that the sample prints when it is instrumented.
var recordedLine = regexp.MustCompile(`(\d+) entries and (\d+) exits recorded, ` +
	`at most \d+ deep; mapping ([0-9a-f]{16})\n$`)

const (
	pictureBegin = "<!-- picture: begin -->\n"
	pictureEnd   = "<!-- picture: end -->\n"
)

var update = flag.Bool("update", false, "rewrite the picture in README.md")

// TestReadmeShowsWhatHappens runs the commands of the README's picture in a directory with the sample, and compares
// their output with the README.
//
// Invariant: The commands of the README print what the README shows.
func TestReadmeShowsWhatHappens(t *testing.T) {
	java := needJava(t)
	tool := buildTool(t)
	sample := fixture.Read(t, sampleJar)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, filepath.Dir(sampleJar)),
		fstest.MapFS{filepath.Base(sampleJar): {Data: sample}}); err != nil {
		t.Fatal(err)
	}
	const shop = "examples/shop/recordings"
	if err := os.CopyFS(filepath.Join(dir, shop), os.DirFS(shop)); err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, c := range []struct{ text, program string }{
		{"go run ./cmd/tracegen instrument testdata/sample/sample.jar -o out/", tool},
		{"java -jar out/sample.jar", java},
		{"go run ./cmd/tracegen lookup 'sample.Calculator#*' --mapping out/methodMapping.txt", tool},
		{"go run ./cmd/tracegen analyze " + shop + "/1.0/user1.tgd --mapping " + shop + "/methodMapping.txt", tool},
	} {
		args := strings.Fields(strings.NewReplacer("go run ./cmd/tracegen", "tracegen", "'", "").Replace(c.text))[1:]
		command := exec.Command(c.program, args...)
		command.Dir = dir
		said := fixture.Run(t, command)
		shown += "    $ " + c.text + "\n"
		for line := range strings.Lines(string(said)) {
			shown += strings.TrimRight("    "+line, " \n") + "\n"
		}
	}
	readme := fixture.Read(t, "README.md")
	before, rest, found1 := strings.Cut(string(readme), pictureBegin)
	picture, after, found2 := strings.Cut(rest, pictureEnd)
	if !found1 || !found2 {
		t.Fatalf("README.md has no part between %q and %q", pictureBegin, pictureEnd)
	}
	want := "\n" + shown + "\n"
	if *update {
		fixture.Write(t, "README.md", before+pictureBegin+want+pictureEnd+after)
		return
	}
	if picture != want {
		t.Errorf("README.md shows\n%s\nbut the commands print\n%s\nmake golden rewrites it", picture, want)
	}
}

// useSection is the heading of the README's first use, whose first block of commands with tracegen is run.
const useSection = "## Use it\n"

// TestReadmeUseRuns runs the lines with which the README begins to use tracegen, as they stand, with tracegen on PATH,
// in a directory with a program app.jar whose main class has the name in the README.
//
// Invariant: The first lines of the README run as they stand.
func TestReadmeUseRuns(t *testing.T) {
	needJava(t)
	for _, tool := range []string{"javac", "jar", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			oracle.Require(t, fmt.Errorf("no %s on PATH: %w", tool, oracle.ErrMissing))
		}
	}
	readme := fixture.Read(t, "README.md")
	_, use, _ := strings.Cut(string(readme), useSection)
	block := firstBlock(use, "    tracegen instrument ")
	if len(block) < 3 {
		t.Fatalf("%q in README.md has no block of commands that begins with tracegen instrument: %q", useSection, block)
	}
	dir := t.TempDir()
	path := filepath.Dir(buildTool(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	run := func(line string) string {
		command := exec.Command("sh", "-c", line)
		command.Dir = dir
		command.Env = append(os.Environ(), "PATH="+path, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		said := fixture.Run(t, command)
		return string(said)
	}
	source := filepath.Join(dir, "Main.java")
	fixture.Write(t, source, readmeProgram)
	run("javac -d classes Main.java && jar cfe app.jar com.example.Main -C classes .")
	for _, commands := range [][]string{firstBlock(use, "    tracegen record "), block} {
		line, said := "", ""
		for _, line = range commands {
			said = run(line)
		}
		if !strings.Contains(said, "com.example.Main.work") {
			t.Errorf("%q does not name the method that made the program slow:\n%s", line, said)
		}
	}
}

// readmeProgram is slow in one method.
const readmeProgram = `package com.example;

public class Main {
    public static void main(String[] args) throws InterruptedException {
        work(1500);
    }

    static void work(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }
}
`

// firstBlock returns the lines of the first block of code that has a line with the prefix, without indentation.
func firstBlock(text, prefix string) []string {
	var block []string
	wanted := false
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    ") {
			if wanted {
				break
			}
			block = nil
			continue
		}
		wanted = wanted || strings.HasPrefix(line, prefix)
		block = append(block, strings.TrimSpace(line))
	}
	return block
}

func needJava(t *testing.T) string {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no java on PATH: %w", oracle.ErrMissing))
	}
	return java
}

// built is the program that all tests use, below TestMain's directory.
var built struct {
	dir  string
	once sync.Once
}

// buildTool returns the program. The first call builds it.
func buildTool(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(built.dir, "tracegen")
	built.once.Do(func() {
		fixture.Run(t, exec.Command("go", "build", "-o", tool, "./cmd/tracegen"))
	})
	return tool
}

// TestSampleRunsInstrumented runs the README's first command in every exit mode, and then the instrumented sample.
//
// Invariant: The README's first command works in every exit mode, and the instrumented sample runs and prints what
// it printed before.
func TestSampleRunsInstrumented(t *testing.T) {
	java := needJava(t)
	tool := buildTool(t)
	original, err := exec.Command(java, "-jar", sampleJar).CombinedOutput()
	if err != nil {
		t.Fatalf("java -jar %s: %v\n%s", sampleJar, err, original)
	}
	answers, _, found := strings.Cut(string(original), "no events")
	if !found {
		t.Fatalf("the original sample does not print that it is not instrumented:\n%s", original)
	}
	for _, exits := range []string{"normal", "throws", "exact"} {
		t.Run(exits, func(t *testing.T) {
			out := t.TempDir()
			command := exec.Command(tool, "instrument", sampleJar, "-o", out+"/", "--exits", exits, "--set", "trivial=none")
			fixture.Run(t, command)
			said := fixture.Run(t, exec.Command(java, "-Xverify:all", "-jar", filepath.Join(out, "sample.jar")))
			m := recordedLine.FindStringSubmatchIndex(string(said))
			if m == nil || string(said[:m[0]]) != answers {
				t.Fatalf("the instrumented sample prints\n%s\nwant the output of the original:\n%s", said, answers)
			}
			if digest := string(said[m[6]:m[7]]); digest == strings.Repeat("0", len(digest)) {
				t.Error("the mapping's digest is not in MappingInfo")
			}
		})
	}
}
