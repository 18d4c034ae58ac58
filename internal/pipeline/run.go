package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
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
	runtime    string // the runtime class before it was renamed
	hooksFocus bool
	warnings   []string
	outputs    outputs
	written    []InputResult

	referee                 *referee // of types; nil without one
	around                  *surroundings
	introduced, preExisting int
	graph                   *callGraph   // to be filled by the scan; nil if nobody will ask
	known                   *incremental // what earlier runs came to; nil if nobody has written it down
	passes                  int          // over the inputs
	keeps                   bool         // the classes, from the first pass to the second
	noted                   struct {     // what nothing depends on
		sync.Mutex
		unknown, tolerated map[string]bool
	}

	progress struct {
		sync.Mutex
		total, done int64
		told        int64 // what was reported last: after a second round of writing, more than is done
	}
}

// Run instruments the inputs. On an error nothing has been written; it is one of reading, of writing, of a
// runtime class that is missing or wrong, or of IDs running out.
func Run(ctx context.Context, c Config) (*Result, error) {
	r := newRun(c)
	r.known = newIncremental(r, c.Incremental)
	defer r.close()
	if c.Slice != nil {
		return r.carryOut(ctx)
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.decideWhole(); err != nil {
		return nil, err
	}
	if err := r.appoint(); err != nil {
		return nil, err
	}
	if err := r.settle(func() (map[*unit]*objection, error) { return r.write(ctx) }); err != nil {
		return nil, err
	}
	r.warnOfModules()
	return r.finish(ctx)
}

// settle gives IDs and has the classes rewritten, again and again until nothing is refused and no referee objects to
// anything: every round but the last excludes at least one method or class.
func (r *run) settle(rewrite func() (map[*unit]*objection, error)) error {
	for {
		decided := len(r.warnings)
		if err := r.assign(); err != nil {
			return err
		}
		objections, err := rewrite()
		if err != nil || len(objections) == 0 {
			return err
		}
		r.outputs.abort()
		r.warnings = r.warnings[:decided] // what was said of this round will be said of the next
		r.sustain(objections)
	}
}

// carryOut writes what a slice says.
func (r *run) carryOut(ctx context.Context) (*Result, error) {
	r.passes = 1
	if err := r.checkOutputs(); err != nil {
		return nil, err
	}
	if err := r.known.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	r.known.divide()
	r.config.Jobs = max(1, min(r.config.Jobs, len(r.units)))
	r.config.Inject.RuntimeClass = r.config.Slice.runtime
	if err := r.follow(r.config.Slice); err != nil {
		return nil, err
	}
	if err := r.appoint(); err != nil {
		return nil, err
	}
	objections, err := r.write(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range r.units {
		if against := objections[u]; against != nil {
			return nil, fmt.Errorf("%s: a referee objects to what became of it, and did not when the part was scanned: %s; scan it with what is verified with here, or report this",
				u.source.where(u.entry), against.detail)
		}
	}
	return r.finish(ctx)
}

// appoint opens what the type verifier needs, if it is to judge.
func (r *run) appoint() error {
	if r.config.Disabled || r.config.Verify == VerifyEquivalence {
		return nil
	}
	if err := r.openSurroundings(); err != nil {
		return err
	}
	r.noted.unknown, r.noted.tolerated = make(map[string]bool), make(map[string]bool)
	r.referee = newReferee(r, r.around, r.units, nil, detail{parted: true})
	return nil
}

// sustain takes the classes that were objected to out of everything.
func (r *run) sustain(objections map[*unit]*objection) {
	broken := make([]int, len(r.config.Inputs))
	first := make([]string, len(r.config.Inputs))
	refused := false
	for _, u := range r.units {
		against := objections[u]
		switch {
		case against == nil:
			continue
		case len(against.refusals) > 0:
			u.refuse(against.refusals)
			u.untried, refused = false, true
			continue
		case !against.preExisting:
			r.introduced++
			r.warn("%s is written as it came, please report this: %s", u.source.where(u.entry), against.detail)
		default:
			r.preExisting++
			if broken[u.source.input]++; broken[u.source.input] == 1 {
				first[u.source.input] = u.source.where(u.entry) + ": " + against.detail
			}
		}
		u.exclude(against.detail)
	}
	for i, n := range broken {
		if n > 0 {
			r.warn("%s: classes that no JVM would take, %d of them, are left as they came (--skipped lists them): %s", r.config.Inputs[i].Path, n, first[i])
		}
	}
	if refused {
		r.decideRequires() // as if it had been known before
	}
}

func newRun(c Config) *run {
	if c.Inject.RuntimeClass == "" {
		c.Inject.RuntimeClass = inject.DefaultRuntimeClass
	}
	original := c.Inject.RuntimeClass
	if c.R8 != nil {
		if residual, ok := c.R8.ResidualClass(original); ok {
			c.Inject.RuntimeClass = residual
		}
	}
	if c.Inject.Exits == inject.ExitsExact {
		c.Inject.ConstructorEntry = inject.EntryAfterSuper
	}
	if c.Filter == nil {
		c.Filter = filter.New(filter.Options{RuntimeClass: original, R8: c.R8})
	}
	if c.DryRun {
		c.Level = jar.LevelStore // nobody sees how small it gets
	}
	if c.Jobs <= 0 {
		c.Jobs = runtime.GOMAXPROCS(0)
	}
	return &run{config: c, passes: 2, runtime: original}
}

func (r *run) close() {
	r.known.close()
	r.outputs.abort()
	r.around.close()
	for _, a := range r.opened {
		a.Close()
	}
}

// prepare checks the outputs, opens the inputs and scans every class, unless nothing is to be done with them.
func (r *run) prepare(ctx context.Context) error {
	if err := r.checkOutputs(); err != nil {
		return err
	}
	return r.openAndScan(ctx)
}

// openAndScan is prepare where there are no outputs.
func (r *run) openAndScan(ctx context.Context) error {
	if err := r.openInputs(ctx); err != nil || r.config.Disabled {
		return err
	}
	if err := r.eachUnit(ctx, (*worker).scan); err != nil {
		return err
	}
	return r.known.scanned()
}

func (r *run) openInputs(ctx context.Context) error {
	if err := r.known.begin(ctx); err != nil {
		return err
	}
	if err := r.open(); err != nil {
		return err
	}
	r.known.divide()
	r.config.Jobs = max(1, min(r.config.Jobs, len(r.units))) // what the queues' length depends on
	total := int64(0)
	for _, u := range r.units {
		total += min(u.entry.size, keptClasses)
	}
	r.keeps = r.passes == 2 && total <= keptClasses
	return nil
}

// keptClasses is how many bytes of classes a run keeps from its scan until it writes them, or none if they are more: some
// 5,000 classes, which are then inflated once. More would be the biggest part of what the run needs.
const keptClasses = 32 << 20

// eachUnit lets the workers loose on the units. Of several errors it gives that of the first unit, whoever was
// faster.
func (r *run) eachUnit(ctx context.Context, work func(*worker, *unit) error) error {
	var (
		next, failed atomic.Int64
		group        errgroup.Group
		failures     = make([]error, len(r.units))
	)
	failed.Store(int64(len(r.units)))
	for range min(r.config.Jobs, len(r.units)) {
		group.Go(func() error {
			w := r.newWorker()
			for {
				if err := ctx.Err(); err != nil {
					return err
				}
				// All units before one that failed have been taken by then, and will be finished.
				i := next.Add(1) - 1
				if i >= failed.Load() {
					w.behind.end()
					return nil
				}
				if failures[i] = work(w, r.units[i]); failures[i] != nil {
					failed.Store(i) // of two workers, either stops the rest
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes the files beside the outputs, makes everything appear, and reports.
func (r *run) finish(ctx context.Context) (*Result, error) {
	r.known.markDeparting()
	for _, d := range r.outputs.directories {
		others, err := d.check()
		if err != nil {
			return nil, err
		}
		if others > 0 {
			r.warn("%s: holds %d files that are not of this run, and keeps them; classes of an earlier one call by its mapping", d.target, others)
		}
	}
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.outputs.commit(); err != nil {
		return nil, err
	}
	r.known.finish()
	return result, nil
}

func (r *run) result() *Result {
	result := &Result{
		Mapping: r.mapping, Inputs: r.written, Warnings: r.warnings,
		Introduced: r.introduced, PreExisting: r.preExisting, Unknown: slices.Sorted(maps.Keys(r.noted.unknown)),
		Tolerated: slices.Sorted(maps.Keys(r.noted.tolerated)),
	}
	result.Skipped = r.eachSkipped
	for _, u := range r.units {
		in := &result.Inputs[u.source.input]
		if u.changes() {
			in.Rewritten++
		}
		in.Classes++
		in.Methods += u.methodsWithCode()
		for i := range u.methods {
			m := &u.methods[i]
			if !m.traced() {
				continue
			}
			in.Traced++
			if !r.config.Lines || u.sourceFile == "" && m.line == 0 {
				continue
			}
			result.Lines = append(result.Lines, mapping.SourceLine{ID: m.id, Source: u.sourceFile, First: int(m.line)})
		}
	}
	result.Packages = packagesOf(r.units)
	// A class that is there twice, as under META-INF/versions, has one ID and, as far as the list goes, the
	// source that sorts first.
	slices.SortFunc(result.Lines, func(a, b mapping.SourceLine) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First))
	})
	result.Lines = slices.CompactFunc(result.Lines, func(a, b mapping.SourceLine) bool { return a.ID == b.ID })
	return result
}

// packagesOf sums up what was inserted.
func packagesOf(units []*unit) []PackageResult {
	counts := make(map[string]PackageResult)
	for _, u := range units {
		if !u.changes() {
			continue
		}
		name := u.className()
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
		p := counts[name]
		counts[name] = PackageResult{name, p.Calls + u.calls, p.Bytes + u.grown}
	}
	list := slices.Collect(maps.Values(counts))
	slices.SortFunc(list, func(a, b PackageResult) int { return cmp.Compare(a.Package, b.Package) })
	return list
}

// methodsWithCode counts the methods of the class that have code, traced or not.
func (u *unit) methodsWithCode() int {
	if u.record == nil {
		return len(u.methods)
	}
	return max(len(u.methods), u.withCode)
}

// eachSkipped is [Result].Skipped. There may be as many as there are methods, so that no list is made of them.
func (r *run) eachSkipped(yield func(Skipped) bool) {
	for _, u := range r.units {
		if u.whole.Reason != "" && len(u.methods) == 0 && !yield(r.skipped(u, mapping.Identity{Class: u.className()}, u.whole)) {
			return
		}
		for i := range u.methods {
			m := &u.methods[i]
			if m.traced() {
				continue
			}
			s := r.skipped(u, u.identityOf(i), m.decided())
			if residual := u.residualOf(i); residual != "" {
				s.Detail = strings.TrimPrefix(s.Detail+"; in the input it is "+residual, "; ")
			}
			if !yield(s) {
				return
			}
		}
	}
}

func (r *run) skipped(u *unit, m mapping.Identity, d filter.Decision) Skipped {
	return Skipped{
		Input: r.config.Inputs[u.source.input].Path, Entry: u.source.outer + u.entry.name,
		Class: m.Class, Name: m.Name, Descriptor: m.Descriptor,
		Reason: d.Reason, Detail: d.Detail,
	}
}

func (r *run) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// advance reports progress.
func (r *run) advance(n int64) {
	p := &r.progress
	if r.config.Progress == nil {
		return
	}
	p.Lock()
	defer p.Unlock()
	if p.done += n; p.done > p.told {
		p.told = p.done
		r.config.Progress(p.done, p.total)
	}
}

// restartProgress goes back, or forward, to where the writing begins.
func (r *run) restartProgress() {
	r.progress.Lock()
	defer r.progress.Unlock()
	r.progress.done = r.progress.total - r.progress.total/int64(r.passes)
}
