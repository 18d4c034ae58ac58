package collect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// The buckets of the database.
var (
	bucketFormat   = []byte("format")
	bucketIDs      = []byte("ids")      // the ID of each report: the day on which it arrived
	bucketSegments = []byte("segments") // a bucket for each segment, see [Store.put]
	bucketMerges   = []byte("merges")   // a directory: the merge that is in progress there
	keyVersion     = []byte("version")
)

const (
	// database is the name of the database in a store.
	database = "collect.db"
	// storeVersion is what a store says that it is.
	storeVersion = "tracegen-collect 1"
	// reportsDir and recordingsDir are directories of a store.
	reportsDir, recordingsDir = "reports", "recordings"
	// none stands for a package or mapping that a report does not name, others for those of a segment that has reports of
	// too many.
	none, others = "none", "others"
)

const (
	// segmentBytes is from which size on, in bytes of JSON, a segment is complete.
	segmentBytes = 64 << 20
	// queued is how many requests wait to be stored, and batchBytes how many bytes of them one transaction adds.
	queued     = 256
	batchBytes = 8 << 20
	// tick is how often the store looks for work that has become due.
	tick = time.Second
	// maxPartitions is how many packages and mappings a segment distinguishes. Each becomes a file, so without a limit one
	// body could keep the disk busy for minutes.
	maxPartitions = 256
	// closeTime is for how long [Store.Close] writes files.
	closeTime = 5 * time.Second

	secondsOfDay = 24 * 3600
	// earliest is before all reports, in seconds since 1970, in 2020: a clock that is behind it was never set.
	earliest = 1577836800
	// probeTime is how long [Store.Writable] believes what it has found.
	probeTime = 10 * time.Second
)

var (
	// ErrBusy is the error of a store that cannot take more at the moment.
	ErrBusy = errors.New("the collector is overloaded")
	// ErrFull is the error of a store that has reached its size limit.
	ErrFull = errors.New("the store is full")
	// ErrClock is the error of a store while the clock of the machine was never set: what is stored has the day on it.
	ErrClock = errors.New("the collector's clock is not set")
	// ErrClosed is the error of a store that is being closed.
	ErrClosed = errors.New("the collector is stopping")
)

// Options are those of a [Store].
type Options struct {
	// MaxBytes limits the size of the store; 0 for no limit. KeepDays is for how many days reports, their IDs and
	// recordings are kept; 0 for ever.
	MaxBytes int64
	KeepDays int
	// Every is after what time the reports of a segment become Parquet files.
	Every time.Duration
	// Names returns the names of a build by the digest of its mapping, nil if there are none. It is called by one
	// goroutine. It may be nil.
	Names func(digest string) (*resolve.Names, error)
	// R8 is for the frames of stacks where names have no mapping of R8; it may be nil.
	R8 *r8.Mapping
	// Warn gets what fails behind a request that was answered. It may be called by several goroutines.
	Warn func(error)
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Store stores reports and recordings in a directory. It is safe for several goroutines; one process has a store at a
// time.
type Store struct {
	Options
	dir  string
	db   *bolt.DB
	pack *zstd.Encoder
	used atomic.Int64 // bytes of files, without the database

	mu     sync.RWMutex // guards closed, so that no request is added to the queue when it is closed
	closed bool
	queue  chan *request
	ended  chan struct{} // closed when the last request is stored

	// The fields below belong to the goroutine that stores requests.
	segment uint64 // the number of the open segment; 0 for none
	size    int    // its size
	began   time.Time
	parts   map[partition]bool // its partitions

	seal    chan struct{} // a segment is complete
	stop    chan struct{}
	stopped chan struct{} // closed when the goroutine that writes files has ended
	late    atomic.Bool   // the store is being closed, and there is no time for more files
	// closeTime is the constant of that name, but in tests.
	closeTime time.Duration
	sealed    atomic.Uint64 // segments up to this one are complete
	expired   uint16        // the day on which what is too old was removed; belongs to the goroutine that writes files

	recording sync.Mutex // held while a recording appears under its name

	probing sync.Mutex // guards what is known of the disk
	probed  time.Time  // when it was found out
	disk    error      // why it could not be written
}

// request is the reports of one request.
type request struct {
	reports []Accepted
	bytes   int
	done    chan answer // has room for one
}

// Accepted is a report that was checked.
type Accepted struct {
	// ID is the report's, Package and Mapping are its partition; empty for none. Line is the report itself.
	ID, Package, Mapping, Line string
}

// answer is the outcome of a request: how many of its reports are new.
type answer struct {
	added int
	err   error
}

// Open opens the store in a directory, which is made if it is missing, and completes what a process that was killed has
// left.
func Open(dir string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = time.Minute
	}
	for _, d := range []string{dir, filepath.Join(dir, reportsDir), filepath.Join(dir, recordingsDir)} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	path := filepath.Join(dir, database)
	db, err := bolt.Open(path, 0o666, &bolt.Options{Timeout: 5 * time.Second, FreelistType: bolt.FreelistMapType,
		NoFreelistSync: true})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("store %s: another process has %s open; one collector at a time can have a store", dir, path)
	case errors.As(err, new(*fs.PathError)):
		return nil, fmt.Errorf("store: %w", err)
	case err != nil:
		return nil, fmt.Errorf("store: %s is not a database of tracegen collect: %w; name another directory", path, err)
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{Options: o, dir: dir, db: db, pack: pack, closeTime: closeTime, queue: make(chan *request, queued),
		ended: make(chan struct{}), seal: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := s.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", dir, err), db.Close())
	}
	go s.store()
	go s.write()
	return s, nil
}

// recover makes the buckets, removes temporary files, and declares all segments complete.
func (s *Store) recover() error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		format := tx.Bucket(bucketFormat)
		if format == nil {
			if name, _ := tx.Cursor().First(); name != nil {
				return fmt.Errorf("%s is a database of another program; name another directory", database)
			}
			var err error
			if format, err = tx.CreateBucket(bucketFormat); err != nil {
				return err
			}
			if err := format.Put(keyVersion, []byte(storeVersion)); err != nil {
				return err
			}
		}
		if v := format.Get(keyVersion); string(v) != storeVersion {
			return fmt.Errorf("it is of another version, %q; this program reads %q", v, storeVersion)
		}
		for _, name := range [][]byte{bucketIDs, bucketSegments, bucketMerges} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		s.sealed.Store(tx.Bucket(bucketSegments).Sequence())
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.completeMerges(); err != nil {
		return err
	}
	return s.measure(true)
}

// temporary begins the names of files that are not complete.
const temporary = ".tracegen-"

// measure finds how large the store is, and removes temporary files if clean is set.
func (s *Store) measure(clean bool) error {
	var used int64
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil || e.IsDir() || e.Name() == database {
			return err
		}
		if clean && strings.HasPrefix(e.Name(), temporary) {
			return os.Remove(path)
		}
		if info, err := e.Info(); err == nil {
			used += info.Size()
		}
		return nil
	})
	if err == nil {
		s.used.Store(used)
	}
	return err
}

// Used returns the size of the store in bytes.
func (s *Store) Used() int64 {
	used := s.used.Load()
	if info, err := os.Stat(s.db.Path()); err == nil {
		used += info.Size()
	}
	return used
}

// Writable returns nil if the store can take more, as far as it was seen in the last seconds: its limits and the clock
// allow it, and a file can be written.
func (s *Store) Writable() error {
	if err := s.room(); err != nil {
		return err
	}
	s.probing.Lock()
	defer s.probing.Unlock()
	if now := s.Now(); now.Sub(s.probed).Abs() >= probeTime {
		s.probed, s.disk = now, s.probe()
	}
	return s.disk
}

// probe writes a file as large as that of a small segment.
func (s *Store) probe() error {
	f, err := createTemp(s.dir, ".probe")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// room returns [ErrFull] if the store has no room for more, and [ErrClock] if what it stores would have a wrong day.
func (s *Store) room() error {
	if s.Now().Unix() < earliest {
		return ErrClock
	}
	if s.MaxBytes > 0 && s.Used() >= s.MaxBytes {
		return ErrFull
	}
	return nil
}

// Add stores reports, all or none of them, and returns when they are on the disk. added is how many are new: the others
// have IDs that the store has. The error is [ErrBusy] or [ErrFull] if the reports may be sent again later.
func (s *Store) Add(reports []Accepted) (added int, err error) {
	if len(reports) == 0 {
		return 0, nil
	}
	if err := s.room(); err != nil {
		return 0, err
	}
	r := &request{reports: reports, done: make(chan answer, 1)}
	for i := range reports {
		r.bytes += len(reports[i].Line)
	}
	if err := s.enqueue(r); err != nil {
		return 0, err
	}
	a := <-r.done
	return a.added, a.err
}

func (s *Store) enqueue(r *request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	select {
	case s.queue <- r:
		return nil
	default:
		return ErrBusy
	}
}

// store adds requests to the database until the queue is closed. One transaction has all requests that wait: it takes
// the same time for the disk as for one.
func (s *Store) store() {
	defer close(s.ended)
	timer := time.NewTicker(tick)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			s.sealIfDue(false)
		case first, ok := <-s.queue:
			if !ok {
				s.sealIfDue(true)
				return
			}
			s.commit(s.waiting(first))
			s.sealIfDue(false)
		}
	}
}

// waiting returns the request and those that wait behind it, as many as one transaction takes.
func (s *Store) waiting(first *request) []*request {
	requests, size := []*request{first}, first.bytes
	for size < batchBytes {
		select {
		case r, ok := <-s.queue:
			if !ok {
				return requests
			}
			requests, size = append(requests, r), size+r.bytes
		default:
			return requests
		}
	}
	return requests
}

// commit adds requests in one transaction, and answers them.
func (s *Store) commit(requests []*request) {
	now := s.Now().UTC()
	added := make([]int, len(requests))
	segment, size := s.segment, 0
	err := s.db.Update(func(tx *bolt.Tx) error {
		segments := tx.Bucket(bucketSegments)
		if segment == 0 {
			var err error
			if segment, err = segments.NextSequence(); err != nil {
				return err
			}
			s.parts = map[partition]bool{}
		}
		into, err := segments.CreateBucketIfNotExists(number(segment))
		if err != nil {
			return err
		}
		// Keys of a partition are appended; those of another partition may come between.
		into.FillPercent = 0.9
		ids := tx.Bucket(bucketIDs)
		for i, r := range requests {
			n, bytes, err := s.put(ids, into, r, now)
			if err != nil {
				return err
			}
			added[i], size = n, size+bytes
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("the store cannot be written: %w", err)
		s.warn(err)
	} else {
		if s.segment == 0 {
			s.segment, s.size, s.began = segment, 0, now
		}
		s.size += size
	}
	for i, r := range requests {
		r.done <- answer{added[i], err}
	}
}

// put adds the reports of one request that are new to a segment. A key of a segment is a partition and a number; the
// value is the time of arrival and the compressed lines.
func (s *Store) put(ids, into *bolt.Bucket, r *request, now time.Time) (added, size int, err error) {
	day := binary.BigEndian.AppendUint16(nil, dayOf(now))
	lines := map[string][]byte{} // by partition
	for i := range r.reports {
		a := &r.reports[i]
		if ids.Get([]byte(a.ID)) != nil {
			continue
		}
		if err := ids.Put([]byte(a.ID), day); err != nil {
			return 0, 0, err
		}
		p := s.partition(partition{a.Package, a.Mapping, now.Format(time.DateOnly)}).key()
		lines[p] = append(append(lines[p], a.Line...), '\n')
		added++
	}
	for p, text := range lines {
		n, err := into.NextSequence()
		if err != nil {
			return 0, 0, err
		}
		value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
		if err := into.Put(append([]byte(p), number(n)...), s.pack.EncodeAll(text, value)); err != nil {
			return 0, 0, err
		}
		size += len(text)
	}
	return added, size, nil
}

// partition returns the partition of the segment for a report of p.
func (s *Store) partition(p partition) partition {
	if !s.parts[p] && len(s.parts) >= maxPartitions {
		return partition{others, others, p.date}
	}
	s.parts[p] = true
	return p
}

// sealIfDue declares the open segment complete if it is large or old, or if now is set.
func (s *Store) sealIfDue(now bool) {
	if s.segment == 0 || !now && s.size < segmentBytes && s.Now().Sub(s.began) < s.Every {
		return
	}
	s.sealed.Store(s.segment)
	s.segment = 0
	select {
	case s.seal <- struct{}{}:
	default:
	}
}

// Close stores the requests that wait, writes segments as Parquet files for some seconds, and closes the store.
// Segments that are left stay in the database, and the next process writes them. A request that comes later is answered
// with [ErrClosed].
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.ended
	hurry := time.AfterFunc(s.closeTime, func() { s.late.Store(true) })
	defer hurry.Stop()
	close(s.stop)
	<-s.stopped
	s.pack.Close()
	return s.db.Close()
}

func (s *Store) warn(err error) {
	if s.Warn != nil {
		s.Warn(err)
	}
}

// Unfinished reports whether [Store.Close] had no time to write all segments as Parquet files.
func (s *Store) Unfinished() bool { return s.late.Load() }

// number encodes a number so that keys are in its order.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// dayOf returns the number of days since 1970.
func dayOf(t time.Time) uint16 { return uint16(t.Unix() / secondsOfDay) }

// partition is what the reports of one Parquet file have in common. Each field is safe as a name of a directory.
type partition struct{ app, mapping, date string }

// key returns the beginning of the keys of the partition in a segment.
func (p partition) key() string {
	if p.app == "" {
		p.app = none
	}
	if p.mapping == "" {
		p.mapping = none
	}
	return p.app + "\x00" + p.mapping + "\x00" + p.date + "\x00"
}

// partitionOf returns the partition of a key.
func partitionOf(key []byte) (p partition, prefix []byte, err error) {
	parts := bytes.SplitN(key, []byte{0}, 4)
	if len(parts) != 4 {
		return p, nil, fmt.Errorf("the database is damaged: key %q of a segment", key)
	}
	return partition{string(parts[0]), string(parts[1]), string(parts[2])}, key[:len(key)-len(parts[3])], nil
}

// dir returns the directory of the partition in a store, with slashes.
func (p partition) dir() string {
	return reportsDir + "/package=" + p.app + "/mapping=" + p.mapping + "/date=" + p.date
}
