package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// RestoreConfig says what [Restore] compares.
type RestoreConfig struct {
	Original     string // an input of instrument
	Output       string // what instrument made of it
	RuntimeClass string // that the output calls, in internal form
	Jobs         int
	Progress     func(done, total int64)
}

// Restoration is the result of [Restore].
type Restoration struct {
	Entries  int // that were compared, those in nested archives included
	Classes  int // among them
	Called   int // classes of the output that had calls
	Earlier  int // classes of the original that had calls of an earlier run
	Unsigned int // signature files, and manifests with their digests, that the output does not have
	// Differences says what else of the output without its calls is not as in the original, up to the first entry that
	// the other does not have.
	Differences []string
}

// Restore removes the calls from an output and from its original by [Strip], into a temporary directory, and compares
// the results: the same entries in the same order with the same bytes, and no others.
//
// Two differences are what instrument does to every input. It removes the calls of an earlier run, so that the original
// is compared without them. It also removes the signature of a jar, which would be wrong.
func Restore(ctx context.Context, c RestoreConfig) (*Restoration, error) {
	dir, err := os.MkdirTemp("", ".tracegen-restore-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &restoring{RestoreConfig: c, result: &Restoration{}}
	var inputs []*input.Input
	defer func() { input.NewSet(inputs).Close() }()
	for i, side := range []struct {
		path    string
		changed *int
	}{{c.Original, &r.result.Earlier}, {c.Output, &r.result.Called}} {
		name, changed, err := r.strip(ctx, side.path, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return nil, err
		}
		*side.changed = changed
		in, err := input.Open(i, name, false)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	r.set = input.NewSet(inputs)
	return r.result, r.compare(ctx, inputs[0].Containers[0], inputs[1].Containers[0], c.Original, c.Output)
}

// restoring is one call of Restore.
type restoring struct {
	RestoreConfig
	set     *input.Set // the original and the output, without calls
	result  *Restoration
	buffers [2][]byte
}

// strip writes an output or original without calls into a directory, under the same last name. It returns the path, and
// the number of classes that had calls.
func (r *restoring) strip(ctx context.Context, path, dir string) (string, int, error) {
	to := filepath.Join(dir, filepath.Base(filepath.Clean(path)))
	if base := filepath.Base(to); base == "." || base == ".." || base == string(filepath.Separator) {
		to = filepath.Join(dir, "classes")
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", 0, err
	}
	result, err := Strip(ctx, Config{Inputs: []Input{{Path: path, Output: to}},
		Inject: inject.Options{RuntimeClass: r.RuntimeClass}, Level: zipfile.LevelFast, Jobs: r.Jobs, Progress: r.Progress})
	if err != nil {
		return "", 0, err
	}
	return to, result.Inputs[0].Rewritten, nil
}

// maxDifferences is the number of differences that are named; a wrong file has thousands.
const maxDifferences = 20

// differs adds a difference.
func (r *restoring) differs(format string, args ...any) {
	switch n := len(r.result.Differences); {
	case n < maxDifferences:
		r.result.Differences = append(r.result.Differences, fmt.Sprintf(format, args...))
	case n == maxDifferences:
		r.result.Differences = append(r.result.Differences, "and more")
	}
}

// compare compares the entries of the output without calls with those that are expected, up to the first that is
// another one. A lone class file may have any name.
func (r *restoring) compare(ctx context.Context, expected, got *input.Container, original, output string) error {
	left := expected.Entries
	for i := range got.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		g := &got.Entries[i]
		named := func(e *input.Entry) bool {
			return e.Name == g.Name || expected.Kind == input.ClassFile && got.Kind == input.ClassFile
		}
		left = r.withoutSignatures(left, named)
		if len(left) == 0 {
			r.differs("%s!%s: the entry was added; %s does not have it", output, g.Name, original)
			return nil
		}
		if !named(&left[0]) {
			r.differs("%s!%s: the entry is where %s has %s", output, g.Name, original, left[0].Name)
			return nil
		}
		if err := r.entry(ctx, &left[0], g, original, output+"!"+g.Name); err != nil {
			return err
		}
		left = left[1:]
	}
	if left = r.withoutSignatures(left, func(*input.Entry) bool { return false }); len(left) > 0 {
		r.differs("%s!%s: the entry is missing; %s has it", output, left[0].Name, original)
	}
	return nil
}

// withoutSignatures returns the entries from the first on that is no signature, or that ends says is the one.
func (r *restoring) withoutSignatures(list []input.Entry, ends func(*input.Entry) bool) []input.Entry {
	for len(list) > 0 && !ends(&list[0]) && zipfile.IsSignature(list[0].Name) && list[0].Zip != nil {
		r.result.Unsigned++
		list = list[1:]
	}
	return list
}

// entry compares two entries of one name. original is what the expected one is in, and where names the other.
func (r *restoring) entry(ctx context.Context, e, g *input.Entry, original, where string) error {
	r.result.Entries++
	if e.Nested != nil && g.Nested != nil {
		return r.compare(ctx, e.Nested, g.Nested, original+"!"+e.Name, where)
	}
	if g.Class >= 0 {
		r.result.Classes++
	}
	if e.IsDirectory() || g.IsDirectory() || sameBytes(e, g) {
		return nil // the names are equal
	}
	want, err := r.set.ReadEntry(e, r.buffers[0])
	if err != nil {
		return err
	}
	is, err := r.set.ReadEntry(g, r.buffers[1])
	if err != nil {
		return err
	}
	r.buffers[0], r.buffers[1] = want, is
	if bytes.Equal(want, is) {
		return nil
	}
	if zipfile.IsManifest(e.Name) && e.Zip != nil {
		if stripped, digests := zipfile.StripDigests(want); digests > 0 && bytes.Equal(stripped, is) {
			r.result.Unsigned++
			return nil
		}
	}
	if e.Class >= 0 {
		r.differs("%s: the class without its calls is not that of %s", where, original)
	} else {
		r.differs("%s: its content is not that of %s", where, original)
	}
	return nil
}

// sameBytes reports whether two entries of archives hold the same compressed bytes, which need not be inflated then.
func sameBytes(a, b *input.Entry) bool {
	return a.Zip != nil && b.Zip != nil && a.Zip.Method == b.Zip.Method && a.Zip.Size == b.Zip.Size &&
		a.Zip.CRC32 == b.Zip.CRC32 && a.Zip.Flags&1 == b.Zip.Flags&1 && bytes.Equal(a.Zip.Raw(), b.Zip.Raw())
}
