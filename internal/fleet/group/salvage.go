package group

import (
	"bytes"
	"encoding/json"
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
	p := newPages(in, size)
	p.damaged = func(offset int64, what string) error { return &DamageError{path, offset, what} }
	foreign := false
	if err := p.readHeaders(); err == nil {
		foreign = p.isForeign()
	}
	if foreign {
		return nil // the database opens it, and prepare refuses it
	}
	damaged := p.damaged
	p = newPages(in, size)
	p.damaged = damaged
	if err := p.read(); err != nil {
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

// Salvaged says what was saved of a damaged store.
type Salvaged struct {
	Recordings, Stalls         int // saved
	LostRecordings, LostStalls int // of those whose number is known
	Unknown                    bool
	Damage                     []DamageError // the first ones
	Places                     int           // how many there are
}

// maxDamage is how many places are listed.
const maxDamage = 5

// Salvage adds what can be read of a damaged store to this one. Entries whose checksum is wrong are lost. A recording
// of which a stall is lost counts as lost, so that it is read again when it is given again; its other stalls are saved.
func (s *Store) Salvage(path string) (*Salvaged, error) {
	in, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	result := &Salvaged{}
	p := newPages(in, size)
	p.damaged = func(offset int64, what string) error {
		if result.Places++; len(result.Damage) < maxDamage {
			result.Damage = append(result.Damage, DamageError{path, offset, what})
		}
		return nil
	}
	err = s.update(func(tx *transaction) error {
		p.yield = func(bucket, key, value []byte) error {
			return tx.table(bucket).put(bytes.Clone(key), value)
		}
		err := p.read()
		if err == nil && result.Places > 0 {
			err = p.readLost()
		}
		if errors.Is(err, errNoStore) && result.Places == 0 {
			return fmt.Errorf("%s: not a store of tracegen: %w", path, err)
		}
		if err != nil && !errors.Is(err, errNoStore) {
			return err
		}
		return repair(tx)
	})
	if err != nil {
		return nil, err
	}
	err = s.view(func(tx *transaction) error {
		result.Recordings = tx.Bucket(bucketRecordings).Stats().KeyN
		result.Stalls = tx.Bucket(bucketStalls).Stats().KeyN
		return nil
	})
	result.Unknown = p.counts == nil
	if p.counts != nil {
		result.LostRecordings = max(0, int(p.counts[string(bucketRecordings)])-result.Recordings)
		result.LostStalls = max(0, int(p.counts[string(bucketStalls)])-result.Stalls)
	}
	return result, err
}

// repair removes what refers to something that is lost: recordings without all of their stalls, reports without their
// stall, and the names of recordings that are not there.
func repair(tx *transaction) error {
	recordings, stalls := tx.table(bucketRecordings), tx.table(bucketStalls)
	have := map[Digest]int{}
	err := stalls.each(func(key, _ []byte) error {
		if d, own := recordingOf(key); own {
			have[d]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := removeIf(recordings, func(key, value []byte) bool {
		var info storedInfo
		return json.Unmarshal(value, &info) != nil || have[Digest(key)] < info.Counted
	}); err != nil {
		return err
	}
	if err := removeIf(tx.table(bucketReports), func(_, value []byte) bool {
		return !bytes.Equal(value, recorded) && !stalls.has(value)
	}); err != nil {
		return err
	}
	return removeIf(tx.table(bucketReported), func(_, value []byte) bool { return !recordings.has(value) })
}

// removeIf removes the entries for which a function returns true.
func removeIf(t table, is func(key, value []byte) bool) error {
	var keys [][]byte
	err := t.each(func(key, value []byte) error {
		if is(key, value) {
			keys = append(keys, bytes.Clone(key))
		}
		return nil
	})
	for _, key := range keys {
		err = errors.Join(err, t.remove(key))
	}
	return err
}

// isStallKey reports whether a key has the form of a stall's.
func isStallKey(key []byte) bool {
	at := bytes.IndexByte(key, 0) + 1
	rest := len(key) - at - len(Digest{})
	return at > 0 && (rest == 4 || rest == len(Digest{}))
}

// recordingOf returns the recording in the key of a stall; own says that the stall was found in it, and not reported.
func recordingOf(key []byte) (d Digest, own bool) {
	at := bytes.IndexByte(key, 0) + 1
	if !isStallKey(key) {
		return d, false
	}
	copy(d[:], key[at:])
	return d, len(key)-at-len(d) == 4
}
