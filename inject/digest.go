package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// IsMappingInfo reports whether c is the class MappingInfo of the runtime, whose method digest returns the digest
// of the mapping that the program was instrumented with.
func IsMappingInfo(c *classfile.Class) bool { return c.Name() == mappingInfoClass }

// CheckMappingInfo returns an error if the mapping's digest cannot be written into the class MappingInfo.
func CheckMappingInfo(c *classfile.Class) error {
	if _, err := digestConstant(c); err != nil {
		return fmt.Errorf("class %s: cannot make %s%s return the mapping's digest: %w",
			c.Name(), digestName, digestDescriptor, err)
	}
	return nil
}

// writeDigest replaces the string that MappingInfo.digest() returns.
func (w *writer) writeDigest(digest string) error {
	index, err := digestConstant(w.class)
	if err != nil {
		return CheckMappingInfo(w.class)
	}
	w.edit.Utf8 = map[uint16]string{index: digest}
	return nil
}

// digestConstant returns the index of the Utf8 constant of the string that digest() returns. The method must
// consist of an ldc and an areturn, and the string of 16 hexadecimal digits. (It is a method and not a constant
// field, since javac copies the values of constant fields into the classes that use them.)
func digestConstant(c *classfile.Class) (uint16, error) {
	m := findMethod(c, digestName, digestDescriptor)
	if m == nil {
		return 0, errors.New("there is no such method")
	}
	body, ok, err := c.Code(m)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errors.New("it has no code")
	}
	in, err := code.At(body.Bytecode, 0)
	if err != nil || in.Op != code.Ldc && in.Op != code.LdcW ||
		len(body.Bytecode) != in.Size+1 || code.Op(body.Bytecode[in.Size]) != code.Areturn {
		return 0, errors.New("it does more than return a constant")
	}
	s, err := c.ConstantPool().NamedBy(in.Constant(), classfile.TagString)
	if err != nil {
		return 0, err
	}
	if len(s) != digestLength || strings.Trim(s, "0123456789abcdef") != "" {
		return 0, fmt.Errorf("its string %q does not consist of %d hexadecimal digits", s, digestLength)
	}
	return binary.BigEndian.Uint16(c.ConstantPool().Raw(in.Constant())), nil
}
