package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/mapping"
)

// run is one call of Run.
type run struct {
	config  Config
	codec   jar.Codec
	opened  []*jar.Archive
	sources []*source
	units   []*unit // in input order

	mapping    *mapping.Mapping
	hooksFocus bool
	warnings   []string
	outputs    outputs
	written    []InputResult

	total    int64
	done     atomic.Int64
	progress sync.Mutex
}

// Run instruments the inputs. On an error nothing has been written; it is one of reading, of writing, of a
// runtime class that is missing or wrong, or of IDs running out.
func Run(ctx context.Context, c Config) (*Result, error) {
	r := newRun(c)
	defer r.close()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if !c.Disabled {
		if err := r.decideWhole(); err != nil {
			return nil, err
		}
	}
	// Every round but the last excludes at least one class.
	for {
		if err := r.assign(); err != nil {
			return nil, err
		}
		objections, err := r.write(ctx)
		if err != nil {
			return nil, err
		}
		if len(objections) == 0 {
			break
		}
		r.outputs.abort()
		for _, u := range r.units {
			if objection := objections[u]; objection != "" {
				r.warn("%s is written as it came, please report this: %s", u.source.where(u.entry), objection)
				u.exclude(objection)
			}
		}
	}
	return r.finish()
}

func newRun(c Config) *run {
	if c.Inject.RuntimeClass == "" {
		c.Inject.RuntimeClass = inject.DefaultRuntimeClass
	}
	if c.Inject.Exits == inject.ExitsExact {
		c.Inject.ConstructorEntry = inject.EntryAfterSuper
	}
	if c.Filter == nil {
		c.Filter = filter.New(filter.Options{RuntimeClass: c.Inject.RuntimeClass})
	}
	if c.Jobs <= 0 {
		c.Jobs = runtime.GOMAXPROCS(0)
	}
	return &run{config: c}
}

func (r *run) close() {
	r.outputs.abort()
	for _, a := range r.opened {
		a.Close()
	}
}

// prepare checks the outputs, opens the inputs and scans every class, unless nothing is to be done with them.
func (r *run) prepare(ctx context.Context) error {
	if err := r.checkOutputs(); err != nil {
		return err
	}
	if err := r.open(); err != nil {
		return err
	}
	if r.config.Disabled {
		return nil
	}
	return r.eachUnit(ctx, (*worker).scan)
}

// eachUnit lets the workers loose on the units.
func (r *run) eachUnit(ctx context.Context, work func(*worker, *unit) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(r.config.Jobs, len(r.units)) {
		group.Go(func() error {
			w := r.newWorker()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(r.units) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(w, r.units[i]); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// finish writes the files beside the outputs, makes everything appear, and reports.
func (r *run) finish() (*Result, error) {
	result := r.result()
	if r.config.Files != nil {
		files, err := r.config.Files(result)
		if err != nil {
			return nil, err
		}
		if err := r.writeFiles(files); err != nil {
			return nil, err
		}
	}
	if r.config.DryRun {
		return result, nil
	}
	return result, r.outputs.commit()
}

func (r *run) result() *Result {
	result := &Result{Mapping: r.mapping, Inputs: r.written, Warnings: r.warnings}
	for _, u := range r.units {
		in := &result.Inputs[u.source.input]
		if u.class == "" || len(u.methods) == 0 && u.whole.Reason != "" {
			result.Skipped = append(result.Skipped, r.skipped(u, mapping.Identity{Class: u.class}, u.whole))
		}
		if u.changes() {
			in.Rewritten++
		}
		in.Classes++
		in.Methods += len(u.methods)
		for i := range u.methods {
			m := &u.methods[i]
			if !m.decision.Traced() {
				result.Skipped = append(result.Skipped, r.skipped(u, m.identity, m.decision))
				continue
			}
			in.Traced++
			if id, ok := r.mapping.ByMethod(m.identity); ok && r.config.Lines {
				result.Lines = append(result.Lines, mapping.SourceLine{ID: id, Source: u.sourceFile, First: m.line})
			}
		}
	}
	// A class that is there twice, as under META-INF/versions, has one ID and, as far as the list goes, the
	// source that sorts first.
	slices.SortFunc(result.Lines, func(a, b mapping.SourceLine) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First))
	})
	result.Lines = slices.CompactFunc(result.Lines, func(a, b mapping.SourceLine) bool { return a.ID == b.ID })
	return result
}

func (r *run) skipped(u *unit, m mapping.Identity, d filter.Decision) Skipped {
	return Skipped{
		Input: r.config.Inputs[u.source.input].Path, Entry: u.entry.name,
		Class: m.Class, Name: m.Name, Descriptor: m.Descriptor,
		Reason: d.Reason, Detail: d.Detail,
	}
}

func (r *run) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// advance reports progress.
func (r *run) advance(n int64) {
	done := r.done.Add(n)
	if r.config.Progress == nil {
		return
	}
	r.progress.Lock()
	defer r.progress.Unlock()
	r.config.Progress(min(done, r.total), r.total)
}
