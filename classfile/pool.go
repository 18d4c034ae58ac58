package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
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

// tagNames has the JVMS name of each kind.
var tagNames = [...]string{
	TagUtf8: "Utf8", TagInteger: "Integer", TagFloat: "Float", TagLong: "Long", TagDouble: "Double",
	TagClass: "Class", TagString: "String", TagFieldref: "Fieldref", TagMethodref: "Methodref",
	TagInterfaceMethodref: "InterfaceMethodref", TagNameAndType: "NameAndType", TagMethodHandle: "MethodHandle",
	TagMethodType: "MethodType", TagDynamic: "Dynamic", TagInvokeDynamic: "InvokeDynamic", TagModule: "Module",
	TagPackage: "Package",
}

// infoSizes has the number of bytes that follow each tag, without the bytes of a Utf8's string, and 0 for a byte that
// is not a tag. It has an element for every byte, so that reading a pool needs no bounds check.
var infoSizes = [256]uint8{
	TagUtf8: 2, TagInteger: 4, TagFloat: 4, TagLong: 8, TagDouble: 8, TagClass: 2, TagString: 2, TagFieldref: 4,
	TagMethodref: 4, TagInterfaceMethodref: 4, TagNameAndType: 4, TagMethodHandle: 3, TagMethodType: 2,
	TagDynamic: 4, TagInvokeDynamic: 4, TagModule: 2, TagPackage: 2,
}

// String returns the JVMS name of the kind, or "tag N".
func (t Tag) String() string {
	if infoSizes[t] != 0 {
		return tagNames[t]
	}
	return fmt.Sprintf("tag %d", uint8(t))
}

// ConstantPool is the constant pool of a parsed class (JVMS 4.4): a view into the class file, whose entries are
// decoded by each call. An index is unusable if it is 0, past the end, or the second slot of a Long or Double. For
// an unusable index, or an entry of another kind than expected, the methods that can fail return an error.
type ConstantPool struct {
	data    []byte
	offsets []uint32 // of each entry's tag in data; 0 for unusable indices
	tags    []Tag    // likewise; they are there twice, because most look-ups need no more than the tag
}

// Len is constant_pool_count: one more than the greatest index.
func (p *ConstantPool) Len() int { return len(p.offsets) }

// Tag returns the kind of entry i, and 0 for an unusable index.
func (p *ConstantPool) Tag(i uint16) Tag {
	if int(i) >= len(p.tags) {
		return 0
	}
	return p.tags[i]
}

// Offset returns the position of entry i's tag in the class file. If i is Len or more, it returns the end of the
// pool; if i is another unusable index, the position of the next usable entry.
func (p *ConstantPool) Offset(i int) int {
	for ; i < len(p.offsets); i++ {
		if p.offsets[i] != 0 {
			return int(p.offsets[i])
		}
	}
	return len(p.data)
}

func (p *ConstantPool) entry(i uint16, want Tag) ([]byte, error) {
	if got := p.Tag(i); got != want || got == 0 {
		if got == 0 {
			return nil, fmt.Errorf("constant pool index %d is unusable, want %v", i, want)
		}
		return nil, fmt.Errorf("constant pool index %d is %v, want %v", i, got, want)
	}
	return p.data[p.offsets[i]+1:], nil
}

// Utf8 returns the bytes of the Utf8 entry i (JVMS 4.4.7), which are modified UTF-8. The string shares the memory
// of the class file.
func (p *ConstantPool) Utf8(i uint16) (string, error) {
	b, err := p.entry(i, TagUtf8)
	if err != nil {
		return "", err
	}
	return view(b[2 : 2+int(binary.BigEndian.Uint16(b))]), nil
}

// utf8 is Utf8 for the index of an entry that was already checked to be a Utf8.
func (p *ConstantPool) utf8(i uint16) string {
	at := int(p.offsets[i]) + 3
	return view(p.data[at : at+int(binary.BigEndian.Uint16(p.data[at-2:at:at]))])
}

// Text is [ConstantPool.Utf8] for the known index of a Utf8. It returns "" for every other index.
func (p *ConstantPool) Text(i uint16) string {
	if p.Tag(i) != TagUtf8 {
		return ""
	}
	return p.utf8(i)
}

// NamedBy returns the string that entry i, of kind Class, String, MethodType, Module or Package, refers to
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

// ClassName returns the name of the Class entry i in internal form, an array class as its descriptor (JVMS
// 4.4.1).
func (p *ConstantPool) ClassName(i uint16) (string, error) { return p.NamedBy(i, TagClass) }

// NameAndType returns the name and descriptor of the NameAndType entry i (JVMS 4.4.6).
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

// Ref is what a Fieldref, Methodref or InterfaceMethodref (JVMS 4.4.2), a Dynamic or an InvokeDynamic (JVMS 4.4.10)
// refers to. For the last two, Class is empty.
type Ref struct {
	Tag        Tag    // the kind of the entry
	Class      string // the class named, in internal form or as an array descriptor
	Name       string // of the member
	Descriptor string // of the member (JVMS 4.3)
}

// Ref reads entry i and the entries that it refers to. It fails if i is not one of the five kinds that name a
// member and its descriptor.
func (p *ConstantPool) Ref(i uint16) (Ref, error) {
	r := Ref{Tag: p.Tag(i)}
	if class, name, descriptor, ok := p.memberNames(i); ok {
		if class != 0 {
			r.Class = p.utf8(class)
		}
		r.Name, r.Descriptor = p.utf8(name), p.utf8(descriptor)
		return r, nil
	}
	return p.faultyRef(i, r)
}

// faultyRef is Ref for an entry for which it fails.
func (p *ConstantPool) faultyRef(i uint16, r Ref) (Ref, error) {
	hasClass := r.Tag == TagFieldref || r.Tag == TagMethodref || r.Tag == TagInterfaceMethodref
	if !hasClass && r.Tag != TagDynamic && r.Tag != TagInvokeDynamic {
		return r, fmt.Errorf("constant pool index %d does not refer to a member (%v)", i, r.Tag)
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

// DescriptorOf returns the index of the Utf8 entry that is the descriptor of the member that entry i names; ok is false
// if [ConstantPool.Ref] fails.
func (p *ConstantPool) DescriptorOf(i uint16) (descriptor uint16, ok bool) {
	_, _, descriptor, ok = p.memberNames(i)
	return descriptor, ok
}

// memberNames returns the indices of the Utf8 entries of a [Ref]; the class's index is 0 if there is none.
func (p *ConstantPool) memberNames(i uint16) (class, name, descriptor uint16, ok bool) {
	tag := p.Tag(i)
	hasClass := tag == TagFieldref || tag == TagMethodref || tag == TagInterfaceMethodref
	if !hasClass && tag != TagDynamic && tag != TagInvokeDynamic {
		return 0, 0, 0, false
	}
	operands := p.fourBytes(i)
	if hasClass {
		of := uint16(operands >> 16)
		if p.Tag(of) != TagClass {
			return 0, 0, 0, false
		}
		if class = binary.BigEndian.Uint16(p.data[p.offsets[of]+1:]); p.Tag(class) != TagUtf8 {
			return 0, 0, 0, false
		}
	}
	pair := uint16(operands)
	if p.Tag(pair) != TagNameAndType {
		return 0, 0, 0, false
	}
	operands = p.fourBytes(pair)
	name, descriptor = uint16(operands>>16), uint16(operands)
	return class, name, descriptor, p.Tag(name) == TagUtf8 && p.Tag(descriptor) == TagUtf8
}

// fourBytes returns the bytes after the tag of entry i, which must have four.
func (p *ConstantPool) fourBytes(i uint16) uint32 {
	at := p.offsets[i] + 1
	return binary.BigEndian.Uint32(p.data[at : at+4 : at+4])
}

// Integer returns the value of the Integer entry i (JVMS 4.4.4).
func (p *ConstantPool) Integer(i uint16) (int32, error) {
	b, err := p.entry(i, TagInteger)
	if err != nil {
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(b)), nil
}

// Raw returns the bytes of entry i after its tag: cp_info's info (JVMS 4.4). It is nil for an unusable index.
func (p *ConstantPool) Raw(i uint16) []byte {
	t := p.Tag(i)
	if t == 0 {
		return nil
	}
	start := int(p.offsets[i]) + 1
	return p.data[start : start+p.infoSize(t, start)]
}

// Entry is Tag and Raw at once.
func (p *ConstantPool) Entry(i uint16) (Tag, []byte) {
	t := p.Tag(i)
	if t == 0 {
		return 0, nil
	}
	start := int(p.offsets[i]) + 1
	return t, p.data[start : start+p.infoSize(t, start)]
}

func (p *ConstantPool) infoSize(t Tag, start int) int {
	if t == TagUtf8 {
		return 2 + int(binary.BigEndian.Uint16(p.data[start:]))
	}
	return int(infoSizes[t])
}

// parseConstantPool finds the entries of the pool that starts at offset start with its count. It uses the memory of
// offsets and tags again, which may describe an earlier pool.
func parseConstantPool(data []byte, start int, offsets []uint32, tags []Tag) (ConstantPool, error) {
	const path = "constant pool"
	if start+2 > len(data) {
		return ConstantPool{}, formatErrorf(len(data), path, "class file ends before its count")
	}
	count := int(binary.BigEndian.Uint16(data[start:]))
	at := start + 2
	// An index takes three bytes at least (a Long or Double nine for two): a count that the file cannot hold
	// must not be allocated.
	if count == 0 || (count-1)*3 > len(data)-at {
		return ConstantPool{}, formatErrorf(start, path, "count %d does not fit a class file of %d bytes",
			count, len(data))
	}
	offsets, tags = reuse(offsets, count), reuse(tags, count)
	offsets[0], tags[0] = 0, 0
	end, err := findEntries(data, at, offsets, tags)
	if err != nil {
		return ConstantPool{}, err
	}
	return ConstantPool{data: data[:end:end], offsets: offsets, tags: tags}, nil
}

// findEntries sets the offsets and tags of all entries of a pool but the unusable first one. The first tag is at offset
// at. It returns the offset behind the pool.
func findEntries(data []byte, at int, offsets []uint32, tags []Tag) (end int, err error) {
	const path = "constant pool"
	count := len(offsets)
	for i := 1; i < count; i++ {
		if at+3 > len(data) {
			return 0, formatErrorf(len(data), path, "class file ends in entry %d of %d", i, count)
		}
		tag := Tag(data[at])
		size := 1 + int(infoSizes[tag])
		if tag == TagUtf8 {
			size += int(binary.BigEndian.Uint16(data[at+1:]))
		}
		if size == 1 {
			return 0, formatErrorf(at, path, "entry %d has the unknown %v", i, tag)
		}
		if size > len(data)-at {
			return 0, formatErrorf(at, path, "%v at index %d of %d bytes runs past the end", tag, i, size)
		}
		offsets[i], tags[i] = uint32(at), tag
		at += size
		if tag == TagLong || tag == TagDouble {
			i++
			if i == count {
				return 0, formatErrorf(at, path, "%v at the last index %d has no second slot", tag, i-1)
			}
			offsets[i], tags[i] = 0, 0
		}
	}
	return at, nil
}

// PoolBuilder collects constants to append to a pool. Every method that adds a constant returns its index; once
// [PoolBuilder.Err] is not nil, the indices are meaningless.
type PoolBuilder struct {
	base  *ConstantPool
	next  int
	added []byte
	err   error
	found []foundConstant
}

// foundConstant is an entry that Utf8, Class or NameAndType returned, of the base pool or appended.
type foundConstant struct {
	tag              Tag
	name, descriptor string
	index            uint16
}

// NewPoolBuilder returns a builder that appends to base and has no constants yet.
func NewPoolBuilder(base *ConstantPool) *PoolBuilder {
	return &PoolBuilder{base: base, next: base.Len()}
}

// Reset makes b what [NewPoolBuilder] returns for base, and keeps b's memory.
func (b *PoolBuilder) Reset(base *ConstantPool) {
	*b = PoolBuilder{base: base, next: base.Len(), added: b.added[:0], found: b.found[:0]}
}

// Len returns the constant_pool_count of the pool with the constants that were added.
func (b *PoolBuilder) Len() int { return b.next }

// Err returns an error if the pool would outgrow its u2 count (JVMS 4.1), or if a string was added that is longer
// than a Utf8 entry can be.
func (b *PoolBuilder) Err() error {
	if b.err == nil && b.next > math.MaxUint16 {
		return fmt.Errorf("constant_pool_count would be %d, the limit is %d", b.next, math.MaxUint16)
	}
	return b.err
}

// Utf8 returns the index of a Utf8 entry with these bytes. It appends one unless the base pool has one or an
// earlier call of Utf8 has returned one.
func (b *PoolBuilder) Utf8(s string) uint16 {
	return b.once(TagUtf8, s, "", func() uint16 {
		if i, ok := b.base.FindUtf8(s); ok {
			return i
		}
		return b.AddUtf8(s)
	})
}

// Class returns the index of a Class entry with that name; like Utf8, it appends one only if needed.
func (b *PoolBuilder) Class(name string) uint16 {
	return b.once(TagClass, name, "", func() uint16 {
		utf8 := b.Utf8(name)
		if i, ok := b.find(TagClass, utf8); ok {
			return i
		}
		return b.AddClass(utf8)
	})
}

// NameAndType returns the index of a NameAndType entry of these two strings; like Utf8, it appends one only if
// needed.
func (b *PoolBuilder) NameAndType(name, descriptor string) uint16 {
	return b.once(TagNameAndType, name, descriptor, func() uint16 {
		n, d := b.Utf8(name), b.Utf8(descriptor)
		if i, ok := b.find(TagNameAndType, n, d); ok {
			return i
		}
		return b.AddNameAndType(n, d)
	})
}

// find looks in the base pool for an entry with these operands, which must be in the base pool too: an entry of a
// malformed class may name an index past the end of its pool, where there is now an appended constant.
func (b *PoolBuilder) find(tag Tag, operands ...uint16) (uint16, bool) {
	if int(slices.Max(operands)) >= b.base.Len() {
		return 0, false
	}
	return b.base.Find(tag, operands...)
}

func (b *PoolBuilder) once(tag Tag, name, descriptor string, get func() uint16) uint16 {
	for _, f := range b.found {
		if f.tag == tag && f.name == name && f.descriptor == descriptor {
			return f.index
		}
	}
	i := get()
	b.found = append(b.found, foundConstant{tag, name, descriptor, i})
	return i
}

// AddUtf8 appends a Utf8 entry, even if an equal one exists. For a string of more than 65,535 bytes, Err returns an
// error.
func (b *PoolBuilder) AddUtf8(s string) uint16 {
	if len(s) > math.MaxUint16 {
		b.err = fmt.Errorf("a string of %d bytes does not fit a Utf8 constant, which holds %d", len(s), math.MaxUint16)
		return 0
	}
	b.added = append(b.added, byte(TagUtf8), byte(len(s)>>8), byte(len(s)))
	b.added = append(b.added, s...)
	return b.index()
}

// AddClass appends a Class entry whose name is the Utf8 entry name.
func (b *PoolBuilder) AddClass(name uint16) uint16 { return b.add(TagClass, name) }

// AddModule appends a Module entry (JVMS 4.4.11) whose name is the Utf8 entry name.
func (b *PoolBuilder) AddModule(name uint16) uint16 { return b.add(TagModule, name) }

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

// FindUtf8 returns the index of the first Utf8 entry with these bytes, or false if there is none.
func (p *ConstantPool) FindUtf8(s string) (uint16, bool) {
	if len(s) > math.MaxUint16 {
		return 0, false
	}
	data, header := p.data, uint32(TagUtf8)<<16|uint32(len(s))
	for i, at := range p.offsets {
		if utf8Header(data, at) == header && p.utf8(uint16(i)) == s {
			return uint16(i), true
		}
	}
	return 0, false
}

// utf8Header returns tag and length of the Utf8 entry at an offset of the pool's data as one number, so that they take
// one comparison. For an entry of another kind, and for the offset 0 of an unusable index, where the class file has its
// magic number, the result does not equal any Utf8's.
func utf8Header(data []byte, at uint32) uint32 {
	if int(at) < len(data)-3 {
		return binary.BigEndian.Uint32(data[at:]) >> 8
	}
	return uint32(data[at])<<16 | uint32(data[at+1])<<8 | uint32(data[at+2]) // the last entry, of three bytes
}

// Find returns the index of the first entry of kind tag whose info (JVMS 4.4) consists of these two-byte values, or
// false if there is none. It finds entries of all kinds but Utf8 and MethodHandle.
func (p *ConstantPool) Find(tag Tag, operands ...uint16) (uint16, bool) {
	if 2*len(operands) != int(infoSizes[tag]) || tag == TagUtf8 {
		return 0, false
	}
next:
	for i, at := range p.offsets {
		if p.data[at] != byte(tag) || at == 0 {
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

// view returns a string that shares the memory of b, which must be the input of Parse: that never changes.
func view(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}
