package mappingstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"

	"github.com/tracegen/tracegen/internal/fleet/objects"
)

// Archive is an archive of mappings. It is safe for several goroutines.
type Archive struct {
	store    objects.Store
	location string
	warn     func(message string)
}

var (
	// ErrNone is wrapped by the error of an operation for which the archive has no release.
	ErrNone = errors.New("not in the archive")
	// ErrNoArchive is wrapped by the error of an operation on an archive that does not exist.
	ErrNoArchive = errors.New("there is no archive; check the location, or make one by `tracegen mappings push`")
)

// DamagedError reports a file of an archive that is not as it was written, or is missing.
type DamagedError struct {
	Archive string // its location
	Name    string // of the object or release
	Err     error  // the fault
}

// Error names the file and the way out.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: %s is damaged: %v; push the release again from its files, which repairs it, or restore the "+
		"object from a backup", e.Archive, e.Name, e.Err)
}

// Unwrap returns the fault.
func (e *DamagedError) Unwrap() error { return e.Err }

// Variable is the environment variable with the location of the archive that commands use.
const Variable = "TRACEGEN_ARCHIVE"

// Open opens an archive: in a directory, or in a bucket (s3://BUCKET[/PREFIX]). The archive need not exist. Open
// accesses no network. warn is called with damage that did not prevent the work; it may be called by several
// goroutines.
func Open(location string, warn func(message string)) (*Archive, error) {
	store, err := objects.Open(location)
	a := &Archive{store: store, location: location, warn: warn}
	if err != nil {
		return nil, a.failed(err)
	}
	return a, nil
}

// Location returns the location that was passed to Open.
func (a *Archive) Location() string { return a.location }

// failed returns an error of the store with the location.
func (a *Archive) failed(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, new(*DamagedError)) {
		return err
	}
	if errors.As(err, new(*net.OpError)) {
		return fmt.Errorf("archive %s: %w; or have the mapping written to a file by `tracegen mappings pull` where the "+
			"archive can be reached", a.location, err)
	}
	return fmt.Errorf("archive %s: %w", a.location, err)
}

// exists returns an error unless the location has an archive.
func (a *Archive) exists(ctx context.Context) error {
	found, err := checkMark(ctx, a.store)
	if err == nil && !found {
		err = ErrNoArchive
	}
	return a.failed(err)
}

// List returns the releases that the selector selects, from the latest to the first. It takes one request for each
// 1,000 releases.
func (a *Archive) List(ctx context.Context, s Selector) ([]Release, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := a.exists(ctx); err != nil {
		return nil, err
	}
	return a.list(ctx, s)
}

func (a *Archive) list(ctx context.Context, s Selector) ([]Release, error) {
	var list []Release
	for o, err := range a.store.List(ctx, releases+s.Digest) {
		if err != nil {
			return nil, a.failed(err)
		}
		if r, ok := parseRelease(o.Name); ok && s.names(&r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, compareReleases)
	return list, nil
}

// Find returns the latest release that the selector selects. The error wraps ErrNone if there is none. If a short
// digest selects releases with several digests, Find fails.
func (a *Archive) Find(ctx context.Context, s Selector) (Release, error) {
	list, err := a.List(ctx, s)
	if err != nil {
		return Release{}, err
	}
	if len(list) == 0 {
		what := "the archive is empty"
		if text := s.String(); text != "" {
			what = text
		}
		return Release{}, fmt.Errorf("archive %s: %s: %w; `tracegen mappings list` shows what it has", a.location, what,
			ErrNone)
	}
	for _, r := range list[1:] {
		if s.Digest != "" && r.Digest != list[0].Digest {
			return Release{}, fmt.Errorf("archive %s: the digests %s and %s begin with %s; write more digits", a.location,
				list[0].Digest, r.Digest, s.Digest)
		}
	}
	return list[0], nil
}

// Read returns the content of a file of a release. The error is a [*DamagedError] if it has another size or SHA-256
// than the release says.
func (a *Archive) Read(ctx context.Context, f *File) (content []byte, err error) {
	_, err = a.get(ctx, f.object, func(data []byte) (err error) {
		content, err = f.inflate(data)
		return err
	})
	return content, err
}

// Details reads what the release consists of.
func (a *Archive) Details(ctx context.Context, r Release) (*Details, error) {
	data, err := a.get(ctx, r.path(), func(data []byte) error {
		if sumOf(data).String()[:idLength] != r.sum {
			return errors.New("its content does not have the SHA-256 that its name says")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	if err == nil && (m.Digest != r.Digest || m.Version != r.Version || m.Variant != r.Variant || m.id() != r.ID) {
		err = errors.New("it is of another release than its name says")
	}
	if err != nil {
		return nil, &DamagedError{a.location, r.path(), err}
	}
	for i := range m.Files {
		m.Files[i].object = r.object(m.Files[i].Kind)
	}
	return m, nil
}

// get returns what is stored under a name. check returns an error if the content is wrong.
func (a *Archive) get(ctx context.Context, name string, check func([]byte) error) ([]byte, error) {
	data, err := objects.Get(ctx, a.store, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DamagedError{a.location, name, errors.New("it is missing")}
	}
	if err != nil {
		return nil, a.failed(fmt.Errorf("%s: %w", name, err))
	}
	if err := check(data); err != nil {
		return nil, &DamagedError{a.location, name, err}
	}
	return data, nil
}
