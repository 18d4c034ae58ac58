package oracle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// fakeJDK makes a directory that featureOf takes for a JDK.
func fakeJDK(t *testing.T, parent, name, release string) string {
	t.Helper()
	home := filepath.Join(parent, name)
	j := JDK{Home: home}
	fixture.Directory(t, filepath.Dir(j.Tool("java")))
	for _, tool := range []string{"java", "javac"} {
		if err := os.WriteFile(j.Tool(tool), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if release != "" {
		fixture.Write(t, filepath.Join(home, "release"), release)
	}
	return home
}

func TestFindJDKs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := fakeJDK(t, root, "b", "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.2\"\n")
	fakeJDK(t, root, "a", "JAVA_VERSION=\"25\"\n")
	fakeJDK(t, root, "old", "JAVA_VERSION=\"1.8.0_402\"\n")
	fakeJDK(t, root, "broken", "")
	fakeJDK(t, root, "twice", "JAVA_VERSION=\"17.0.9\"\n")
	fixture.Directory(t, filepath.Join(root, "empty"))
	t.Setenv("JAVA_HOME", home)
	t.Setenv("PATH", "")
	jdks, err := FindJDKs()
	if err != nil {
		t.Fatal(err)
	}
	want := []JDK{{filepath.Join(root, "old"), 8}, {home, 17}, {filepath.Join(root, "a"), 25}}
	if len(jdks) != len(want) {
		t.Fatalf("found %v, want %v", jdks, want)
	}
	for k := range want {
		if jdks[k] != want[k] {
			t.Errorf("found %v, want %v", jdks[k], want[k])
		}
	}
	if j, err := FindJDK(18); err != nil || j.Feature != 25 {
		t.Errorf("FindJDK(18) = %v, %v", j, err)
	}
	if _, err := FindJDK(26); !errors.Is(err, ErrMissing) {
		t.Errorf("FindJDK(26): %v, want ErrMissing", err)
	}
	t.Setenv("JAVA_HOME", filepath.Join(root, "empty", "none"))
	if _, err := FindJDKs(); !errors.Is(err, ErrMissing) {
		t.Errorf("with no JDK: %v, want ErrMissing", err)
	}
}

func TestParseArtifact(t *testing.T) {
	tests := []struct {
		in   string
		want Artifact
		file string
	}{
		{"g:n:1", Artifact{Group: "g", Name: "n", Version: "1", Type: "jar"}, "g_n_1.jar"},
		{"g:n:aar:1", Artifact{Group: "g", Name: "n", Version: "1", Type: "aar"}, "g_n_1.aar"},
		{"g:n:jar:linux:1", Artifact{Group: "g", Name: "n", Version: "1", Type: "jar", Classifier: "linux"},
			"g_n_1_linux.jar"},
	}
	for _, tt := range tests {
		got, err := ParseArtifact(tt.in)
		if err != nil || got != tt.want || got.File() != tt.file {
			t.Errorf("%s: %+v %s %v, want %+v %s", tt.in, got, got.File(), err, tt.want, tt.file)
		}
	}
	for _, in := range []string{"", "g:n", "a:b:c:d:e:f"} {
		if _, err := ParseArtifact(in); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}
