package meaning

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

// A mode is one way to instrument.
type mode struct {
	name    string
	exits   inject.ExitMode
	entry   inject.ConstructorEntry
	trivial filter.TrivialMode
	// order decides the size of IDs, and so the length of the code that pushes them.
	order mapping.Order
	// requires is the module that modules are made to require, or empty.
	requires string
	// focus means that Activities report focus changes.
	focus bool
}

var (
	normalNone = mode{name: "normal none", exits: inject.ExitsNormal, entry: inject.EntryAtStart,
		trivial: filter.None, order: mapping.OrderCompact}
	throwsSmart = mode{name: "throws smart", exits: inject.ExitsThrows, entry: inject.EntryAtStart,
		trivial: filter.Smart}
	throwsNone     = mode{name: "throws none", exits: inject.ExitsThrows, entry: inject.EntryAtStart, trivial: filter.None}
	afterSuperNone = mode{name: "after-super none", exits: inject.ExitsThrows, entry: inject.EntryAfterSuper,
		trivial: filter.None}
	exactSmart = mode{name: "exact smart", exits: inject.ExitsExact, entry: inject.EntryAfterSuper,
		trivial: filter.Smart, order: mapping.OrderCompact}
	exactNone = mode{name: "exact none", exits: inject.ExitsExact, entry: inject.EntryAfterSuper,
		trivial: filter.None}
)

// shortfalls are the reasons for which no method here may be skipped, so that the test covers all methods.
var shortfalls = []filter.Reason{
	filter.ReasonUnverifiable, filter.ReasonMalformed, filter.ReasonUnknownAttribute, filter.ReasonPoolFull,
	filter.ReasonNoEntry, filter.ReasonUnsupportedVersion, filter.ReasonAlreadyInstrumented,
}

// instrument writes a jar or directory for each input below dir. It returns them by input, and the methods by ID.
func instrument(t *testing.T, dir string, m mode, inputs []string) (map[string]string, *mapping.Mapping) {
	t.Helper()
	c := pipeline.Config{
		Filter:          filter.New(filter.Options{Trivial: m.trivial}),
		Inject:          inject.Options{Exits: m.exits, ConstructorEntry: m.entry},
		RuntimeExternal: true,
		FocusHooks:      m.focus,
		Order:           m.order,
		AddRequires:     m.requires,
		Jobs:            2,
	}
	outputs := make(map[string]string, len(inputs))
	for k, in := range inputs {
		out := filepath.Join(dir, strconv.Itoa(k)+"-"+filepath.Base(in))
		outputs[in] = out
		c.Inputs = append(c.Inputs, pipeline.Input{Path: in, Output: out})
	}
	fixture.Directory(t, dir)
	result, err := pipeline.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("instrument: %v", err)
	}
	for s := range result.Skipped {
		if slices.Contains(shortfalls, s.Reason) {
			t.Errorf("%s!%s: %s: %s %s", filepath.Base(s.Input), s.Entry, s.Reason, s.Name, s.Detail)
		}
	}
	return outputs, result.Mapping
}

// A command is one start of a JVM.
type command struct {
	jdk  oracle.JDK
	args []string
	// dir is the working directory; the files that the program writes there are part of the outcome.
	dir string
}

// An outcome is everything that can be seen of a run: its output, its exit code, and the files in its working
// directory, each under its name with slashes.
type outcome struct {
	text  string
	code  int
	files map[string][]byte
}

// runLimit is far beyond what any program here needs; it ends programs that hang.
const runLimit = 15 * time.Minute

// commonFlags make runs comparable and cheap: only the fast just-in-time compiler, and the same locale and time zone
// everywhere.
var commonFlags = []string{
	"-Xmx1500m", "-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
	"-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8",
	"-Djava.awt.headless=true",
}

// run starts the JVM and waits for it. Every exit code is an outcome and no error.
func (c command) run(t *testing.T) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.jdk.Tool("java"), append(commonFlags[:len(commonFlags):len(commonFlags)],
		c.args...)...)
	cmd.Dir = c.dir
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("java: %v\n%s", err, tail(text.String()))
	}
	return outcome{text.String(), cmd.ProcessState.ExitCode(), readTree(t, c.dir)}
}

func readTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compare reports how an outcome differs from the original's.
func compare(t *testing.T, got, want outcome) {
	t.Helper()
	if got.code != want.code {
		t.Errorf("exit code %d, the original's is %d", got.code, want.code)
	}
	if got.text != want.text {
		t.Errorf("the program printed something else: %s", difference(got.text, want.text))
	}
	for name, data := range want.files {
		g, there := got.files[name]
		switch {
		case !there:
			t.Errorf("%s was not written", name)
		case !bytes.Equal(g, data):
			t.Errorf("%s differs: %d bytes, SHA-256 %x; the original wrote %d bytes, SHA-256 %x",
				name, len(g), sha256.Sum256(g), len(data), sha256.Sum256(data))
		}
	}
	for name := range got.files {
		if _, there := want.files[name]; !there {
			t.Errorf("%s was written, which the original does not write", name)
		}
	}
}

// difference returns the first line that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for k := range max(len(g), len(w)) {
		switch {
		case k >= len(w):
			return fmt.Sprintf("line %d: %q, the original had ended", k+1, tail(strings.Join(g[k:], "\n")))
		case k >= len(g):
			return fmt.Sprintf("ends before line %d: %q", k+1, w[k])
		case g[k] != w[k]:
			return fmt.Sprintf("line %d: %q, the original printed %q", k+1, g[k], w[k])
		}
	}
	return "no difference"
}

// tail returns the end of a program's output, where the reason of a failure is.
func tail(s string) string {
	const shown = 3000
	if len(s) > shown {
		return "..." + s[len(s)-shown:]
	}
	return s
}

// checkSummary compares the recorder's summary with what the mode promises.
func checkSummary(t *testing.T, m mode, s oracle.Summary) {
	t.Helper()
	if s.ExitsTooMany != 0 || s.BadIDs != 0 {
		t.Errorf("%d exits too many, %d bad IDs; want none", s.ExitsTooMany, s.BadIDs)
	}
	if m.exits == inject.ExitsExact && (s.ClosedLate != 0 || s.OpenInEndedThreads != 0) {
		t.Errorf("exact: %d frames closed late, %d open in ended threads; want none", s.ClosedLate, s.OpenInEndedThreads)
	}
}

// javac compiles sources into out.
func javac(t *testing.T, j oracle.JDK, out string, args ...string) {
	t.Helper()
	args = append([]string{"-Xlint:none", "-nowarn", "-encoding", "UTF-8", "-proc:none", "-d", out}, args...)
	fixture.Run(t, exec.CommandContext(t.Context(), j.Tool("javac"), args...))
}

func pathList(paths ...string) string { return strings.Join(paths, string(os.PathListSeparator)) }
