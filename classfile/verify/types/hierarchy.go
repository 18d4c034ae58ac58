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

	methods, fields []memberInfo
	finalMethods    bool // whether a method is final
}

// memberInfo is a field's or method's row in a ClassInfo.
type memberInfo struct {
	name, descriptor string
	flags            uint16
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
	for i := range info.methods {
		info.finalMethods = info.finalMethods || info.methods[i].flags&classfile.AccFinal != 0
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

// members returns the rows of fields or methods. It copies names and descriptors into one string, which is one
// allocation instead of hundreds.
func members(of []classfile.Member) []memberInfo {
	if len(of) == 0 {
		return nil
	}
	size := 0
	for i := range of {
		size += len(of[i].Name) + len(of[i].Descriptor)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range of {
		b.WriteString(of[i].Name)
		b.WriteString(of[i].Descriptor)
	}
	text := b.String()
	rows := make([]memberInfo, len(of))
	for i := range of {
		n, d := len(of[i].Name), len(of[i].Descriptor)
		rows[i] = memberInfo{text[:n], text[n : n+d], of[i].AccessFlags}
		text = text[n+d:]
	}
	return rows
}

func (c *ClassInfo) isInterface() bool { return c.AccessFlags&classfile.AccInterface != 0 }

func findMember(rows []memberInfo, name, descriptor string) *memberInfo {
	for i := range rows {
		if rows[i].name == name && rows[i].descriptor == descriptor {
			return &rows[i]
		}
	}
	return nil
}
