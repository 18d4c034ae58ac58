package collect

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
)

// wal is the write-ahead log: what was received and is not in the store yet. It is a directory of segments, files of
// records that are only appended to. A record has the reports of one partition that were received at one time:
//
//	length, CRC-32C of the body                          4 bytes each, little-endian
//	body: received in milliseconds                       8 bytes
//	      package, mapping                               each with its length in one byte
//	      how many reports, the hashes of their IDs      4 bytes, 16 bytes each
//	      the reports, one a line, compressed by zstd
//
// A process that is killed may leave a part of a record at the end of a segment, whose reports were not answered, and
// zeros behind it. It is used by one goroutine, but for names, bytes, read and remove.
type wal struct {
	dir  string
	lock *os.File
	pack *zstd.Encoder
	// zeros is readyBytes, but in tests.
	zeros int

	mu   sync.Mutex // guards open
	open string     // the name of the open segment; empty if there is none

	file  *os.File // of the open segment; nil if there is none
	size  int64    // of its records
	ready int64    // of the file, with zeros at its end
	text  int      // of their reports, before they are compressed
	began time.Time
	parts map[lake.Partition]bool
}

const (
	walEnding  = ".wal"
	walMagic   = "tracegen-wal 1\n"
	recordHead = 8
	leastBody  = 8 + 1 + 1 + 4
	// readyBytes is how many zeros are written at a time where records will be. A sync that changes no size does not
	// wait for the file system's journal, which has what other goroutines write and remove.
	readyBytes = 1 << 20
	lockName   = "lock"
)

// castagnoli is the polynomial for which processors have an instruction.
func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// openWAL opens the log in a directory, which is made if it is missing, and removes temporary files.
func openWAL(dir string) (*wal, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	atomicfile.SyncDirectory(filepath.Dir(dir))
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if got, supported := atomicfile.TryLock(lock); supported && !got {
		lock.Close()
		return nil, fmt.Errorf("another process has the write-ahead log %s; give each collector of a store its own by --wal",
			dir)
	}
	left, err := fs.Glob(os.DirFS(dir), objects.Temporary+"*")
	for _, file := range left {
		err = errors.Join(err, os.Remove(filepath.Join(dir, file)))
	}
	pack, err2 := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err := errors.Join(err, err2); err != nil {
		lock.Close()
		return nil, err
	}
	return &wal{dir: dir, lock: lock, pack: pack, zeros: readyBytes}, nil
}

// close closes the log; the open segment must be complete.
func (l *wal) close() error {
	l.pack.Close()
	return l.lock.Close()
}

// path returns the file of a segment.
func (l *wal) path(name string) string { return filepath.Join(l.dir, name+walEnding) }

// names returns the segments that are complete, the oldest first.
func (l *wal) names() (names []string, err error) {
	entries, err := os.ReadDir(l.dir)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), walEnding); ok && name != l.open {
			names = append(names, name)
		}
	}
	return names, err
}

// record is what a record says of itself. offset and length are those of its body in the segment.
type record struct {
	lake.Partition
	offset, length int64
	received       int64
	ids            []lake.IDHash
	lines          []byte // compressed
}

// encode appends a record with its head to b. A package and a mapping have at most 200 bytes.
func (r *record) encode(b []byte, text []byte, pack *zstd.Encoder) []byte {
	begin := len(b)
	b = append(b, make([]byte, recordHead)...)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.received))
	b = append(append(b, byte(len(r.App))), r.App...)
	b = append(append(b, byte(len(r.Mapping))), r.Mapping...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.ids)))
	for i := range r.ids {
		b = append(b, r.ids[i][:]...)
	}
	b = pack.EncodeAll(text, b)
	body := b[begin+recordHead:]
	binary.LittleEndian.PutUint32(b[begin:], uint32(len(body)))
	binary.LittleEndian.PutUint32(b[begin+4:], castagnoli(body))
	return b
}

// decodeRecord decodes a body.
func decodeRecord(b []byte) (r record, ok bool) {
	if len(b) < leastBody {
		return r, false
	}
	r.received = int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	for _, text := range []*string{&r.App, &r.Mapping} {
		if len(b) < 1 || len(b) < 1+int(b[0]) {
			return r, false
		}
		*text, b = string(b[1:1+b[0]]), b[1+int(b[0]):]
	}
	if len(b) < 4 {
		return r, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > len(b)/len(lake.IDHash{}) {
		return r, false
	}
	r.ids = make([]lake.IDHash, n)
	for i := range r.ids {
		b = b[copy(r.ids[i][:], b):]
	}
	r.lines, r.Date = b, time.UnixMilli(r.received).UTC().Format(time.DateOnly)
	return r, true
}

// append writes records to the open segment, which it begins if there is none, and returns when they are on the disk.
// After an error nothing of them is in the segment, which is complete then: what the system has of it is not known.
func (l *wal) append(records []byte, text int, now time.Time) error {
	if l.file == nil {
		if err := l.begin(now); err != nil {
			return err
		}
	}
	end, sync := l.size+int64(len(records)), atomicfile.SyncData
	b := records
	if end > l.ready {
		l.ready, sync = end+int64(l.zeros), (*os.File).Sync
		b = append(slices.Clip(records), make([]byte, l.zeros)...)
	}
	_, err := l.file.WriteAt(b, l.size)
	if err == nil {
		err = sync(l.file)
	}
	if err != nil {
		l.complete() // without the records, as the answer says that they are not there
		return err
	}
	l.size, l.text = end, l.text+text
	return nil
}

// begin makes a segment. Names are in the order of time, and no other collector has the same.
func (l *wal) begin(now time.Time) error {
	name := lake.NewName(now)
	l.setOpen(name) // before names can see the file
	f, err := os.OpenFile(l.path(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(walMagic); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	atomicfile.SyncDirectory(l.dir)
	l.file, l.size, l.ready, l.text, l.began = f, int64(len(walMagic)), 0, 0, now
	l.parts = map[lake.Partition]bool{}
	return nil
}

// complete makes the open segment complete: nothing more is appended to it.
func (l *wal) complete() {
	if l.file != nil {
		_ = l.file.Truncate(l.size) // its reader skips the zeros
		l.file.Close()
		l.file, l.parts = nil, nil
		l.setOpen("")
	}
}

func (l *wal) setOpen(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = name
}

// read calls each with every record of a segment that is whole; what r has is valid during the call. It skips records
// that are damaged, and returns the number of bytes of these. The end of a record that a killed process has not written
// is no damage.
func (l *wal) read(name string, each func(*record) error) (damaged int64, err error) {
	f, err := os.Open(l.path(name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(f, 1<<20)
	magic := make([]byte, len(walMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		return 0, ended(err) // killed before the first record
	}
	if string(magic) != walMagic {
		return 0, fmt.Errorf("%s is no segment of this version of tracegen", f.Name())
	}
	var body []byte
	var torn int64 // the bytes of a damaged record, if no other one follows
	for at := int64(len(walMagic)); ; {
		var head [recordHead]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return damaged, ended(err)
		}
		at += recordHead
		length := int64(binary.LittleEndian.Uint32(head[:]))
		if length == 0 || length > info.Size()-at {
			return damaged, nil
		}
		body = slices.Grow(body[:0], int(length))[:length]
		if _, err := io.ReadFull(in, body); err != nil {
			return damaged, ended(err)
		}
		r, ok := decodeRecord(body)
		damaged, torn = damaged+torn, 0
		if whole := ok && castagnoli(body) == binary.LittleEndian.Uint32(head[4:]); whole {
			r.offset, r.length = at, length
			if err := each(&r); err != nil {
				return damaged, err
			}
		} else {
			torn = length
		}
		at += length
	}
}

// recordBytes returns how many bytes of a segment are records.
func recordBytes(info os.FileInfo) int64 { return info.Size() - int64(len(walMagic)) }

// ended returns nil for an error that says that a file has ended.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// remove removes a segment.
func (l *wal) remove(name string) error { return os.Remove(l.path(name)) }
