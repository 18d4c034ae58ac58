package tracegen_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	invariantsPage = "testdata/invariants.md"
	invariantWord  = "Invariant: "
	invariantsHead = "# Invariants and the tests that guard them\n\n" +
		"This page is made from the tests. A paragraph of a test's comment that begins with `Invariant:` becomes a line\n" +
		"here, as does such a comment at the start of a script of `TestScripts`. `make golden` writes the page anew.\n"
)

var (
	testName   = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[^a-z]`)
	scriptPath = regexp.MustCompile(`^(.+)/testdata/script/([^/]+)\.txtar$`)
)

// invariant is one property that must always hold, with the tests of one package that check it.
type invariant struct {
	dir   string
	text  string
	tests []string
}

// paragraphs returns the paragraphs of a comment, each as one line.
func paragraphs(comment string) []string {
	var found []string
	for p := range strings.SplitSeq(comment, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			found = append(found, p)
		}
	}
	return found
}

// statedInvariants returns the invariants that the comments of tests and the scripts state, sorted by package and
// text, and a violation for each statement that cannot become a line of the page.
func statedInvariants(t *sourceTree) (stated []invariant, faults []string) {
	add := func(at, dir, test, comment string) {
		for _, p := range paragraphs(comment) {
			text, found := strings.CutPrefix(p, invariantWord)
			switch {
			case !found && strings.Contains(p, invariantWord):
				faults = append(faults, at+": an invariant must be a paragraph of its own")
			case !found:
			case test == "":
				faults = append(faults, at+": an invariant must be in the comment of a test")
			case !strings.HasSuffix(text, "."):
				faults = append(faults, at+": an invariant must be a sentence and end with a period")
			default:
				stated = append(stated, invariant{dir, text, []string{test}})
			}
		}
	}
	for _, f := range t.gos {
		for _, decl := range f.ast.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Doc != nil {
				test := d.Name.Name
				if !f.test || d.Recv != nil || !testName.MatchString(test) {
					test = ""
				}
				add(t.at(d.Pos(), "%s", d.Name.Name), f.dir(), test, d.Doc.Text())
			}
		}
	}
	for _, p := range t.paths {
		if m := scriptPath.FindStringSubmatch(p); m != nil {
			text, _ := t.text(p)
			script, _, _ := strings.Cut("\n"+text, "\n-- ")
			add(p, m[1], "TestScripts/"+m[2], scriptComments(script))
		}
	}
	return merged(stated), faults
}

// scriptComments returns the comments of a script; other lines become the ends of paragraphs.
func scriptComments(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		comment, _ := strings.CutPrefix(line, "#")
		if comment == line {
			comment = "\n"
		}
		b.WriteString(comment)
	}
	return b.String()
}

// merged sorts invariants and makes one of those that have the same text and package.
func merged(stated []invariant) []invariant {
	slices.SortFunc(stated, func(a, b invariant) int {
		return cmp.Or(strings.Compare(a.dir, b.dir), strings.Compare(a.text, b.text), strings.Compare(a.tests[0], b.tests[0]))
	})
	var result []invariant
	for _, v := range stated {
		if n := len(result); n > 0 && result[n-1].dir == v.dir && result[n-1].text == v.text {
			result[n-1].tests = append(result[n-1].tests, v.tests...)
		} else {
			result = append(result, v)
		}
	}
	return result
}

// formatInvariants returns the page: a section for each package, and in it a line for each invariant.
func formatInvariants(stated []invariant) string {
	var b strings.Builder
	b.WriteString(invariantsHead)
	last := ""
	for _, v := range stated {
		if v.dir != last {
			name := v.dir
			if name == "." {
				name = "the repository"
			} else {
				name = "`" + name + "`"
			}
			fmt.Fprintf(&b, "\n## %s\n\n| what always holds | tests |\n|---|---|\n", name)
			last = v.dir
		}
		fmt.Fprintf(&b, "| %s | `%s` |\n", strings.ReplaceAll(v.text, "|", `\|`), strings.Join(v.tests, "`, `"))
	}
	return b.String()
}

// invariantFaults lists misplaced statements of invariants, and reports whether the page is not what the tests say.
func invariantFaults(t *sourceTree) []string {
	stated, faults := statedInvariants(t)
	if page, _ := t.text(invariantsPage); page != formatInvariants(stated) {
		faults = append(faults, invariantsPage+": is not what the tests say; run go test . -run TestInvariantsPage -update")
	}
	return faults
}

// TestInvariantsPage writes the page of invariants if -update is set. Whether the page is up to date is one of the
// rules that TestRepositoryKeepsItsRules checks.
func TestInvariantsPage(t *testing.T) {
	tree, err := loadTree(os.DirFS("."), trackedPaths(t))
	if err != nil {
		t.Fatal(err)
	}
	stated, faults := statedInvariants(tree)
	for _, f := range faults {
		t.Error(f)
	}
	if len(stated) == 0 {
		t.Error("no test states an invariant")
	}
	if *update {
		if err := os.MkdirAll(path.Dir(invariantsPage), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(invariantsPage, []byte(formatInvariants(stated)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInvariantRuleFindsPlantedFaults(t *testing.T) {
	const comment = "// TestA checks.\n//\n// Invariant: all is\n// well.\n"
	page := invariantsHead + "\n## `a`\n\n| what always holds | tests |\n|---|---|\n| all is well. | `TestA`, " +
		"`TestScripts/x` |\n"
	with := func(files ...string) map[string]string {
		m := map[string]string{
			"a/a_test.go":               "package a\n\n" + comment + "func TestA() {}\n",
			"a/testdata/script/x.txtar": "# Invariant: all is\n# well.\n\n# More.\nrun\n-- f --\n# Invariant: none\n",
			invariantsPage:              page,
		}
		for k := 0; k < len(files); k += 2 {
			m[files[k]] = files[k+1]
		}
		return m
	}
	const stale = invariantsPage + ": is not what the tests say"
	checkPlanted(t, invariantFaults, []planted{
		{"clean", with(), nil},
		{"stale", with(invariantsPage, page+"\n"), []string{stale}},
		{"another test", with("a/b_test.go", "package a\n\n// Invariant: all is well.\nfunc TestB() {}\n"), []string{stale}},
		{"no sentence", with("a/b_test.go", "package a\n\n// Invariant: well\nfunc TestB() {}\n"),
			[]string{"a/b_test.go:4: TestB: an invariant must be a sentence"}},
		{"inside of a paragraph", with("a/b_test.go", "package a\n\n// TestB checks. Invariant: well.\nfunc TestB() {}\n"),
			[]string{"a paragraph of its own"}},
		{"at no test", with("a/b.go", "package a\n\n// Invariant: well.\nfunc B() {}\n"),
			[]string{"in the comment of a test"}},
	})
}
