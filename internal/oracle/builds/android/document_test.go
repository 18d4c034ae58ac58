package android_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// document is the page for those who build Android apps.
func document(t *testing.T) string {
	t.Helper()
	return string(readFile(t, filepath.Join("..", "..", "..", "..", "docs", "android.md")))
}

// blocks returns the indented blocks of the page, without their indentation.
func blocks(t *testing.T) []string {
	t.Helper()
	var all []string
	var b strings.Builder
	for line := range strings.Lines(document(t) + "\nend\n") {
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

// block returns the block of the page that contains a text.
func block(t *testing.T, text string) string {
	t.Helper()
	for _, b := range blocks(t) {
		if strings.Contains(b, text) {
			return b
		}
	}
	t.Fatalf("docs/android.md has no block with %q", text)
	return ""
}

// TestDocument compares the blocks of the page with the sample. The blocks that are not in it, and the commands, are
// those that TestMatrix runs.
func TestDocument(t *testing.T) {
	var files []string
	err := filepath.WalkDir(sample("android-app"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, string(readFile(t, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run := []string{"gradle :app:assembleRelease\n", "gradle :app:collectTracegenReleaseMapping\n",
		block(t, "incremental = true"), block(t, "base = file(")}
	all := blocks(t)
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
		t.Errorf("examples/android-app does not have this block of docs/android.md:\n%s", b)
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
