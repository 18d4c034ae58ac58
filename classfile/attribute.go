package classfile

import (
	"encoding/binary"
	"slices"
)

// Attribute is one attribute_info (JVMS 4.7).
type Attribute struct {
	Name      string // as in the pool
	NameIndex uint16 // of Name in the pool
	Offset    int    // of Info in the class file
	Info      []byte // the attribute_length bytes after the header; shared with the class file
}

// attributeHeader is the length of attribute_name_index and attribute_length (JVMS 4.7).
const attributeHeader = 6

// FindAttribute returns the first attribute with that name, or false if there is none.
func FindAttribute(attributes []Attribute, name string) (Attribute, bool) {
	for i := range attributes {
		if attributes[i].Name == name {
			return attributes[i], true
		}
	}
	return Attribute{}, false
}

// appendAttributes reads the attribute table at offset at, which begins with its count, and appends the attributes to
// table. It returns the offset behind them. Its error has no path yet.
func (p *ConstantPool) appendAttributes(table []Attribute, data []byte, at int) ([]Attribute, int, *FormatError) {
	if at+2 > len(data) {
		return table, 0, formatErrorf(len(data), "", "it ends before attributes_count")
	}
	n := int(binary.BigEndian.Uint16(data[at:]))
	at += 2
	if n*attributeHeader > len(data)-at {
		return table, 0, formatErrorf(at-2, "", "attributes_count %d does not fit the %d bytes left", n, len(data)-at)
	}
	for i := range n {
		if at+attributeHeader > len(data) {
			return table, 0, formatErrorf(len(data), "", "it ends in attribute %d of %d", i, n)
		}
		header := data[at : at+attributeHeader : at+attributeHeader]
		nameIndex := binary.BigEndian.Uint16(header)
		if p.Tag(nameIndex) != TagUtf8 {
			_, err := p.Utf8(nameIndex)
			return table, 0, formatErrorf(at, "", "name of attribute %d: %w", i, err)
		}
		length := int64(binary.BigEndian.Uint32(header[2:]))
		if length > int64(len(data)-at-attributeHeader) {
			return table, 0, formatErrorf(at+2, "", "%s of %d bytes runs past the end", p.utf8(nameIndex), length)
		}
		start := at + attributeHeader
		at = start + int(length)
		table = append(table, Attribute{Name: p.utf8(nameIndex), NameIndex: nameIndex, Offset: start,
			Info: data[start:at:at]})
	}
	return table, at, nil
}

// Code is a Code attribute (JVMS 4.7.3). Its slices share the class file's memory.
type Code struct {
	MaxStack       uint16 // operand stack words
	MaxLocals      uint16 // local variable words, the arguments included
	Bytecode       []byte // the code array
	Offset         int    // of Bytecode in the class file
	ExceptionTable []byte // exception_table_length entries of start_pc, end_pc, handler_pc, catch_type
	Attributes     []Attribute
}

// codeHeader is the length of what stands before the code array: max_stack, max_locals and code_length.
const codeHeader = 8

// Code decodes the Code attribute of method m of this class; ok is false if m has none (abstract and native
// methods). A second Code attribute is an error, as for every JVM (JVMS 4.7.3).
func (c *Class) Code(m *Member) (code Code, ok bool, err error) {
	ok, err = c.ReadCode(m, &code)
	return code, ok, err
}

// ReadCode is [Class.Code] without an allocation for each method: it decodes into *code and uses the memory of
// code.Attributes again. If ok is false, *code is empty.
func (c *Class) ReadCode(m *Member, code *Code) (ok bool, err error) {
	attributes := code.Attributes[:0]
	*code = Code{Attributes: attributes}
	first := slices.IndexFunc(m.Attributes, isCode)
	if first < 0 {
		return false, nil
	}
	a := &m.Attributes[first]
	fail := func(offset int, format string, args ...any) (bool, error) {
		return false, formatErrorf(offset, c.path(m.path("method")+": Code"), format, args...)
	}
	if second := slices.IndexFunc(m.Attributes[first+1:], isCode); second >= 0 {
		return fail(m.Attributes[first+1+second].Offset, "a second Code attribute")
	}
	info := a.Info
	if len(info) < codeHeader {
		return fail(a.Offset, "%d bytes are too few", len(info))
	}
	length := int64(binary.BigEndian.Uint32(info[4:]))
	if length > int64(len(info)-codeHeader-2) {
		return fail(a.Offset+4, "code_length %d does not fit the attribute's %d bytes", length, len(info))
	}
	bytecodeEnd := codeHeader + int(length)
	handlers := 8 * int(binary.BigEndian.Uint16(info[bytecodeEnd:]))
	tablesAt := bytecodeEnd + 2 + handlers
	if tablesAt > len(info) {
		return fail(a.Offset+bytecodeEnd, "exception_table_length %d does not fit the %d bytes left",
			handlers/8, len(info)-bytecodeEnd-2)
	}
	end := a.Offset + len(info)
	attributes, at, bad := c.pool.appendAttributes(attributes, c.data[:end], a.Offset+tablesAt)
	if bad != nil {
		return fail(bad.Offset, "%w", bad.Err)
	}
	if at != end {
		return fail(at, "%d bytes are left over", end-at)
	}
	// One field after the other is faster than a Code at once, which is copied.
	code.Attributes = attributes
	code.MaxStack = binary.BigEndian.Uint16(info)
	code.MaxLocals = binary.BigEndian.Uint16(info[2:])
	code.Bytecode = info[codeHeader:bytecodeEnd:bytecodeEnd]
	code.Offset = a.Offset + codeHeader
	code.ExceptionTable = info[bytecodeEnd+2 : tablesAt : tablesAt]
	return true, nil
}

func isCode(a Attribute) bool { return a.Name == "Code" }
