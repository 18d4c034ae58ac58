package project_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/project"
)

// FuzzBuildFile finds a project whose build file has any text.
//
// Invariant: Whatever a build file has, tracegen init names only files that are there.
func FuzzBuildFile(f *testing.F) {
	f.Add(`apply plugin: 'com.android.application'
matrix { trace { baseMethodMapFile = "${project.buildDir}/base.txt"
blackListFile = "${project.projectDir}/list.txt" } }`)
	f.Add("rheaTrace { compilation { applyMethodMappingFilePath = \"${project.rootDir}/base.txt\" } }")
	f.Add("matrix { blackListFile = '../../../../../etc/passwd' baseMethodMapFile = 'a\"b' }")
	f.Fuzz(func(t *testing.T, text string) {
		dir := tree(t, map[string]string{"build.gradle": text, "list.txt": "", "base.txt": ""})
		p, err := project.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != project.Android && p.Kind != project.Gradle {
			t.Errorf("kind %v", p.Kind)
		}
		for line := range strings.Lines(p.Config()) {
			if option, ok := strings.CutPrefix(line, "blocklist: [ "); ok {
				name, err := strconv.Unquote(strings.TrimSuffix(option, " ]\n"))
				if _, missing := os.Stat(filepath.Join(dir, name)); err != nil || missing != nil {
					t.Errorf("%q (%v, %v)", line, err, missing)
				}
			}
			if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\n\x00") {
				t.Errorf("%q", line)
			}
		}
	})
}
