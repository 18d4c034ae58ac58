package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
)

const (
	defaultConfig  = "tracegen.yml"
	defaultMapping = "methodMapping.txt"
)

// readConfig reads a tracegen.yml and sets those of the flags that were not given on the command line. It
// gives the names of the file and of those that it includes, none if there is no file, and the rules. name is the
// value of --config; "" stands for the default file, which need not be there.
func readConfig(name string, flags *pflag.FlagSet) (files []string, rules []filter.Rule, err error) {
	file := name
	if name == "" {
		file = defaultConfig
	}
	data, err := os.ReadFile(file)
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--config: %w", err)
	}
	config, err := filter.ParseConfig(file, data, configurable(flags), os.ReadFile)
	if err != nil {
		return nil, nil, err
	}
	// In a fixed order, so that of several errors it is always the same that is told.
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		values := config.Lists[f.Name]
		if option, given := config.Options[f.Name]; given {
			values = []filter.Option{option}
		} else if len(values) > 0 && !isRepeatable(f) {
			errs = append(errs, fmt.Errorf("%v: %s: a list is found where a single value is expected", values[0].At, f.Name))
			return
		}
		if f.Changed {
			return
		}
		for _, option := range values {
			if err := setOption(file, f, option.Value); err != nil {
				errs = append(errs, fmt.Errorf("%v: %s: %q: %w", option.At, f.Name, option.Value, err))
			}
			f.Changed = true
		}
	})
	return append([]string{file}, config.Included...), config.Rules, errors.Join(errs...)
}

// setOption gives a flag a value from the configuration file of that name.
func setOption(file string, f *pflag.Flag, value string) error {
	switch {
	case f.Name == "classpath":
		value = relativeList(file, value)
	case isPath(f.Name):
		value = relativeTo(file, value)
	}
	return f.Value.Set(value)
}

// isRepeatable says whether a flag may be given several times, each adding to the others, and so may be a list.
func isRepeatable(f *pflag.Flag) bool {
	_, guards := f.Value.(*failOn)
	return guards || f.Value.Type() == "stringArray"
}

// relativeTo gives a path that is meant from where file is. A slash at its end, which says that it is a
// directory, stays.
func relativeTo(file, path string) string {
	if filepath.IsAbs(path) || path == standardOutput {
		return path
	}
	joined := filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
	if endsInSeparator(path) {
		joined += string(filepath.Separator)
	}
	return joined
}

// relativeList does the same for a list of paths.
func relativeList(file, list string) string {
	paths := filepath.SplitList(list)
	for i, path := range paths {
		paths[i] = relativeTo(file, path)
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

// configurable lists the flags that a configuration file can set: all but those that say which file that is,
// or that ask for something else than a run.
func configurable(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "help" && f.Name != "ids" && f.Name != "slices" && f.Name != "log-format" && !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// isPath says whether a flag names a file. In a configuration file, such a name is relative to that file.
func isPath(flag string) bool {
	return slices.Contains([]string{"output", "mapping", "base", "prune", "ids", "r8-mapping", "base-r8-mapping", "base-report", "lines", "skipped", "report", "blocklist", "classpath", "jdk", "cache"}, flag)
}
