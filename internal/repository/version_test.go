package repository

import (
	"encoding/xml"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// pom is what the test of versions reads of a pom.xml.
type pom struct {
	Group   string `xml:"groupId"`
	Version string `xml:"version"`
	Parent  struct {
		Group   string `xml:"groupId"`
		Version string `xml:"version"`
	} `xml:"parent"`
}

// goRelease finds the version in the sources of the program.
var goRelease = regexp.MustCompile(`(?m)^const Release = "([^"]+)"$`)

const ourGroup = "dev.tracegen"

// TestVersionsAreEqual compares the version of the program with that of every pom.xml of the repository that is ours:
// in the group itself, or with a parent that is.
//
// Invariant: The program and all Java parts have one version.
func TestVersionsAreEqual(t *testing.T) {
	source := fixture.Read(t, "internal/cli/version.go")
	m := goRelease.FindSubmatch(source)
	if m == nil {
		t.Fatal("internal/cli/version.go has no constant release")
	}
	ours := 0
	for _, file := range trackedPaths(t) {
		if path.Base(file) != "pom.xml" {
			continue
		}
		text := fixture.Read(t, file)
		of, err := ownVersions(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range of {
			if ours++; v != string(m[1]) {
				t.Errorf("%s has version %s; the program has %s", file, v, m[1])
			}
		}
	}
	if ours < 6 {
		t.Errorf("%d versions in files pom.xml, want at least those of runtime-java", ours)
	}
}

// ownVersions returns the versions in a pom.xml that must be that of the program: its own, and that of its parent. It
// returns none for a project of another group, as a sample may be.
func ownVersions(text []byte) ([]string, error) {
	var p pom
	if err := xml.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	var versions []string
	if p.Parent.Group == ourGroup {
		versions = append(versions, strings.TrimSpace(p.Parent.Version))
	}
	if (p.Group == ourGroup || p.Group == "" && p.Parent.Group == ourGroup) && p.Version != "" {
		versions = append(versions, strings.TrimSpace(p.Version))
	}
	return versions, nil
}

func TestOwnVersions(t *testing.T) {
	for text, want := range map[string]string{
		`<project><groupId>dev.tracegen</groupId><version>1</version></project>`:                                      "1",
		`<project><parent><groupId>dev.tracegen</groupId><version>2</version></parent></project>`:                     "2",
		`<project><parent><groupId>dev.tracegen</groupId><version>2</version></parent><version>3</version></project>`: "2 3",
		`<project><groupId>com.example</groupId><version>4</version></project>`:                                       "",
	} {
		got, err := ownVersions([]byte(text))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: versions %v, %v; want %s", text, got, err, want)
		}
	}
}
