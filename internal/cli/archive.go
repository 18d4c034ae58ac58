package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/mappingstore"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// OpenArchive opens an archive.
func OpenArchive(con *console.Console, location string) (*mappingstore.Archive, error) {
	return mappingstore.Open(location, func(message string) { con.Warn("%s", message) })
}

// isArchive reports whether the value of an option names an archive.
func isArchive(value string) bool {
	return objects.IsRemote(value) || mappingstore.IsArchive(value)
}

// IsAbsent reports whether an error says that an archive, or a release of it, does not exist.
func IsAbsent(err error) bool {
	return errors.Is(err, mappingstore.ErrNone) || errors.Is(err, mappingstore.ErrNoArchive)
}

// archivedName returns the name of a mapping in an archive for messages.
func archivedName(a *mappingstore.Archive, r *mappingstore.Release) string {
	return a.Location() + " (" + r.Digest + ")"
}

// ReleaseText describes a release: "version 1.2, variant release, pushed 2026-11-22 16:34:24 UTC".
func ReleaseText(r *mappingstore.Release) string {
	text := ""
	if r.Version != "" {
		text = "version " + console.Printable(r.Version) + ", "
	}
	if r.Variant != "" {
		text += "variant " + console.Printable(r.Variant) + ", "
	}
	return text + "pushed " + r.Pushed.Format("2006-01-02 15:04:05 UTC")
}

// fetchBuild returns all that analysis uses of a release.
func fetchBuild(ctx context.Context, a *mappingstore.Archive, r *mappingstore.Release) (*resolve.Build, error) {
	d, err := a.Details(ctx, *r)
	if err != nil {
		return nil, err
	}
	name := archivedName(a, r)
	b := new(resolve.Build)
	for i := range d.Files {
		f := &d.Files[i]
		content, err := a.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		switch f.Kind {
		case mappingstore.Mapping:
			b.Mapping, err = mapping.Parse(name, string(content))
		case mappingstore.R8:
			b.R8, err = r8.Parse(name, string(content))
		case mappingstore.Lines:
			b.Lines, err = mapping.ParseLines(name, string(content))
		}
		if err != nil {
			return nil, err
		}
	}
	if b.Mapping.Digest() != r.Digest {
		return nil, fmt.Errorf("%s: the mapping has digest %s; push the release again from its files", name,
			b.Mapping.Digest())
	}
	return b, nil
}

// archivedMappings returns the mappings of an archive, which are found by the digests of recordings. lines may be nil.
func archivedMappings(ctx context.Context, con *console.Console, location string, lines *mapping.Lines) (
	*resolve.Mappings, error) {
	a, err := OpenArchive(con, location)
	if err != nil {
		return nil, err
	}
	return resolve.FetchMappings(a.Location(), func(digest string) (*resolve.Build, error) {
		r, err := newestWith(ctx, con, a, digest)
		if err != nil || r == nil {
			return nil, err
		}
		con.Detail("mapping %s from %s: %s", digest, a.Location(), ReleaseText(r))
		b, err := fetchBuild(ctx, a, r)
		if err == nil && lines != nil && lines.Digest() == digest {
			b.Lines = lines
		}
		return b, err
	}), nil
}

// newestWith returns the latest release with the digest; nil if there is none. If there are several, it warns if they
// differ in R8's mapping: the recording does not say which of them it is of.
func newestWith(ctx context.Context, con *console.Console, a *mappingstore.Archive,
	digest string) (*mappingstore.Release,
	error) {
	list, err := a.List(ctx, mappingstore.Selector{Digest: digest})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	first := ""
	for i, r := range list[:min(len(list), 16)] {
		d, err := a.Details(ctx, r)
		if err != nil {
			return nil, err
		}
		sum := ""
		if f := d.File(mappingstore.R8); f != nil {
			sum = f.SHA256.String()
		}
		if i == 0 {
			first = sum
		} else if sum != first {
			con.Warn("%s has %d releases with mapping %s, which differ in R8's mapping; using the latest (%s); pull "+
				"another by --version", a.Location(), len(list), digest, ReleaseText(&list[0]))
			break
		}
	}
	return &list[0], nil
}
