package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Tag is the kind of a constant pool entry (JVMS table 4.4-A).
type Tag uint8

// The constant kinds of JVMS table 4.4-A, named as there without their CONSTANT_ prefix.
const (
	TagUtf8               Tag = 1
	TagInteger            Tag = 3
	TagFloat              Tag = 4
	TagLong               Tag = 5
	TagDouble             Tag = 6
	TagClass              Tag = 7
	TagString             Tag = 8
	TagFieldref           Tag = 9
	TagMethodref          Tag = 10
	TagInterfaceMethodref Tag = 11
	TagNameAndType        Tag = 12
	TagMethodHandle       Tag = 15
	TagMethodType         Tag = 16
	TagDynamic            Tag = 17
	TagInvokeDynamic      Tag = 18
	TagModule             Tag = 19
	TagPackage            Tag = 20
)

// tags tells of each tag its JVMS name and how many bytes follow the tag byte; Utf8's two are its length.
var tags = [...]struct {
	name string
	size uint8
}{
	TagUtf8: {"Utf8", 2}, TagInteger: {"Integer", 4}, TagFloat: {"Float", 4}, TagLong: {"Long", 8},
	TagDouble: {"Double", 8}, TagClass: {"Class", 2}, TagString: {"String", 2}, TagFieldref: {"Fieldref", 4},
	TagMethodref: {"Methodref", 4}, TagInterfaceMethodref: {"InterfaceMethodref", 4},
	TagNameAndType: {"NameAndType", 4}, TagMethodHandle: {"MethodHandle", 3}, TagMethodType: {"MethodType", 2},
	TagDynamic: {"Dynamic", 4}, TagInvokeDynamic: {"InvokeDynamic", 4}, TagModule: {"Module", 2},
	TagPackage: {"Package", 2},
}

// String gives the JVMS name of the kind, or "tag N".
func (t Tag) String() string {
	if int(t) < len(tags) && tags[t].size != 0 {
		return tags[t].name
	}
	return fmt.Sprintf("tag %d", uint8(t))
}

// ConstantPool is the constant pool of a parsed class (JVMS 4.4): views into the class file, decoded when
// asked for. An index that is 0, past the end, or the second slot of a Long or Double is unusable, and so is
// one whose entry is of another kind than the accessor's; accessors then return an error.
type ConstantPool struct {
	data    []byte
	offsets []uint32 // of each entry's tag in data; 0 for unusable indices
}

// Len is constant_pool_count: one more than the greatest index.
func (p *ConstantPool) Len() int { return len(p.offsets) }

// Tag gives the kind of entry i, and 0 for an unusable index.
func (p *ConstantPool) Tag(i uint16) Tag {
	if int(i) >= len(p.offsets) || p.offsets[i] == 0 {
		return 0
	}
	return Tag(p.data[p.offsets[i]])
}

// Offset gives the position of entry i's tag in the class file. For an i of Len or more it is the end of
// the pool; for an unusable index below, that of the next usable entry.
func (p *ConstantPool) Offset(i int) int {
	for ; i < len(p.offsets); i++ {
		if p.offsets[i] != 0 {
			return int(p.offsets[i])
		}
	}
	return len(p.data)
}

func (p *ConstantPool) entry(i uint16, want Tag) ([]byte, error) {
	if got := p.Tag(i); got != want {
		if got == 0 {
			return nil, fmt.Errorf("constant pool index %d is unusable, want a %v", i, want)
		}
		return nil, fmt.Errorf("constant pool index %d is a %v, want a %v", i, got, want)
	}
	return p.data[p.offsets[i]+1:], nil
}

// Utf8 gives the bytes of a Utf8 entry (JVMS 4.4.7), in modified UTF-8 as they are, sharing the memory of the
// class file.
func (p *ConstantPool) Utf8(i uint16) (string, error) {
	b, err := p.entry(i, TagUtf8)
	if err != nil {
		return "", err
	}
	return view(b[2 : 2+int(binary.BigEndian.Uint16(b))]), nil
}

// NamedBy gives the string that entry i, of kind Class, String, MethodType, Module or Package, refers to
// (JVMS 4.4.1, 4.4.3, 4.4.9, 4.4.11, 4.4.12).
func (p *ConstantPool) NamedBy(i uint16, kind Tag) (string, error) {
	b, err := p.entry(i, kind)
	if err != nil {
		return "", err
	}
	s, err := p.Utf8(binary.BigEndian.Uint16(b))
	if err != nil {
		return "", fmt.Errorf("%v at index %d: %w", kind, i, err)
	}
	return s, nil
}

// ClassName gives the name of the Class entry i in internal form, an array class as its descriptor (JVMS
// 4.4.1).
func (p *ConstantPool) ClassName(i uint16) (string, error) { return p.NamedBy(i, TagClass) }

// NameAndType gives the name and descriptor of the NameAndType entry i (JVMS 4.4.6).
func (p *ConstantPool) NameAndType(i uint16) (name, descriptor string, err error) {
	b, err := p.entry(i, TagNameAndType)
	if err != nil {
		return "", "", err
	}
	if name, err = p.Utf8(binary.BigEndian.Uint16(b)); err == nil {
		descriptor, err = p.Utf8(binary.BigEndian.Uint16(b[2:]))
	}
	if err != nil {
		return "", "", fmt.Errorf("NameAndType at index %d: %w", i, err)
	}
	return name, descriptor, nil
}

// Ref is a resolved Fieldref, Methodref or InterfaceMethodref (JVMS 4.4.2). For Dynamic and InvokeDynamic
// (JVMS 4.4.10) Class is empty.
type Ref struct {
	Tag                     Tag
	Class, Name, Descriptor string
}

// Ref resolves entry i, which must be one of the five kinds that name a member and its descriptor.
func (p *ConstantPool) Ref(i uint16) (Ref, error) {
	r := Ref{Tag: p.Tag(i)}
	hasClass := r.Tag == TagFieldref || r.Tag == TagMethodref || r.Tag == TagInterfaceMethodref
	if !hasClass && r.Tag != TagDynamic && r.Tag != TagInvokeDynamic {
		return r, fmt.Errorf("constant pool index %d is no reference to a member (%v)", i, r.Tag)
	}
	b := p.data[p.offsets[i]+1:]
	var err error
	if hasClass {
		if r.Class, err = p.ClassName(binary.BigEndian.Uint16(b)); err != nil {
			return r, fmt.Errorf("%v at index %d: %w", r.Tag, i, err)
		}
	}
	if r.Name, r.Descriptor, err = p.NameAndType(binary.BigEndian.Uint16(b[2:])); err != nil {
		return r, fmt.Errorf("%v at index %d: %w", r.Tag, i, err)
	}
	return r, nil
}

// Integer gives the value of the Integer entry i (JVMS 4.4.4).
func (p *ConstantPool) Integer(i uint16) (int32, error) {
	b, err := p.entry(i, TagInteger)
	if err != nil {
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(b)), nil
}

// Raw gives the bytes of entry i after its tag: cp_info's info (JVMS 4.4). It is nil for an unusable index.
func (p *ConstantPool) Raw(i uint16) []byte {
	t := p.Tag(i)
	if t == 0 {
		return nil
	}
	start := int(p.offsets[i]) + 1
	return p.data[start : start+p.infoSize(t, start)]
}

func (p *ConstantPool) infoSize(t Tag, start int) int {
	if t == TagUtf8 {
		return 2 + int(binary.BigEndian.Uint16(p.data[start:]))
	}
	return int(tags[t].size)
}

// parseConstantPool measures the pool that starts at offset start with its count.
func parseConstantPool(data []byte, start int) (ConstantPool, error) {
	const path = "constant pool"
	if start+2 > len(data) {
		return ConstantPool{}, formatErrorf(len(data), path, "class file ends before its count")
	}
	count := int(binary.BigEndian.Uint16(data[start:]))
	at := start + 2
	// The shortest entry has three bytes: a count that the file cannot hold must not be allocated.
	if least := (count - 1) * 3; count == 0 || least > 2*(len(data)-at) {
		return ConstantPool{}, formatErrorf(start, path, "count %d does not fit a class file of %d bytes", count, len(data))
	}
	offsets := make([]uint32, count)
	for i := 1; i < count; i++ {
		if at+3 > len(data) {
			return ConstantPool{}, formatErrorf(len(data), path, "class file ends in entry %d of %d", i, count)
		}
		tag := Tag(data[at])
		if int(tag) >= len(tags) || tags[tag].size == 0 {
			return ConstantPool{}, formatErrorf(at, path, "entry %d has the unknown %v", i, tag)
		}
		size := 1 + int(tags[tag].size)
		if tag == TagUtf8 {
			size += int(binary.BigEndian.Uint16(data[at+1:]))
		}
		if size > len(data)-at {
			return ConstantPool{}, formatErrorf(at, path, "%v at index %d of %d bytes runs past the end", tag, i, size)
		}
		offsets[i] = uint32(at)
		at += size
		if tag == TagLong || tag == TagDouble {
			i++
			if i == count {
				return ConstantPool{}, formatErrorf(at, path, "%v at the last index %d has no second slot", tag, i-1)
			}
		}
	}
	return ConstantPool{data: data[:at:at], offsets: offsets}, nil
}

// PoolBuilder collects constants to append to a pool. Every method returns the constant's index; past
// 65,535 constants the indices mean nothing and [PoolBuilder.Err] says so.
type PoolBuilder struct {
	base  *ConstantPool
	next  int
	added []byte
}

// NewPoolBuilder starts an empty block of constants behind those of base.
func NewPoolBuilder(base *ConstantPool) *PoolBuilder {
	return &PoolBuilder{base: base, next: base.Len()}
}

// Len is the constant_pool_count of the pool with what was added.
func (b *PoolBuilder) Len() int { return b.next }

// Err reports a pool that outgrew its u2 count (JVMS 4.1), and strings longer than a Utf8 entry holds.
func (b *PoolBuilder) Err() error {
	if b.next > math.MaxUint16 {
		return fmt.Errorf("constant pool would need %d entries, the limit is %d", b.next, math.MaxUint16)
	}
	return nil
}

// AddUtf8 appends a Utf8 entry of at most 65,535 bytes; a longer string is an error of Err.
func (b *PoolBuilder) AddUtf8(s string) uint16 {
	if len(s) > math.MaxUint16 {
		b.next = math.MaxInt32
	}
	b.added = append(b.added, byte(TagUtf8), byte(len(s)>>8), byte(len(s)))
	b.added = append(b.added, s...)
	return b.index()
}

// AddClass appends a Class entry named by the Utf8 entry name.
func (b *PoolBuilder) AddClass(name uint16) uint16 { return b.add(TagClass, name) }

// AddNameAndType appends a NameAndType entry of two Utf8 entries.
func (b *PoolBuilder) AddNameAndType(name, descriptor uint16) uint16 {
	return b.add(TagNameAndType, name, descriptor)
}

// AddMethodref appends a Methodref entry of a Class and a NameAndType entry.
func (b *PoolBuilder) AddMethodref(class, nameAndType uint16) uint16 {
	return b.add(TagMethodref, class, nameAndType)
}

// AddInteger appends an Integer entry.
func (b *PoolBuilder) AddInteger(v int32) uint16 {
	return b.add(TagInteger, uint16(uint32(v)>>16), uint16(v))
}

func (b *PoolBuilder) add(tag Tag, operands ...uint16) uint16 {
	b.added = append(b.added, byte(tag))
	for _, o := range operands {
		b.added = binary.BigEndian.AppendUint16(b.added, o)
	}
	return b.index()
}

func (b *PoolBuilder) index() uint16 {
	b.next++
	return uint16(b.next - 1)
}

// FindUtf8 gives the index of the first Utf8 entry with these bytes.
func (p *ConstantPool) FindUtf8(s string) (uint16, bool) {
	for i, at := range p.offsets {
		if at == 0 || p.data[at] != byte(TagUtf8) || int(binary.BigEndian.Uint16(p.data[at+1:])) != len(s) {
			continue
		}
		if string(p.data[at+3:int(at)+3+len(s)]) == s {
			return uint16(i), true
		}
	}
	return 0, false
}

// Find gives the index of the first entry of the kind tag whose operands are these two-byte values.
func (p *ConstantPool) Find(tag Tag, operands ...uint16) (uint16, bool) {
next:
	for i, at := range p.offsets {
		if at == 0 || p.data[at] != byte(tag) {
			continue
		}
		for k, o := range operands {
			if binary.BigEndian.Uint16(p.data[int(at)+1+2*k:]) != o {
				continue next
			}
		}
		return uint16(i), true
	}
	return 0, false
}

// view shares b's memory as a string: the input of Parse never changes.
func view(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}
