package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
)

// destination holds the inputs and their outputs.
type destination struct {
	inputs []pipeline.Input
	merge  string // the one output of all inputs, or ""
	// beside is the directory of the method mapping unless --mapping is given.
	beside string
}

// resolveOutputs returns the output of each input. out is the value of --output, or "". The result depends on the
// arguments and on which directories exist, and on nothing else, so that a repeated build finds its earlier outputs.
func resolveOutputs(args []cli.Argument, out string, merge bool) (destination, error) {
	pairs := 0
	for _, a := range args {
		if a.Output != "" {
			pairs++
		}
	}
	switch {
	case merge && pairs > 0:
		return destination{}, cli.Misuse("--merge excludes INPUT=OUTPUT: name the one output by --output")
	case pairs > 0 && out != "":
		return destination{}, cli.Misuse("--output excludes INPUT=OUTPUT: give one of them")
	case pairs > 0 && pairs < len(args):
		return destination{}, cli.Misuse("an input has no =OUTPUT: give an output for every input or for none")
	case pairs > 0:
		return pairedOutputs(args)
	case out == "":
		return destination{}, cli.Misuse("no output given: name it by --output, or give INPUT=OUTPUT")
	case merge:
		return mergedOutput(args, out)
	case len(args) == 1:
		return singleOutput(args[0].Path, out)
	}
	return outputsInDirectory(args, out)
}

func pairedOutputs(args []cli.Argument) (destination, error) {
	d := destination{beside: filepath.Dir(filepath.Clean(args[0].Output))}
	for _, a := range args {
		if err := checkKind(a.Path, a.Output); err != nil {
			return destination{}, err
		}
		d.inputs = append(d.inputs, pipeline.Input{Path: a.Path, Output: a.Output})
	}
	return d, nil
}

func mergedOutput(args []cli.Argument, out string) (destination, error) {
	if cli.IsDirectory(out) || cli.EndsInSeparator(out) {
		return destination{}, cli.Misuse("--output %s is a directory, but --merge writes one jar: name a file", out)
	}
	d := destination{merge: out, beside: filepath.Dir(out)}
	for _, a := range args {
		d.inputs = append(d.inputs, pipeline.Input{Path: a.Path})
	}
	return d, nil
}

// singleOutput returns the output of one input. A directory of classes becomes the directory out itself; a file becomes
// out or, if that is a directory, a file of its own name in it.
func singleOutput(path, out string) (destination, error) {
	d := destination{beside: filepath.Dir(filepath.Clean(out))}
	if !cli.IsDirectory(path) && (cli.IsDirectory(out) || cli.EndsInSeparator(out)) {
		d.beside = filepath.Clean(out)
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
func outputsInDirectory(args []cli.Argument, out string) (destination, error) {
	if !cli.IsDirectory(out) {
		if _, err := os.Stat(out); err == nil {
			return destination{}, cli.Misuse("--output %s is a file, but there are several inputs: name a directory, "+
				"or give --merge", out)
		}
		if e := strings.ToLower(filepath.Ext(out)); !cli.EndsInSeparator(out) && slices.Contains(archiveExtensions, e) {
			return destination{}, cli.Misuse("--output %s is the name of a file, but there are several inputs: give --merge "+
				"to write one jar, or write %s/ if a directory of that name is meant", out, out)
		}
	}
	names := make([]string, len(args))
	taken := map[string]bool{} // holds the names of all inputs from the start: -2 must not make a name of another input
	for i, a := range args {
		name, err := baseName(a.Path)
		if err != nil {
			return destination{}, err
		}
		names[i] = name
		taken[strings.ToLower(name)] = true
	}
	d := destination{beside: filepath.Clean(out)}
	used := map[string]bool{}
	for i, a := range args {
		name := names[i]
		if used[strings.ToLower(name)] {
			extension := filepath.Ext(name)
			if cli.IsDirectory(a.Path) {
				extension = ""
			}
			stem := strings.TrimSuffix(name, extension)
			for n := 2; taken[strings.ToLower(name)]; n++ {
				name = fmt.Sprintf("%s-%d%s", stem, n, extension)
			}
			taken[strings.ToLower(name)] = true
		}
		used[strings.ToLower(name)] = true
		d.inputs = append(d.inputs, pipeline.Input{Path: a.Path, Output: filepath.Join(out, name)})
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
	if !cli.IsDirectory(input) && (cli.IsDirectory(output) || cli.EndsInSeparator(output)) {
		return cli.Misuse("input %s is a file, but its output %s is a directory", input, output)
	}
	return nil
}

// outputs returns the outputs with their names in messages.
func (d destination) outputs() []cli.Target {
	if d.merge != "" {
		return []cli.Target{{What: "--output", Path: d.merge}}
	}
	list := make([]cli.Target, len(d.inputs))
	for i, in := range d.inputs {
		list[i] = cli.Target{What: "the output of " + in.Path, Path: in.Output,
			Directory: cli.IsDirectory(in.Path) && !output.IsArchiveName(in.Output)}
	}
	return list
}

// checkWritten refuses to write a file twice, or over a file that is read. sides are the files that are written beside
// the outputs, the mapping first; read are those that are read beside the inputs. base is the base mapping or "": the
// mapping may replace it, as it has been read by then.
func checkWritten(d destination, sides []cli.Target, read []string, base string) error {
	if err := cli.CheckDistinct(slices.Concat(d.outputs(), sides)); err != nil {
		return err
	}
	// Package pipeline checks that no output is an input.
	inputs := make([]string, len(d.inputs))
	for i, in := range d.inputs {
		inputs[i] = in.Path
	}
	if err := cli.CheckNotRead(sides, inputs); err != nil {
		return err
	}
	if err := cli.CheckNotRead(slices.Concat(d.outputs(), sides), read); err != nil || base == "" {
		return err
	}
	return cli.CheckNotRead(slices.Concat(d.outputs(), sides[1:]), []string{base})
}
