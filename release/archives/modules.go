package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// module is a module of which code is in a binary, or Go's library.
type module struct {
	path, version, sum string   // sum as go.sum has it; "" of Go's library
	platforms          []string // of the binaries that have it
	licences           []string // by the names of SPDX
	text               string   // of the licences
}

// modules returns the modules in the binaries, Go's library first, then by path.
func (r *release) modules() ([]module, error) {
	sums, err := os.ReadFile(filepath.Join(r.root, "go.sum"))
	if err != nil {
		return nil, err
	}
	library := module{path: "std", version: strings.TrimPrefix(r.binaries[0].info.GoVersion, "go"), platforms: r.platforms}
	byPath := map[string]*module{}
	var list []*module
	for _, b := range r.binaries {
		if b.info.GoVersion != r.binaries[0].info.GoVersion {
			return nil, fmt.Errorf("%s was built by %s, and others by %s", b.platform, b.info.GoVersion,
				r.binaries[0].info.GoVersion)
		}
		for _, d := range b.info.Deps {
			m := byPath[d.Path]
			if m == nil {
				m = &module{path: d.Path, version: d.Version, sum: d.Sum}
				byPath[d.Path], list = m, append(list, m)
			}
			if err := m.add(d, b.platform, sums); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	dirs, err := r.directories(list)
	if err != nil {
		return nil, err
	}
	root, err := r.command("", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	all := []module{library}
	dirs[library.path] = string(bytes.TrimSpace(root))
	for _, m := range list {
		all = append(all, *m)
	}
	for i := range all {
		if err := all[i].readLicences(dirs[all[i].path]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add notes that a binary has the module. Its hash must be that of go.sum.
func (m *module) add(d *debug.Module, platform string, sums []byte) error {
	if d.Replace != nil || d.Version != m.version || d.Sum != m.sum {
		return fmt.Errorf("%s: %s is replaced, or differs between platforms", platform, d.Path)
	}
	if !bytes.Contains(append([]byte("\n"), sums...), []byte("\n"+d.Path+" "+d.Version+" "+d.Sum+"\n")) {
		return fmt.Errorf("%s: %s %s %s is not in go.sum", platform, d.Path, d.Version, d.Sum)
	}
	m.platforms = append(m.platforms, platform)
	return nil
}

// directories returns where the sources of the modules are, by path.
func (r *release) directories(list []*module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range list {
		args = append(args, m.path+"@"+m.version)
	}
	out, err := r.command("", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		dirs[m.Path] = m.Dir
	}
}

// readLicences reads the files with licences in the directory of the module, in the order of names.
func (m *module) readLicences(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	var text strings.Builder
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(p string) bool {
			return strings.HasPrefix(name, p)
		}) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		data = bytes.TrimSpace(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
		fmt.Fprintf(&text, "--- %s\n\n%s\n\n", f.Name(), data)
	}
	m.text, m.licences = text.String(), licencesIn(text.String())
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s: no licence that is known; read it, and add it to licencesIn", m.path, m.version)
	}
	return nil
}

// licencesIn returns the licences whose words are in a text, by the names of SPDX.
func licencesIn(text string) []string {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(words, p) })
	}
	const bsd, third = "redistribution and use in source and binary forms", "neither the name"
	var list []string
	for _, l := range []struct {
		name string
		is   bool
	}{
		{"Apache-2.0", has("apache license", "version 2.0")},
		{"BSD-2-Clause", has(bsd) && !has(third)},
		{"BSD-3-Clause", has(bsd, third)},
		{"ISC", has("permission to use, copy, modify, and/or distribute this software for any purpose")},
		{"MIT", has("permission is hereby granted, free of charge, to any person obtaining a copy")},
		{"MPL-2.0", has("mozilla public license", "2.0")},
	} {
		if l.is {
			list = append(list, l.name)
		}
	}
	return list
}
