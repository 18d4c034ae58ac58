package incremental

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// hasHistory reports whether there is a history of an input, and this run uses it.
func (m *memory) hasHistory(i int) bool {
	key, ok := m.historyKey(i, lastOutput)
	return ok && m.RemembersClasses() && m.Cache.Has(key)
}

// past is what an earlier run has found about an input, compared with what the input is now.
type past struct {
	key     cache.Key // of the list of classes
	classes []pastClass
	old     *keptFacts // about these classes; nil if the content is the same
	place   []int      // the number of that which was in the place of each class, -1 if there was none
	from    []int      // the same, but -1 too if it is another one now
	gone    []int      // the numbers of those in whose places there is none now
	twins   bool       // two classes were or are in one place
}

// RemembersClasses implements [Memory].
func (m *memory) RemembersClasses() bool {
	return m.run.Scans && !m.run.Sliced && !m.run.Disabled && !m.run.DryRun
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
		if own.past.old != nil {
			m.remembered += own.past.recall(facts[in.First:], in.Classes)
		}
	}
	return facts, nil
}

// pastOf reads what the history of an output has about an input, nil if it has nothing.
func (m *memory) pastOf(set *input.Set, i int, kind string) *past {
	h := m.historyOf(i, kind)
	if h == nil {
		return nil
	}
	in, own := h.find(m.run.Inputs[i]), &m.inputs[i]
	if in == nil {
		return nil
	}
	p := &past{key: in.classes}
	if data := m.get(in.classes); data != nil {
		p.classes = readClasses(data)
	}
	if len(p.classes) != in.count {
		return nil
	}
	if in.content == own.content {
		return p.unchanged(len(set.Inputs[i].Classes))
	}
	var err error
	if p.old, err = m.readFacts(in.facts, i); err != nil || len(p.old.Classes) != in.count {
		m.note(err)
		return nil
	}
	if own.ids == nil {
		if own.ids, err = m.idsOf(context.Background(), set, i); own.ids == nil || err != nil {
			return nil
		}
	}
	p.compare(set.Inputs[i].Classes, own.ids)
	return p
}

// unchanged is compare for an input whose content is the same. It returns nil if it cannot be.
func (p *past) unchanged(classes int) *past {
	if len(p.classes) != classes {
		return nil
	}
	p.from = make([]int, classes)
	for n := range p.from {
		p.from[n] = n
	}
	p.place = p.from
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
	from             *zipfile.Archive
	copied, replaced finder      // entries of from
	inputs           []keptInput // as in the job
	count            int         // of classes that are copied
	most             bool        // of all classes that change
}

// keptInput are the classes of one input.
type keptInput struct {
	past    *past         // nil if there is none
	classes []output.Kept // by number; without an entry for others
}

// keepClasses finds the classes that a job writes as a job before has done.
func (m *memory) keepClasses(j *job) {
	if j.Kind != input.Archive || !m.RemembersClasses() || !m.allKnown(j.Inputs) {
		return
	}
	k := m.keptFrom(j, lastOutput)
	if k == nil {
		k = m.keptFrom(j, keptOutput)
	}
	j.kept = k
	for at, i := range j.Inputs {
		m.hashClasses(j, at, i)
	}
	if k == nil {
		return
	}
	changes := 0
	for _, i := range j.Inputs {
		first, end := m.set.ClassesOf(i)
		for n := first; n < end; n++ {
			if m.decisions.Changes(n) {
				changes++
			}
		}
	}
	k.most = (changes-k.count)*changedShare < changes
	m.keptCount += k.count
}

// hashClasses finds the hashes of the classes of an input, for the history that this run leaves.
func (m *memory) hashClasses(j *job, at, i int) {
	own := &m.inputs[i]
	switch {
	case own.ids != nil || own.builtIn || m.set.Inputs[i].Containers[0].Kind != input.Archive:
	case j.kept != nil && j.kept.inputs[at].past != nil && j.kept.inputs[at].past.old == nil:
		for _, c := range j.kept.inputs[at].past.classes {
			own.ids = append(own.ids, c.id)
		}
	default:
		own.ids, _ = m.idsOf(context.Background(), m.set, i) // nil if it cannot be read
	}
}

// keptFrom finds the classes that a job writes as it was done before, nil if there are none.
func (m *memory) keptFrom(j *job, kind string) *kept {
	h := m.historyOf(j.Inputs[0], kind)
	if h == nil {
		return nil
	}
	old := &job{Job: j.Job, key: h.output}
	data := m.get(old.recordKey())
	if data == nil {
		return nil
	}
	var counts []int
	for _, in := range h.inputs {
		counts = append(counts, in.count)
	}
	record := readStored(data, counts)
	if record == nil || len(record.files) != 1 || record.record.Failed() {
		return nil
	}
	from, ok := m.oldOutput(old, record.files[0])
	if !ok {
		return nil
	}
	entries := finder{entries: from.Entries()}
	k := &kept{from: from, copied: entries, replaced: entries, inputs: make([]keptInput, len(j.Inputs))}
	for at, i := range j.Inputs {
		in, own := m.set.Inputs[i], &m.inputs[i]
		was := h.find(m.run.Inputs[i])
		if was == nil || in.Containers[0].Kind != input.Archive || own.builtIn {
			continue
		}
		p := own.past
		if p == nil || kind != lastOutput {
			p = m.pastOf(m.set, i, kind)
		}
		if p == nil || p.twins {
			continue
		}
		k.inputs[at] = keptInput{p, make([]output.Kept, len(in.Classes))}
		m.chooseClasses(k, at, j, record.record.Inputs[slices.Index(h.inputs, *was)].Classes)
	}
	if k.count == 0 {
		from.Close()
		return nil
	}
	return k
}

// oldOutput opens what an earlier run has written: where it is, if it was not changed since, or else in the cache.
func (m *memory) oldOutput(old *job, file fileRecord) (*zipfile.Archive, bool) {
	if from, err := zipfile.OpenToRead(old.Path); err == nil {
		if m.dirs.holds(old.Path, "", file) && from.Unchanged() {
			return from, true
		}
		from.Close()
	}
	data := m.get(old.contentKey())
	if data == nil {
		return nil, false
	}
	from, err := zipfile.New(old.Path, data)
	return from, err == nil
}

// chooseClasses finds the classes of an input, which is given by its position in the job.
func (m *memory) chooseClasses(k *kept, at int, j *job, records []output.ClassRecord) {
	in, own, decided := m.set.Inputs[j.Inputs[at]], &k.inputs[at], j.done[at]
	others := m.changedForOthers(k, own.past, in, decided)
	was := make([]output.ClassRecord, len(own.past.classes))
	for _, r := range records {
		was[r.Class] = r
	}
	for n, from := range own.past.from {
		if from < 0 || !m.decisions.Changes(in.First+n) {
			continue
		}
		class, before, record := in.Classes[n], &own.past.classes[from], &was[from]
		if before.fault || before.done != decided[n] ||
			m.run.Types && (len(before.asked.All) == 0 || before.asked.All.Any(others)) {
			continue
		}
		if e := k.copied.of(class, in); e != nil && int64(e.Size) == class.Size+record.Grown {
			own.classes[n] = output.Kept{Entry: e, Calls: record.Calls}
			k.count++
		}
	}
}

// changedForOthers returns the names under which the type checker may find something else among the classes of an input
// than an earlier run has found: another class, none, or one where there was none.
func (m *memory) changedForOthers(k *kept, p *past, in *input.Input, decided []done) map[typecheck.NameSum]bool {
	if !m.run.Types {
		return nil
	}
	names := make(map[typecheck.NameSum]bool)
	add := func(name string) { names[typecheck.SumOf(name)] = true }
	for _, n := range p.gone {
		add(p.old.Classes[n].Name)
	}
	for n, place := range p.place {
		name := m.facts[in.First+n].Name
		if place >= 0 && p.classes[place].dropped == decided[n].dropped {
			if p.from[n] >= 0 || decided[n].dropped {
				continue
			}
			if e := k.replaced.of(in.Classes[n], in); e != nil && m.looksTheSame(in.First+n, e) {
				continue
			}
		}
		add(name)
		if place >= 0 && p.old != nil {
			add(p.old.Classes[place].Name)
		}
	}
	return names
}

// finder finds entries by their names, of which no class has that of another: all were in other places. They are asked
// for in their order as a rule.
type finder struct {
	entries []zipfile.Entry
	next    int
	byName  map[string]*zipfile.Entry // nil until it is needed
}

// of returns the entry of a class of an input, nil if that is in an archive in the output.
func (f *finder) of(class *input.Class, in *input.Input) *zipfile.Entry {
	if class.Container != in.Containers[0] {
		return nil
	}
	return f.find(class.Name)
}

// find returns the entry of that name, nil if there is none.
func (f *finder) find(name string) *zipfile.Entry {
	for f.byName == nil && f.next < len(f.entries) {
		e := &f.entries[f.next]
		f.next++
		if e.Name == name {
			return e
		}
	}
	if f.byName == nil {
		f.byName = make(map[string]*zipfile.Entry, len(f.entries))
		for n := range f.entries {
			f.byName[f.entries[n].Name] = &f.entries[n]
		}
	}
	return f.byName[name]
}

// looksTheSame reports whether a class that has changed is to other classes what it was when it was written to an entry
// of an earlier output. The calls in it do not change that; a method that a focus hook adds does.
func (m *memory) looksTheSame(class int, entry *zipfile.Entry) bool {
	now, err := m.set.Peek(class, new([]byte))
	if err != nil {
		return false
	}
	before, err := new(zipfile.Codec).Read(entry, nil)
	if err != nil {
		return false
	}
	changed, err1 := classfile.Parse(now)
	written, err2 := classfile.Parse(before)
	return err1 == nil && err2 == nil && reflect.DeepEqual(types.NewClassInfo(changed), types.NewClassInfo(written))
}

// Kept implements [Memory].
func (m *memory) Kept(class int) (output.Kept, bool) {
	i := m.set.Classes[class].Container.Input
	j := m.inputs[i].job
	if j.kept == nil || j.kept.inputs[i-j.Inputs[0]].past == nil {
		return output.Kept{}, false
	}
	kept := j.kept.inputs[i-j.Inputs[0]].classes[class-m.set.Inputs[i].First]
	return kept, kept.Entry != nil
}

// noteKept adds to a record what the type checker has noted about the classes that were kept.
func (m *memory) noteKept(j *job, record *output.Record) {
	if j.kept == nil {
		return
	}
	for at := range j.kept.inputs {
		own, notes := &j.kept.inputs[at], &record.Inputs[at].Notes
		for n, class := range own.classes {
			if class.Entry != nil {
				notes.Add(n, own.past.classes[own.past.from[n]].asked)
			}
		}
	}
}

// keepHistory writes the history of an output that was written, once more if the cache has the output.
func (m *memory) keepHistory(j *job, record *output.Record, stored bool) {
	if !m.RemembersClasses() || j.Kind != input.Archive || record.Failed() || !m.allKnown(j.Inputs) {
		return
	}
	key, ok := m.historyKey(j.Inputs[0], lastOutput)
	if !ok {
		return
	}
	h := history{output: j.key}
	known := false
	for at, i := range j.Inputs {
		in, err := m.keepPast(j, at, record.Inputs[at].Notes)
		if err != nil {
			m.fail(err)
			return
		}
		known = known || in.facts != (cache.Key{})
		in.count = len(m.set.Inputs[i].Classes)
		h.inputs = append(h.inputs, in)
	}
	if !known {
		return
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

// keepPast keeps what was found about the classes of an input, which is given by its position in the job.
func (m *memory) keepPast(j *job, at int, notes typecheck.Notes) (pastInput, error) {
	own := &m.inputs[j.Inputs[at]]
	path, err := filepath.Abs(m.run.Inputs[j.Inputs[at]])
	if err != nil {
		return pastInput{}, err
	}
	in := pastInput{path: path, content: own.content}
	if own.builtIn || own.ids == nil {
		return in, nil
	}
	classes := make([]pastClass, len(own.ids))
	for n := range classes {
		_, fault := notes.Tolerated[n]
		classes[n] = pastClass{own.ids[n], j.done[at][n], fault, notes.Asked[n]}
	}
	packed := packClasses(classes)
	in.facts, in.classes = own.key, cache.KeyOf("classes 1", string(packed))
	if j.kept != nil && j.kept.inputs[at].past != nil && j.kept.inputs[at].past.key == in.classes {
		return in, nil // this run has read it
	}
	return in, m.Cache.Put(in.classes, packed)
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

// packTasks packs what is done to the classes of an input, and returns it for each.
func packTasks(k *wire.Packer, set *input.Set, in int, decisions plan.Decisions) []done {
	first, end := set.ClassesOf(in)
	all := make([]done, 0, end-first)
	task := plan.Task{}
	for n := first; n < end; n++ {
		task = decisions.Task(n, task.Request.Methods[:0])
		at := k.Len()
		task.Pack(k)
		sum := sha256.Sum256(k.From(at))
		all = append(all, done{taskSum(sum[:]), task.Dropped})
	}
	return all
}
