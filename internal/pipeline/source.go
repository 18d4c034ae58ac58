package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/jar"
)

// source is something with entries: an archive, an archive in an .aar, a directory, a single class file.
type source struct {
	name    string // as in messages: PATH or PATH!ENTRY
	outer   string // the entry that it is in an .aar, with a ! behind it
	input   int    // index into Config.Inputs
	archive *jar.Archive
	isDir   bool
	lone    bool // a single class file
	entries []entry
}

// entry is one file of a source.
type entry struct {
	name    string // with slashes, below its source; that of a directory ends in one
	file    string // on disk, if the source is no archive
	mode    fs.FileMode
	size    int64      // uncompressed, as the container says
	zip     *jar.Entry // if the source is an archive
	unit    *unit      // if it is a class
	dropped bool       // when merging: an earlier input has an entry of this name
	nested  *source    // if it is a jar of classes in an .aar
}

// open reads what the inputs contain; nothing is decompressed yet, but the jars inside of .aar files.
func (r *run) open() error {
	for i, in := range r.config.Inputs {
		s := r.known.recall(i)
		if s == nil {
			var err error
			if s, err = r.openInput(i, in.Path); err != nil {
				return err
			}
		}
		r.sources = append(r.sources, s)
	}
	return nil
}

func (r *run) openInput(index int, name string) (*source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read input: %w", err)
	}
	s := &source{name: name, input: index}
	switch extension := strings.ToLower(filepath.Ext(name)); {
	case info.IsDir():
		s.isDir = true
		return s, r.openDirectory(s)
	case extension == ".class":
		s.lone = true
		s.entries = []entry{{name: filepath.Base(name), file: name, mode: info.Mode(), size: info.Size()}}
		r.addUnit(s, &s.entries[0])
		return s, nil
	default:
		if s.archive, err = jar.Open(name); err != nil {
			return nil, fmt.Errorf("cannot read input as a zip archive: %w", err)
		}
		r.opened = append(r.opened, s.archive)
		r.addEntries(s)
		if extension == ".aar" {
			return s, r.openNested(s)
		}
		return s, nil
	}
}

func (r *run) addEntries(s *source) {
	zip := s.archive.Entries()
	s.entries = make([]entry, len(zip))
	for i := range zip {
		e := &s.entries[i]
		*e = entry{name: zip[i].Name, size: int64(zip[i].Size), zip: &zip[i]}
		if isClassName(e.name) {
			r.addUnit(s, e)
		}
	}
	for _, d := range s.archive.Duplicates() {
		r.warnDuplicate(s.name, d.Name)
	}
}

func (r *run) warnDuplicate(source, entry string) {
	r.warn("%s: entry %s is there more than once; all are kept, in their order", source, entry)
}

// openNested opens the jars with code of an .aar (its format says which): classes.jar and libs/*.jar.
func (r *run) openNested(s *source) error {
	for i := range s.entries {
		e := &s.entries[i]
		inLibs, _ := path.Match("libs/*.jar", e.name)
		if e.name != "classes.jar" && !inLibs {
			continue
		}
		data, err := r.codec.Read(e.zip, nil)
		if err != nil {
			return err
		}
		nested := &source{name: s.name + "!" + e.name, outer: e.name + "!", input: s.input}
		if nested.archive, err = jar.New(nested.name, data); err != nil {
			return err
		}
		r.addEntries(nested)
		e.nested = nested
	}
	return nil
}

// openDirectory lists what is below a directory: all files, and the directories that hold nothing.
func (r *run) openDirectory(s *source) error {
	info, err := os.Stat(s.name)
	if err == nil {
		err = s.list("", []fs.FileInfo{info})
	}
	if err != nil {
		return fmt.Errorf("cannot read input directory: %w", err)
	}
	for i := range s.entries {
		if e := &s.entries[i]; isClassName(e.name) {
			r.addUnit(s, e)
		}
	}
	return nil
}

// list appends what is in the directory below the source's own, in the order of names. Links are followed: the
// output is to hold what the input does wherever it is moved to. around are the directories on the way down.
func (s *source) list(below string, around []fs.FileInfo) error {
	dir := filepath.Join(s.name, filepath.FromSlash(below))
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 && below != "" {
		s.entries = append(s.entries, entry{name: below + "/", file: dir})
	}
	for _, f := range files {
		file, name := filepath.Join(dir, f.Name()), path.Join(below, f.Name())
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return err
		case info.Mode().IsRegular():
			s.entries = append(s.entries, entry{name: name, file: file, mode: info.Mode(), size: info.Size()})
			continue
		case !info.IsDir():
			return fmt.Errorf("%s is neither a file nor a directory; take it out of the input", file)
		case slices.ContainsFunc(around, func(a fs.FileInfo) bool { return os.SameFile(a, info) }):
			return fmt.Errorf("%s is a link to a directory that it lies in; take it out of the input", file)
		}
		if err := s.list(name, append(slices.Clip(around), info)); err != nil {
			return err
		}
	}
	return nil
}

// trail gives back the memory of archives that are gone through entry by entry: they would be in memory twice in the
// end, here and as what the system keeps of files anyway.
type trail struct {
	archive *jar.Archive
	upTo    int64 // offset up to which it has been given back
}

// releaseStep is how much of an archive is given back at once.
const releaseStep = 4 << 20

// pass is told of each entry, before it is read.
func (t *trail) pass(e *entry) {
	if e.zip == nil {
		return
	}
	if a := e.zip.Archive(); a != t.archive {
		t.end()
		*t = trail{archive: a}
	}
	if at := e.zip.Offset(); at > t.upTo+releaseStep {
		t.archive.Release(t.upTo, at)
		t.upTo = at
	}
}

// end is told that no more entries come for now.
func (t *trail) end() {
	if t.archive != nil {
		t.archive.Release(t.upTo, t.archive.Size())
	}
}

func isClassName(name string) bool { return strings.HasSuffix(name, ".class") }

// read gives the uncompressed bytes of an entry, into buf if it is big enough.
func (r *run) read(e *entry, buf []byte) ([]byte, error) {
	if e.zip != nil {
		return r.codec.Read(e.zip, buf)
	}
	return os.ReadFile(e.file)
}

// where names an entry in messages.
func (s *source) where(e *entry) string {
	if s.lone {
		return s.name
	}
	return s.name + "!" + e.name
}
