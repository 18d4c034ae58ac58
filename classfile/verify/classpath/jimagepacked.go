package classpath

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
)

// A compressed resource of an image begins with a header: magic, the size of the compressed data, the size of the data
// when it is decompressed, the offset of the name of the method of compression among the strings of the image, the
// offset of its options, and one more byte.
const (
	packedMagic  = 0xCAFEFAFA
	packedHeader = 29
	maxUnpacked  = 1 << 28 // bytes; a class file is far smaller
)

// unpack returns the content of a compressed resource. "compact-cp" is not supported: only jlink --compress=1 writes
// it, which is deprecated.
func (m *image) unpack(data []byte) ([]byte, error) {
	if len(data) < packedHeader || m.order.Uint32(data) != packedMagic {
		return data, nil
	}
	packed, unpacked := m.order.Uint64(data[4:]), m.order.Uint64(data[12:])
	if packed > uint64(len(data)-packedHeader) || unpacked > maxUnpacked {
		return nil, fmt.Errorf("%w: %d bytes for %d in a resource of %d", errImage, packed, unpacked, len(data))
	}
	if name := m.name(uint64(m.order.Uint32(data[20:]))); name != "zip" {
		return nil, fmt.Errorf("resources are compressed by %q, which is not supported: "+
			"use a JDK whose image is not compressed", name)
	}
	data, err := inflate(data[packedHeader:][:packed], int(unpacked))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errImage, err)
	}
	return data, nil
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
