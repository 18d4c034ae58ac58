package types

import (
	"strconv"
	"strings"
)

// vtype is a verification type (JVMS 4.10.1.2) of one word of a frame. The low four bits hold the kind, the bits above
// them the number of a class name, or the position of a new instruction or of a subroutine. Equal types are equal
// numbers.
type vtype uint32

// The kinds. The second words of long and double have kinds of their own, because each word of a frame has a type. The
// four small integer kinds exist only as components of arrays and as results of methods; everywhere else they are int.
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
	tDouble2          // as far from tDouble as tLong2 is from tLong
	tLong2
	tBoolean
	tByte
	tShort
	tChar
	kindReturnAddress // by the position of the subroutine (JVMS 4.10.2.5); inference only
)

// Some names have fixed numbers, in the order of fixedNames.
const (
	tObject vtype = kindObject + iota<<kindBits
	tThrowable
	tString
	tClass
	tMethodHandle
	tMethodType
)

var fixedNames = [...]string{objectName, "java/lang/Throwable", "java/lang/String", "java/lang/Class",
	"java/lang/invoke/MethodHandle", "java/lang/invoke/MethodType"}

// tUnknown is the type of a word about which there was a finding. It can be assigned to every type, so that nothing is
// reported twice. It exists only in type checking, after the first finding.
const tUnknown = tTop + 1<<kindBits

const kindBits = 4

func (t vtype) kind() vtype { return t & (1<<kindBits - 1) }

func (t vtype) index() int { return int(t >> kindBits) }

func uninitialized(pc int) vtype { return vtype(pc)<<kindBits | kindUninitialized }

func returnAddress(pc int) vtype { return vtype(pc)<<kindBits | kindReturnAddress }

func (t vtype) isSecondWord() bool { return t == tLong2 || t == tDouble2 }

// isWide reports whether t is that of the first word of a long or double.
func (t vtype) isWide() bool { return t == tLong || t == tDouble }

// isOneWord reports whether t is of category 1 (JVMS table 2.11.1-B). top is of no category.
func (t vtype) isOneWord() bool { return t != tTop && !halves.has(t) }

// secondWord returns the type of the second word of a long or double, and false for every other type.
func (t vtype) secondWord() (vtype, bool) { return t + (tLong2 - tLong), t.isWide() }

// firstWord returns the type of a value of which t is a word.
func (t vtype) firstWord() vtype {
	if t.isSecondWord() {
		return t - (tLong2 - tLong)
	}
	return t
}

// className is a name that the checked class mentions, with what is known about it.
type className struct {
	name      string
	component vtype // the component type of an array, 0 for a class
	lookedUp  bool  // whether info is the answer of the hierarchy
	isSuper   bool  // whether it is a superclass of the checked class, if these are noted
	info      *ClassInfo
}

// names numbers the names that one class mentions, so that types can be compared as numbers.
type names struct {
	list    []className
	numbers map[string]vtype
}

// maxNames is how many names a class has at most of which the table is used for the next class: to clear a large one
// takes longer than to make another.
const maxNames = 1 << 10

// reset forgets all names but those with fixed numbers, and keeps the memory.
func (n *names) reset() {
	if len(n.list) > maxNames || n.numbers == nil {
		n.numbers = make(map[string]vtype, maxNames/2)
	} else {
		clear(n.numbers)
	}
	clear(n.list) // the names are substrings of a class file
	n.list = n.list[:0]
	for _, name := range fixedNames {
		n.of(name)
	}
}

// of returns the type of a class, or of an array whose descriptor is given. The name must be well-formed.
func (n *names) of(name string) vtype {
	t, known := n.numbers[name]
	if !known {
		t = n.add(name)
	}
	return t
}

// add returns the type of a name that has no number yet.
func (n *names) add(name string) vtype {
	t := vtype(len(n.list))<<kindBits | kindObject
	n.numbers[name] = t
	n.list = append(n.list, className{name: name})
	if name[0] == '[' {
		component := n.component(name[1:])
		n.list[t.index()].component = component
	}
	return t
}

// component returns the type of an array component with that descriptor (JVMS 4.3.2), which must be well-formed. Here
// byte and int are different types.
func (n *names) component(descriptor string) vtype {
	switch descriptor[0] {
	case 'L':
		return n.of(descriptor[1 : len(descriptor)-1])
	case '[':
		return n.of(descriptor)
	}
	return primitiveTypes[descriptor[0]]
}

// primitiveTypes are the types of the values with the descriptors of primitive types, tTop for other characters.
var primitiveTypes = [256]vtype{
	'B': tByte, 'C': tChar, 'D': tDouble, 'F': tFloat, 'I': tInt, 'J': tLong, 'S': tShort, 'Z': tBoolean,
}

func (n *names) name(t vtype) string { return n.list[t.index()].name }

func (n *names) isArray(t vtype) bool {
	return t.kind() == kindObject && n.list[t.index()].component != 0
}

// dimensions returns the number of dimensions of an array and its element type, which may be a small integer.
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

// describe returns the name of a type, for findings.
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

// maxFrameText is the length at which the description of a frame is cut off: a frame may have 65,535 locals with long
// names.
const maxFrameText = 1 << 14

// describeFrame returns a frame as JVMS 4.10.1 writes it: the locals, the operand stack, and whether this is still
// uninitialised. It leaves out second words.
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
			if b.Len() > maxFrameText {
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
