package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// destination holds the inputs and their outputs.
type destination struct {
	inputs []pipeline.Input
	merge  string // the one output of all inputs, or ""
	// beside is the directory of the method mapping unless --mapping is given.
	beside string
	// directory is --output if the outputs lie in it under the names of their inputs; or "".
	directory string
}

// resolveOutputs returns the output of each input. out is the value of --output, or "". The result depends on the
// arguments and on which directories exist, and on nothing else, so that a repeated build finds its earlier outputs.
func resolveOutputs(args []argument, out string, merge bool) (destination, error) {
	pairs := 0
	for _, a := range args {
		if a.output != "" {
			pairs++
		}
	}
	switch {
	case merge && pairs > 0:
		return destination{}, misuse("--merge excludes INPUT=OUTPUT: name the one output by --output")
	case pairs > 0 && out != "":
		return destination{}, misuse("--output excludes INPUT=OUTPUT: give one of them")
	case pairs > 0 && pairs < len(args):
		return destination{}, misuse("an input has no =OUTPUT: give an output for every input or for none")
	case pairs > 0:
		return pairedOutputs(args)
	case out == "":
		return destination{}, misuse("no output given: name it by --output, or give INPUT=OUTPUT")
	case merge:
		return mergedOutput(args, out)
	case len(args) == 1:
		return singleOutput(args[0].path, out)
	}
	return outputsInDirectory(args, out)
}

func pairedOutputs(args []argument) (destination, error) {
	d := destination{beside: filepath.Dir(filepath.Clean(args[0].output))}
	for _, a := range args {
		if err := checkKind(a.path, a.output); err != nil {
			return destination{}, err
		}
		d.inputs = append(d.inputs, pipeline.Input{Path: a.path, Output: a.output})
	}
	return d, nil
}

func mergedOutput(args []argument, out string) (destination, error) {
	if isDirectory(out) || endsInSeparator(out) {
		return destination{}, misuse("--output %s is a directory, but --merge writes one jar: name a file", out)
	}
	d := destination{merge: out, beside: filepath.Dir(out)}
	for _, a := range args {
		d.inputs = append(d.inputs, pipeline.Input{Path: a.path})
	}
	return d, nil
}

// singleOutput returns the output of one input. A directory of classes becomes the directory out itself; a file becomes
// out or, if that is a directory, a file of its own name in it.
func singleOutput(path, out string) (destination, error) {
	d := destination{beside: filepath.Dir(filepath.Clean(out))}
	if !isDirectory(path) && (isDirectory(out) || endsInSeparator(out)) {
		d.beside, d.directory = filepath.Clean(out), filepath.Clean(out)
		out = filepath.Join(out, filepath.Base(path))
	}
	d.inputs = []pipeline.Input{{Path: path, Output: out}}
	return d, checkKind(path, out)
}

// archiveExtensions are those of files that are not made into directories without a slash at the end.
var archiveExtensions = []string{".jar", ".zip", ".aar", ".class"}

// outputsInDirectory returns the outputs of several inputs: files and directories in out with the names of the inputs.
// Of inputs with the same name, the first keeps it, and the others get -2, -3 and so on before the extension, in their
// order. Names that differ only in case count as the same, as they do on some file systems.
func outputsInDirectory(args []argument, out string) (destination, error) {
	if !isDirectory(out) {
		if _, err := os.Stat(out); err == nil {
			return destination{}, misuse("--output %s is a file, but there are several inputs: name a directory, "+
				"or give --merge", out)
		}
		if e := strings.ToLower(filepath.Ext(out)); !endsInSeparator(out) && slices.Contains(archiveExtensions, e) {
			return destination{}, misuse("--output %s is the name of a file, but there are several inputs: give --merge "+
				"to write one jar, or write %s/ if a directory of that name is meant", out, out)
		}
	}
	names := make([]string, len(args))
	taken := map[string]bool{} // holds the names of all inputs from the start: -2 must not make a name of another input
	for i, a := range args {
		name, err := baseName(a.path)
		if err != nil {
			return destination{}, err
		}
		names[i] = name
		taken[strings.ToLower(name)] = true
	}
	d := destination{beside: filepath.Clean(out), directory: filepath.Clean(out)}
	used := map[string]bool{}
	for i, a := range args {
		name := names[i]
		if used[strings.ToLower(name)] {
			extension := filepath.Ext(name)
			if isDirectory(a.path) {
				extension = ""
			}
			stem := strings.TrimSuffix(name, extension)
			for n := 2; taken[strings.ToLower(name)]; n++ {
				name = fmt.Sprintf("%s-%d%s", stem, n, extension)
			}
			taken[strings.ToLower(name)] = true
		}
		used[strings.ToLower(name)] = true
		d.inputs = append(d.inputs, pipeline.Input{Path: a.path, Output: filepath.Join(out, name)})
	}
	return d, nil
}

// baseName returns the last element of a path; for a path like "." or "..", the name of the directory.
func baseName(path string) (string, error) {
	name := filepath.Base(filepath.Clean(path))
	if name == "." || name == ".." {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return "", fmt.Errorf("input %s: %w", path, err)
		}
		name = filepath.Base(absolute)
	}
	if name == string(filepath.Separator) || name == filepath.VolumeName(name) {
		return "", fmt.Errorf("input %s has no name for its output: give INPUT=OUTPUT", path)
	}
	return name, nil
}

// checkKind refuses a directory as the output of a file. The output of a directory can be either, depending on its
// name.
func checkKind(input, output string) error {
	if !isDirectory(input) && (isDirectory(output) || endsInSeparator(output)) {
		return misuse("input %s is a file, but its output %s is a directory", input, output)
	}
	return nil
}

// checkWritten refuses to write a file twice, or over a file that is read. sides are the files that are written beside
// the outputs, the mapping first; read are those that are read beside the inputs. base is the base mapping or "": the
// mapping may replace it, as it has been read by then.
func checkWritten(d destination, sides []target, read []string, base string) error {
	if err := checkDistinct(slices.Concat(d.outputs(), sides)); err != nil {
		return err
	}
	// Package pipeline checks that no output is an input.
	inputs := make([]string, len(d.inputs))
	for i, in := range d.inputs {
		inputs[i] = in.Path
	}
	if err := checkNotRead(sides, inputs); err != nil {
		return err
	}
	if err := checkNotRead(slices.Concat(d.outputs(), sides), read); err != nil || base == "" {
		return err
	}
	return checkNotRead(slices.Concat(d.outputs(), sides[1:]), []string{base})
}

// checkDistinct refuses to write two files under two names of one.
func checkDistinct(files []target) error {
	first := map[string]target{}
	for _, t := range files {
		identity, err := output.Identity(t.path)
		if err != nil {
			identity = filepath.Clean(t.path) // opening the file will report the error
		}
		other, taken := first[identity]
		if taken && identity != "" {
			if other.path == t.path {
				return misuse("%s and %s are the same file, %s: give different names", other.what, t.what, t.path)
			}
			return misuse("%s %s and %s %s are two names of one file: name another file for one of them", other.what,
				other.path, t.what, t.path)
		}
		first[identity] = t
	}
	return nil
}

// checkNotRead refuses to write a file that is read, or that lies in a directory that is read.
func checkNotRead(written []target, read []string) error {
	for _, t := range written {
		linked, err := zipfile.Linked(t.path, read...)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		if linked != "" {
			return fmt.Errorf("%s: %s is %s, which is read, or a link to it; choose another name", t.what, t.path,
				linked)
		}
		for _, dir := range read {
			if isDirectory(dir) && liesIn(dir, t.path) {
				return fmt.Errorf("%s: %s lies in %s, which is read; choose another directory", t.what, t.path, dir)
			}
		}
	}
	return nil
}

// liesIn reports whether file, or the file that it links to, lies in dir.
func liesIn(dir, file string) bool {
	above, err := resolved(dir)
	if err != nil {
		return false
	}
	below, err := resolved(file)
	return err == nil && output.Below(above, below)
}

// resolved returns the path in a form that can be compared, see [output.Resolve]. If links cannot be followed, it only
// makes the path absolute, as opening the file will report the error.
func resolved(path string) (string, error) {
	if real, err := output.Resolve(path); err == nil {
		return real, nil
	}
	return filepath.Abs(path)
}

// outputs returns the outputs with their names in messages.
func (d destination) outputs() []target {
	if d.merge != "" {
		return []target{{"--output", d.merge}}
	}
	list := make([]target, len(d.inputs))
	for i, in := range d.inputs {
		list[i] = target{"the output of " + in.Path, in.Output}
	}
	return list
}

// makeDirectories makes the directories of the files. undo removes those that it made and that are still empty.
func makeDirectories(files []target) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			os.Remove(dir) // fails if the directory is not empty, as intended
		}
	}
	for _, f := range files {
		var missing []string
		for dir := filepath.Dir(f.path); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
				break
			}
			missing = append(missing, dir)
		}
		for _, dir := range slices.Backward(missing) {
			err := os.Mkdir(dir, 0o777)
			if errors.Is(err, fs.ErrExist) && isDirectory(dir) {
				continue // another process was faster, as in a build that scans parts at the same time
			}
			if err != nil {
				undo()
				return nil, fmt.Errorf("%s: %w", f.what, err)
			}
			made = append(made, dir)
		}
	}
	return undo, nil
}

// checkWritable fails if an output, or a file beside the outputs, cannot be written. It is called before work that
// takes long, and first cleans up after runs that were killed, see [output.Recover]. It creates a file in each
// directory and removes it: on some file systems only an attempt shows whether that is possible. It expects that the
// directories exist.
func (c *console) checkWritable(d destination, sides []target) error {
	var paths []string
	for _, t := range slices.Concat(d.outputs(), sides) {
		paths = append(paths, t.path)
	}
	output.Recover(paths, c.warnText)
	tried := map[string]bool{}
	for i, t := range slices.Concat(d.outputs(), sides) {
		info, err := os.Stat(t.path)
		switch {
		case d.merge == "" && i < len(d.inputs) && isDirectory(d.inputs[i].Path) && !output.IsArchiveName(t.path):
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s: %s must be a directory, and there is a file of that name; choose another name",
					t.what, t.path)
			}
			continue
		case err == nil && !info.IsDir() && !info.Mode().IsRegular():
			continue // opening a pipe waits for its reader
		case err != nil || info.Mode().IsRegular():
			if dir := filepath.Dir(t.path); tried[dir] {
				continue
			} else {
				tried[dir] = true
			}
		}
		f, err := zipfile.CreateFile(t.path)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		f.Abort()
	}
	return nil
}

// target is a file or directory that is written, with its name in messages.
type target struct{ what, path string }

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func endsInSeparator(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}
