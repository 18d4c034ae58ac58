package zipfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// writeThrough is the number of bytes from which on data is written to the output directly and not copied to the
// Writer's buffer first.
const writeThrough = 64 << 10

// runPiece is the number of bytes of a run that are written at a time. What was written is released: a resource of
// gigabytes would else be in memory as a whole.
const runPiece = 4 << 20

// Writer writes an archive to an io.Writer, entry by entry in the order of its calls. It is for one goroutine.
// After an error, every further call returns that error.
type Writer struct {
	out  io.Writer
	err  error
	done bool

	// offset is the number of all bytes written so far, including those that have not reached out yet: first those
	// in buf, then those of the run. The run is a range of bytes of one archive. It grows as long as adjacent
	// entries are copied, so that they are written together.
	offset       int64
	buf          []byte
	header       []byte   // memory for the next local header
	run          *Archive // nil if there is no run
	runAt, runTo int64

	base          int64 // see Archive.base
	central       []byte
	count         uint64
	comment, tail []byte
}

// NewWriter returns a Writer to out. If from is not nil, the output also gets what from has besides its entries:
// the bytes in front (the script of a self-executing jar), the archive comment, the bytes behind the end. The
// archives whose entries are copied must stay open until Close has returned.
func NewWriter(out io.Writer, from *Archive) *Writer {
	w := &Writer{out: out, buf: make([]byte, 0, 2*writeThrough)}
	if from != nil {
		w.base, w.comment, w.tail = from.base, from.comment, from.tail
		w.central = make([]byte, 0, len(from.central)+1024)
		w.copyRange(from, 0, from.prefix)
	}
	return w
}

// Copy writes e unchanged: local header, compressed data and data descriptor byte for byte, and the central record
// with a new offset. E may belong to any archive.
func (w *Writer) Copy(e *Entry) error {
	at := w.offset - w.base
	w.copyRange(e.archive, e.head, e.end)
	w.record(e, recordChange{
		flags: e.Flags, method: e.Method, crc: e.CRC32,
		compressed: e.CompressedSize, size: e.Size, offset: uint64(at),
	})
	return w.err
}

// Replace writes e with p instead of its data. Name, times, attributes, comment, flags and extra fields are kept,
// except for the sizes in a zip64 extra field and the data descriptor, whose values move into the local header. The
// compression method is that of p; see Entry.Level.
func (w *Writer) Replace(e *Entry, p Packed) error {
	if w.err != nil {
		return w.err
	}
	if e.Flags&flagEncrypted != 0 {
		w.err = e.errorf(ErrUnsupported, e.head, "an encrypted entry cannot be replaced")
		return w.err
	}
	at := w.offset - w.base
	header, err := e.localHeader(w.header, p)
	if err != nil {
		w.err = err
		return err
	}
	w.header = header
	w.write(header)
	w.write(p.Data)
	w.record(e, recordChange{
		flags: e.Flags &^ flagDescriptor, method: p.Method, crc: p.CRC32,
		compressed: uint64(len(p.Data)), size: p.Size, offset: uint64(at), resized: true,
	})
	return w.err
}

// Add writes a new entry. Its DOS time is 1 January 1980, so that the output does not depend on the clock. Name must
// have at most 65,535 bytes; if it is UTF-8 and not ASCII, the entry is marked as UTF-8.
func (w *Writer) Add(name string, p Packed) error {
	if w.err != nil {
		return w.err
	}
	if len(name) > math.MaxUint16 {
		w.err = fmt.Errorf("add entry: name of %d bytes is longer than a zip entry's can be (65535)", len(name))
		return w.err
	}
	at := w.offset - w.base
	var extra []byte
	compressed, size := uint64(len(p.Data)), p.Size
	if compressed >= magic32 || size >= magic32 {
		extra = appendExtra64(nil, size, compressed)
	}
	fixed := make([]byte, centralSize)
	le.PutUint32(fixed, centralSignature)
	le.PutUint16(fixed[4:], versionDeflate) // made by: MS-DOS, whose attributes 0 mean a plain file
	le.PutUint16(fixed[6:], versionDeflate)
	if len(extra) > 0 {
		le.PutUint16(fixed[6:], versionZip64)
	}
	le.PutUint16(fixed[8:], nameFlags(name))
	le.PutUint32(fixed[12:], 1<<16|1<<21) // 1980-01-01 00:00
	le.PutUint16(fixed[28:], uint16(len(name)))

	local := make([]byte, 0, localSize+len(name)+len(extra))
	local = le.AppendUint32(local, localSignature)
	local = append(local, fixed[6:30]...)
	local = le.AppendUint16(local, uint16(len(extra)))
	patchLocal(local, p, compressed >= magic32 || size >= magic32)
	local = append(append(local, name...), extra...)
	w.write(local)
	w.write(p.Data)
	w.append(string(fixed)+name, "", "", recordChange{
		flags: nameFlags(name), method: p.Method, crc: p.CRC32,
		compressed: compressed, size: size, offset: uint64(at),
	})
	return w.err
}

func nameFlags(name string) uint16 {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			if utf8.ValidString(name) {
				return flagUTF8
			}
			return 0
		}
	}
	return 0
}

// Close writes the central directory and the end record, with zip64 records if a number needs them. It does not
// close the underlying io.Writer.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	start := uint64(w.offset - w.base)
	size := uint64(len(w.central))
	w.write(w.central)
	var end []byte
	if w.count >= magic16 || size >= magic32 || start >= magic32 {
		end = w.appendEnd64(nil, start, size)
	}
	end = le.AppendUint32(end, endSignature)
	end = append(end, 0, 0, 0, 0) // this disk, disk of the directory
	count := uint16(min(w.count, magic16))
	end = le.AppendUint16(end, count)
	end = le.AppendUint16(end, count)
	end = le.AppendUint32(end, uint32(min(size, magic32)))
	end = le.AppendUint32(end, uint32(min(start, magic32)))
	end = le.AppendUint16(end, uint16(len(w.comment)))
	w.write(end)
	w.write(w.comment)
	w.write(w.tail)
	w.flush()
	w.done = true
	err := w.err
	if err == nil {
		w.err = errors.New("write archive: already closed")
	}
	return err
}

// appendEnd64 appends the zip64 end record (4.3.14) and its locator (4.3.15).
func (w *Writer) appendEnd64(b []byte, start, size uint64) []byte {
	at := start + size
	b = le.AppendUint32(b, end64Signature)
	b = le.AppendUint64(b, end64Size-12)
	b = le.AppendUint16(b, versionZip64)
	b = le.AppendUint16(b, versionZip64)
	b = le.AppendUint64(b, 0) // this disk, disk of the directory
	b = le.AppendUint64(b, w.count)
	b = le.AppendUint64(b, w.count)
	b = le.AppendUint64(b, size)
	b = le.AppendUint64(b, start)
	b = le.AppendUint32(b, locator64Signature)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, at)
	return le.AppendUint32(b, 1)
}

// record appends the central record of e, with the changes, to the central directory.
func (w *Writer) record(e *Entry, c recordChange) {
	rec := e.archive.central[e.record:e.recordTo]
	nameEnd := centralSize + int64(len(e.Name))
	extraEnd := nameEnd + int64(u16(rec, 30))
	w.append(rec[:nameEnd], rec[nameEnd:extraEnd], rec[extraEnd:], c)
}

func (w *Writer) append(head, extra, comment string, c recordChange) {
	if w.err != nil {
		return
	}
	w.central, w.err = c.append(w.central, head, extra, comment)
	w.count++
}

// write appends bytes to the output. It is for bytes that are not in the mapping of an archive.
func (w *Writer) write(b []byte) {
	w.flushRun()
	w.offset += int64(len(b))
	w.put(b)
}

// copyRange appends the bytes between two offsets of archive a to the output, as a part of the run if they are
// adjacent.
func (w *Writer) copyRange(a *Archive, at, to int64) {
	if w.run == a && w.runTo == at {
		w.runTo = to
	} else {
		w.flushRun()
		w.run, w.runAt, w.runTo = a, at, to
	}
	w.offset += to - at
	w.limitRun()
}

// limitRun writes a run that is long: what was read to choose its entries is still in memory.
func (w *Writer) limitRun() {
	if w.runTo-w.runAt < runPiece {
		return
	}
	a, at := w.run, w.runTo
	w.flushRun()
	w.run, w.runAt, w.runTo = a, at, at
}

// flushRun writes the run, to the buffer if it is short.
func (w *Writer) flushRun() {
	if w.run == nil {
		return
	}
	a, b, from := w.run, w.run.data[w.runAt:w.runTo], w.runAt
	w.run = nil
	fault := a.Guard(func() {
		w.put(b[:min(len(b), runPiece)])
		for at := runPiece; at < len(b); at += runPiece {
			a.Release(from+int64(at)-runPiece, from+int64(at))
			w.put(b[at:min(len(b), at+runPiece)])
		}
	})
	if fault != nil {
		w.err = fault
	}
}

// put appends bytes to the buffer, or writes them to the output directly if there are many.
func (w *Writer) put(b []byte) {
	if w.err != nil {
		return
	}
	if len(w.buf)+len(b) > cap(w.buf) || len(b) >= writeThrough {
		w.flushBuf()
	}
	if len(b) < writeThrough {
		w.buf = append(w.buf, b...)
		return
	}
	w.send(b)
}

func (w *Writer) flush() {
	w.flushRun()
	w.flushBuf()
}

func (w *Writer) flushBuf() {
	if len(w.buf) > 0 {
		w.send(w.buf)
		w.buf = w.buf[:0]
	}
}

func (w *Writer) send(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.out.Write(b); err != nil {
		w.err = fmt.Errorf("write archive: %w", err)
	}
}
