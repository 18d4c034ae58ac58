package zipfile

import (
	"bytes"
	"hash/crc32"
	"slices"
)

// A class that got constants begins as it did before, but for their number: two bytes. These are more than half of its
// bytes, as constants are names. So the matches of the original are taken for them, and only the rest is searched.

// Inflated is data of an entry. Codec.CompressLike can compress what is nearly the same by it. The zero Inflated is no
// data.
type Inflated struct {
	Data   []byte // is not changed
	tokens []token
}

// Clone returns a copy in memory of its own.
func (i *Inflated) Clone() *Inflated {
	return &Inflated{slices.Clone(i.Data), slices.Clone(i.tokens)}
}

// Inflate is [Codec.Read] into an Inflated, whose memory it uses.
func (c *Codec) Inflate(e *Entry, to *Inflated) error {
	data, err := c.readNoting(e, to.Data, &to.tokens)
	if err == nil {
		to.Data = data
	}
	return err
}

// CompressLike is [Codec.Compress] for data that replace those of e, which were inflated to original. At LevelDefault
// it takes half of the time. The compressed bytes depend on data, level, and the compressed bytes of e.
func (c *Codec) CompressLike(data []byte, e *Entry, original *Inflated, level Level) (p Packed, err error) {
	if level != LevelDefault || e.Method != Deflated {
		return c.Compress(data, level)
	}
	z, _ := c.likes.Get().(*deflater)
	if z == nil {
		z = new(deflater)
	}
	packed, like := z.like(data, original)
	if !like {
		c.likes.Put(z)
		return c.Compress(data, level)
	}
	// Many results wait for the writer, and the deflater's memory has room for much more than each of them.
	out := c.buffer(len(packed))
	out.b = append(out.b, packed...)
	c.likes.Put(z)
	sum := crc32.ChecksumIEEE(data)
	return Packed{Data: out.b, Size: uint64(len(data)), CRC32: sum, Method: Deflated, buffer: out}, nil
}

// like deflates data, with the tokens of what it has in common with the original. The result is memory of the deflater,
// which the next call uses again. It returns false if that is not worth while.
func (z *deflater) like(data []byte, original *Inflated) ([]byte, bool) {
	if len(original.tokens) == 0 || len(data) < changingEnd || len(original.Data) < changingEnd ||
		len(data) > maxDeflated || !bytes.Equal(original.Data[:changing], data[:changing]) {
		return nil, false
	}
	same := changingEnd + samePrefix(original.Data[changingEnd:], data[changingEnd:])
	z.start()
	z.take(data, same, original.tokens)
	z.search(data, same)
	// No symbol has more than twice the bits of the bytes that it stands for, and the codes have less than 600 bytes.
	z.bitWriter = bitWriter{out: sized(z.out, 2*len(data)+1024)}
	z.block(data)
	return z.finish(), true
}

// sized returns n elements in the memory of s, or else in new memory. What they are does not matter. Unlike
// [slices.Grow], it does not touch the memory: the system backs only pages that are touched.
func sized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
