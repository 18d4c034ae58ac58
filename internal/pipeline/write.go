package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/jar"
)

// slotsPerJob bounds how far the workers may be ahead of the writer, in classes for each worker.
const slotsPerJob = 32

// slot is a changed class on its way from a worker to the writer.
type slot struct {
	entry     *entry
	size      int        // of the class
	packed    jar.Packed // the class, compressed, if it comes from an archive
	data      []byte     // the class, if not
	objection *objection
	err       error
	ready     chan struct{} // closed when the rest is filled in
}

// writing is one pass that writes all outputs.
type writing struct {
	*run
	ctx        context.Context
	cancel     context.CancelFunc
	jobs       chan *slot
	objections map[*unit]*objection
}

// write rewrites what changes and writes every output to a temporary file. It gives the classes that have to
// stay as they were; if there are any, the outputs are worth nothing.
func (r *run) write(ctx context.Context) (map[*unit]*objection, error) {
	r.restartProgress()
	r.startCounting()
	for _, u := range r.units {
		u.calls, u.grown = 0, 0 // of an earlier round
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &writing{run: r, ctx: ctx, cancel: cancel, jobs: make(chan *slot), objections: make(map[*unit]*objection)}
	var workers errgroup.Group
	for range r.config.Jobs {
		workers.Go(func() error {
			worker := r.newWorker()
			for s := range w.jobs {
				worker.fill(s)
				close(s.ready)
			}
			return nil
		})
	}
	err := w.known.prepare(w)
	if err == nil {
		err = w.writeOutputs()
	}
	close(w.jobs)
	workers.Wait()
	if err == nil {
		err = w.known.settle(w)
	}
	return w.objections, err
}

func (r *run) startCounting() {
	r.written = make([]InputResult, len(r.config.Inputs))
	for i, in := range r.config.Inputs {
		r.written[i] = InputResult{Path: in.Path, Output: in.Output}
		if r.config.Merge != "" {
			r.written[i].Output = r.config.Merge
		}
	}
}

// countClasses counts what comes in where nothing goes out.
func (r *run) countClasses() {
	r.startCounting()
	for _, u := range r.units {
		r.written[u.source.input].ClassBytes += u.entry.size
	}
}

// fill rewrites and compresses a class.
func (w *worker) fill(s *slot) {
	data, against, err := w.rewrite(s.entry.unit)
	s.size, s.objection, s.err = len(data), against, err
	switch {
	case err != nil:
	case s.entry.zip == nil:
		s.data = bytes.Clone(data)
	default:
		level := s.entry.zip.Level(w.config.Level)
		if level == jar.LevelStore {
			data = bytes.Clone(data) // there is nothing else that would keep it
		}
		s.packed, s.err = w.codec.Compress(data, level)
	}
}

func (w *writing) writeOutputs() error {
	if w.config.Merge != "" {
		return w.deliver(0, func() error { return w.writeArchive(w.sources, w.config.Merge) })
	}
	for _, s := range w.sources {
		output := w.config.Inputs[s.input].Output
		err := w.deliver(s.input, func() error {
			switch {
			case s.archive != nil || s.isDir && isArchiveName(output):
				return w.writeArchive([]*source{s}, output)
			case s.isDir:
				return w.writeDirectory(s, output)
			}
			return w.writeClass(s, output)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isArchiveName says whether a directory that is written to that path becomes an archive.
func isArchiveName(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return extension == ".jar" || extension == ".zip"
}

// writeArchive writes the entries of the sources into one archive.
func (w *writing) writeArchive(sources []*source, name string) error {
	out, err := w.outputs.create(name, w.config.DryRun)
	if err != nil {
		return err
	}
	if err := w.writeEntries(sources, w.known.tee(sources[0].input, out)); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

func (w *writing) writeEntries(sources []*source, out io.Writer) error {
	var from *jar.Archive
	if len(sources) == 1 {
		from = sources[0].archive
		if from != nil && !sources[0].changes() {
			w.count(sources[0])
			_, err := from.WriteTo(out)
			return err
		}
	}
	zip := jar.NewWriter(out, from)
	for _, s := range sources {
		a := archiveWriter{writing: w, source: s, zip: zip}
		if err := w.each(s, a.put); err != nil {
			return err
		}
		a.behind.end()
		a.report()
	}
	return zip.Close()
}

// changes says whether any entry will be written otherwise than it came.
func (s *source) changes() bool {
	for i := range s.entries {
		e := &s.entries[i]
		if e.unit != nil && e.unit.changes() || e.nested != nil && e.nested.changes() {
			return true
		}
	}
	return false
}

// count counts the classes of a source of which nothing changes.
func (w *writing) count(s *source) {
	in := &w.written[s.input]
	for i := range s.entries {
		if e := &s.entries[i]; e.unit != nil {
			in.ClassBytes += e.size
			in.OutputBytes += e.size
			w.advance(e.size)
		} else if e.nested != nil {
			w.count(e.nested)
		}
	}
}

// each calls put with the entries of s in their order, changed classes with their slots filled, while the
// workers fill those to come. Entries that were dropped are left out.
func (w *writing) each(s *source, put func(*entry, *slot) error) error {
	order := make(chan *slot, slotsPerJob*w.config.Jobs)
	go func() {
		defer close(order)
		for i := range s.entries {
			e := &s.entries[i]
			if e.dropped {
				if e.unit != nil {
					w.advance(e.size)
				}
				continue
			}
			next := &slot{entry: e}
			changed := e.unit != nil && e.unit.changes()
			if changed {
				next.ready = make(chan struct{})
			}
			select {
			case order <- next:
			case <-w.ctx.Done():
				return
			}
			if changed {
				w.jobs <- next
			}
		}
	}()
	var failure error
	for next := range order {
		if next.ready != nil {
			<-next.ready
		}
		if failure == nil {
			failure = w.put(next, put)
		}
		if failure != nil {
			w.cancel()
		}
	}
	if failure == nil {
		failure = w.ctx.Err()
	}
	return failure
}

func (w *writing) put(s *slot, put func(*entry, *slot) error) error {
	if s.err != nil {
		return s.err
	}
	e := s.entry
	if e.unit != nil {
		in := &w.written[e.unit.source.input]
		in.ClassBytes += e.size
		in.OutputBytes += e.size
		if s.ready != nil {
			e.unit.grown = int64(s.size) - e.size
			in.OutputBytes += e.unit.grown
			in.Calls += e.unit.calls
		} else {
			w.advance(e.size)
		}
	}
	if s.objection != nil {
		w.objections[e.unit] = s.objection
	}
	if s.ready == nil {
		return put(e, nil)
	}
	return put(e, s)
}

// archiveWriter puts the entries of one source into an archive, not all of them as they came: where the source is
// an archive itself, it is not what was signed any more.
type archiveWriter struct {
	*writing
	source *source
	zip    *jar.Writer

	signatures, digests int
	behind              trail
}

// put writes one entry; s is that of a changed class, else nil.
func (a *archiveWriter) put(e *entry, s *slot) error {
	if e.zip == nil {
		return a.addFile(e, s)
	}
	a.behind.pass(e)
	switch {
	case s != nil:
		err := a.zip.Replace(e.zip, s.packed)
		a.codec.Recycle(s.packed)
		return err
	case e.nested != nil && e.nested.changes():
		var inner bytes.Buffer
		if err := a.writeEntries([]*source{e.nested}, &inner); err != nil {
			return err
		}
		return a.replace(e, inner.Bytes())
	case e.nested != nil:
		a.count(e.nested)
	case jar.IsSignature(e.name):
		a.signatures++
		return nil
	case jar.IsManifest(e.name):
		manifest, err := a.codec.Read(e.zip, nil)
		if err != nil {
			return err
		}
		stripped, digests := jar.StripDigests(manifest)
		if digests > 0 {
			a.digests += digests
			return a.replace(e, stripped)
		}
	}
	return a.zip.Copy(e.zip)
}

func (a *archiveWriter) replace(e *entry, data []byte) error {
	packed, err := a.codec.Compress(data, e.zip.Level(a.config.Level))
	if err != nil {
		return err
	}
	defer a.codec.Recycle(packed)
	return a.zip.Replace(e.zip, packed)
}

// addFile writes an entry that comes from the disk.
func (a *archiveWriter) addFile(e *entry, s *slot) error {
	var data []byte
	level := a.config.Level
	switch {
	case s != nil:
		data = s.data
	case strings.HasSuffix(e.name, "/"):
		level = jar.LevelStore
	default:
		var err error
		if data, err = os.ReadFile(e.file); err != nil {
			return err
		}
	}
	packed, err := a.codec.Compress(data, level)
	if err != nil {
		return err
	}
	defer a.codec.Recycle(packed)
	return a.zip.Add(e.name, nil, packed)
}

// report warns of a signature that is gone.
func (a *archiveWriter) report() {
	if a.signatures+a.digests > 0 {
		a.warn("%s: signed, which the output is not: %d signature files and %d digests in the manifest are left out",
			a.source.name, a.signatures, a.digests)
	}
}

func (w *writing) writeDirectory(s *source, name string) error {
	dir, err := w.outputs.stage(name, w.config.DryRun)
	if err != nil {
		return err
	}
	w.known.keepFiles(s.input, dir)
	return w.each(s, func(e *entry, filled *slot) error {
		if filled != nil {
			return dir.write(e, filled.data)
		}
		return dir.copy(e)
	})
}

func (w *writing) writeClass(s *source, name string) error {
	out, err := w.outputs.create(name, w.config.DryRun)
	if err != nil {
		return err
	}
	out = w.known.tee(s.input, out)
	return w.each(s, func(e *entry, filled *slot) error {
		var data []byte
		if filled != nil {
			data = filled.data
		} else {
			var err error
			if data, err = os.ReadFile(e.file); err != nil {
				return err
			}
		}
		_, err := out.Write(data)
		return err
	})
}

func (r *run) writeFiles(files []File) error {
	for _, f := range files {
		if r.known.hasFile(f) {
			continue
		}
		out, err := r.outputs.create(f.Path, r.config.DryRun)
		if err != nil {
			return err
		}
		if _, err := f.Content.WriteTo(out); err != nil {
			return fmt.Errorf("cannot write %s: %w", f.Path, err)
		}
	}
	return nil
}
