// Package bazel runs the rules in bazel/ and the example in examples/bazel with a real Bazel.
//
// A [Workspace] is a copy of both below a temporary directory, with jars and a binary of tracegen. A [Client] is a
// Bazel server of its own, with all its files below a directory. Its builds log every action that was run or found in
// a cache; [Client.Build] returns them.
//
// There is no network: Bazel 4 loads its default toolchains of C++ and Java whenever it looks for a toolchain, and
// these load rules_cc and rules_java. Both are replaced by files that name Bazel's built-in rules.
package bazel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// Find returns the bazel on PATH. The test cannot go on if there is none, or if it is not Bazel 4: others get rules_cc
// and rules_java from the network.
func Find(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("bazel")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no bazel on PATH (Debian 12 has it in the package bazel-bootstrap, other releases may "+
			"not): %w", oracle.ErrMissing))
	}
	out := fixture.Run(t, exec.CommandContext(t.Context(), path, "--nohome_rc", "--version"))
	// Debian's Bazel 4.2.3 does not have its version.
	version := strings.TrimSpace(strings.TrimPrefix(out, "bazel"))
	if version != "no_version" && !strings.HasPrefix(version, "4.") {
		oracle.Require(t, fmt.Errorf("%s is Bazel %s, not 4 (Debian's package bazel-bootstrap): %w", path, version,
			oracle.ErrMissing))
	}
	return path
}

// Workspace is a copy of the rules, of the example, and of what replaces rules_cc and rules_java.
type Workspace struct {
	Root string // of the copy
	Dir  string // of the example
}

// NewWorkspace copies bazel/ and examples/bazel of the repository below dir, builds tracegen, and compiles the jars of
// the example. The test cannot go on without javac.
func NewWorkspace(t testing.TB, repository, dir string) *Workspace {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		oracle.Require(t, fmt.Errorf("no javac on PATH to compile examples/bazel: %w", oracle.ErrMissing))
	}
	w := &Workspace{Root: dir, Dir: filepath.Join(dir, "examples", "bazel")}
	for _, part := range []string{"bazel", "examples/bazel"} {
		oracle.Require(t, copyTree(filepath.Join(repository, part), filepath.Join(dir, part)))
	}
	for name, text := range stubs {
		fixture.Write(t, filepath.Join(dir, "stubs", name), text)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", w.path("tools/tracegen"), "./cmd/tracegen")
	build.Dir = repository
	fixture.Run(t, build)
	w.CompileJars(t)
	return w
}

// Relocate copies the workspace below another directory.
func (w *Workspace) Relocate(t testing.TB, dir string) *Workspace {
	t.Helper()
	oracle.Require(t, copyTree(w.Root, dir))
	return &Workspace{Root: dir, Dir: filepath.Join(dir, "examples", "bazel")}
}

// CompileJars compiles the sources of the example into its jars. Jars of unchanged sources keep their bytes.
func (w *Workspace) CompileJars(t testing.TB) {
	t.Helper()
	fixture.Run(t, exec.CommandContext(t.Context(), w.path("build-jars")))
}

// Edit replaces a text in a file of the example, which must have it.
func (w *Workspace) Edit(t testing.TB, name, from, to string) {
	t.Helper()
	text := fixture.Text(t, w.path(name))
	if !strings.Contains(text, from) {
		t.Fatalf("%s does not contain %q", name, from)
	}
	fixture.Write(t, w.path(name), strings.Replace(text, from, to, 1))
}

func (w *Workspace) path(name string) string { return filepath.Join(w.Dir, filepath.FromSlash(name)) }

// stubs are the files that replace rules_cc and rules_java.
var stubs = map[string]string{
	"rules_cc/WORKSPACE": "",
	"rules_cc/cc/BUILD":  "",
	"rules_cc/cc/defs.bzl": native("cc_binary cc_import cc_library cc_proto_library cc_test cc_toolchain " +
		"cc_toolchain_suite objc_library"),

	"rules_java/WORKSPACE":     "",
	"rules_java/java/BUILD":    "",
	"rules_java/java/defs.bzl": native("java_binary java_import java_library java_runtime java_toolchain"),
}

// native returns a .bzl file that exports built-in rules.
func native(rules string) string {
	var text strings.Builder
	for rule := range strings.FieldsSeq(rules) {
		fmt.Fprintf(&text, "%s = native.%s\n", rule, rule)
	}
	return text.String()
}

// Client is a Bazel server in a workspace.
type Client struct {
	t           testing.TB
	bazel, root string // root is the directory of the server's files
	workspace   *Workspace
	logs        int
}

// NewClient returns a client. Its server ends with the test.
func NewClient(t testing.TB, bazel string, w *Workspace) *Client {
	t.Helper()
	c := &Client{t: t, bazel: bazel, root: t.TempDir(), workspace: w}
	t.Cleanup(func() {
		// The context of the test has ended.
		_, err := c.run(context.Background(), "shutdown")
		// Bazel takes the permission to write from directories of outputs.
		walk := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return nil
		})
		if err := errors.Join(err, walk); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Action is one action that a build ran or found in a cache. Actions that are up to date are not in the log.
type Action struct {
	Mnemonic string   `json:"mnemonic"`    // such as TracegenScan
	Runner   string   `json:"runner"`      // "linux-sandbox", "disk cache hit", ...
	Command  []string `json:"commandArgs"` // the program first
	// Env are the variables of its environment.
	Env []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"environmentVariables"`
}

// Actions are the actions of a build.
type Actions []Action

// Count returns how many actions there are of each mnemonic, such as "3 TracegenScan, 1 TracegenAssign", sorted.
func (a Actions) Count() string {
	counts := map[string]int{}
	for _, action := range a {
		counts[action.Mnemonic]++
	}
	var list []string
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, name))
	}
	slices.SortFunc(list, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, " ", 2)[1], strings.SplitN(b, " ", 2)[1])
	})
	return strings.Join(list, ", ")
}

// By returns how many actions each runner had, such as "linux-sandbox: 3", sorted by name. All caches are one
// runner: Bazel 4 calls a hit in the disk cache one in the remote cache.
func (a Actions) By() string {
	counts := map[string]int{}
	for _, action := range a {
		runner := action.Runner
		if strings.HasSuffix(runner, "cache hit") {
			runner = "cache hit"
		}
		counts[runner]++
	}
	var list []string
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Build runs bazel build, and returns the actions that it ran or found in a cache.
func (c *Client) Build(args ...string) Actions {
	c.t.Helper()
	c.logs++
	log := filepath.Join(c.root, fmt.Sprintf("actions-%d.json", c.logs))
	flags := []string{"build", "--execution_log_json_file=" + log, "--nosandbox_debug", "--jobs=2", "--color=no"}
	for _, name := range []string{"rules_cc", "rules_java"} {
		flags = append(flags, "--override_repository="+name+"="+filepath.Join(c.workspace.Root, "stubs", name))
	}
	if out, err := c.run(c.t.Context(), append(flags, args...)...); err != nil {
		c.t.Fatalf("bazel build %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	var list Actions
	for d := json.NewDecoder(bytes.NewReader(fixture.Read(c.t, log))); ; {
		var a Action
		if err := d.Decode(&a); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			c.t.Fatalf("%s: %v", log, err)
		}
		list = append(list, a)
	}
}

// Clean removes all outputs and forgets which actions are up to date.
func (c *Client) Clean() {
	c.t.Helper()
	if out, err := c.run(c.t.Context(), "clean"); err != nil {
		c.t.Fatalf("bazel clean: %v\n%s", err, out)
	}
}

// OutputPath returns the path of an output, named by its path below bazel-bin.
func (c *Client) OutputPath(name string) string {
	return filepath.Join(c.workspace.Dir, "bazel-bin", filepath.FromSlash(name))
}

// run runs bazel. The rc file of the system is read, because Debian's Bazel finds its own files by it.
func (c *Client) run(ctx context.Context, args ...string) ([]byte, error) {
	startup := []string{"--nohome_rc", "--output_user_root=" + filepath.Join(c.root, "bazel"), "--host_jvm_args=-Xmx1g",
		"--max_idle_secs=300"}
	cmd := exec.CommandContext(ctx, c.bazel, append(startup, args...)...)
	cmd.Dir = c.workspace.Dir
	cmd.Env = append(os.Environ(), "HOME="+c.root, "TMPDIR="+os.TempDir())
	return cmd.CombinedOutput()
}

// copyTree copies files and directories, and leaves out the links that Bazel makes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}
