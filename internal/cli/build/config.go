package build

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/userfile"
)

// readConfig reads tracegen.yml and sets the options that the command line does not set. It also checks the values of
// options that the command does not use. It returns the rules, and the names of the file and the files that it
// includes. Without --config, the file may be missing.
func (i *settings) readConfig() (files []string, rules []filter.Rule, err error) {
	file := i.config
	if file == "" {
		file = cli.DefaultConfig
	}
	data, err := userfile.ReadSettings(file)
	if i.config == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--config: %w", err)
	}
	config, err := filter.ParseConfig(file, data, i.rows.Configurable(), userfile.ReadSettings)
	if err != nil {
		return nil, nil, err
	}
	// The order of the table makes the order of errors the same in every run.
	var errs []error
	for k := range i.rows {
		o := &i.rows[k]
		values := config.Lists[o.InConfig()]
		option, given := config.Options[o.InConfig()]
		switch {
		case given && o.Block != "":
			errs = append(errs, fmt.Errorf("%v: %s: found a single value, expected a block", option.At, o.Block))
			continue
		case given:
			values = []filter.Option{option}
		case len(values) > 0 && !o.Repeatable():
			errs = append(errs, fmt.Errorf("%v: %s: found a list, expected a single value", values[0].At, o.Name))
			continue
		}
		if len(values) == 0 {
			continue
		}
		target := i.unused.Find(o.Name).Flag
		if i.uses(o) && (o.Config == 0 || o.Config&i.as != 0) {
			target = o.Flag
		}
		set := target.Value.Set
		if more, ok := target.Value.(interface{ SetDefault(text string) error }); ok {
			set = more.SetDefault
		} else if target.Changed {
			continue
		}
		for _, option := range values {
			if err := set(o.RelativeTo(file, option.Value)); err != nil {
				errs = append(errs, fmt.Errorf("%v: %s: %q: %w", option.At, o.InConfig(), option.Value, err))
			}
			target.Changed = true
		}
	}
	return append([]string{file}, config.Included...), config.Rules, errors.Join(errs...)
}
