package gradle_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// A project is a copy of examples/jvm-app with a build cache of its own.
type project struct {
	t      *testing.T
	gradle builds.Gradle
	dir    string
	args   []string
}

// newProject copies the example to a directory. Two projects with the same cache share its entries.
func newProject(t *testing.T, g builds.Gradle, repo, dir, cache string) *project {
	t.Helper()
	root, err := oracle.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "jvm-app"))); err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, gradle: g, dir: dir, args: []string{"-PtracegenRepository=" + repo, "--build-cache"}}
	p.add("settings.gradle", fmt.Sprintf("\nbuildCache { local { directory = new File('%s') } }\n", cache))
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// add appends text to a file.
func (p *project) add(name, text string) {
	p.t.Helper()
	f, err := os.OpenFile(p.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		p.t.Fatal(err, closeErr)
	}
}

// edit replaces a text that must be in a file.
func (p *project) edit(name, from, to string) {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) {
		p.t.Fatalf("%s does not contain %q", name, from)
	}
	if err := os.WriteFile(p.path(name), bytes.Replace(data, []byte(from), []byte(to), 1), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) build(args ...string) builds.Result {
	p.t.Helper()
	return p.gradle.Build(p.t, p.dir, append(slices.Clone(p.args), args...)...)
}

// fails runs a build that must fail, with all the texts.
func (p *project) fails(texts []string, args ...string) {
	p.t.Helper()
	r := p.gradle.Run(p.t, p.dir, append(slices.Clone(p.args), args...)...)
	if !r.Failed {
		p.t.Errorf("the build did not fail:\n%s", r.Output)
	}
	for _, text := range texts {
		if !strings.Contains(r.Output, text) {
			p.t.Errorf("the output of the failed build does not contain %q:\n%s", text, r.Output)
		}
	}
}

// want compares the outcomes of tasks. A task that is wanted as "EXECUTED" has none.
func want(t *testing.T, r builds.Result, outcome string, tasks ...string) {
	t.Helper()
	for _, task := range tasks {
		got, ok := r.Tasks[task]
		if !ok {
			got = "not in the build"
		} else if got == "" {
			got = "EXECUTED"
		}
		if got != outcome {
			t.Errorf("task %s was %s, want %s:\n%s", task, got, outcome, r.Output)
		}
	}
}

// outputs returns the hashes of the instrumented class path and of the mapping, by name. Entries of jars are hashed
// with their content and order, and without their times: Gradle's jars have the time of their build.
func (p *project) outputs() map[string]string {
	p.t.Helper()
	sums := map[string]string{}
	base := p.path("app/build/tracegen/main")
	for _, name := range []string{"libs", "methodMapping.txt"} {
		err := filepath.WalkDir(filepath.Join(base, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(base, path)
			if err != nil {
				return err
			}
			sums[filepath.ToSlash(rel)] = contentHash(p.t, path)
			return nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return sums
}

func contentHash(t *testing.T, path string) string {
	t.Helper()
	sum := sha256.New()
	if !strings.HasSuffix(path, ".jar") {
		sum.Write(fixture.Read(t, path))
		return fmt.Sprintf("%x", sum.Sum(nil)[:8])
	}
	for _, e := range fixture.Unpack(t, fixture.Read(t, path)) {
		fmt.Fprintln(sum, e.Name, len(e.Data), e.Stored)
		io.WriteString(sum, e.Data)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// mapping returns the text of the mapping.
func (p *project) mapping() string {
	p.t.Helper()
	return fixture.Text(p.t, p.path("app/build/tracegen/main/methodMapping.txt"))
}

// methods returns the IDs in the mapping by method.
func (p *project) methods() map[string]string {
	ids := map[string]string{}
	for line := range strings.Lines(p.mapping()) {
		if fields := strings.SplitN(strings.TrimSpace(line), ",", 3); len(fields) == 3 && line[0] != '#' {
			ids[fields[2]] = fields[0]
		}
	}
	return ids
}

func same(t *testing.T, what string, a, b map[string]string) {
	t.Helper()
	if !maps.Equal(a, b) {
		t.Errorf("%s: the outputs differ:\n%v\n%v", what, a, b)
	}
}

// noPath reports files below a directory that contain a text.
func noPath(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("%s contains the path %s: no other machine could use it", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// way is one of the two ways to instrument, with its tasks.
type way struct {
	incremental bool
	tasks       []string
}

func ways() []way {
	return []way{
		{false, []string{":app:instrumentClasspath"}},
		{true, []string{":app:tracegenRuntime", ":app:tracegenScan", ":app:tracegenAssign", ":app:instrumentParts"}},
	}
}

func (w way) String() string {
	if w.incremental {
		return "incremental"
	}
	return "at once"
}

func (w way) apply(p *project) {
	if w.incremental {
		p.add("app/build.gradle", "\ntracegen { incremental = true }\n")
	}
}

// TestGradle8 runs the builds of a day with one version of Gradle. A push makes one build, runs the program, and reads
// its recording.
//
// Invariant: the Gradle plugin writes the same bytes at once and incrementally, from the cache, and in another
// directory, and no output contains an absolute path.
func TestGradle8(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a real build")
	}
	if nightly.Runs("gradle") {
		testVersion(t, "8.8")
		return
	}
	g := builds.NewGradle(t, "8.8", "jvm")
	p := newProject(t, g, builds.Repository(t.Context(), t), filepath.Join(t.TempDir(), "one"), t.TempDir())
	runAndReport(t, p)
	if first := p.outputs(); len(p.methods()) < 100 || first["libs/app.jar"] == "" {
		t.Errorf("the class path is not complete: %v, %d methods", first, len(p.methods()))
	}
}

// TestGradleOthers runs the builds of TestGradle8 with other versions.
func TestGradleOthers(t *testing.T) {
	builds.RequireFull(t)
	for _, version := range []string{"7.6.4", "8.11.1"} {
		t.Run(version, func(t *testing.T) { testVersion(t, version) })
	}
}

// testVersion runs the builds of a day with one version of Gradle, in both ways, and compares their outputs.
func testVersion(t *testing.T, version string) {
	g := builds.NewGradle(t, version, "jvm")
	repo := builds.Repository(t.Context(), t)
	results := map[string]map[string]string{}
	for _, w := range ways() {
		t.Run(w.String(), func(t *testing.T) { results[w.String()] = testWay(t, g, repo, w) })
	}
	if !t.Failed() {
		same(t, "at once and incremental", results["at once"], results["incremental"])
	}
}

// testWay returns the outputs of the last build.
func testWay(t *testing.T, g builds.Gradle, repo string, w way) map[string]string {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	p := newProject(t, g, repo, filepath.Join(dir, "one"), cache)
	w.apply(p)
	run := []string{"--configuration-cache", "instrumentedJar", "--info"}

	r := p.build(run...)
	want(t, r, "EXECUTED", w.tasks...)
	first := p.outputs()
	if len(p.methods()) < 100 || first["libs/tracegen-runtime.jar"] == "" || first["libs/feed.jar"] == "" ||
		first["libs/gson-2.10.1.jar"] == "" || first["libs/app.jar"] == "" {
		t.Fatalf("the class path is not complete: %v, %d methods", first, len(p.methods()))
	}
	noPath(t, p.path("app/build/tracegen"), dir)

	r = p.build(run...)
	want(t, r, "UP-TO-DATE", w.tasks...)
	if !strings.Contains(r.Output, "Reusing configuration cache") {
		t.Errorf("the configuration cache was not reused:\n%s", r.Output)
	}

	p.build("clean")
	want(t, p.build(run...), "FROM-CACHE", w.tasks...)
	same(t, "from the cache", first, p.outputs())

	other := newProject(t, g, repo, filepath.Join(dir, "elsewhere", "two"), cache)
	w.apply(other)
	want(t, other.build(run...), "FROM-CACHE", w.tasks...)
	same(t, "in another directory", first, other.outputs())

	// One class of the module changes: it has a new method.
	before := p.methods()
	p.edit("app/src/main/java/com/example/app/Main.java", "private static void render",
		"static int twice(int n) { int s = 0; while (n-- > 0) { s += 2; } return s; }\n\n    private static void render")
	r = p.build(run...)
	want(t, r, "EXECUTED", w.tasks[len(w.tasks)-1])
	if w.incremental && !strings.Contains(r.Output, "2 of 4 parts are unchanged") {
		t.Errorf("not exactly the module and the runtime, which has the digest, were instrumented:\n%s", r.Output)
	}
	kept(t, before, p.methods(), "twice")

	// A dependency changes, with the mapping so far as base.
	if err := os.WriteFile(p.path("base.txt"), []byte(p.mapping()), 0o644); err != nil {
		t.Fatal(err)
	}
	p.add("app/build.gradle", "\ntracegen { base = rootProject.file('base.txt') }\n")
	before = p.methods()
	p.edit("feed/src/main/java/com/example/feed/Item.java", "public int words",
		"public int letters() { int n = 0; for (char c : text.toCharArray()) { n += c == ' ' ? 0 : 1; } return n; }\n\n"+
			"    public int words")
	want(t, p.build(run...), "EXECUTED", w.tasks[len(w.tasks)-1])
	kept(t, before, p.methods(), "letters")

	runAndReport(t, p)
	return p.outputs()
}

// runAndReport runs the program, and demands that the report names the slow method. On a busy machine the runtime may
// take no sample in time, and the program runs again.
func runAndReport(t *testing.T, p *project) {
	t.Helper()
	for try := 1; ; try++ {
		r := p.build("runInstrumented")
		if !strings.Contains(r.Output, "3 of 3 items") {
			t.Errorf("the program did not print its result:\n%s", r.Output)
		}
		r = p.build("tracegenReport")
		isFound := strings.Contains(r.Output, "com.example.app.Main.render")
		if isFound && strings.Contains(r.Output, "page: ") {
			return
		}
		if isFound || try == 10 {
			t.Errorf("the report does not find the slow method:\n%s", r.Output)
			return
		}
	}
}

// kept checks that methods keep their IDs, and that one has been added.
func kept(t *testing.T, before, after map[string]string, added string) {
	t.Helper()
	for method, id := range before {
		if after[method] != id {
			t.Errorf("%s had the ID %s and now has %q", method, id, after[method])
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("%d methods became %d, want one more: %s", len(before), len(after), added)
	}
}

// TestFailures runs builds that must fail, and compares what they say.
func TestFailures(t *testing.T) {
	nightly.Only(t, "gradle")
	g := builds.NewGradle(t, "8.8", "jvm")
	repo := builds.Repository(t.Context(), t)
	dir := t.TempDir()
	for i, c := range []struct {
		name  string
		edit  func(p *project)
		texts []string
	}{
		{"a mistake in tracegen.yml", func(p *project) { p.add("tracegen.yml", "exitz: exact\n") },
			[]string{"tracegen instrument failed for the class path", "exitz", "tracegen.yml"}},
		{"a file named in tracegen.yml", func(p *project) { p.add("tracegen.yml", "base: old.txt\n") },
			[]string{"tracegen.yml:4: `base` names a file", `tracegen { base = file("...") }`}},
		{"a guard", func(p *project) { p.add("app/build.gradle", "\ntracegen { maxGrowth = 0.5d }\n") },
			[]string{"A guard of tracegen instrument failed", "growth", "All outputs were written"}},
		{"no binary in the repositories", func(p *project) {
			p.add("app/build.gradle", "\ntracegen { toolVersion = '0.0.7' }\n")
		}, []string{"There is no tracegen binary for this machine", "dev.tracegen:tracegen:0.0.7",
			`tracegen { executable = file("...") }`}},
		{"a file that is no binary", func(p *project) {
			p.add("app/build.gradle", "\ntracegen { executable = file('build.gradle') }\n")
		}, []string{"It must be a tracegen binary for this machine"}},
		{"variants of a program that has none", func(p *project) {
			p.add("app/build.gradle", "\ntracegen { variants { release { } } }\n")
		}, []string{"tracegen { variants { release } }", "project ':app' is no Android app"}},
		{"a guard on the sum of all parts", func(p *project) {
			p.add("app/build.gradle", "\ntracegen { incremental = true; maxGrowth = 0.5d }\n")
		}, []string{"growth: the classes grow from", "at most 0.5 %", "All outputs were written"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, g, repo, filepath.Join(dir, fmt.Sprint(i)), filepath.Join(dir, "cache"))
			c.edit(p)
			p.fails(c.texts, "instrumentedJar")
		})
	}
}
