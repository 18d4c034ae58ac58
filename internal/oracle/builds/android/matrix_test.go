package android_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// row is one build of the matrix.
type row struct {
	plugin android.Plugin
	way    string // "one" or "parts"
	name   string
	took   time.Duration
	reused bool   // the configuration cache
	why    string // it was not
	// The outcomes of the task that instruments, and of R8.
	tracegen, r8   string
	executed, all  int
	digest         string
	dex            string // hash of the dex files
	entries, exits int
}

// matrix builds one sample with one plugin in many states.
type matrix struct {
	t      *testing.T
	setup  android.Setup
	way    string
	gradle builds.Gradle
	dir    string
	rows   []row
	digest string // of the first build
}

// TestMatrix builds the sample with each version of the Android Gradle plugin in the states that a project goes
// through, by both ways. The digest must depend on the sources alone: not on the plugin, the way, the directory, or
// whether a build took its outputs from a cache.
func TestMatrix(t *testing.T) {
	nightly.Only(t, "android")
	setups := setupAll(t)
	var rows []row
	t.Cleanup(func() { writeTable(t, rows) })
	digest, dex := map[string]string{}, map[string]string{}
	for _, setup := range setups {
		for _, way := range []string{"one", "parts"} {
			t.Run(setup.Plugin.Version+"/"+way, func(t *testing.T) {
				setup.BuildCache = filepath.Join(t.TempDir(), "cache")
				m := &matrix{t: t, setup: setup, way: way, dir: filepath.Join(t.TempDir(), "app"),
					gradle: builds.NewGradle(t, setup.Plugin.Gradle, "android")}
				m.run()
				rows = append(rows, m.rows...)
				for _, r := range m.rows {
					if first, ok := digest[r.name]; ok && first != r.digest {
						t.Errorf("%s: digest %s, but an earlier plugin or way has %s", r.name, r.digest, first)
					}
					digest[r.name] = r.digest
					// R8 makes the same of the same classes.
					state := setup.Plugin.Version + " " + r.name
					if first, ok := dex[state]; ok && first != r.dex {
						t.Errorf("%s: the dex files are not those of the other way", r.name)
					}
					dex[state] = r.dex
				}
			})
		}
	}
}

func (m *matrix) run() {
	m.copySample(m.dir)
	first := m.build("first build")
	m.digest = first.digest
	m.wantTask(first, "executed", "executed")
	base := filepath.Join(m.dir, "base.txt")
	copyFile(m.t, m.mapping(), base)

	again := m.build("nothing changed")
	// The configuration cache is not reused here if this was the first build with this user home.
	m.wantTask(again, "UP-TO-DATE", "UP-TO-DATE")

	m.clean()
	cleaned := m.build("after clean, from the cache")
	m.wantTask(cleaned, "FROM-CACHE", "FROM-CACHE")
	m.wantReused(cleaned)
	m.wantDigest(cleaned)

	here := m.dir
	m.dir = filepath.Join(m.t.TempDir(), "elsewhere", "of another name")
	m.copySample(m.dir)
	moved := m.build("in another directory")
	m.wantTask(moved, "FROM-CACHE", "FROM-CACHE")
	m.wantDigest(moved)
	m.dir = here

	// A changed body: the methods are the same, and so is the digest.
	m.edit("feed/src/main/java/dev/tracegen/example/feed/Feed.java", `"note " + i`, `"note no. " + i`)
	changed := m.build("one class changed")
	m.wantTask(changed, "executed", "executed")
	m.wantReused(changed)
	m.wantDigest(changed)

	// A changed dependency has other methods. In the default scope the same ones of 2.10 and 2.10.1 are traced.
	for _, module := range []string{"app", "feed"} {
		m.edit(module+"/build.gradle", "gson:2.10.1", "gson:2.8.9")
	}
	other := m.build("one dependency changed")
	m.wantTask(other, "executed", "executed")
	if other.digest == m.digest {
		m.t.Errorf("%s: the digest is still %s", other.name, m.digest)
	}

	m.edit("app/build.gradle", "dependencies {\n", block(m.t, "base = file(")+"\ndependencies {\n")
	based := m.build("with a base mapping")
	// The IDs of a build without a base are those of the base already, so the classes are the same.
	m.wantTask(based, "executed", "UP-TO-DATE")
	m.wantIDs(base, m.mapping())

	m.bundle()
	m.debug()
}

// copySample copies the sample, set to the way.
func (m *matrix) copySample(to string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		m.t.Fatal(err)
	}
	m.setup.Copy(m.t, sample("android-app"), to)
	if m.way == "parts" {
		file := filepath.Join(to, "app", "build.gradle")
		fixture.Write(m.t, file, fixture.Text(m.t, file)+"\n"+block(m.t, "incremental = true"))
	}
}

func (m *matrix) edit(file, from, to string) {
	m.t.Helper()
	android.Edit(m.t, filepath.Join(m.dir, filepath.FromSlash(file)), from, to)
}

// clean removes what the build has made, as the task clean does.
func (m *matrix) clean() {
	m.t.Helper()
	for _, dir := range []string{"build", "app/build", "feed/build"} {
		if err := os.RemoveAll(filepath.Join(m.dir, filepath.FromSlash(dir))); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *matrix) mapping() string {
	return filepath.Join(m.dir, "app", "build", "outputs", "tracegen", "release", "methodMapping.txt")
}

// build builds the APK and the directory of the mappings, and checks that the calls and the digest of the mapping are
// in the APK.
func (m *matrix) build(name string) row {
	m.t.Helper()
	start := time.Now()
	log := gradle(m.t, m.gradle, m.dir, ":app:assembleRelease", ":app:collectTracegenReleaseMapping")
	r := m.rowOf(name, log, time.Since(start))
	apk := filepath.Join(m.dir, "app", "build", "outputs", "apk", "release", "app-release-unsigned.apk")
	m.readDex(&r, apk)
	collected := filepath.Join(m.dir, "app", "build", "outputs", "tracegen", "release", "mappings", r.digest)
	same(m.t, filepath.Join(collected, "methodMapping.txt"), m.mapping())
	same(m.t, filepath.Join(collected, "r8Mapping.txt"), filepath.Join(m.dir, "app", "build", "outputs", "mapping",
		"release", "mapping.txt"))
	m.rows = append(m.rows, r)
	return r
}

// rowOf returns what a build did.
func (m *matrix) rowOf(name string, log builds.Result, took time.Duration) row {
	m.t.Helper()
	r := row{plugin: m.setup.Plugin, way: m.way, name: name, took: took, reused: reused(log),
		why: calculating.FindString(log.Output)}
	for task := range log.Tasks {
		if outcome(log, task) == "executed" {
			r.executed++
		}
		r.all++
	}
	r.tracegen, r.r8 = outcome(log, ":app:tracegenRelease"), outcome(log, ":app:minifyReleaseWithR8")
	loaded, err := mapping.Load(m.mapping())
	if err != nil {
		m.t.Fatal(err)
	}
	r.digest = loaded.Digest()
	return r
}

// readDex reads the calls in an APK or bundle.
func (m *matrix) readDex(r *row, archive string) {
	m.t.Helper()
	dex := android.ReadDex(m.t, archive)
	r.entries, r.exits, r.dex = dex.Entries, dex.Exits, dex.Hash
	if dex.Entries < 100 || dex.Exits < dex.Entries {
		m.t.Errorf("%s: %d entry calls and %d exit calls in %s", r.name, dex.Entries, dex.Exits, filepath.Base(archive))
	}
	if dex.Digest != r.digest && !slices.Contains(dex.Strings, r.digest) {
		m.t.Errorf("%s: digest %q of %q in the dex files, that of the mapping is %s", r.name, dex.Digest, dex.Strings,
			r.digest)
	}
}

func (m *matrix) wantTask(r row, tracegen, r8 string) {
	m.t.Helper()
	if r.tracegen != tracegen || r.r8 != r8 {
		m.t.Errorf("%s: tracegen's task was %s and R8's %s, want %s and %s", r.name, r.tracegen, r.r8, tracegen, r8)
	}
}

func (m *matrix) wantReused(r row) {
	m.t.Helper()
	if !r.reused {
		m.t.Errorf("%s: the configuration cache was not reused: %s", r.name, r.why)
	}
}

func (m *matrix) wantDigest(r row) {
	m.t.Helper()
	if r.digest != m.digest {
		m.t.Errorf("%s: digest %s, the first build had %s", r.name, r.digest, m.digest)
	}
}

// wantIDs fails if a method of the base has another ID.
func (m *matrix) wantIDs(base, built string) {
	m.t.Helper()
	before, after := ids(m.t, base), ids(m.t, built)
	kept := 0
	for method, id := range before {
		if now, ok := after[method]; ok {
			kept++
			if now != id {
				m.t.Fatalf("%s has ID %s, and %s in the base", method, now, id)
			}
		}
	}
	if kept < len(before)/2 {
		m.t.Errorf("%d of %d methods of the base are in the mapping", kept, len(before))
	}
}

var calculating = regexp.MustCompile(`(?m)^Calculating task graph.*$`)

var mappingLine = regexp.MustCompile(`(?m)^(\d+),\d+,(.*)$`)

// ids returns the methods of a mapping with their IDs.
func ids(t *testing.T, file string) map[string]string {
	t.Helper()
	data := fixture.Read(t, file)
	all := map[string]string{}
	for _, match := range mappingLine.FindAllStringSubmatch(string(data), -1) {
		all[match[2]] = match[1]
	}
	return all
}

// bundle builds the app bundle.
func (m *matrix) bundle() {
	m.t.Helper()
	start := time.Now()
	log := gradle(m.t, m.gradle, m.dir, ":app:bundleRelease")
	r := m.rowOf("app bundle", log, time.Since(start))
	m.readDex(&r, filepath.Join(m.dir, "app", "build", "outputs", "bundle", "release", "app-release.aab"))
	m.wantTask(r, "UP-TO-DATE", "UP-TO-DATE")
	m.rows = append(m.rows, r)
}

// debug builds the variant that is not instrumented. It compiles against the no-op runtime.
func (m *matrix) debug() {
	m.t.Helper()
	log := gradle(m.t, m.gradle, m.dir, ":app:assembleDebug")
	if outcome(log, ":app:tracegenDebug") != "not run" {
		m.t.Error("the debuggable variant was instrumented")
	}
	dex := android.ReadDex(m.t, filepath.Join(m.dir, "app", "build", "outputs", "apk", "debug",
		"app-debug.apk"))
	if dex.Entries+dex.Exits != 0 {
		m.t.Errorf("%d entry calls and %d exit calls in the debuggable APK", dex.Entries, dex.Exits)
	}
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Error(err)
		return
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Error(err)
		return
	}
	if string(x) != string(y) {
		t.Errorf("%s and %s differ", a, b)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeTable writes the rows as Markdown into the file that TRACEGEN_MATRIX names.
func writeTable(t *testing.T, rows []row) {
	t.Helper()
	file := os.Getenv("TRACEGEN_MATRIX")
	if file == "" || len(rows) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("| plugin | Gradle | way | build | s | tracegen | R8 | tasks executed | configuration cache | digest " +
		"| entry calls | exit calls |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		cache := "stored"
		if r.reused {
			cache = "reused"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.0f | %s | %s | %d of %d | %s | %s | %d | %d |\n", r.plugin.Version,
			r.plugin.Gradle, r.way, r.name, r.took.Seconds(), r.tracegen, r.r8, r.executed, r.all, cache, r.digest, r.entries,
			r.exits)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}
