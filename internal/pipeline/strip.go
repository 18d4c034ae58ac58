package pipeline

import (
	"context"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/mapping"
)

// Strip takes the calls of earlier runs out of the inputs. Of the configuration, what is about choosing
// methods and IDs is not used. The result counts as Rewritten the classes that held calls; its mapping is
// empty. Errors are as for [Run].
func Strip(ctx context.Context, c Config) (*Result, error) {
	r := newRun(c)
	defer r.close()
	r.config.Filter = filter.New(filter.Options{RuntimeClass: r.config.Inject.RuntimeClass})
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for _, u := range r.units {
		if u.warning != "" {
			r.warn("%s%s", u.source.where(u.entry), u.warning)
		}
		u.stamped, u.methods = false, nil
	}
	if r.config.Merge != "" {
		if err := r.dropDuplicates(); err != nil {
			return nil, err
		}
	}
	var err error
	if r.mapping, err = mapping.Assign(nil, mapping.Options{Runtime: r.config.Inject.RuntimeClass}); err != nil {
		return nil, err
	}
	if _, err := r.write(ctx); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}
