package gradle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const instrument = ":app:instrumentClasspath"

// TestProjects builds changed copies of the example, each for one thing.
//
// Invariant: the content of the binary, unless the user shares the build cache across platforms, and the files that
// tracegen.yml includes are inputs of the Gradle plugin's tasks.
func TestProjects(t *testing.T) {
	nightly.Only(t, "gradle")
	g := builds.NewGradle(t, "8.8", "jvm")
	repo := builds.Repository(t.Context(), t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, g builds.Gradle, repo string)
	}{
		{"mapping", testMapping},
		{"included", testIncluded},
		{"Kotlin", testKotlin},
		{"cancel", testCancel},
		// It changes the binary in the repository.
		{"binary", testBinary},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, g, repo) })
	}
}

// extend writes text at the end of a binary: it is another file then, and runs as before.
func extend(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("another build"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// testBinary runs builds with binaries that are found in different ways and replaced.
func testBinary(t *testing.T, g builds.Gradle, repo string) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	found, err := filepath.Glob(filepath.Join(repo, "dev", "tracegen", "tracegen", "*", "*.exe"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the repository has the binaries %v, want one: %v", found, err)
	}

	p := newProject(t, g, repo, filepath.Join(dir, "repository"), cache)
	want(t, p.build("instrumentedJar"), "EXECUTED", instrument)
	sums := p.outputs()

	data := fixture.Read(t, found[0])
	binary := filepath.Join(dir, "tracegen")
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	byPath := newProject(t, g, repo, filepath.Join(dir, "path"), filepath.Join(dir, "cache2"))
	byPath.add("app/build.gradle", "\ntracegen { executable = file('"+binary+"') }\n")
	want(t, byPath.build("instrumentedJar"), "EXECUTED", instrument)
	same(t, "the binary by its path", sums, byPath.outputs())
	extend(t, binary)
	want(t, byPath.build("instrumentedJar"), "EXECUTED", instrument)

	shared := newProject(t, g, repo, filepath.Join(dir, "shared"), cache)
	shared.add("app/build.gradle", "\ntracegen { shareCacheAcrossPlatforms = true }\n")
	want(t, shared.build("instrumentedJar"), "EXECUTED", instrument)
	extend(t, found[0])
	want(t, shared.build("instrumentedJar"), "UP-TO-DATE", instrument)
	want(t, p.build("instrumentedJar"), "EXECUTED", instrument)
}

// testIncluded changes a file that tracegen.yml includes.
func testIncluded(t *testing.T, g builds.Gradle, repo string) {
	dir := t.TempDir()
	p := newProject(t, g, repo, filepath.Join(dir, "one"), filepath.Join(dir, "cache"))
	p.add("tracegen.yml", "include:\n  - 'more.yml' # further rules\n")
	p.add("more.yml", "rules:\n  - block: com.google.gson.stream.**\n")
	want(t, p.build("instrumentedJar"), "EXECUTED", instrument)
	before := len(p.methods())
	want(t, p.build("instrumentedJar"), "UP-TO-DATE", instrument)
	p.add("more.yml", "  - block: com.google.gson.reflect.**\n")
	want(t, p.build("instrumentedJar"), "EXECUTED", instrument)
	if after := len(p.methods()); after >= before {
		t.Errorf("%d methods were traced before the rule was added, and %d after", before, after)
	}
}

// testMapping takes the mapping from another project, publishes it, and puts it into an archive.
func testMapping(t *testing.T, g builds.Gradle, repo string) {
	dir := t.TempDir()
	p := newProject(t, g, repo, filepath.Join(dir, "one"), filepath.Join(dir, "cache"))
	p.add("build.gradle", `
configurations { mapping }
dependencies { mapping project(path: ':app', configuration: 'tracegenMapping') }
tasks.register('copyMapping', Copy) { from configurations.mapping; into 'copied' }
`)
	p.edit("app/build.gradle", "id 'application'", "id 'application'\n    id 'maven-publish'")
	p.add("app/build.gradle", `
group = 'com.example'
version = '1.2'
tracegen { publishMapping = true; archive = 'mappings' }
publishing {
    publications { app(MavenPublication) { from components.java } }
    repositories { maven { url = rootProject.file('published') } }
}
`)
	r := p.build("copyMapping", ":app:publish", ":app:uploadTracegenMapping")
	if !strings.Contains(r.Output, "pushed: mapping ") || !strings.Contains(r.Output, ", version 1.2, ") {
		t.Errorf("the mapping was not put into the archive:\n%s", r.Output)
	}
	if _, err := os.Stat(p.path("app/mappings/tracegen-archive")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"copied/methodMapping.txt",
		"published/com/example/app/1.2/app-1.2-tracegen-mapping.txt"} {
		data, err := os.ReadFile(p.path(name))
		if err != nil {
			t.Error(err)
		} else if string(data) != p.mapping() {
			t.Errorf("%s is not the mapping", name)
		}
	}
}

// testKotlin builds a program in Kotlin and Java, with the plugin applied before that of Kotlin.
func testKotlin(t *testing.T, g builds.Gradle, repo string) {
	dir := t.TempDir()
	p := newProject(t, g, repo, filepath.Join(dir, "one"), filepath.Join(dir, "cache"))
	p.edit("app/build.gradle", `    id 'application'
    id 'dev.tracegen'
`, `    id 'dev.tracegen'
    id 'org.jetbrains.kotlin.jvm' version '1.9.24'
    id 'application'
`)
	fixture.Directory(t, p.path("app/src/main/kotlin"))
	p.add("app/src/main/kotlin/Sums.kt", `package com.example.app
object Sums { fun until(n: Int): Int = (0 until n).filter { it % 2 == 0 }.map { it * it }.sum() }
`)
	p.build("instrumentedJar", "-Pkotlin.compiler.execution.strategy=in-process")
	if !strings.Contains(p.mapping(), "com.example.app.Sums until") {
		t.Errorf("the mapping lacks the method that is in Kotlin:\n%s", p.mapping())
	}
}

// testCancel cancels a build while the binary runs: the process must end.
func testCancel(t *testing.T, g builds.Gradle, repo string) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: there are no signals")
	}
	dir := t.TempDir()
	p := newProject(t, g, repo, filepath.Join(dir, "one"), filepath.Join(dir, "cache"))
	script, pidFile := filepath.Join(dir, "tracegen"), filepath.Join(dir, "pid")
	text := "#!/bin/sh\necho $$ $PPID > " + pidFile + ".tmp\nmv " + pidFile + ".tmp " + pidFile + "\nexec sleep 600\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	p.add("app/build.gradle", "\ntracegen { executable = file('"+script+"') }\n")
	cmd, err := g.Command(t.Context(), p.dir, append(p.args, "instrumentedJar")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var binary, daemon *os.Process
	wait(t, "the binary to be started", func() bool {
		data, err := os.ReadFile(pidFile)
		if err != nil {
			return false
		}
		var pid, parent int
		if _, err := fmt.Sscan(string(data), &pid, &parent); err != nil {
			t.Fatalf("the binary has written %q: %v", data, err)
		}
		binary, _ = os.FindProcess(pid)
		daemon, _ = os.FindProcess(parent)
		return true
	})
	ended := func(p *os.Process) func() bool {
		return func() bool { return p.Signal(syscall.Signal(0)) != nil }
	}
	t.Cleanup(func() {
		_ = binary.Kill()
		// Gradle's client ends before the daemon, which still writes below the directory that is then removed.
		_ = daemon.Signal(syscall.SIGTERM)
		wait(t, "the daemon to end", ended(daemon))
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	wait(t, "the binary to be ended", ended(binary))
}

// wait waits until a condition is true, for some minutes at most.
func wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("waited five minutes for %s", what)
}
