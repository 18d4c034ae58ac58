package pipeline

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/tracegen/tracegen/filter"
)

func appendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// packer writes numbers, and texts as numbers into a table of them, that the file begins with.
type packer struct {
	data  []byte
	texts map[string]int
	order []string
}

func newPacker() *packer { return &packer{texts: map[string]int{"": 0}, order: []string{""}} }

func (p *packer) uvarint(v uint64) { p.data = appendUvarint(p.data, v) }
func (p *packer) int(v int)        { p.uvarint(uint64(v)) }
func (p *packer) signed(v int64)   { p.data = binary.AppendVarint(p.data, v) }
func (p *packer) raw(b ...byte)    { p.data = append(p.data, b...) }

func (p *packer) text(s string) {
	i, known := p.texts[s]
	if !known {
		i = len(p.order)
		p.texts[s] = i
		p.order = append(p.order, s)
	}
	p.int(i)
}

func (p *packer) flags(flags ...bool) {
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	p.raw(b)
}

// bytes gives the table and behind it what was written. The lengths of texts come before all of the texts: each
// kind of data compresses best among its own.
func (p *packer) bytes() []byte {
	table := appendUvarint(nil, uint64(len(p.order)))
	for _, s := range p.order {
		table = appendUvarint(table, uint64(len(s)))
	}
	for _, s := range p.order {
		table = append(table, s...)
	}
	return append(table, p.data...)
}

// unpacker reads what a packer wrote. After the first fault it gives zeros, and failed is true.
type unpacker struct {
	data   []byte
	texts  []string
	failed bool

	decisions map[[3]int]*filter.Decision // by the numbers of their texts; see readShared
}

// newUnpacker reads the table. Texts share memory with a copy of theirs.
func newUnpacker(data []byte) *unpacker {
	return unpackerOf(data, func(texts []byte) string { return string(texts) })
}

// newSharingUnpacker is newUnpacker for data that never changes, and of which most is texts: they share its memory.
func newSharingUnpacker(data []byte) *unpacker {
	return unpackerOf(data, func(texts []byte) string { return unsafe.String(unsafe.SliceData(texts), len(texts)) })
}

func unpackerOf(data []byte, textOf func([]byte) string) *unpacker {
	u := &unpacker{data: data}
	n, total := u.count(1), 0
	lengths := *u // to be read again, when their sum is known to be all right
	for range n {
		length := u.int()
		if length > len(u.data)-total {
			u.fail()
			return u
		}
		total += length
	}
	if total > len(u.data) {
		u.fail()
		return u
	}
	all := textOf(u.data[:total])
	u.data = u.data[total:]
	u.texts = make([]string, n)
	for i := range u.texts {
		length := lengths.int()
		u.texts[i], all = all[:length], all[length:]
	}
	return u
}

func (u *unpacker) fail() { u.failed, u.data = true, nil }

func (u *unpacker) uvarint() uint64 {
	if len(u.data) > 0 && u.data[0] < 0x80 { // as nearly all are
		v := u.data[0]
		u.data = u.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(u.data)
	if n <= 0 {
		u.fail()
		return 0
	}
	u.data = u.data[n:]
	return v
}

// int reads a number that is none of bytes in memory: it fits a file's size.
func (u *unpacker) int() int {
	v := u.uvarint()
	if v > math.MaxInt32 {
		u.fail()
		return 0
	}
	return int(v)
}

// signed reads a number that may be negative.
func (u *unpacker) signed() int {
	v, n := binary.Varint(u.data)
	if n <= 0 || v > math.MaxInt32 || v < math.MinInt32 {
		u.fail()
		return 0
	}
	u.data = u.data[n:]
	return int(v)
}

// count reads the number of things that follow, of at least so many bytes each.
func (u *unpacker) count(size int) int {
	n := u.int()
	if n > len(u.data)/size {
		u.fail()
		return 0
	}
	return n
}

func (u *unpacker) raw(n int) []byte {
	if n > len(u.data) {
		u.fail()
		return make([]byte, min(n, 64)) // for fixed sizes; all others are counted first
	}
	b := u.data[:n:n]
	u.data = u.data[n:]
	return b
}

func (u *unpacker) text() string {
	i := u.int()
	if i >= len(u.texts) {
		u.fail()
		return ""
	}
	return u.texts[i]
}

// flags sets each of the booleans from its bit; bits that have no meaning are a fault.
func (u *unpacker) flags(flags ...*bool) {
	b := u.raw(1)[0]
	for i, f := range flags {
		*f = b&(1<<i) != 0
	}
	if len(flags) < 8 && b>>len(flags) != 0 {
		u.fail()
	}
}

// below reads a number that has to be smaller than n.
func (u *unpacker) below(n int) int {
	v := u.int()
	if v >= n {
		u.fail()
		return 0
	}
	return v
}

// indexFrom reads how far behind from an index of a class file's table is.
func (u *unpacker) indexFrom(from int) uint16 {
	i := from + u.int()
	if i > math.MaxUint16 {
		u.fail()
		return 0
	}
	return uint16(i)
}

// end says whether all was read, and well.
func (u *unpacker) end() bool { return !u.failed && len(u.data) == 0 }
