package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The class file versions (JVMS table 4.1-A) whose format is known: Java 1.0.2 to Java 28. [Parse] also reads later
// ones if their structure is as in these; whether to rely on that is up to the caller, see [Class.IsFuture].
const (
	MinMajor = 45
	MaxMajor = 72
)

// PreviewMinor is the minor version of class files that depend on preview features of their major version
// (JVMS 4.1). Their format is that of the version; a preview of another format is refused like any unknown one.
const PreviewMinor = 0xFFFF

// The access and property flags that this project uses (JVMS tables 4.1-B, 4.5-A and 4.6-A).
const (
	AccPublic       = 0x0001
	AccPrivate      = 0x0002
	AccProtected    = 0x0004
	AccStatic       = 0x0008
	AccFinal        = 0x0010
	AccSynchronized = 0x0020
	AccBridge       = 0x0040
	AccVarargs      = 0x0080
	AccNative       = 0x0100
	AccInterface    = 0x0200
	AccAbstract     = 0x0400
	AccStrict       = 0x0800
	AccSynthetic    = 0x1000
	AccEnum         = 0x4000
	AccModule       = 0x8000
)

// Class is a parsed class file. The class, and every slice and string that its methods return, share the memory
// that was parsed; none of it may be changed. A Class is safe for concurrent use.
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
	AccessFlags uint16 // JVMS tables 4.5-A and 4.6-A
	Name        string // as in the pool: modified UTF-8
	Descriptor  string // as in the pool; its grammar (JVMS 4.3) is not checked
	Attributes  []Attribute
	Offset      int // of the structure in the class file
}

// Parse reads one class file, which must fill data. The class keeps data and returns views into it: data must not
// change as long as the class or anything taken from it is in use.
//
// The error is a *[FormatError]. It wraps [ErrMagic] or [ErrVersion] for data in another format. A class whose
// structure is sound parses without error, even if HotSpot would reject it for another reason.
func Parse(data []byte) (*Class, error) { return new(Parser).Parse(data) }

// Parser parses one class after another and uses the same memory for each, so that only the last class is valid.
// The zero Parser is ready for use, by one goroutine at a time.
type Parser struct {
	members    []Member
	attributes []Attribute
	offsets    []uint32
	tags       []Tag
	interfaces []string
}

// Parse does what the function [Parse] does. The next call makes the class invalid, and every slice that its
// methods returned; strings, and slices of data, stay valid. Each call returns a *[Class] and a *[ConstantPool]
// with new addresses, so that a caller may use these addresses as the keys of what it has found out about a class.
func (p *Parser) Parse(data []byte) (*Class, error) {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != 0xCAFEBABE {
		return nil, &FormatError{Err: ErrMagic}
	}
	if len(data) < 10 {
		return nil, formatErrorf(len(data), "", "class file ends in its header")
	}
	// The pool keeps its offsets in four bytes; HotSpot reads no more than this either.
	if len(data) > math.MaxInt32 {
		return nil, formatErrorf(math.MaxInt32, "", "class file of %d bytes is larger than any JVM reads", len(data))
	}
	c := &Class{data: data, minor: binary.BigEndian.Uint16(data[4:]), major: binary.BigEndian.Uint16(data[6:])}
	if c.major < MinMajor {
		return nil, formatErrorf(6, "", "%w %d.%d (supported: %d to %d)",
			ErrVersion, c.major, c.minor, MinMajor, MaxMajor)
	}
	if err := p.parse(c); err != nil {
		if c.IsFuture() {
			return nil, formatErrorf(6, "", "%w %d.%d (supported: %d to %d), whose structure is another: %w",
				ErrVersion, c.major, c.minor, MinMajor, MaxMajor, err)
		}
		return nil, err
	}
	return c, nil
}

// parse reads what follows the version.
func (p *Parser) parse(c *Class) error {
	data := c.data
	var err error
	if c.pool, err = parseConstantPool(data, 8, p.offsets, p.tags); err != nil {
		return err
	}
	p.offsets, p.tags = c.pool.offsets, c.pool.tags
	c.interfaces = p.interfaces[:0]
	at, err := c.parseHeader(len(c.pool.data))
	if err != nil {
		return err
	}
	p.interfaces = c.interfaces
	return p.parseBody(c, at)
}

// reuse returns a slice of n elements with unspecified values. It uses the memory of s if that is large enough.
func reuse[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
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
			return 0, formatErrorf(at+4, c.path("super_class"), "%w", err)
		}
	}
	n := int(binary.BigEndian.Uint16(data[at+6:]))
	at += 8
	if n*2 > len(data)-at {
		return 0, formatErrorf(at-2, c.path(""), "interfaces_count %d does not fit the %d bytes left", n, len(data)-at)
	}
	c.interfaces = reuse(c.interfaces, n)
	for i := range c.interfaces {
		if c.interfaces[i], err = c.pool.ClassName(binary.BigEndian.Uint16(data[at:])); err != nil {
			return 0, formatErrorf(at, c.path(fmt.Sprintf("interface %d", i)), "%w", err)
		}
		at += 2
	}
	return at, nil
}

// parseBody reads fields, methods and attributes, which must end where the data ends. All members are in one array, and
// all attributes in another: these arrays are most of the memory that a class takes.
func (p *Parser) parseBody(c *Class, at int) error {
	if p.members == nil && p.attributes == nil {
		members, attributes := countBody(c.data, at)
		p.members, p.attributes = make([]Member, 0, members), make([]Attribute, 0, attributes)
	}
	p.attributes = p.attributes[:0]
	var err error
	members := p.members[:0]
	if members, at, err = p.appendMembers(members, c, "field", at); err != nil {
		return err
	}
	nFields := len(members)
	c.methodsAt = at
	if members, at, err = p.appendMembers(members, c, "method", at); err != nil {
		return err
	}
	c.methodsEnd = at
	own := len(p.attributes)
	at, bad := p.appendAttributes(&c.pool, c.data, at)
	if bad != nil {
		bad.Path = c.path("")
		return bad
	}
	if at != len(c.data) {
		return formatErrorf(at, c.path(""), "%d bytes follow the class", len(c.data)-at)
	}
	p.members = members
	c.fields = members[:nFields:nFields]
	c.methods = members[nFields:]
	c.attributes = p.attributes[own:]
	return nil
}

// appendMembers reads the fields or methods whose count stands at offset at, and appends them to members. It returns
// the offset behind them.
func (p *Parser) appendMembers(members []Member, c *Class, kind string, at int) ([]Member, int, error) {
	data := c.data
	if at+2 > len(data) {
		return nil, 0, formatErrorf(len(data), c.path(""), "class file ends before %ss_count", kind)
	}
	n := int(binary.BigEndian.Uint16(data[at:]))
	at += 2
	if n*8 > len(data)-at {
		return nil, 0, formatErrorf(at-2, c.path(""), "%ss_count %d does not fit the %d bytes left", kind, n, len(data)-at)
	}
	first := len(members)
	members = slices.Grow(members, n)[:first+n]
	for i := range n {
		if at+8 > len(data) {
			return nil, 0, formatErrorf(len(data), c.path(""), "class file ends in %s %d of %d", kind, i, n)
		}
		info := data[at : at+8 : at+8]
		name, descriptor := binary.BigEndian.Uint16(info[2:]), binary.BigEndian.Uint16(info[4:])
		if c.pool.Tag(name) != TagUtf8 {
			_, err := c.pool.Utf8(name)
			return nil, 0, formatErrorf(at+2, c.path(fmt.Sprintf("name of %s %d", kind, i)), "%w", err)
		}
		if c.pool.Tag(descriptor) != TagUtf8 {
			name, _ := c.pool.Utf8(name)
			_, err := c.pool.Utf8(descriptor)
			return nil, 0, formatErrorf(at+4, c.path(fmt.Sprintf("descriptor of %s %d %s", kind, i, name)), "%w", err)
		}
		m := &members[first+i]
		m.Offset = at
		m.AccessFlags = binary.BigEndian.Uint16(info)
		m.Name = c.pool.utf8(name)
		m.Descriptor = c.pool.utf8(descriptor)
		own := len(p.attributes)
		next, bad := p.appendAttributes(&c.pool, data, at+6)
		if bad != nil {
			bad.Path = c.path(m.path(kind))
			return nil, 0, bad
		}
		m.Attributes = p.attributes[own:len(p.attributes):len(p.attributes)]
		at = next
	}
	return members, at, nil
}

// appendAttributes reads the attribute table at offset at, and appends to p.attributes.
func (p *Parser) appendAttributes(pool *ConstantPool, data []byte, at int) (end int, bad *FormatError) {
	p.attributes, end, bad = pool.appendAttributes(p.attributes, data, at)
	return end, bad
}

// countBody returns how many members and attributes parseBody is going to read from offset at on, and no more than the
// data can hold if that fails.
func countBody(data []byte, at int) (members, attributes int) {
	rest := data[at:]
	u2 := func() (n int) {
		if len(rest) >= 2 {
			n, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		}
		return n
	}
	skipTable := func() {
		for n := u2(); n > 0 && len(rest) >= attributeHeader; n-- {
			length := binary.BigEndian.Uint32(rest[2:])
			rest = rest[attributeHeader:]
			rest = rest[min(int64(length), int64(len(rest))):]
			attributes++
		}
	}
	for range 2 {
		for n := u2(); n > 0 && len(rest) >= 8; n-- {
			rest = rest[6:]
			skipTable()
			members++
		}
	}
	skipTable()
	return members, attributes
}

// path returns the path of a structure inside the class for error messages; the class's own if inner is empty.
func (c *Class) path(inner string) string {
	if inner == "" {
		return "class " + c.name
	}
	return "class " + c.name + ": " + inner
}

func (m *Member) path(kind string) string { return kind + " " + m.Name + m.Descriptor }

// Bytes returns the class file as it was parsed.
func (c *Class) Bytes() []byte { return c.data }

// Version returns minor_version and major_version (JVMS 4.1).
func (c *Class) Version() (minor, major uint16) { return c.minor, c.major }

// IsFuture reports whether the class file is of a later version than those whose format is known.
func (c *Class) IsFuture() bool { return c.major > MaxMajor }

// ConstantPool returns the constant pool.
func (c *Class) ConstantPool() *ConstantPool { return &c.pool }

// AccessFlags returns access_flags (JVMS table 4.1-B).
func (c *Class) AccessFlags() uint16 { return c.accessFlags }

// Name returns the name of this_class in internal form.
func (c *Class) Name() string { return c.name }

// SuperName returns the name of super_class in internal form, "" if there is none (java/lang/Object,
// module-info).
func (c *Class) SuperName() string { return c.super }

// Interfaces returns the names of the direct superinterfaces in internal form.
func (c *Class) Interfaces() []string { return c.interfaces }

// Fields returns the fields in class file order.
func (c *Class) Fields() []Member { return c.fields }

// Methods returns the methods in class file order.
func (c *Class) Methods() []Member { return c.methods }

// Attributes returns the attributes of the class itself.
func (c *Class) Attributes() []Attribute { return c.attributes }
