package incremental

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"reflect"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/input"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/output"
	"github.com/tracegen/tracegen/internal/plan"
	"github.com/tracegen/tracegen/internal/scan"
	"github.com/tracegen/tracegen/internal/typecheck"
	"github.com/tracegen/tracegen/internal/wire"
)

// Of an archive in which a few classes have changed, the results of all others are reused one by one. For that, the
// cache has a history for each archive: what the run before has found and written. A class is the same if its entry is,
// byte for byte as it is compressed.
//
// The facts about a class depend on nothing but the class and the options. What is written for a class depends on the
// task too, and on the other classes that the type checker has looked for. So it is reused only if
//
//   - the task is the same, IDs included,
//   - none of the classes that the checker has looked for, whether it has found them or not, has come, gone, or changed in
//     what it is to others: name, flags, supertypes, and members,
//   - the class path and the JDK are the same, which are in the key of the history,
//   - the checker has tolerated no fault of it,
//   - no two classes of the archive were or are in one place.
//
// So the checker would find now what it found then, and miss what it missed, which is noted again.
//
// An output of which most classes are reused is not kept in the cache: otherwise each changed class would add a copy of
// the whole output. If such an output is gone, classes are copied from the last one that was kept, which has a history
// of its own.

// taskSum is the beginning of the hash of a packed task.
type taskSum [sha256.Size / 2]byte

// pastClass is what a run has found about one class.
type pastClass struct {
	id    classID
	task  taskSum         // what was done
	fault bool            // the type checker has tolerated a fault
	asked typecheck.Asked // what it has looked for
}

// history is what the last run that wrote the output of an archive has left.
type history struct {
	facts   cache.Key // of the facts
	output  cache.Key // of the job
	classes []pastClass
}

// past is the history of one input, compared with what the input is now.
type past struct {
	history
	old   *keptFacts // about the classes that there were
	place []int      // the number of that which was in the place of each class, -1 if there was none
	from  []int      // the same, but -1 too if it is another one now
	gone  []int      // the numbers of those in whose places there is none now
	twins bool       // two classes were or are in one place
}

func (h *history) pack() []byte {
	k := wire.NewPacker()
	k.Raw(h.facts[:]...)
	k.Raw(h.output[:]...)
	k.Int(len(h.classes))
	for i := range h.classes {
		c := &h.classes[i]
		k.Flags(c.fault)
		k.Raw(c.id[:]...)
		k.Raw(c.task[:]...)
		k.Int(len(c.asked.Unknown))
		for _, name := range c.asked.Unknown {
			k.Text(name)
		}
		k.Int(len(c.asked.All))
		k.Raw(c.asked.All...)
	}
	return k.Bytes()
}

// readHistory reads what pack has written, nil if it is damaged.
func readHistory(data []byte) *history {
	u := wire.NewUnpacker(data)
	h := &history{facts: cache.Key(u.Raw(len(cache.Key{}))), output: cache.Key(u.Raw(len(cache.Key{})))}
	h.classes = make([]pastClass, u.Count(3+len(classID{})+len(taskSum{})))
	for i := range h.classes {
		c := &h.classes[i]
		u.Flags(&c.fault)
		c.id = classID(u.Raw(len(c.id)))
		c.task = taskSum(u.Raw(len(c.task)))
		for range u.Count(1) {
			c.asked.Unknown = append(c.asked.Unknown, u.Text())
		}
		c.asked.All = u.Raw(u.Count(1))
	}
	if !u.End() {
		return nil
	}
	return h
}

// The kinds of histories.
const (
	lastOutput = "last" // of the last output
	keptOutput = "kept" // of the last output that the cache has
)

// historyKey is the key of a history of an input: all that its facts and outputs depend on, but its content and what
// is decided about its classes.
func (m *memory) historyKey(i int, kind string) (cache.Key, bool) {
	path, err := filepath.Abs(m.run.Inputs[i])
	parts := append([]string{"history 3", kind, path, m.ScanKey}, m.writtenBy()...)
	return cache.KeyOf(append(parts, m.scanned()...)...), err == nil && m.checked != ""
}

// hasHistory reports whether there is a history of an input, and this run uses it.
func (m *memory) hasHistory(i int) bool {
	key, ok := m.historyKey(i, lastOutput)
	return ok && m.RemembersClasses() && m.Cache.Has(key)
}

// RemembersClasses implements [Memory].
func (m *memory) RemembersClasses() bool {
	return m.run.Scans && !m.run.Sliced && !m.run.Merged && !m.run.Disabled && !m.run.DryRun
}

// RecallClasses implements [Memory].
func (m *memory) RecallClasses(ctx context.Context, set *input.Set) ([]*scan.Class, error) {
	if !m.RemembersClasses() {
		return nil, nil
	}
	facts := make([]*scan.Class, len(set.Classes))
	for i, in := range set.Inputs {
		own := &m.inputs[i]
		if !own.known || own.recall || in.Containers[0].Kind != input.Archive {
			continue
		}
		var err error
		if own.ids, err = m.idsOf(ctx, set, i); err != nil {
			return nil, err
		}
		if own.ids == nil {
			continue
		}
		if own.past = m.pastOf(set, i, lastOutput); own.past == nil {
			continue
		}
		m.remembered += own.past.recall(facts[in.First:], in.Classes)
	}
	return facts, nil
}

// pastOf reads a history of an input, nil if there is none.
func (m *memory) pastOf(set *input.Set, i int, kind string) *past {
	key, ok := m.historyKey(i, kind)
	if !ok {
		return nil
	}
	data := m.get(key)
	if data == nil {
		return nil
	}
	h := readHistory(data)
	if h == nil {
		return nil
	}
	old, err := m.readFacts(h.facts, i)
	if m.note(err); err != nil || len(old.Classes) != len(h.classes) {
		return nil
	}
	p := &past{history: *h, old: old}
	p.compare(set.Inputs[i].Classes, m.inputs[i].ids)
	return p
}

// recall sets the facts of the classes that are as they were, and returns how many these are.
func (p *past) recall(facts []*scan.Class, classes []*input.Class) (n int) {
	taken := make([]bool, len(p.old.Classes))
	for k, from := range p.from {
		if from < 0 {
			continue
		}
		c := p.old.Classes[from]
		if taken[from] { // by another class in the same place
			copied := *c
			c = &copied
		}
		taken[from] = true
		c.At = classes[k]
		facts[k] = c
		n++
	}
	return n
}

// compare finds the classes that are as they were.
func (p *past) compare(classes []*input.Class, ids []classID) {
	old := p.old.Classes
	byPath := make(map[string]int, len(old))
	for n, c := range old {
		byPath[c.At.Path()] = n // of several in one place, the hashes decide
	}
	p.twins = len(byPath) < len(old)
	p.place, p.from = make([]int, len(classes)), make([]int, len(classes))
	taken := make([]bool, len(old))
	for k, at := range classes {
		p.place[k], p.from[k] = -1, -1
		n, found := byPath[at.Path()]
		if !found {
			continue
		}
		p.twins = p.twins || taken[n]
		p.place[k], taken[n] = n, true
		// What is said of a class that could not be read may name its place.
		if ids[k] == p.classes[n].id && old[n].Name != "" {
			p.from[k] = n
		}
	}
	for n := range old {
		if !taken[n] {
			p.gone = append(p.gone, n)
		}
	}
}

// idsOf returns the hashes of all classes of an input, nil if they cannot be had. The error is the context's.
func (m *memory) idsOf(ctx context.Context, set *input.Set, i int) ([]classID, error) {
	first, end := set.ClassesOf(i)
	ids := make([]classID, end-first)
	if m.fromArchive(ids, set.Inputs[i], &m.inputs[i]) {
		return ids, nil
	}
	var next atomic.Int64
	var failed atomic.Bool
	var group errgroup.Group
	const step = 256
	for range min(m.run.Workers, 1+len(ids)/step) {
		group.Go(func() error {
			h := sha256.New()
			for ctx.Err() == nil && !failed.Load() {
				from := int(next.Add(step)) - step
				if from >= len(ids) {
					break
				}
				for k := from; k < min(from+step, len(ids)); k++ {
					e, err := set.Entry(first + k)
					if err != nil || e.Zip == nil || e.Zip.Archive().Guard(func() { ids[k] = idOf(h, e.Zip) }) != nil {
						failed.Store(true)
						break
					}
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil || failed.Load() {
		return nil, err
	}
	if zip := set.Inputs[i].Containers[0].Zip; zip != nil {
		zip.Release(0, zip.Size())
	}
	return ids, nil
}

// fromArchive takes the hashes of all classes of an input from those of an archive's entries. It returns false if the
// input is not the archive that was hashed, or classes are in another one that is in it.
func (m *memory) fromArchive(ids []classID, in *input.Input, own *knownInput) bool {
	if own.opened == nil || in.Containers[0].Zip != own.opened || len(in.Containers) > 1 {
		return false
	}
	n := 0
	for i := range in.Containers[0].Entries {
		if in.Containers[0].Entries[i].Class >= 0 {
			ids[n] = own.entryIDs[i] // containers have the entries of archives in their order
			n++
		}
	}
	return n == len(ids)
}

// kept are the classes of a job that are written as before, and where their bytes are.
type kept struct {
	past    *past
	from    *jar.Archive
	classes []output.Kept // by number of class in the input; without an entry for others
	count   int           // of those that have one
	most    bool          // of all classes that change
}

// keepClasses finds the classes that a job writes as a job before has done; none if that is not certain.
func (m *memory) keepClasses(j *job) {
	if len(j.Inputs) != 1 || j.Kind != input.Archive {
		return
	}
	i := j.Inputs[0]
	own, in := &m.inputs[i], m.set.Inputs[i]
	if in.Containers[0].Kind != input.Archive || !own.known || !m.RemembersClasses() {
		return
	}
	if own.recall && own.ids == nil { // the facts are of an earlier run, but the output of that is gone
		if own.ids, _ = m.idsOf(context.Background(), m.set, i); own.ids != nil {
			own.past = m.pastOf(m.set, i, lastOutput)
		}
	}
	if own.past == nil {
		return
	}
	k := m.keptFrom(j, own.past)
	if k == nil {
		if p := m.pastOf(m.set, i, keptOutput); p != nil {
			k = m.keptFrom(j, p)
		}
	}
	if k == nil {
		return
	}
	changes := 0
	for n := range in.Classes {
		if m.decisions.Changes(in.First + n) {
			changes++
		}
	}
	k.most = (changes-k.count)*changedShare < changes
	m.keptCount += k.count
	j.kept = k
}

// keptFrom finds the classes that a job writes as it was done before, nil if that is not certain.
func (m *memory) keptFrom(j *job, p *past) *kept {
	if p.twins {
		return nil
	}
	old := &job{Job: j.Job, key: p.output}
	data := m.get(old.recordKey())
	if data == nil {
		return nil
	}
	record := readStored(data, []int{len(p.old.Classes)})
	if record == nil || len(record.files) != 1 || record.record.Failed() {
		return nil
	}
	from, ok := m.oldOutput(old, record.files[0])
	if !ok {
		return nil
	}
	k := &kept{past: p, from: from, classes: make([]output.Kept, len(m.set.Inputs[j.Inputs[0]].Classes))}
	m.chooseClasses(k, j, record.record.Inputs[0].Classes)
	return k
}

// oldOutput opens what an earlier run has written: where it is, if it was not changed since, or else in the cache.
func (m *memory) oldOutput(old *job, file fileRecord) (*jar.Archive, bool) {
	if from, err := jar.OpenToRead(old.Path); err == nil {
		if m.dirs.holds(old.Path, "", file) && from.Unchanged() {
			return from, true
		}
		from.Close()
	}
	data := m.get(old.contentKey())
	if data == nil {
		return nil, false
	}
	from, err := jar.New(old.Path, data)
	return from, err == nil
}

// chooseClasses fills k.classes.
func (m *memory) chooseClasses(k *kept, j *job, records []output.ClassRecord) {
	in := m.set.Inputs[j.Inputs[0]]
	others := m.changedForOthers(k, in)
	entries := finder{entries: k.from.Entries()}
	was := make([]output.ClassRecord, len(k.past.classes))
	for _, r := range records {
		was[r.Class] = r
	}
	for n, from := range k.past.from {
		if from < 0 || !m.decisions.Changes(in.First+n) {
			continue
		}
		at, past, record := in.Classes[n], &k.past.classes[from], &was[from]
		if past.fault || past.task != j.tasks[n] || m.run.Types && (len(past.asked.All) == 0 || past.asked.All.Any(others)) {
			continue
		}
		if e := entries.of(at, in); e != nil && int64(e.Size) == at.Size+record.Grown {
			k.classes[n] = output.Kept{Entry: e, Calls: record.Calls}
			k.count++
		}
	}
}

// changedForOthers returns the names under which the type checker may find another class of an input than an earlier run
// has found: another one, none, or one where there was none.
func (m *memory) changedForOthers(k *kept, in *input.Input) map[typecheck.NameSum]bool {
	if !m.run.Types {
		return nil
	}
	p, entries := k.past, finder{entries: k.from.Entries()}
	names := make(map[typecheck.NameSum]bool)
	for _, n := range p.gone {
		names[typecheck.SumOf(p.old.Classes[n].Name)] = true
	}
	for n, from := range p.from {
		if from >= 0 {
			continue
		}
		class, place := in.First+n, p.place[n]
		if place >= 0 {
			if e := entries.of(in.Classes[n], in); e != nil && m.looksTheSame(class, e) {
				continue
			}
			names[typecheck.SumOf(p.old.Classes[place].Name)] = true
		}
		names[typecheck.SumOf(m.facts[class].Name)] = true
	}
	return names
}

// finder finds entries by their names, of which no class has that of another: all were in other places. They are asked
// for in their order as a rule.
type finder struct {
	entries []jar.Entry
	next    int
	byName  map[string]*jar.Entry // nil until it is needed
}

// of returns the entry of a class of an input, nil if that is in an archive in the output.
func (f *finder) of(class *input.Class, in *input.Input) *jar.Entry {
	if class.Container != in.Containers[0] {
		return nil
	}
	return f.find(class.Name)
}

// find returns the entry of that name, nil if there is none.
func (f *finder) find(name string) *jar.Entry {
	for f.byName == nil && f.next < len(f.entries) {
		e := &f.entries[f.next]
		f.next++
		if e.Name == name {
			return e
		}
	}
	if f.byName == nil {
		f.byName = make(map[string]*jar.Entry, len(f.entries))
		for n := range f.entries {
			f.byName[f.entries[n].Name] = &f.entries[n]
		}
	}
	return f.byName[name]
}

// looksTheSame reports whether a class that has changed is to other classes what it was when it was written to an entry
// of an earlier output. The calls in it do not change that; a method that a focus hook adds does.
func (m *memory) looksTheSame(class int, entry *jar.Entry) bool {
	now, err := m.set.Peek(class, new([]byte))
	if err != nil {
		return false
	}
	before, err := new(jar.Codec).Read(entry, nil)
	if err != nil {
		return false
	}
	changed, err1 := classfile.Parse(now)
	written, err2 := classfile.Parse(before)
	return err1 == nil && err2 == nil && reflect.DeepEqual(types.NewClassInfo(changed), types.NewClassInfo(written))
}

// Kept implements [Memory].
func (m *memory) Kept(class int) (output.Kept, bool) {
	number := m.set.Classes[class].Container.Input
	j := m.inputs[number].job
	if j.kept == nil {
		return output.Kept{}, false
	}
	kept := j.kept.classes[class-m.set.Inputs[number].First]
	return kept, kept.Entry != nil
}

// noteKept adds to a record what the type checker has noted about the classes that were kept.
func (m *memory) noteKept(j *job, record *output.Record) {
	if j.kept == nil {
		return
	}
	notes := &record.Inputs[0].Notes
	for n, class := range j.kept.classes {
		if class.Entry != nil {
			notes.Add(n, j.kept.past.classes[j.kept.past.from[n]].asked)
		}
	}
}

// keepHistory writes the history of the input of a job that was written, and that of its output if the cache has that.
func (m *memory) keepHistory(j *job, record *output.Record, stored bool) {
	if !m.RemembersClasses() || len(j.Inputs) != 1 || j.Kind != input.Archive || record.Failed() {
		return
	}
	own := &m.inputs[j.Inputs[0]]
	key, ok := m.historyKey(j.Inputs[0], lastOutput)
	if !ok || own.ids == nil || own.builtIn {
		return
	}
	h := history{facts: own.key, output: j.key, classes: make([]pastClass, len(own.ids))}
	notes := &record.Inputs[0].Notes
	for n := range h.classes {
		_, fault := notes.Tolerated[n]
		h.classes[n] = pastClass{own.ids[n], j.tasks[n], fault, notes.Asked[n]}
	}
	packed := h.pack()
	err := m.Cache.Put(key, packed)
	if key, ok = m.historyKey(j.Inputs[0], keptOutput); err == nil && ok && stored {
		err = m.Cache.Put(key, packed)
	}
	if err != nil {
		m.fail(err)
	}
}

// unchangedOutputs reports whether the outputs that classes were copied from are as they were.
func (m *memory) unchangedOutputs() (path string, ok bool) {
	for _, j := range m.jobs {
		if j.kept != nil && !j.kept.from.Unchanged() {
			return j.Path, false
		}
	}
	return "", true
}

// closeKept closes the outputs that classes were copied from.
func (j *job) closeKept() {
	if j.kept != nil {
		j.kept.from.Close()
		j.kept = nil
	}
}

// packTasks packs what is done to the classes of an input, and returns the hash of each.
func packTasks(k *wire.Packer, set *input.Set, in int, decisions plan.Decisions) []taskSum {
	first, end := set.ClassesOf(in)
	sums := make([]taskSum, 0, end-first)
	task := plan.Task{}
	for n := first; n < end; n++ {
		task = decisions.Task(n, task.Request.Methods[:0])
		at := k.Len()
		task.Pack(k)
		sum := sha256.Sum256(k.From(at))
		sums = append(sums, taskSum(sum[:]))
	}
	return sums
}
