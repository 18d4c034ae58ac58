package classpath

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tracegen/tracegen/internal/jar"
)

// image is a lib/modules file, in which a JDK keeps its classes: a perfect hash table of resources, which are named
// /MODULE/PACKAGE/CLASS.class, and of packages, /packages/PACKAGE, which tell their modules.
//
// All numbers are in the byte order of the machine that it was made for. Resources are compressed if jlink was asked for
// it.
type image struct {
	file      *os.File
	order     binary.ByteOrder
	redirects []byte // of each bucket: a seed to hash again with, or where the resource is
	offsets   []byte // of each location
	locations []byte
	names     []byte // NUL-terminated strings
	base      int64  // where the resources start
}

const (
	imageMagic  = 0xCAFEDADA
	imageHeader = 28 // magic, version, flags, and four sizes
	imageSeed   = 0x01000193
)

// The attributes of a location. Each is a byte with the kind and the length, and a big-endian number.
const (
	imageModule = 1 + iota
	imageParent
	imageBase
	imageExtension
	imageOffset
	imageCompressed
	imageSize
	imageAttributes
)

func isImage(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && (binary.LittleEndian.Uint32(magic[:]) == imageMagic || binary.BigEndian.Uint32(magic[:]) == imageMagic)
}

var errImage = errors.New("malformed image of modules")

func openImage(path string) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m := &image{file: f}
	if err := m.readIndex(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func (m *image) readIndex() error {
	header := make([]byte, imageHeader)
	if _, err := m.file.ReadAt(header, 0); err != nil {
		return fmt.Errorf("%w: %w", errImage, err)
	}
	m.order = binary.LittleEndian
	if binary.BigEndian.Uint32(header) == imageMagic {
		m.order = binary.BigEndian
	}
	length, locations, names := int64(m.order.Uint32(header[16:])), int64(m.order.Uint32(header[20:])), int64(m.order.Uint32(header[24:]))
	m.base = imageHeader + 8*length + locations + names
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	if length == 0 || m.base > info.Size() {
		return fmt.Errorf("%w: an index of %d bytes in a file of %d", errImage, m.base, info.Size())
	}
	index := make([]byte, m.base-imageHeader)
	if _, err := m.file.ReadAt(index, imageHeader); err != nil {
		return fmt.Errorf("%w: %w", errImage, err)
	}
	m.redirects, index = index[:4*length], index[4*length:]
	m.offsets, index = index[:4*length], index[4*length:]
	m.locations, m.names = index[:locations], index[locations:]
	return nil
}

// Close closes the file.
func (m *image) Close() error { return m.file.Close() }

// class implements source: the package's module first, then the class in it.
func (m *image) class(name string, _ *jar.Codec) ([]byte, error) {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return nil, nil // no module has the unnamed package
	}
	modules, err := m.resource("/packages/" + strings.ReplaceAll(name[:slash], "/", "."))
	if err != nil || modules == nil {
		return nil, err
	}
	for ; len(modules) >= 8; modules = modules[8:] {
		if m.order.Uint32(modules) != 0 {
			continue // the module has the package without classes
		}
		module := m.name(uint64(m.order.Uint32(modules[4:])))
		return m.resource("/" + module + "/" + name + ".class")
	}
	return nil, nil
}

func imageHash(path string, seed uint32) uint32 {
	for i := 0; i < len(path); i++ {
		seed = seed*imageSeed ^ uint32(path[i])
	}
	return seed & 0x7FFFFFFF
}

// resource gives the content of a resource, nil if there is none of that path.
func (m *image) resource(path string) ([]byte, error) {
	length := uint32(len(m.offsets) / 4)
	bucket := imageHash(path, imageSeed) % length
	redirect := int32(m.order.Uint32(m.redirects[4*bucket:]))
	switch {
	case redirect > 0:
		bucket = imageHash(path, uint32(redirect)) % length
	case redirect < 0:
		bucket = uint32(-1 - redirect)
	default:
		return nil, nil
	}
	if bucket >= length {
		return nil, fmt.Errorf("%w: bucket %d of %d", errImage, bucket, length)
	}
	at, ok := m.location(m.order.Uint32(m.offsets[4*bucket:]))
	if !ok || m.path(at) != path {
		return nil, nil
	}
	size := at[imageSize]
	if at[imageCompressed] != 0 {
		size = at[imageCompressed]
	}
	info, err := m.file.Stat()
	if err != nil {
		return nil, err
	}
	if end := uint64(info.Size()); at[imageOffset] > end || size > end {
		return nil, fmt.Errorf("%w: %s runs past the end", errImage, path)
	}
	data := make([]byte, size)
	if _, err = m.file.ReadAt(data, m.base+int64(at[imageOffset])); err == nil && at[imageCompressed] != 0 {
		data, err = m.unpack(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// location reads the attributes of one location.
func (m *image) location(offset uint32) (at [imageAttributes]uint64, ok bool) {
	if uint64(offset) > uint64(len(m.locations)) {
		return at, false
	}
	for b := m.locations[offset:]; len(b) > 0; {
		kind, size := b[0]>>3, int(b[0]&7)+1
		if kind == 0 {
			return at, true
		}
		if int(kind) >= len(at) || len(b) < 1+size {
			return at, false
		}
		value := uint64(0)
		for _, digit := range b[1 : 1+size] {
			value = value<<8 | uint64(digit)
		}
		at[kind] = value
		b = b[1+size:]
	}
	return at, false
}

// path puts a resource's path together.
func (m *image) path(at [imageAttributes]uint64) string {
	path := ""
	if module := m.name(at[imageModule]); module != "" {
		path = "/" + module + "/"
	}
	if parent := m.name(at[imageParent]); parent != "" {
		path += parent + "/"
	}
	path += m.name(at[imageBase])
	if extension := m.name(at[imageExtension]); extension != "" {
		path += "." + extension
	}
	return path
}

func (m *image) name(offset uint64) string {
	if offset >= uint64(len(m.names)) {
		return ""
	}
	text, _, _ := bytes.Cut(m.names[offset:], []byte{0})
	return string(text)
}
