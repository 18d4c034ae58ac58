package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

const repository = "github.com/tracegen/tracegen"

// bom returns the list of what is in the binaries, as CycloneDX. It has no time, and its serial number follows from its
// content.
func (r *release) bom(modules []module) ([]byte, error) {
	self := component(cyclonedx.ComponentTypeApplication, repository, "v"+r.version, "Apache-2.0")
	var parts []cyclonedx.Component
	for _, b := range r.binaries {
		file := cyclonedx.Component{BOMRef: b.platform, Type: cyclonedx.ComponentTypeFile, Name: b.platform + "/" + b.name,
			Hashes: hashOf(b.data)}
		parts = append(parts, file)
	}
	self.Components = &parts
	var list []cyclonedx.Component
	var refs []string
	for _, m := range modules {
		c := component(cyclonedx.ComponentTypeLibrary, m.path, m.version, m.licences...)
		if m.sum != "" {
			// The hash in go.sum is the SHA-256 of a list of the module's files with their SHA-256.
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:"))
			if err != nil || len(sum) != sha256.Size {
				return nil, fmt.Errorf("%s: the hash %q in go.sum is none that is known", m.path, m.sum)
			}
			c.Hashes = sha256Hash(hex.EncodeToString(sum))
		}
		if len(m.platforms) < len(r.platforms) {
			c.Properties = &[]cyclonedx.Property{{Name: "tracegen:platforms", Value: strings.Join(m.platforms, " ")}}
		}
		list, refs = append(list, c), append(refs, c.BOMRef)
	}
	jars, err := r.runtimeFiles()
	if err != nil {
		return nil, err
	}
	for _, c := range jars {
		list, refs = append(list, c), append(refs, c.BOMRef)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Component: &self}
	b.Components, b.Dependencies = &list, &[]cyclonedx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	text, err := encodeBOM(b)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(text)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 of RFC 9562: a value of one's own
	b.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	return encodeBOM(b)
}

func encodeBOM(b *cyclonedx.BOM) ([]byte, error) {
	var text bytes.Buffer
	e := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// component returns a Go module as a component.
func component(kind cyclonedx.ComponentType, path, version string, licences ...string) cyclonedx.Component {
	c := cyclonedx.Component{Type: kind, Name: path, Version: version, Licenses: &cyclonedx.Licenses{}}
	c.PackageURL = "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c.BOMRef = c.PackageURL
	for _, l := range licences {
		*c.Licenses = append(*c.Licenses, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: l}})
	}
	return c
}

func hashOf(data []byte) *[]cyclonedx.Hash {
	sum := sha256.Sum256(data)
	return sha256Hash(hex.EncodeToString(sum[:]))
}

func sha256Hash(value string) *[]cyclonedx.Hash {
	return &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: value}}
}

// runtimeFiles returns the files of the runtime, which are part of each binary.
func (r *release) runtimeFiles() ([]cyclonedx.Component, error) {
	var list []cyclonedx.Component
	for _, pattern := range []string{"*.aar", "*.jar"} {
		paths, err := filepath.Glob(filepath.Join(r.root, "internal", "runtimejars", pattern))
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("internal/runtimejars has no %s", pattern)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			extension := filepath.Ext(path)
			name := strings.TrimSuffix(filepath.Base(path), extension)
			c := component(cyclonedx.ComponentTypeLibrary, name, r.version, "Apache-2.0")
			c.Group, c.PackageURL = "dev.tracegen", "pkg:maven/dev.tracegen/"+name+"@"+r.version+"?type="+extension[1:]
			c.BOMRef, c.Hashes = c.PackageURL, hashOf(data)
			list = append(list, c)
		}
	}
	return list, nil
}
