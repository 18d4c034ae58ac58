// Command archives makes the archives of a release: the binary of each platform, checksums, a list of what is in the
// binaries (SBOM), and a statement about what they were made from. `make release` runs it.
//
//	archives --root DIR -o DIR [--revision COMMIT] [--key KEY] [--platform GOOS/GOARCH]...
//
// It is a module of its own, so that what it depends on is not part of tracegen. It writes, with VERSION from
// cmd/tracegen/version.go:
//
//	tracegen-VERSION-GOOS-GOARCH.tar.gz  the binary, LICENSE, README.md, CHANGELOG.md, and the licences of the modules
//	                                     in the binary; for Windows, a .zip
//	tracegen-VERSION.cdx.json            CycloneDX 1.6: modules, Go's library, the runtime's files
//	tracegen-VERSION.statement.json      in-toto Statement with SLSA provenance, see docs/provenance.md
//	tracegen-VERSION.provenance.json     the same, signed, with --key
//	SHA256SUMS                           of all others
//
// The same sources, revision, key, and Go make the same bytes: no file has a time, a user or a path of the machine.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/provenance"
)

func main() {
	r := release{platforms: []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64",
		"windows/arm64"}}
	var only []string
	flag.StringVar(&r.root, "root", ".", "directory of the sources")
	flag.StringVar(&r.out, "o", "", "directory to write; it must not exist, or be empty")
	flag.StringVar(&r.revision, "revision", "", "the commit of the sources")
	flag.StringVar(&r.key, "key", "", "private key that signs the statement, PEM")
	flag.Func("platform", "only this platform, GOOS/GOARCH; repeatable", func(p string) error {
		if !slices.Contains(r.platforms, p) {
			return fmt.Errorf("must be one of %s", strings.Join(r.platforms, ", "))
		}
		only = append(only, p)
		return nil
	})
	flag.Parse()
	if len(only) > 0 {
		r.platforms = only
	}
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "archives:", err)
		os.Exit(2)
	}
}

// release is what is made, from what.
type release struct {
	root, out, revision, key string
	platforms                []string
	version                  string
	signer                   *ecdsa.PrivateKey // nil without a key
	binaries                 []binary
	files                    []provenance.Artifact // that were written
}

// versionLine is the line of cmd/tracegen/version.go with the version of the sources.
var versionLine = regexp.MustCompile(`(?m)^const release = "(.*)"$`)

func (r *release) run() error {
	if r.out == "" {
		return errors.New("no -o given")
	}
	source, err := os.ReadFile(filepath.Join(r.root, "cmd", "tracegen", "version.go"))
	if err != nil {
		return err
	}
	found := versionLine.FindSubmatch(source)
	if found == nil {
		return errors.New("cmd/tracegen/version.go has no line: const release = \"...\"")
	}
	r.version = string(found[1])
	if r.key != "" { // before work that takes minutes
		if r.signer, err = collect.LoadKey(r.key); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	if there, err := os.ReadDir(r.out); err != nil {
		return err
	} else if len(there) > 0 {
		return fmt.Errorf("%s is not empty; remove it, or choose another directory", r.out)
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, p := range r.platforms {
		b, err := r.build(p, work)
		if err != nil {
			return err
		}
		r.binaries = append(r.binaries, *b)
	}
	modules, err := r.modules()
	if err != nil {
		return err
	}
	for i := range r.binaries {
		if err := r.archive(&r.binaries[i], modules); err != nil {
			return err
		}
	}
	bom, err := r.bom(modules)
	if err != nil {
		return err
	}
	if err := r.write("tracegen-"+r.version+".cdx.json", bom); err != nil {
		return err
	}
	if err := r.state(); err != nil {
		return err
	}
	slices.SortFunc(r.files, func(a, b provenance.Artifact) int { return strings.Compare(a.Name, b.Name) })
	var sums bytes.Buffer
	for _, f := range r.files {
		fmt.Fprintf(&sums, "%s  %s\n", f.Digest.SHA256, f.Name)
	}
	return r.write("SHA256SUMS", sums.Bytes())
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	r.files = append(r.files, provenance.Artifact{Name: name, Digest: provenance.SumOf(data)})
	return os.WriteFile(filepath.Join(r.out, name), data, 0o666)
}

// state writes the statement about the release, and its envelope.
func (r *release) state() error {
	s := provenance.New(provenance.Release, &provenance.Building{Version: r.version, Revision: r.revision,
		Package: "./cmd/tracegen", Flags: buildFlags(), Environment: buildEnvironment(), Platforms: r.platforms})
	for _, b := range r.binaries {
		s.Subject = append(s.Subject, provenance.Artifact{Name: b.platform + "/" + b.name, Digest: provenance.SumOf(b.data)})
	}
	s.Subject = append(s.Subject, r.files...)
	var err error
	if s.Predicate.Build.Dependencies, err = r.sources(); err != nil {
		return err
	}
	s.Predicate.Run.Builder.Version["go"] = r.binaries[0].info.GoVersion
	text, err := s.Encode()
	if err != nil {
		return err
	}
	if err := r.write("tracegen-"+r.version+".statement.json", text); err != nil || r.signer == nil {
		return err
	}
	e, err := provenance.Sign(text, r.signer)
	if err != nil {
		return err
	}
	return r.write("tracegen-"+r.version+".provenance.json", e.Encode())
}
