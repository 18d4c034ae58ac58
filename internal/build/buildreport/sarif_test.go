package buildreport

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestSARIFSchema checks the SARIF output against the published schema.
func TestSARIFSchema(t *testing.T) {
	text, err := oracle.SARIFSchema(t.Context())
	oracle.Require(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	const name = "sarif.json"
	if err := compiler.AddResource(name, parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(document io.Reader) error {
		instance, err := jsonschema.UnmarshalJSON(document)
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(instance)
	}
	for name, v := range map[string]*Verification{"findings": sampleVerification(), "no findings": {Version: "1"}} {
		var written bytes.Buffer
		if err := v.WriteSARIF(&written); err != nil {
			t.Fatal(err)
		}
		good := written.String()
		if err := validate(strings.NewReader(good)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The schema is able to object.
		bad := strings.Replace(good, `"version"`, `"vershun"`, 1)
		if err := validate(strings.NewReader(bad)); err == nil || bad == good {
			t.Error("a document without a version is valid")
		}
	}
}
