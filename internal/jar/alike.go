package jar

import (
	"bytes"
	"hash/crc32"
	"slices"
)

// A class that got constants begins as it did before, but for their number: two bytes. These are more than half of its
// bytes, as constants are names, so that it need not be deflated anew. The output is
//
//   - a block of the fixed codes with everything up to the number of constants;
//   - the blocks of the original from there on, bit by bit, as far as both classes have the same bytes. None of their
//     matches may refer to the number. What is copied ends at a mark of the layout, and then the symbol follows that
//     ends the block;
//   - a last block with the rest, which the deflater makes.

// Inflated is data of an entry. Codec.CompressLike can compress what is nearly the same by it. The zero Inflated is no
// data.
type Inflated struct {
	Data   []byte // is not changed
	layout layout
}

// Clone returns a copy in memory of its own.
func (i *Inflated) Clone() *Inflated {
	l := i.layout
	l.blocks, l.marks = slices.Clone(l.blocks), slices.Clone(l.marks)
	return &Inflated{slices.Clone(i.Data), l}
}

// Inflate is [Codec.Read] into an Inflated, whose memory it uses.
func (c *Codec) Inflate(e *Entry, to *Inflated) error {
	data, err := c.readNoting(e, to.Data, &to.layout)
	if err == nil {
		to.Data = data
	}
	return err
}

// CompressLike is [Codec.Compress] for data that replace those of e, which were inflated to original. At LevelDefault
// it takes half of the time, if they begin with the same bytes. The compressed bytes depend on data, level, and the
// entry's compressed bytes. The error is one of a file that has become shorter, or that of Compress.
func (c *Codec) CompressLike(data []byte, e *Entry, original *Inflated, level Level) (p Packed, err error) {
	if level != LevelDefault || e.Method != Deflated {
		return c.Compress(data, level)
	}
	out := c.buffer(0)
	like := false
	z, _ := c.likes.Get().(*deflater)
	if z == nil {
		z = new(deflater)
	}
	if fault := e.archive.Guard(func() { out.b, like = z.like(out.b, data, e.Raw(), original) }); fault != nil {
		return Packed{}, fault
	}
	z.bitWriter = bitWriter{}
	c.likes.Put(z)
	if !like {
		c.buffers.Put(out)
		return c.Compress(data, level)
	}
	sum := crc32.ChecksumIEEE(data)
	return Packed{Data: out.b, Size: uint64(len(data)), CRC32: sum, Method: Deflated, buffer: out}, nil
}

// like deflates data into the memory of out, with what it has in common with the original data, which raw inflates to.
// It returns false if that is not worth while, or if something is unusual.
func (z *deflater) like(out, data, raw []byte, original *Inflated) ([]byte, bool) {
	l := &original.layout
	if len(original.Data) < changingEnd || len(data) < changingEnd || len(data) > maxLaidOut ||
		!bytes.Equal(original.Data[:changing], data[:changing]) {
		return out, false
	}
	same := changingEnd + samePrefix(original.Data[changingEnd:], data[changingEnd:])
	m, in, ok := l.lastMark(min(same, l.uses))
	if !ok || len(data)-int(m.at) > maxDeflated || l.blockEnd(in) > 8*len(raw) {
		return out, false
	}
	z.search(data, int(m.at))
	// No symbol of the rest has more than twice the bits of the bytes that it stands for, and the codes have less than
	// 600 bytes.
	room := len(raw) + 2*(len(data)-int(m.at)) + 1024
	out = slices.Grow(out[:0], room)
	z.bitWriter = bitWriter{out: out[:room]}
	z.begin(data[:changingEnd])
	first, second := int(l.marks[0].bit), int(l.marks[1].bit)
	z.add(0, 1) // it is not the last block, even if the original is
	z.copy(raw, l.blocks[0].bit+1, first)
	if start := l.blocks[in].bit; in > 0 {
		z.copy(raw, second, start)
		z.add(0, 1)
		second = start + 1
	}
	z.copy(raw, second, int(m.bit))
	end := l.blockEnd(in)
	z.copy(raw, end-int(l.blocks[in].endOfBlock), end)
	z.block(data[m.at:])
	return z.finish(), true
}

// begin writes a block of literals with the fixed codes (RFC 1951 3.2.6).
func (z *deflater) begin(data []byte) {
	z.add(1<<1, 3)
	for _, b := range data {
		z.word(fixedWords[b])
		z.flush()
	}
	z.word(fixedWords[endOfBlock])
	z.flush()
}

// fixedWords are the fixed codes of literals, and of the end of a block.
var fixedWords = func() (words [288]codeWord) {
	var d decoder
	d.fixed()
	assignCodes(d.lengths[:288], words[:])
	return words
}()
