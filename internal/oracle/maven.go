package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Artifact names a file of a Maven repository.
type Artifact struct {
	// Group, Name and Version are Maven's groupId, artifactId and version.
	Group, Name, Version string
	// Classifier is empty for the main artifact.
	Classifier string
	// Type is jar, aar and so on; it is also the file's extension.
	Type string
}

// ParseArtifact reads group:name:version, group:name:type:version, or
// group:name:type:classifier:version, the order that Maven itself prints.
func ParseArtifact(s string) (Artifact, error) {
	p := strings.Split(s, ":")
	switch len(p) {
	case 3:
		return Artifact{Group: p[0], Name: p[1], Type: "jar", Version: p[2]}, nil
	case 4:
		return Artifact{Group: p[0], Name: p[1], Type: p[2], Version: p[3]}, nil
	case 5:
		return Artifact{Group: p[0], Name: p[1], Type: p[2], Classifier: p[3], Version: p[4]}, nil
	}
	return Artifact{}, fmt.Errorf("%q is not group:name[:type[:classifier]]:version", s)
}

// File returns a file name that no other artifact has.
func (a Artifact) File() string {
	name := a.Group + "_" + a.Name + "_" + a.Version
	if a.Classifier != "" {
		name += "_" + a.Classifier
	}
	return name + "." + a.Type
}

// item is an artifactItem of the dependency plugin's configuration.
type item struct {
	Group      string `xml:"groupId"`
	Name       string `xml:"artifactId"`
	Version    string `xml:"version"`
	Type       string `xml:"type"`
	Classifier string `xml:"classifier,omitempty"`
	DestFile   string `xml:"destFileName"`
}

const (
	dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

	// The items are listed in a project of their own because the plugin's command line takes only one; one run for a
	// hundred artifacts takes seconds. The goal is "copy" and not "copy-dependencies", because two versions of one
	// artifact may be needed, and no other artifacts.
	pomHead = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>` +
		`<groupId>dev.tracegen</groupId><artifactId>fetch</artifactId><version>1</version>` +
		`<packaging>pom</packaging><build><plugins><plugin>` +
		`<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>` +
		`<version>3.8.1</version><configuration><artifactItems>`
	pomTail = `</artifactItems></configuration></plugin></plugins></build></project>`
)

// FetchMaven writes the artifacts to dir, each under the name that [Artifact.File] returns, by running the mvn on PATH
// with its user's settings. It does not fetch files that exist. It fails as a whole if one artifact cannot be fetched;
// the error wraps [ErrMissing].
func FetchMaven(ctx context.Context, dir string, artifacts []Artifact) error {
	var wanted []Artifact
	for _, a := range artifacts {
		if _, err := os.Stat(filepath.Join(dir, a.File())); err != nil {
			wanted = append(wanted, a)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("no mvn on PATH to fetch %s: %w", wanted[0].File(), ErrMissing)
	}
	tmp, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	defer os.RemoveAll(tmp)
	pom := filepath.Join(tmp, "pom.xml")
	if err := writePOM(pom, wanted); err != nil {
		return err
	}
	if err := run(ctx, tmp, mvn, "-B", "-q", "-f", pom, dependencyPlugin+":copy",
		"-DoutputDirectory="+tmp); err != nil {
		return fmt.Errorf("fetch: %w: %w", err, ErrMissing)
	}
	for _, a := range wanted {
		if err := os.Rename(filepath.Join(tmp, a.File()), filepath.Join(dir, a.File())); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
	return nil
}

// FetchSum returns the path of an artifact, named as [ParseArtifact] reads it. [FetchMaven] fetches it if the cache
// lacks it. FetchSum fails if the file has another SHA-256 than sum, in hexadecimal digits.
func FetchSum(ctx context.Context, artifact, sum string) (string, error) {
	a, err := ParseArtifact(artifact)
	if err != nil {
		return "", err
	}
	dir, err := CacheDir("maven")
	if err != nil {
		return "", err
	}
	if err := FetchMaven(ctx, dir, []Artifact{a}); err != nil {
		return "", err
	}
	path := filepath.Join(dir, a.File())
	return path, CheckSum(path, sum)
}

// CheckSum fails if a file has another SHA-256 than sum, in hexadecimal digits.
func CheckSum(path, sum string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return fmt.Errorf("%s has the SHA-256 %s, want %s; delete it, or correct the sum", path, got, sum)
	}
	return nil
}

func writePOM(path string, artifacts []Artifact) error {
	var b strings.Builder
	b.WriteString(pomHead)
	for _, a := range artifacts {
		text, err := xml.Marshal(struct {
			XMLName xml.Name `xml:"artifactItem"`
			item
		}{item: item{a.Group, a.Name, a.Version, a.Type, a.Classifier, a.File()}})
		if err != nil {
			return fmt.Errorf("pom: %w", err)
		}
		b.Write(text)
	}
	b.WriteString(pomTail)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
