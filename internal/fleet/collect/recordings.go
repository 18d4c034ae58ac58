package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tracegen/tracegen/internal/atomicfile"
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
	f, err := createTemp(filepath.Join(s.dir, recordingsDir), ".tgd")
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
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	if done, err = s.place(p, f.Name(), sum); done {
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

// place makes a temporary file appear under the name of a part; placed is false if the store has the part already. The
// time of the file is when it came.
func (s *Store) place(p Part, temp, sum string) (placed bool, err error) {
	s.recording.Lock()
	defer s.recording.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false, ErrClosed
	}
	target := filepath.Join(s.dir, filepath.FromSlash(p.file()))
	switch known, err := hashOf(target); {
	case err == nil && known == sum:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("recording %s, part %d: %w", p.Recording, p.Number, ErrOther)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	now := s.Now()
	err = errors.Join(makeDirs(s.dir, filepath.Dir(target)), os.Chtimes(temp, now, now))
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		return false, fmt.Errorf("the store cannot be written: %w", err)
	}
	atomicfile.SyncDirectory(filepath.Dir(target))
	return true, nil
}

// hashOf returns the SHA-256 of a file in hexadecimal digits.
func hashOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return hex.EncodeToString(hash.Sum(nil)), err
}
