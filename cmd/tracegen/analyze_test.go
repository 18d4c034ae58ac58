package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestAnalyzeSchema checks the JSON of analyze against the documented schema.
//
// Invariant: The JSON that analyze writes follows its schema.
func TestAnalyzeSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/analyze.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := filepath.Glob("../../trace/testdata/vectors/*.tgd")
	if err != nil || len(recordings) == 0 {
		t.Fatal(recordings, err)
	}
	var stdout, stderr bytes.Buffer
	// Some recordings have lost records.
	if code := runTool(context.Background(), append([]string{"analyze", "--format", "json"}, recordings...),
		strings.NewReader(""), &stdout, &stderr); code != cli.ExitCheckFailed {
		t.Fatalf("exit code %d, %s", code, &stderr)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(stdout.Bytes()))
	if err != nil {
		t.Fatalf("%v in %s", err, &stdout)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	var said struct {
		Stalls, Recordings, Methods []json.RawMessage
	}
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil || len(said.Stalls) == 0 ||
		len(said.Recordings) != len(recordings) || len(said.Methods) == 0 {
		t.Errorf("%d stalls, %d recordings, %d methods; error %v", len(said.Stalls), len(said.Recordings),
			len(said.Methods), err)
	}
}

// TestTraceSchema checks the JSON of the stacks of all threads against the documented schema.
//
// Invariant: The JSON that analyze writes follows its schema.
func TestTraceSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "anr.txt")
	text := "----- pid 7 at now -----\n\"main\" prio=5 tid=1 Blocked\n  at a.B.c(B.java:1)\n" +
		"  - waiting to lock <0x1> (a a.L) held by thread 2\n" +
		"\"x\" prio=5 tid=2 Blocked\n  - waiting to lock <0x2> (a a.L) held by thread 1\n"
	fixture.Write(t, file, text)
	var stdout, stderr bytes.Buffer
	if code := runTool(context.Background(), []string{"analyze", file, "--format", "json"},
		strings.NewReader(""), &stdout, &stderr); code != cli.ExitDone {
		t.Fatalf("exit code %d, %s", code, &stderr)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(stdout.Bytes()))
	if err != nil {
		t.Fatalf("%v in %s", err, &stdout)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../docs/analyze.schema.json#/$defs/traceFile")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil || !strings.Contains(stdout.String(), `"deadlocks":[[{`) {
		t.Errorf("%v: %s", err, &stdout)
	}
}

// TestAnalyzeHelpKnowsFormats checks that the help explains every format.
func TestAnalyzeHelpKnowsFormats(t *testing.T) {
	cmd, _, err := testedRoot().Find([]string{"analyze"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cmd.Flags().Lookup("format").Value.(interface{ Names() []string }).Names() {
		if !strings.Contains(cmd.Long, "\n  "+name+" ") {
			t.Errorf("the help does not explain --format %s", name)
		}
	}
	if _, err := os.Stat("../../docs/analyze.schema.json"); err != nil ||
		!strings.Contains(cmd.Long, "docs/analyze.schema.json") {
		t.Errorf("the help does not name the schema, or it is not there: %v", err)
	}
}
