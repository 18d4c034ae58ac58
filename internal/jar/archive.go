package jar

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// Archive is an open zip container. It never changes and may be used by several goroutines.
type Archive struct {
	name    string
	data    []byte
	unmap   func() error
	mapped  bool   // data is a mapping of a file
	central string // copy of the central directory, which all names are cut from
	entries []Entry

	directory int64  // where the central directory starts
	base      int64  // what is added to an offset of the directory to get one of the file
	prefix    int64  // length of what stands before the first local header
	comment   []byte // archive comment
	tail      []byte // bytes behind the end record
}

// Entry is one entry of an Archive, as the central directory has it. It belongs to its Archive, must
// not be changed and not be used after the Archive was closed.
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
	bad      error // why it cannot be read, or nil
}

// Open maps the file at path, or reads it where it cannot be mapped, and checks its structure; see
// the package comment for what is checked when. The caller closes the Archive when neither its
// entries nor a Writer that copies from it are needed any more. Errors are those of the operating
// system, or an *Error.
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
	a.Release(0, a.Size()) // the headers stand on nearly every page
	return a, nil
}

// New reads an archive that is in memory, such as a jar inside an .aar. Data must not change while
// the Archive is in use. Name is what errors call it, by convention outer!entry.
func New(name string, data []byte) (*Archive, error) {
	a := &Archive{name: name, data: data, unmap: func() error { return nil }}
	if err := a.parse(); err != nil {
		return nil, err
	}
	return a, nil
}

// Close releases the mapping. The Archive and its entries must not be used afterwards, except for
// names and other fields of entries, which stay good. Closing twice is harmless.
func (a *Archive) Close() error {
	unmap := a.unmap
	a.unmap = func() error { return nil }
	a.data = nil
	return unmap()
}

// Release says that the bytes of the archive between two offsets will hardly be read again, so that a mapping need not
// keep them in memory. They can be read all the same.
func (a *Archive) Release(from, to int64) {
	from = (max(from, 0) + releaseUnit - 1) &^ (releaseUnit - 1)
	if to = min(to, int64(len(a.data))); to < int64(len(a.data)) {
		to &^= releaseUnit - 1
	}
	if a.mapped && from < to {
		release(a.data[from:to])
	}
}

// releaseUnit is a multiple of the size of a page, wherever there are pages, and what Linux maps around one that is
// touched.
const releaseUnit = 64 << 10

// Release says that e, which was read out of order, will hardly be read again: neither it nor what the system has
// brought into memory around it needs to stay there.
func (e *Entry) Release() { e.archive.Release(e.head-releaseUnit, e.end+releaseUnit) }

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

// WriteTo writes the whole archive as it is, for outputs of which nothing changed. It implements
// io.WriterTo.
func (a *Archive) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(a.data)
	return int64(n), err
}

// Archive returns the Archive that the entry belongs to.
func (e *Entry) Archive() *Archive { return e.archive }

// IsDir reports whether the entry stands for a directory: its name ends in a slash.
func (e *Entry) IsDir() bool { return strings.HasSuffix(e.Name, "/") }

// Offset returns where the entry's local header starts, in bytes from the start of the archive.
func (e *Entry) Offset() int64 { return e.head }

// Raw returns the entry's data as it is in the archive, compressed. It is a view that must not be
// changed and ends with the Archive.
func (e *Entry) Raw() []byte { return e.archive.data[e.data : e.data+int64(e.CompressedSize)] }

// Level returns the compression level for a replacement of e's data where the user asked for asked:
// stored entries stay stored (some are so because they are mapped or read without a zip library).
func (e *Entry) Level(asked Level) Level {
	if e.Method == Stored {
		return LevelStore
	}
	return asked
}

// parse fills in everything but name and data.
func (a *Archive) parse() (err error) {
	restore := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(restore)
		if r := recover(); r != nil {
			err = a.fault(r)
		}
	}()
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
