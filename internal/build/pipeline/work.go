package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// work is what all operations on inputs share.
type work struct {
	set      *input.Set
	workers  int
	progress *progress
	warnings []string     // about the inputs
	builtIn  *input.Input // the built-in runtime, if it was added; the last input then
}

// open opens the inputs, but those whose facts are known: these are opened when a byte of them is needed. passes is how
// often the operation works through all classes.
func open(paths []string, known []plan.InputFacts, jobs int, flat bool, report func(done, total int64),
	passes int) (*work, error) {
	w := &work{}
	inputs := make([]*input.Input, 0, len(paths))
	for i, path := range paths {
		in, err := openInput(i, path, known, flat)
		if err != nil {
			input.NewSet(inputs).Close()
			return nil, err
		}
		inputs = append(inputs, in)
		w.warnings = append(w.warnings, apartWarning(in)...)
		for _, c := range in.Containers {
			for _, name := range c.Duplicates {
				if strings.HasSuffix(name, "/") {
					continue // every merged jar has directories twice, and they mean the same
				}
				w.warnings = append(w.warnings, fmt.Sprintf("%s: entry %s is there more than once; all are kept, in "+
					"their order", c.Name, name))
			}
		}
	}
	w.set = input.NewSet(inputs)
	w.workers = max(1, min(workers(jobs), len(w.set.Classes))) // what the queues' length depends on
	w.progress = &progress{report: report, total: int64(passes) * w.set.Size(), passes: int64(passes)}
	return w, nil
}

// apartWarning returns a warning if an input has archives that are not worked on: their classes would silently be left
// as they are. With [Config].Flat, that is what the caller wants.
func apartWarning(in *input.Input) []string {
	if in.Flat {
		return nil
	}
	var apart []string
	for _, c := range in.Containers {
		for _, name := range c.Apart {
			apart = append(apart, c.Outer+name)
		}
	}
	switch len(apart) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s: it has an archive that is copied, not instrumented: %s", in.Path, apart[0])}
	}
	return []string{fmt.Sprintf("%s: it has archives that are copied, not instrumented: %s and %d more", in.Path, apart[0],
		len(apart)-1)}
}

func openInput(i int, path string, known []plan.InputFacts, flat bool) (*input.Input, error) {
	if len(known) == 0 || len(known[i].Containers) == 0 {
		return input.Open(i, path, flat)
	}
	classes := make([]*input.Class, len(known[i].Classes))
	for k, c := range known[i].Classes {
		classes[k] = c.At
	}
	return input.Later(path, known[i].Containers, classes, flat), nil
}

// workers returns the number of workers: as many as are asked for, or one per CPU.
func workers(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}

// paths returns the paths of the inputs.
func (w *work) paths() []string {
	paths := make([]string, len(w.set.Inputs))
	for i, in := range w.set.Inputs {
		paths[i] = in.Path
	}
	return paths
}

// openInputs opens inputs that were not opened yet.
func (w *work) openInputs(numbers []int) error {
	for _, i := range numbers {
		if err := w.set.Inputs[i].Open(); err != nil {
			return err
		}
	}
	return nil
}

// merged returns the containers that become one archive, if there is one to be made. All inputs are opened for that:
// all entries have a part in it, not only classes.
func (w *work) merged(into string) ([]*input.Container, error) {
	if into == "" {
		return nil, nil
	}
	for i := range w.set.Inputs {
		if err := w.openInputs([]int{i}); err != nil {
			return nil, err
		}
	}
	for _, c := range w.set.Containers() {
		for i := range c.Entries {
			if c.Entries[i].Nested != nil {
				if !strings.EqualFold(path.Ext(c.Name), ".aar") {
					continue
				}
				return nil, fmt.Errorf("%s: an .aar cannot be merged into a jar: all but its classes would be lost", c.Name)
			}
		}
	}
	return w.set.Containers(), nil
}

// checkRuntime returns an error if no class file among the inputs can be that of the runtime class, by its internal
// name. It looks at the names of entries alone, before any class is read: the plan decides by the classes.
func (w *work) checkRuntime(name string) error {
	file := path.Base(name) + ".class"
	for _, c := range w.set.Classes {
		if c.Container.Kind == input.ClassFile || path.Base(c.Name) == file {
			return nil
		}
	}
	return plan.MissingRuntime(name)
}

// each calls work with the number of every class up to end, from several goroutines: each makes its own by start. Of
// several errors it returns that of the first class, whichever worker was faster.
func (w *work) each(ctx context.Context, end int, start func() (work func(class int) error)) error {
	var (
		next, failed atomic.Int64
		group        errgroup.Group
		failures     = make([]error, end)
	)
	failed.Store(int64(end))
	for range min(w.workers, end) {
		group.Go(func() error {
			work := start()
			for {
				if err := ctx.Err(); err != nil {
					return err
				}
				// All classes before one that failed have been taken by then, and will be finished.
				i := next.Add(1) - 1
				if i >= failed.Load() {
					return nil
				}
				if failures[i] = work(int(i)); failures[i] != nil {
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

// scanner scans the classes of a set, one at a time.
type scanner struct {
	*work
	*plan.Scanner
	buffer zipfile.Inflated
	behind input.Trail
}

func (w *work) newScanner(o plan.ScanOptions, graph *plan.Graph) *scanner {
	return &scanner{work: w, Scanner: plan.NewScanner(o, graph)}
}

// scan returns the facts about all classes, of which those of some inputs are known.
func (w *work) scan(ctx context.Context, known []plan.InputFacts, o plan.ScanOptions) ([]*plan.Class, error) {
	facts := make([]*plan.Class, len(w.set.Classes))
	for i, in := range known {
		copy(facts[w.set.Inputs[i].First:], in.Classes)
	}
	graph := plan.NewGraph()
	defer graph.Close()
	scanners := make(chan *scanner, max(w.workers, 1))
	err := w.each(ctx, len(facts), func() func(int) error {
		s := w.newScanner(o, graph)
		scanners <- s
		return func(n int) (err error) {
			if facts[n] != nil {
				w.progress.add(w.set.Classes[n].Size)
				return nil
			}
			facts[n], err = s.scan(n)
			return err
		}
	})
	close(scanners)
	for s := range scanners {
		s.behind.End()
	}
	return facts, err
}

// scan returns the facts about a class, which is left as it is if it cannot be read as one. An error makes the whole
// operation fail.
func (s *scanner) scan(class int) (*plan.Class, error) {
	at := s.set.Classes[class]
	e, err := s.set.Entry(class)
	if err != nil {
		return nil, err
	}
	s.behind.Pass(e)
	data, err := s.set.ReadFirst(class, &s.buffer)
	s.progress.add(at.Size)
	if errors.Is(err, zipfile.ErrUnsupported) {
		return s.Unreadable(at, e.Zip.CRC32, err), nil
	}
	if err != nil {
		return nil, err
	}
	return s.Scan(at, data), nil
}

// callsOf reads which methods the methods of a class call, from its file.
func (w *work) callsOf(class int, facts []*plan.Class, runtimeClass string) (inject.Calls, error) {
	r := classReader{Set: w.set, Runtime: runtimeClass}
	c, err := r.Read(class, plan.ByNames(facts), facts[class].Foreign)
	if err != nil {
		return inject.Calls{}, err
	}
	return inject.CallsOf(c), nil
}

// progress counts the bytes of classes that are worked on.
type progress struct {
	report func(done, total int64) // nil if it is not asked for
	passes int64

	mu          sync.Mutex
	total, done int64
	reported    int64 // what was reported last: after a second round of writing, more than is done
}

// add counts bytes.
func (p *progress) add(n int64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done += n; p.done > p.reported {
		p.reported = p.done
		p.report(p.done, p.total)
	}
}

// grow notes that there are more bytes to work on.
func (p *progress) grow(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += p.passes * n
}

// restart goes back, or forward, to where the last pass begins.
func (p *progress) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = p.total - p.total/p.passes
}
