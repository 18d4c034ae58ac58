package buildreport

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

// sampleVerification returns findings of every kind, with names that need escaping in lines and URIs.
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
		"findings.txt": v.WriteText, "findings.json": v.WriteJSON, "findings.sarif": v.WriteSARIF,
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

// TestSARIFOfNothing checks that the lists that the standard requires are empty, not null.
func TestSARIFOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := (&Verification{Version: "1"}).WriteSARIF(&b); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Tool    struct{ Driver struct{ Rules *[]any } }
			Results *[]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 || log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Rules == nil {
		t.Errorf("got %s", &b)
	}
}

func TestFileURI(t *testing.T) {
	for path, want := range map[string]string{
		"a/b c.jar": "a/b%20c.jar",
		"a:b.jar":   "./a:b.jar",
		"x%41.jar":  "x%2541.jar",
	} {
		if got := fileURI(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	absolute, err := filepath.Abs("x.jar")
	if err != nil {
		t.Fatal(err)
	}
	if got := fileURI(absolute); got[:8] != "file:///" {
		t.Errorf("%s: %s", absolute, got)
	}
}
