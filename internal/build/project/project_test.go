package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/project"
)

// tree writes files, by name, below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFind looks at projects of every kind.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		kind    project.Kind
		file    string
		lists   []string
		bases   []string
		command string
	}{
		{name: "Android", files: map[string]string{"settings.gradle": "include ':app'",
			"app/build.gradle": "apply plugin: 'com.android.application'"}, kind: project.Android, file: "app/build.gradle",
			command: "./gradlew assembleRelease"},
		{name: "Android with a catalogue", files: map[string]string{"settings.gradle.kts": "",
			"gradle/libs.versions.toml": `application = { id = "com.android.application", version.ref = "agp" }`},
			kind: project.Android, file: "gradle/libs.versions.toml", command: "./gradlew assembleRelease"},
		{name: "Matrix", files: map[string]string{"build.gradle": "buildscript { }", "app/build.gradle": `
plugins { id("com.android.application") }
apply plugin: 'com.tencent.matrix-plugin'
matrix {
    trace {
        enable = true
        baseMethodMapFile = "${project.buildDir}/matrix_output/Debug.methodmap"
        blackListFile = "${project.projectDir}/matrixTrace/blackMethodList.txt"
    }
}`, "app/matrixTrace/blackMethodList.txt": "-keeppackage a/"}, kind: project.Android, file: "app/build.gradle",
			lists: []string{"app/matrixTrace/blackMethodList.txt"}, command: "./gradlew assembleRelease"},
		{name: "btrace", files: map[string]string{"build.gradle": "", "app/build.gradle": `id 'com.android.application'
rheaTrace {
    compilation {
        traceFilterFilePath = "${project.rootDir}/trace-filter/traceFilter.txt"
        applyMethodMappingFilePath = "${project.rootDir}/keep/methodMapping.txt"
    }
}`, "keep/methodMapping.txt": "1,1,a.B c ()V"}, kind: project.Android, file: "app/build.gradle",
			bases: []string{"keep/methodMapping.txt"}, command: "./gradlew assembleRelease"},
		{name: "Gradle", files: map[string]string{"build.gradle.kts": `plugins { application }`, "build/libs/x.jar": "",
			"build/libs/x-sources.jar": ""}, kind: project.Gradle, file: "build.gradle.kts",
			command: "tracegen record -- java -jar build/libs/x.jar"},
		{name: "Gradle, not built", files: map[string]string{"build.gradle": ""}, kind: project.Gradle, file: "build.gradle",
			command: "tracegen record -- java -jar build/libs/app.jar"},
		{name: "Maven", files: map[string]string{"pom.xml": "<project/>", "target/x-1.jar": "",
			"target/original-x-1.jar": ""},
			kind: project.Maven, file: "pom.xml", command: "tracegen record -- java -jar target/x-1.jar"},
		{name: "Bazel", files: map[string]string{"MODULE.bazel": ""}, kind: project.Bazel, file: "MODULE.bazel",
			command: "tracegen record -- java -jar bazel-bin/app.jar"},
		{name: "an archive", files: map[string]string{"tool.jar": ""}, kind: project.Archives, file: "tool.jar",
			command: "tracegen record -- java -jar tool.jar"},
		{name: "nothing", files: map[string]string{"README": ""}, command: "tracegen record -- java -jar app.jar"},
	} {
		p, err := project.Find(tree(t, c.files))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_, command := p.Next()
		if p.Kind != c.kind || p.File != c.file || !slices.Equal(p.BlockLists, c.lists) || !slices.Equal(p.Bases, c.bases) ||
			command != c.command {
			t.Errorf("%s: found %+v; next is %s", c.name, p, command)
		}
		if !strings.Contains(p.Config(), p.Title()) {
			t.Errorf("%s: the file does not say what was found", c.name)
		}
	}
	if _, err := project.Find(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing directory is no error")
	}
}
