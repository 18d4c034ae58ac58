package gradle_test

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
)

// bouncyCastle are the modules, each with those that it depends on: 6,244 classes in all.
var bouncyCastle = []struct {
	name string
	uses []string
}{
	{"bcprov", nil},
	{"bcutil", []string{"bcprov"}},
	{"bcpkix", []string{"bcprov", "bcutil"}},
	{"bctls", []string{"bcprov", "bcutil", "bcpkix"}},
}

const (
	bouncyCastleVersion = "1.78.1"
	// changedFile is the file of one class that is changed before a build.
	changedFile = "bcprov/src/main/java/org/bouncycastle/util/Strings.java"
	// benchRepeats is how often each build is made. The medians are printed.
	benchRepeats = 3
)

// TestBouncyCastle measures how long a build of four modules takes with and without tracegen: with a new daemon, with
// a warm one, and after a change of one file. It needs a quiet machine, so it runs only if TRACEGEN_GRADLE_BENCH names
// the file into which it writes the table, as Markdown.
func TestBouncyCastle(t *testing.T) {
	table := os.Getenv("TRACEGEN_GRADLE_BENCH")
	if table == "" {
		t.Skip("skipped: TRACEGEN_GRADLE_BENCH does not name a file for the times of builds")
	}
	g := builds.NewGradle(t, "8.8", "bench")
	b := &benchmark{t: t, gradle: g, repository: builds.Repository(t.Context(), t), times: map[string][]time.Duration{}}
	b.fetchSources()
	ways := []string{"without", "one run", "in parts"}
	for range benchRepeats {
		for _, way := range ways { // all take turns, so that a change of the machine's speed concerns all
			b.measure(way)
		}
	}
	states := []string{"cold daemon", "warm daemon", "one file changed", "nothing changed"}
	var text strings.Builder
	fmt.Fprintf(&text, "Gradle %s, medians of %d builds, seconds.\n\n| build | %s |\n|---|---|---|---|\n", g.Version,
		benchRepeats, strings.Join(ways, " | "))
	for _, state := range states {
		fmt.Fprintf(&text, "| %s |", state)
		for _, way := range ways {
			fmt.Fprintf(&text, " %.1f |", b.median(way, state))
		}
		text.WriteString("\n")
	}
	if err := os.WriteFile(table, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// benchmark builds copies of Bouncy Castle.
type benchmark struct {
	t                   *testing.T
	gradle              builds.Gradle
	repository, sources string
	times               map[string][]time.Duration // by way and state
}

// fetchSources writes the sources of all modules, as Maven projects have them, below one directory.
func (b *benchmark) fetchSources() {
	b.t.Helper()
	cache, err := oracle.CacheDir("bouncycastle")
	oracle.Require(b.t, err)
	var wanted []oracle.Artifact
	for _, m := range bouncyCastle {
		wanted = append(wanted, oracle.Artifact{Group: "org.bouncycastle", Name: m.name + "-jdk18on",
			Version: bouncyCastleVersion, Classifier: "sources", Type: "jar"})
	}
	oracle.Require(b.t, oracle.FetchMaven(b.t.Context(), cache, wanted))
	b.sources = b.t.TempDir()
	for i, m := range bouncyCastle {
		main := filepath.Join(b.sources, m.name, "src", "main", "java")
		if err := unpackJava(filepath.Join(cache, wanted[i].File()), main); err != nil {
			b.t.Fatal(err)
		}
		text := "plugins {\n    id 'java-library'\n}\n\ndependencies {\n"
		for _, used := range m.uses {
			text += "    api project(':" + used + "')\n"
		}
		text += "}\n\ntasks.withType(JavaCompile).configureEach {\n    options.encoding = 'UTF-8'\n" +
			"    options.compilerArgs = ['-nowarn', '-Xlint:none']\n}\n"
		if err := os.WriteFile(filepath.Join(b.sources, m.name, "build.gradle"), []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// unpackJava writes the .java files of an archive, without those for newer releases of Java.
func unpackJava(archive, to string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".java") || strings.HasPrefix(f.Name, "META-INF/") ||
			filepath.Base(f.Name) == "module-info.java" {
			continue
		}
		file := filepath.Join(to, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(in)
		in.Close()
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// measure makes a copy of the project and builds it in all states.
func (b *benchmark) measure(way string) {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "bc")
	if err := os.CopyFS(dir, os.DirFS(b.sources)); err != nil {
		b.t.Fatal(err)
	}
	b.settings(dir, way)
	task := "jar" // of all modules, because instrumentedJar needs them too
	if way != "without" {
		task = ":bctls:instrumentedJar"
	}
	b.gradle.Run(b.t, dir, "--stop")
	b.build(dir, way, "cold daemon", task)
	b.gradle.Build(b.t, dir, "clean")
	b.build(dir, way, "warm daemon", task)
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(changedFile)))
	if err != nil {
		b.t.Fatal(err)
	}
	// One private method more: the class changes, and what others see of it does not.
	i := strings.LastIndex(string(data), "}")
	changed := string(data[:i]) + "\n    private static int added(int x) { return x * 31 + 7; }\n}\n"
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(changedFile)), []byte(changed), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.build(dir, way, "one file changed", task)
	b.build(dir, way, "nothing changed", task)
}

// settings writes the settings, and applies the plugin unless the way is without it.
func (b *benchmark) settings(dir, way string) {
	b.t.Helper()
	var names []string
	for _, m := range bouncyCastle {
		names = append(names, "':"+m.name+"'")
	}
	text := fmt.Sprintf("pluginManagement {\n    repositories {\n        maven { url = uri('%s') }\n"+
		"        mavenCentral()\n    }\n}\ndependencyResolutionManagement {\n    repositories {\n"+
		"        maven { url = uri('%s') }\n        mavenCentral()\n    }\n}\nrootProject.name = 'bc'\ninclude %s\n",
		b.repository, b.repository, strings.Join(names, ", "))
	if err := os.WriteFile(filepath.Join(dir, "settings.gradle"), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if way == "without" {
		return
	}
	file := filepath.Join(dir, "bctls", "build.gradle")
	data, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	build := strings.Replace(string(data), "    id 'java-library'\n",
		"    id 'java-library'\n    id 'dev.tracegen' version '0.1.0'\n", 1)
	build += fmt.Sprintf("\ntracegen {\n    incremental = %v\n}\n", way == "in parts")
	if err := os.WriteFile(file, []byte(build), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *benchmark) build(dir, way, state, task string) {
	b.t.Helper()
	start := time.Now()
	b.gradle.Build(b.t, dir, "--no-build-cache", task)
	took := time.Since(start)
	b.times[way+"/"+state] = append(b.times[way+"/"+state], took)
	b.t.Logf("%s, %s: %.1f s", way, state, took.Seconds())
}

func (b *benchmark) median(way, state string) float64 {
	times := slices.Sorted(slices.Values(b.times[way+"/"+state]))
	return times[len(times)/2].Seconds()
}
