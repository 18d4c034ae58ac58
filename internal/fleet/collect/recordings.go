package collect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
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

// file returns the name of the part in a store.
func (p *Part) file() string {
	return fmt.Sprintf("%s%s/%s/%s.part%d.tgd", lake.Recordings, cmp.Or(p.Package, lake.None),
		cmp.Or(p.Mapping, lake.None), p.Recording, p.Number)
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
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return ErrClosed
	}
	f, err := objects.CreateTemp(s.log.dir, ".tgd")
	if err != nil {
		return fmt.Errorf("the disk cannot be written: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
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
	if err := f.Close(); err != nil {
		return fmt.Errorf("the disk cannot be written: %w", err)
	}
	placed, err := s.place(p, f.Name(), sum)
	if placed {
		s.used.Add(size)
	}
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

// place stores a temporary file under the name of a part; placed is false if the store has the part already. The time
// of the file is when it came.
func (s *Store) place(p Part, temp, sum string) (placed bool, err error) {
	name := p.file()
	if !s.claim(name) {
		return false, ErrBusy
	}
	defer s.release(name)
	switch known, err := s.hashOf(name); {
	case err == nil && known == sum:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("recording %s, part %d: %w", p.Recording, p.Number, ErrOther)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	now := s.Now()
	if err := os.Chtimes(temp, now, now); err != nil {
		return false, err
	}
	if err := s.lake.PutFile(s.ctx, name, temp); err != nil {
		return false, fmt.Errorf("the store cannot be written: %w", err)
	}
	return true, nil
}

// claim reports whether no other request stores this part, and keeps others from it.
func (s *Store) claim(name string) bool {
	s.placing.Lock()
	defer s.placing.Unlock()
	if s.placed[name] {
		return false
	}
	s.placed[name] = true
	return true
}

func (s *Store) release(name string) {
	s.placing.Lock()
	defer s.placing.Unlock()
	delete(s.placed, name)
}

// hashOf returns the SHA-256 of an object of the store in hexadecimal digits.
func (s *Store) hashOf(name string) (string, error) {
	f, err := s.lake.Store.Read(s.ctx, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return hex.EncodeToString(hash.Sum(nil)), err
}
