package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"unsafe"
)

// methodTable contains the methods that a mapping was assigned to, with the caller's strings in internal form. Many
// methods share a string. Keys are made only when they are needed: the text of all keys would take five times the
// memory, and a build keeps its mapping until the end only to write it once.
type methodTable struct {
	classes      []tableClass
	methods      []tableMethod       // in the caller's order; after arrange one for each identity, by ID
	ids          []uint32            // of methods, set by arrange
	fingerprints []methodFingerprint // of methods that are Numbered; nil after arrange
}

// tableClass is a class whose methods came one after the other. A class may be in the table more than once.
type tableClass struct {
	name string
	from uint32 // index of its first method; not valid after arrange
}

type tableMethod struct {
	name, descriptor string
	class            uint32 // index in classes
	access           uint16
}

type methodFingerprint struct {
	method      uint32
	fingerprint uint64
}

// assignment is the ID of a method, 0 if it has none yet. method is its index in the caller's order.
type assignment struct{ method, id uint32 }

// duplicate is a method that has the same identity as another one, which has an assignment.
type duplicate struct{ method, of uint32 }

// newMethodTable returns the table of methods. It fails if a method has an empty class, name or descriptor.
func newMethodTable(n Counts, methods iter.Seq2[Method, Facts]) (*methodTable, error) {
	t := &methodTable{classes: make([]tableClass, 0, n.Classes), methods: make([]tableMethod, 0, n.Methods)}
	last := ""
	numbered := numberedClasses{}
	for m, facts := range methods {
		if m.Class == "" || m.Name == "" || m.Descriptor == "" {
			return nil, fmt.Errorf("class %q, method %q, descriptor %q: none of the three may be empty; skip the "+
				"method as malformed",
				Text(m.Class), Text(m.Name), Text(m.Descriptor))
		}
		at := uint32(len(t.methods))
		if m.Class != last { // the methods of a class usually come together
			t.classes, last = append(t.classes, tableClass{m.Class, at}), m.Class
		}
		if facts.Fingerprint != 0 && (numbered.has(m.Class) || numberedMethod(m.Name)) {
			t.fingerprints = append(t.fingerprints, methodFingerprint{at, facts.Fingerprint})
		}
		t.methods = append(t.methods, tableMethod{name: m.Name, descriptor: m.Descriptor,
			class: uint32(len(t.classes) - 1), access: m.Access})
	}
	return t, nil
}

// sorted returns the methods sorted by key, each key once; among methods with the same key, the one with the lowest
// access flags gets the assignment. It sorts the classes first and then the methods within each class, as the first
// halves of keys are mostly equal.
func (t *methodTable) sorted() (assignments []assignment, duplicates []duplicate) {
	classes := make([]uint32, len(t.classes))
	for i := range classes {
		classes[i] = uint32(i)
	}
	byClass := func(a, b uint32) int { return compareText(t.classes[a].name, t.classes[b].name) }
	slices.SortFunc(classes, byClass)
	byNames := func(a, b assignment) int {
		x, y := &t.methods[a.method], &t.methods[b.method]
		if order := compareText(x.name, y.name); order != 0 {
			return order
		}
		return compareText(x.descriptor, y.descriptor)
	}
	assignments = make([]assignment, 0, len(t.methods))
	from := 0 // the first of the class
	for i, class := range classes {
		first, end := t.ofClass(class)
		for m := first; m < end; m++ {
			assignments = append(assignments, assignment{method: m})
		}
		if i+1 < len(classes) && byClass(class, classes[i+1]) == 0 {
			continue
		}
		all := assignments[from:]
		slices.SortFunc(all, func(a, b assignment) int {
			return cmp.Or(byNames(a, b), cmp.Compare(t.methods[a.method].access, t.methods[b.method].access),
				cmp.Compare(a.method, b.method))
		})
		assignments = assignments[:from]
		for _, m := range all {
			if n := len(assignments); n > from && byNames(assignments[n-1], m) == 0 {
				duplicates = append(duplicates, duplicate{m.method, assignments[n-1].method})
				continue
			}
			assignments = append(assignments, m)
		}
		from = len(assignments)
	}
	return assignments, duplicates
}

// ofClass returns the range of indexes of the methods that came with a class.
func (t *methodTable) ofClass(class uint32) (first, end uint32) {
	end = uint32(len(t.methods))
	if int(class)+1 < len(t.classes) {
		end = t.classes[class+1].from
	}
	return t.classes[class].from, end
}

// appendKey appends the key of method i to dst.
func (t *methodTable) appendKey(dst []byte, i int) []byte {
	m := &t.methods[i]
	dst = append(appendText(dst, t.classes[m.class].name), ' ')
	return appendText(append(appendText(dst, m.name), ' '), m.descriptor)
}

// arrange keeps only the methods of the assignments, in their order.
func (t *methodTable) arrange(assignments []assignment) {
	methods := make([]tableMethod, len(assignments))
	t.ids = make([]uint32, len(assignments))
	for i, s := range assignments {
		methods[i], t.ids[i] = t.methods[s.method], s.id
	}
	t.methods, t.fingerprints = methods, nil
}

// fetch reads the names of some methods, so that they are in the processor's cache when their lines are made. In the
// order of IDs, names lie all over the memory. Here the processor need not wait for one before it asks for the next,
// which takes a quarter off a build in which all else is reused.
func (t *methodTable) fetch(from, to int) {
	sum := byte(0)
	for i := from; i < to; i++ {
		m := &t.methods[i]
		for _, text := range [...]string{t.classes[m.class].name, m.name, m.descriptor} {
			if text != "" {
				sum += text[0] + text[len(text)-1]
			}
		}
	}
	runtime.KeepAlive(sum)
}

// appendLine appends the method line of method i to dst, with its newline.
func (t *methodTable) appendLine(dst []byte, i int) []byte {
	dst = strconv.AppendUint(dst, uint64(t.ids[i]), 10)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(t.methods[i].access), 10)
	dst = append(dst, ',')
	return append(t.appendKey(dst, i), '\n')
}

// key returns the key of method i, which lies in buf and is valid until buf is used again.
func (t *methodTable) key(i int, buf *[]byte) string {
	*buf = t.appendKey((*buf)[:0], i)
	return view(*buf)
}

// has reports whether the key of method i is key.
func (t *methodTable) has(i int, key string) bool {
	var buf [256]byte
	return string(t.appendKey(buf[:0], i)) == key
}

// entry returns the entry of method i.
func (t *methodTable) entry(i int) Entry {
	m := &t.methods[i]
	return Entry{ID: t.ids[i], Method: Method{Identity{t.classes[m.class].name, m.name, m.descriptor}, m.access}}
}

// view returns bytes as a string without a copy. The string changes when the bytes change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
