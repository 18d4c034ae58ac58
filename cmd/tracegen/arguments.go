package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// argument is one input as it was asked for.
type argument struct {
	path   string
	output string // of INPUT=OUTPUT; "" if there is none
}

// parseArguments reads the arguments INPUT, INPUT=OUTPUT and @FILE. argfiles are the files that were read.
func parseArguments(args []string) (list []argument, argfiles []string, err error) {
	for _, arg := range args {
		name, isFile := strings.CutPrefix(arg, "@")
		if !isFile {
			a, err := parseArgument(arg)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, a)
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

// readArgfile reads a file of arguments, one a line, taken as they are: a name may hold spaces and quotes, and
// no two programs agree on how to escape them. Empty lines and those that start with # are left out. Options
// are refused, for they would be read after those of the command line, or before: nobody could tell which win.
func readArgfile(name string) ([]argument, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("argument file: %w", err)
	}
	var list []argument
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		var a argument
		switch line[0] {
		case '@':
			err = fmt.Errorf("argument files do not nest (./%s is an input of that name)", line)
		case '-':
			err = fmt.Errorf("%s: options belong on the command line or into %s (./%s is an input of that name)", line, defaultConfig, line)
		default:
			a, err = parseArgument(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// parseArgument divides INPUT=OUTPUT. An = may be part of a name: what exists as a whole is an input, and else
// the shortest INPUT that exists counts.
func parseArgument(arg string) (argument, error) {
	whole, err := exists(arg)
	if whole || err != nil {
		return argument{path: arg}, err
	}
	for i := range len(arg) {
		if arg[i] != '=' || i == 0 {
			continue
		}
		found, err := exists(arg[:i])
		if err != nil {
			return argument{}, err
		}
		if found && i+1 == len(arg) {
			return argument{}, misuse("%s: the output behind = is missing", arg)
		}
		if found {
			return argument{arg[:i], arg[i+1:]}, nil
		}
	}
	input, _, _ := strings.Cut(arg, "=")
	return argument{}, fmt.Errorf("input %s does not exist", input)
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

// paths gives the arguments as names of files that are read.
func paths(args []string) (list, argfiles []string, err error) {
	arguments, argfiles, err := parseArguments(args)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range arguments {
		if a.output != "" {
			return nil, nil, misuse("%s=%s: there is one output, named by --output", a.path, a.output)
		}
		list = append(list, a.path)
	}
	if len(list) == 0 {
		return nil, nil, misuse("the argument file lists no input")
	}
	return list, argfiles, nil
}
