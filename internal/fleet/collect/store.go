package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

const (
	// segmentBytes is from which size on, in bytes of JSON, a segment is complete.
	segmentBytes = 64 << 20
	// maxLog limits the size of the write-ahead log, for a store that cannot be written.
	maxLog = 4 << 30
	// queued is how many requests wait to be stored, and batchBytes how many bytes of them are written at a time.
	queued     = 256
	batchBytes = 8 << 20
	// tick is how often the store looks for work that has become due.
	tick = time.Second
	// maxPartitions is how many packages and mappings a segment distinguishes. Each becomes a file, so without a limit one
	// body could keep the disk busy for minutes.
	maxPartitions = 256
	// closeTime is for how long [Store.Close] writes files.
	closeTime = 5 * time.Second
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

	errBehind = errors.New("the write-ahead log is full: the store could not be written for long")
)

// Options are those of a [Store].
type Options struct {
	// Log is the directory of the write-ahead log; empty for wal in a store that is a directory. Each collector has its
	// own.
	Log string
	// MaxBytes limits the size of the store; 0 for no limit. KeepDays is for how many days reports and recordings are
	// kept; 0 for ever.
	MaxBytes int64
	KeepDays int
	// Every is after what time the reports of a segment become Parquet files.
	Every time.Duration
	// NoMaintenance leaves it to another collector of the store to merge files and to remove what is too old.
	NoMaintenance bool
	// Names returns the names of a build by the digest of its mapping, nil if there are none. It is called by one
	// goroutine at a time. It may be nil.
	Names func(digest string) (*resolve.Names, error)
	// R8 is for the frames of stacks where names have no mapping of R8; it may be nil.
	R8 *r8.Mapping
	// Warn gets what fails behind a request that was answered. It may be called by several goroutines.
	Warn func(error)
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Store stores reports and recordings in a directory or a bucket. It is safe for several goroutines; several processes
// may have one store.
type Store struct {
	Options
	lake *lake.Lake
	log  *wal
	used atomic.Int64 // bytes of files in the store
	// waiting is the size of the log.
	waiting atomic.Int64

	mu     sync.RWMutex // guards closed, so that no request is added to the queue when it is closed
	closed bool
	queue  chan *request
	ended  chan struct{} // closed when the last request is stored

	known lake.Window // the IDs of reports; belongs to the goroutine that stores requests

	seal       chan struct{} // a segment is complete
	stop       chan struct{}
	stopped    chan struct{}   // closed when the goroutine that writes files has ended
	ctx        context.Context // of what writes files; canceled when there is no time for more
	cancel     context.CancelFunc
	maintained sync.WaitGroup
	unfinished bool // valid after stopped is closed
	// closeTime is the constant of that name, but in tests.
	closeTime time.Duration

	placing sync.Mutex      // guards placed
	placed  map[string]bool // the recordings that are being stored

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

// Open opens the store at a location, a directory, which is made if it is missing, or s3://BUCKET/PREFIX. What a
// process that was killed has left in the log becomes Parquet files.
func Open(location string, o Options) (*Store, error) {
	l, err := lake.Open(location)
	if err != nil {
		return nil, err
	}
	if !objects.IsRemote(location) {
		if _, err := lake.IsStore(location); err != nil {
			return nil, err
		}
		// Spark refuses a table whose directory is not there, where others find no rows.
		if err := os.MkdirAll(filepath.Join(location, lake.Reports), 0o777); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	switch {
	case o.Log != "":
	case objects.IsRemote(location):
		return nil, errors.New("a store in a bucket needs a directory for the write-ahead log")
	default:
		o.Log = filepath.Join(location, "wal")
	}
	s, err := open(l, o)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", location, err)
	}
	return s, nil
}

func open(l *lake.Lake, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = time.Minute
	}
	s := &Store{Options: o, lake: l, closeTime: closeTime, queue: make(chan *request, queued), ended: make(chan struct{}),
		seal: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}), placed: map[string]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	l.Temp, l.Names, l.R8, l.Warn, l.Now = o.Log, o.Names, o.R8, s.warn, o.Now
	var err error
	if s.log, err = openWAL(o.Log); err != nil {
		return nil, err
	}
	if err = l.Init(s.ctx); err == nil {
		err = errors.Join(s.measure(), s.remember())
	}
	if err != nil {
		return nil, errors.Join(err, s.log.close())
	}
	go s.store()
	go s.write()
	maintaining, cease := context.WithCancel(s.ctx)
	s.maintained.Go(func() { s.maintain(maintaining) })
	go func() {
		<-s.stop
		cease()
	}()
	return s, nil
}

// remember reads the IDs of the reports in the log.
func (s *Store) remember() error {
	names, err := s.log.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		damaged, err := s.log.read(name, func(r *record) error {
			for _, id := range r.ids {
				s.known.Add(id)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if damaged > 0 {
			s.warn(fmt.Errorf("%s is damaged: reports in %d bytes are lost", s.log.path(name), damaged))
		}
		if info, err := os.Stat(s.log.path(name)); err == nil {
			s.waiting.Add(recordBytes(info))
		}
	}
	return nil
}

// measure finds how large the store is.
func (s *Store) measure() error {
	var used int64
	for _, prefix := range []string{lake.Reports, lake.Recordings} {
		for o, err := range s.lake.List(s.ctx, prefix) {
			if err != nil {
				return err
			}
			used += o.Size
		}
	}
	s.used.Store(used)
	return nil
}

// Used returns the size of the store and of the log in bytes.
func (s *Store) Used() int64 { return s.used.Load() + s.waiting.Load() }

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

// probe writes a file as large as a small segment.
func (s *Store) probe() error {
	f, err := objects.CreateTemp(s.log.dir, ".probe")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// room returns [ErrFull] if the store has no room for more, and [ErrClock] if what it stores would have a wrong day.
func (s *Store) room() error {
	switch {
	case s.Now().Unix() < earliest:
		return ErrClock
	case s.MaxBytes > 0 && s.Used() >= s.MaxBytes:
		return ErrFull
	case s.waiting.Load() >= maxLog:
		return errBehind
	}
	return nil
}

// Add stores reports, all or none of them, and returns when they are on the disk. added is how many are new, as far as
// the store remembers the IDs of the last reports. The error is [ErrBusy] or [ErrFull] if the reports may be sent again
// later.
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

// store adds requests to the log until the queue is closed. All requests that wait are written at a time: it takes the
// same time for the disk as for one.
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
			s.commit(s.batch(first))
			s.sealIfDue(false)
		}
	}
}

// batch returns the request and those that wait behind it, as many as are written at a time.
func (s *Store) batch(first *request) []*request {
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

// received is the new reports of a partition in some requests.
type received struct {
	ids   []lake.IDHash
	lines []byte
}

// commit writes the new reports of requests to the log, and answers the requests.
func (s *Store) commit(requests []*request) {
	now := s.Now().UTC()
	added := make([]int, len(requests))
	fresh := map[lake.IDHash]bool{}
	parts := map[lake.Partition]*received{}
	var order []lake.Partition
	for i, r := range requests {
		for _, a := range r.reports {
			id := lake.HashID(a.ID)
			if fresh[id] || s.known.Has(id) {
				continue
			}
			fresh[id] = true
			added[i]++
			p := s.partition(a.Package, a.Mapping, parts)
			if parts[p] == nil {
				parts[p] = &received{}
				order = append(order, p)
			}
			parts[p].ids = append(parts[p].ids, id)
			parts[p].lines = append(append(parts[p].lines, a.Line...), '\n')
		}
	}
	var err error
	if len(fresh) > 0 {
		var b []byte
		text := 0
		for _, p := range order {
			of := record{Partition: p, received: now.UnixMilli(), ids: parts[p].ids}
			b, text = of.encode(b, parts[p].lines, s.log.pack), text+len(parts[p].lines)
		}
		if err = s.log.append(b, text, now); err == nil {
			s.waiting.Add(int64(len(b)))
		}
	}
	if err != nil {
		err = fmt.Errorf("the write-ahead log cannot be written: %w", err)
		s.warn(err)
	}
	for _, p := range order {
		if err == nil {
			s.log.parts[p] = true
			for _, id := range parts[p].ids {
				s.known.Add(id)
			}
		}
	}
	for i, r := range requests {
		r.done <- answer{added[i], err}
	}
}

// partition returns the partition of the open segment for a report, beside those that are about to be added to it.
func (s *Store) partition(app, mapping string, about map[lake.Partition]*received) lake.Partition {
	p := lake.Partition{App: app, Mapping: mapping}
	if app == "" {
		p.App = lake.None
	}
	if mapping == "" {
		p.Mapping = lake.None
	}
	if about[p] == nil && !s.log.parts[p] && len(s.log.parts)+len(about) >= maxPartitions {
		return lake.Partition{App: lake.Others, Mapping: lake.Others}
	}
	return p
}

// sealIfDue declares the open segment complete if it is large or old, or if now is set.
func (s *Store) sealIfDue(now bool) {
	if !now && (s.log.file == nil || s.log.text < segmentBytes && s.Now().Sub(s.log.began).Abs() < s.Every) {
		return
	}
	s.log.complete()
	select {
	case s.seal <- struct{}{}:
	default:
	}
}

// Close stores the requests that wait, writes segments as Parquet files for some seconds, and closes the store.
// Segments that are left stay in the log, and the next process writes them. A request that comes later is answered with
// [ErrClosed].
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
	hurry := time.AfterFunc(s.closeTime, s.cancel)
	defer hurry.Stop()
	close(s.stop)
	<-s.stopped
	s.cancel()
	s.maintained.Wait()
	return s.log.close()
}

func (s *Store) warn(err error) {
	if s.Warn != nil {
		s.Warn(err)
	}
}

// Unfinished reports whether [Store.Close] had no time to write all segments as Parquet files.
func (s *Store) Unfinished() bool { return s.unfinished }
