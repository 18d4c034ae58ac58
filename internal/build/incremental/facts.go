package incremental

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// The facts of an input are kept in one of two forms: all of them, or the facts of the classes that have changed since
// an earlier run, and the key of the facts of that, which are whole. So a changed class costs little to keep, and each
// key leads to the facts in two steps at most.

// keptFacts are the facts of an input as the cache has them.
type keptFacts struct {
	scan.Input
	whole cache.Key // of the entry with the facts of most classes
	// at has the number in that entry of each class, -1 for one that is not there. It is nil if the numbers are the
	// same.
	at []int
}

// wholeAt returns the number of a class in the entry with all facts, -1 if it is not there.
func (f *keptFacts) wholeAt(class int) int {
	if f.at == nil {
		return class
	}
	return f.at[class]
}

// changedShare is the part of the classes from which on all facts are written: one in so many.
const changedShare = 8

// packFacts returns the facts of an input as they are kept.
func (m *memory) packFacts(i int, in scan.Input) []byte {
	if part := m.packChanged(m.inputs[i].past, in); part != nil {
		return part
	}
	return append([]byte{factsWhole}, scan.Pack([]scan.Input{in}, false)...)
}

// packChanged returns the facts of classes that have changed, nil if they are too many, or there is nothing to refer
// to.
func (m *memory) packChanged(p *past, in scan.Input) []byte {
	if p == nil || p.old == nil {
		return nil
	}
	k := wire.NewPacker()
	k.Raw(p.old.whole[:]...)
	k.Int(len(in.Classes))
	var changed []*scan.Class
	for n, c := range in.Classes {
		at := -1
		if from := p.from[n]; from >= 0 {
			at = p.old.wholeAt(from)
		}
		if k.Int(at + 1); at < 0 {
			changed = append(changed, c)
		}
	}
	if len(changed)*changedShare > len(in.Classes) {
		return nil
	}
	in.Classes = changed
	list := k.Bytes()
	b := binary.AppendUvarint([]byte{factsChanged}, uint64(len(list)))
	return append(append(b, list...), scan.Pack([]scan.Input{in}, false)...)
}

// The first byte of kept facts.
const (
	factsWhole = iota
	factsChanged
)

// readFacts reads the facts of an input of this run. The error is of the cache, and nil with the facts.
func (m *memory) readFacts(key cache.Key, i int) (*keptFacts, error) {
	data, err := m.Cache.Get(key)
	if err != nil {
		return nil, err
	}
	if f := readWhole(data, i, m.run.Inputs[i]); f != nil {
		return &keptFacts{Input: *f, whole: key}, nil
	}
	damaged := &cache.DamagedError{File: key.String(), What: "of another form than this version writes"}
	f, changed := readChanged(data, i, m.run.Inputs[i])
	if f == nil {
		return nil, damaged
	}
	if data, err = m.Cache.Get(f.whole); err != nil {
		return nil, err
	}
	whole := readWhole(data, i, m.run.Inputs[i])
	if whole == nil || !f.fill(whole, changed) {
		return nil, damaged
	}
	return f, nil
}

// readWhole reads all facts of an input, for the input of that number and path, nil if the data are no such facts.
func readWhole(data []byte, number int, path string) *scan.Input {
	if len(data) == 0 || data[0] != factsWhole {
		return nil
	}
	return readPacked(data[1:], number, path)
}

func readPacked(data []byte, number int, path string) *scan.Input {
	inputs, ok := scan.Unpack(data, false, func(int, string) (int, string) { return number, path })
	if !ok || len(inputs) != 1 {
		return nil
	}
	return &inputs[0]
}

// readChanged reads what packChanged has written: where the classes are, and the facts of those that have changed.
func readChanged(data []byte, number int, path string) (*keptFacts, *scan.Input) {
	if len(data) == 0 || data[0] != factsChanged {
		return nil, nil
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size > uint64(len(data)-1-n) {
		return nil, nil
	}
	list, packed := data[1+n:][:size], data[1+n:][size:]
	u := wire.NewUnpacker(list)
	f := &keptFacts{whole: cache.Key(u.Raw(len(cache.Key{})))}
	f.at = make([]int, u.Count(1))
	for i := range f.at {
		f.at[i] = u.Int() - 1
	}
	changed := readPacked(packed, number, path)
	if !u.End() || changed == nil {
		return nil, nil
	}
	return f, changed
}

// fill sets the classes: those that have changed, and between them all others from the whole facts. It returns false if
// these are not the ones that are meant.
func (f *keptFacts) fill(whole, changed *scan.Input) bool {
	f.Name, f.Containers = changed.Name, changed.Containers
	containers := make(map[string]*input.Container, len(f.Containers))
	for _, c := range f.Containers {
		containers[c.Outer] = c
	}
	f.Classes = make([]*scan.Class, len(f.at))
	copies := make([]scan.Class, len(f.at))
	places := make([]input.Class, len(f.at))
	next := 0
	for n, at := range f.at {
		if at < 0 {
			if next == len(changed.Classes) {
				return false
			}
			f.Classes[n] = changed.Classes[next]
			next++
			continue
		}
		if at >= len(whole.Classes) {
			return false
		}
		copies[n] = *whole.Classes[at]
		places[n] = *copies[n].At
		if places[n].Container = containers[places[n].Container.Outer]; places[n].Container == nil {
			return false
		}
		copies[n].At, f.Classes[n] = &places[n], &copies[n]
	}
	return next == len(changed.Classes)
}
