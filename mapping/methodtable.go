package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
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
	name  string
	from  uint32 // index of its first method; not valid after arrange
	plain bool   // name is unescaped
}

type tableMethod struct {
	name, descriptor string
	class            uint32 // index in classes
	access           uint16
	plain            bool // name and descriptor are unescaped
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
			t.classes, last = append(t.classes, tableClass{m.Class, at, unescaped(m.Class)}), m.Class
		}
		if facts.Fingerprint != 0 && (numbered.has(m.Class) || numberedMethod(m.Name)) {
			t.fingerprints = append(t.fingerprints, methodFingerprint{at, facts.Fingerprint})
		}
		plain := unescaped(m.Name) && unescaped(m.Descriptor)
		t.methods = append(t.methods, tableMethod{
			name: m.Name, descriptor: m.Descriptor, class: uint32(len(t.classes) - 1), access: m.Access, plain: plain,
		})
	}
	return t, nil
}

// sorted returns the methods sorted by key, each key once; among methods with the same key, the one with the lowest
// access flags gets the assignment. It sorts the classes first and then the methods within each class. This is
// several times as fast as sorting keys, whose first halves are mostly equal.
func (t *methodTable) sorted() (assignments []assignment, duplicates []duplicate) {
	type class struct {
		name  string
		index uint32
		plain bool
	}
	classes := make([]class, len(t.classes))
	for i := range classes {
		c := &t.classes[i]
		classes[i] = class{c.name, uint32(i), c.plain}
	}
	slices.SortFunc(classes, func(a, b class) int { return compareText(a.name, b.name, a.plain && b.plain) })
	assignments = make([]assignment, 0, len(t.methods))
	from := 0
	for i, c := range classes {
		first, end := t.ofClass(c.index)
		for m := first; m < end; m++ {
			assignments = append(assignments, assignment{method: m})
		}
		if i+1 == len(classes) || classes[i+1].name != c.name {
			var n int
			n, duplicates = t.sortUnique(assignments[from:], duplicates)
			from += n
			assignments = assignments[:from]
		}
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

// sortUnique sorts methods by key and moves one method for each identity to the front; it returns their number. The
// others are appended to duplicates.
func (t *methodTable) sortUnique(assignments []assignment, duplicates []duplicate) (int, []duplicate) {
	compare := func(a, b assignment) int {
		x, y := &t.methods[a.method], &t.methods[b.method]
		if x.class != y.class {
			c, d := &t.classes[x.class], &t.classes[y.class]
			if order := compareText(c.name, d.name, c.plain && d.plain); order != 0 {
				return order
			}
		}
		plain := x.plain && y.plain
		if c := compareText(x.name, y.name, plain); c != 0 {
			return c
		}
		return compareText(x.descriptor, y.descriptor, plain)
	}
	slices.SortFunc(assignments, func(a, b assignment) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(t.methods[a.method].access, t.methods[b.method].access), cmp.Compare(a.method, b.method))
	})
	n := 0
	for i, s := range assignments {
		if i > 0 && compare(s, assignments[n-1]) == 0 {
			duplicates = append(duplicates, duplicate{s.method, assignments[n-1].method})
			continue
		}
		assignments[n] = s
		n++
	}
	return n, duplicates
}

// compareText compares the text forms of a and b. plain means that both are unescaped.
func compareText(a, b string, plain bool) int {
	if plain {
		return strings.Compare(a, b)
	}
	return strings.Compare(Text(a), Text(b))
}

// appendKey appends the key of method i to dst.
func (t *methodTable) appendKey(dst []byte, i int) []byte {
	m := &t.methods[i]
	if c := &t.classes[m.class]; c.plain {
		dst = append(appendUnescaped(dst, c.name), ' ')
	} else {
		dst = append(appendText(dst, c.name), ' ')
	}
	return appendNames(dst, m.name, m.descriptor, m.plain)
}

// appendNames appends the end of a key. plain means that both names are unescaped.
func appendNames(dst []byte, name, descriptor string, plain bool) []byte {
	if plain {
		return appendUnescaped(append(appendUnescaped(dst, name), ' '), descriptor)
	}
	return appendText(append(appendText(dst, name), ' '), descriptor)
}

// arrange keeps only the methods of the assignments, in their order.
func (t *methodTable) arrange(assignments []assignment) {
	methods := make([]tableMethod, len(assignments))
	t.ids = make([]uint32, len(assignments))
	parallel(len(assignments), func(from, to int) {
		for i := from; i < to; i++ {
			methods[i], t.ids[i] = t.methods[assignments[i].method], assignments[i].id
		}
	})
	t.methods, t.fingerprints = methods, nil
}

// prefetchCount is the number of methods that are prefetched at once, a power of two.
const prefetchCount = 16

// prefetch reads a byte of each string of the prefetchCount methods from i on. Methods that are sorted by ID lie
// anywhere in memory. Waiting for many of these reads at once takes half of the time of waiting for each one when the
// text of its method is made.
//
//go:noinline
//go:noinline
func (t *methodTable) prefetch(i int) (sum byte) {
	for _, m := range t.methods[i:min(i+prefetchCount, len(t.methods))] {
		sum += t.classes[m.class].name[0] + m.name[0] + m.descriptor[0] + m.descriptor[len(m.descriptor)-1]
	}
	return sum
}

// appendLine appends the method line of method i to dst, with its newline. It is fast if it is called for consecutive
// methods.
func (t *methodTable) appendLine(dst []byte, i int) []byte {
	if i%prefetchCount == 0 {
		t.prefetch(i)
	}
	dst = strconv.AppendUint(dst, uint64(t.ids[i]), 10)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(t.methods[i].access), 10)
	dst = append(dst, ',')
	return append(t.appendKey(dst, i), '\n')
}

// key returns the key of method i, which lies in buf and is valid until buf is used again. It is fast if it is called
// for consecutive methods.
func (t *methodTable) key(i int, buf *[]byte) string {
	if i%prefetchCount == 0 {
		t.prefetch(i)
	}
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

// perClass yields the classes in text form, each with a number of its methods. A class may be yielded more than once.
func (t *methodTable) perClass() iter.Seq2[string, int] {
	counts := make([]int, len(t.classes))
	for i := range t.methods {
		counts[t.methods[i].class]++
	}
	return func(yield func(string, int) bool) {
		for i, n := range counts {
			if n > 0 && !yield(Text(t.classes[i].name), n) {
				return
			}
		}
	}
}

// view returns bytes as a string without a copy. The string changes when the bytes change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
