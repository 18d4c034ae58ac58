package classpath

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/classfile"
)

// A compressed resource of an image begins with a header: magic, the size of what follows, the size when that is
// unpacked, where in the image's strings the way of packing is named, where its options are, and a byte more. What is
// unpacked may be packed again in another way.
const (
	packedMagic  = 0xCAFEFAFA
	packedHeader = 29
	mostPackings = 4       // one in another; jlink uses two at most
	mostUnpacked = 1 << 28 // bytes; a class file is far smaller
)

// unpack gives a resource's content.
func (m *image) unpack(data []byte) ([]byte, error) {
	for range mostPackings {
		if len(data) < packedHeader || m.order.Uint32(data) != packedMagic {
			return data, nil
		}
		packed, unpacked := m.order.Uint64(data[4:]), m.order.Uint64(data[12:])
		name := m.name(uint64(m.order.Uint32(data[20:])))
		if packed > uint64(len(data)-packedHeader) || unpacked > mostUnpacked {
			return nil, fmt.Errorf("%w: %d bytes for %d in a resource of %d", errImage, packed, unpacked, len(data))
		}
		content := data[packedHeader:][:packed]
		var err error
		switch name {
		case "zip":
			data, err = inflate(content, int(unpacked))
		case "compact-cp":
			data, err = m.shareStrings(content, int(unpacked))
		default:
			return nil, fmt.Errorf("resources are compressed by %q, which is not known here: use a JDK whose image is not", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errImage, name, err)
		}
	}
	return nil, fmt.Errorf("%w: compressed again and again", errImage)
}

func inflate(content []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)+1)) // grows with what is really there
	if err == nil && n != int64(size) {
		err = fmt.Errorf("%d bytes instead of %d", n, size)
	}
	return b.Bytes(), err
}

// What "compact-cp" writes instead of a Utf8: the number of one of the image's strings, or a descriptor whose class names
// are such.
const (
	sharedString     = 23
	sharedDescriptor = 25
)

// shareStrings undoes "compact-cp": a class file whose constant pool refers to the strings of the image.
func (m *image) shareStrings(content []byte, size int) ([]byte, error) {
	const poolAt = 10 // magic, versions, constant_pool_count
	r := sharedReader{image: m, b: content}
	r.copy(poolAt)
	if r.cut {
		return nil, io.ErrUnexpectedEOF
	}
	count := int(binary.BigEndian.Uint16(r.out[poolAt-2:]))
	for i := 1; i < count && !r.cut && len(r.out) <= size; i++ {
		if r.constant() {
			i++
		}
	}
	r.copy(len(r.b))
	if r.cut || len(r.out) != size {
		return nil, fmt.Errorf("%d bytes instead of %d", len(r.out), size)
	}
	return r.out, nil
}

// sharedReader writes a class file out from its compact form.
type sharedReader struct {
	*image
	b, out []byte
	cut    bool
}

func (r *sharedReader) take(n int) []byte {
	if n > len(r.b) {
		r.cut, r.b = true, nil
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *sharedReader) copy(n int) { r.out = append(r.out, r.take(n)...) }

// constantSizes are those of what is copied behind the tag, but for Utf8.
var constantSizes = [...]int{
	classfile.TagInteger: 4, classfile.TagFloat: 4, classfile.TagLong: 8, classfile.TagDouble: 8, classfile.TagClass: 2,
	classfile.TagString: 2, classfile.TagFieldref: 4, classfile.TagMethodref: 4, classfile.TagInterfaceMethodref: 4,
	classfile.TagNameAndType: 4, classfile.TagMethodHandle: 3, classfile.TagMethodType: 2, classfile.TagDynamic: 4,
	classfile.TagInvokeDynamic: 4, classfile.TagModule: 2, classfile.TagPackage: 2,
}

// constant writes one constant and says whether it takes two entries.
func (r *sharedReader) constant() (two bool) {
	tag := r.take(1)
	switch {
	case r.cut:
	case tag[0] == sharedString:
		r.utf8(func() { r.sharedName() })
	case tag[0] == sharedDescriptor:
		r.utf8(r.descriptor)
	case classfile.Tag(tag[0]) == classfile.TagUtf8:
		size := r.take(2)
		if !r.cut {
			r.out = append(append(r.out, tag[0]), size...)
			r.copy(int(binary.BigEndian.Uint16(size)))
		}
	case int(tag[0]) >= len(constantSizes) || constantSizes[tag[0]] == 0:
		r.cut = true
	default:
		r.out = append(r.out, tag[0])
		r.copy(constantSizes[tag[0]])
		return classfile.Tag(tag[0]) == classfile.TagLong || classfile.Tag(tag[0]) == classfile.TagDouble
	}
	return false
}

// utf8 writes a Utf8 with the text that is appended.
func (r *sharedReader) utf8(text func()) {
	r.out = append(r.out, byte(classfile.TagUtf8), 0, 0)
	start := len(r.out)
	text()
	size := len(r.out) - start
	if size > 0xFFFF {
		r.cut = true
	}
	binary.BigEndian.PutUint16(r.out[start-2:], uint16(size))
}

// sharedName appends the string of the number that comes next.
func (r *sharedReader) sharedName() (empty bool) {
	name := r.name(uint64(r.number()))
	r.out = append(r.out, name...)
	return name == ""
}

// descriptor appends a descriptor: each L in its pattern is followed by a package and a class.
func (r *sharedReader) descriptor() {
	pattern := r.name(uint64(r.number()))
	numbers := sharedReader{image: r.image, b: r.take(int(r.number()))}
	shared := len(numbers.b) > 0
	numbers.out = r.out
	for i := 0; i < len(pattern) && !numbers.cut; i++ {
		numbers.out = append(numbers.out, pattern[i])
		if shared && pattern[i] == 'L' {
			if inPackage := !numbers.sharedName(); inPackage {
				numbers.out = append(numbers.out, '/')
			}
			numbers.sharedName()
		}
	}
	r.out, r.cut = numbers.out, r.cut || numbers.cut
}

// number reads a number of four bytes, or a shorter one, whose first byte has the highest bit set, then its length in two
// bits.
func (r *sharedReader) number() uint32 {
	if len(r.b) == 0 {
		r.cut = true
		return 0
	}
	size, value := 4, uint32(0)
	if first := r.b[0]; first&0x80 != 0 {
		size, value = int(first>>5&3), uint32(first&0x1F)
		if size == 0 {
			r.cut = true
			return 0
		}
		r.take(1)
		size--
	}
	for _, digit := range r.take(size) {
		value = value<<8 | uint32(digit)
	}
	return value
}
