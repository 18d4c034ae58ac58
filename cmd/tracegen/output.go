package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/output"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// destination says where everything goes.
type destination struct {
	inputs []pipeline.Input
	merge  string // the one output of all inputs, or ""
	// beside is the directory for files that belong to the outputs.
	beside string
	// directory is --output if the outputs lie in it, by names that their inputs gave them; or "".
	directory string
}

// resolveOutputs decides where each input's output goes. out is the value of --output, or "". It looks at what
// is on the disk, for a directory is not always named as one; what it decides is not to depend on anything
// else, so that a build that is run again finds its outputs where they were.
func resolveOutputs(args []argument, out string, merge bool) (destination, error) {
	pairs := 0
	for _, a := range args {
		if a.output != "" {
			pairs++
		}
	}
	switch {
	case merge && pairs > 0:
		return destination{}, misuse("with --merge there is one output, named by --output: no INPUT=OUTPUT")
	case pairs > 0 && out != "":
		return destination{}, misuse("outputs are named either by --output or by INPUT=OUTPUT, not by both")
	case pairs > 0 && pairs < len(args):
		return destination{}, misuse("either every input is INPUT=OUTPUT or none is")
	case pairs > 0:
		return pairedOutputs(args)
	case out == "":
		return destination{}, misuse("no output given: name it by --output, or write INPUT=OUTPUT")
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
		return destination{}, misuse("--output %s is a directory; --merge makes one jar: name a file", out)
	}
	d := destination{merge: out, beside: filepath.Dir(out)}
	for _, a := range args {
		d.inputs = append(d.inputs, pipeline.Input{Path: a.path})
	}
	return d, nil
}

// singleOutput: a directory of classes becomes the directory out itself; a file becomes out, or one of its own
// name in it.
func singleOutput(path, out string) (destination, error) {
	d := destination{beside: filepath.Dir(filepath.Clean(out))}
	if !isDirectory(path) && (isDirectory(out) || endsInSeparator(out)) {
		d.beside, d.directory = filepath.Clean(out), filepath.Clean(out)
		out = filepath.Join(out, filepath.Base(path))
	}
	d.inputs = []pipeline.Input{{Path: path, Output: out}}
	return d, checkKind(path, out)
}

// outputsInDirectory gives every input its own name in the directory out. Of inputs of one name, the first
// keeps it and the others get -2, -3 and so on in front of the extension, in their order. Names that differ
// only in case count as the same, for on some file systems they are.
func outputsInDirectory(args []argument, out string) (destination, error) {
	if !isDirectory(out) {
		if _, err := os.Stat(out); err == nil {
			return destination{}, misuse("--output %s is a file; several inputs need a directory, or --merge", out)
		}
	}
	names := make([]string, len(args))
	taken := map[string]bool{} // every input's own name is kept free for the first that has it
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

// baseName gives the last element of a path; of one like "." or "..", that of the directory it stands for.
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
		return "", fmt.Errorf("input %s has no name that its output could have: write INPUT=OUTPUT", path)
	}
	return name, nil
}

// checkKind refuses a directory as the output of a file. A directory can become either, by the output's name.
func checkKind(input, output string) error {
	if !isDirectory(input) && (isDirectory(output) || endsInSeparator(output)) {
		return misuse("input %s is a file, its output %s a directory", input, output)
	}
	return nil
}

// checkWritten refuses files to be written that are each other or are read. sides are the files beside the
// outputs, the mapping first; read those that are read beside the inputs; base the mapping that IDs come from,
// or "", which alone may be replaced, by the mapping: it is in memory by then.
func checkWritten(d destination, sides []target, read []string, base string) error {
	first := map[string]string{}
	for _, t := range slices.Concat(d.outputs(), sides) {
		key := t.path
		if absolute, err := filepath.Abs(t.path); err == nil {
			key = absolute
		}
		if other, ok := first[key]; ok && t.path != os.DevNull {
			return misuse("%s and %s would both be written to %s", other, t.what, t.path)
		}
		first[key] = t.what
	}
	// That no output is an input, package pipeline sees to.
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

// checkNotRead refuses files to be written that are among those read, or lie in a directory of them.
func checkNotRead(written []target, read []string) error {
	for _, t := range written {
		linked, err := jar.Linked(t.path, read...)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		if linked != "" {
			return fmt.Errorf("%s: %s is %s, which is read, or a link to it; choose another name", t.what, t.path, linked)
		}
		for _, dir := range read {
			if isDirectory(dir) && liesIn(dir, t.path) {
				return fmt.Errorf("%s: %s lies in the input %s; choose another place", t.what, t.path, dir)
			}
		}
	}
	return nil
}

// liesIn reports whether file, or what it links to, is below dir.
func liesIn(dir, file string) bool {
	above, err := resolved(dir)
	if err != nil {
		return false
	}
	below, err := resolved(file)
	return err == nil && output.Below(above, below)
}

// resolved returns a path that others can be compared with, as [output.Resolve] does; if links cannot be followed, it is
// only made absolute: using the file will report why.
func resolved(path string) (string, error) {
	if real, err := output.Resolve(path); err == nil {
		return real, nil
	}
	return filepath.Abs(path)
}

// outputs lists the outputs, each with what to call it.
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

// makeDirectories makes the directories that files are to be written into. undo removes again those that were
// made and are still empty.
func makeDirectories(files []target) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			os.Remove(dir) // fails if there is something in it, and so it should
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
			if err := os.Mkdir(dir, 0o777); err != nil {
				undo()
				return nil, fmt.Errorf("%s: %w", f.what, err)
			}
			made = append(made, dir)
		}
	}
	return undo, nil
}

// target is something to be written, and what to call it in messages.
type target struct{ what, path string }

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func endsInSeparator(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}
