package jar

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
	out := c.buffer(0)
	var like bool
	out.b, like = z.like(out.b, data, original)
	z.bitWriter = bitWriter{}
	c.likes.Put(z)
	if !like {
		c.buffers.Put(out)
		return c.Compress(data, level)
	}
	sum := crc32.ChecksumIEEE(data)
	return Packed{Data: out.b, Size: uint64(len(data)), CRC32: sum, Method: Deflated, buffer: out}, nil
}

// like deflates data into the memory of out, with the tokens of what it has in common with the original. It returns
// false if that is not worth while.
func (z *deflater) like(out, data []byte, original *Inflated) ([]byte, bool) {
	if len(original.tokens) == 0 || len(data) < changingEnd || len(original.Data) < changingEnd ||
		len(data) > maxDeflated || !bytes.Equal(original.Data[:changing], data[:changing]) {
		return out, false
	}
	same := changingEnd + samePrefix(original.Data[changingEnd:], data[changingEnd:])
	z.start()
	z.take(data, same, original.tokens)
	z.search(data, same)
	// No symbol has more than twice the bits of the bytes that it stands for, and the codes have less than 600 bytes.
	room := 2*len(data) + 1024
	out = slices.Grow(out[:0], room)
	z.bitWriter = bitWriter{out: out[:room]}
	z.block(data)
	return z.finish(), true
}
