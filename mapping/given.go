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

// given is the methods that a mapping was assigned to, as the caller has them: its strings, of which many methods
// share one, in internal form. A key is made where one is asked for. The text of all keys would be five times as much
// memory as this, and a build that instruments keeps its mapping to the end, to write it once.
type given struct {
	classes []givenClass
	methods []givenMethod // in the caller's order; from arrange on one for each identity, by ID
	ids     []uint32      // theirs, from arrange on
	bodies  []givenBody   // of those that are Numbered and whose body is known, until arrange
}

// givenClass is a class whose methods came one after the other. It may be there more than once.
type givenClass struct {
	name string
	from uint32 // index of its first method, until arrange
}

type givenMethod struct {
	name, descriptor string
	class            uint32 // index in classes
	access           uint16
	plain            bool // both strings are unescaped
}

type givenBody struct {
	method uint32
	body   uint64
}

// slot is a method, by its index in the caller's order, and its ID, 0 if it has none yet.
type slot struct{ method, id uint32 }

// repeat is a method that has the identity of another one, which has a slot.
type repeat struct{ method, of uint32 }

// gather takes the methods over. It refuses those that have no key.
func gather(methods iter.Seq2[Method, uint64]) (*given, error) {
	classes, n, last := 0, 0, ""
	for m := range methods {
		if n++; m.Class != last {
			classes, last = classes+1, m.Class
		}
	}
	g := &given{classes: make([]givenClass, 0, classes), methods: make([]givenMethod, 0, n)}
	last = ""
	for m, body := range methods {
		if m.Class == "" || m.Name == "" || m.Descriptor == "" {
			return nil, fmt.Errorf("class %q, method %q, descriptor %q: none of the three can be empty; leave the method out as malformed",
				Text(m.Class), Text(m.Name), Text(m.Descriptor))
		}
		at := uint32(len(g.methods))
		if m.Class != last { // methods mostly come class by class
			g.classes, last = append(g.classes, givenClass{m.Class, at}), m.Class
		}
		if body != 0 && Numbered(m.Identity) {
			g.bodies = append(g.bodies, givenBody{at, body})
		}
		g.methods = append(g.methods, givenMethod{
			name: m.Name, descriptor: m.Descriptor, class: uint32(len(g.classes) - 1), access: m.Access,
			plain: unescaped(m.Name) && unescaped(m.Descriptor),
		})
	}
	return g, nil
}

// sorted gives the methods by key, each key once; of those with equal keys the one with the lowest access flags has the
// slot. Sorting classes first, and methods only within their class, is several times as fast as sorting the keys, whose
// first halves are mostly equal.
func (g *given) sorted() (slots []slot, repeats []repeat) {
	type class struct {
		name  string
		index uint32
		plain bool
	}
	classes := make([]class, len(g.classes))
	for i := range classes {
		name := g.classes[i].name
		classes[i] = class{name, uint32(i), unescaped(name)}
	}
	slices.SortFunc(classes, func(a, b class) int { return compareText(a.name, b.name, a.plain && b.plain) })
	slots = make([]slot, 0, len(g.methods))
	from := 0
	for i, c := range classes {
		first, end := g.ofClass(c.index)
		for m := first; m < end; m++ {
			slots = append(slots, slot{method: m})
		}
		if i+1 == len(classes) || classes[i+1].name != c.name {
			var n int
			n, repeats = g.sortUnique(slots[from:], repeats)
			from += n
			slots = slots[:from]
		}
	}
	return slots, repeats
}

// ofClass gives the indexes of the methods that came with a class.
func (g *given) ofClass(class uint32) (first, end uint32) {
	end = uint32(len(g.methods))
	if int(class)+1 < len(g.classes) {
		end = g.classes[class+1].from
	}
	return g.classes[class].from, end
}

// sortUnique sorts methods of one class and moves those that have a slot to the front, whose number it gives. The
// others are appended to repeats.
func (g *given) sortUnique(slots []slot, repeats []repeat) (int, []repeat) {
	compare := func(a, b slot) int {
		x, y := &g.methods[a.method], &g.methods[b.method]
		plain := x.plain && y.plain
		if c := compareText(x.name, y.name, plain); c != 0 {
			return c
		}
		return compareText(x.descriptor, y.descriptor, plain)
	}
	slices.SortFunc(slots, func(a, b slot) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Compare(g.methods[a.method].access, g.methods[b.method].access)
	})
	n := 0
	for i, s := range slots {
		if i > 0 && compare(s, slots[n-1]) == 0 {
			repeats = append(repeats, repeat{s.method, slots[n-1].method})
			continue
		}
		slots[n] = s
		n++
	}
	return n, repeats
}

// compareText compares the text forms of a and b; plain says that both are unescaped.
func compareText(a, b string, plain bool) int {
	if plain {
		return strings.Compare(a, b)
	}
	return strings.Compare(Text(a), Text(b))
}

// appendKey appends the key of method i to dst.
func (g *given) appendKey(dst []byte, i int) []byte {
	m := &g.methods[i]
	dst = append(appendText(dst, g.classes[m.class].name), ' ')
	dst = append(appendText(dst, m.name), ' ')
	return appendText(dst, m.descriptor)
}

// arrange keeps the methods of the slots alone, in their order.
func (g *given) arrange(slots []slot) {
	methods := make([]givenMethod, len(slots))
	g.ids = make([]uint32, len(slots))
	for i, s := range slots {
		methods[i], g.ids[i] = g.methods[s.method], s.id
	}
	g.methods, g.bodies = methods, nil
}

// ahead is how many methods are looked at ahead, a power of two.
const ahead = 16

// touch reads a byte of each string of methods from i on. By ID, they lie anywhere in memory: to wait for a number of
// them together takes half of the time that it takes to wait for each when its text is made.
//
//go:noinline
func (g *given) touch(i int) (sum byte) {
	for _, m := range g.methods[i:min(i+ahead, len(g.methods))] {
		sum += g.classes[m.class].name[0] + m.name[0] + m.descriptor[0] + m.descriptor[len(m.descriptor)-1]
	}
	return sum
}

// appendLine appends the method line of method i to dst, with its newline. It is meant for one method after the other.
func (g *given) appendLine(dst []byte, i int) []byte {
	if i%ahead == 0 {
		g.touch(i)
	}
	dst = strconv.AppendUint(dst, uint64(g.ids[i]), 10)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(g.methods[i].access), 10)
	dst = append(dst, ',')
	return append(g.appendKey(dst, i), '\n')
}

// key gives the key of method i, of one after the other. It lies in buf, and is valid until that is written to.
func (g *given) key(i int, buf *[]byte) string {
	if i%ahead == 0 {
		g.touch(i)
	}
	*buf = g.appendKey((*buf)[:0], i)
	return view(*buf)
}

// has reports whether the key of method i is key.
func (g *given) has(i int, key string) bool {
	var buf [256]byte
	return string(g.appendKey(buf[:0], i)) == key
}

// entry gives the entry of method i.
func (g *given) entry(i int) Entry {
	m := &g.methods[i]
	return Entry{ID: g.ids[i], Method: Method{Identity{g.classes[m.class].name, m.name, m.descriptor}, m.access}}
}

// perClass gives the classes, in text form and perhaps more than once, each with a number of its methods.
func (g *given) perClass() iter.Seq2[string, int] {
	counts := make([]int, len(g.classes))
	for i := range g.methods {
		counts[g.methods[i].class]++
	}
	return func(yield func(string, int) bool) {
		for i, n := range counts {
			if n > 0 && !yield(Text(g.classes[i].name), n) {
				return
			}
		}
	}
}

// view gives bytes as a string, which changes with them.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
