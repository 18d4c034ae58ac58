package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/fleet/mappingstore"
	"github.com/tracegen/tracegen/internal/userfile"
)

const (
	defaultConfig  = "tracegen.yml"
	defaultMapping = "methodMapping.txt"
)

// readConfig reads tracegen.yml and sets the options that the command line does not set. It also checks the values of
// options that the command does not use. It returns the rules, and the names of the file and the files that it
// includes. Without --config, the file may be missing.
func (i *instrument) readConfig() (files []string, rules []filter.Rule, err error) {
	file := i.config
	if file == "" {
		file = defaultConfig
	}
	data, err := userfile.ReadText(file)
	if i.config == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--config: %w", err)
	}
	config, err := filter.ParseConfig(file, data, i.rows.configurable(), userfile.ReadText)
	if err != nil {
		return nil, nil, err
	}
	// The order of the table makes the order of errors the same in every run.
	var errs []error
	for k := range i.rows {
		o := &i.rows[k]
		values := config.Lists[o.name]
		if option, given := config.Options[o.name]; given {
			values = []filter.Option{option}
		} else if len(values) > 0 && !o.repeatable() {
			errs = append(errs, fmt.Errorf("%v: %s: found a list, expected a single value", values[0].At, o.name))
			continue
		}
		target := i.unused[k].flag
		if i.uses(o) && (o.config == 0 || o.config&i.as != 0) {
			target = o.flag
		}
		if target.Changed {
			continue
		}
		for _, option := range values {
			if err := target.Value.Set(o.relativeTo(file, option.Value)); err != nil {
				errs = append(errs, fmt.Errorf("%v: %s: %q: %w", option.At, o.name, option.Value, err))
			}
			target.Changed = true
		}
	}
	return append([]string{file}, config.Included...), config.Rules, errors.Join(errs...)
}

// configurable returns the names of the options that tracegen.yml may set.
func (t options) configurable() []string {
	return t.names(func(o *option) bool { return o.config != offLimits })
}

// relativeTo returns the value of the option that stands in the configuration file as value.
func (o *option) relativeTo(file, value string) string {
	switch {
	case o.word != "" && value == o.word:
		return value
	case o.list:
		return relativeList(file, value)
	case o.file != noFile:
		return relativeTo(file, value)
	}
	return value
}

// relativeTo returns a path that is relative to the directory of file, as a path that is relative to the working
// directory. It keeps a slash at the end, which marks a directory. The location of an archive stays as it is.
func relativeTo(file, path string) string {
	if filepath.IsAbs(path) || path == standardOutput || mappingstore.IsReference(path) {
		return path
	}
	joined := filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
	if endsInSeparator(path) {
		joined += string(filepath.Separator)
	}
	return joined
}

// relativeList does the same for each path of a list.
func relativeList(file, list string) string {
	paths := filepath.SplitList(list)
	for i, path := range paths {
		paths[i] = relativeTo(file, path)
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}
