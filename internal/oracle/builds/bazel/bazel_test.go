package bazel

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const repository = "../../../.."

// apps are the targets that share scans: two apps of four jars, of which they have two in common, and the runtime.
var apps = []string{"//:traced_shop", "//:traced_admin", "--output_groups=default,mapping,skipped,digest"}

// allActions are those of a first build of the apps.
const allActions = "2 TracegenAssign, 8 TracegenInstrument, 1 TracegenRuntime, 5 TracegenScan"

// setUp returns the program and a workspace.
func setUp(t *testing.T) (bazel string, w *Workspace) {
	t.Helper()
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	return Find(t), NewWorkspace(t, root, filepath.Join(t.TempDir(), "tree"))
}

// change edits the sources and compiles them.
func change(t *testing.T, w *Workspace, file, from, to string) {
	t.Helper()
	w.Edit(t, file, from, to)
	w.CompileJars(t)
}

// changeBody changes the code of a method of feed.jar, and no name.
func changeBody(t *testing.T, w *Workspace) {
	change(t, w, "src/feed/Feed.java", `", "`, `"; "`)
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	t.Logf("measured: Bazel: %s: %s", what, got)
}

// compare compares the outputs of an app with those of tracegen instrument for the same jars.
func compare(t *testing.T, c *Client, app string, args ...string) {
	t.Helper()
	w := c.workspace
	one := t.TempDir()
	args = append([]string{"instrument", "-q", "-o", one + "/", "--reports", one}, args...)
	cmd := exec.CommandContext(t.Context(), w.path("tools/tracegen"), args...)
	cmd.Dir = w.Dir
	fixture.Run(t, cmd)
	written, err := os.ReadDir(one)
	if err != nil {
		t.Fatal(err)
	}
	jars := 0
	for _, f := range written {
		if slices.Contains([]string{"report.json", "summary.md"}, f.Name()) {
			continue // Bazel's report is that of assign
		}
		name := app + ".tracegen/" + f.Name()
		if strings.HasSuffix(name, ".jar") {
			name = app + ".tracegen/jars/" + f.Name()
			jars++
		}
		got := fixture.Read(t, c.OutputPath(name))
		want := fixture.Read(t, filepath.Join(one, f.Name()))
		if f.Name() == "skipped.tsv" {
			got = withoutRuntime(got)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what tracegen instrument writes", name)
		}
	}
	if jars < 3 {
		t.Errorf("compared %d jars of %s", jars, app)
	}
}

// withoutRuntime removes the runtime's methods from a list of skipped methods. They are in the list of the rules, to
// which the runtime is an input, and not in that of instrument with its built-in runtime.
func withoutRuntime(list []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(list) {
		if !bytes.HasPrefix(line, []byte("dev.tracegen.runtime.")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// TestExample builds the example, changes one jar, and checks which actions ran.
//
// Invariant: Bazel's outputs are those of tracegen instrument, and a changed jar runs its own actions only.
func TestExample(t *testing.T) {
	nightly.Only(t, "tools")
	bazel, w := setUp(t)
	c := NewClient(t, bazel, w)

	first := c.Build(apps...)
	want(t, "first build of two apps", first.Count(), allActions)
	for _, a := range first {
		checkHermetic(t, a)
	}
	jars := []string{"jars/shop.jar", "jars/feed.jar", "jars/text.jar", "--config", "tracegen.yml"}
	compare(t, c, "traced_shop", append(jars, "--base", "release/methodMapping.txt")...)
	want(t, "nothing changed", c.Build(apps...).Count(), "")

	changeBody(t, w)
	want(t, "one jar changed, same methods", c.Build(apps...).Count(),
		"2 TracegenAssign, 2 TracegenInstrument, 1 TracegenScan")

	// The runtime has the digest of the mapping, which a new method changes.
	change(t, w, "src/feed/Feed.java", "private void debug",
		"public String reload() { return load() + load(); } private void debug")
	want(t, "one jar changed, a new method", c.Build(apps...).Count(),
		"2 TracegenAssign, 4 TracegenInstrument, 1 TracegenScan")
	compare(t, c, "traced_shop", append(jars, "--base", "release/methodMapping.txt")...)

	for _, command := range documented(t) {
		c.Build(command...)
	}
	c.Build("//:traced_jars", "--output_groups=default,skipped,digest,mapping")
	c.Build("//:run_shop", "//:mapping")
	compare(t, c, "traced_jars", "jars/shop.jar", "jars/text.jar", "--exits", "exact", "--config", "tracegen.yml")
	run := exec.CommandContext(t.Context(), c.OutputPath("run_shop"))
	out, err := run.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("for sale: tea; bread\n")) {
		t.Errorf("run_shop: %v\n%s", err, out)
	}
}

// checkHermetic checks that an action has no environment, no absolute path, and no JDK but a named one.
func checkHermetic(t *testing.T, a Action) {
	t.Helper()
	if len(a.Env) > 0 {
		t.Errorf("%s has an environment: %v", a.Mnemonic, a.Env)
	}
	for _, arg := range a.Command {
		if filepath.IsAbs(arg) {
			t.Errorf("%s has the absolute path %s", a.Mnemonic, arg)
		}
	}
	looks := a.Mnemonic == "TracegenScan" || a.Mnemonic == "TracegenInstrument"
	if looks && !slices.Contains(a.Command, "--jdk=none") {
		t.Errorf("%s looks for a JDK: %q", a.Mnemonic, a.Command)
	}
}

// TestCaches builds with a disk cache after a clean, and in another directory.
//
// Invariant: The actions of Bazel's rules depend on no directory and on nothing that is not an input.
func TestCaches(t *testing.T) {
	nightly.Only(t, "tools")
	builds.RequireFull(t)
	bazel, w := setUp(t)
	c := NewClient(t, bazel, w)
	cached := append([]string{"--disk_cache=" + t.TempDir()}, apps...)
	want(t, "disk cache, empty", c.Build(cached...).Count(), allActions)
	c.Clean()
	again := c.Build(cached...)
	want(t, "disk cache, after clean", again.By(), "cache hit: 16")
	want(t, "disk cache, after clean", again.Count(), allActions)

	elsewhere := w.Relocate(t, filepath.Join(t.TempDir(), "some", "where"))
	moved := NewClient(t, bazel, elsewhere).Build(cached...)
	want(t, "disk cache, another directory and another server", moved.By(), "cache hit: 16")
	want(t, "disk cache, another directory and another server", moved.Count(), allActions)

	// A JDK is an input, and does not change the outputs.
	before := fixture.Read(t, c.OutputPath("traced_shop.tracegen/jars/feed.jar"))
	home, err := jdk(t.Context())
	oracle.Require(t, err)
	fixture.Write(t, w.path("WORKSPACE"), fixture.Text(t, w.path("WORKSPACE"))+`
new_local_repository(name = "jdk", path = "`+home+`", build_file_content = "exports_files([\"lib/modules\"])")
`)
	with := c.Build(append(cached, "--@tracegen//:jdk=@jdk//:lib/modules")...)
	want(t, "with a JDK", with.Count(), "8 TracegenInstrument, 5 TracegenScan")
	if !bytes.Equal(before, fixture.Read(t, c.OutputPath("traced_shop.tracegen/jars/feed.jar"))) {
		t.Error("with a JDK, feed.jar has other bytes")
	}
}

// TestRelease gets the binary from a Maven repository, as a toolchain of a release.
func TestRelease(t *testing.T) {
	nightly.Only(t, "tools")
	builds.RequireFull(t)
	bazel, w := setUp(t)
	maven := t.TempDir()
	for _, classifier := range []string{"linux-x86_64", "linux-aarch_64"} {
		file := filepath.Join(maven, "dev/tracegen/tracegen/0.1.0/tracegen-0.1.0-"+classifier+".exe")
		fixture.Write(t, file, fixture.Text(t, w.path("tools/tracegen")))
	}
	if err := os.Remove(w.path("tools/tracegen")); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, w.path("WORKSPACE"), fixture.Text(t, w.path("release.WORKSPACE")))
	w.Edit(t, "WORKSPACE", "https://maven.example.com/releases", "file://"+filepath.ToSlash(maven))
	c := NewClient(t, bazel, w)
	want(t, "binary of a Maven repository", c.Build("//:traced_admin").Count(),
		"1 TracegenAssign, 4 TracegenInstrument, 1 TracegenRuntime, 4 TracegenScan")
}

// documented returns the arguments of each `bazel build` in docs/bazel.md, but for those with a cache or an executor:
// [TestCaches] has a cache, and an executor runs actions that [TestExample] has shown to be hermetic.
func documented(t *testing.T) (commands [][]string) {
	t.Helper()
	for line := range strings.Lines(fixture.Text(t, repository+"/docs/bazel.md")) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "bazel build ")
		if ok && !strings.Contains(args, "--disk_cache") && !strings.Contains(args, "--remote_executor") {
			commands = append(commands, strings.Fields(args))
		}
	}
	if len(commands) < 2 {
		t.Errorf("docs/bazel.md has %d commands, want 2 or more", len(commands))
	}
	return commands
}

// TestSnippets checks that each snippet of docs/bazel.md is in a file of examples/bazel.
//
// Invariant: The snippets of the page about Bazel are those of the example that the tests build.
func TestSnippets(t *testing.T) {
	var files []string
	err := filepath.WalkDir(repository+"/examples/bazel", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".jar") && d.Name() != "tracegen" {
			files = append(files, fixture.Text(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	snippets := 0
	for _, snippet := range codeBlocks(fixture.Text(t, repository+"/docs/bazel.md")) {
		if strings.HasPrefix(snippet, "bazel ") {
			continue // TestExample runs it
		}
		snippets++
		if !slices.ContainsFunc(files, func(text string) bool { return strings.Contains(text, snippet) }) {
			t.Errorf("docs/bazel.md has a snippet that no file of examples/bazel has:\n%s", snippet)
		}
	}
	if snippets < 10 {
		t.Errorf("docs/bazel.md has %d snippets, want 10 or more", snippets)
	}
}

// codeBlocks returns the blocks of a page that are indented by seven spaces, without the indentation.
func codeBlocks(page string) (blocks []string) {
	const indentation = "       "
	var block strings.Builder
	for line := range strings.Lines(page + "end\n") {
		text, indented := strings.CutPrefix(line, indentation)
		switch {
		case indented:
			block.WriteString(text)
		case strings.TrimSpace(line) == "" && block.Len() > 0:
			block.WriteString("\n")
		case block.Len() > 0:
			blocks = append(blocks, strings.TrimRight(block.String(), "\n"))
			block.Reset()
		}
	}
	return blocks
}

// jdk returns the home of the JDK on PATH.
func jdk(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "java", "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "java.home" {
			return strings.TrimSpace(value), nil
		}
	}
	return "", oracle.ErrMissing
}
