package zipfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Level is a compression level. The zero value is LevelDefault.
type Level int

// The levels, as the command line names them.
const (
	LevelDefault Level = iota // about the size of zlib's level 6, which other tools use
	LevelStore                // not compressed
	LevelFast                 // 7 % bigger than the default for classes, in two thirds of the time
	LevelBest                 // 1 % smaller than the default, in four times the time
	levelCount
)

// String returns the level's name on the command line.
func (l Level) String() string {
	if l < 0 || l >= levelCount {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return [levelCount]string{"default", "store", "fast", "best"}[l]
}

// flateLevel translates into the numbers of package flate.
func (l Level) flateLevel() int {
	return [levelCount]int{LevelDefault: 6, LevelStore: 0, LevelFast: 1, LevelBest: 9}[l]
}

// maxExpansion is the greatest number of bytes to which one byte of deflate data can inflate: two bits can encode a
// copy of 258 bytes (RFC 1951 3.2.5).
const maxExpansion = 1032

// maxRead is the inflated size in bytes of the biggest entry that is read. It limits nested archives; classes are
// far smaller.
const maxRead = math.MaxInt32

// A buffer of the declared inflated size is allocated at once if this size is at most trustedSize bytes or at most
// plausibleExpansion times the compressed size. Otherwise package flate inflates, into a buffer that grows with the
// data.
const (
	trustedSize        = 1 << 20
	plausibleExpansion = 16
)

// Codec inflates and deflates entries. It keeps inflaters and deflaters, which are bigger than most entries, for
// later calls. Make one Codec for all goroutines of a run; the zero value is ready for use. It must not be copied.
type Codec struct {
	inflaters sync.Pool
	deflaters [levelCount]sync.Pool
	likes     sync.Pool // of deflaters for CompressLike
	buffers   sync.Pool
}

// Packed is data ready to be written as an entry by Writer.Replace or Writer.Add.
type Packed struct {
	Data   []byte // as it is written to the archive
	Size   uint64 // inflated, in bytes
	CRC32  uint32 // of the inflated data
	Method uint16 // Stored or Deflated

	buffer *buffer // the Codec's memory that holds Data, else nil
}

// buffer is an io.Writer that appends to a slice.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// Read returns the inflated data of e, checked against its declared size and CRC. The result uses the memory of buf
// if that is big enough, else new memory; it belongs to the caller. The error is an *Error. It wraps ErrUnsupported
// for an encrypted entry or an unknown compression method, and ErrFormat for a damaged entry.
func (c *Codec) Read(e *Entry, buf []byte) ([]byte, error) { return c.readNoting(e, buf, nil) }

// readNoting is Read, which notes the tokens of the data, unless tokens is nil.
func (c *Codec) readNoting(e *Entry, buf []byte, tokens *[]token) (_ []byte, err error) {
	if err := e.readable(); err != nil {
		return nil, err
	}
	if fault := e.archive.Guard(func() { buf, err = c.read(e, buf, tokens) }); fault != nil {
		return nil, fault
	}
	return buf, err
}

// read is Read for an entry that is readable, of an archive that is guarded.
func (c *Codec) read(e *Entry, buf []byte, tokens *[]token) (_ []byte, err error) {
	if e.Method == Stored {
		buf = append(buf[:0], e.Raw()...)
		if tokens != nil {
			*tokens = (*tokens)[:0]
		}
	} else if buf, err = c.inflate(e, buf, tokens); err != nil {
		return nil, err
	}
	if err := e.checkCRC(buf); err != nil {
		return nil, err
	}
	return buf, nil
}

// View is [Codec.Read] for an entry that is worked on as a whole, such as a nested archive: what is stored is not
// copied. The result must not be changed, nor used after the Archive was closed.
func (c *Codec) View(e *Entry) (_ []byte, err error) {
	if e.Method != Stored || e.readable() != nil {
		return c.Read(e, nil)
	}
	if fault := e.archive.Guard(func() { err = e.checkCRC(e.Raw()) }); fault != nil {
		return nil, fault
	}
	return e.Raw(), err
}

func (e *Entry) checkCRC(data []byte) error {
	if sum := crc32.ChecksumIEEE(data); sum != e.CRC32 {
		return e.errorf(ErrFormat, e.data, "CRC of the data is %08x, declared %08x; the entry is damaged",
			sum, e.CRC32)
	}
	return nil
}

// readable returns an error if e cannot be read, as far as its headers show that. If it returns nil, e.Size is at
// most maxRead, and not more than the compressed data can inflate to.
func (e *Entry) readable() error {
	if e.bad != nil {
		return e.bad
	}
	switch {
	case e.Flags&flagEncrypted != 0:
		return e.errorf(ErrUnsupported, e.head, "it is encrypted")
	case e.Method == Stored:
		if e.Size != e.CompressedSize {
			return e.errorf(ErrFormat, e.data, "stored with %d bytes, declared %d", e.CompressedSize, e.Size)
		}
	case e.Method != Deflated:
		return e.errorf(ErrUnsupported, e.head, "compression method %d", e.Method)
	case e.Size/maxExpansion > e.CompressedSize:
		return e.errorf(ErrFormat, e.data, "%d bytes cannot inflate to the declared %d", e.CompressedSize, e.Size)
	}
	if e.Size > maxRead {
		return e.errorf(ErrUnsupported, e.head, "its inflated size of %d bytes is above the limit of %d",
			e.Size, maxRead)
	}
	return nil
}

// inflate returns the inflated data of e, in the memory of buf if that is big enough. Its length is the declared
// size. Like the JDK, inflate accepts data behind the end of the deflate stream: size and CRC show that the stream
// itself is complete.
func (c *Codec) inflate(e *Entry, buf []byte, tokens *[]token) ([]byte, error) {
	z, _ := c.inflaters.Get().(*decoder)
	if z == nil {
		z = new(decoder)
	}
	defer c.inflaters.Put(z)
	if size := int(e.Size); size <= max(trustedSize, plausibleExpansion*len(e.Raw())) {
		if cap(buf) < size {
			buf = make([]byte, size, size+slack)
		}
		if z.inflate(buf[:cap(buf)], size, e.Raw(), tokens) {
			return buf[:size], nil
		}
	}
	if tokens != nil {
		*tokens = (*tokens)[:0]
	}
	source := bytes.NewReader(e.Raw())
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(source), int64(e.Size)+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || err == nil && len(data) < int(e.Size):
		err = fmt.Errorf("data ends after %d of the declared %d bytes", len(data), e.Size)
	case err == nil && len(data) > int(e.Size):
		err = fmt.Errorf("data inflates to more than the declared %d bytes", e.Size)
	}
	if err != nil {
		at := e.data + int64(e.CompressedSize) - int64(source.Len())
		return nil, e.errorf(ErrFormat, at, "inflate: %w", err)
	}
	return data, nil
}

// Compress returns data compressed at that level. With LevelStore the result is a view of data, so that data must
// not change before it is written; else it is memory of the Codec, to which Recycle can return it. The compressed
// bytes depend on data and level alone.
func (c *Codec) Compress(data []byte, level Level) (Packed, error) {
	if level < 0 || level >= levelCount {
		return Packed{}, fmt.Errorf("compress: no such level: %v", level)
	}
	p := Packed{Size: uint64(len(data)), CRC32: crc32.ChecksumIEEE(data)}
	if level == LevelStore {
		p.Data, p.Method = data, Stored
		return p, nil
	}
	out := c.buffer(len(data)/2 + 64)
	z, _ := c.deflaters[level].Get().(*flate.Writer)
	if z == nil {
		var err error
		if z, err = flate.NewWriter(out, level.flateLevel()); err != nil {
			return Packed{}, fmt.Errorf("compress: %w", err)
		}
	} else {
		z.Reset(out)
	}
	if _, err := z.Write(data); err != nil {
		return Packed{}, fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return Packed{}, fmt.Errorf("compress: %w", err)
	}
	c.deflaters[level].Put(z)
	p.Data, p.Method, p.buffer = out.b, Deflated, out
	return p, nil
}

// Keep returns p with data that is memory of the Codec: what Compress has made it of may change then.
func (c *Codec) Keep(p Packed) Packed {
	if p.buffer == nil {
		p.buffer = c.buffer(len(p.Data))
		p.buffer.b = append(p.buffer.b, p.Data...)
		p.Data = p.buffer.b
	}
	return p
}

// buffer returns an empty buffer; a new one has room for size bytes.
func (c *Codec) buffer(size int) *buffer {
	if b, ok := c.buffers.Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, 0, size)}
}

// Recycle returns the memory of p to the Codec, which must have made p. P must not be used afterwards.
func (c *Codec) Recycle(p Packed) {
	if p.buffer != nil {
		p.buffer.b = p.buffer.b[:0]
		c.buffers.Put(p.buffer)
	}
}
