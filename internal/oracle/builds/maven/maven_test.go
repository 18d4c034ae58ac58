package maven

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const root = "../../../.."

// buildLimit ends a command that hangs. A loaded machine needs a small part of it.
const buildLimit = 15 * time.Minute

// require skips the test unless the tools are there.
func require(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: release/maven-repository is a script for bash")
	}
	for _, tool := range []string{"bash", "mvn", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			oracle.Require(t, fmt.Errorf("no %s on PATH: %w", tool, oracle.ErrMissing))
		}
	}
}

// unreachable is in Maven's output if a server with plugins or dependencies of others cannot be reached.
var unreachable = regexp.MustCompile(`Could not transfer artifact|Unknown host|Connection refused`)

// run runs a command and returns what it printed. If it fails, the test ends with the last lines.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if line := unreachable.FindString(string(out)); line != "" {
			oracle.Require(t, fmt.Errorf("%s %s: %s: %w", name, strings.Join(args, " "), line, oracle.ErrMissing))
		}
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, strings.Join(lines[max(0, len(lines)-80):], "\n"))
	}
	return string(out)
}

// repository returns a directory that release/maven-repository has written.
func repository(t *testing.T, flags ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository")
	run(t, root, nil, "bash", append([]string{"release/maven-repository", dir}, flags...)...)
	return dir
}

// localRepository returns the local repository of all builds of this working tree, which keeps the plugins of others.
// It holds no artifact of tracegen.
func localRepository(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(here))
	dir, err := oracle.CacheDir("maven-local-" + hex.EncodeToString(sum[:4]))
	oracle.Require(t, err)
	if err := os.RemoveAll(filepath.Join(dir, "dev", "tracegen")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copySources copies a directory of the repository without what builds have written.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, from), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == "target" {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(filepath.Join(root, from), path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		return os.WriteFile(dest, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestInvoker runs the unit tests of the plugin, and builds the projects in maven/src/it with it.
//
// Invariant: The Maven plugin instruments a jar with its dependencies, and what it writes runs, is installed with the
// project, and is not written again if nothing has changed.
func TestInvoker(t *testing.T) {
	nightly.Only(t, "tools")
	require(t)
	dir := t.TempDir()
	copySources(t, "maven", dir)
	args := []string{"-B", "-ntp", "verify", "-Dtracegen.repository=" + repository(t),
		"-Dit.localRepository=" + localRepository(t)}
	if !builds.Full() {
		args = append(args, "-Dinvoker.test=parent,simple-jar")
	}
	out := run(t, dir, nil, "mvn", args...)
	want := 2
	if builds.Full() {
		projects, err := filepath.Glob(filepath.Join(root, "maven/src/it/*/pom.xml"))
		if err != nil {
			t.Fatal(err)
		}
		want = len(projects)
	}
	if summary := fmt.Sprintf("Passed: %d, Failed: 0, Errors: 0, Skipped: 0", want); !strings.Contains(out, summary) {
		t.Errorf("the invoker did not report %q:\n%s", summary, out)
	}
}

// indented returns the indented blocks of a document, without their indentation.
func indented(t *testing.T, doc string) []string {
	t.Helper()
	data := fixture.Read(t, filepath.Join(root, doc))
	var blocks []string
	inside := false
	for line := range strings.Lines(string(data)) {
		text, code := strings.CutPrefix(line, "    ")
		switch {
		case !code:
			inside = false
		case inside:
			blocks[len(blocks)-1] += text
		default:
			inside = true
			blocks = append(blocks, text)
		}
	}
	return blocks
}

var blanks = regexp.MustCompile(`\s+`)

// TestDocumentIsTheExample runs the commands of docs/maven.md in examples/maven-app, in their order, and checks that
// every other snippet of the page is a part of a file of the example.
//
// Invariant: Every snippet of docs/maven.md is a part of examples/maven-app, and every command there runs.
func TestDocumentIsTheExample(t *testing.T) {
	nightly.Only(t, "tools")
	require(t)
	dir := t.TempDir()
	app := filepath.Join(dir, "app")
	copySources(t, "examples/maven-app", app)
	var files []string
	for _, name := range []string{"pom.xml", "classes-pom.xml", "tracegen.yml"} {
		data := fixture.Read(t, filepath.Join(app, name))
		files = append(files, blanks.ReplaceAllString(string(data), " "))
	}
	mvn := mavenInDirectory(t, dir)
	commands := 0
	for _, block := range indented(t, "docs/maven.md") {
		if !strings.HasPrefix(block, "mvn ") {
			snippet := strings.TrimSpace(blanks.ReplaceAllString(block, " "))
			if !slices.ContainsFunc(files, func(f string) bool { return strings.Contains(f, snippet) }) {
				t.Errorf("docs/maven.md: no file of examples/maven-app has this snippet:\n%s", block)
			}
			continue
		}
		commands++
		out := run(t, app, mvn, "bash", "-e", "-c", block)
		switch commands {
		case 1:
			for _, want := range []string{"1000 orders", "Runs: main", "openStore", "report.html"} {
				if !strings.Contains(out, want) {
					t.Errorf("the first commands of docs/maven.md did not print %q:\n%s", want, out)
				}
			}
			if readme := indented(t, "examples/maven-app/README.md"); readme[0] != block {
				t.Errorf("the README of the example has other commands than docs/maven.md:\n%s", readme[0])
			}
			page, err := os.ReadFile(filepath.Join(app, "target/tracegen/report.html"))
			if err != nil || !bytes.Contains(page, []byte("openStore")) {
				t.Errorf("the page has no openStore: %v", err)
			}
		case 4:
			class, err := os.ReadFile(filepath.Join(app, "target/tracegen/classes/example/App.class"))
			if err != nil || !bytes.Contains(class, []byte("dev/tracegen/runtime/AppMethodBeat")) {
				t.Errorf("instrument-classes did not instrument App: %v", err)
			}
		}
	}
	if commands != 4 {
		t.Errorf("docs/maven.md has %d blocks of commands, and this test expects 4", commands)
	}
}

// mavenInDirectory returns variables of the environment with which mvn resolves tracegen from a repository below dir.
func mavenInDirectory(t *testing.T, dir string) []string {
	t.Helper()
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Fatal(err)
	}
	settings := fixture.Read(t, filepath.Join(root, "maven/src/it/settings.xml"))
	settings = bytes.ReplaceAll(settings, []byte("@tracegen.repository@"), []byte(repository(t)))
	bin := filepath.Join(dir, "bin")
	fixture.Directory(t, bin)
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' -B -ntp -s '%s/settings.xml' '-Dmaven.repo.local=%s' \"$@\"\n", mvn, dir,
		localRepository(t))
	fixture.Write(t, filepath.Join(dir, "settings.xml"), settings)
	if err := os.WriteFile(filepath.Join(bin, "mvn"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// published are the files of a release that are in none of its directories without --all, or that only some have.
var (
	platforms = []string{"linux-x86_64", "linux-aarch_64", "osx-x86_64", "osx-aarch_64", "windows-x86_64",
		"windows-aarch_64"}
	jars = []string{"tracegen-runtime", "tracegen-runtime-core", "tracegen-runtime-report", "tracegen-runtime-matrix",
		"tracegen-runtime-noop", "tracegen-maven-plugin"}
)

// TestRepository checks the directory that release/maven-repository writes: the files, their checksums, and what
// Maven Central wants in a POM.
//
// Invariant: Every published POM has what Maven Central wants, and every published file its checksums.
func TestRepository(t *testing.T) {
	nightly.Only(t, "tools")
	require(t)
	var flags []string
	if builds.Full() {
		flags = []string{"--all"}
	}
	dir := filepath.Join(repository(t, flags...), "dev", "tracegen")
	version := releaseOf(t)
	want := map[string]bool{}
	expect := func(artifact, suffix string) {
		want[filepath.Join(artifact, version, artifact+"-"+version+suffix)] = true
	}
	artifacts := append([]string{"tracegen", "tracegen-runtime-android"}, jars...)
	named := jars
	if _, err := os.Stat(filepath.Join(root, "gradle/pom.xml")); err == nil {
		named = append(slices.Clone(jars), "tracegen-gradle-plugin")
		artifacts = append(artifacts, "tracegen-gradle-plugin", "dev.tracegen.gradle.plugin")
	}
	for _, a := range artifacts {
		expect(a, ".pom")
	}
	for _, a := range named {
		expect(a, ".jar")
	}
	expect("tracegen-runtime-android", ".aar")
	if flags == nil {
		found, err := filepath.Glob(filepath.Join(dir, "tracegen", version, "*.exe"))
		if err != nil || len(found) != 1 {
			t.Fatalf("binaries: %v %v, want one", found, err)
		}
		want[filepath.Join("tracegen", version, filepath.Base(found[0]))] = true
	} else {
		for _, p := range platforms {
			expect("tracegen", "-"+p+".exe")
		}
		for _, a := range append(slices.Clone(named), "tracegen-runtime-android") {
			expect(a, "-sources.jar")
			expect(a, "-javadoc.jar")
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "maven-metadata.xml"):
			return err
		case slices.Contains([]string{".md5", ".sha1", ".sha256"}, filepath.Ext(name)):
			return checkSum(path)
		case !want[name]:
			t.Errorf("unexpected: %s", name)
		}
		delete(want, name)
		for _, sum := range []string{".md5", ".sha1", ".sha256"} {
			if _, err := os.Stat(path + sum); err != nil {
				t.Errorf("%s has no %s", name, sum)
			}
		}
		if filepath.Ext(name) == ".pom" {
			for _, fault := range pomFaults(t, path) {
				t.Errorf("%s: %s", name, fault)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("missing: %s", name)
	}
}

func releaseOf(t *testing.T) string {
	t.Helper()
	source := fixture.Read(t, filepath.Join(root, "internal/cli/version.go"))
	m := regexp.MustCompile(`(?m)^const Release = "(.*)"$`).FindSubmatch(source)
	if m == nil {
		t.Fatal("internal/cli/version.go has no release")
	}
	return string(m[1])
}

// checkSum compares a file of a checksum with the file that it is for.
func checkSum(path string) error {
	hashes := map[string]hash.Hash{".md5": md5.New(), ".sha1": sha1.New(), ".sha256": sha256.New()}
	ext := filepath.Ext(path)
	want, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(strings.TrimSuffix(path, ext))
	if err != nil {
		return err
	}
	h := hashes[ext]
	h.Write(data)
	if got := hex.EncodeToString(h.Sum(nil)); got != string(want) {
		return fmt.Errorf("%s: is %s, want %s", path, want, got)
	}
	return nil
}

// pomFaults returns what Maven Central would refuse in a POM.
func pomFaults(t *testing.T, path string) []string {
	t.Helper()
	var pom struct {
		Parent *struct{} `xml:"parent"`
		Fields []struct {
			XMLName xml.Name
			Text    string `xml:",innerxml"`
		} `xml:",any"`
	}
	data := fixture.Read(t, path)
	if err := xml.Unmarshal(data, &pom); err != nil {
		return []string{err.Error()}
	}
	has := map[string]int{}
	for _, f := range pom.Fields {
		if strings.TrimSpace(f.Text) != "" {
			has[f.XMLName.Local]++
		}
	}
	var faults []string
	if pom.Parent != nil {
		faults = append(faults, "has a parent, which is not published")
	}
	for _, field := range []string{"groupId", "artifactId", "version", "name", "description", "url", "licenses",
		"developers", "scm"} {
		if has[field] != 1 {
			faults = append(faults, fmt.Sprintf("has %d times %s, want 1", has[field], field))
		}
	}
	return faults
}

// TestRepositoryIsReproducible builds the repository twice, the second time without what is kept, and compares.
//
// Invariant: The same sources make the same published files, except for the times in maven-metadata.xml.
func TestRepositoryIsReproducible(t *testing.T) {
	nightly.Only(t, "tools")
	builds.RequireFull(t)
	require(t)
	one := repository(t, "--all")
	goCache := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOCACHE"))
	two := filepath.Join(t.TempDir(), "repository")
	run(t, root, []string{"XDG_CACHE_HOME=" + t.TempDir(), "GOCACHE=" + goCache}, "bash", "release/maven-repository", two,
		"--all")
	files := 0
	err := filepath.WalkDir(one, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "maven-metadata.xml") {
			return err
		}
		name, err := filepath.Rel(one, path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(two, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
		files++
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files compared: %v", files, err)
	}
}
