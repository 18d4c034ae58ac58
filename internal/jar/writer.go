package jar

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"unicode/utf8"
)

// writeThrough is the length from which bytes are given to the output as they lie, without a copy
// through the Writer's buffer.
const writeThrough = 64 << 10

// Writer writes an archive, entry by entry in the order of its calls, to any io.Writer. It is used
// by one goroutine. After an error every further call gives that error.
type Writer struct {
	out  io.Writer
	err  error
	done bool

	// offset counts all bytes that were written, also those that still wait: first in buf, then in
	// the run. A run is a stretch of one archive that grows as long as neighbours are copied.
	offset       int64
	buf          []byte
	header       []byte // memory for the next local header
	run          *Archive
	runAt, runTo int64

	base          int64 // see Archive.base
	central       []byte
	count         uint64
	comment, tail []byte
}

// NewWriter begins an archive on out. With from, which may be nil, the output takes over what from
// has besides its entries: the bytes in front (a self-executing jar's script), the archive comment,
// the bytes behind the end. The archives copied from stay open until Close has returned.
func NewWriter(out io.Writer, from *Archive) *Writer {
	w := &Writer{out: out, buf: make([]byte, 0, 2*writeThrough)}
	if from != nil {
		w.base, w.comment, w.tail = from.base, from.comment, from.tail
		w.central = make([]byte, 0, len(from.central)+1024)
		w.stretch(from, 0, from.prefix)
	}
	return w
}

// Copy writes e as it is: local header, compressed data and data descriptor byte for byte, and the
// central record with a new offset. E may come from any archive.
func (w *Writer) Copy(e *Entry) error {
	at := w.offset - w.base
	w.stretch(e.archive, e.head, e.end)
	w.record(e, recordChange{
		flags: e.Flags, method: e.Method, crc: e.CRC32,
		compressed: e.CompressedSize, size: e.Size, offset: uint64(at),
	})
	return w.err
}

// Replace writes p in the place of e's data. Name, times, attributes, comment, flags and extra
// fields stay, but for the sizes in a zip64 extra field and the data descriptor, whose values move
// into the local header. The method is that of p; see Entry.Level.
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

// Add writes a new entry. Its DOS time is that of like, or 1 January 1980 if like is nil, so that
// the output never carries the clock. Name is at most 65,535 bytes; one that is UTF-8 but not ASCII
// is marked so.
func (w *Writer) Add(name string, like *Entry, p Packed) error {
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
	if like != nil {
		le.PutUint32(fixed[12:], u32(like.archive.central, like.record+12))
	}
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

// Close writes the central directory and the end records, zip64 ones where the numbers ask for
// them. It does not close what it writes to.
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

// record appends e's central record with the changes to the directory.
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

// write appends bytes that are not part of an archive's mapping, or are rare enough not to matter.
func (w *Writer) write(b []byte) {
	w.flushRun()
	w.offset += int64(len(b))
	w.put(b)
}

// stretch appends the bytes from at to to of archive a.
func (w *Writer) stretch(a *Archive, at, to int64) {
	if w.run == a && w.runTo == at {
		w.runTo = to
	} else {
		w.flushRun()
		w.run, w.runAt, w.runTo = a, at, to
	}
	w.offset += to - at
}

func (w *Writer) flushRun() {
	if w.run == nil {
		return
	}
	a, b := w.run, w.run.data[w.runAt:w.runTo]
	w.run = nil
	if len(b) >= writeThrough {
		w.put(b) // only the kernel reads the mapping: a fault there is an error of the write
		return
	}
	restore := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(restore)
		if r := recover(); r != nil {
			w.err = a.fault(r)
		}
	}()
	w.put(b)
}

// put returns bytes to the buffer or, if they are many, past it to the output.
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
