package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// attested makes the files of the page docs/provenance.md in a new directory, which becomes the current one: an
// instrumented jar, its statement, and the public key.
func attested(t *testing.T) {
	t.Helper()
	sample, err := os.ReadFile("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("app.jar", sample, 0o666); err != nil {
		t.Fatal(err)
	}
	public := mustRun(t, "collect", "keygen", "-o", "signing.pem")
	if err := os.WriteFile("signing.pub", []byte(public), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "instrument", "app.jar", "-o", "out/app.jar", "--report", "out/report.json")
	mustRun(t, "attest", "--report", "out/report.json", "--key", "signing.pem", "-o", "out/provenance.json")
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out, messages bytes.Buffer
	if code := run(t.Context(), args, nil, &out, &messages); code != exitDone {
		t.Fatalf("tracegen %s: exit code %d: %s", strings.Join(args, " "), code, messages.String())
	}
	return out.String()
}

// TestOpenSSLVerifies runs the commands that docs/provenance.md has for a check without tracegen, on the files that
// they are about and after changes of each of them.
//
// Invariant: The JDK's, OpenSSL's and Python's cryptography accept the signature of a statement, and no other.
func TestOpenSSLVerifies(t *testing.T) {
	for _, tool := range []string{"bash", "openssl", "jq", "sha256sum", "base64", "fold"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: no %s on PATH", tool)
		}
	}
	page, err := os.ReadFile("../../docs/provenance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Check without tracegen\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var script strings.Builder
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			script.WriteString(command)
		}
	}
	attested(t)
	check := func() (string, bool) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "bash", "-c", script.String()).CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return string(out), err == nil
	}
	out, ok := check()
	if !ok || !strings.Contains(out, "Verified OK") || strings.Count(out, ": OK") != 3 {
		t.Fatalf("%v: %s", ok, out)
	}
	for file, want := range map[string]string{"out/app.jar": "out/app.jar: FAILED", "app.jar": "app.jar: FAILED",
		"out/methodMapping.txt": "out/methodMapping.txt: FAILED", "signing.pub": "", "out/provenance.json": ""} {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(good)
		changed[len(changed)/2] ^= 1
		if err := os.WriteFile(file, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		if out, ok := check(); ok || !strings.Contains(out, want) {
			t.Errorf("%s was changed: %v: %s", file, ok, out)
		}
		if err := os.WriteFile(file, good, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, ok := check(); !ok {
		t.Errorf("the files are as they were: %s", out)
	}
}

// TestLongStatement checks that a file that is too long is refused before it is in memory.
func TestLongStatement(t *testing.T) {
	attested(t)
	f, err := os.OpenFile("out/provenance.json", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(1<<40), f.Close()); err != nil {
		t.Skipf("skipped: no sparse files here: %v", err)
	}
	var messages bytes.Buffer
	code := run(t.Context(), []string{"attest", "check", "out/provenance.json", "--public-key", "signing.pub"}, nil,
		&bytes.Buffer{}, &messages)
	if code != exitFailed || !strings.Contains(messages.String(), "out/provenance.json: longer than 64 MiB") {
		t.Errorf("exit code %d: %s", code, messages.String())
	}
}

// TestStatedNames checks that names do not depend on the machine, and that no two files have one name.
func TestStatedNames(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, d := range []string{"work/classes", "cache/a/jars", "cache/b/jars", "x"} {
		if err := os.MkdirAll(at(d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(at("work"))
	up := filepath.Join("..", "x", "lib.jar")
	want := map[string]string{
		"app.jar": "app.jar", filepath.Join("out", "app.jar"): "out/app.jar", at("work/b.jar"): "b.jar",
		"classes": "classes/", ".": "./", at("cache/a/jars/classes.jar"): "a/jars/classes.jar",
		at("cache/b/jars/classes.jar"): "b/jars/classes.jar", up: "lib.jar", at("x/lib.jar"): "lib.jar",
		at("x/app.jar"): "x/app.jar", at("x"): "x/",
	}
	var paths []string
	for p := range want {
		paths = append(paths, p)
	}
	got, err := statedNames(paths)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestStatement checks what a statement has of the run: its report, its options, and this executable.
func TestStatement(t *testing.T) {
	attested(t)
	var envelope struct{ Payload []byte }
	var statement struct {
		Predicate struct {
			BuildDefinition struct {
				ExternalParameters struct{ Options map[string]string }
			}
			RunDetails struct {
				Builder struct {
					Version             map[string]string
					BuilderDependencies []struct{ Digest struct{ SHA256 string } }
				}
				Byproducts []struct {
					Name   string
					Digest struct{ SHA256 string }
				}
			}
		}
	}
	data, err := os.ReadFile("out/provenance.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.Unmarshal(data, &envelope), json.Unmarshal(envelope.Payload, &statement)); err != nil {
		t.Fatal(err)
	}
	executable, err := executableSum(nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := sumOf("out/report.json")
	if err != nil {
		t.Fatal(err)
	}
	p, d := statement.Predicate.BuildDefinition.ExternalParameters, statement.Predicate.RunDetails
	if p.Options["exits"] != "throws" || d.Builder.Version["tracegen"] != version() ||
		d.Builder.BuilderDependencies[0].Digest.SHA256 != executable ||
		d.Byproducts[0].Name != "report.json" || d.Byproducts[0].Digest.SHA256 != report.SHA256 {
		t.Errorf("%+v", statement)
	}
}
