package classfile

import "encoding/binary"

// Attribute is one attribute_info (JVMS 4.7).
type Attribute struct {
	Name      string // as in the pool
	NameIndex uint16 // of Name in the pool
	Offset    int    // of Info in the class file
	Info      []byte // the attribute_length bytes after the header; shared with the class file
}

// Location is a set of the structures that an attribute may stand in (JVMS tables 4.7-A to 4.7-C).
type Location uint8

// The structures that have an attribute table.
const (
	InClass Location = 1 << iota
	InField
	InMethod
	InCode
	InRecordComponent
)

const inMember = InField | InMethod

// attributes is JVMS table 4.7-C with two more that hold code offsets and are found in released jars:
// CharacterRangeTable (javac -Xjcov) and StackMap (CLDC 1.1, appendix 1).
var attributes = map[string]Location{
	"AnnotationDefault":                    InMethod,
	"BootstrapMethods":                     InClass,
	"CharacterRangeTable":                  InCode,
	"Code":                                 InMethod,
	"ConstantValue":                        InField,
	"Deprecated":                           InClass | inMember,
	"EnclosingMethod":                      InClass,
	"Exceptions":                           InMethod,
	"InnerClasses":                         InClass,
	"LineNumberTable":                      InCode,
	"LocalVariableTable":                   InCode,
	"LocalVariableTypeTable":               InCode,
	"MethodParameters":                     InMethod,
	"Module":                               InClass,
	"ModuleMainClass":                      InClass,
	"ModulePackages":                       InClass,
	"NestHost":                             InClass,
	"NestMembers":                          InClass,
	"PermittedSubclasses":                  InClass,
	"Record":                               InClass,
	"RuntimeInvisibleAnnotations":          InClass | inMember | InRecordComponent,
	"RuntimeInvisibleParameterAnnotations": InMethod,
	"RuntimeInvisibleTypeAnnotations":      InClass | inMember | InCode | InRecordComponent,
	"RuntimeVisibleAnnotations":            InClass | inMember | InRecordComponent,
	"RuntimeVisibleParameterAnnotations":   InMethod,
	"RuntimeVisibleTypeAnnotations":        InClass | inMember | InCode | InRecordComponent,
	"Signature":                            InClass | inMember | InRecordComponent,
	"SourceDebugExtension":                 InClass,
	"SourceFile":                           InClass,
	"StackMap":                             InCode,
	"StackMapTable":                        InCode,
	"Synthetic":                            InClass | inMember,
}

// KnownAttribute tells where an attribute of this name may stand by JVMS table 4.7-C (and the two
// additions CharacterRangeTable and StackMap). It is 0 for a name that is not known.
func KnownAttribute(name string) Location { return attributes[name] }

// FindAttribute gives the first attribute of that name, or false.
func FindAttribute(attributes []Attribute, name string) (Attribute, bool) {
	for _, a := range attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}

// parseAttributes reads an attributes_count and the table behind it at offset at, appends the attributes to
// table and returns it with the offset behind them. path names the structure that owns them in errors.
func parseAttributes(p *ConstantPool, data []byte, at int, path func() string, table []Attribute) ([]Attribute, int, error) {
	if at+2 > len(data) {
		return nil, 0, formatErrorf(len(data), path(), "class file ends before attributes_count")
	}
	n := int(binary.BigEndian.Uint16(data[at:]))
	at += 2
	if n*6 > len(data)-at {
		return nil, 0, formatErrorf(at-2, path(), "attributes_count %d does not fit the %d bytes left", n, len(data)-at)
	}
	for i := range n {
		if at+6 > len(data) {
			return nil, 0, formatErrorf(len(data), path(), "class file ends in attribute %d of %d", i, n)
		}
		nameIndex := binary.BigEndian.Uint16(data[at:])
		length := int64(binary.BigEndian.Uint32(data[at+2:]))
		name, err := p.Utf8(nameIndex)
		if err != nil {
			return nil, 0, formatErrorf(at, path(), "name of attribute %d: %w", i, err)
		}
		at += 6
		if length > int64(len(data)-at) {
			return nil, 0, formatErrorf(at-4, path(), "%s of %d bytes runs past the end", name, length)
		}
		end := at + int(length)
		table = append(table, Attribute{Name: name, NameIndex: nameIndex, Offset: at, Info: data[at:end:end]})
		at = end
	}
	return table, at, nil
}

// Code is a Code attribute (JVMS 4.7.3). Its slices share the class file's memory.
type Code struct {
	MaxStack, MaxLocals uint16
	Bytecode            []byte // the code array
	Offset              int    // of Bytecode in the class file
	ExceptionTable      []byte // exception_table_length entries of start_pc, end_pc, handler_pc, catch_type
	Attributes          []Attribute
}

// Code reads the method's Code attribute; ok is false if it has none (abstract and native methods). A
// second Code attribute is an error, as for every JVM (JVMS 4.7.3).
func (c *Class) Code(m *Member) (code Code, ok bool, err error) {
	a, found := FindAttribute(m.Attributes, "Code")
	if !found {
		return Code{}, false, nil
	}
	path := func() string { return m.path("method") + ": Code" }
	if last := m.Attributes[len(m.Attributes)-1]; last.Offset != a.Offset {
		for _, other := range m.Attributes {
			if other.Name == "Code" && other.Offset != a.Offset {
				return Code{}, false, formatErrorf(other.Offset, path(), "a second Code attribute")
			}
		}
	}
	info := a.Info
	if len(info) < 8 {
		return Code{}, false, formatErrorf(a.Offset, path(), "%d bytes are too few", len(info))
	}
	length := int64(binary.BigEndian.Uint32(info[4:]))
	if length > int64(len(info)-8-2) {
		return Code{}, false, formatErrorf(a.Offset+4, path(), "code_length %d does not fit the attribute's %d bytes", length, len(info))
	}
	at := 8 + int(length)
	handlers := int(binary.BigEndian.Uint16(info[at:]))
	if handlers*8 > len(info)-at-2 {
		return Code{}, false, formatErrorf(a.Offset+at, path(), "exception_table_length %d does not fit", handlers)
	}
	code = Code{
		MaxStack:       binary.BigEndian.Uint16(info),
		MaxLocals:      binary.BigEndian.Uint16(info[2:]),
		Bytecode:       info[8:at:at],
		Offset:         a.Offset + 8,
		ExceptionTable: info[at+2 : at+2+8*handlers : at+2+8*handlers],
	}
	end := a.Offset + len(info)
	attributes, at, err := parseAttributes(&c.pool, c.data[:end], a.Offset+at+2+8*handlers, path, nil)
	if err != nil {
		return Code{}, false, err
	}
	if at != end {
		return Code{}, false, formatErrorf(at, path(), "%d bytes are left over", end-at)
	}
	code.Attributes = attributes
	return code, true, nil
}
