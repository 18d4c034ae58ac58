package pipeline

import (
	"strings"
)

// scanned is what a scan found out about an input, as the cache keeps it: the same as a scan file has of it, without what
// only other parts would ask for.
type scanned struct {
	sources    []*source // the input's own first, then those in it; without entries
	units      []*unit   // in the order in which opening the input gives them
	duplicates []duplicate
}

// duplicate is an entry of a name that an earlier one has.
type duplicate struct {
	source int
	entry  string
}

// packScanned writes down what is known of an input after the scan. All that a message says begins with the input's own
// path, which the cache does not know: there may be another one next time.
func packScanned(top *source, units []*unit) []byte {
	k := newPacker()
	sources := []*source{top}
	for i := range top.entries {
		if nested := top.entries[i].nested; nested != nil {
			sources = append(sources, nested)
		}
	}
	k.int(len(sources))
	for _, s := range sources {
		k.text(s.outer)
		k.flags(s.isDir, s.lone)
		var names []string
		if s.archive != nil {
			for _, d := range s.archive.Duplicates() {
				names = append(names, d.Name)
			}
		}
		k.int(len(names))
		for _, name := range names {
			k.text(name)
		}
	}
	k.int(len(units))
	for _, u := range units {
		packPlace(k, u)
		named := *u
		var placed bool
		named.whole.Detail, placed = strings.CutPrefix(u.whole.Detail, u.source.name+"!")
		k.flags(u.stripped, u.foreign, u.untouched, u.stamped, u.ancestry.DeclaresFocus, u.ancestry.BarsFocus, u.runtimeFaults != nil, u.untried)
		k.flags(placed)
		packClass(k, &named)
		packMethods(k, u)
		for i := range u.methods {
			k.text(u.methods[i].name)
			k.text(u.methods[i].descriptor)
		}
	}
	return k.bytes()
}

// readScanned reads it, for the input of that number and path; nil if it cannot be.
func readScanned(data []byte, input int, path string) *scanned {
	u := newSharingUnpacker(data)
	found := &scanned{}
	known := make(map[string]*source)
	for i := range u.count(3) {
		s := &source{name: path, input: input, outer: u.text()}
		if s.outer != "" {
			s.name += "!" + strings.TrimSuffix(s.outer, "!")
		}
		u.flags(&s.isDir, &s.lone)
		for range u.count(1) {
			found.duplicates = append(found.duplicates, duplicate{i, u.text()})
		}
		found.sources = append(found.sources, s)
		known[s.outer] = s
	}
	n := u.count(placeSize)
	p := Part{units: make([]*unit, 0, n), room: make([]placedUnit, n)}
	for range n {
		unit := p.place(u, input, known)
		readScannedUnit(u, unit)
	}
	// A place in a source that was not listed would have added one.
	if !u.end() || len(found.sources) == 0 || len(p.sources) > 0 {
		return nil
	}
	found.units = p.units
	return found
}

func readScannedUnit(u *unpacker, to *unit) {
	var isRuntime, placed bool
	u.flags(&to.stripped, &to.foreign, &to.untouched, &to.stamped, &to.ancestry.DeclaresFocus, &to.ancestry.BarsFocus, &isRuntime, &to.untried)
	u.flags(&placed)
	readClass(u, to, isRuntime)
	if placed {
		to.whole.Detail = to.source.name + "!" + to.whole.Detail
	}
	readMethods(u, to, func(int, int) (string, string) { return "", "" })
	for i := range to.methods {
		m := &to.methods[i]
		m.name, m.descriptor = u.text(), u.text()
	}
}
