package incremental

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// job is one output in one round of writing.
type job struct {
	output.Job
	key   cache.Key
	entry *cache.Entry // what is being written, for later runs; nil if nothing is kept
	files []fileRecord
	done  [][]done      // what is decided about the classes, by position of the input
	kept  *kept         // classes that are not written anew; nil if there are none
	sum   *cache.Summer // of what is written and not kept; nil if it is kept
	size  int64         // likewise
}

// contentKey is the key of the output's bytes, recordKey that of its record.
func (j *job) contentKey() cache.Key { return cache.KeyOf("content", j.key.String()) }
func (j *job) recordKey() cache.Key  { return cache.KeyOf("record", j.key.String()) }

func (j *job) isDirectory() bool { return j.Kind == input.Directory }

// Reuse implements [Memory].
func (m *memory) Reuse(set *input.Set, decisions plan.Decisions, jobs []output.Job,
	stage *output.Stage) []*output.Record {
	m.set = set
	m.begin(decisions, jobs)
	records := make([]*output.Record, len(jobs))
	if m.checked != "" && !m.run.DryRun {
		m.dirs.load(m)
		var group errgroup.Group
		group.SetLimit(m.run.Workers)
		for i, j := range m.jobs {
			group.Go(func() error {
				found := m.find(j)
				// An output with failures is never seen: there is another round.
				if found != nil && (found.record.Failed() || m.place(j, found, stage)) {
					records[i], j.files = found.record, found.files
				}
				return nil
			})
		}
		_ = group.Wait() // what fails is written anew
	}
	for i, j := range m.jobs {
		if records[i] != nil {
			continue
		}
		m.written++
		if !m.run.DryRun {
			m.keepClasses(j)
		}
		if m.checked == "" || !m.keeps() || !m.allKnown(j.Inputs) {
			continue
		}
		if j.kept != nil && j.kept.most {
			j.sum = new(cache.Summer)
			continue
		}
		var err error
		if j.entry, err = m.Cache.Create(j.contentKey()); err != nil {
			m.fail(err)
		}
	}
	return records
}

func (m *memory) allKnown(inputs []int) bool {
	return !slices.ContainsFunc(inputs, func(i int) bool { return !m.inputs[i].known })
}

// begin starts a round: it lists its outputs, and what each depends on.
func (m *memory) begin(decisions plan.Decisions, jobs []output.Job) {
	m.giveUp()
	m.jobs, m.decisions = nil, decisions
	m.left, m.copied, m.written, m.keptCount = 0, 0, 0, 0
	for _, o := range jobs {
		j := &job{Job: o}
		parts := append([]string{"written 4", fmt.Sprint(j.isDirectory())}, m.writtenBy()...)
		for _, i := range j.Inputs {
			m.inputs[i].job = j
			k := wire.NewPacker()
			j.done = append(j.done, packTasks(k, m.set, i, decisions))
			parts = append(parts, m.inputs[i].content.String(), string(k.Bytes()))
		}
		j.key = cache.KeyOf(parts...)
		m.jobs = append(m.jobs, j)
	}
}

// find returns the record of the output that an earlier run has written by the same decisions, nil if there is none.
func (m *memory) find(j *job) *stored {
	if !m.allKnown(j.Inputs) {
		return nil
	}
	data := m.get(j.recordKey())
	if data == nil {
		return nil
	}
	var classes []int
	for _, i := range j.Inputs {
		classes = append(classes, len(m.set.Inputs[i].Classes))
	}
	return readStored(data, classes)
}

// place stages a known output, or leaves it where it is. It returns false if the output has to be written.
func (m *memory) place(j *job, known *stored, stage *output.Stage) bool {
	if j.isDirectory() {
		return m.placeDirectory(j, known, stage)
	}
	if len(known.files) != 1 {
		return false
	}
	info, err := os.Stat(j.Path)
	if err == nil && !info.Mode().IsRegular() {
		return false // a device cannot be replaced
	}
	if m.dirs.holds(j.Path, "", known.files[0]) {
		m.count(&m.left)
		return true
	}
	f, err := stage.Create(j.Path)
	if err != nil {
		return false
	}
	if _, err := m.Cache.CopyTo(f, j.contentKey()); err != nil {
		m.note(err)
		stage.Discard(f)
		return false
	}
	m.countCopy(j)
	return true
}

// placeDirectory does so with a directory, file by file: files that have the right content stay.
func (m *memory) placeDirectory(j *job, known *stored, stage *output.Stage) bool {
	var kept []string
	missing := make(map[int]bool)
	for i, f := range known.files {
		if m.dirs.holds(j.Path, f.name, f) {
			kept = append(kept, f.name)
		} else {
			missing[i] = true
		}
	}
	if len(missing) == 0 && isDirectory(j.Path) {
		stage.Stay(j.Path, kept)
		m.count(&m.left)
		return true
	}
	made, err := stage.Directory(j.Path)
	if err != nil {
		return false
	}
	for _, name := range kept {
		made.Keep(name)
	}
	out := &unpackedFiles{into: made, files: known.files, wanted: missing}
	_, err = m.Cache.CopyTo(out, j.contentKey())
	if err == nil {
		err = out.finish()
	}
	if err != nil {
		m.note(err)
		stage.Drop(made)
		return false
	}
	m.countCopy(j)
	return true
}

// unpackedFiles takes the contents of many files, one behind the other, and writes those that are wanted.
type unpackedFiles struct {
	into   *output.Directory
	files  []fileRecord
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
			return 0, fmt.Errorf("%s: there is more than its files", u.into.Target)
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
			if err := u.into.Write(f.name, os.FileMode(f.mode), u.data); err != nil {
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
		return fmt.Errorf("%s: files are missing", u.into.Target)
	}
	return nil
}

func (m *memory) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}

// countCopy counts a copy, of an output of an earlier round of this run as what it was in that.
func (m *memory) countCopy(j *job) {
	if m.fresh[j.key] {
		m.count(&m.written)
	} else {
		m.count(&m.copied)
	}
}

// Copy implements [Memory].
func (m *memory) Copy(i int) output.Copy {
	if m.jobs[i].entry == nil && m.jobs[i].sum == nil {
		return output.NoCopy{}
	}
	return &copying{m, m.jobs[i]}
}

// copying writes an output to the cache.
type copying struct {
	memory *memory
	job    *job
}

// Write implements output.Copy.
func (c *copying) Write(p []byte) (int, error) {
	if c.job.sum != nil {
		c.job.size += int64(len(p))
		return c.job.sum.Write(p)
	}
	return c.job.entry.Write(p)
}

// File implements output.Copy. Files that are there already stay.
func (c *copying) File(name string, mode os.FileMode, data []byte) bool {
	f := fileRecord{name, uint16(mode.Perm()), int64(len(data)), cache.ChecksumOf(data)}
	c.job.files = append(c.job.files, f)
	_, _ = c.job.entry.Write(data) // what goes wrong, Commit says
	return c.memory.dirs.holds(c.job.Path, f.name, f)
}

// Keep implements [Memory].
func (m *memory) Keep(ctx context.Context, records []*output.Record) error {
	if err := m.sameInputs(ctx); err != nil {
		return err
	}
	for i, j := range m.jobs {
		m.noteKept(j, records[i])
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
	for i, j := range m.jobs {
		switch {
		case j.entry == nil && j.sum == nil:
			continue
		case j.sum != nil:
			j.files = []fileRecord{{size: j.size, sum: j.sum.Sum()}}
		case !j.isDirectory():
			j.files = []fileRecord{{size: j.entry.Size(), sum: j.entry.Sum()}}
		}
		result := stored{records[i], j.files}
		switch failed := result.record.Failed(); {
		case failed && j.entry != nil:
			j.entry.Abort()
			fallthrough
		case failed:
			result.files = nil
		case j.entry != nil:
			m.commit(j.entry)
			m.fresh[j.key] = true
		}
		m.keepHistory(j, records[i], j.entry != nil)
		j.closeKept()
		j.entry, j.sum = nil, nil
		if !m.broken {
			if err := m.Cache.Put(j.recordKey(), result.pack()); err != nil {
				m.fail(err)
			}
		}
	}
	return nil
}

func (m *memory) commit(e *cache.Entry) {
	m.grown = true
	if err := e.Commit(); err != nil {
		m.fail(err)
	}
}

// giveUp drops what was written for later runs and not kept.
func (m *memory) giveUp() {
	for _, j := range m.jobs {
		if j.entry != nil {
			j.entry.Abort()
		}
		j.closeKept()
	}
}

// summary reports what was reused.
func (m *memory) summary() {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{m.recalled, "inputs known"}, {m.left, "outputs left alone"}, {m.copied, "copied"}, {m.written, "written"}} {
		parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
	}
	m.detail("%s", strings.Join(parts, ", "))
	if m.remembered+m.keptCount > 0 {
		m.detail("of inputs that have changed: %d classes known, %d copied", m.remembered, m.keptCount)
	}
}
