// Package steps counts the bytecodes that calls of methods execute on HotSpot, by an agent in C that its interpreter
// calls before each of them, and the instructions of DEX files in the interpreter of ART: what package filter says of
// bounded methods is held against it.
package steps

import (
	"bufio"
	_ "embed" // the agent
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
)

//go:embed testdata/steps.c
var source []byte

// Counted is what calls of one method did.
type Counted struct {
	Calls int // how many there were, without those while a class was initialised
	Most  int // how many bytecodes one of them executed at most, those of the methods that it called included
}

// Agent is the compiled agent.
type Agent struct {
	jdk     oracle.JDK
	library string
}

// Need compiles the agent for a JDK. The test is skipped, or fails in CI, if this machine cannot compile it.
func Need(t testing.TB, j oracle.JDK) Agent {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" {
		oracle.Require(t, fmt.Errorf("gcc on Linux: %w", oracle.ErrMissing))
	}
	dir := t.TempDir()
	file, library := filepath.Join(dir, "steps.c"), filepath.Join(dir, "libsteps.so")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	include := filepath.Join(j.Home, "include")
	out, err := exec.CommandContext(t.Context(), gcc, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I"+include,
		"-I"+filepath.Join(include, "linux"), "-o", library, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Agent{j, library}
}

// Run runs java with arguments, and returns what calls of the methods did. A method is written as
// "CLASS NAME DESCRIPTOR", with slashes.
func (a Agent) Run(t testing.TB, methods []string, args ...string) map[string]Counted {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "methods"), filepath.Join(dir, "counted")
	if err := os.WriteFile(in, []byte(strings.Join(methods, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-agentpath:" + a.library + "=" + in + "," + out}, args...)
	if text, err := exec.CommandContext(t.Context(), a.jdk.Tool("java"), args...).CombinedOutput(); err != nil {
		t.Fatalf("java %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return read(t, out)
}

// RunART runs a program in the interpreter of ART, and returns what calls of the methods did, in instructions of DEX
// files that do not only move a result. The bench is that of [art.NeedCounting].
func RunART(t testing.TB, b *art.Bench, methods []string, p art.Program) map[string]Counted {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "methods"), filepath.Join(dir, "counted")
	if err := os.WriteFile(in, []byte(strings.Join(methods, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Count(t, in, out, p)
	return read(t, out)
}

// read reads what was counted.
func read(t testing.TB, file string) map[string]Counted {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counted := make(map[string]Counted)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var class, name, descriptor string
		c := Counted{}
		if _, err := fmt.Sscan(lines.Text(), &class, &name, &descriptor, &c.Calls, &c.Most); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		counted[class+" "+name+" "+descriptor] = c
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return counted
}
