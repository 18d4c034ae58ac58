package group

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// The buckets of a store. A recording's key is the SHA-256 of its content; a stall's is the group's key, the
// recording's and its number. See reports.go and spans.go for the rest.
var (
	bucketFormat     = []byte("format")
	bucketRecordings = []byte("recordings")
	bucketStalls     = []byte("stalls")
	keyVersion       = []byte("version")
)

// storeVersion is what a store says that it is.
const storeVersion = "tracegen-stalls 3"

// ErrBusy is wrapped by the error that says that another process has the store.
var ErrBusy = errors.New("another process has it open")

// Digest is the SHA-256 of a recording's content.
type Digest [32]byte

// Store keeps stalls in one file. It is safe for several goroutines.
type Store struct {
	db        *bolt.DB
	path      string
	temporary string
}

// OpenStore opens the store at path, which is made if it is missing. The error wraps [ErrBusy] if another process does
// not close it within some seconds, is a [DamageError] if the store is damaged, and says so if the file is no store. An
// empty path is a store in a temporary file, which is gone when it is closed.
func OpenStore(path string) (*Store, error) {
	s := &Store{}
	if path == "" {
		f, err := os.CreateTemp("", "tracegen-stalls-*")
		if err != nil {
			return nil, err
		}
		f.Close()
		path, s.temporary = f.Name(), f.Name()
	}
	s.path = path
	if err := check(path); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o644, &bolt.Options{Timeout: lockTime, NoSync: s.temporary != ""})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	case errors.As(err, new(*fs.PathError)):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: not a store of tracegen: %w", path, err)
	}
	s.db = db
	if err := s.guard(func() error { return db.Update(prepare) }); err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// prepare makes the buckets of a new store, and refuses what is another program's.
func prepare(tx *bolt.Tx) (err error) {
	format := tx.Bucket(bucketFormat)
	if format == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return errors.New("a database of another program")
		}
		if format, err = tx.CreateBucket(bucketFormat); err != nil {
			return err
		}
		if err := format.Put(keyVersion, []byte(storeVersion)); err != nil {
			return err
		}
	}
	if v := string(format.Get(keyVersion)); v != storeVersion {
		return fmt.Errorf("a store of another version, %q; this program reads %q", v, storeVersion)
	}
	for _, name := range kept {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the store. All that was added is on disk.
func (s *Store) Close() error {
	err := s.db.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.Remove(s.temporary))
	}
	return err
}

// Has reports whether a recording of that content was added.
func (s *Store) Has(recording Digest) (bool, error) {
	found := false
	err := s.view(func(tx *transaction) error {
		found = tx.table(bucketRecordings).has(recording[:])
		return nil
	})
	return found, err
}

// Entry is a recording that is added: its content's digest, what is said of it, and its stalls.
type Entry struct {
	// Recording is its identity.
	Recording Digest
	// Info is what is kept of it, Stalls what was slow in it. Of stalls that do not count, the store keeps only that a
	// report of them does not count either.
	Info   Info
	Stalls []analysis.Row
}

// Info is what a store keeps of a recording, beside its stalls.
type Info struct {
	// Name is what it was opened as when it was added.
	Name string `json:"name"`
	// Version and Code are what the program says of its version, User is its user; empty if it has none.
	Version string `json:"version,omitempty"`
	Code    string `json:"code,omitempty"`
	User    string `json:"user,omitempty"`
	// ID is the ID that all parts of the recording have; empty for one of an older runtime.
	ID string `json:"id,omitempty"`
}

// NewInfo makes it of a recording that has been read.
func NewInfo(r *analysis.Recording) Info {
	b := buildOf(r)
	return Info{Name: r.Name, Version: b.version, Code: b.code, User: r.User(),
		ID: r.Meta["recordingId"]}
}

// Add adds recordings, all or none. One that is there already stays as it is.
func (s *Store) Add(entries []Entry) error {
	return s.update(func(tx *transaction) error {
		recordings, cases := tx.table(bucketRecordings), tx.table(bucketStalls)
		for _, e := range entries {
			if recordings.has(e.Recording[:]) {
				continue
			}
			info, err := json.Marshal(e.Info)
			if err != nil {
				return err
			}
			if err := recordings.put(e.Recording[:], info); err != nil {
				return err
			}
			for i := range e.Stalls {
				if e.Stalls[i].NotCounted != "" {
					continue
				}
				if err := putSpan(tx, e.Info.ID, &e.Stalls[i]); err != nil {
					return err
				}
				text, err := json.Marshal(&e.Stalls[i])
				if err != nil {
					return err
				}
				if err := cases.put(stallKey(&e.Stalls[i], e.Recording, i), text); err != nil {
					return err
				}
			}
			if err := takeOver(tx, &e); err != nil {
				return err
			}
		}
		return nil
	})
}

// stallKey puts the stalls of one group side by side. A group's key has no byte 0.
func stallKey(c *analysis.Row, recording Digest, number int) []byte {
	key := append([]byte(c.Key), 0)
	key = append(key, recording[:]...)
	return binary.BigEndian.AppendUint32(key, uint32(number))
}

// Recordings returns each recording that is in the store.
func (s *Store) Recordings(each func(Digest, Info) error) error {
	return s.view(func(tx *transaction) error {
		return tx.table(bucketRecordings).each(func(key, value []byte) error {
			var d Digest
			var info Info
			if copy(d[:], key) != len(d) || json.Unmarshal(value, &info) != nil {
				return fmt.Errorf("the store is damaged: recording %x", key)
			}
			return each(d, info)
		})
	})
}

// Stalls returns each stall that counts with the digest of its recording, those of one group one after the other.
func (s *Store) Stalls(each func(Digest, *analysis.Row) error) error {
	return s.view(func(tx *transaction) error {
		return tx.table(bucketStalls).each(func(key, value []byte) error {
			var d Digest
			var c analysis.Row
			at := bytes.IndexByte(key, 0) + 1
			if rest := len(key) - at - len(d); at == 0 || rest != 4 && rest != len(d) || json.Unmarshal(value, &c) != nil {
				return fmt.Errorf("the store is damaged: stall %x", key)
			}
			if covered(tx, &c) {
				return nil
			}
			copy(d[:], key[at:])
			return each(d, &c)
		})
	})
}
