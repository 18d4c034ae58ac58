package zipfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
)

// Archive is an open zip container. It never changes and may be used by several goroutines.
type Archive struct {
	name    string
	data    []byte
	unmap   func() error
	mapped  fs.FileInfo // of the file that data is a mapping of, as it was; nil if there is none
	central string      // copy of the central directory, of which all names are slices
	entries []Entry

	directory int64  // where the central directory starts
	base      int64  // what must be added to an offset in the directory to get the offset in the file
	prefix    int64  // number of bytes before the first local header
	comment   []byte // archive comment
	tail      []byte // bytes behind the end record

	readAlone atomic.Uint32 // calls of Entry.Release
}

// Entry is one entry of an Archive, as its central record describes it. It belongs to its Archive; it must not be
// changed, nor used after the Archive was closed.
type Entry struct {
	Name           string // raw bytes; UTF-8 if Flags has bit 11, else in an unknown encoding
	Size           uint64 // inflated size as declared, in bytes
	CompressedSize uint64 // size of the data in the archive, in bytes; checked to be there
	CRC32          uint32 // of the inflated data, as declared
	Method         uint16 // Stored, Deflated or another (APPNOTE 4.4.5)
	Flags          uint16 // general purpose bits (APPNOTE 4.4.4)

	archive  *Archive
	record   int64 // start of the central record, from the start of the directory
	recordTo int64 // its end
	head     int64 // start of the local header in the archive
	data     int64 // start of the data
	end      int64 // end of data and data descriptor
	bad      error // why it cannot be read, else nil
}

// Open maps the file at path into memory, or reads it if it cannot be mapped, and checks its structure as the
// package comment describes. The caller must close the Archive when neither its entries nor a Writer that copies
// from it are needed any more. Errors are those of the operating system, or an *Error.
func Open(path string) (*Archive, error) {
	data, unmap, mapped, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	a := &Archive{name: path, data: data, unmap: unmap, mapped: mapped}
	if err := a.parse(); err != nil {
		unmap() // the parse error is the one that matters
		return nil, err
	}
	a.Release(0, a.Size()) // the headers were read, which are on nearly every page
	return a, nil
}

// New opens an archive that is in memory, such as a jar inside an .aar. Data must not change while the Archive is
// in use. Name stands for the archive in errors, by convention outer!entry.
func New(name string, data []byte) (*Archive, error) {
	a := &Archive{name: name, data: data, unmap: func() error { return nil }}
	if err := a.parse(); err != nil {
		return nil, err
	}
	return a, nil
}

// Close releases the mapping. The Archive and its entries must not be used afterwards, except for the exported
// fields of entries, which stay valid. Closing twice has no effect.
func (a *Archive) Close() error {
	unmap := a.unmap
	a.unmap = func() error { return nil }
	a.data = nil
	return unmap()
}

// Unchanged reports whether the file has still the size and the time of modification that it had when it was opened.
// Otherwise what was read may be of several states of the file, because the archive is mapped and not copied.
func (a *Archive) Unchanged() bool {
	if a.mapped == nil {
		return true
	}
	now, err := os.Stat(a.name)
	return err == nil && now.Size() == a.mapped.Size() && now.ModTime().Equal(a.mapped.ModTime()) &&
		os.SameFile(now, a.mapped)
}

// Release informs the operating system that the bytes between two offsets of the archive need not be kept in memory,
// since they will probably not be read again. They can still be read.
func (a *Archive) Release(from, to int64) {
	from = (max(from, 0) + releaseUnit - 1) &^ (releaseUnit - 1)
	if to = min(to, int64(len(a.data))); to < int64(len(a.data)) {
		to &^= releaseUnit - 1
	}
	if a.mapped != nil && from < to {
		release(a.data[from:to])
	}
}

// releaseUnit is a multiple of the page size of every system, and the number of bytes that Linux reads into memory
// around a page that is accessed.
const releaseUnit = 64 << 10

// Release notes that e was read out of order, and every so often releases the whole archive. A single entry is not
// worth it: the system call interrupts all other threads, which takes longer than to read a class.
func (e *Entry) Release() {
	if a := e.archive; a.readAlone.Add(1)%readsPerRelease == 0 {
		a.Release(0, a.Size())
	}
}

// readsPerRelease bounds what such entries leave in memory: around each, the system may have read releaseUnit bytes.
const readsPerRelease = 256

// Name returns the name the Archive was opened with.
func (a *Archive) Name() string { return a.name }

// Entries returns all entries in the order of the central directory. The slice is the Archive's own:
// take pointers into it, do not change it.
func (a *Archive) Entries() []Entry { return a.entries }

// Size returns the length of the whole archive in bytes.
func (a *Archive) Size() int64 { return int64(len(a.data)) }

// Duplicates returns, in order, every entry whose name, byte for byte, an earlier entry already has.
func (a *Archive) Duplicates() []*Entry {
	var found []*Entry
	seen := make(map[string]struct{}, len(a.entries))
	for i := range a.entries {
		e := &a.entries[i]
		if _, ok := seen[e.Name]; ok {
			found = append(found, e)
			continue
		}
		seen[e.Name] = struct{}{}
	}
	return found
}

// WriteTo writes the whole archive unchanged. It implements io.WriterTo.
func (a *Archive) WriteTo(w io.Writer) (n int64, err error) {
	for err == nil && n < a.Size() {
		var written int
		written, err = w.Write(a.data[n:min(a.Size(), n+runPiece)])
		a.Release(n, n+int64(written))
		n += int64(written)
	}
	return n, err
}

// Archive returns the Archive that the entry belongs to.
func (e *Entry) Archive() *Archive { return e.archive }

// IsDir reports whether the entry is a directory: its name ends in a slash.
func (e *Entry) IsDir() bool { return strings.HasSuffix(e.Name, "/") }

// Offset returns where the entry's local header starts, in bytes from the start of the archive.
func (e *Entry) Offset() int64 { return e.head }

// dataEnd returns where the entry's data ends. A data descriptor lies behind it.
func (e *Entry) dataEnd() int64 { return e.data + int64(e.CompressedSize) }

// Raw returns the entry's data as it is in the archive, compressed. It is a view that must not be changed, and not
// be used after the Archive was closed.
func (e *Entry) Raw() []byte { return e.archive.data[e.data:e.dataEnd()] }

// Guard calls read, which reads raw data of the archive. It returns an error if the file does not have them any more:
// one that is mapped into memory may have become shorter.
func (a *Archive) Guard(read func()) error {
	if !Guard(read) {
		return a.errorf(-1, "the file was shortened while it was read; run again when nothing else writes it")
	}
	return nil
}

// Level returns the compression level for new data of e if the user wants the level asked: a stored entry stays
// stored, since programs may map it or read it without a zip library.
func (e *Entry) Level(asked Level) Level {
	if e.Method == Stored {
		return LevelStore
	}
	return asked
}

// parse fills in everything but name and data.
func (a *Archive) parse() (err error) {
	if fault := a.Guard(func() { err = a.parseMapped() }); fault != nil {
		return fault
	}
	return err
}

// parseMapped is parse for an archive that is guarded.
func (a *Archive) parseMapped() error {
	end, err := a.findEnd()
	if err != nil {
		return err
	}
	a.directory, a.base = end.start, end.base
	a.comment, a.tail = bytes.Clone(end.comment), bytes.Clone(end.tail)
	a.central = string(a.data[end.start : end.start+end.size])
	if err := a.parseCentral(end); err != nil {
		return err
	}
	return a.parseLocals()
}
