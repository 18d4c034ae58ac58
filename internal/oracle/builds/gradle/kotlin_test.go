package gradle_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// kotlinPlugins are the plugins of the compiler with which Gradle compiles build files, and what each gets.
var kotlinPlugins = []struct{ name, option string }{
	{"kotlin-assignment-compiler-plugin-embeddable",
		"plugin:org.jetbrains.kotlin.assignment:annotation=org.gradle.api.SupportsKotlinAssignmentOverloading"},
	{"kotlin-sam-with-receiver-compiler-plugin-embeddable",
		"plugin:org.jetbrains.kotlin.samWithReceiver:annotation=org.gradle.api.HasImplicitReceiver"},
}

// TestKotlinBlocks compiles the blocks of the pages that set something, as a build file in Kotlin would, against the
// plugin and Gradle's API. No build file in Kotlin can run here (package builds). The builds of the other tests run
// these blocks in Groovy.
func TestKotlinBlocks(t *testing.T) {
	nightly.Only(t, "gradle")
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	cache, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	const version = "2.2.20"
	var artifacts []oracle.Artifact
	for _, name := range []string{"kotlin-stdlib:" + version, "kotlin-compiler-embeddable:" + version,
		"kotlin-script-runtime:" + version, "kotlin-daemon-embeddable:" + version, "kotlin-reflect:1.6.10",
		"org.jetbrains.intellij.deps:trove4j:1.0.20200330",
		"org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.0", "org.jetbrains:annotations:13.0",
		"dev.gradleplugins:gradle-api:8.8", "org.codehaus.groovy:groovy:3.0.21",
		kotlinPlugins[0].name + ":" + version, kotlinPlugins[1].name + ":" + version} {
		parts := strings.Split(name, ":")
		if len(parts) == 2 {
			parts = append([]string{"org.jetbrains.kotlin"}, parts...)
		}
		artifacts = append(artifacts, oracle.Artifact{Group: parts[0], Name: parts[1], Version: parts[2], Type: "jar"})
	}
	oracle.Require(t, oracle.FetchMaven(t.Context(), cache, artifacts))
	var files []string
	for _, a := range artifacts {
		files = append(files, filepath.Join(cache, a.File()))
	}
	jars, err := filepath.Glob(filepath.Join(builds.Repository(t.Context(), t),
		"dev/tracegen/tracegen-gradle-plugin/*/*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("the repository has the plugins %v: %v", jars, err)
	}
	path := append(jars, files[0], files[8], files[9])
	arguments := []string{"-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", list(files[:8]),
		"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-cp", list(path)}
	for i, plugin := range kotlinPlugins {
		arguments = append(arguments, "-Xplugin="+files[10+i], "-P", plugin.option)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "Blocks.kt")
	fixture.Write(t, source, kotlinBlocks(t))
	arguments = append(arguments, "-d", filepath.Join(dir, "out"), filepath.Join("testdata", "Prelude.kt"), source)
	if out, err := exec.CommandContext(t.Context(), j.Tool("java"), arguments...).CombinedOutput(); err != nil {
		t.Errorf("kotlin: %v\n%s", err, out)
	}
}

func list(paths []string) string { return strings.Join(paths, string(filepath.ListSeparator)) }

// kotlinBlocks returns a file with a class for each block of the pages that is for a build file.
func kotlinBlocks(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	found := 0
	for _, page := range []string{"android.md", "gradle.md"} {
		data := fixture.Read(t, filepath.Join("..", "..", "..", "..", "docs", page))
		for _, block := range strings.Split(string(data), "\n\n") {
			code := strings.TrimLeft(block, "\n")
			if strings.HasPrefix(code, "    tracegen {") || strings.HasPrefix(code, "    tasks.") ||
				strings.HasPrefix(code, "    val ") {
				found++
				fmt.Fprintf(&b, "abstract class Block%d(project: org.gradle.api.Project) : BuildFile(project) { init {\n%s\n} }\n",
					found, code)
			}
		}
	}
	if found < 9 {
		t.Errorf("only %d blocks are found in the pages", found)
	}
	return b.String()
}
