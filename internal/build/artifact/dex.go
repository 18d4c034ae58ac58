package artifact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/mapping/r8"
)

// errDex is what all errors about a dex file wrap.
var errDex = errors.New("not a dex file that can be read")

// dexHeader is the size of the header, and of the smallest dex file.
const dexHeader = 0x70

// namesPerByte bounds the bytes of all names that are read from a dex file, per byte of the file: in a file that is
// made for it, every method may have the same long name.
const namesPerByte = 16

// dex is a dex file, of which only the tables are read that say which methods it names and which it defines.
type dex struct {
	data                             string
	strings, types, protos, methods  section
	classes                          section
	defined                          []bool // by the number of a method in methods
	definitions, names, highestNames int
}

// section is a table of a dex file.
type section struct{ at, count int }

// parseDex reads the header and the class definitions of a dex file, by Android's document "Dalvik executable format".
func parseDex(data string) (*dex, error) {
	if len(data) < dexHeader || !strings.HasPrefix(data, "dex\n") || data[7] != 0 {
		return nil, fmt.Errorf("%w: it does not begin as one", errDex)
	}
	if version := data[4:7]; version < "035" || version > "040" {
		return nil, fmt.Errorf("%w: version %q", errDex, version)
	}
	d := &dex{data: data, highestNames: namesPerByte * len(data)}
	for _, s := range []struct {
		to           *section
		header, size int
	}{{&d.strings, 0x38, 4}, {&d.types, 0x40, 4}, {&d.protos, 0x48, 12}, {&d.methods, 0x58, 8}, {&d.classes, 0x60, 32}} {
		count, at := int64(d.u32(s.header)), int64(d.u32(s.header+4))
		if at+count*int64(s.size) > int64(len(data)) {
			return nil, fmt.Errorf("%w: the table at %#x is beyond its end", errDex, at)
		}
		*s.to = section{int(at), int(count)}
	}
	d.defined = make([]bool, d.methods.count)
	for i := range d.classes.count {
		if at := int(d.u32(d.classes.at + 32*i + 24)); at != 0 {
			if err := d.define(at); err != nil {
				return nil, fmt.Errorf("%w: class %d: %w", errDex, i, err)
			}
		}
	}
	return d, nil
}

// define notes the methods that a class_data_item defines. A method is defined once, so that all of them together take
// no more time than there are methods.
func (d *dex) define(at int) error {
	var sizes [4]int // static fields, instance fields, direct methods, virtual methods
	r := reader{data: d.data, at: at}
	for i := range sizes {
		sizes[i] = r.uleb128()
	}
	fields := sizes[0] + sizes[1]
	// A field takes two bytes at least. Fields are skipped, and counted against the methods' bound by their bytes.
	if d.definitions += fields; d.definitions > len(d.data) {
		return errors.New("more fields than the file can have")
	}
	for range fields {
		r.uleb128()
		r.uleb128()
		if r.short {
			return errors.New("it ends within a class")
		}
	}
	for _, count := range sizes[2:] {
		method := 0
		for range count {
			method += r.uleb128()
			r.uleb128() // access flags
			r.uleb128() // code
			switch {
			case r.short:
				return errors.New("it ends within a class")
			case method >= len(d.defined) || d.defined[method]:
				return fmt.Errorf("method %d does not exist, or is defined twice", method)
			}
			d.defined[method] = true
		}
	}
	return nil
}

// count returns the number of methods that are defined.
func (d *dex) count() int {
	n := 0
	for _, is := range d.defined {
		if is {
			n++
		}
	}
	return n
}

// method returns the names of a method.
func (d *dex) method(i int) (r8.Method, error) {
	at := d.methods.at + 8*i
	class, err1 := d.typeName(int(d.u16(at)))
	descriptor, err2 := d.descriptor(int(d.u16(at + 2)))
	name, err3 := d.text(int(d.u32(at + 4)))
	if err := errors.Join(err1, err2, err3); err != nil {
		return r8.Method{}, fmt.Errorf("%w: method %d: %w", errDex, i, err)
	}
	return r8.Method{Class: strings.TrimSuffix(strings.TrimPrefix(class, "L"), ";"), Name: name,
		Descriptor: descriptor}, nil
}

// descriptor returns the descriptor of a proto_id_item.
func (d *dex) descriptor(i int) (string, error) {
	if i >= d.protos.count {
		return "", fmt.Errorf("there is no prototype %d", i)
	}
	at := d.protos.at + 12*i
	result, err := d.typeName(int(d.u32(at + 4)))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteByte('(')
	if list := int(d.u32(at + 8)); list != 0 {
		if list+4 > len(d.data) || list+4+2*int(d.u32(list)) > len(d.data) {
			return "", fmt.Errorf("the parameters at %#x are beyond its end", list)
		}
		for k := range int(d.u32(list)) {
			parameter, err := d.typeName(int(d.u16(list + 4 + 2*k)))
			if err != nil {
				return "", err
			}
			b.WriteString(parameter)
		}
	}
	b.WriteByte(')')
	b.WriteString(result)
	return b.String(), nil
}

func (d *dex) typeName(i int) (string, error) {
	if i >= d.types.count {
		return "", fmt.Errorf("there is no type %d", i)
	}
	return d.text(int(d.u32(d.types.at + 4*i)))
}

// text returns a string of the table of strings, in modified UTF-8.
func (d *dex) text(i int) (string, error) {
	if i >= d.strings.count {
		return "", fmt.Errorf("there is no string %d", i)
	}
	r := reader{data: d.data, at: int(d.u32(d.strings.at + 4*i))}
	r.uleb128() // its length in UTF-16
	if r.short {
		return "", fmt.Errorf("string %d is beyond its end", i)
	}
	length := strings.IndexByte(d.data[r.at:], 0)
	if length < 0 {
		return "", fmt.Errorf("string %d has no end", i)
	}
	if d.names += length; d.names > d.highestNames {
		return "", errors.New("its names are longer than the file")
	}
	return d.data[r.at : r.at+length], nil
}

func (d *dex) u16(at int) uint16 { return binary.LittleEndian.Uint16([]byte(d.data[at : at+2])) }

func (d *dex) u32(at int) uint32 { return binary.LittleEndian.Uint32([]byte(d.data[at : at+4])) }

// reader reads numbers. Beyond the end they are 0, and short is set.
type reader struct {
	data  string
	at    int
	short bool
}

// bytes returns the next n bytes.
func (r *reader) bytes(n int) string {
	if n < 0 || r.at > len(r.data) || n > len(r.data)-r.at {
		r.short, r.at = true, len(r.data)
		return ""
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

// number returns the next number of n bytes, the lowest byte first.
func (r *reader) number(n int) int {
	value := 0
	for i, b := range []byte(r.bytes(n)) {
		value |= int(b) << (8 * i)
	}
	return value
}

// uleb128 returns the next number in LEB128 of at most five bytes. It is below 2³⁵.
func (r *reader) uleb128() int {
	value := 0
	for shift := 0; shift < 35; shift += 7 {
		b := r.number(1)
		value |= b & 0x7F << shift
		if b < 0x80 {
			break
		}
	}
	return value
}
