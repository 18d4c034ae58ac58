package types

import (
	"hash/maphash"
	"strconv"
	"strings"
)

// vtype is a verification type (JVMS 4.10.1.2) of one word of a frame: the kind in the low four bits, above
// them the number of a class name, the position of a new or of a subroutine. Equal types are equal numbers.
type vtype uint32

// The kinds. The second words of long and double are types of their own, as each word of a frame has one.
// The four small integer kinds are those of array components and of a method's result only: everywhere else
// they are int.
const (
	tTop vtype = iota
	tInt
	tFloat
	tDouble
	tLong
	tNull
	tUninitializedThis
	kindObject        // class, interface or array, by the number of its name
	kindUninitialized // by the position of its new
	tDouble2
	tLong2
	tBoolean
	tByte
	tShort
	tChar
	kindReturnAddress // by the position of the subroutine (JVMS 4.10.2.5); inference only
)

// tUnknown is what a word has after a finding about it: whatever is wanted of it, so that nothing is told twice. Only
// type checking has it, and nothing before the first finding.
const tUnknown = tTop + 1<<kindBits

const kindBits = 4

func (t vtype) kind() vtype { return t & (1<<kindBits - 1) }

func (t vtype) index() int { return int(t >> kindBits) }

func uninitialized(pc int) vtype { return vtype(pc)<<kindBits | kindUninitialized }

func returnAddress(pc int) vtype { return vtype(pc)<<kindBits | kindReturnAddress }

// isReference is about initialised references: only they have a place in the class hierarchy.
func (t vtype) isReference() bool { return t == tNull || t.kind() == kindObject }

func (t vtype) isUninitialized() bool {
	return t == tUninitializedThis || t.kind() == kindUninitialized
}

// isObject is about references that are not null, initialised or not.
func (t vtype) isObject() bool { return t.kind() == kindObject || t.isUninitialized() }

func (t vtype) isSecondWord() bool { return t == tLong2 || t == tDouble2 }

// isOneWord says whether the type is of category 1 (JVMS table 2.11.1-B); top is of none.
func (t vtype) isOneWord() bool {
	return t != tTop && t != tLong && t != tDouble && !t.isSecondWord()
}

// secondWord gives what follows the first word of a long or double, and false for every other type.
func (t vtype) secondWord() (vtype, bool) {
	switch t {
	case tLong:
		return tLong2, true
	case tDouble:
		return tDouble2, true
	}
	return tTop, false
}

// className is one name that the judged class mentions, with what has been found out about it.
type className struct {
	name      string
	component vtype // of an array; 0 for classes
	looked    bool  // whether info is what the hierarchy said
	info      *ClassInfo
}

// names numbers the names that one class mentions, so that types compare as numbers. They are found again in an open
// hash table, which is forgotten by counting up: to clear a map would cost what the largest class so far has left there.
type names struct {
	list  []className
	slots []nameSlot // a power of two of them, at most half in use
	round uint32     // of slots that are in use
	seed  maphash.Seed
}

// nameSlot is in use if it is of the current round.
type nameSlot struct {
	round uint32
	hash  uint32
	t     vtype
}

// fewestSlots is the size of the first hash table.
const fewestSlots = 256

// reset forgets all names but not their memory.
func (n *names) reset() {
	clear(n.list) // the names are cut from a class file
	n.list = n.list[:0]
	if n.round++; n.round == 0 || n.slots == nil {
		n.slots, n.round, n.seed = make([]nameSlot, fewestSlots), 1, maphash.MakeSeed()
	}
}

// slot gives the place of a name in the table: its own, or the free one that it goes into.
func (n *names) slot(name string, hash uint32) *nameSlot {
	for i := int(hash); ; i++ {
		s := &n.slots[i&(len(n.slots)-1)]
		if s.round != n.round || s.hash == hash && n.list[s.t.index()].name == name {
			return s
		}
	}
}

// grow doubles the table.
func (n *names) grow() {
	old := n.slots
	n.slots = make([]nameSlot, 2*len(old))
	for _, s := range old {
		if s.round != n.round {
			continue
		}
		i := int(s.hash)
		for n.slots[i&(len(n.slots)-1)].round == n.round {
			i++
		}
		n.slots[i&(len(n.slots)-1)] = s
	}
}

// known gives the type of a class or array that has one, tTop if it has none.
func (n *names) known(name string) vtype {
	hash := uint32(maphash.String(n.seed, name))
	if s := n.slot(name, hash); s.round == n.round {
		return s.t
	}
	return tTop
}

// of gives the type of a class, or of an array whose descriptor is given. The name must be well-formed.
func (n *names) of(name string) vtype {
	hash := uint32(maphash.String(n.seed, name))
	s := n.slot(name, hash)
	if s.round == n.round {
		return s.t
	}
	t := vtype(len(n.list))<<kindBits | kindObject
	*s = nameSlot{n.round, hash, t}
	n.list = append(n.list, className{name: name})
	if 2*len(n.list) > len(n.slots) {
		n.grow()
	}
	if name[0] == '[' {
		component := n.component(name[1:])
		n.list[t.index()].component = component
	}
	return t
}

// component gives the type of a descriptor with the small integers kept apart: int[] is no byte[].
func (n *names) component(descriptor string) vtype {
	switch descriptor[0] {
	case 'Z':
		return tBoolean
	case 'B':
		return tByte
	case 'S':
		return tShort
	case 'C':
		return tChar
	}
	return n.field(descriptor)
}

// field gives the type of a value of that field descriptor (JVMS 4.3.2), which must be well-formed.
func (n *names) field(descriptor string) vtype {
	switch descriptor[0] {
	case 'J':
		return tLong
	case 'D':
		return tDouble
	case 'F':
		return tFloat
	case 'L':
		return n.of(descriptor[1 : len(descriptor)-1])
	case '[':
		return n.of(descriptor)
	}
	return tInt
}

func (n *names) name(t vtype) string { return n.list[t.index()].name }

func (n *names) isArray(t vtype) bool {
	return t.kind() == kindObject && n.list[t.index()].component != 0
}

// isArrayOf says whether t is null or an array with one of these components.
func (n *names) isArrayOf(t vtype, components ...vtype) bool {
	if t == tNull || t == tUnknown {
		return true
	}
	if !n.isArray(t) {
		return false
	}
	for _, c := range components {
		if n.list[t.index()].component == c {
			return true
		}
	}
	return false
}

// isReferenceArray says whether t is null or an array of references.
func (n *names) isReferenceArray(t vtype) bool {
	return t == tNull || t == tUnknown || n.isArray(t) && n.list[t.index()].component.kind() == kindObject
}

// dimensions counts those of an array; the element is what is left, which may be a small integer.
func (n *names) dimensions(t vtype) (count int, element vtype) {
	for n.isArray(t) {
		count++
		t = n.list[t.index()].component
	}
	return count, t
}

var typeNames = [...]string{
	tTop: "top", tInt: "int", tFloat: "float", tDouble: "double", tLong: "long", tNull: "null",
	tUninitializedThis: "uninitializedThis", tDouble2: "double's second word", tLong2: "long's second word",
	tBoolean: "boolean", tByte: "byte", tShort: "short", tChar: "char", tUnknown: "unknown",
}

// describe names a type for a finding.
func (n *names) describe(t vtype) string {
	switch t.kind() {
	case kindObject:
		return n.name(t)
	case kindUninitialized:
		return "uninitialized(" + strconv.Itoa(t.index()) + ")"
	case kindReturnAddress:
		return "returnAddress(" + strconv.Itoa(t.index()) + ")"
	}
	return typeNames[t]
}

// longestFrame is where the description of a frame breaks off: a frame can have 65535 locals of long names.
const longestFrame = 1 << 14

// describeFrame writes a frame as in JVMS 4.10.1: the locals, the operand stack, and whether this is still
// uninitialised. Second words are left out.
func (n *names) describeFrame(locals, stack []vtype, thisUninitialized bool) string {
	var b strings.Builder
	list := func(title string, words []vtype) {
		b.WriteString(title)
		b.WriteByte('[')
		separator := ""
		for _, t := range words {
			if t.isSecondWord() {
				continue
			}
			b.WriteString(separator)
			if b.Len() > longestFrame {
				b.WriteString("...")
				break
			}
			b.WriteString(n.describe(t))
			separator = ", "
		}
		b.WriteByte(']')
	}
	for len(locals) > 0 && locals[len(locals)-1] == tTop {
		locals = locals[:len(locals)-1]
	}
	list("locals ", locals)
	list(" stack ", stack)
	if thisUninitialized {
		b.WriteString(" flagThisUninit")
	}
	return b.String()
}
