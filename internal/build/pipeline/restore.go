package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// RestoreConfig says what [Restore] compares.
type RestoreConfig struct {
	Original     string // an input of instrument
	Output       string // what instrument made of it
	Reading      Reading
	RuntimeClass string // that the output calls, in internal form
	Jobs         int
	Progress     func(done, total int64)
}

// Restoration is the result of [Restore].
type Restoration struct {
	Entries  int // that were compared, those in nested archives included
	Classes  int // among them
	Called   int // classes of the output that had calls
	Earlier  int // classes of the original that had calls of an earlier run, which the output does not restore
	Unsigned int // signature files, and manifests with their digests, that the output does not have
	// Differences says what else of the output without its calls is not as in the original, entry by entry.
	Differences []string
}

// Restore removes the calls from an output by [Strip], into a temporary directory, and compares the result with the
// original: the same entries in the same order with the same bytes, and no others.
//
// Two differences are what instrument does to every input. It removes the calls of an earlier run, so that a class of
// such an original is compared with what Strip makes of it. It also removes the signature of a jar, which would be
// wrong.
func Restore(ctx context.Context, c RestoreConfig) (*Restoration, error) {
	dir, err := os.MkdirTemp("", ".tracegen-restore-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &restoring{RestoreConfig: c, dir: dir, result: &Restoration{}}
	defer r.close()
	name, result, err := r.strip(ctx, c.Output, "output")
	if err != nil {
		return nil, err
	}
	r.result.Called = result.Inputs[0].Rewritten
	output, err := r.open(name)
	if err != nil {
		return nil, err
	}
	original, err := r.open(c.Original)
	if err != nil {
		return nil, err
	}
	expected, got := list(original.Containers[0]), list(output.Containers[0])
	if original.Containers[0].Kind == input.ClassFile && output.Containers[0].Kind == input.ClassFile {
		got[0].name, got[0].key = expected[0].name, expected[0].key // a lone class file may have any name
	}
	return r.result, r.compare(ctx, expected, got, c.Output)
}

// restoring is one call of Restore.
type restoring struct {
	RestoreConfig
	dir     string
	set     *input.Set // the output without calls, then the original
	result  *Restoration
	earlier map[string]*input.Entry // of the original without calls of an earlier run, by path
	buffers [2][]byte
}

func (r *restoring) close() {
	if r.set != nil {
		r.set.Close()
	}
}

// strip writes an output or input without calls, under the same last name, and returns its path.
func (r *restoring) strip(ctx context.Context, path, as string) (string, *Result, error) {
	to := filepath.Join(r.dir, as, filepath.Base(filepath.Clean(path)))
	if base := filepath.Base(to); base == "." || base == ".." || base == string(filepath.Separator) {
		to = filepath.Join(r.dir, as, "classes")
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", nil, err
	}
	result, err := Strip(ctx, StripConfig{Inputs: []Input{{Path: path, Output: to}}, Reading: r.Reading,
		RuntimeClass: r.RuntimeClass, Level: zipfile.LevelFast, Jobs: r.Jobs, Progress: r.Progress})
	return to, result, err
}

// open opens an input and adds it to the set.
func (r *restoring) open(path string) (*input.Input, error) {
	number := 0
	if r.set != nil {
		number = len(r.set.Inputs)
	}
	in, err := input.Open(number, path, r.Reading)
	if err != nil {
		return nil, err
	}
	r.add(in)
	return in, nil
}

func (r *restoring) add(in *input.Input) {
	if r.set == nil {
		r.set = input.NewSet([]*input.Input{in})
		return
	}
	r.set.Add(in)
}

// part is an entry to compare. Its key distinguishes entries of one name.
type part struct {
	*input.Entry
	in   *input.Container
	name string
	key  string
}

// list returns the entries of a container.
func list(c *input.Container) []part {
	parts := make([]part, len(c.Entries))
	count := make(map[string]int, len(c.Entries))
	for i := range c.Entries {
		e := &c.Entries[i]
		parts[i] = part{e, c, e.Name, key(e.Name, count)}
	}
	return parts
}

func key(name string, count map[string]int) string {
	count[name]++
	return fmt.Sprintf("%s\x00%d", name, count[name])
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

// compare compares entries that are expected with those of the output without calls. where names the output.
func (r *restoring) compare(ctx context.Context, expected, got []part, where string) error {
	known := make(map[string]part, len(expected))
	for _, e := range expected {
		known[e.key] = e
	}
	there := make(map[string]bool, len(got))
	var order []string
	for _, g := range got {
		if _, ok := known[g.key]; !ok {
			r.differs("%s!%s: the entry was added; %s does not have it", where, g.name, r.Original)
			continue
		}
		there[g.key] = true
		order = append(order, g.key)
	}
	next, moved := 0, false
	for _, e := range expected {
		if !there[e.key] {
			if zipfile.IsSignature(e.name) && e.Zip != nil {
				r.result.Unsigned++
			} else {
				r.differs("%s!%s: the entry is missing; %s has it", where, e.name, e.in.Name)
			}
			continue
		}
		if order[next] != e.key && !moved {
			moved = true
			r.differs("%s!%s: the entry is not in the place that %s has it in", where, e.name, e.in.Name)
		}
		next++
	}
	for _, g := range got {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e, ok := known[g.key]; ok {
			if err := r.entry(ctx, e, g, where+"!"+g.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry compares two entries of one name.
func (r *restoring) entry(ctx context.Context, e, g part, where string) error {
	r.result.Entries++
	if e.Nested != nil && g.Nested != nil {
		return r.compare(ctx, list(e.Nested), list(g.Nested), where)
	}
	if g.Class >= 0 {
		r.result.Classes++
	}
	if e.IsDirectory() || g.IsDirectory() || sameBytes(e.Entry, g.Entry) {
		return nil // the names are equal
	}
	want, err := r.set.ReadEntry(e.Entry, r.buffers[0])
	if err != nil {
		return err
	}
	is, err := r.set.ReadEntry(g.Entry, r.buffers[1])
	if err != nil {
		return err
	}
	r.buffers[0], r.buffers[1] = want, is
	if bytes.Equal(want, is) {
		return nil
	}
	if zipfile.IsManifest(e.name) && e.Zip != nil {
		if stripped, digests := zipfile.StripDigests(want); digests > 0 && bytes.Equal(stripped, is) {
			r.result.Unsigned++
			return nil
		}
	}
	if e.Class >= 0 {
		earlier, err := r.withoutEarlier(ctx, e)
		if err != nil {
			return err
		}
		if earlier != nil && bytes.Equal(earlier, is) {
			r.result.Earlier++
			return nil
		}
		r.class(want, is, where, e.in.Name)
		return nil
	}
	r.differs("%s: its content is not that of %s", where, e.in.Name)
	return nil
}

// sameBytes reports whether two entries of archives hold the same compressed bytes, which need not be inflated then.
func sameBytes(a, b *input.Entry) bool {
	return a.Zip != nil && b.Zip != nil && a.Zip.Method == b.Zip.Method && a.Zip.Size == b.Zip.Size &&
		a.Zip.CRC32 == b.Zip.CRC32 && a.Zip.Flags&1 == b.Zip.Flags&1 && bytes.Equal(a.Zip.Raw(), b.Zip.Raw())
}

// withoutEarlier returns a class of the original without the calls of an earlier run; nil if it had none. All of the
// original is stripped for the first class, as few originals have such calls, and those have them in most classes.
func (r *restoring) withoutEarlier(ctx context.Context, e part) ([]byte, error) {
	if r.earlier == nil {
		path, result, err := r.strip(ctx, r.Original, "original")
		if err != nil {
			return nil, err
		}
		r.earlier = map[string]*input.Entry{}
		if result.Inputs[0].Rewritten > 0 {
			in, err := r.open(path)
			if err != nil {
				return nil, err
			}
			for _, c := range in.Containers {
				for _, p := range list(c) {
					r.earlier[c.Outer+p.key] = p.Entry
				}
			}
		}
	}
	entry := r.earlier[e.in.Outer+e.key]
	if entry == nil {
		return nil, nil
	}
	return r.set.ReadEntry(entry, nil)
}

// class adds the difference of two classes of one name.
func (r *restoring) class(want, is []byte, where, original string) {
	about := ""
	if wanted, err := classfile.Parse(want); err == nil {
		if found, err := classfile.Parse(is); err == nil {
			about = changedMethods(wanted, found)
		}
	}
	r.differs("%s: the class without its calls is not that of %s%s", where, original, about)
}

// changedMethods names the methods that only one of two classes has, or that differ. Strip leaves the constants of the
// original where they are, so that equal methods have equal bytes.
func changedMethods(wanted, found *classfile.Class) string {
	bodies := map[string][]byte{}
	for i := range wanted.Methods() {
		m := &wanted.Methods()[i]
		bodies[m.Name+m.Descriptor] = methodBytes(wanted, m)
	}
	var names []string
	add := func(m *classfile.Member, what string) {
		names = append(names, fmt.Sprintf("%s.%s%s %s", mapping.Text(found.Name()), mapping.Text(m.Name),
			mapping.Text(m.Descriptor), what))
	}
	for i := range found.Methods() {
		m := &found.Methods()[i]
		body, ok := bodies[m.Name+m.Descriptor]
		delete(bodies, m.Name+m.Descriptor)
		switch {
		case !ok:
			add(m, "was added")
		case !bytes.Equal(body, methodBytes(found, m)):
			add(m, "differs")
		}
	}
	for i := range wanted.Methods() {
		if m := &wanted.Methods()[i]; bodies[m.Name+m.Descriptor] != nil {
			add(m, "is missing")
		}
	}
	const most = 5
	switch n := len(names); {
	case n == 0:
		return "; no method differs"
	case n > most:
		names = append(names[:most], fmt.Sprintf("and %d more", n-most))
	}
	return "; " + strings.Join(names, ", ")
}

func methodBytes(c *classfile.Class, m *classfile.Member) []byte {
	end := m.Offset + 8 // access_flags, name_index, descriptor_index, attributes_count (JVMS 4.6)
	if n := len(m.Attributes); n > 0 {
		last := &m.Attributes[n-1]
		end = last.Offset + len(last.Info)
	}
	return c.Bytes()[m.Offset:end]
}
