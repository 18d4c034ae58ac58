package group

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// check reads a store and returns a [DamageError] if it is damaged. There may be no file. No program writes to
// it meanwhile.
func check(path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	db, err := bolt.Open(path, 0o644, &bolt.Options{Timeout: lockTime, ReadOnly: true})
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("%s: %w", path, ErrBusy)
	}
	if err == nil {
		defer db.Close()
	}
	in, size, err := openFile(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if p := newPages(path, in, size); p.readHeaders() == nil && p.isForeign() {
		return nil // the database opens it, and prepare refuses it
	}
	if err := newPages(path, in, size).read(); err != nil {
		if errors.Is(err, errNoStore) {
			return fmt.Errorf("%s: not a store of tracegen: %w", path, err)
		}
		return err
	}
	return nil
}

// isForeign reports whether the file is the whole database of another program, with buckets of other names.
func (p *pages) isForeign() bool {
	g, err := p.readPage(p.root)
	if err != nil {
		return false
	}
	list, err := g.elements(nil, nil)
	if err != nil || g.flags != flagLeaf || len(list) == 0 {
		return false
	}
	for _, e := range list {
		switch string(e.key) {
		case string(bucketFormat), string(bucketStalls), string(bucketRecordings):
			return false
		}
	}
	return true
}

func openFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// lockTime is how long a store waits for another process that has it.
const lockTime = 5 * time.Second

// guard turns the fault of a file that was shortened while it was mapped into an error.
func (s *Store) guard(do func() error) (err error) {
	restore := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(restore)
		switch fault := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = fmt.Errorf("%s: the store was shortened while it was open", s.path)
		default:
			panic(fault)
		}
	}()
	return do()
}
