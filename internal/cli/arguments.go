package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/userfile"
)

// The names of files that commands look for.
const (
	DefaultConfig  = "tracegen.yml"
	DefaultMapping = "methodMapping.txt"
)

// Argument is one input on the command line.
type Argument struct {
	Path   string // of the input
	Output string // of INPUT=OUTPUT, or ""
}

// ParseArguments parses the arguments INPUT, INPUT=OUTPUT and @FILE. It returns the inputs, and the argument files that
// it read.
func ParseArguments(args []string) (list []Argument, argfiles []string, err error) {
	for _, arg := range args {
		name, isFile := strings.CutPrefix(arg, "@")
		if !isFile {
			more, err := parseArgument(arg)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, more...)
			continue
		}
		more, err := readArgfile(name)
		if err != nil {
			return nil, nil, err
		}
		list, argfiles = append(list, more...), append(argfiles, name)
	}
	return list, argfiles, nil
}

// readArgfile reads an argument file. Each line is one argument, without quoting: names may hold spaces and quotes, and
// programs differ in how they escape them. Empty lines and lines that start with # are skipped. Options are refused,
// as it would not be obvious whether they or those of the command line take precedence.
func readArgfile(name string) ([]Argument, error) {
	data, err := userfile.ReadSettings(name)
	if err != nil {
		return nil, fmt.Errorf("argument file: %w", err)
	}
	var list []Argument
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		var more []Argument
		switch line[0] {
		case '@':
			err = fmt.Errorf("an argument file may not name another one; an input of this name is written ./%s", line)
		case '-':
			err = fmt.Errorf("%s: an argument file may not hold options; give them on the command line or in %s; "+
				"an input of this name is written ./%s",
				line, DefaultConfig, line)
		default:
			more, err = parseArgument(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		list = append(list, more...)
	}
	return list, nil
}

// parseArgument divides INPUT=OUTPUT. A name may contain =: if the whole argument exists, it is an input, otherwise
// INPUT is the shortest part before an = that exists. An argument that names nothing may be a pattern of inputs.
func parseArgument(arg string) ([]Argument, error) {
	whole, err := exists(arg)
	if whole || err != nil {
		return []Argument{{Path: arg}}, err
	}
	for i := range len(arg) {
		if arg[i] != '=' || i == 0 {
			continue
		}
		found, err := exists(arg[:i])
		if err != nil {
			return nil, err
		}
		if found && i+1 == len(arg) {
			return nil, Misuse("%s: no output given behind =", arg)
		}
		if found {
			return []Argument{{arg[:i], arg[i+1:]}}, nil
		}
	}
	input, output, pair := strings.Cut(arg, "=")
	switch {
	case !userfile.IsPattern(arg):
		return nil, fmt.Errorf("input %s does not exist", input)
	case pair && userfile.IsPattern(input):
		return nil, Misuse("%s: a pattern has many inputs, and %s is one output; name a directory by --output", arg, output)
	}
	paths, err := userfile.Expand(arg)
	if err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	var list []Argument
	for _, path := range paths {
		list = append(list, Argument{Path: path})
	}
	return list, nil
}

// ExpandList returns the elements of lists of paths, separated as the system does it, with the files that match those
// that are patterns. title names the option in errors. An element that is no pattern need not exist.
func ExpandList(title string, lists []string) ([]string, error) {
	var all []string
	for _, list := range lists {
		for _, path := range filepath.SplitList(list) {
			switch {
			case path == "":
			case !userfile.IsPattern(path):
				all = append(all, path)
			default:
				found, err := userfile.Expand(path)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", title, err)
				}
				all = append(all, found...)
			}
		}
	}
	return all, nil
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("input: %w", err)
	}
	return true, nil
}

// Paths returns the files and directories that the arguments name. It fails if one has an output.
func Paths(args []string) (list, argfiles []string, err error) {
	arguments, argfiles, err := ParseArguments(args)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range arguments {
		if a.Output != "" {
			return nil, nil, Misuse("%s=%s: this command writes one file; name it by --output", a.Path, a.Output)
		}
		list = append(list, a.Path)
	}
	if len(list) == 0 {
		return nil, nil, Misuse("the argument files list no input")
	}
	return list, argfiles, nil
}
