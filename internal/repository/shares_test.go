package repository

import (
	"go/ast"
	"strings"
	"testing"
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
