package buildreport

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

// sampleVerification returns findings of every kind, with names that need escaping.
func sampleVerification() *Verification {
	return &Verification{
		Version: "1.2.3", Baseline: true, Classes: 4,
		Findings: []Finding{
			{Path: "out/a b.jar", Entry: "a/Foo.class",
				Finding: verify.Finding{Class: "a/Foo", Method: "bar", Descriptor: "(I)V", Offset: 7,
					Rule: "JVMS 4.10.1.9", Want: "int", Got: "long", Frame: "locals [int]"}, PreExisting: false},
			{Path: "out/a b.jar", Entry: "a/Foo.class",
				Finding: verify.Finding{Class: "a/Foo", Offset: -1, Rule: "JVMS 4.1", Want: "flags",
					Got: "\x1b[31mothers"}, PreExisting: true},
			{Path: "b.class", Entry: "", Finding: verify.Finding{Class: "B", Method: "<init>", Descriptor: "()V",
				Offset: 0, Rule: "limit", Want: "<less>", Got: "more"}, PreExisting: false},
		},
		Unknown:  []string{"x/Y"},
		Warnings: []string{"c.class is not checked: \x07"},
	}
}

func TestVerificationGolden(t *testing.T) {
	v := sampleVerification()
	for name, write := range map[string]func(io.Writer) error{
		"findings.txt": v.WriteText, "findings.json": v.WriteJSON,
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", name), got.String())
		})
	}
}

func TestVerificationSummary(t *testing.T) {
	none := &Verification{Classes: 1}
	old := &Verification{Baseline: true, Classes: 2, Findings: sampleVerification().Findings[1:2]}
	for _, c := range []struct {
		v    *Verification
		bad  bool
		want string
	}{
		{none, false, "1 class checked: 0 findings"},
		{old, false, "2 classes checked: 1 finding (0 introduced, 1 pre-existing)"},
		{sampleVerification(), true,
			"4 classes checked: 3 findings (2 introduced, 1 pre-existing); 1 class not found and assumed to fit"},
	} {
		if got := c.v.Summary(); got != c.want || c.v.Bad() != c.bad {
			t.Errorf("%q, bad: %v; want %q, %v", got, c.v.Bad(), c.want, c.bad)
		}
	}
}
