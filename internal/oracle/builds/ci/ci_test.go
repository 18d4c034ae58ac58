// Package ci tests what CI systems are given: the action, the recipes in examples/ci, the workflow of the repository,
// and the page docs/ci.md. The linters of GitHub's and GitLab's files check them, and their scripts run in bash with
// programs in place of Gradle, the download, and what keeps artifacts.
//
// The linters are fetched by the ordinary clients of Go and Python into the user's cache directory.
package ci

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const root = "../../../.."

// The linters, in versions that are known to accept the files.
const (
	actionlint      = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
	checkJSONSchema = "check-jsonschema==0.33.2"
)

// linter installs a linter into the user's cache directory, unless it is there, and returns its path.
func linter(t *testing.T, name string, install func(dir string) *exec.Cmd, program string) string {
	t.Helper()
	dir, err := oracle.CacheDir(name)
	oracle.Require(t, err)
	path := filepath.Join(dir, program)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if out, err := install(dir).CombinedOutput(); err != nil {
		oracle.Require(t, fmt.Errorf("%s: %w: %s: %w", name, err, out, oracle.ErrMissing))
	}
	return path
}

func TestActionlint(t *testing.T) {
	nightly.Only(t, "tools")
	tool := linter(t, "actionlint-1.7.7", func(dir string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "go", "install", actionlint)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
		return cmd
	}, "actionlint")
	lint := func(files ...string) ([]byte, error) {
		// Without shellcheck and pyflakes, which a machine may have in any version.
		return exec.CommandContext(t.Context(), tool, append([]string{"-shellcheck=", "-pyflakes="}, files...)...).
			CombinedOutput()
	}
	if out, err := lint(root+"/.github/workflows/ci.yml", root+"/examples/ci/github.yml"); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	bad := filepath.Join(t.TempDir(), "bad.yml")
	text := strings.Replace(fixture.Text(t, root+"/examples/ci/github.yml"), "runs-on", "runs-onn", 1)
	fixture.Write(t, bad, text)
	if out, err := lint(bad); err == nil {
		t.Errorf("actionlint accepts a wrong key: %s", out)
	}
}

func TestSchemas(t *testing.T) {
	nightly.Only(t, "tools")
	tool := linter(t, "check-jsonschema-0.33.2", func(dir string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "bash", "-c",
			`python3 -m venv "$1" && "$1/bin/pip" install --quiet "$2"`, "bash", dir, checkJSONSchema)
	}, "bin/check-jsonschema")
	check := func(file string, schema ...string) ([]byte, error) {
		return exec.CommandContext(t.Context(), tool, append(schema, file)...).CombinedOutput()
	}
	for _, c := range []struct{ file, key, schema string }{
		{"action.yml", "runs:", "vendor.github-actions"},
		{"examples/ci/github.yml", "jobs:", "vendor.github-workflows"},
		{".github/workflows/ci.yml", "jobs:", "vendor.github-workflows"},
		{"examples/ci/gitlab-ci.yml", "  script:", "vendor.gitlab-ci"},
	} {
		args := []string{"--builtin-schema", c.schema}
		if c.schema == "vendor.gitlab-ci" {
			args = append(args, "--data-transform", "gitlab-ci")
		}
		if out, err := check(filepath.Join(root, c.file), args...); err != nil {
			t.Errorf("%s: %v\n%s", c.file, err, out)
		}
		bad := filepath.Join(t.TempDir(), filepath.Base(c.file))
		text := strings.Replace(fixture.Text(t, filepath.Join(root, c.file)), "\n"+c.key, "\n"+strings.Replace(c.key, ":",
			"x:", 1), 1)
		fixture.Write(t, bad, text)
		if out, err := check(bad, args...); err == nil {
			t.Errorf("%s: the schema accepts a wrong key: %s", c.file, out)
		}
	}
}

// toolDirectory has the built tracegen.
var toolDirectory string

func TestMain(m *testing.M) {
	var err error
	if toolDirectory, err = os.MkdirTemp("", "tracegen-ci-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(toolDirectory)
	os.Exit(code)
}

// built builds tracegen once, and returns the path of the program.
var built = sync.OnceValues(func() (string, error) {
	tool := filepath.Join(toolDirectory, "tracegen")
	build := exec.Command("go", "build", "-o", tool, "./cmd/tracegen")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tracegen: %w: %s", err, out)
	}
	return tool, nil
})

// place is a directory in which scripts run, with a jar that Gradle would have built.
type place struct {
	dir, bin string
	env      []string
}

// newPlace builds tracegen and makes the programs that take the place of Gradle.
func newPlace(t *testing.T) *place {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		oracle.Require(t, fmt.Errorf("no bash: %w", oracle.ErrMissing))
	}
	p := &place{dir: t.TempDir(), bin: t.TempDir()}
	tool, err := built()
	if err == nil {
		err = os.Symlink(tool, filepath.Join(p.bin, "tracegen"))
	}
	if err != nil {
		t.Fatal(err)
	}
	sample, err := filepath.Abs(root + "/testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	gradle := "#!/bin/sh\nset -e\nmkdir -p build/libs\ncp " + sample + " build/libs/app.jar\n"
	p.write(t, filepath.Join(p.bin, "gradle"), gradle)
	p.write(t, filepath.Join(p.dir, "gradlew"), gradle)
	p.write(t, filepath.Join(p.dir, "app.jar"), fixture.Text(t, sample))
	p.env = append(os.Environ(), "PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return p
}

func (p *place) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

// run runs a script and returns its output and exit code.
func (p *place) run(ctx context.Context, script string, env ...string) (output string, code int) {
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = p.dir, append(p.env, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// sampleDigest is the digest of the mapping of the sample with default options.
const sampleDigest = "e20ead05d5dd3e5e"

type step struct {
	Name, ID, Uses, Run, Shell, If string
	Env, With                      map[string]string
}

type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Outputs map[string]struct{ Value string }
	Runs    struct{ Steps []step }
}

func loadAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(fixture.Text(t, root+"/action.yml")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z._-]+) *\}\}`)

// workflow runs the scripts of the action as a runner does: expressions in env are evaluated, and outputs of steps are
// read from files.
type workflow struct {
	*place
	action  action
	values  map[string]string // of expressions
	summary string
}

func newWorkflow(t *testing.T, inputs map[string]string) *workflow {
	w := &workflow{place: newPlace(t), action: loadAction(t), values: map[string]string{}}
	for name, in := range w.action.Inputs {
		w.values["inputs."+name] = in.Default
	}
	for name, value := range inputs {
		if _, ok := w.action.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
		w.values["inputs."+name] = value
	}
	w.summary = filepath.Join(t.TempDir(), "summary")
	w.write(t, w.summary, "# another step\n")
	w.values["runner.temp"] = t.TempDir()
	w.values["runner.os"], w.values["runner.arch"] = "Linux", "X64"
	w.values["github.server_url"], w.values["github.action_repository"] = "http://nosuch.invalid", "tracegen/tracegen"
	return w
}

// step runs the step with the ID and returns its output, exit code and outputs.
func (w *workflow) step(t *testing.T, id string) (output string, code int, outputs map[string]string) {
	t.Helper()
	for _, s := range w.action.Runs.Steps {
		if s.ID != id {
			continue
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s: an expression in a script can be executed", id)
		}
		file := filepath.Join(t.TempDir(), "outputs")
		env := []string{"GITHUB_OUTPUT=" + file, "GITHUB_STEP_SUMMARY=" + w.summary}
		for name, value := range s.Env {
			env = append(env, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
				v, ok := w.values[expression.FindStringSubmatch(e)[1]]
				if !ok {
					t.Errorf("step %s: %s has no value", id, e)
				}
				return v
			}))
		}
		output, code = w.run(t.Context(), s.Run, env...)
		outputs = map[string]string{}
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			outputs[name] = value
			w.values["steps."+id+".outputs."+name] = value
		}
		return output, code, outputs
	}
	t.Fatalf("the action has no step %s", id)
	return "", 0, nil
}

func TestAction(t *testing.T) {
	nightly.Only(t, "tools")
	w := newWorkflow(t, map[string]string{"command": "tracegen", "inputs": "app.jar\n", "output": "out/app.jar",
		"fail-on": "introduced growth", "arguments": "--target\njvm\n"})
	if out, code, _ := w.step(t, "tool"); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	out, code, outputs := w.step(t, "instrument")
	if code != 0 || !strings.Contains(out, "::notice title=tracegen::19 of 35 methods are traced") {
		t.Fatalf("%d: %s", code, out)
	}
	for name, want := range map[string]string{"digest": sampleDigest, "methods": "19",
		"mapping": "tracegen/methodMapping.txt", "report": "tracegen/report.json"} {
		if outputs[name] != want {
			t.Errorf("output %s is %q, want %q", name, outputs[name], want)
		}
		if w.action.Outputs[name].Value != "${{ steps.instrument.outputs."+name+" }}" {
			t.Errorf("output %s of the action is %q", name, w.action.Outputs[name].Value)
		}
		if strings.Contains(want, "/") {
			fixture.Text(t, filepath.Join(w.dir, want))
		}
	}
	if text := fixture.Text(t, w.summary); !strings.HasPrefix(text, "# another step\n") ||
		!strings.Contains(text, "\n## tracegen: all guards passed\n") {
		t.Errorf("summary: %s", text)
	}

	// A guard that fails makes an annotation, and the step has outputs all the same, so that the mapping is kept.
	w.values["inputs.arguments"], w.values["inputs.base"] = "--guard\ngrowth=1\n", "tracegen/methodMapping.txt"
	w.values["inputs.mapping"] = "second/methodMapping.txt"
	out, code, outputs = w.step(t, "instrument")
	if code != 1 || !strings.Contains(out, "::error title=tracegen%3A guard growth failed::growth: ") ||
		outputs["digest"] != sampleDigest {
		t.Errorf("%d: %q %s", code, outputs, out)
	}
	// With an error there are no outputs.
	w.values["inputs.base"] = "nosuch.txt"
	out, code, outputs = w.step(t, "instrument")
	if code != 2 || !strings.Contains(out, "::error::--base: ") || len(outputs) > 0 {
		t.Errorf("%d: %q %s", code, outputs, out)
	}
	for _, s := range w.action.Runs.Steps {
		if s.Uses != "" && !regexp.MustCompile(`^actions/[a-z-]+@v[0-9]+$`).MatchString(s.Uses) {
			t.Errorf("%s has no version", s.Uses)
		}
	}
}

// TestActionDownloads checks that the action takes only a program whose checksum is right.
func TestActionDownloads(t *testing.T) {
	nightly.Only(t, "tools")
	for _, program := range []string{"curl", "unzip"} {
		if _, err := exec.LookPath(program); err != nil {
			oracle.Require(t, fmt.Errorf("no %s: %w", program, oracle.ErrMissing))
		}
	}
	const program = "#!/bin/sh\necho tracegen\n"
	archives := map[string]string{"tar.gz": tarball(t, "tracegen", program), "zip": zipped(t, "tracegen.exe", program)}
	// The server's goroutines read the files of the case that runs.
	var current atomic.Pointer[map[string]string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := (*current.Load())[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	defer server.Close()
	version := loadAction(t).Inputs["version"].Default
	for _, c := range []struct {
		system, arch, name, sums string // in sums, SUM stands for the checksum
		code                     int
		message                  string
	}{
		{"Linux", "X64", "linux-amd64.tar.gz", "SUM  NAME\n", 0, ""},
		{"Linux", "ARM64", "linux-arm64.tar.gz", "0  other\nSUM  NAME\n", 0, ""},
		{"macOS", "X64", "darwin-amd64.tar.gz", "SUM  NAME\n", 0, ""},
		{"macOS", "ARM64", "darwin-arm64.tar.gz", "SUM  NAME\n", 0, ""},
		{"Windows", "X64", "windows-amd64.zip", "SUM  NAME\n", 0, ""},
		{"Windows", "ARM64", "windows-arm64.zip", "SUM  NAME\n", 0, ""},
		{"Linux", "X64", "linux-amd64.tar.gz", "0000  NAME\n", 1, "and checksums.txt says 0000."},
		{"Linux", "X64", "linux-amd64.tar.gz", "SUM  NAME.sbom\n", 1, "and checksums.txt says nothing."},
		{"Linux", "X64", "other.tar.gz", "SUM  NAME\n", 1, "linux-amd64.tar.gz could not be downloaded"},
		{"Linux", "RISCV", "other.tar.gz", "", 1, "There is no tracegen for Linux-RISCV"},
	} {
		w := newWorkflow(t, nil)
		w.values["runner.os"], w.values["runner.arch"], w.values["github.server_url"] = c.system, c.arch, server.URL
		name := "tracegen-" + version + "-" + c.name
		_, kind, _ := strings.Cut(c.name, ".")
		archive := archives[kind]
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(archive)))
		releases := "/tracegen/tracegen/releases/download/v" + version + "/"
		current.Store(&map[string]string{
			releases + name:            archive,
			releases + "checksums.txt": strings.NewReplacer("SUM", sum, "NAME", name).Replace(c.sums),
		})
		out, code, outputs := w.step(t, "tool")
		if code != c.code || !strings.Contains(out, c.message) {
			t.Errorf("%+v: exit code %d: %s", c, code, out)
			continue
		}
		if code != 0 {
			if outputs["command"] != "" {
				t.Errorf("%+v: command %s", c, outputs["command"])
			}
			continue
		}
		path := outputs["command"]
		if c.system == "Windows" {
			path += ".exe" // which bash on Windows adds
		}
		if out, err := exec.CommandContext(t.Context(), path).Output(); err != nil || string(out) != "tracegen\n" {
			t.Errorf("%+v: %s: %v", c, out, err)
		}
	}
}

// tarball and zipped return an archive with an executable file, as releases have.
func tarball(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, entry := range []string{"LICENSE", name} {
		if err := w.WriteHeader(&tar.Header{Name: entry, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, entry := range []string{"LICENSE", name} {
		h := &zip.FileHeader{Name: entry}
		h.SetMode(0o755)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestActionTakesWhatIsReleased checks that the names of files in the action are those of the release.
func TestActionTakesWhatIsReleased(t *testing.T) {
	release := fixture.Text(t, root+"/.goreleaser.yaml")
	for _, want := range []string{`name_template: "tracegen-{{ .Version }}-{{ .Os }}-{{ .Arch }}"`,
		"name_template: checksums.txt", "binary: tracegen\n", "formats:\n      - tar.gz\n",
		"goos: windows\n        formats:\n          - zip\n"} {
		if !strings.Contains(release, want) {
			t.Errorf(".goreleaser.yaml has no %q: change action.yml and this test", want)
		}
	}
}

// TestActionVersion checks that the action downloads the release of its own sources.
func TestActionVersion(t *testing.T) {
	p := newPlace(t)
	out, code := p.run(t.Context(), "tracegen version")
	version := loadAction(t).Inputs["version"].Default
	if code != 0 || !strings.HasPrefix(out, "tracegen "+version) {
		t.Errorf("action.yml downloads %s, and this is %s", version, out)
	}
}

// twice runs the script of a recipe for two releases, the second one with the mapping of the first as its base, and
// checks what it leaves.
func (p *place) twice(t *testing.T, between, script string, env ...string) {
	t.Helper()
	for _, release := range []string{"first", "second"} {
		if out, code := p.run(t.Context(), script, env...); code != 0 {
			t.Fatalf("%s release: %d: %s", release, code, out)
		}
		mapping := fixture.Text(t, filepath.Join(p.dir, "mappings", sampleDigest+".txt"))
		if !strings.Contains(mapping, "# digest "+sampleDigest) {
			t.Errorf("%s release: %s", release, mapping)
		}
		if got := strings.Contains(fixture.Text(t, filepath.Join(p.dir, "tracegen/summary.md")), "since base"); got !=
			(release == "second") {
			t.Errorf("%s release: with a base: %v", release, got)
		}
		for _, file := range []string{"tracegen/report.json", "build/instrumented/app.jar"} {
			fixture.Text(t, filepath.Join(p.dir, file))
		}
		if out, code := p.run(t.Context(), between); code != 0 {
			t.Fatalf("%d: %s", code, out)
		}
	}
}

func TestGitLabRecipe(t *testing.T) {
	nightly.Only(t, "tools")
	var recipe struct {
		Instrument struct {
			Script    []string
			Variables map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(fixture.Text(t, root+"/examples/ci/gitlab-ci.yml")), &recipe); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	job := recipe.Instrument
	// The runner ends a script at the first command that fails.
	p.twice(t, "true", "set -eo pipefail\n"+strings.Join(job.Script, "\n"), "TRACEGEN="+job.Variables["TRACEGEN"])
}

func TestJenkinsRecipe(t *testing.T) {
	nightly.Only(t, "tools")
	text := fixture.Text(t, root+"/examples/ci/Jenkinsfile")
	var script []string
	for _, m := range regexp.MustCompile(`sh '''([^']*(?:'[^']+)*)'''|sh '([^'\n]+)'`).FindAllStringSubmatch(text, -1) {
		// Each step is a shell of its own. In a string of Groovy, a backslash before another character is one before it.
		script = append(script, "sh -c "+quoted(strings.ReplaceAll(m[1]+m[2], `\`+"\n", "\\\n")))
	}
	if len(script) != 2 {
		t.Fatalf("%d scripts", len(script))
	}
	newPlace(t).twice(t, "mkdir -p base; cp tracegen/methodMapping.txt base/", "set -e\n"+strings.Join(script, "\n"))
}

// quoted returns a word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// TestPageCommandsRun runs every command that docs/ci.md shows, in order, where a jar is named app.jar.
//
// Invariant: Every command of docs/ci.md runs.
func TestPageCommandsRun(t *testing.T) {
	nightly.Only(t, "tools")
	p := newPlace(t)
	commands := 0
	for line := range strings.Lines(fixture.Text(t, root+"/docs/ci.md")) {
		command, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !ok || !strings.HasPrefix(command, "tracegen ") && !strings.HasPrefix(command, "cp ") {
			continue
		}
		commands++
		if out, code := p.run(t.Context(), command); code != 0 {
			t.Errorf("%s: exit code %d: %s", command, code, out)
		}
	}
	if commands < 8 {
		t.Errorf("the page shows %d commands", commands)
	}
	if digest := fixture.Text(t, filepath.Join(p.dir, "out/digest.txt")); digest != sampleDigest+"\n" {
		t.Errorf("digest %q", digest)
	}
	if !bytes.Contains([]byte(fixture.Text(t, filepath.Join(p.dir, "reports/summary.md"))), []byte("## tracegen")) {
		t.Error("no summary")
	}
}
