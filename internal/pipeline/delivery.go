package pipeline

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/jar"
)

// delivery is one output in one round of writing.
type delivery struct {
	inputs    []int // that go into it
	output    string
	directory bool // it is one
	key       cache.Key
	done      bool         // an earlier run has written the same; it is in its place, or on its way there
	entry     *cache.Entry // what is being written, for later runs; nil if nothing is kept
	files     []deliveredFile
	warnings  []string
}

// contentKey is that of the output's bytes, recordKey that of what writing them came to.
func (d *delivery) contentKey() cache.Key { return cache.KeyOf("content", d.key.String()) }
func (d *delivery) recordKey() cache.Key  { return cache.KeyOf("delivered", d.key.String()) }

// prepare finds out, for one round of writing, which outputs are known, puts these where they belong, and opens
// the inputs of all others.
func (m *incremental) prepare(w *writing) error {
	if m == nil {
		return nil
	}
	m.plan()
	found := make([]*delivered, len(m.deliveries))
	var group errgroup.Group
	group.SetLimit(m.run.config.Jobs)
	if m.around != "" && !m.run.config.DryRun {
		m.places.load(m)
		for i, d := range m.deliveries {
			group.Go(func() error {
				if found[i] = m.find(d); found[i] != nil {
					// Nobody will see what a referee objected to: there is another round.
					d.done = len(found[i].objections) > 0 || m.place(d, found[i])
				}
				return nil
			})
		}
	}
	_ = group.Wait() // what fails is written anew
	for i, d := range m.deliveries {
		if d.done {
			d.files = found[i].files
			w.recount(d, found[i])
			d.warnings = m.run.takeWarnings(m.warned)
			continue
		}
		m.written++
		for _, input := range d.inputs {
			if err := m.open(input); err != nil {
				return err
			}
		}
		if m.around == "" || !m.keeps() || !m.allKnown(d.inputs) {
			continue
		}
		var err error
		if d.entry, err = m.Cache.Create(d.contentKey()); err != nil {
			m.fail(err)
		}
	}
	return nil
}

// takeWarnings gives the warnings from one on, and takes them back.
func (r *run) takeWarnings(from int) []string {
	taken := slices.Clone(r.warnings[from:])
	r.warnings = r.warnings[:from]
	return taken
}

func (m *incremental) allKnown(inputs []int) bool {
	return !slices.ContainsFunc(inputs, func(i int) bool { return !m.inputs[i].known })
}

// plan lists the outputs of a round, and what each depends on.
func (m *incremental) plan() {
	r := m.run
	m.giveUp()
	m.notes = make([]notes, len(m.inputs))
	m.deliveries, m.warned = nil, len(r.warnings)
	m.left, m.copied, m.written = 0, 0, 0
	for i, in := range r.config.Inputs {
		if r.config.Merge != "" {
			if i == 0 {
				m.deliveries = append(m.deliveries, &delivery{output: r.config.Merge})
			}
			m.deliveries[0].inputs = append(m.deliveries[0].inputs, i)
			continue
		}
		s := r.sources[i]
		m.deliveries = append(m.deliveries, &delivery{inputs: []int{i}, output: in.Output, directory: s.isDir && !isArchiveName(in.Output)})
	}
	k := &packer{}
	for _, d := range m.deliveries {
		c := &r.config
		parts := []string{"written 1", m.Tool, m.around, fmt.Sprintf("%+v", c.Inject), fmt.Sprint(c.AddRequires, c.Level, c.Verify, c.Disabled, c.Slice != nil, c.Merge != "", d.directory)}
		for _, i := range d.inputs {
			k.data = k.data[:0]
			for _, u := range m.units[i] {
				packOutcome(k, u)
			}
			parts = append(parts, m.inputs[i].content.String(), string(k.data))
		}
		d.key = cache.KeyOf(parts...)
	}
}

// packOutcome writes down all that was decided about a class and makes a difference to its bytes, beside what it was.
func packOutcome(k *packer, u *unit) {
	k.flags(u.entry.dropped, u.stripped, u.foreign, u.requires, u.untried, u.digest != "")
	k.int(int(u.focus))
	k.raw([]byte(u.digest)...)
	for i := range u.methods {
		if m := &u.methods[i]; m.traced() {
			k.int(int(m.index) + 1)
			k.int(int(m.id))
		}
	}
	k.int(0)
}

// find looks for what an earlier run came to.
func (m *incremental) find(d *delivery) *delivered {
	if !m.allKnown(d.inputs) {
		return nil
	}
	data := m.get(d.recordKey())
	if data == nil {
		return nil
	}
	var units []int
	for _, i := range d.inputs {
		units = append(units, len(m.units[i]))
	}
	return readDelivered(data, units)
}

// place puts a known output where it belongs, or leaves it there. False says that it has to be written.
func (m *incremental) place(d *delivery, known *delivered) bool {
	if d.directory {
		return m.placeDirectory(d, known)
	}
	if len(known.files) != 1 {
		return false
	}
	info, err := os.Stat(d.output)
	if err == nil && !info.Mode().IsRegular() {
		return false // a device takes nothing back
	}
	if m.places.holds(d.output, "", known.files[0]) {
		m.count(&m.left)
		return true
	}
	f, err := m.create(d.output)
	if err != nil {
		return false
	}
	if _, err := m.Cache.CopyTo(f, d.contentKey()); err != nil {
		m.note(err)
		m.discard(f)
		return false
	}
	m.countCopy(d)
	return true
}

// placeDirectory does so with a directory, file by file: those that are as they should be stay.
func (m *incremental) placeDirectory(d *delivery, known *delivered) bool {
	staged := &stagedDirectory{target: filepath.Clean(d.output)}
	missing := make(map[int]bool)
	for i, f := range known.files {
		if m.places.holds(d.output, f.name, f) {
			staged.kept = append(staged.kept, f.name)
		} else {
			missing[i] = true
		}
	}
	if len(missing) == 0 && isDirectory(d.output) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.run.outputs.directories = append(m.run.outputs.directories, staged)
		m.left++
		return true
	}
	m.mu.Lock()
	made, err := m.run.outputs.stage(d.output, false)
	m.mu.Unlock()
	if err != nil {
		return false
	}
	made.kept = staged.kept
	out := &unpackedFiles{into: made, files: known.files, wanted: missing}
	_, err = m.Cache.CopyTo(out, d.contentKey())
	if err == nil {
		err = out.finish()
	}
	if err != nil {
		m.note(err)
		made.abort()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.run.outputs.directories = slices.DeleteFunc(m.run.outputs.directories, func(other *stagedDirectory) bool { return other == made })
		return false
	}
	m.countCopy(d)
	return true
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// unpackedFiles takes the contents of many files, one behind the other, and writes those that are wanted.
type unpackedFiles struct {
	into   *stagedDirectory
	files  []deliveredFile
	wanted map[int]bool
	next   int
	data   []byte // of the file with number next
}

// Write implements io.Writer.
func (u *unpackedFiles) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if err := u.flush(); err != nil {
			return 0, err
		}
		if u.next == len(u.files) {
			return 0, fmt.Errorf("%s: there is more than its files", u.into.target)
		}
		part := min(int64(len(p)), u.files[u.next].size-int64(len(u.data)))
		u.data = append(u.data, p[:part]...)
		p = p[part:]
	}
	return n, nil
}

// flush writes all files that are complete.
func (u *unpackedFiles) flush() error {
	for u.next < len(u.files) && int64(len(u.data)) == u.files[u.next].size {
		if f := &u.files[u.next]; u.wanted[u.next] {
			if err := u.into.write(&entry{name: f.name, mode: os.FileMode(f.mode)}, u.data); err != nil {
				return err
			}
		}
		u.next++
		u.data = u.data[:0]
	}
	return nil
}

func (u *unpackedFiles) finish() error {
	if err := u.flush(); err != nil {
		return err
	}
	if u.next < len(u.files) {
		return fmt.Errorf("%s: files are missing", u.into.target)
	}
	return nil
}

func (m *incremental) create(name string) (*jar.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := jar.CreateFile(name)
	if err == nil {
		m.run.outputs.files = append(m.run.outputs.files, f)
	}
	return f, err
}

func (m *incremental) discard(f *jar.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.Abort()
	m.run.outputs.files = slices.DeleteFunc(m.run.outputs.files, func(other *jar.File) bool { return other == f })
}

func (m *incremental) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}

// countCopy books a copy, of an output of an earlier round of this run as what it was in that.
func (m *incremental) countCopy(d *delivery) {
	if m.fresh[d.key] {
		m.count(&m.written)
	} else {
		m.count(&m.copied)
	}
}

// deliver writes the output of an input, unless it is known.
func (w *writing) deliver(input int, write func() error) error {
	if w.known == nil {
		return write()
	}
	d := w.known.deliveries[input]
	if d.done {
		return nil
	}
	err := write()
	d.warnings = w.takeWarnings(w.known.warned)
	return err
}

// tee lets the cache have what is written to the output of an input.
func (m *incremental) tee(input int, out io.Writer) io.Writer {
	if m == nil || m.deliveries[input].entry == nil {
		return out
	}
	return io.MultiWriter(out, m.deliveries[input].entry)
}

// keepFiles does so with the files of a directory. Those that are there already stay.
func (m *incremental) keepFiles(input int, dir *stagedDirectory) {
	if m == nil || m.deliveries[input].entry == nil {
		return
	}
	d := m.deliveries[input]
	dir.keep = func(e *entry, data []byte) bool {
		f := deliveredFile{e.name, uint16(e.mode.Perm()), int64(len(data)), sumOfContent(data)}
		d.files = append(d.files, f)
		d.entry.Write(data)
		return m.places.holds(d.output, f.name, f)
	}
}

// settle ends a round of writing: what it came to is kept, if the inputs are what they were.
func (m *incremental) settle(w *writing) error {
	if m == nil {
		return nil
	}
	for _, d := range m.deliveries {
		w.warnings = append(w.warnings, d.warnings...)
	}
	if err := m.sameInputs(w.ctx); err != nil {
		return err
	}
	if !m.keeps() {
		return nil
	}
	for i := range m.inputs {
		if in := &m.inputs[i]; in.pending != nil {
			m.commit(in.pending)
			in.pending = nil
		}
	}
	for _, d := range m.deliveries {
		if d.entry == nil {
			continue
		}
		if !d.directory {
			d.files = []deliveredFile{{size: d.entry.Size(), sum: cache.Key(d.entry.Sum())}}
		}
		result := w.outcome(d)
		if len(result.objections) > 0 {
			d.entry.Abort()
			result.files = nil
		} else {
			m.commit(d.entry)
			m.fresh[d.key] = true
		}
		d.entry = nil
		if !m.broken {
			if err := m.Cache.Put(d.recordKey(), result.pack()); err != nil {
				m.fail(err)
			}
		}
	}
	return nil
}

func (m *incremental) commit(e *cache.Entry) {
	m.grown = true
	if err := e.Commit(); err != nil {
		m.fail(err)
	}
}

// giveUp forgets what was written for later runs and not kept.
func (m *incremental) giveUp() {
	for _, d := range m.deliveries {
		if d.entry != nil {
			d.entry.Abort()
		}
	}
}

// summary tells what was taken over.
func (m *incremental) summary() {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{m.recalled, "inputs known"}, {m.left, "outputs left alone"}, {m.copied, "copied"}, {m.written, "written"}} {
		parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
	}
	m.detail("%s", strings.Join(parts, ", "))
}
