package mappingstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Build is what is pushed.
type Build struct {
	// Version and Variant are parts of the release's name. They may be empty.
	Version, Variant string
	// Time is when it is pushed. The latest release is the one with the latest time.
	Time time.Time
	// Files has the content of files by kind. There must be a mapping.
	Files map[Kind][]byte
	// Names has the names of files, for errors.
	Names map[Kind]string
}

// Pushed is the result of a push.
type Pushed struct {
	// Release is the release that was added, or that the archive had.
	Release Release
	// Added is false if the archive had the release already, undamaged.
	Added bool
	// Repaired is set if the archive had the release, but could not read it, and it was written again.
	Repaired bool
	// Size is that of the files, and Stored that of what was written for them, in bytes.
	Size, Stored int64
	// SameDigest is the number of other releases whose mapping has the same methods and IDs.
	SameDigest int
}

// Push adds a release. It checks the files before, and writes nothing if one of them is not what it should be. If
// the archive has the same release already, Push only checks that it can be read.
func (a *Archive) Push(ctx context.Context, b Build) (*Pushed, error) {
	m, err := b.details()
	if err != nil {
		return nil, err
	}
	found, err := checkMark(ctx, a.store)
	if err != nil {
		return nil, a.failed(err)
	}
	if !found {
		if err := a.store.Put(ctx, markName, []byte(mark)); err != nil {
			return nil, a.failed(err)
		}
	}
	list, err := a.list(ctx, Selector{Digest: m.Digest})
	if err != nil {
		return nil, err
	}
	p := &Pushed{Release: Release{Digest: m.Digest, Version: m.Version, Variant: m.Variant,
		Pushed: b.Time.UTC().Truncate(time.Millisecond), ID: m.id()}}
	var damaged []Release
	for _, r := range list {
		if r.ID != p.Release.ID {
			p.SameDigest++
			continue
		}
		err := a.verify(ctx, &r)
		if err == nil {
			p.Release = r
			return p, nil
		}
		if !errors.As(err, new(*DamagedError)) {
			return nil, err
		}
		a.warn(err.Error() + "; writing it again")
		damaged = append(damaged, r)
	}
	p.Added, p.Repaired = true, len(damaged) > 0
	for i := range m.Files {
		f := &m.Files[i]
		data, err := compress(b.Files[f.Kind])
		if err != nil {
			return nil, err
		}
		f.Stored = int64(len(data))
		if err := a.write(ctx, p.Release.object(f.Kind), data); err != nil {
			return nil, err
		}
		p.Size, p.Stored = p.Size+f.Size, p.Stored+f.Stored
	}
	if err := a.writeRelease(ctx, &p.Release, m); err != nil {
		return nil, err
	}
	for _, r := range damaged {
		if r.path() == p.Release.path() {
			continue
		}
		if err := a.store.Remove(ctx, r.path()); err != nil {
			return nil, a.failed(err)
		}
	}
	return p, nil
}

// details checks the files and returns what the release consists of.
func (b *Build) details() (*Details, error) {
	if err := checkNames(b.Version, b.Variant); err != nil {
		return nil, err
	}
	m := &Details{Format: manifestFormat, Version: b.Version, Variant: b.Variant}
	for _, kind := range Kinds() {
		content, given := b.Files[kind]
		if !given {
			continue
		}
		if len(content) > maxFile {
			return nil, fmt.Errorf("%s: larger than 1 GiB; check the path", b.Names[kind])
		}
		f := File{Kind: kind, Size: int64(len(content)), SHA256: sumOf(content)}
		if err := b.check(kind, content, m); err != nil {
			return nil, err
		}
		m.Files = append(m.Files, f)
	}
	if m.Digest == "" {
		return nil, errors.New("no mapping is given")
	}
	return m, nil
}

// check returns an error if a file is not of its kind, or of another build than the mapping.
func (b *Build) check(kind Kind, content []byte, m *Details) error {
	name := b.Names[kind]
	switch kind {
	case Mapping:
		parsed, err := mapping.Parse(name, string(content))
		if err != nil {
			return err
		}
		m.Digest = parsed.Digest()
	case R8:
		if _, err := r8.Parse(name, string(content)); err != nil {
			return err
		}
	case Lines:
		lines, err := mapping.ParseLines(name, string(content))
		if err != nil {
			return err
		}
		if lines.Digest() != m.Digest {
			return fmt.Errorf("%s: the source lines belong to mapping %s, and %s is mapping %s; give the file that was "+
				"written with it", name, lines.Digest(), b.Names[Mapping], m.Digest)
		}
	}
	return nil
}

// verify reads all files of a release.
func (a *Archive) verify(ctx context.Context, r *Release) error {
	d, err := a.Details(ctx, *r)
	if err != nil {
		return err
	}
	for i := range d.Files {
		if _, err := a.Read(ctx, &d.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) write(ctx context.Context, name string, data []byte) error {
	if err := a.store.Put(ctx, name, data); err != nil {
		return a.failed(fmt.Errorf("%s: %w", name, err))
	}
	return nil
}

func (a *Archive) writeRelease(ctx context.Context, r *Release, m *Details) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	r.sum = sumOf(data).String()[:idLength]
	return a.write(ctx, r.path(), data)
}

// maxWindow is how far back the compression looks. More needs more memory and saves little.
const maxWindow = 8 << 20

func compress(content []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer e.Close()
	return e.EncodeAll(content, nil), nil
}

// inflate returns the content of a file that is stored as data, and an error unless it is the one that the release
// says.
func (f *File) inflate(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer d.Close()
	// The buffer grows with what arrives: the size in the release may be wrong.
	var content bytes.Buffer
	content.Grow(int(min(f.Size, 64*int64(len(data)))) + bytes.MinRead)
	if _, err := io.Copy(&content, io.LimitReader(d, f.Size+1)); err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	if int64(content.Len()) != f.Size || sumOf(content.Bytes()) != f.SHA256 {
		return nil, errors.New("its content does not have the size and the SHA-256 that the release says")
	}
	return content.Bytes(), nil
}
