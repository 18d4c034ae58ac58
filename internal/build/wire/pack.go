// Package wire packs values into bytes, and puts such content into files. A [Packer] writes numbers and texts one
// behind the other, each text once. An [Unpacker] reads them; it fails on damaged content, and never panics or
// allocates more than the size of the content allows. A [Sealed] file says which tool wrote it with which options, and
// ends in a checksum.
package wire

import (
	"encoding/binary"
	"math"
	"unsafe"
)

func appendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// Packer writes numbers and texts. A text is written as its number in a table of texts, with which the content begins.
type Packer struct {
	data  []byte
	texts map[string]int
	order []string
}

// NewPacker returns an empty Packer.
func NewPacker() *Packer { return &Packer{texts: map[string]int{"": 0}, order: []string{""}} }

// Uvarint writes a number.
func (p *Packer) Uvarint(v uint64) { p.data = appendUvarint(p.data, v) }

// Int writes a number that is not negative.
func (p *Packer) Int(v int) { p.Uvarint(uint64(v)) }

// Signed writes a number that may be negative.
func (p *Packer) Signed(v int64) { p.data = binary.AppendVarint(p.data, v) }

// Raw writes bytes as they are, without their number.
func (p *Packer) Raw(b ...byte) { p.data = append(p.data, b...) }

// Text writes a text, as its number in the table.
func (p *Packer) Text(s string) {
	i, known := p.texts[s]
	if !known {
		i = len(p.order)
		p.texts[s] = i
		p.order = append(p.order, s)
	}
	p.Int(i)
}

// Flags writes up to eight booleans as the bits of one byte.
func (p *Packer) Flags(flags ...bool) {
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	p.Raw(b)
}

// Len returns how many bytes were written, without the table.
func (p *Packer) Len() int { return len(p.data) }

// From returns what was written behind so many bytes, without the table. It is valid until the next write.
func (p *Packer) From(at int) []byte { return p.data[at:] }

// Bytes returns the table, and behind it what was written. The lengths of all texts stand before the texts, because
// each kind of data compresses best among its own.
func (p *Packer) Bytes() []byte {
	table := appendUvarint(nil, uint64(len(p.order)))
	for _, s := range p.order {
		table = appendUvarint(table, uint64(len(s)))
	}
	for _, s := range p.order {
		table = append(table, s...)
	}
	return append(table, p.data...)
}

// Unpacker reads what a Packer wrote. After the first fault it returns zeros, and Failed returns true.
type Unpacker struct {
	data   []byte
	texts  []string
	failed bool
}

// NewUnpacker returns an Unpacker that has read the table of texts. The texts share memory with a copy of the table.
func NewUnpacker(data []byte) *Unpacker {
	return unpackerOf(data, func(texts []byte) string { return string(texts) })
}

// NewSharingUnpacker is NewUnpacker without the copy: the texts share memory with the data, which must never change. It
// is for data of which most is texts.
func NewSharingUnpacker(data []byte) *Unpacker {
	return unpackerOf(data, func(texts []byte) string { return unsafe.String(unsafe.SliceData(texts), len(texts)) })
}

func unpackerOf(data []byte, textOf func([]byte) string) *Unpacker {
	u := &Unpacker{data: data}
	n, total := u.Count(1), 0
	lengths := *u // to be read again, when their sum is known to be all right
	for range n {
		length := u.Int()
		if length > len(u.data)-total {
			u.Fail()
			return u
		}
		total += length
	}
	if total > len(u.data) {
		u.Fail()
		return u
	}
	all := textOf(u.data[:total])
	u.data = u.data[total:]
	u.texts = make([]string, n)
	for i := range u.texts {
		length := lengths.Int()
		u.texts[i], all = all[:length], all[length:]
	}
	return u
}

// Failed reports whether a fault was found.
func (u *Unpacker) Failed() bool { return u.failed }

// Fail notes a fault that the caller found in the content.
func (u *Unpacker) Fail() { u.failed, u.data = true, nil }

// Uvarint reads a number.
func (u *Unpacker) Uvarint() uint64 {
	if len(u.data) > 0 && u.data[0] < 0x80 { // as nearly all are
		v := u.data[0]
		u.data = u.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(u.data)
	if n <= 0 {
		u.Fail()
		return 0
	}
	u.data = u.data[n:]
	return v
}

// Int reads a number that is not negative and fits 31 bits.
func (u *Unpacker) Int() int {
	v := u.Uvarint()
	if v > math.MaxInt32 {
		u.Fail()
		return 0
	}
	return int(v)
}

// Signed reads a number that may be negative.
func (u *Unpacker) Signed() int {
	v, n := binary.Varint(u.data)
	if n <= 0 || v > math.MaxInt32 || v < math.MinInt32 {
		u.Fail()
		return 0
	}
	u.data = u.data[n:]
	return int(v)
}

// Count reads the number of things that follow, of at least so many bytes each.
func (u *Unpacker) Count(size int) int {
	n := u.Int()
	if n > len(u.data)/size {
		u.Fail()
		return 0
	}
	return n
}

// Raw reads n bytes, which share memory with the content.
func (u *Unpacker) Raw(n int) []byte {
	if n > len(u.data) {
		u.Fail()
		return make([]byte, min(n, 64)) // for fixed sizes; all others are counted first
	}
	b := u.data[:n:n]
	u.data = u.data[n:]
	return b
}

// Text reads a text.
func (u *Unpacker) Text() string { return u.TextOf(u.TextNumber()) }

// TextNumber reads the number that a text has in the table. Equal texts have equal numbers; that of "" is 0.
func (u *Unpacker) TextNumber() int {
	i := u.Int()
	if i >= len(u.texts) {
		u.Fail()
		return 0
	}
	return i
}

// TextOf returns the text of a number that TextNumber returned.
func (u *Unpacker) TextOf(number int) string {
	if u.failed {
		return ""
	}
	return u.texts[number]
}

// Flags sets each of the booleans from its bit; bits that have no meaning are a fault.
func (u *Unpacker) Flags(flags ...*bool) {
	b := u.Raw(1)[0]
	for i, f := range flags {
		*f = b&(1<<i) != 0
	}
	if len(flags) < 8 && b>>len(flags) != 0 {
		u.Fail()
	}
}

// Below reads a number that has to be smaller than n.
func (u *Unpacker) Below(n int) int {
	v := u.Int()
	if v >= n {
		u.Fail()
		return 0
	}
	return v
}

// IndexFrom reads how far behind from an index of a class file's table is.
func (u *Unpacker) IndexFrom(from int) uint16 {
	i := from + u.Int()
	if i > math.MaxUint16 {
		u.Fail()
		return 0
	}
	return uint16(i)
}

// End reports whether all was read, without a fault.
func (u *Unpacker) End() bool { return !u.failed && len(u.data) == 0 }
