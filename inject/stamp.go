package inject

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// IsMappingInfo says whether c is the class that carries the mapping's digest to the device.
func IsMappingInfo(c *classfile.Class) bool { return c.Name() == mappingInfoClass }

// stamp writes the digest over the string that MappingInfo.digest() returns.
func (w *writer) stamp(digest string) error {
	index, err := digestConstant(w.class)
	if err != nil {
		return fmt.Errorf("class %s: %s%s cannot be stamped: %w", w.class.Name(), digestName, digestDescriptor, err)
	}
	w.edit.Utf8 = map[uint16]string{index: digest}
	return nil
}

// digestConstant gives the index of the Utf8 constant behind the string that digest() returns. The method must
// be an ldc and an areturn: a constant field would be copied into its users by javac.
func digestConstant(c *classfile.Class) (uint16, error) {
	for i := range c.Methods() {
		m := &c.Methods()[i]
		if m.Name != digestName || m.Descriptor != digestDescriptor {
			continue
		}
		body, ok, err := c.Code(m)
		if err != nil || !ok {
			return 0, fmt.Errorf("it has no code (%w)", err)
		}
		in, err := code.At(body.Bytecode, 0)
		if err != nil || in.Op != code.Ldc && in.Op != code.LdcW {
			return 0, fmt.Errorf("it does not begin with ldc")
		}
		s, err := c.ConstantPool().NamedBy(in.Constant(), classfile.TagString)
		if err != nil {
			return 0, err
		}
		if len(s) != digestLength {
			return 0, fmt.Errorf("its string %q does not have %d characters", s, digestLength)
		}
		raw := c.ConstantPool().Raw(in.Constant())
		return uint16(raw[0])<<8 | uint16(raw[1]), nil
	}
	return 0, fmt.Errorf("the method is not there")
}
