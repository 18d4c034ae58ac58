package android_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// The pages for those who write Android apps, and for those who build them.
const (
	appPage     = "docs/app.md"
	androidPage = "docs/android.md"
)

// root is the path to a file of the repository.
func root(file string) string { return filepath.Join("..", "..", "..", "..", filepath.FromSlash(file)) }

// blocks returns the indented blocks of a page, without their indentation.
func blocks(t *testing.T, page string) []string {
	t.Helper()
	var all []string
	var b strings.Builder
	for line := range strings.Lines(string(fixture.Read(t, root(page))) + "\nend\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case indented:
			b.WriteString(code)
		case strings.TrimSpace(line) == "" && b.Len() > 0:
			b.WriteString("\n")
		case b.Len() > 0:
			all = append(all, strings.TrimRight(b.String(), "\n")+"\n")
			b.Reset()
		}
	}
	return all
}

// block returns the block of [androidPage] that contains a text.
func block(t *testing.T, text string) string {
	t.Helper()
	for _, b := range blocks(t, androidPage) {
		if strings.Contains(b, text) {
			return b
		}
	}
	t.Fatalf("%s has no block with %q", androidPage, text)
	return ""
}

// TestDocument compares the blocks of the page with the samples. The blocks that are not in them, and the commands, are
// those that TestMatrix, TestFlavors, TestScope and TestArtifacts run; the profile's are also run without a build.
func TestDocument(t *testing.T) {
	files := sampleFiles(t)
	run := []string{"gradle :app:assembleRelease\n", "gradle :app:collectTracegenReleaseMapping\n",
		"gradle :app:uploadTracegenReleaseMapping\n",
		block(t, "incremental = true"), block(t, "base = file("), block(t, `scope = "own"`),
		block(t, "of libraries are traced"), block(t, "--profile app/tracegen-profile.txt"), block(t, "profile: ["), block(t, `gradleProperty("plain")`),
		block(t, "bundleRelease -Pplain")}
	all := blocks(t, androidPage)
	if len(all) < 6 {
		t.Errorf("%d blocks found", len(all))
	}
next:
	for _, b := range all {
		for _, text := range append(files, run...) {
			if strings.Contains(text, b) {
				continue next
			}
		}
		t.Errorf("no sample has this block of %s:\n%s", androidPage, b)
	}
}

// TestAppPage looks for each line of code of the page in the samples, and for each property in the runtime.
func TestAppPage(t *testing.T) {
	code := strings.Join(sampleFiles(t), "\n")
	config := string(fixture.Read(t,
		root("runtime-java/core/src/main/java/dev/tracegen/runtime/RecorderOptions.java")))
	lines := 0
	for _, b := range blocks(t, appPage) {
		for line := range strings.Lines(b) {
			line = strings.TrimSpace(line)
			program, _, _ := strings.Cut(line, " ")
			if line == "" || program == "./gradlew" || program == "adb" || program == "tracegen" {
				continue
			}
			lines++
			if strings.Contains(code, line) {
				continue
			}
			if key, _, isProperty := strings.Cut(line, " = "); !isProperty {
				t.Errorf("%s: no sample has the line %s", appPage, line)
			} else if !strings.Contains(config, "\n *   "+key+" ") {
				t.Errorf("%s: RecorderOptions does not have the property %s", appPage, key)
			}
		}
	}
	if lines < 15 {
		t.Errorf("only %d lines of code are found in %s", lines, appPage)
	}
}

// sampleFiles returns the contents of the files of the samples.
func sampleFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, name := range []string{"android-app", "android-flavors"} {
		err := filepath.WalkDir(sample(name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files = append(files, string(fixture.Read(t, path)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
