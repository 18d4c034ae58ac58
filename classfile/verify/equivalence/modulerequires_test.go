package equivalence_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestEquivalentModule holds that a module passes with the dependence that was wanted, as it came only if it
// reads that module already, and not with another.
func TestEquivalentModule(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module",
		"module-info.class"))
	if err != nil {
		t.Fatal(err)
	}
	parse := func(data []byte) *classfile.Class {
		c := assembly.Parse(t, data)
		return c
	}
	original := parse(data)
	changed, err := inject.AddRequires(original, "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what      string
		rewritten *classfile.Class
		module    string
		proven    bool
	}{
		{"added", parse(changed), "m", true},
		{"another added", parse(changed), "n", false},
		{"not added", original, "m", false},
		{"required already", original, "java.base", true},
		{"itself", original, "tracegen.sample", true},
	} {
		if findings := equivalence.CheckModule(original, row.rewritten,
			row.module); (len(findings) == 0) != row.proven {
			t.Errorf("%s: findings %v", row.what, findings)
		}
	}
}
