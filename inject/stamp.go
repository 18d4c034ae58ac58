package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// IsMappingInfo says whether c is the class that carries the mapping's digest to the device.
func IsMappingInfo(c *classfile.Class) bool { return c.Name() == mappingInfoClass }

// CheckMappingInfo says why the class MappingInfo cannot be stamped, nil if it can.
func CheckMappingInfo(c *classfile.Class) error {
	if _, err := digestConstant(c); err != nil {
		return fmt.Errorf("class %s: %s%s cannot be stamped: %w", c.Name(), digestName, digestDescriptor, err)
	}
	return nil
}

// stamp writes the digest over the string that MappingInfo.digest() returns.
func (w *writer) stamp(digest string) error {
	index, err := digestConstant(w.class)
	if err != nil {
		return CheckMappingInfo(w.class)
	}
	w.edit.Utf8 = map[uint16]string{index: digest}
	return nil
}

// digestConstant gives the index of the Utf8 constant behind the string that digest() returns, which has to be
// 16 hexadecimal digits. The method must be an ldc and an areturn: a constant field would be copied into its
// users by javac.
func digestConstant(c *classfile.Class) (uint16, error) {
	m := findMethod(c, digestName, digestDescriptor)
	if m == nil {
		return 0, errors.New("the method is not there")
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
		return 0, fmt.Errorf("its string %q is not one of %d hexadecimal digits", s, digestLength)
	}
	return binary.BigEndian.Uint16(c.ConstantPool().Raw(in.Constant())), nil
}
