package types

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Hierarchy has the classes that a checked class mentions. Implementations must be safe for concurrent use.
type Hierarchy interface {
	// Lookup returns the class or interface with that name in internal form, which is never an array, or nil if there
	// is none. The result must not change; the checker keeps it.
	Lookup(name string) *ClassInfo
}

// ClassInfo holds what the checker needs of a class other than the checked one: Name, Super ("" for java/lang/Object)
// and Interfaces in internal form, AccessFlags as in the class file, and the members.
type ClassInfo struct {
	Name, Super string
	Interfaces  []string
	AccessFlags uint16
	// Permitted are the subclasses that a sealed class permits. Sealed is set for a sealed class, even if it permits
	// none.
	Permitted []string
	Sealed    bool

	methods, fields memberTable
	finalMethods    bool // whether a method is final
}

// memberTable has the fields or methods of a ClassInfo. All names and descriptors are in one string, one after the
// other, so that the table takes two allocations and has few pointers.
type memberTable struct {
	text string
	rows []memberRow
}

// memberRow is one field or method: where its name and descriptor end in the text, and how long its name is. It begins
// where the one before it ends.
type memberRow struct {
	end      int
	nameSize uint16
	flags    uint16
}

// NewClassInfo returns the ClassInfo of a parsed class. It copies everything, so that the memory of the class file can
// be freed.
func NewClassInfo(c *classfile.Class) *ClassInfo {
	info := &ClassInfo{
		Name: strings.Clone(c.Name()), Super: strings.Clone(c.SuperName()), AccessFlags: c.AccessFlags(),
		methods: members(c.Methods()), fields: members(c.Fields()),
	}
	for _, i := range c.Interfaces() {
		info.Interfaces = append(info.Interfaces, strings.Clone(i))
	}
	for _, row := range info.methods.rows {
		info.finalMethods = info.finalMethods || row.flags&classfile.AccFinal != 0
	}
	if a, ok := classfile.FindAttribute(c.Attributes(), "PermittedSubclasses"); ok && len(a.Info) >= 2 &&
		majorOf(c) >= majorSealed {
		info.Sealed = true
		for at := 2; at+2 <= len(a.Info); at += 2 {
			if name, err := c.ConstantPool().ClassName(u2(a.Info[at:])); err == nil {
				info.Permitted = append(info.Permitted, strings.Clone(name))
			}
		}
	}
	return info
}

// members returns the table of fields or methods.
func members(of []classfile.Member) memberTable {
	if len(of) == 0 {
		return memberTable{}
	}
	rows, size := make([]memberRow, len(of)), 0
	for i := range of {
		m := &of[i]
		size += len(m.Name) + len(m.Descriptor)
		rows[i] = memberRow{size, uint16(len(m.Name)), m.AccessFlags}
	}
	var text strings.Builder
	text.Grow(size)
	for i := range of {
		text.WriteString(of[i].Name)
		text.WriteString(of[i].Descriptor)
	}
	return memberTable{text.String(), rows}
}

func (c *ClassInfo) isInterface() bool { return c.AccessFlags&classfile.AccInterface != 0 }

// find returns the access flags of the first field or method with that name and descriptor.
func (t *memberTable) find(name, descriptor string) (flags uint16, found bool) {
	start := 0
	for i := range t.rows {
		row := &t.rows[i]
		if row.end-start == len(name)+len(descriptor) && int(row.nameSize) == len(name) {
			if text := t.text[start:row.end]; text[:len(name)] == name && text[len(name):] == descriptor {
				return row.flags, true
			}
		}
		start = row.end
	}
	return 0, false
}
