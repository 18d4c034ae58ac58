// Command archives makes the archives of a release: the binary of each platform, checksums, and a list of what is in
// the binaries (SBOM). `make release` runs it.
//
//	archives --root DIR -o DIR [--key KEY]
//
// It is a module of its own, so that what it depends on is not part of tracegen. It writes, with VERSION from
// internal/cli/version.go:
//
//	tracegen-VERSION-GOOS-GOARCH.tar.gz  the binary, LICENSE, README.md, CHANGELOG.md, and the licences of the modules
//	                                     in the binary; for Windows, a .zip
//	tracegen-VERSION.cdx.json            CycloneDX 1.6: modules, Go's library, the runtime's files
//	SHA256SUMS                           of all others
//	SHA256SUMS.sig                       its signature, with --key: ECDSA on P-256 over SHA-256, in ASN.1
//
// The same sources, key, and Go make the same bytes: no file has a time, a user or a path of the machine.
package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tracegen/tracegen/internal/fleet/collect"
)

func main() {
	r := release{platforms: []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64",
		"windows/arm64"}}
	flag.StringVar(&r.root, "root", ".", "directory of the sources")
	flag.StringVar(&r.out, "o", "", "directory to write; it must not exist, or be empty")
	flag.StringVar(&r.key, "key", "", "private key that signs the checksums, PEM")
	flag.Parse()
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "archives:", err)
		os.Exit(2)
	}
}

// release is what is made, from what.
type release struct {
	root, out, key string
	platforms      []string
	version        string
	signer         *ecdsa.PrivateKey // nil without a key
	binaries       []binary
	sums           map[string][sha256.Size]byte // of the files that were written, by their names
}

// versionLine is the line of internal/cli/version.go with the version of the sources.
var versionLine = regexp.MustCompile(`(?m)^const Release = "(.*)"$`)

// sourceVersion returns the version of the sources in a directory.
func sourceVersion(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, "internal", "cli", "version.go"))
	if err != nil {
		return "", err
	}
	found := versionLine.FindSubmatch(source)
	if found == nil {
		return "", errors.New("internal/cli/version.go has no line: const Release = \"...\"")
	}
	return string(found[1]), nil
}

func (r *release) run() error {
	if r.out == "" {
		return errors.New("no -o given")
	}
	var err error
	if r.version, err = sourceVersion(r.root); err != nil {
		return err
	}
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
	return r.checksums()
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	if r.sums == nil {
		r.sums = map[string][sha256.Size]byte{}
	}
	r.sums[name] = sha256.Sum256(data)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o666)
}

// checksums writes the checksums of all other files, and with a key their signature.
func (r *release) checksums() error {
	var list bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&list, "%x  %s\n", r.sums[name], name)
	}
	if err := r.write("SHA256SUMS", list.Bytes()); err != nil || r.signer == nil {
		return err
	}
	sum := sha256.Sum256(list.Bytes())
	// Without a source of random bytes, the signature depends on key and text alone (RFC 6979).
	signature, err := r.signer.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return fmt.Errorf("sign the checksums: %w", err)
	}
	return r.write("SHA256SUMS.sig", signature)
}
