package classpath

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tracegen/tracegen/internal/zipfile"
)

// image is a lib/modules file, in which a JDK has its classes: a perfect hash table of resources. A resource is a
// class, /MODULE/PACKAGE/CLASS.class, or a package, /packages/PACKAGE, which lists its modules.
//
// To find a resource, its path is hashed with a fixed seed, and the hash selects an element of redirects. A positive
// element is a seed with which the path is hashed again, a negative one stands for the index itself, and 0 means that
// there is no such resource. The index selects an element of offsets, which leads to the location: attributes that hold
// the parts of the path and the place of the content. A path that does not exist may lead to a location, too, so that
// the path is compared.
//
// All numbers are in the byte order of the machine for which the image was made. Resources are compressed if jlink was
// asked to do so.
type image struct {
	file      *os.File
	unmap     func() error
	order     binary.ByteOrder
	redirects []byte // by hash: a seed, or an index
	offsets   []byte // by index: the offset of a location
	locations []byte // attributes
	names     []byte // NUL-terminated strings
	base      int64  // the offset of the resources' contents
	size      uint64 // of the file

	modules Recent[string, string] // by package; "" if no module has classes in it
}

const (
	imageMagic  = 0xCAFEDADA
	imageHeader = 28 // magic, version, flags, and four sizes
	imageSeed   = 0x01000193
)

// The kinds of attributes of a location. An attribute is a byte with its kind and length, and a big-endian number.
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

// isImage reports whether a file begins as an image does.
func isImage(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && (binary.LittleEndian.Uint32(magic[:]) == imageMagic ||
		binary.BigEndian.Uint32(magic[:]) == imageMagic)
}

var errImage = errors.New("malformed image of modules")

// openImage opens an image and reads its index.
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

// readIndex reads the header and the tables of the image.
func (m *image) readIndex() error {
	header := make([]byte, imageHeader)
	if _, err := m.file.ReadAt(header, 0); err != nil {
		return fmt.Errorf("%w: %w", errImage, err)
	}
	m.order = binary.LittleEndian
	if binary.BigEndian.Uint32(header) == imageMagic {
		m.order = binary.BigEndian
	}
	length, locations := int64(m.order.Uint32(header[16:])), int64(m.order.Uint32(header[20:]))
	names := int64(m.order.Uint32(header[24:]))
	m.base = imageHeader + 8*length + locations + names
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	if length == 0 || m.base > info.Size() {
		return fmt.Errorf("%w: an index of %d bytes in a file of %d", errImage, m.base, info.Size())
	}
	// The index of a JDK has 1.5 MB, of which a run over a few hundred classes needs little.
	index, unmap, err := zipfile.MapStart(m.file, int(m.base))
	if err != nil {
		return fmt.Errorf("%w: %w", errImage, err)
	}
	m.unmap, index = unmap, index[imageHeader:]
	m.size = uint64(info.Size())
	m.redirects, index = index[:4*length], index[4*length:]
	m.offsets, index = index[:4*length], index[4*length:]
	m.locations, m.names = index[:locations], index[locations:]
	return nil
}

// Close closes the file.
func (m *image) Close() error { return errors.Join(m.unmap(), m.file.Close()) }

// class implements container.
func (m *image) class(name string, _ *zipfile.Codec) (data []byte, err error) {
	if !zipfile.Guard(func() { data, err = m.find(name) }) {
		return nil, fmt.Errorf("%w: it was shortened while it was read", errImage)
	}
	return data, err
}

// find looks up the module of the class's package first, and then the class in that module.
func (m *image) find(name string) ([]byte, error) {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return nil, nil // no module has the unnamed package
	}
	module, err := m.moduleOf(name[:slash])
	if err != nil || module == "" {
		return nil, err
	}
	return m.resource("/" + module + "/" + name + ".class")
}

// moduleOf returns the name of the module that has classes in a package, "" if there is none.
func (m *image) moduleOf(inPackage string) (string, error) {
	if module, found := m.modules.Get(inPackage); found {
		return module, nil
	}
	modules, err := m.resource("/packages/" + strings.ReplaceAll(inPackage, "/", "."))
	if err != nil {
		return "", err
	}
	module := ""
	for ; len(modules) >= 8; modules = modules[8:] {
		if m.order.Uint32(modules) == 0 { // otherwise the module has the package, but no classes in it
			module = m.name(uint64(m.order.Uint32(modules[4:])))
			break
		}
	}
	m.modules.Put(strings.Clone(inPackage), module)
	return module, nil
}

// imageHash returns the hash of a path.
func imageHash(path string, seed uint32) uint32 {
	for i := 0; i < len(path); i++ {
		seed = seed*imageSeed ^ uint32(path[i])
	}
	return seed & 0x7FFFFFFF
}

// resource returns the content of the resource with that path, nil if there is none.
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
	if !ok || !m.isPath(at, path) {
		return nil, nil
	}
	size := at[imageSize]
	if at[imageCompressed] != 0 {
		size = at[imageCompressed]
	}
	if at[imageOffset] > m.size || size > m.size {
		return nil, fmt.Errorf("%w: %s runs past the end", errImage, path)
	}
	data := make([]byte, size)
	_, err := m.file.ReadAt(data, m.base+int64(at[imageOffset]))
	if err == nil && at[imageCompressed] != 0 {
		data, err = m.unpack(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// location decodes the attributes of one location.
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

// isPath reports whether a path names the resource at a location.
func (m *image) isPath(at [imageAttributes]uint64, path string) bool {
	cut := func(text string) (found bool) {
		path, found = strings.CutPrefix(path, text)
		return found
	}
	module, parent := m.text(at[imageModule]), m.text(at[imageParent])
	base, extension := m.text(at[imageBase]), m.text(at[imageExtension])
	return (len(module) == 0 || cut("/") && cut(string(module)) && cut("/")) &&
		(len(parent) == 0 || cut(string(parent)) && cut("/")) && cut(string(base)) &&
		(len(extension) == 0 || cut(".") && cut(string(extension))) && path == ""
}

// name returns the string at an offset.
func (m *image) name(offset uint64) string { return string(m.text(offset)) }

// text returns the bytes of the string at an offset.
func (m *image) text(offset uint64) []byte {
	if offset >= uint64(len(m.names)) {
		return nil
	}
	text, _, _ := bytes.Cut(m.names[offset:], []byte{0})
	return text
}
