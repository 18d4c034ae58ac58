package incremental

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

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// outputDirs remembers in which state runs left their outputs, by the directory that the outputs lie in. The cache has
// an entry for each directory. Outputs that were not touched since need not be read, and files that no run needs any
// more can be removed. Without an entry, all outputs are read, and none is removed.
type outputDirs struct {
	byDirectory map[string]*outputDir
	staged      fileClock // as it was when all outputs were written, and none was in its place
}

// outputDir is a directory with outputs.
type outputDir struct {
	outputs map[string]leftOutput // by their names in it
	changed bool
}

// leftOutput is an output as it was left.
type leftOutput struct {
	directory bool
	claimed   bool // it was written by a run whose outputs all went here, named by their inputs
	files     []leftFile
}

// leftFile is a file of an output, and the state in which a run left it.
type leftFile struct {
	name string // as in fileRecord
	sum  cache.Checksum
	seen fileState
}

// fileState is the state of a file, as the file system reports it.
type fileState struct {
	size     int64
	modified int64 // nanoseconds of the Unix epoch
	id       output.FileID
	// oldEnough says that the file had been written so long ago that writing it again would have changed its time.
	oldEnough bool
}

const (
	// coarse and fine bound the steps of a file system's clock: of one that keeps whole seconds, and of one that keeps
	// fractions.
	coarse = 2 * time.Second
	fine   = 100 * time.Millisecond
)

// stateOf returns the state of a file. It follows links, as writing does.
func stateOf(path string) (fileState, bool) {
	now := time.Now()
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return fileState{}, false
	}
	s := fileState{size: info.Size(), modified: info.ModTime().UnixNano(), id: output.IDOf(info)}
	age := now.Sub(info.ModTime())
	s.oldEnough = s.id != output.FileID{} && (age > coarse || age > fine && info.ModTime().Nanosecond() != 0)
	return s, true
}

func (s *fileState) pack(k *wire.Packer) {
	k.Flags(s.oldEnough)
	for _, v := range []uint64{uint64(s.size), uint64(s.modified), s.id.Device, s.id.Inode, uint64(s.id.Changed)} {
		k.Uvarint(v)
	}
}

// readState reads what pack has written.
func readState(u *wire.Unpacker) (s fileState) {
	u.Flags(&s.oldEnough)
	s.size, s.modified = int64(u.Uvarint()), int64(u.Uvarint())
	s.id = output.FileID{Device: u.Uvarint(), Inode: u.Uvarint(), Changed: int64(u.Uvarint())}
	return s
}

// split returns the directory and the name under which an output is remembered.
func split(path string) (directory, name string, err error) {
	path = filepath.Clean(path)
	directory, err = output.Resolve(filepath.Dir(path))
	return directory, filepath.Base(path), err
}

func outputDirKey(directory string) cache.Key { return cache.KeyOf("outputs 3", directory) }

// load reads what is remembered of the directories that this run writes to.
func (p *outputDirs) load(m *memory) {
	if p.byDirectory == nil {
		p.byDirectory = make(map[string]*outputDir)
	}
	outputs := []string{}
	if m.Directory != "" {
		outputs = append(outputs, filepath.Join(m.Directory, "any"))
	}
	for _, d := range m.jobs {
		outputs = append(outputs, d.Path)
	}
	for _, path := range outputs {
		directory, _, err := split(path)
		if err != nil || p.byDirectory[directory] != nil {
			continue
		}
		at := &outputDir{outputs: make(map[string]leftOutput)}
		if data := m.get(outputDirKey(directory)); data != nil {
			if read := readOutputDir(data); read != nil {
				at = read
			}
		}
		p.byDirectory[directory] = at
	}
}

// left returns what is remembered of an output, its directory, and its name there; no directory if nothing is.
func (p *outputDirs) left(path string) (leftOutput, *outputDir, string) {
	directory, name, err := split(path)
	at := p.byDirectory[directory]
	if err != nil || at == nil {
		return leftOutput{}, nil, ""
	}
	return at.outputs[name], at, name
}

// holds reports whether a file of an output has the content and permissions that it must have.
func (p *outputDirs) holds(target, name string, want fileRecord) bool {
	path := filepath.Join(target, filepath.FromSlash(name))
	if strings.HasSuffix(name, "/") {
		return isDirectory(path)
	}
	now, ok := stateOf(path)
	if !ok || now.size != want.size {
		return false
	}
	if name != "" {
		if info, err := os.Stat(path); err != nil || uint16(info.Mode().Perm()) != want.mode {
			return false
		}
	}
	left, _, _ := p.left(target)
	if f := left.file(name); f != nil && f.sum == want.sum && f.seen.oldEnough && f.seen.same(now) {
		return true
	}
	return hasContent(path, want.sum)
}

// hasContent reports whether the file has content of that checksum.
func hasContent(path string, want cache.Checksum) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var sum cache.Summer
	// Hidden from CopyBuffer, the file's own way of copying does not allocate another buffer.
	_, err = io.CopyBuffer(&sum, struct{ io.Reader }{f}, make([]byte, bufferSize))
	return err == nil && sum.Sum() == want
}

func (s fileState) same(other fileState) bool {
	s.oldEnough, other.oldEnough = false, false
	return s == other
}

// file finds a file of the output. They are sorted by name.
func (o *leftOutput) file(name string) *leftFile {
	i, found := slices.BinarySearchFunc(o.files, name, func(f leftFile,
		name string) int {
		return strings.Compare(f.name, name)
	})
	if !found {
		return nil
	}
	return &o.files[i]
}

// departing returns the files that an earlier run wrote into the directory of an output, that were not changed since,
// and that this run does not write.
func (p *outputDirs) departing(d *job) []string {
	ours := make(map[string]bool)
	for _, f := range d.files {
		ours[f.name] = true
	}
	left, _, _ := p.left(d.Path)
	var names []string
	for _, f := range left.files {
		path := filepath.Join(d.Path, filepath.FromSlash(f.name))
		if left.directory && !ours[f.name] && !strings.HasSuffix(f.name, "/") && isUnchanged(path, f) {
			names = append(names, f.name)
		}
	}
	return names
}

// isUnchanged reports whether a file is as a run left it. A link never is: no run writes one.
func isUnchanged(path string, f leftFile) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == f.seen.size && hasContent(path, f.sum)
}

// Depart implements [Memory].
func (m *memory) Depart(stage *output.Stage) {
	if !m.keeps() {
		return
	}
	for _, staged := range stage.Directories() {
		for _, d := range m.jobs {
			if d.isDirectory() && filepath.Clean(d.Path) == staged.Target {
				staged.Depart(m.dirs.departing(d))
			}
		}
	}
}

// Staged implements [Memory].
func (m *memory) Staged() {
	if m.keeps() {
		m.dirs.staged = readClock(m.Cache)
	}
}

// Finish implements [Memory]. It removes what is not an output any more, and remembers how the outputs were left.
func (m *memory) Finish(stage *output.Stage) {
	m.summary()
	if !m.keeps() {
		return
	}
	for _, staged := range stage.Directories() {
		m.remove(staged.Target, staged.Departing())
	}
	m.removeVanished()
	for _, d := range m.jobs {
		m.dirs.note(d, m.Directory != "")
	}
	m.noteBesides()
	for _, directory := range slices.Sorted(maps.Keys(m.dirs.byDirectory)) {
		at := m.dirs.byDirectory[directory]
		if !at.changed || m.broken {
			continue
		}
		m.grown = true
		if err := m.Cache.Put(outputDirKey(directory), at.pack()); err != nil {
			m.fail(err)
		}
	}
	if err := m.files.store(m.Cache); err != nil {
		m.fail(err)
	}
	if m.grown {
		if err := m.Cache.Trim(); err != nil {
			m.fail(err)
		}
	}
}

// remove removes files, and the directories below dir that are empty then.
func (m *memory) remove(dir string, names []string) {
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
func (m *memory) removeVanished() {
	if m.Directory == "" {
		return
	}
	directory, _, err := split(filepath.Join(m.Directory, "any"))
	at := m.dirs.byDirectory[directory]
	if err != nil || at == nil {
		return
	}
	current := make(map[string]bool)
	stay := slices.Concat(m.Spare, m.run.Inputs)
	for _, d := range m.jobs {
		current[filepath.Base(filepath.Clean(d.Path))] = true
		stay = append(stay, d.Path)
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

// needed reports whether the run uses a file under another name, or what is in it if it is a directory.
func (m *memory) needed(path string, stay []string) bool {
	linked, err := zipfile.Linked(path, stay...)
	if err != nil || linked != "" {
		return true
	}
	return slices.ContainsFunc(stay, func(s string) bool {
		return output.Contains(path, s) || output.Contains(s, path) && !output.Contains(s, m.Directory)
	})
}

// note remembers the state of an output.
func (p *outputDirs) note(d *job, claimed bool) {
	old, at, name := p.left(d.Path)
	if at == nil {
		return
	}
	left := leftOutput{directory: d.isDirectory(), claimed: claimed || old.claimed}
	for _, f := range d.files {
		path := filepath.Join(d.Path, filepath.FromSlash(f.name))
		now, ok := stateOf(path)
		now.oldEnough = now.oldEnough || p.staged.shows(now) // it was written before, or it shows that it was changed
		if before := old.file(f.name); before != nil && before.sum == f.sum && before.seen.same(now) &&
			before.seen.oldEnough {
			now = before.seen // it has not changed: only its age has
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
		delete(at.outputs, name) // a device, or removed already
	}
}

func (p *outputDir) pack() []byte {
	k := wire.NewPacker()
	k.Int(len(p.outputs))
	for _, name := range slices.Sorted(maps.Keys(p.outputs)) {
		o := p.outputs[name]
		k.Text(name)
		k.Flags(o.directory, o.claimed)
		k.Int(len(o.files))
		for _, f := range o.files {
			k.Text(f.name)
			k.Raw(f.sum[:]...)
			f.seen.pack(k)
		}
	}
	return k.Bytes()
}

func readOutputDir(data []byte) *outputDir {
	u := wire.NewUnpacker(data)
	p := &outputDir{outputs: make(map[string]leftOutput)}
	for range u.Count(3) {
		name := u.Text()
		var o leftOutput
		u.Flags(&o.directory, &o.claimed)
		for range u.Count(7 + len(cache.Checksum{})) {
			f := leftFile{name: u.Text(), sum: cache.Checksum(u.Raw(len(cache.Checksum{})))}
			f.seen = readState(u)
			o.files = append(o.files, f)
		}
		p.outputs[name] = o
	}
	if !u.End() {
		return nil
	}
	return p
}

// errDiffers ends a comparison of different contents.
var errDiffers = errors.New("not the same")

// comparison compares what is written to it with what it reads, and fails with errDiffers if they differ.
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

// HasFile implements [Memory]. To compare a mapping costs less than to bring it onto the disk, and its time stays.
func (m *memory) HasFile(path string, content io.WriterTo) bool {
	if m.run.DryRun {
		return false
	}
	remembered := m.beside(path, content)
	now, ok := stateOf(path)
	if remembered != nil && ok && remembered.is(now) {
		return true
	}
	if !ok || !m.sameContent(path, content) {
		if remembered != nil {
			m.besides = append(m.besides, remembered)
		}
		return false
	}
	if remembered != nil {
		m.keepBeside(remembered, now)
	}
	return true
}

// keepBeside keeps the state of a file beside the outputs, if it shows when the file is changed.
func (m *memory) keepBeside(b *besideFile, now fileState) {
	if !now.oldEnough || !m.keeps() {
		return
	}
	b.state = now
	if err := m.Cache.Put(b.key, b.pack()); err != nil {
		m.fail(err)
	}
}

// noteBesides keeps the states of the files that were written beside the outputs.
func (m *memory) noteBesides() {
	for _, b := range m.besides {
		if now, ok := stateOf(b.path); ok {
			now.oldEnough = now.oldEnough || m.dirs.staged.shows(now)
			m.keepBeside(b, now)
		}
	}
}

// besideFile is a file beside the outputs, which had its content when it was in that state.
type besideFile struct {
	path  string
	key   cache.Key // of this, in the cache
	sum   cache.Key // of the content
	state fileState // zero if it is not known
}

// is reports whether the file still has the content, now that it is in this state.
func (b *besideFile) is(now fileState) bool { return b.state.oldEnough && b.state.same(now) }

// beside returns what is remembered of a file with this content, nil if the content has no sum.
func (m *memory) beside(path string, content io.WriterTo) *besideFile {
	c, ok := content.(interface{ ContentSum() [sha256.Size]byte })
	directory, name, err := split(path)
	if !ok || err != nil {
		return nil
	}
	b := &besideFile{path: path, key: cache.KeyOf("beside 1", m.Tool, directory, name), sum: c.ContentSum()}
	u := wire.NewUnpacker(m.get(b.key))
	of := cache.Key(u.Raw(len(b.sum)))
	if state := readState(u); u.End() && of == b.sum {
		b.state = state
	}
	return b
}

func (b *besideFile) pack() []byte {
	k := wire.NewPacker()
	k.Raw(b.sum[:]...)
	b.state.pack(k)
	return k.Bytes()
}

// sameContent reports whether a file has this content.
func (m *memory) sameContent(path string, content io.WriterTo) bool {
	there, err := os.Open(path)
	if err != nil {
		return false
	}
	defer there.Close()
	c := &comparison{from: bufio.NewReaderSize(there, 1<<16)}
	if _, err := content.WriteTo(c); err != nil {
		return false // it is another one, or cannot be made: writing it will report that
	}
	_, err = c.from.Read(make([]byte, 1))
	return err == io.EOF
}
