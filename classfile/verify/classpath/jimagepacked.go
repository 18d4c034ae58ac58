package classpath

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/classfile"
)

// A compressed resource of an image begins with a header: magic, the size of the compressed data, the size of the data
// when it is decompressed, the offset of the name of the method of compression among the strings of the image, the
// offset of its options, and one more byte. The decompressed data may be a compressed resource again.
const (
	packedMagic  = 0xCAFEFAFA
	packedHeader = 29
	maxPackings  = 4       // one in another; jlink uses two at most
	maxUnpacked  = 1 << 28 // bytes; a class file is far smaller
)

// unpack returns the content of a resource, decompressed if necessary.
func (m *image) unpack(data []byte) ([]byte, error) {
	for range maxPackings {
		if len(data) < packedHeader || m.order.Uint32(data) != packedMagic {
			return data, nil
		}
		packed, unpacked := m.order.Uint64(data[4:]), m.order.Uint64(data[12:])
		name := m.name(uint64(m.order.Uint32(data[20:])))
		if packed > uint64(len(data)-packedHeader) || unpacked > maxUnpacked {
			return nil, fmt.Errorf("%w: %d bytes for %d in a resource of %d", errImage, packed, unpacked, len(data))
		}
		content := data[packedHeader:][:packed]
		var err error
		switch name {
		case "zip":
			data, err = inflate(content, int(unpacked))
		case "compact-cp":
			data, err = m.restoreStrings(content, int(unpacked))
		default:
			return nil, fmt.Errorf("resources are compressed by %q, which is not supported: "+
				"use a JDK whose image is not compressed", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errImage, name, err)
		}
	}
	return nil, fmt.Errorf("%w: compressed more than %d times", errImage, maxPackings)
}

// inflate decompresses zlib data of a known size.
func inflate(content []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// Memory grows with the data, not with the size that the image claims.
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	if err == nil && n != int64(size) {
		err = fmt.Errorf("%d bytes instead of %d", n, size)
	}
	return b.Bytes(), err
}

// The tags that "compact-cp" writes instead of a Utf8's tag: for the number of a string of the image, and for a
// descriptor whose class names are such numbers.
const (
	sharedString     = 23
	sharedDescriptor = 25
)

// maxUtf8 is how many bytes a Utf8 has at most. A short descriptor may stand for many times more.
const maxUtf8 = 1<<16 - 1

// restoreStrings undoes "compact-cp": a class file whose constant pool refers to strings of the image.
func (m *image) restoreStrings(content []byte, size int) ([]byte, error) {
	const poolAt = 10 // magic, versions, constant_pool_count
	r := compactReader{image: m, rest: content}
	r.copy(poolAt)
	if r.truncated {
		return nil, io.ErrUnexpectedEOF
	}
	count := int(binary.BigEndian.Uint16(r.out[poolAt-2:]))
	for i := 1; i < count && !r.truncated && len(r.out) <= size; i++ {
		if r.constant() {
			i++
		}
	}
	r.copy(len(r.rest))
	if r.truncated || len(r.out) != size {
		return nil, fmt.Errorf("%d bytes instead of %d", len(r.out), size)
	}
	return r.out, nil
}

// compactReader writes the class file that a compact form stands for.
type compactReader struct {
	*image
	rest, out []byte
	truncated bool
}

// next returns the next n bytes, nil if there are not as many.
func (r *compactReader) next(n int) []byte {
	if n > len(r.rest) {
		r.truncated, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// copy copies the next n bytes to the class file.
func (r *compactReader) copy(n int) { r.out = append(r.out, r.next(n)...) }

// constantSizes holds how many bytes follow the tag of each kind of constant, except for Utf8.
var constantSizes = [...]int{
	classfile.TagInteger: 4, classfile.TagFloat: 4, classfile.TagLong: 8, classfile.TagDouble: 8, classfile.TagClass: 2,
	classfile.TagString: 2, classfile.TagFieldref: 4, classfile.TagMethodref: 4, classfile.TagInterfaceMethodref: 4,
	classfile.TagNameAndType: 4, classfile.TagMethodHandle: 3, classfile.TagMethodType: 2, classfile.TagDynamic: 4,
	classfile.TagInvokeDynamic: 4, classfile.TagModule: 2, classfile.TagPackage: 2,
}

// constant writes one constant, and reports whether it takes two indexes.
func (r *compactReader) constant() (two bool) {
	tag := r.next(1)
	switch {
	case r.truncated:
	case tag[0] == sharedString:
		r.utf8(func() { r.sharedName() })
	case tag[0] == sharedDescriptor:
		r.utf8(r.descriptor)
	case classfile.Tag(tag[0]) == classfile.TagUtf8:
		size := r.next(2)
		if !r.truncated {
			r.out = append(append(r.out, tag[0]), size...)
			r.copy(int(binary.BigEndian.Uint16(size)))
		}
	case int(tag[0]) >= len(constantSizes) || constantSizes[tag[0]] == 0:
		r.truncated = true
	default:
		r.out = append(r.out, tag[0])
		r.copy(constantSizes[tag[0]])
		return classfile.Tag(tag[0]) == classfile.TagLong || classfile.Tag(tag[0]) == classfile.TagDouble
	}
	return false
}

// utf8 writes a Utf8; text must append its bytes.
func (r *compactReader) utf8(text func()) {
	r.out = append(r.out, byte(classfile.TagUtf8), 0, 0)
	start := len(r.out)
	text()
	size := len(r.out) - start
	if size > maxUtf8 {
		r.truncated = true
	}
	binary.BigEndian.PutUint16(r.out[start-2:], uint16(size))
}

// sharedName appends the string whose number comes next, and reports whether it is empty.
func (r *compactReader) sharedName() (empty bool) {
	name := r.name(uint64(r.number()))
	r.out = append(r.out, name...)
	return name == ""
}

// descriptor appends a descriptor. It consists of a pattern, in which only the names of classes are missing, and the
// numbers of the strings to insert after each L: a package and a class.
func (r *compactReader) descriptor() {
	pattern := r.name(uint64(r.number()))
	numbers := compactReader{image: r.image, rest: r.next(int(r.number()))}
	shared := len(numbers.rest) > 0
	numbers.out = r.out
	for i := 0; i < len(pattern) && !numbers.truncated && len(numbers.out)-len(r.out) <= maxUtf8; i++ {
		numbers.out = append(numbers.out, pattern[i])
		if shared && pattern[i] == 'L' {
			if inPackage := !numbers.sharedName(); inPackage {
				numbers.out = append(numbers.out, '/')
			}
			numbers.sharedName()
		}
	}
	r.out, r.truncated = numbers.out, r.truncated || numbers.truncated
}

// number reads a number. It has four bytes, or fewer if the highest bit of its first byte is set; the next two bits are
// then its length.
func (r *compactReader) number() uint32 {
	if len(r.rest) == 0 {
		r.truncated = true
		return 0
	}
	size, value := 4, uint32(0)
	if first := r.rest[0]; first&0x80 != 0 {
		size, value = int(first>>5&3), uint32(first&0x1F)
		if size == 0 {
			r.truncated = true
			return 0
		}
		r.next(1)
		size--
	}
	for _, digit := range r.next(size) {
		value = value<<8 | uint32(digit)
	}
	return value
}
