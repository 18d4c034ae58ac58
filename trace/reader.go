package trace

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

const (
	// Magic is what a recording begins with.
	Magic       = "TGD1"
	syncMark    = "TGCK"
	major       = 1
	headerSize  = 32
	chunkHeader = 20

	flagDeflate = 1
	flagDelta   = 2

	// maxPayload is the most that a chunk may hold, deflated or not; the runtime's are far below it.
	maxPayload = 16 << 20
	// deflateRatio is more than deflate can ever save.
	deflateRatio = 1040
	// readStep is how much is asked for at once. What a chunk's header says it holds is never taken on trust.
	readStep = 64 << 10
	// firstStep is how much is asked for at first: most recordings of a fleet are small, and there are many.
	firstStep = 4 << 10

	// A file full of chunks' beginnings would have everything after each of them summed up. Beyond so many
	// bytes, and so many for each good one, what does not fit the first time is passed over.
	wasteLimit  = 256 << 20
	wasteFactor = 2
)

// ErrFormat is wrapped by the errors that say that a file is no recording, or one of a version that this
// package does not know.
var ErrFormat = errors.New("not a recording that can be read")

// Damage is what a reader found wrong. The zero value is a recording that is whole so far.
type Damage struct {
	// LostChunks is how many chunks the numbers of the others say are missing.
	LostChunks uint64 `json:"lostChunks"`
	// Malformed is how many chunks came through whole and make no sense all the same.
	Malformed uint64 `json:"malformed"`
	// SkippedBytes is how many bytes belong to no whole chunk: damage, or a cut end.
	SkippedBytes uint64 `json:"skippedBytes"`
	// Unknown is how many chunks are of a type that this package does not know, which is no damage.
	Unknown uint64 `json:"unknown"`
	// Header is set if the file's header does not have the checksum that it says.
	Header bool `json:"header"`
	// Closed is set once the recording's end has come. A recording without one was cut or is still written,
	// and is good up to there.
	Closed bool `json:"closed"`
}

// Reader reads one recording from its begin to its end. It is not safe for several goroutines.
type Reader struct {
	source io.Reader
	buffer []byte // what was read and is not yet used
	start  int    // where in buffer
	ended  bool
	failed error // of source, but for its end
	damage Damage
	used   uint64 // bytes of whole chunks
	wasted uint64 // bytes of what looked like a chunk and was none
	next   uint64 // the number that the next chunk should have
	names  stringTable
	// stacks is set while it is known what the table of stacks has; wrongBefore is how many chunks were lost or malformed
	// when the table began.
	stacks      bool
	wrongBefore uint64
}

// NewReader reads a recording's header. The error wraps [ErrFormat] if there is none, or one of a version that
// is not known, and is the source's own if that fails.
func NewReader(source io.Reader) (*Reader, error) {
	r := &Reader{source: source, names: stringTable{map[uint64]string{}}}
	h := r.peek(headerSize)
	if r.failed != nil {
		return nil, r.failed
	}
	if len(h) == 0 {
		return nil, fmt.Errorf("%w: it is empty; the program ended before the recorder had written anything", ErrFormat)
	}
	if len(h) < headerSize || string(h[:4]) != Magic {
		return nil, fmt.Errorf("%w: it does not begin with the %d bytes of a recording's header", ErrFormat, headerSize)
	}
	r.damage.Header = crc32.ChecksumIEEE(h[:28]) != binary.LittleEndian.Uint32(h[28:])
	if version := binary.LittleEndian.Uint16(h[4:]); version != major {
		return nil, fmt.Errorf("%w: it is of version %d, this program reads version %d: use a newer one", ErrFormat,
			version, major)
	}
	size := int(min(binary.LittleEndian.Uint32(h[8:]), readStep))
	if r.damage.Header || size < headerSize {
		size = headerSize
	}
	r.start += min(size, len(r.peek(size)))
	return r, nil
}

// Damage returns what was found wrong up to the last call of Next.
func (r *Reader) Damage() Damage { return r.damage }

// Next returns the next chunk that is whole, and [io.EOF] behind the last one. Any other error is the source's:
// what is wrong with the bytes is no error but counted.
func (r *Reader) Next() (Chunk, error) {
	for {
		kind, flags, body, err := r.frame()
		if err != nil {
			return nil, err
		}
		if c := r.decode(kind, flags, body); c != nil {
			return c, nil
		}
	}
}

// decode returns nil for what is skipped.
func (r *Reader) decode(kind, flags uint16, body []byte) Chunk {
	decode, known := decoders[kind]
	if !known && kind != typeStrings {
		r.damage.Unknown++
		return nil
	}
	if flags&flagDeflate != 0 {
		var err error
		if body, err = inflate(body); err != nil {
			r.damage.Malformed++
			return nil
		}
	}
	p := &payload{rest: body, delta: flags&flagDelta != 0, names: &r.names}
	if kind == typeStrings {
		r.names.add(p)
		if p.err != nil {
			r.damage.Malformed++
		}
		return nil
	}
	c := decode(p)
	if p.err != nil {
		r.damage.Malformed++
		return nil
	}
	switch c := c.(type) {
	case *End:
		r.damage.Closed = true
	case *Stacks:
		r.follows(c)
	}
	return c
}

// inflate takes no more room than the bytes can be worth, whatever size they announce.
func inflate(body []byte) ([]byte, error) {
	if len(body) < 4 {
		return nil, errShort
	}
	size := binary.LittleEndian.Uint32(body)
	if size > maxPayload || uint64(size) > uint64(len(body))*deflateRatio {
		return nil, fmt.Errorf("%d bytes cannot become %d", len(body), size)
	}
	out := make([]byte, size)
	in := flate.NewReader(bytes.NewReader(body[4:]))
	if _, err := io.ReadFull(in, out); err != nil {
		return nil, err
	}
	if n, err := in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, errors.New("there is more than was announced")
	}
	return out, nil
}

// frame finds the next chunk with a checksum that is right.
func (r *Reader) frame() (kind, flags uint16, body []byte, err error) {
	for {
		h := r.peek(chunkHeader)
		if len(h) < chunkHeader {
			r.skip(len(h))
			return 0, 0, nil, r.end()
		}
		if string(h[:4]) != syncMark {
			r.resync()
			continue
		}
		size := int(binary.LittleEndian.Uint32(h[8:]))
		if size > maxPayload || r.wasted > wasteLimit+wasteFactor*r.used {
			r.skip(1)
			continue
		}
		// With the zeros behind it, as far as they are there: a cut may have taken them.
		whole := r.peek((chunkHeader + size + 3) &^ 3)
		if r.failed != nil {
			return 0, 0, nil, r.failed
		}
		padded := len(whole)
		whole = whole[:min(chunkHeader+size, padded)]
		if len(whole) < chunkHeader+size || checksum(whole) != binary.LittleEndian.Uint32(whole[16:]) {
			r.wasted += uint64(len(whole))
			r.skip(1)
			continue
		}
		r.count(binary.LittleEndian.Uint32(whole[12:]))
		r.start += padded
		r.used += uint64(padded)
		return binary.LittleEndian.Uint16(whole[4:]), binary.LittleEndian.Uint16(whole[6:]), whole[chunkHeader:], nil
	}
}

func checksum(chunk []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(chunk[4:16]), crc32.IEEETable, chunk[chunkHeader:])
}

// count compares a chunk's number with the one expected. One that is too small comes from elsewhere, and says nothing.
func (r *Reader) count(number uint32) {
	if n := uint64(number); n >= r.next {
		r.damage.LostChunks += n - r.next
		r.next = n + 1
	}
}

// resync skips to where a chunk may begin.
func (r *Reader) resync() {
	rest := r.buffer[r.start:]
	if at := bytes.Index(rest[1:], []byte(syncMark)); at >= 0 {
		r.skip(1 + at)
		return
	}
	// The mark may be cut by the end of what was read.
	r.skip(max(1, len(rest)-len(syncMark)+1))
}

func (r *Reader) skip(n int) {
	r.start += n
	r.damage.SkippedBytes += uint64(n)
}

func (r *Reader) end() error {
	if r.failed != nil {
		return r.failed
	}
	return io.EOF
}

// peek returns the next n bytes without using them up, fewer at the end. They are good until the next call.
func (r *Reader) peek(n int) []byte {
	for len(r.buffer)-r.start < n && !r.ended {
		r.read()
	}
	return r.buffer[r.start:min(len(r.buffer), r.start+n)]
}

// read gets some more bytes behind those that are there.
func (r *Reader) read() {
	if r.start > 0 {
		r.buffer = r.buffer[:copy(r.buffer, r.buffer[r.start:])]
		r.start = 0
	}
	had := len(r.buffer)
	step := min(readStep, max(firstStep, cap(r.buffer)))
	r.buffer = slices.Grow(r.buffer, step)[:had+step]
	n, err := io.ReadAtLeast(r.source, r.buffer[had:], 1)
	r.buffer = r.buffer[:had+n]
	if err != nil {
		r.ended = true
		if err != io.EOF {
			r.failed = err
		}
	}
}
