package pipeline

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/jar"
)

// places remembers how outputs were left, by the directory that they lie in, which the cache has an entry for each of. They spare
// reading outputs that nobody touched, and tell which files are ours. Without them all that is so is found out
// by reading, and nothing is removed.
type places struct {
	byDirectory map[string]*place
}

// place is a directory with outputs.
type place struct {
	outputs map[string]leftOutput // by their names in it
	changed bool
}

// leftOutput is an output as it was left.
type leftOutput struct {
	directory bool
	claimed   bool // of a run whose outputs all went here by their inputs' names
	files     []leftFile
}

// leftFile is a file of an output, and how it looked.
type leftFile struct {
	name string // as in deliveredFile
	sum  cache.Key
	seen sight
}

// sight is what the file system says of a file.
type sight struct {
	size     int64
	modified int64 // nanoseconds of the Unix epoch
	id       fileID
	// settled says that the file was last written so long before that writing it again would have changed its time.
	settled bool
}

// fileID tells a file from another one that took its name, and when anything of it was changed last, which nobody can set
// back. It is zero where the system does not say: such a file is known by its content only.
type fileID struct {
	device, inode uint64
	changed       int64 // nanoseconds of the Unix epoch
}

const (
	// coarse and fine are steps of a file system's clock, of one that keeps fractions of seconds and one that does not.
	coarse = 2 * time.Second
	fine   = 100 * time.Millisecond
)

func sumOfContent(data []byte) cache.Key { return sha256.Sum256(data) }

// look describes a file as it is at this moment. Links are followed, as they are by whoever writes it.
func look(path string) (sight, bool) {
	now := time.Now()
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return sight{}, false
	}
	s := sight{size: info.Size(), modified: info.ModTime().UnixNano(), id: idOf(info)}
	age := now.Sub(info.ModTime())
	s.settled = s.id != fileID{} && (age > coarse || age > fine && info.ModTime().Nanosecond() != 0)
	return s, true
}

// split tells under which directory and name an output is remembered.
func split(output string) (directory, name string, err error) {
	output = filepath.Clean(output)
	directory, err = resolve(filepath.Dir(output))
	return directory, filepath.Base(output), err
}

func placeKey(directory string) cache.Key { return cache.KeyOf("place 1", directory) }

// load reads what is remembered of the places that this run writes to.
func (p *places) load(m *incremental) {
	if p.byDirectory == nil {
		p.byDirectory = make(map[string]*place)
	}
	outputs := []string{}
	if m.Directory != "" {
		outputs = append(outputs, filepath.Join(m.Directory, "any"))
	}
	for _, d := range m.deliveries {
		outputs = append(outputs, d.output)
	}
	for _, output := range outputs {
		directory, _, err := split(output)
		if err != nil || p.byDirectory[directory] != nil {
			continue
		}
		at := &place{outputs: make(map[string]leftOutput)}
		if data := m.get(placeKey(directory)); data != nil {
			if read := readPlace(data); read != nil {
				at = read
			}
		}
		p.byDirectory[directory] = at
	}
}

// left gives what is remembered of an output.
func (p *places) left(output string) (leftOutput, *place, string) {
	directory, name, err := split(output)
	at := p.byDirectory[directory]
	if err != nil || at == nil {
		return leftOutput{}, nil, ""
	}
	return at.outputs[name], at, name
}

// holds says whether a file of an output is as it should be.
func (p *places) holds(output, name string, want deliveredFile) bool {
	path := filepath.Join(output, filepath.FromSlash(name))
	if strings.HasSuffix(name, "/") {
		return isDirectory(path)
	}
	now, ok := look(path)
	if !ok || now.size != want.size {
		return false
	}
	if name != "" {
		if info, err := os.Stat(path); err != nil || uint16(info.Mode().Perm()) != want.mode {
			return false
		}
	}
	left, _, _ := p.left(output)
	if f := left.file(name); f != nil && f.sum == want.sum && f.seen.settled && f.seen.same(now) {
		return true
	}
	return contains256(path, want.sum)
}

// contains256 says whether the file has content of that SHA-256.
func contains256(path string, want cache.Key) bool {
	sum, _, err := hashFile(path, make([]byte, 1<<18))
	return err == nil && sum == want
}

func (s sight) same(other sight) bool {
	s.settled, other.settled = false, false
	return s == other
}

// file finds a file of the output. They are sorted by name.
func (o *leftOutput) file(name string) *leftFile {
	i, found := slices.BinarySearchFunc(o.files, name, func(f leftFile, name string) int { return strings.Compare(f.name, name) })
	if !found {
		return nil
	}
	return &o.files[i]
}

// departing gives the files that an earlier run wrote into the directory of an output, that nobody has changed since, and
// that this run does not write.
func (p *places) departing(d *delivery) []string {
	ours := make(map[string]bool)
	for _, f := range d.files {
		ours[f.name] = true
	}
	left, _, _ := p.left(d.output)
	var names []string
	for _, f := range left.files {
		path := filepath.Join(d.output, filepath.FromSlash(f.name))
		if left.directory && !ours[f.name] && !strings.HasSuffix(f.name, "/") && isUnchanged(path, f) {
			names = append(names, f.name)
		}
	}
	return names
}

// isUnchanged says whether a file is what we wrote. A link is not, whatever it leads to.
func isUnchanged(path string, f leftFile) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == f.seen.size && contains256(path, f.sum)
}

// markDeparting tells the output directories which of the files in them are going to be removed.
func (m *incremental) markDeparting() {
	if m == nil || !m.keeps() {
		return
	}
	for _, staged := range m.run.outputs.directories {
		for _, d := range m.deliveries {
			if d.directory && filepath.Clean(d.output) == staged.target {
				staged.departing = m.places.departing(d)
			}
		}
	}
}

// finish removes what is not an output any more, and remembers how the outputs were left.
func (m *incremental) finish() {
	if m == nil {
		return
	}
	m.summary()
	if !m.keeps() {
		return
	}
	for _, staged := range m.run.outputs.directories {
		m.remove(staged.target, staged.departing)
	}
	m.removeVanished()
	for _, d := range m.deliveries {
		m.places.note(d, m.Directory != "")
	}
	for _, directory := range slices.Sorted(maps.Keys(m.places.byDirectory)) {
		at := m.places.byDirectory[directory]
		if !at.changed || m.broken {
			continue
		}
		m.grown = true
		if err := m.Cache.Put(placeKey(directory), at.pack()); err != nil {
			m.fail(err)
		}
	}
	if m.grown {
		if err := m.Cache.Trim(); err != nil {
			m.fail(err)
		}
	}
}

// remove takes files away, and the directories below dir that are empty then.
func (m *incremental) remove(dir string, names []string) {
	for _, name := range slices.Backward(names) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil {
			m.detail("%v", err)
			continue
		}
		m.detail("removed %s, an output of an earlier run", path)
		for up := filepath.Dir(path); up != dir && len(up) > len(dir); up = filepath.Dir(up) {
			if os.Remove(up) != nil {
				break // there is something else in it
			}
		}
	}
}

// removeVanished removes outputs whose inputs are not given any more.
func (m *incremental) removeVanished() {
	if m.Directory == "" {
		return
	}
	directory, _, err := split(filepath.Join(m.Directory, "any"))
	at := m.places.byDirectory[directory]
	if err != nil || at == nil {
		return
	}
	current := make(map[string]bool)
	stay := slices.Concat(m.Spare, m.run.inputPaths())
	for _, d := range m.deliveries {
		current[filepath.Base(filepath.Clean(d.output))] = true
		stay = append(stay, d.output)
	}
	stay = slices.DeleteFunc(stay, func(path string) bool { _, err := os.Stat(path); return err != nil })
	for _, name := range slices.Sorted(maps.Keys(at.outputs)) {
		old := at.outputs[name]
		path := filepath.Join(m.Directory, name)
		if current[name] || !old.claimed || !filepath.IsLocal(name) || m.needed(path, stay) {
			continue
		}
		delete(at.outputs, name)
		at.changed = true
		if !old.directory {
			if len(old.files) == 1 && isUnchanged(path, old.files[0]) {
				m.remove(m.Directory, []string{name})
			}
			continue
		}
		var names []string
		for _, f := range old.files {
			below := filepath.Join(path, filepath.FromSlash(f.name))
			if strings.HasSuffix(f.name, "/") && isDirectory(below) {
				_ = os.Remove(below) // unless there is something in it
			} else if isUnchanged(below, f) {
				names = append(names, f.name)
			}
		}
		m.remove(path, names)
		_ = os.Remove(path) // likewise
	}
}

// needed says whether the run has to do with a file under another name, or with what is in it if it is a directory.
func (m *incremental) needed(path string, stay []string) bool {
	linked, err := jar.Linked(path, stay...)
	if err != nil || linked != "" {
		return true
	}
	return slices.ContainsFunc(stay, func(s string) bool { return contains(path, s) || contains(s, path) && !contains(s, m.Directory) })
}

// note remembers how an output is left.
func (p *places) note(d *delivery, claimed bool) {
	old, at, name := p.left(d.output)
	if at == nil {
		return
	}
	left := leftOutput{directory: d.directory, claimed: claimed || old.claimed}
	for _, f := range d.files {
		path := filepath.Join(d.output, filepath.FromSlash(f.name))
		now, ok := look(path)
		if before := old.file(f.name); before != nil && before.sum == f.sum && before.seen.same(now) && before.seen.settled {
			now = before.seen // nor does being older make it another
		}
		if ok || strings.HasSuffix(f.name, "/") {
			left.files = append(left.files, leftFile{f.name, f.sum, now})
		}
	}
	slices.SortFunc(left.files, func(a, b leftFile) int { return cmp.Compare(a.name, b.name) })
	if left.directory == old.directory && left.claimed == old.claimed && slices.Equal(left.files, old.files) {
		return
	}
	at.changed = true
	if at.outputs[name] = left; len(left.files) == 0 && !left.directory {
		delete(at.outputs, name) // a device, or gone already
	}
}

func (p *place) pack() []byte {
	k := newPacker()
	k.int(len(p.outputs))
	for _, name := range slices.Sorted(maps.Keys(p.outputs)) {
		o := p.outputs[name]
		k.text(name)
		k.flags(o.directory, o.claimed)
		k.int(len(o.files))
		for _, f := range o.files {
			k.text(f.name)
			k.raw(f.sum[:]...)
			k.flags(f.seen.settled)
			for _, v := range []uint64{uint64(f.seen.size), uint64(f.seen.modified), f.seen.id.device, f.seen.id.inode, uint64(f.seen.id.changed)} {
				k.uvarint(v)
			}
		}
	}
	return k.bytes()
}

func readPlace(data []byte) *place {
	u := newUnpacker(data)
	p := &place{outputs: make(map[string]leftOutput)}
	for range u.count(3) {
		name := u.text()
		var o leftOutput
		u.flags(&o.directory, &o.claimed)
		for range u.count(7 + len(cache.Key{})) {
			f := leftFile{name: u.text(), sum: cache.Key(u.raw(len(cache.Key{})))}
			u.flags(&f.seen.settled)
			f.seen.size, f.seen.modified = int64(u.uvarint()), int64(u.uvarint())
			f.seen.id = fileID{u.uvarint(), u.uvarint(), int64(u.uvarint())}
			o.files = append(o.files, f)
		}
		p.outputs[name] = o
	}
	if !u.end() {
		return nil
	}
	return p
}

// errDiffers ends a comparison.
var errDiffers = errors.New("not the same")

// comparison is written to, and fails with errDiffers when it is something else than what is read.
type comparison struct {
	from   io.Reader
	buffer []byte
}

// Write implements io.Writer.
func (c *comparison) Write(p []byte) (int, error) {
	if len(c.buffer) < len(p) {
		c.buffer = make([]byte, len(p))
	}
	if _, err := io.ReadFull(c.from, c.buffer[:len(p)]); err != nil || !bytes.Equal(c.buffer[:len(p)], p) {
		return 0, errDiffers
	}
	return len(p), nil
}

// hasFile says whether a file beside the outputs is there as it would be written. To compare a mapping costs less than to
// bring it onto the disk, and nobody takes it for new.
func (m *incremental) hasFile(f File) bool {
	if m == nil || m.run.config.DryRun {
		return false
	}
	info, err := os.Stat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	there, err := os.Open(f.Path)
	if err != nil {
		return false
	}
	defer there.Close()
	c := &comparison{from: bufio.NewReaderSize(there, 1<<16)}
	if _, err := f.Content.WriteTo(c); err != nil {
		return false // another one, or one that cannot be made, as who writes it will tell
	}
	_, err = c.from.Read(make([]byte, 1))
	return err == io.EOF
}
