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

	"github.com/tracegen/tracegen/internal/oracle"
)

// Find returns the bazel on PATH. The error wraps [oracle.ErrMissing] if there is none, or if it is not Bazel 4: others
// get rules_cc and rules_java from the network.
func Find(ctx context.Context) (string, error) {
	path, err := exec.LookPath("bazel")
	if err != nil {
		return "", fmt.Errorf("no bazel on PATH (Debian 12 has it in the package bazel-bootstrap, other releases may "+
			"not): %w", oracle.ErrMissing)
	}
	out, err := exec.CommandContext(ctx, path, "--nohome_rc", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	// Debian's Bazel 4.2.3 does not have its version.
	version := strings.TrimSpace(strings.TrimPrefix(string(out), "bazel"))
	if version != "no_version" && !strings.HasPrefix(version, "4.") {
		return "", fmt.Errorf("%s is Bazel %s, not 4 (Debian's package bazel-bootstrap): %w", path, version,
			oracle.ErrMissing)
	}
	return path, nil
}

// Workspace is a copy of the rules, of the example, and of what replaces rules_cc and rules_java.
type Workspace struct {
	Root string // of the copy
	Dir  string // of the example
}

// NewWorkspace copies bazel/ and examples/bazel of the repository below dir, builds tracegen, and compiles the jars of
// the example. The error wraps [oracle.ErrMissing] if there is no javac.
func NewWorkspace(ctx context.Context, repository, dir string) (*Workspace, error) {
	if _, err := exec.LookPath("javac"); err != nil {
		return nil, fmt.Errorf("no javac on PATH to compile examples/bazel: %w", oracle.ErrMissing)
	}
	w := &Workspace{Root: dir, Dir: filepath.Join(dir, "examples", "bazel")}
	for _, part := range []string{"bazel", "examples/bazel"} {
		if err := copyTree(filepath.Join(repository, part), filepath.Join(dir, part)); err != nil {
			return nil, err
		}
	}
	for name, text := range stubs {
		if err := write(filepath.Join(dir, "stubs", name), text); err != nil {
			return nil, err
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", w.path("tools/tracegen"), "./cmd/tracegen")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return w, w.CompileJars(ctx)
}

// Relocate copies the workspace below another directory.
func (w *Workspace) Relocate(dir string) (*Workspace, error) {
	if err := copyTree(w.Root, dir); err != nil {
		return nil, err
	}
	return &Workspace{Root: dir, Dir: filepath.Join(dir, "examples", "bazel")}, nil
}

// CompileJars compiles the sources of the example into its jars. Jars of unchanged sources keep their bytes.
func (w *Workspace) CompileJars(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, w.path("build-jars")).CombinedOutput(); err != nil {
		return fmt.Errorf("build-jars: %w\n%s", err, out)
	}
	return nil
}

// Edit replaces a text in a file of the example. It fails if the file does not have the text.
func (w *Workspace) Edit(name, from, to string) error {
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(from)) {
		return fmt.Errorf("%s does not contain %q", name, from)
	}
	return os.WriteFile(w.path(name), bytes.Replace(text, []byte(from), []byte(to), 1), 0o644)
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
	bazel, root string // root is the directory of the server's files
	workspace   *Workspace
	logs        int
}

// NewClient returns a client that keeps all its files below root. Close ends its server.
func NewClient(bazel string, w *Workspace, root string) *Client {
	return &Client{bazel: bazel, root: root, workspace: w}
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

// Build runs bazel build, and returns the actions that it ran or found in a cache. An error has the output of Bazel.
func (c *Client) Build(ctx context.Context, args ...string) (Actions, error) {
	c.logs++
	log := filepath.Join(c.root, fmt.Sprintf("actions-%d.json", c.logs))
	if err := os.MkdirAll(c.root, 0o755); err != nil {
		return nil, err
	}
	flags := []string{"build", "--execution_log_json_file=" + log, "--nosandbox_debug", "--jobs=2", "--color=no"}
	for _, name := range []string{"rules_cc", "rules_java"} {
		flags = append(flags, "--override_repository="+name+"="+filepath.Join(c.workspace.Root, "stubs", name))
	}
	if out, err := c.run(ctx, append(flags, args...)...); err != nil {
		return nil, fmt.Errorf("bazel build %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return readLog(log)
}

// Clean removes all outputs and forgets which actions are up to date.
func (c *Client) Clean(ctx context.Context) error {
	if out, err := c.run(ctx, "clean"); err != nil {
		return fmt.Errorf("bazel clean: %w\n%s", err, out)
	}
	return nil
}

// Output returns the content of an output, named by its path below bazel-bin.
func (c *Client) Output(name string) ([]byte, error) {
	return os.ReadFile(c.OutputPath(name))
}

// OutputPath returns the path of an output, named by its path below bazel-bin.
func (c *Client) OutputPath(name string) string {
	return filepath.Join(c.workspace.Dir, "bazel-bin", filepath.FromSlash(name))
}

// Close ends the server, and makes its files removable.
func (c *Client) Close() error {
	_, err := c.run(context.Background(), "shutdown")
	// Bazel takes the permission to write from directories of outputs.
	walk := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	return errors.Join(err, walk)
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

func readLog(file string) (Actions, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list Actions
	for d := json.NewDecoder(f); ; {
		var a Action
		if err := d.Decode(&a); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, a)
	}
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

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
