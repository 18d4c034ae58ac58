package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/fleet/collect"
)

// hostRelease returns a release of this machine's platform, with the module's own test program in place of the binary,
// and two modules of the build: to build the tool takes long.
func hostRelease(t *testing.T) *release {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	info.Deps = nil
	for _, path := range []string{"gopkg.in/yaml.v3", "golang.org/x/sync"} {
		for line := range strings.Lines(string(sums)) {
			if f := strings.Fields(line); f[0] == path && !strings.HasSuffix(f[1], "/go.mod") {
				info.Deps = append(info.Deps, &debug.Module{Path: f[0], Version: f[1], Sum: f[2]})
			}
		}
	}
	if len(info.Deps) < 2 {
		t.Fatalf("go.sum has %v", info.Deps)
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	return &release{root: "../..", out: t.TempDir(), version: "1.2.3", platforms: []string{platform, "windows/amd64"},
		binaries: []binary{{platform, "tracegen", []byte("one"), info},
			{"windows/amd64", "tracegen.exe", []byte("two"), info}}}
}

// TestRelease makes the files of a release twice from the same binaries, and reads them by other means.
func TestRelease(t *testing.T) {
	var first map[string][]byte
	key, err := filepath.Abs("../../internal/fleet/collect/testdata/signing.pem")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := hostRelease(t)
		modules, err := r.modules()
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.binaries {
			if err := r.archive(&r.binaries[i], modules); err != nil {
				t.Fatal(err)
			}
		}
		bom, err := r.bom(modules)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.write("tracegen.cdx.json", bom); err != nil {
			t.Fatal(err)
		}
		if r.signer, err = collect.LoadKey(key); err != nil {
			t.Fatal(err)
		}
		if err := r.checksums(); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for name := range r.sums {
			data, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = data
		}
		if first == nil {
			first = files
			continue
		}
		for name, data := range files {
			if !bytes.Equal(data, first[name]) {
				t.Errorf("%s differs between two runs", name)
			}
		}
		checkTarball(t, files["tracegen-1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz"])
		checkZip(t, files["tracegen-1.2.3-windows-amd64.zip"])
		checkSums(t, r, key)
		checkBOM(t, files["tracegen.cdx.json"])
	}
}

func checkTarball(t *testing.T, data []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the header of gzip has %v %q", z.ModTime, z.Name)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		dir, name := filepath.Split(h.Name)
		names = append(names, name)
		if !h.ModTime.Equal(made()) || h.Uid != 0 || !strings.HasPrefix(dir, "tracegen-1.2.3-") ||
			(h.Mode == 0o755) != (name == "tracegen") {
			t.Errorf("%+v", h)
		}
		if content, err := io.ReadAll(r); err != nil || name == licenceFile && (!bytes.Contains(content,
			[]byte("======== gopkg.in/yaml.v3 v")) || !bytes.Contains(content, []byte("Permission is hereby granted"))) {
			t.Errorf("%s: %v: %.200s", name, err, content)
		}
	}
	if want := []string{"CHANGELOG.md", "LICENSE", licenceFile, "README.md", "tracegen"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func checkZip(t *testing.T, data []byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 5 {
		t.Errorf("%d files", len(z.File))
	}
	for _, f := range z.File {
		if !f.Modified.UTC().Equal(made()) || (f.Mode() == 0o755) != strings.HasSuffix(f.Name, "/tracegen.exe") {
			t.Errorf("%s: %v %v", f.Name, f.Modified, f.Mode())
		}
	}
}

// checkSums compares the checksums with the files, and the signature by the commands of docs/releasing.md.
func checkSums(t *testing.T, r *release, key string) {
	t.Helper()
	for _, tool := range []string{"openssl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: no %s on PATH", tool)
		}
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = r.out
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	public := filepath.Join(t.TempDir(), "public.pem")
	if out, err := run("openssl", "pkey", "-in", key, "-pubout", "-out", public); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	verify := []string{"dgst", "-sha256", "-verify", public, "-signature", "SHA256SUMS.sig", "SHA256SUMS"}
	if out, err := run("openssl", verify...); err != nil || !strings.Contains(out, "Verified OK") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run("sha256sum", "-c", "SHA256SUMS"); err != nil || strings.Count(out, ": OK") != 3 {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := run("openssl", verify...); err == nil {
		t.Errorf("other checksums have the signature: %s", out)
	}
}

// checkBOM validates by the schema of CycloneDX, which is part of the library.
func checkBOM(t *testing.T, data []byte) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "schema")
	c := jsonschema.NewCompiler()
	const at = "http://cyclonedx.org/schema/"
	for name, file := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json",
		"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		f, err := os.Open(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(f)
		f.Close()
		if err == nil {
			err = c.AddResource(at+name, document)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile(at + "bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = schema.Validate(document)
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	// A schema that accepts everything would find nothing.
	wrong := bytes.Replace(data, []byte(`"id": "MIT"`), []byte(`"id": "Mine"`), 1)
	bad, err := jsonschema.UnmarshalJSON(bytes.NewReader(wrong))
	if err != nil || schema.Validate(bad) == nil {
		t.Errorf("an unknown licence is valid: %v", err)
	}
	var bom struct {
		Components []struct {
			Name     string
			Hashes   []struct{ Content string }
			Licenses []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	if n := len(bom.Components); n != 10 || bom.Components[0].Name != "std" ||
		bom.Components[1].Name != "golang.org/x/sync" || bom.Components[2].Name != "gopkg.in/yaml.v3" {
		t.Errorf("%d components: %+v", n, bom.Components)
	}
	for _, c := range bom.Components[1:] {
		if len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64 || len(c.Licenses) == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestModulesAreThoseOfGoSum changes the hash of a module in a binary.
func TestModulesAreThoseOfGoSum(t *testing.T) {
	r := hostRelease(t)
	r.binaries[0].info.Deps[0].Sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	if _, err := r.modules(); err == nil || !strings.Contains(err.Error(), "is not in go.sum") {
		t.Error(err)
	}
}

// TestVersion reads the version of the sources where it is.
func TestVersion(t *testing.T) {
	if version, err := sourceVersion("../.."); err != nil || version == "" {
		t.Error(version, err)
	}
}

func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n Version 2.0, January":                                         "Apache-2.0",
		"Permission is hereby granted, free of\ncharge, to any person obtaining a copy": "MIT",
		"Redistribution and use in source and binary forms, ... ":                       "BSD-2-Clause",
		"Redistribution and use in source and binary forms. Neither the name of":        "BSD-3-Clause",
		"Mozilla Public License Version 2.0":                                            "MPL-2.0", "You may not.": "",
	} {
		if got := strings.Join(licencesIn(text), "+"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	m := module{path: "a", version: "v1"}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("You may not."), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := m.readLicences(dir); err == nil || !strings.Contains(err.Error(), "no licence that is known") {
		t.Error(err)
	}
}
