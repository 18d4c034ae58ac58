package classfile

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The class file versions (JVMS table 4.1-A) that [Parse] reads: Java 1.0.2 to Java 26.
const (
	MinMajor = 45
	MaxMajor = 70
)

// PreviewMinor is the minor version of class files that depend on preview features of their major version
// (JVMS 4.1).
const PreviewMinor = 0xFFFF

// The access and property flags that this project asks for (JVMS tables 4.1-B, 4.5-A and 4.6-A).
const (
	AccPublic       = 0x0001
	AccPrivate      = 0x0002
	AccProtected    = 0x0004
	AccStatic       = 0x0008
	AccFinal        = 0x0010
	AccSynchronized = 0x0020
	AccBridge       = 0x0040
	AccNative       = 0x0100
	AccInterface    = 0x0200
	AccAbstract     = 0x0400
	AccSynthetic    = 0x1000
	AccModule       = 0x8000
)

// Class is a parsed class file. It and all it gives out share the memory that was parsed; none of it may be
// changed.
type Class struct {
	data         []byte
	minor, major uint16
	pool         ConstantPool
	accessFlags  uint16
	name, super  string
	interfaces   []string
	fields       []Member
	methods      []Member
	attributes   []Attribute
	methodsAt    int // offset of methods_count
	methodsEnd   int
}

// Member is a field_info or method_info (JVMS 4.5, 4.6).
type Member struct {
	AccessFlags      uint16
	Name, Descriptor string
	Attributes       []Attribute
	Offset           int // of the structure in the class file
	end              int
}

// Parse reads one class file that fills data. The class keeps data and gives out views into it: data must
// not change as long as anything taken from the class is in use.
//
// The errors are *[FormatError]; see [ErrMagic] and [ErrVersion] for two that callers tell apart. A class
// that HotSpot would refuse for more than its structure parses without error.
func Parse(data []byte) (*Class, error) {
	if len(data) < 10 || binary.BigEndian.Uint32(data) != 0xCAFEBABE {
		if len(data) >= 4 && binary.BigEndian.Uint32(data) == 0xCAFEBABE {
			return nil, formatErrorf(len(data), "", "class file ends in its header")
		}
		return nil, &FormatError{Err: ErrMagic}
	}
	c := &Class{data: data, minor: binary.BigEndian.Uint16(data[4:]), major: binary.BigEndian.Uint16(data[6:])}
	if c.major < MinMajor || c.major > MaxMajor {
		return nil, formatErrorf(6, "", "%w %d.%d (known are %d to %d)", ErrVersion, c.major, c.minor, MinMajor, MaxMajor)
	}
	var err error
	if c.pool, err = parseConstantPool(data, 8); err != nil {
		return nil, err
	}
	at, err := c.parseHeader(len(c.pool.data))
	if err != nil {
		return nil, err
	}
	if err := c.parseBody(at); err != nil {
		return nil, err
	}
	return c, nil
}

// parseHeader reads access_flags to interfaces and returns the offset behind them.
func (c *Class) parseHeader(at int) (int, error) {
	data := c.data
	if at+8 > len(data) {
		return 0, formatErrorf(len(data), "", "class file ends before its interfaces")
	}
	var err error
	c.accessFlags = binary.BigEndian.Uint16(data[at:])
	if c.name, err = c.pool.ClassName(binary.BigEndian.Uint16(data[at+2:])); err != nil {
		return 0, formatErrorf(at+2, "this_class", "%w", err)
	}
	if super := binary.BigEndian.Uint16(data[at+4:]); super != 0 {
		if c.super, err = c.pool.ClassName(super); err != nil {
			return 0, formatErrorf(at+4, "super_class", "%w", err)
		}
	}
	n := int(binary.BigEndian.Uint16(data[at+6:]))
	at += 8
	if n*2 > len(data)-at {
		return 0, formatErrorf(at-2, "interfaces", "count %d does not fit the %d bytes left", n, len(data)-at)
	}
	if n > 0 {
		c.interfaces = make([]string, n)
	}
	for i := range c.interfaces {
		if c.interfaces[i], err = c.pool.ClassName(binary.BigEndian.Uint16(data[at:])); err != nil {
			return 0, formatErrorf(at, fmt.Sprintf("interface %d", i), "%w", err)
		}
		at += 2
	}
	return at, nil
}

// parseBody reads fields, methods and attributes, which must end where the data ends.
func (c *Class) parseBody(at int) error {
	// All attributes of a class share one array. It may move while it grows, so that the tables are cut
	// out of it only when it is complete.
	var table []Attribute
	var ends []int32
	var err error
	if c.fields, at, table, ends, err = c.parseMembers("field", at, table, ends); err != nil {
		return err
	}
	c.methodsAt = at
	if c.methods, at, table, ends, err = c.parseMembers("method", at, table, ends); err != nil {
		return err
	}
	c.methodsEnd = at
	own := len(table)
	if table, at, err = parseAttributes(&c.pool, c.data, at, func() string { return "class " + c.name }, table); err != nil {
		return err
	}
	if at != len(c.data) {
		return formatErrorf(at, "", "%d bytes follow the class", len(c.data)-at)
	}
	start := int32(0)
	cut := func(members []Member, ends []int32) {
		for i := range members {
			members[i].Attributes = table[start:ends[i]:ends[i]]
			start = ends[i]
		}
	}
	cut(c.fields, ends)
	cut(c.methods, ends[len(c.fields):])
	c.attributes = table[own:len(table):len(table)]
	return nil
}

func (c *Class) parseMembers(kind string, at int, table []Attribute, ends []int32) ([]Member, int, []Attribute, []int32, error) {
	fail := func(err error) ([]Member, int, []Attribute, []int32, error) { return nil, 0, nil, nil, err }
	data := c.data
	if at+2 > len(data) {
		return fail(formatErrorf(len(data), "", "class file ends before its %ss_count", kind))
	}
	n := int(binary.BigEndian.Uint16(data[at:]))
	at += 2
	if n*8 > len(data)-at {
		return fail(formatErrorf(at-2, "", "%ss_count %d does not fit the %d bytes left", kind, n, len(data)-at))
	}
	members := make([]Member, n)
	table = slices.Grow(table, 2*n)
	ends = slices.Grow(ends, n)
	for i := range members {
		if at+8 > len(data) {
			return fail(formatErrorf(len(data), "", "class file ends in %s %d of %d", kind, i, n))
		}
		m := &members[i]
		m.Offset, m.AccessFlags = at, binary.BigEndian.Uint16(data[at:])
		var err error
		if m.Name, err = c.pool.Utf8(binary.BigEndian.Uint16(data[at+2:])); err != nil {
			return fail(formatErrorf(at+2, fmt.Sprintf("name of %s %d", kind, i), "%w", err))
		}
		if m.Descriptor, err = c.pool.Utf8(binary.BigEndian.Uint16(data[at+4:])); err != nil {
			return fail(formatErrorf(at+4, fmt.Sprintf("descriptor of %s %d %s", kind, i, m.Name), "%w", err))
		}
		if table, at, err = parseAttributes(&c.pool, data, at+6, func() string { return m.path(kind) }, table); err != nil {
			return fail(err)
		}
		m.end = at
		ends = append(ends, int32(len(table)))
	}
	return members, at, table, ends, nil
}

func (m *Member) path(kind string) string { return kind + " " + m.Name + m.Descriptor }

// Bytes gives the class file as it was parsed.
func (c *Class) Bytes() []byte { return c.data }

// Version gives minor_version and major_version (JVMS 4.1).
func (c *Class) Version() (minor, major uint16) { return c.minor, c.major }

// IsPreview says whether the class file depends on preview features of its Java release (JVMS 4.1).
func (c *Class) IsPreview() bool { return c.minor == PreviewMinor && c.major >= 56 }

// ConstantPool gives the constant pool.
func (c *Class) ConstantPool() *ConstantPool { return &c.pool }

// AccessFlags gives access_flags (JVMS table 4.1-B).
func (c *Class) AccessFlags() uint16 { return c.accessFlags }

// Name gives the name of this_class in internal form.
func (c *Class) Name() string { return c.name }

// SuperName gives the name of super_class in internal form, "" if there is none (java/lang/Object,
// module-info).
func (c *Class) SuperName() string { return c.super }

// Interfaces gives the names of the direct superinterfaces in internal form.
func (c *Class) Interfaces() []string { return c.interfaces }

// Fields gives the fields in class file order.
func (c *Class) Fields() []Member { return c.fields }

// Methods gives the methods in class file order.
func (c *Class) Methods() []Member { return c.methods }

// Attributes gives the attributes of the class itself.
func (c *Class) Attributes() []Attribute { return c.attributes }
