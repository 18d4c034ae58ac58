package equivalence

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
)

// addedRequires finds the dependence that add-requires added to a module: the last requires of the Module attribute
// (JVMS 4.7.25). It has ACC_SYNTHETIC, its Module constant is the last of the pool, and the name of that is the last
// but one. addedRequires returns the attribute's index, the offset of the requires in it, and the required module.
func addedRequires(c *classfile.Class) (attribute, at int, module string, ok bool) {
	attribute = slices.IndexFunc(c.Attributes(), func(a classfile.Attribute) bool { return a.Name == "Module" })
	if c.AccessFlags()&classfile.AccModule == 0 || attribute < 0 {
		return 0, 0, "", false
	}
	info := c.Attributes()[attribute].Info
	if len(info) < 8 {
		return 0, 0, "", false
	}
	n := int(binary.BigEndian.Uint16(info[6:]))
	at = 8 + 6*(n-1)
	if n == 0 || at+6 > len(info) {
		return 0, 0, "", false
	}
	pool := c.ConstantPool()
	last := pool.Len() - 1
	const synthetic = "\x10\x00\x00\x00" // requires_flags and no version
	if last < 2 || int(binary.BigEndian.Uint16(info[at:])) != last || string(info[at+2:at+6]) != synthetic {
		return 0, 0, "", false
	}
	module, err := pool.NamedBy(uint16(last), classfile.TagModule)
	if err != nil || int(binary.BigEndian.Uint16(pool.Raw(uint16(last)))) != last-1 {
		return 0, 0, "", false
	}
	return attribute, at, module, true
}

// readsModule reports whether the module is the one named or requires it (JVMS 4.7.25).
func readsModule(c *classfile.Class, module string) bool {
	a, ok := classfile.FindAttribute(c.Attributes(), "Module")
	if !ok || len(a.Info) < 8 {
		return false
	}
	requires := a.Info[8:]
	requires = requires[:min(len(requires), 6*int(binary.BigEndian.Uint16(a.Info[6:])))]
	names := []uint16{binary.BigEndian.Uint16(a.Info)}
	for ; len(requires) >= 6; requires = requires[6:] {
		names = append(names, binary.BigEndian.Uint16(requires))
	}
	return slices.ContainsFunc(names, func(i uint16) bool {
		name, err := c.ConstantPool().NamedBy(i, classfile.TagModule)
		return err == nil && name == module
	})
}

// stripRequires removes the dependence that addedRequires finds.
func stripRequires(c *classfile.Class) (stripped []byte, removed bool, err error) {
	attribute, at, _, ok := addedRequires(c)
	if !ok {
		return c.Bytes(), false, nil
	}
	info := slices.Delete(slices.Clone(c.Attributes()[attribute].Info), at, at+6)
	binary.BigEndian.PutUint16(info[6:], binary.BigEndian.Uint16(info[6:])-1)
	stripped, err = c.Rewrite(classfile.Edit{
		KeepConstants: c.ConstantPool().Len() - 2,
		Attributes:    map[int][]byte{attribute: info},
	})
	return stripped, true, err
}

// CheckModule compares a rewritten module-info with the original: it must be the original with one dependence on module
// added, or the original itself if that is the module or already requires it. If CheckModule returns no findings, this
// is so.
func CheckModule(original, rewritten *classfile.Class, module string) []verify.Finding {
	finding := verify.Finding{Class: original.Name(), Offset: -1, Rule: ruleModule, Want: module}
	if bytes.Equal(original.Bytes(), rewritten.Bytes()) {
		if readsModule(original, module) {
			return nil
		}
		finding.Got = "a module that does not require it"
		return []verify.Finding{finding}
	}
	_, _, got, ok := addedRequires(rewritten)
	if !ok || got != module {
		finding.Got = "none, or " + got
		return []verify.Finding{finding}
	}
	stripped, _, err := stripRequires(rewritten)
	if err != nil || !bytes.Equal(stripped, original.Bytes()) {
		finding.Want, finding.Got = "the original without it", "another class"
		return []verify.Finding{finding}
	}
	return nil
}
