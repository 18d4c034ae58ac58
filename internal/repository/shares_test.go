package repository

import (
	"errors"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// misplacedShares lists the calls that name a share of `make nightly` outside of a test function: .ci/nightly finds the
// tests of a share by these calls, and would not run a test that calls them by another function.
func misplacedShares(t *sourceTree) (found []string) {
	for _, f := range t.gos {
		if !f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				d, isFunc := decl.(*ast.FuncDecl)
				isTest := isFunc && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test")
				if of, ok := s.X.(*ast.Ident); ok && of.Name == "nightly" && !isTest {
					found = append(found, t.at(s.Pos(), "nightly.%s must be called by the test function itself", s.Sel.Name))
				}
				return true
			})
		}
	}
	return found
}

// Invariant: Each test that names a share of make nightly is found there.
func TestShareRuleFindsPlantedFaults(t *testing.T) {
	checkPlanted(t, misplacedShares, []planted{
		{"clean", map[string]string{"a_test.go": "package a\n\nfunc TestA(t *T) { nightly.Only(t, \"looper\") }\n"}, nil},
		{"helper", map[string]string{"a_test.go": "package a\n\nfunc a(t *T) {\n\tif nightly.Runs(\"looper\") {\n\t}\n}\n"},
			[]string{"a_test.go:4: nightly.Runs must be called by the test function"}},
	})
}

// TestLandingsRotate runs .ci/nightly in a repository whose commits are landings.
//
// Invariant: As many landings in a row as make nightly has shares run all of them.
func TestLandingsRotate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: .ci/nightly needs bash 4")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out := fixture.Run(t, cmd)
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() string {
		t.Helper()
		run("git", "add", ".")
		run("git", "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "a")
		return run(filepath.Join(dir, ".ci", "nightly"), "--of-commit")
	}
	for _, name := range []string{".ci/nightly", "internal/oracle/nightly/nightly.go"} {
		text := fixture.Read(t, name)
		write(name, string(text))
	}
	// What runs the tests of a share prints its name instead.
	write(".ci/gotest", "#!/bin/bash\necho \"ran $TRACEGEN_SHARE.\"\n")
	write(".ci/fuzz", "#!/bin/bash\necho \"ran fuzz-${TRACEGEN_FUZZPART%/2}.\"\n")
	var tests strings.Builder
	for i, share := range nightly.Shares {
		fmt.Fprintf(&tests, "func Test%d(t *testing.T) {\n\tnightly.Only(t, %q)\n}\n", i, share)
	}
	write("a/a_test.go", tests.String())
	write(".ci/landings", "7\n")
	run("git", "init", "-q")
	if out := commit(); !strings.Contains(out, "the commit ") {
		t.Errorf("the first commit adds nothing to the number of landings, and is taken for one:\n%s", out)
	}
	ran := map[string]bool{}
	for i := range nightly.Shares {
		write(".ci/landings", fmt.Sprintln(8+i))
		out := commit()
		_, rest, _ := strings.Cut(out, "\nran ")
		share, _, _ := strings.Cut(rest, ".")
		if ran[share] || !slices.Contains(nightly.Shares, share) {
			t.Errorf("landing %d runs the share %q, others ran %v:\n%s", 8+i, share, ran, out)
		}
		ran[share] = true
		if out := commit(); !strings.Contains(out, "the commit ") {
			t.Errorf("a commit after a landing is taken for one:\n%s", out)
		}
	}
}
