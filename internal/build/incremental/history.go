package incremental

import (
	"crypto/sha256"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// Of an archive in which a few classes have changed, the results of all others are reused one by one. For that, the
// cache has a history for each output: what the run before has found and written. A class is the same if its entry is,
// byte for byte as it is compressed.
//
// The facts about a class depend on nothing but the class and the options. What is written for a class depends on the
// task too, and on the other classes that the type checker has looked for. So it is reused only if
//
//   - the task is the same, IDs included,
//   - none of the classes that the checker has looked for, whether it has found them or not, has come, gone, or changed
//     in what it is to others: name, flags, supertypes, and members,
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

// done is what was decided about a class.
type done struct {
	task    taskSum
	dropped bool // it is left out: other classes do not see it
}

// history is what the last run that wrote an output has left.
type history struct {
	output cache.Key   // of the job
	inputs []pastInput // as in the job
}

// pastInput is an input of an output that was written.
type pastInput struct {
	path    string // absolute
	content cache.Key
	count   int       // of its classes
	facts   cache.Key // the zero Key if nothing is known of single classes
	classes cache.Key // of the list of pastClass, which is often that of the run before
}

// pastClass is what a run has found about one class.
type pastClass struct {
	id classID
	done
	fault bool            // the type checker has tolerated a fault
	asked typecheck.Asked // what it has looked for
}

// The kinds of histories.
const (
	lastOutput = "last" // of the last output
	keptOutput = "kept" // of the last output that the cache has
)

// historyKey is the key of the history of the output of an input: all that its facts and the output depend on, but the
// content of inputs and what is decided about their classes.
func (m *memory) historyKey(i int, kind string) (cache.Key, bool) {
	path := m.run.Merged
	if path == "" {
		path = m.run.Inputs[i]
	}
	path, err := filepath.Abs(path)
	parts := append([]string{"history 4", kind, path, m.ScanKey}, m.writtenBy()...)
	return cache.KeyOf(append(parts, m.scanned()...)...), err == nil && m.checked != ""
}

// historyOf reads the history of the output of an input, nil if there is none.
func (m *memory) historyOf(i int, kind string) *history {
	key, ok := m.historyKey(i, kind)
	if !ok {
		return nil
	}
	if h, read := m.histories[key]; read {
		return h
	}
	var h *history
	if data := m.get(key); data != nil {
		h = readHistory(data)
	}
	m.histories[key] = h
	return h
}

// find returns what is known of an input, nil if nothing is.
func (h *history) find(path string) *pastInput {
	path, err := filepath.Abs(path)
	i := slices.IndexFunc(h.inputs, func(in pastInput) bool { return in.path == path })
	if err != nil || i < 0 || h.inputs[i].facts == (cache.Key{}) {
		return nil
	}
	return &h.inputs[i]
}

func (h *history) pack() []byte {
	k := wire.NewPacker()
	k.Raw(h.output[:]...)
	k.Int(len(h.inputs))
	for _, in := range h.inputs {
		k.Text(in.path)
		k.Int(in.count)
		for _, key := range []cache.Key{in.content, in.facts, in.classes} {
			k.Raw(key[:]...)
		}
	}
	return k.Bytes()
}

// readHistory reads what pack has written, nil if it is damaged.
func readHistory(data []byte) *history {
	u := wire.NewUnpacker(data)
	h := &history{output: cache.Key(u.Raw(len(cache.Key{})))}
	h.inputs = make([]pastInput, u.Count(2+3*len(cache.Key{})))
	for i := range h.inputs {
		in := &h.inputs[i]
		in.path, in.count = u.Text(), u.Int()
		for _, key := range []*cache.Key{&in.content, &in.facts, &in.classes} {
			*key = cache.Key(u.Raw(len(key)))
		}
	}
	if !u.End() {
		return nil
	}
	return h
}

func packClasses(classes []pastClass) []byte {
	k := wire.NewPacker()
	k.Int(len(classes))
	for i := range classes {
		c := &classes[i]
		k.Flags(c.fault, c.dropped)
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

// readClasses reads what packClasses has written, nil if it is damaged.
func readClasses(data []byte) []pastClass {
	u := wire.NewUnpacker(data)
	classes := make([]pastClass, u.Count(3+len(classID{})+len(taskSum{})))
	for i := range classes {
		c := &classes[i]
		u.Flags(&c.fault, &c.dropped)
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
	return classes
}
