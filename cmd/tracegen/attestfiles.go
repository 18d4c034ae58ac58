package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/input"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/provenance"
	"github.com/tracegen/tracegen/internal/runtimejars"
	"github.com/tracegen/tracegen/internal/userfile"
)

// product is an output with the inputs that it was made from, as a statement names them and where they are.
type product struct {
	output  located
	inputs  []located
	builtIn bool // the built-in runtime is among them, as the last one
	merged  bool
}

// located is a file or directory, by its name in a statement and its path.
type located struct{ name, path string }

// restore compares the output without its calls with the inputs.
func (p *product) restore(ctx context.Context, con *console, of *provenance.Instrumentation, jobs int) (
	*pipeline.Restoration, error) {
	runtime, err := internalName(of.RuntimeClass)
	if err != nil {
		return nil, fmt.Errorf("runtime class: %w", err)
	}
	reading, err := readingOf(of.Options)
	if err != nil {
		return nil, err
	}
	c := pipeline.RestoreConfig{Output: p.output.path, Merged: p.merged, RuntimeClass: runtime, Jobs: jobs,
		Reading: reading}
	for _, in := range p.inputs {
		c.Inputs = append(c.Inputs, in.path)
	}
	if p.builtIn {
		c.BuiltIn = &pipeline.BuiltIn{Name: builtInName, Data: runtimejars.JVM().Data}
	}
	advance, done := con.progress("comparing")
	defer done()
	c.Progress = advance
	return pipeline.Restore(ctx, c)
}

// readingOf returns the limits of what a run with the options has read.
func readingOf(options map[string]string) (pipeline.Reading, error) {
	limits := readLimits{}
	for _, row := range newOptions(limits.rows()) {
		value, given := options[row.name]
		if !given {
			continue
		}
		if err := row.flag.Value.Set(value); err != nil {
			return pipeline.Reading{}, fmt.Errorf("option %s of the run: %q: %w", row.name, value, err)
		}
	}
	return limits.options(), nil
}

// statedNames returns the names under which a statement lists files, by their paths: relative to the current directory,
// and for those elsewhere the shortest end of the path that distinguishes them from each other. So a statement holds no
// path of the machine that made it.
func statedNames(paths []string) (map[string]string, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	taken := map[string]string{} // absolute paths by name
	elsewhere := map[string][]string{}
	absolute := map[string]string{}
	for _, p := range paths {
		if absolute[p], err = filepath.Abs(p); err != nil {
			return nil, err
		}
		below, err := filepath.Rel(here, absolute[p])
		if err == nil && filepath.IsLocal(below) {
			names[p] = filepath.ToSlash(below)
			taken[names[p]] = absolute[p]
			continue
		}
		elsewhere[absolute[p]] = strings.Split(strings.Trim(filepath.ToSlash(
			strings.TrimPrefix(absolute[p], filepath.VolumeName(absolute[p]))), "/"), "/")
	}
	for length := 1; len(elsewhere) > 0; length++ {
		ends := map[string][]string{} // absolute paths by their ends
		for whole, elements := range elsewhere {
			end := strings.Join(elements[max(0, len(elements)-length):], "/")
			ends[end] = append(ends[end], whole)
		}
		for end, wholes := range ends {
			isLast := length >= len(elsewhere[wholes[0]])
			if other, ok := taken[end]; len(wholes) > 1 || ok && other != wholes[0] {
				if isLast {
					return nil, fmt.Errorf("%s and %s cannot be named in one statement; run the command in another directory",
						wholes[0], other)
				}
				continue
			}
			taken[end] = wholes[0]
			delete(elsewhere, wholes[0])
		}
	}
	byPath := map[string]string{}
	for name, whole := range taken {
		byPath[whole] = name
	}
	for p, whole := range absolute {
		names[p] = byPath[whole]
		if isDirectory(p) {
			names[p] += "/"
		}
	}
	return names, nil
}

// artifacts returns the files that a file or directory consists of, with their digests, in the order of names.
func (l located) artifacts(ctx context.Context) ([]provenance.Artifact, error) {
	if !isDirectory(l.path) {
		sum, err := sumOf(l.path)
		return []provenance.Artifact{{Name: l.name, Digest: sum}}, err
	}
	entries, err := input.List(l.path)
	if err != nil {
		return nil, err
	}
	var list []provenance.Artifact
	for _, e := range entries {
		if e.IsDirectory() {
			continue
		}
		sum, err := sumOf(e.File)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		list = append(list, provenance.Artifact{Name: path.Join(l.name, e.Name), Digest: sum})
	}
	return list, nil
}

// sumOf returns the digest of a file.
func sumOf(file string) (provenance.Digest, error) {
	f, err := userfile.Open(file)
	if err != nil {
		return provenance.Digest{}, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return provenance.Digest{}, userfile.Named(file, err)
	}
	return provenance.Digest{SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// whereabouts finds the files of a statement below a directory.
type whereabouts struct {
	root string
	// loose also finds a file directly in the directory, if its last name is that of no other file. It is set for a
	// directory that the user has named: files are often handed on without their directories.
	loose bool
	names []string
}

// find returns where a file is, or should be, and whether it is there.
func (w *whereabouts) find(name string) (located, bool) {
	at := located{name, filepath.Join(w.root, filepath.FromSlash(name))}
	isThere := func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.IsDir() == strings.HasSuffix(name, "/") || err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	if isThere(at.path) {
		return at, true
	}
	last := path.Base(name)
	same := func(other string) bool { return other != name && path.Base(other) == last }
	if beside := filepath.Join(w.root, last); w.loose && last != "." && !slices.ContainsFunc(w.names, same) &&
		isThere(beside) {
		return located{name, beside}, true
	}
	return at, false
}

// compared returns how the files at a place differ from those that a statement lists.
func compared(ctx context.Context, at located, stated []provenance.Artifact) ([]error, error) {
	got, err := at.artifacts(ctx)
	if err != nil {
		return nil, err
	}
	place := func(name string) string {
		if !strings.HasSuffix(at.name, "/") {
			return at.path
		}
		return filepath.Join(at.path, filepath.FromSlash(strings.TrimPrefix(name, at.name)))
	}
	want := map[string]string{}
	for _, a := range stated {
		if a.Name == at.name || strings.HasSuffix(at.name, "/") && provenance.Below(at.name, a.Name) {
			want[a.Name] = a.Digest.SHA256
		}
	}
	var differences []error
	for _, a := range got {
		switch sum, ok := want[a.Name]; {
		case !ok:
			differences = append(differences, fmt.Errorf("%s: the file was added; the statement does not have it",
				place(a.Name)))
		case sum != a.Digest.SHA256:
			differences = append(differences, fmt.Errorf("%s: the file was changed; its SHA-256 is %s, and %s in the statement",
				place(a.Name), a.Digest.SHA256, sum))
		}
		delete(want, a.Name)
	}
	for _, a := range stated {
		if _, ok := want[a.Name]; ok {
			differences = append(differences, fmt.Errorf("%s: the file is missing; the statement has it", place(a.Name)))
		}
	}
	return differences, nil
}
