// Package input opens the inputs of a command: archives with the archives in them that a program's class path has,
// directories, and lone class files, all as containers with entries. It numbers their classes, reads entries, and
// releases the memory of archives that have been worked through.
//
// A [Set] has the inputs of one run. [Set.Classes] lists the classes of all of them, in the order of inputs, containers
// and entries. The number of a class in this list stands for the class in everything that a run finds out and decides.
package input

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// Kind says what a container is.
type Kind uint8

// The kinds of containers.
const (
	Archive   Kind = iota // .jar, .war, .zip or .aar, and an archive in one
	Directory             // a directory, with all that is below it
	ClassFile             // a single class file, which is its own only entry
)

// Container is something with entries. All but Zip and Entries is immutable; these are there while its input is open.
type Container struct {
	Name       string // as in messages: PATH, or PATH!ENTRY of a nested archive
	Outer      string // the entry that a nested archive is, with a ! behind it; "" for all others
	Input      int    // number of its input
	Kind       Kind
	Duplicates []string // names of entries of an archive that an earlier entry has; each once for each entry
	Apart      []string // names of entries that are archives and are not opened: see Nested

	Zip     *zipfile.Archive // of a container of kind Archive
	Entries []Entry
}

// Entry is one file of a container, or an empty directory.
type Entry struct {
	Name   string // with slashes, below its container; that of a directory ends in one
	File   string // on disk; "" in an archive
	Mode   fs.FileMode
	Size   int64          // uncompressed, as the container says
	Zip    *zipfile.Entry // in an archive, else nil
	Class  int            // the number of the class, -1 if the entry is none
	Nested *Container     // the archive that it is, if it has a place of those in nestedPlaces, else nil
}

// Class is a class entry. It is immutable.
type Class struct {
	Container *Container // that it is an entry of
	Name      string     // of the entry
	Size      int64      // as the container says
	Release   int        // N of META-INF/versions/N/, 0 elsewhere
}

// NewClass returns the class entry of that name and size.
func NewClass(in *Container, name string, size int64) *Class {
	c := newClass(in, name, size)
	return &c
}

func newClass(in *Container, name string, size int64) Class {
	_, release := ReleaseOf(name)
	return Class{Container: in, Name: name, Size: size, Release: release}
}

// isClass reports whether an entry of that name is read as a class.
func isClass(name string) bool { return strings.HasSuffix(name, ".class") }

// Where names the class entry as messages do.
func (c *Class) Where() string { return c.Container.where(c.Name) }

// Path names the entry below its input.
func (c *Class) Path() string { return c.Container.Outer + c.Name }

// Where names an entry of the container as messages do.
func (c *Container) Where(e *Entry) string { return c.where(e.Name) }

func (c *Container) where(name string) string {
	if c.Kind == ClassFile {
		return c.Name
	}
	return c.Name + "!" + name
}

// IsDirectory reports whether the entry is an empty directory.
func (e *Entry) IsDirectory() bool { return strings.HasSuffix(e.Name, "/") }

// ReleaseOf returns the Java release from which on a multi-release jar replaces a class by the entry of that name
// (META-INF/versions/N/), and the directory; 0 and "" for other entries.
func ReleaseOf(name string) (directory string, release int) {
	const versions = "META-INF/versions/"
	rest, ok := strings.CutPrefix(name, versions)
	if !ok {
		return "", 0
	}
	digits, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = math.MaxInt
	}
	return name[:min(len(versions)+len(digits)+1, len(name))], n
}

// Input is one input of a command.
type Input struct {
	Path       string       // of the file or directory
	Flat       bool         // nested archives are not opened
	Containers []*Container // its own first, then the archives in it
	Classes    []*Class     // of all of its containers, in the order of containers and entries
	First      int          // the number of the first of Classes in the set

	mu       sync.Mutex
	opened   atomic.Bool
	entries  []*Entry // those of Classes, while it is open
	archives []*zipfile.Archive
}

// The limits of what is read, so that the memory that a run needs does not depend on what is in an archive. What is
// larger is copied. The largest class in the corpus has 1.7 MB.
const (
	maxClass  = 64 << 20  // bytes of an entry that is read as a class
	maxNested = 512 << 20 // bytes, uncompressed, of a nested archive that is opened
)

// Open opens the input of that number and path. It decompresses nothing but nested archives, which flat leaves closed.
func Open(number int, path string, flat bool) (*Input, error) {
	in := &Input{Path: path, Flat: flat}
	if err := in.read(number); err != nil {
		in.Close()
		return nil, err
	}
	in.opened.Store(true)
	return in, nil
}

// OpenArchive returns an input that is an archive in memory. Name stands for its path in messages; data must not change
// while the input is in use. Entries with the names in without are left out.
func OpenArchive(number int, name string, data []byte, without ...string) (*Input, error) {
	c := &Container{Name: name, Input: number}
	in := &Input{Path: name, Containers: []*Container{c}}
	var err error
	if c.Zip, err = zipfile.New(name, data); err != nil {
		return nil, fmt.Errorf("cannot read input as a zip archive: %w", err)
	}
	in.archives = append(in.archives, c.Zip)
	c.readZip()
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool { return slices.Contains(without, e.Name) })
	in.addClasses(c)
	in.opened.Store(true)
	return in, nil
}

// Later returns an input whose containers and classes are known already. It is opened by [Input.Open], or when an entry
// is read. Opening fails if the input holds other classes by then.
func Later(path string, containers []*Container, classes []*Class, flat bool) *Input {
	return &Input{Path: path, Containers: containers, Classes: classes, Flat: flat}
}

// Opened reports whether the input is open.
func (in *Input) Opened() bool { return in.opened.Load() }

// Open opens the input unless it is open. Its containers and classes stay the same values.
func (in *Input) Open() error {
	if in.opened.Load() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.opened.Load() {
		return nil
	}
	fresh, err := Open(in.Containers[0].Input, in.Path, in.Flat)
	if err != nil {
		return err
	}
	in.archives = fresh.archives
	same := slices.EqualFunc(in.Classes, fresh.Classes, func(a, b *Class) bool {
		return a.Container.Outer == b.Container.Outer && a.Name == b.Name && a.Size == b.Size
	})
	if !same || len(in.Containers) != len(fresh.Containers) {
		return Changed(in.Path)
	}
	known := make(map[string]*Container, len(in.Containers))
	for _, c := range in.Containers {
		known[c.Outer] = c
	}
	for _, c := range fresh.Containers {
		to := known[c.Outer]
		if to == nil {
			return Changed(in.Path)
		}
		to.Zip, to.Entries = c.Zip, c.Entries
		for i := range to.Entries {
			if nested := to.Entries[i].Nested; nested != nil {
				to.Entries[i].Nested = known[nested.Outer]
			}
		}
	}
	in.entries = fresh.entries
	in.number()
	in.opened.Store(true)
	return nil
}

// Changed returns the error about a file, or an entry, that was changed between two reads.
func Changed(where string) error {
	return fmt.Errorf("%s: changed while tracegen was running; run it again when nothing else writes it", where)
}

// Close releases the archives.
func (in *Input) Close() {
	for _, a := range in.archives {
		a.Close()
	}
	in.archives = nil
}

func (in *Input) read(number int) error {
	info, err := os.Stat(in.Path)
	if err != nil {
		return fmt.Errorf("cannot read input: %w", err)
	}
	if err := userfile.Check(in.Path, info); err != nil {
		return fmt.Errorf("cannot read input: %w", err)
	}
	c := &Container{Name: in.Path, Input: number}
	in.Containers = []*Container{c}
	switch extension := strings.ToLower(filepath.Ext(in.Path)); {
	case info.IsDir():
		c.Kind = Directory
		if c.Entries, err = list(in.Path, "", []fs.FileInfo{info}); err != nil {
			return fmt.Errorf("cannot read input directory: %w", err)
		}
		for i := range c.Entries {
			c.setApart(&c.Entries[i], false)
		}
	case extension == ".class":
		c.Kind = ClassFile
		c.Entries = []Entry{{Name: filepath.Base(in.Path), File: in.Path, Mode: info.Mode(), Size: info.Size()}}
	default:
		if c.Zip, err = zipfile.Open(in.Path); err != nil {
			return fmt.Errorf("cannot read input as a zip archive: %w", err)
		}
		in.archives = append(in.archives, c.Zip)
		c.readZip()
		in.addClasses(c)
		return in.readNested(c, extension == ".aar")
	}
	in.addClasses(c)
	return nil
}

func (c *Container) readZip() {
	zip := c.Zip.Entries()
	c.Entries = make([]Entry, len(zip))
	for i := range zip {
		c.Entries[i] = Entry{Name: zip[i].Name, Size: int64(zip[i].Size), Zip: &zip[i]}
	}
	for _, d := range c.Zip.Duplicates() {
		c.Duplicates = append(c.Duplicates, d.Name)
	}
}

// nestedPlaces are the places of archives that a class path has: of an .aar (its format says which), and of the
// archives of programs that run as they are (Spring Boot) or in a server (Jakarta Servlet 10.5). All end in .jar.
var nestedPlaces = map[bool][]string{
	true:  {"classes.jar", "libs/*.jar"},
	false: {"BOOT-INF/lib/*.jar", "WEB-INF/lib/*.jar", "WEB-INF/lib-provided/*.jar"},
}

// setApart notes an entry that is an archive and is not opened. Two archives of an .aar hold nothing that an app runs.
func (c *Container) setApart(e *Entry, inAAR bool) {
	switch strings.ToLower(path.Ext(e.Name)) {
	case ".jar", ".war", ".ear", ".aar":
		if !inAAR || e.Name != "lint.jar" && e.Name != "api.jar" {
			c.Apart = append(c.Apart, e.Name)
		}
	}
}

// readNested opens the archives in nestedPlaces. What is in a place and cannot be opened is copied, but in an .aar,
// whose places are for nothing else, it is an error.
func (in *Input) readNested(outer *Container, isAAR bool) error {
	places := nestedPlaces[isAAR]
	for i := range outer.Entries {
		e := &outer.Entries[i]
		// Nearly all entries are classes, for which matching all patterns takes longer than all else that is done here.
		inPlace := strings.HasSuffix(e.Name, ".jar") && slices.ContainsFunc(places, func(pattern string) bool {
			matched, _ := path.Match(pattern, e.Name)
			return matched
		})
		if !inPlace || in.Flat || e.Size > maxNested {
			outer.setApart(e, isAAR)
			continue
		}
		nested := &Container{Name: outer.Name + "!" + e.Name, Outer: e.Name + "!", Input: outer.Input}
		if err := nested.openIn(e); err != nil {
			if isAAR || !errors.Is(err, zipfile.ErrFormat) && !errors.Is(err, zipfile.ErrUnsupported) {
				return err
			}
			outer.setApart(e, isAAR)
			continue
		}
		in.Containers = append(in.Containers, nested)
		in.addClasses(nested)
		for k := range nested.Entries {
			nested.setApart(&nested.Entries[k], isAAR)
		}
		e.Nested = nested
	}
	return nil
}

// openIn opens the archive that an entry is.
func (c *Container) openIn(e *Entry) error {
	var codec zipfile.Codec
	data, err := codec.View(e.Zip)
	if err != nil {
		return err
	}
	if c.Zip, err = zipfile.New(c.Name, data); err != nil {
		return err
	}
	c.readZip()
	return nil
}

func (in *Input) addClasses(c *Container) {
	n := 0
	for i := range c.Entries {
		if isClass(c.Entries[i].Name) {
			n++
		}
	}
	classes := make([]Class, 0, n)
	in.Classes, in.entries = slices.Grow(in.Classes, n), slices.Grow(in.entries, n)
	for i := range c.Entries {
		e := &c.Entries[i]
		e.Class = -1
		if isClass(e.Name) {
			classes = append(classes, newClass(c, e.Name, e.Size))
			in.Classes = append(in.Classes, &classes[len(classes)-1])
			in.entries = append(in.entries, e)
		}
	}
}

// number writes the numbers of classes into their entries.
func (in *Input) number() {
	for i, e := range in.entries {
		e.Class = in.First + i
	}
}

// List returns what is in a directory and below it, in the order of names. Links are followed: an output must hold what
// the input does wherever it is moved to.
func List(dir string) ([]Entry, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	return list(dir, "", []fs.FileInfo{info})
}

// list lists what is in dir/below. above are the directories on the way down.
func list(top, below string, above []fs.FileInfo) (entries []Entry, err error) {
	dir := filepath.Join(top, filepath.FromSlash(below))
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && below != "" {
		return []Entry{{Name: below + "/", File: dir}}, nil
	}
	for _, f := range files {
		file, name := filepath.Join(dir, f.Name()), path.Join(below, f.Name())
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			entries = append(entries, Entry{Name: name, File: file, Mode: info.Mode(), Size: info.Size()})
			continue
		case !info.IsDir():
			return nil, fmt.Errorf("%s is neither a file nor a directory; take it out of the input", file)
		case slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }):
			return nil, fmt.Errorf("%s is a link to a directory that it lies in; take it out of the input", file)
		}
		inside, err := list(top, name, append(slices.Clip(above), info))
		if err != nil {
			return nil, err
		}
		entries = append(entries, inside...)
	}
	return entries, nil
}
