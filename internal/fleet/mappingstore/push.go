package mappingstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Build is what is pushed.
type Build struct {
	// Version and Variant are parts of the release's name. They, Commit and Labels may be empty.
	Version, Variant string
	// Commit is the commit of the sources.
	Commit string
	// Labels are what releases can be selected by beside version and variant.
	Labels map[string]string
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

// maxChain is the number of objects up to which a file is stored as a difference. More would save little, and a damaged
// object makes all files unreadable that are stored as a difference to it.
const maxChain = 32

// Push adds a release. It checks the files before, and writes nothing if one of them is not what it should be. If
// the archive has the same release already, Push only checks that it can be read.
func (a *Archive) Push(ctx context.Context, b Build) (*Pushed, error) {
	// A new release may refer only to what is in the store. The cache may have more.
	stored := *a
	stored.options.Cache = nil
	return stored.push(ctx, b)
}

func (a *Archive) push(ctx context.Context, b Build) (*Pushed, error) {
	m, err := b.manifest()
	if err != nil {
		return nil, err
	}
	found, err := checkMark(ctx, a.store)
	if err != nil {
		return nil, a.failed(err)
	}
	if !found {
		if err := a.store.put(ctx, markName, []byte(mark)); err != nil {
			return nil, a.failed(err)
		}
	}
	list, err := a.list(ctx, Selector{})
	if err != nil {
		return nil, err
	}
	p := &Pushed{Release: Release{Digest: m.Digest, Version: m.Version, Variant: m.Variant,
		Pushed: b.Time.UTC().Truncate(time.Millisecond), ID: m.id()}}
	var damaged []Release
	for _, r := range list {
		if r.Digest != m.Digest {
			continue
		}
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
		a.options.Warn(err.Error() + "; writing it again")
		damaged = append(damaged, r)
	}
	p.Added, p.Repaired = true, len(damaged) > 0
	base := a.base(ctx, list, m.Variant, p.Repaired)
	for i := range m.Files {
		f := &m.Files[i]
		if err := a.storeFile(ctx, f, b.Files[f.Kind], base.file(f.Kind)); err != nil {
			return nil, err
		}
		p.Size, p.Stored = p.Size+f.Size, p.Stored+f.Stored
	}
	if err := a.storeRelease(ctx, &p.Release, m); err != nil {
		return nil, err
	}
	for _, r := range damaged {
		if r.path() == p.Release.path() {
			continue
		}
		if err := a.store.remove(ctx, r.path()); err != nil {
			return nil, a.failed(err)
		}
	}
	return p, nil
}

// manifest checks the files and returns the manifest, which has no objects yet.
func (b *Build) manifest() (*manifest, error) {
	if err := checkNames(b.Version, b.Variant); err != nil {
		return nil, err
	}
	m := &manifest{Format: manifestFormat, Version: b.Version, Variant: b.Variant, Commit: b.Commit, Labels: b.Labels}
	if len(m.Labels) == 0 {
		m.Labels = nil
	}
	for _, kind := range Kinds() {
		content, given := b.Files[kind]
		if !given {
			continue
		}
		if len(content) > maxFile {
			return nil, fmt.Errorf("%s: larger than 1 GiB; check the path", b.Names[kind])
		}
		f := manifestFile{Kind: kind, Size: int64(len(content)), SHA256: sumOf(content)}
		if err := b.check(kind, content, m); err != nil {
			return nil, err
		}
		if kind == R8 {
			f.MapID = mapID(content)
		}
		m.Files = append(m.Files, f)
	}
	if m.Digest == "" {
		return nil, errors.New("no mapping is given")
	}
	if data, err := m.encode(); err != nil || len(data) > maxManifest/2 {
		return nil, errors.Join(errors.New("labels and commit are too long"), err)
	}
	return m, nil
}

// check returns an error if a file is not of its kind, or of another build than the mapping.
func (b *Build) check(kind Kind, content []byte, m *manifest) error {
	name := b.Names[kind]
	switch kind {
	case Mapping:
		parsed, err := mapping.Parse(name, string(content))
		if err != nil {
			return err
		}
		m.Digest = parsed.Digest()
	case R8:
		if _, err := r8.Parse(name, bytes.NewReader(content)); err != nil {
			return err
		}
	case Lines:
		lines, err := mapping.ParseLines(name, bytes.NewReader(content))
		if err != nil {
			return err
		}
		if lines.Digest() != m.Digest {
			return fmt.Errorf("%s: the source lines belong to mapping %s, and %s is mapping %s; give the file that was "+
				"written with it", name, lines.Digest(), b.Names[Mapping], m.Digest)
		}
	case Report:
		if !json.Valid(content) {
			return fmt.Errorf("%s: not a report; give what instrument --report has written", name)
		}
	}
	return nil
}

// verify reads all files of a release.
func (a *Archive) verify(ctx context.Context, r *Release) error {
	m, err := a.manifest(ctx, r)
	if err != nil {
		return err
	}
	for i := range m.Files {
		if _, err := a.read(ctx, &m.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

// base returns the latest release, of the variant if there is one. It is empty if there is none, if whole files are
// to be stored, or if it is damaged.
func (a *Archive) base(ctx context.Context, list []Release, variant string, whole bool) *manifest {
	if len(list) == 0 || whole {
		return &manifest{}
	}
	i := max(0, slices.IndexFunc(list, func(r Release) bool { return r.Variant == variant }))
	m, err := a.manifest(ctx, &list[i])
	if err != nil {
		a.options.Warn(err.Error() + "; storing whole files")
		return &manifest{}
	}
	return m
}

// storeFile stores a file: as a difference to the base, which may be nil, if that pays. It sets the objects of f.
func (a *Archive) storeFile(ctx context.Context, f *manifestFile, content []byte, base *manifestFile) error {
	if base != nil && base.SHA256 == f.SHA256 {
		f.Objects = base.Objects
		_, err := a.read(ctx, base)
		if !errors.As(err, new(*DamagedError)) {
			return err
		}
		a.options.Warn(err.Error() + "; storing the whole file")
		base = nil
	}
	if base != nil {
		if len(base.Objects) >= maxChain {
			whole := *base // the first object alone
			whole.Objects = base.Objects[:1]
			base = &whole
		}
		done, err := a.storeDifference(ctx, f, content, base)
		if done || err != nil {
			return err
		}
	}
	data, err := encodeFull(content)
	if err != nil {
		return err
	}
	f.Objects = nil
	return a.storeObject(ctx, f, data)
}

// storeDifference stores a file as a difference to the base. It does nothing if the difference is not much smaller
// than the whole, or if the base cannot be read.
func (a *Archive) storeDifference(ctx context.Context, f *manifestFile, content []byte,
	base *manifestFile) (done bool, err error) {
	old, err := a.readBase(ctx, base)
	if errors.As(err, new(*DamagedError)) {
		a.options.Warn(err.Error() + "; storing the whole file")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	data, err := encodeDifference(old, sumOf(old), content)
	if err != nil || int64(len(data)) > base.Objects[0].Size/3 {
		return false, err
	}
	f.Objects = slices.Clone(base.Objects)
	return true, a.storeObject(ctx, f, data)
}

// readBase reads the file that the objects of f result in. This is not the file of a release if f has only the first of
// them.
func (a *Archive) readBase(ctx context.Context, f *manifestFile) ([]byte, error) {
	if len(f.Objects) > 1 {
		return a.read(ctx, f)
	}
	name := f.Objects[0]
	data, err := a.get(ctx, name.path(), name.check)
	if err != nil {
		return nil, err
	}
	o, err := parseObject(data)
	if err == nil && !o.whole {
		err = errors.New("it is not a whole file")
	}
	var content []byte
	if err == nil {
		content, err = o.decode(nil)
	}
	if err != nil {
		return nil, &DamagedError{a.location, name.path(), err}
	}
	return content, nil
}

func (a *Archive) storeObject(ctx context.Context, f *manifestFile, data []byte) error {
	o := manifestObject{Name: sumOf(data), Size: int64(len(data))}
	if err := a.store.put(ctx, o.path(), data); err != nil {
		return a.failed(fmt.Errorf("%s: %w", o.path(), err))
	}
	f.Objects, f.Stored = append(f.Objects, o), o.Size
	return nil
}

func (a *Archive) storeRelease(ctx context.Context, r *Release, m *manifest) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	r.sum = sumOf(data).String()[:idLength]
	if err := a.store.put(ctx, r.path(), data); err != nil {
		return a.failed(fmt.Errorf("%s: %w", r.path(), err))
	}
	return nil
}

// Remove removes the releases from lists. Other releases may be stored as differences to their files, so that the
// objects stay until Clean removes those that no release needs.
func (a *Archive) Remove(ctx context.Context, list []Release) error {
	return each(ctx, len(list), func(ctx context.Context, i int) error {
		return a.failed(a.store.remove(ctx, list[i].path()))
	})
}

// Clean removes the objects that no release needs, and returns their number. No push may run meanwhile: the objects of
// a release that is not yet written are not needed by any.
func (a *Archive) Clean(ctx context.Context) (removed int, err error) {
	list, err := a.List(ctx, Selector{})
	if err != nil {
		return 0, err
	}
	// A release that cannot be read stops this: its objects are not known.
	manifests := make([]*manifest, len(list))
	err = each(ctx, len(list), func(ctx context.Context, i int) (err error) {
		manifests[i], err = a.manifest(ctx, &list[i])
		return err
	})
	if err != nil {
		return 0, err
	}
	needed := map[string]bool{}
	for _, m := range manifests {
		for _, f := range m.Files {
			for _, o := range f.Objects {
				needed[o.path()] = true
			}
		}
	}
	names, err := a.store.list(ctx, objects)
	if err != nil {
		return 0, a.failed(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return needed[name] || !isObject(name) })
	err = each(ctx, len(names), func(ctx context.Context, i int) error {
		return a.failed(a.store.remove(ctx, names[i]))
	})
	return len(names), err
}
