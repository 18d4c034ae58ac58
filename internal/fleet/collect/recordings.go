package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// Part names a part of a recording that is sent. Mapping may be empty.
type Part struct {
	// Package, Mapping and Recording are the app's package, the digest of its mapping, and the recording's ID.
	Package, Mapping, Recording string
	// Number is the part's, from 1.
	Number uint64
	// SHA256 is that of the content, in hexadecimal digits; empty if the sender does not state it.
	SHA256 string
}

// file returns the path of the part in a store, with slashes.
func (p *Part) file() string {
	app, mapping := p.Package, p.Mapping
	if app == "" {
		app = none
	}
	if mapping == "" {
		mapping = none
	}
	return fmt.Sprintf("%s/%s/%s/%s.part%d.tgd", recordingsDir, app, mapping, p.Recording, p.Number)
}

// check returns an error if the part's names are not allowed.
func (p *Part) check() error {
	switch {
	case !devicereport.IsRecordingID(p.Recording):
		return errors.New("the recording's ID must have 1 to 32 hexadecimal digits in lower case")
	case p.Number == 0 || p.Number > maxPart:
		return fmt.Errorf("the part must be a number from 1 to %d", maxPart)
	case p.Package != "" && !devicereport.IsPackage(p.Package):
		return fmt.Errorf("the header %s is no name of a package", headerPackage)
	case p.Mapping != "" && !devicereport.IsDigest(p.Mapping):
		return fmt.Errorf("the header %s is no digest of a mapping", headerMapping)
	}
	return nil
}

// maxPart is the greatest number of a part.
const maxPart = 1_000_000

// parsePart parses the number of a part.
func parsePart(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != text || n == 0 || n > maxPart {
		return 0, fmt.Errorf("the part must be a number from 1 to %d", maxPart)
	}
	return n, nil
}

// ErrOther is the error for a part that the store has with another content.
var ErrOther = errors.New("the store has another content under this name")

// stored is what the database has of a part.
type stored struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Day    uint16 `json:"day"`
}

// ContentError says that what was sent is not what it should be.
type ContentError struct {
	// Why is the reason.
	Why string
}

// Error returns the reason.
func (e *ContentError) Error() string { return e.Why }

// AddRecording stores a part of a recording, and returns when it is on the disk. The error wraps [ErrOther] if the
// store has another content under the recording's ID and the part's number, and is a [*ContentError] if what was read
// is no recording or has another hash. An error of in is returned as it is.
func (s *Store) AddRecording(p Part, in io.Reader) error {
	if err := p.check(); err != nil {
		return &ContentError{err.Error()}
	}
	if err := s.room(); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, recordingsDir), temporary+"*.tgd")
	if err != nil {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	done := false
	defer func() {
		f.Close()
		if !done {
			os.Remove(f.Name())
		}
	}()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, hash), in)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if p.SHA256 != "" && p.SHA256 != sum {
		return &ContentError{fmt.Sprintf("the SHA-256 of the recording is %s, and the header %s says %s", sum, headerSHA256,
			p.SHA256)}
	}
	if err := isRecording(f.Name()); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	done, err = s.place(p, f.Name(), stored{p.file(), sum, size, dayOf(s.Now())})
	return err
}

// isRecording returns a [*ContentError] if a file does not begin as a recording.
func isRecording(path string) error {
	source, err := source.Open(path)
	if errors.Is(err, trace.ErrFormat) {
		return &ContentError{"the content does not begin as a recording of tracegen"}
	}
	if err != nil {
		return &ContentError{fmt.Sprintf("the content is no recording: %s", err)}
	}
	return source.Close()
}

// place makes a temporary file appear under the name of a part; placed is false if the store has the part already.
func (s *Store) place(p Part, temp string, as stored) (placed bool, err error) {
	s.recording.Lock()
	defer s.recording.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false, ErrClosed
	}
	key := fmt.Appendf(nil, "%s/%d", p.Recording, p.Number)
	var known *stored
	err = s.db.View(func(tx *bolt.Tx) error {
		if text := tx.Bucket(bucketRecordings).Get(key); text != nil {
			known = &stored{}
			return json.Unmarshal(text, known)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if known != nil {
		if known.SHA256 != as.SHA256 || known.File != as.File {
			return false, fmt.Errorf("recording %s, part %d: %w", p.Recording, p.Number, ErrOther)
		}
		return false, nil
	}
	// A file without an entry was renamed by a process that was killed before it could answer. The sender sends it again.
	target := filepath.Join(s.dir, filepath.FromSlash(as.File))
	if err := makeDirs(s.dir, filepath.Dir(target)); err != nil {
		return false, fmt.Errorf("the store cannot be written: %w", err)
	}
	if info, err := os.Stat(target); err == nil {
		s.used.Add(-info.Size())
	}
	if err := os.Rename(temp, target); err != nil {
		return false, fmt.Errorf("the store cannot be written: %w", err)
	}
	syncDir(filepath.Dir(target))
	s.used.Add(as.Size)
	text, err := json.Marshal(as)
	if err != nil {
		return true, err
	}
	err = s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketRecordings).Put(key, text) })
	return true, err
}

// expireRecordings removes recordings that came before a day; gone reports whether there were some.
func (s *Store) expireRecordings(oldest uint16) (gone bool, err error) {
	s.recording.Lock()
	defer s.recording.Unlock()
	return gone, s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketRecordings)
		var old [][]byte
		err := b.ForEach(func(key, value []byte) error {
			var k stored
			if err := json.Unmarshal(value, &k); err != nil {
				return fmt.Errorf("the database is damaged: recording %q: %w", key, err)
			}
			if k.Day >= oldest {
				return nil
			}
			old = append(old, append([]byte(nil), key...))
			path := filepath.Join(s.dir, filepath.FromSlash(k.File))
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			os.Remove(filepath.Dir(path)) // if it is empty
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range old {
			gone = true
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}
