package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// slotsPerJob bounds how far the workers may be ahead of the writer, in classes for each worker.
const slotsPerJob = 32

// writeOptions are what writing depends on, besides the decisions.
type writeOptions struct {
	Rewrite  rewriteOptions // of classes that change
	Level    zipfile.Level  // of what is compressed anew
	Workers  int            // at least 1
	Progress func(int64)    // is called with the bytes of classes that are done, by several goroutines
}

// outputWriter writes outputs of one set by one set of decisions, one output at a time. Its workers are ahead, also
// in the outputs to come: they would have nothing to do at the end of each one.
type outputWriter struct {
	options   writeOptions
	set       *input.Set
	decisions plan.Decisions
	stage     *output.Stage
	codec     zipfile.Codec

	ctx     context.Context
	cancel  context.CancelFunc
	jobs    chan *slot
	workers errgroup.Group
	feeds   chan *feed     // of the containers that are inputs, in the order in which they are written
	feeding sync.WaitGroup // of what fills feeds
}

// newOutputWriter starts the workers of a Writer for jobs, with which Write must be called in this order. Close ends
// them.
func newOutputWriter(ctx context.Context, set *input.Set, decisions plan.Decisions, stage *output.Stage,
	jobs []outputJob, o writeOptions) *outputWriter {
	w := &outputWriter{options: o, set: set, decisions: decisions, stage: stage, jobs: make(chan *slot)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	slots := slotsPerJob * o.Workers
	w.feeds = make(chan *feed, slots)
	w.feeding.Go(func() { w.feedJobs(jobs, make(chan struct{}, slots)) })
	for range o.Workers {
		w.workers.Go(func() error {
			rewriter := newRewriter(o.Rewrite, set)
			for s := range w.jobs {
				w.fill(rewriter, s)
				close(s.ready)
			}
			return nil
		})
	}
	return w
}

// Close ends the workers.
func (w *outputWriter) Close() {
	w.cancel()
	w.feeding.Wait()
	close(w.jobs)
	_ = w.workers.Wait() // none of them fails
}

// slot is a changed class on its way from a worker to the writer.
type slot struct {
	entry   *input.Entry
	size    int            // of the class
	packed  zipfile.Packed // the class, compressed, if it comes from an archive
	data    []byte         // the class, if not
	calls   int
	failure *plan.Rejection
	err     error
	ready   chan struct{} // closed when the rest is filled in
}

// fill rewrites and compresses a class.
func (w *outputWriter) fill(r *rewriter, s *slot) {
	outcome, err := r.Rewrite(s.entry.Class, w.decisions)
	data := outcome.Data
	s.size, s.calls, s.failure, s.err = len(data), outcome.Calls, outcome.Failure, err
	if err != nil {
		return
	}
	w.options.Progress(s.entry.Size)
	if s.entry.Zip == nil {
		s.data = bytes.Clone(data)
		return
	}
	packed, err := w.codec.CompressLike(data, s.entry.Zip, outcome.Original, s.entry.Zip.Level(w.options.Level))
	if s.err = err; err != nil {
		return
	}
	s.packed = w.codec.Keep(packed) // the next class uses the memory of data
}

// Write writes one output to the stage. If the record has failures, the output is worth nothing.
func (w *outputWriter) Write(job outputJob) (*outputRecord, error) {
	one := writing{outputWriter: w, job: job, record: &outputRecord{Inputs: make([]inputRecord, len(job.Inputs))}}
	if err := one.write(); err != nil {
		return nil, err
	}
	for i, input := range job.Inputs {
		one.record.Inputs[i].Unknown = w.options.Rewrite.Types.TakeUnknown(input)
	}
	return one.record, nil
}

// writing is the writing of one output.
type writing struct {
	*outputWriter
	job    outputJob
	record *outputRecord
}

// containers returns what a job consists of.
func (w *outputWriter) containers(job outputJob) []*input.Container {
	containers := make([]*input.Container, len(job.Inputs))
	for i, n := range job.Inputs {
		containers[i] = w.set.Inputs[n].Containers[0]
	}
	return containers
}

func (w *writing) write() error {
	containers := w.containers(w.job)
	switch w.job.Kind {
	case input.Directory:
		return w.directory(containers[0])
	case input.ClassFile:
		return w.classFile(containers[0])
	}
	return w.archive(containers)
}

// input returns the record of the input that a container is, or is in.
func (w *writing) input(c *input.Container) *inputRecord {
	return &w.record.Inputs[c.Input-w.job.Inputs[0]]
}

// archive writes the entries of the containers into one archive.
func (w *writing) archive(containers []*input.Container) error {
	out, err := w.stage.Create(w.job.Path)
	if err != nil {
		return err
	}
	if err := w.entries(containers, out); err != nil {
		return fmt.Errorf("cannot write %s: %w", w.job.Path, err)
	}
	return nil
}

func (w *writing) entries(containers []*input.Container, out io.Writer) error {
	var from *zipfile.Archive
	if len(containers) == 1 {
		from = containers[0].Zip
	}
	if w.stays(containers) {
		w.count(containers[0])
		_, err := from.WriteTo(out)
		return err
	}
	zip := zipfile.NewWriter(out, from)
	for _, c := range containers {
		a := archiveWriter{writing: w, container: c, zip: zip}
		if err := w.each(c, a.put); err != nil {
			return err
		}
		a.behind.End()
		a.report()
	}
	return zip.Close()
}

// stays reports whether containers are one archive that is written as it came.
func (w *outputWriter) stays(containers []*input.Container) bool {
	return len(containers) == 1 && containers[0].Zip != nil && !w.changes(containers[0])
}

// changes reports whether any entry is written otherwise than it came.
func (w *outputWriter) changes(c *input.Container) bool {
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.Class >= 0 && w.decisions.Changes(e.Class) || e.Nested != nil && w.changes(e.Nested) {
			return true
		}
	}
	return false
}

// count counts the classes of a container of which nothing changes.
func (w *writing) count(c *input.Container) {
	in := w.input(c)
	for i := range c.Entries {
		if e := &c.Entries[i]; e.Class >= 0 {
			in.ClassBytes += e.Size
			in.OutputBytes += e.Size
			w.options.Progress(e.Size)
		} else if e.Nested != nil {
			w.count(e.Nested)
		}
	}
}

// feed has the entries of a container in their order, while the workers fill the slots of changed classes.
type feed struct {
	order chan *slot
	room  chan struct{} // holds as many elements as slots are under way
}

// newFeed returns an empty feed with room for as many slots as room.
func newFeed(room chan struct{}) *feed { return &feed{make(chan *slot, cap(room)), room} }

// feedJobs feeds the containers of jobs one after the other.
func (w *outputWriter) feedJobs(jobs []outputJob, room chan struct{}) {
	for _, job := range jobs {
		containers := w.containers(job)
		if w.stays(containers) {
			continue
		}
		for _, c := range containers {
			f := newFeed(room)
			select {
			case w.feeds <- f:
				w.feed(c, f)
			case <-w.ctx.Done():
				return
			}
		}
	}
}

// feed makes the slots of a container. Entries that are dropped are left out.
func (w *outputWriter) feed(c *input.Container, to *feed) {
	defer close(to.order)
	for i := range c.Entries {
		e := &c.Entries[i]
		if w.decisions.Dropped(e) {
			if e.Class >= 0 {
				w.options.Progress(e.Size)
			}
			continue
		}
		next := &slot{entry: e}
		changed := e.Class >= 0 && w.decisions.Changes(e.Class)
		if changed {
			next.ready = make(chan struct{})
		}
		select {
		case to.room <- struct{}{}:
		case <-w.ctx.Done():
			return
		}
		to.order <- next // has as much room
		if changed {
			w.jobs <- next
		}
	}
}

// feedOf returns the feed of a container. That of a nested one begins only now: its slots must not wait for room that
// the entries behind it take in the archive around it.
func (w *writing) feedOf(c *input.Container) (*feed, error) {
	if c != w.set.Inputs[c.Input].Containers[0] {
		f := newFeed(make(chan struct{}, cap(w.feeds)))
		go w.feed(c, f)
		return f, nil
	}
	select {
	case f := <-w.feeds:
		return f, nil
	case <-w.ctx.Done():
		return nil, w.ctx.Err()
	}
}

// each calls put with the entries of a container in their order, changed classes with their slots filled, while the
// workers fill those to come. Entries that are dropped are left out.
func (w *writing) each(c *input.Container, put func(*input.Entry, *slot) error) error {
	from, err := w.feedOf(c)
	if err != nil {
		return err
	}
	var failure error
	for next := range from.order {
		if next.ready != nil {
			<-next.ready
		}
		if failure == nil {
			failure = w.put(c, next, put)
		}
		if failure != nil {
			w.cancel()
		}
		<-from.room
	}
	if failure == nil {
		failure = w.ctx.Err()
	}
	return failure
}

// put counts an entry and calls put with it. s is that of an unchanged entry too.
func (w *writing) put(c *input.Container, s *slot, put func(*input.Entry, *slot) error) error {
	if s.err != nil {
		return s.err
	}
	e := s.entry
	if e.Class >= 0 {
		w.countClass(c, s)
	}
	if s.ready == nil {
		return put(e, nil)
	}
	return put(e, s)
}

func (w *writing) countClass(c *input.Container, s *slot) {
	e, in := s.entry, w.input(c)
	in.ClassBytes += e.Size
	in.OutputBytes += e.Size
	if s.ready == nil {
		w.options.Progress(e.Size)
		return
	}
	number, grown := e.Class-w.set.Inputs[c.Input].First, int64(s.size)-e.Size
	in.OutputBytes += grown
	in.Calls += s.calls
	if s.calls != 0 || grown != 0 {
		in.Classes = append(in.Classes, classRecord{number, s.calls, grown})
	}
	if s.failure != nil {
		in.Failures = append(in.Failures, failure{number, *s.failure})
	}
}

// archiveWriter puts the entries of one container into an archive, not all of them as they came: where the container is
// an archive itself, it is not what was signed any more.
type archiveWriter struct {
	*writing
	container *input.Container
	zip       *zipfile.Writer

	signatures, digests int
	behind              input.Trail
}

// put writes one entry; s is that of a changed class, else nil.
func (a *archiveWriter) put(e *input.Entry, s *slot) error {
	if e.Zip == nil {
		return a.addFile(e, s)
	}
	a.behind.Pass(e)
	switch {
	case s != nil:
		err := a.zip.Replace(e.Zip, s.packed)
		a.codec.Recycle(s.packed)
		return err
	case e.Nested != nil && a.changes(e.Nested):
		var inner bytes.Buffer
		if err := a.entries([]*input.Container{e.Nested}, &inner); err != nil {
			return err
		}
		return a.replace(e, inner.Bytes())
	case e.Nested != nil:
		a.count(e.Nested)
	case zipfile.IsSignature(e.Name):
		a.signatures++
		return nil
	case zipfile.IsManifest(e.Name):
		manifest, err := a.set.ReadEntry(e, nil)
		if err != nil {
			return err
		}
		stripped, digests := zipfile.StripDigests(manifest)
		if digests > 0 {
			a.digests += digests
			return a.replace(e, stripped)
		}
	}
	return a.zip.Copy(e.Zip)
}

func (a *archiveWriter) replace(e *input.Entry, data []byte) error {
	packed, err := a.codec.Compress(data, e.Zip.Level(a.options.Level))
	if err != nil {
		return err
	}
	defer a.codec.Recycle(packed)
	return a.zip.Replace(e.Zip, packed)
}

// addFile writes an entry that comes from the disk.
func (a *archiveWriter) addFile(e *input.Entry, s *slot) error {
	data, err := a.content(e, s)
	if err != nil {
		return err
	}
	level := a.options.Level
	if e.IsDirectory() {
		level = zipfile.LevelStore
	}
	packed, err := a.codec.Compress(data, level)
	if err != nil {
		return err
	}
	defer a.codec.Recycle(packed)
	return a.zip.Add(a.decisions.EntryName(a.container, e), packed)
}

// report warns of a signature that is gone.
func (a *archiveWriter) report() {
	if a.signatures+a.digests > 0 {
		inside := strings.TrimPrefix(a.container.Name, a.set.Inputs[a.container.Input].Path)
		a.record.Warnings = append(a.record.Warnings, inputWarning{a.container.Input - a.job.Inputs[0],
			fmt.Sprintf("%s: signed, and the output is not: %d signature files and %d digests in the manifest are "+
				"left out", inside, a.signatures, a.digests)})
	}
}

func (w *writing) directory(c *input.Container) error {
	dir, err := w.stage.Directory(w.job.Path)
	if err != nil {
		return err
	}
	err = w.each(c, func(e *input.Entry, s *slot) error {
		data, err := w.content(e, s)
		if err != nil {
			return err
		}
		return dir.Write(e.Name, e.Mode, data)
	})
	w.record.Files = dir.Files()
	return err
}

func (w *writing) classFile(c *input.Container) error {
	out, err := w.stage.Create(w.job.Path)
	if err != nil {
		return err
	}
	return w.each(c, func(e *input.Entry, s *slot) error {
		data, err := w.content(e, s)
		if err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
}

// content returns what is written of an entry that comes from the disk.
func (w *writing) content(e *input.Entry, s *slot) ([]byte, error) {
	switch {
	case s != nil:
		return s.data, nil
	case e.IsDirectory():
		return nil, nil
	}
	return os.ReadFile(e.File)
}
