package types

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Hierarchy knows the classes that a judged class refers to. Implementations must be safe for several
// goroutines.
type Hierarchy interface {
	// Lookup gives the class or interface of that name in internal form, which is never an array, or nil
	// if it cannot be found. What it gives must not change, and may be remembered.
	Lookup(name string) *ClassInfo
}

// ClassInfo is what the verifier asks of a class besides the one it judges: Name, Super ("" for
// java/lang/Object) and Interfaces in internal form, AccessFlags as in the class file, and the members.
type ClassInfo struct {
	Name, Super string
	Interfaces  []string
	AccessFlags uint16
	// Permitted are the subclasses that a sealed class permits; Sealed tells that from a class that is
	// not sealed.
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

// NewClassInfo takes what a Hierarchy gives out from a parsed class, without holding on to its memory.
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
	if a, ok := classfile.FindAttribute(c.Attributes(), "PermittedSubclasses"); ok && len(a.Info) >= 2 && majorOf(c) >= majorSealed {
		info.Sealed = true
		for at := 2; at+2 <= len(a.Info); at += 2 {
			if name, err := c.ConstantPool().ClassName(u2(a.Info[at:])); err == nil {
				info.Permitted = append(info.Permitted, strings.Clone(name))
			}
		}
	}
	return info
}

// members copies names and descriptors into one string, which is one allocation instead of hundreds.
func members(of []classfile.Member) []memberInfo {
	if len(of) == 0 {
		return nil
	}
	var b strings.Builder
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
