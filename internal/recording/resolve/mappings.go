package resolve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Mappings is one mapping file, a directory of them, or an archive. It loads a mapping when it is first needed, and
// keeps it. It is not safe for several goroutines.
type Mappings struct {
	path   string
	single *Build            // of a file, or one release
	files  map[string]string // of a directory: the digest, and the file that has it
	fetch  func(digest string) (*Build, error)
	absent map[string]bool // digests that fetch has not found
	lines  *mapping.Lines
	loaded map[string]*Names
}

// Build has the mapping of a build, and what else is known of it.
type Build struct {
	Mapping *mapping.Mapping
	// Lines has the source lines of its methods, and R8 its mapping of R8; nil for none.
	Lines *mapping.Lines
	R8    *r8.Mapping
}

// FetchMappings returns the mappings that fetch finds by their digests; it returns nil if there is none. It is called
// once for each digest. name stands for where it searches, in errors.
func FetchMappings(name string, fetch func(digest string) (*Build, error)) *Mappings {
	return &Mappings{path: name, fetch: fetch, absent: map[string]bool{}, loaded: map[string]*Names{}}
}

// OpenMappings opens the mapping at path, or searches the directory for mappings: by the first lines of
// files, without loading them. lines may be nil.
func OpenMappings(path string, lines *mapping.Lines) (*Mappings, error) {
	m := &Mappings{path: path, lines: lines, loaded: map[string]*Names{}}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		loaded, err := mapping.Load(path)
		if err == nil && lines != nil && lines.Digest() != loaded.Digest() {
			err = fmt.Errorf("the source lines belong to mapping %s, and %s is mapping %s; give the file that was written "+
				"with it",
				lines.Digest(), path, loaded.Digest())
		}
		m.single = &Build{Mapping: loaded}
		return m, err
	}
	m.files = map[string]string{}
	err = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		digest, err := digestLine(file)
		// Of two with one digest, which have the same methods, the first in the order of names is as good.
		if err == nil && digest != "" && m.files[digest] == "" {
			m.files[digest] = file
		}
		return err
	})
	if err == nil && len(m.files) == 0 {
		err = errors.New("no file in it is a mapping of tracegen; give a mapping of Matrix, which has no digest, as a file")
	}
	if err != nil {
		return nil, fmt.Errorf("mappings in %s: %w", path, err)
	}
	return m, nil
}

// digestLine returns the digest that a mapping says it has; "" for other files.
func digestLine(file string) (string, error) {
	f, err := userfile.OpenText(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	if err != nil {
		return "", nil // a damaged file is no mapping
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	head = head[:n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a short file, or one that is cut off
	}
	if err != nil || !strings.HasPrefix(string(head), "# tracegen-mapping ") {
		return "", err
	}
	for line := range strings.Lines(string(head)) {
		if digest, ok := strings.CutPrefix(strings.TrimSpace(line), "# digest "); ok {
			return digest, nil
		}
	}
	return "", nil
}

// MismatchError says that a recording is of another build than the mapping.
type MismatchError struct {
	// Recording is its name, and Digest the mapping that it says it is of.
	Recording, Digest string
	// Mapping is the file, directory or archive that was searched, and Found the digest of what it has; empty for a
	// directory and an archive.
	Mapping, Found string
}

// Error names both, and the way out.
func (e *MismatchError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("%s belongs to mapping %s, which is not in %s; add the mapping of its build, or use --force to "+
			"show IDs",
			e.Recording, e.Digest, e.Mapping)
	}
	return fmt.Sprintf("%s belongs to mapping %s, and %s is mapping %s; give the mapping of its build, or use --force "+
		"to show names that may be wrong",
		e.Recording, e.Digest, e.Mapping, e.Found)
}

// Stamped reports whether a recording says which mapping it is of.
func Stamped(digest string) bool { return digest != "" && digest != mapping.Unstamped }

// Find returns the names for a recording of that name which says that it is of the mapping digest. The error is a
// [*MismatchError] if there is none; with force the names are the single file's all the same, or none. found is false
// then, and also if the recording does not say what it is of.
func (m *Mappings) Find(recording, digest string, force bool) (names *Names, found bool, err error) {
	mismatch := &MismatchError{Recording: recording, Digest: digest, Mapping: m.path}
	if m.single != nil {
		has := m.single.Mapping.Digest()
		if found = has == digest; found || force || !Stamped(digest) {
			return m.names("", m.single), found, nil
		}
		mismatch.Found = has
		return nil, false, mismatch
	}
	if Stamped(digest) {
		if m.loaded[digest] != nil {
			return m.loaded[digest], true, nil
		}
		of, err := m.load(digest)
		if err != nil {
			return nil, false, err
		}
		if of != nil {
			return m.names(digest, of), true, nil
		}
		if !force {
			return nil, false, mismatch
		}
	}
	return m.names("", &Build{}), false, nil
}

// load loads the build with the digest; it returns nil if there is none.
func (m *Mappings) load(digest string) (*Build, error) {
	switch {
	case m.fetch != nil && !m.absent[digest]:
		of, err := m.fetch(digest)
		m.absent[digest] = err == nil && of == nil
		return of, err
	case m.files[digest] != "":
		loaded, err := mapping.Load(m.files[digest])
		return &Build{Mapping: loaded}, err
	}
	return nil, nil
}

// Digests returns the digests of what a file or directory has.
func (m *Mappings) Digests() map[string]bool {
	digests := map[string]bool{}
	if m.single != nil {
		digests[m.single.Mapping.Digest()] = true
	}
	for digest := range m.files {
		digests[digest] = true
	}
	return digests
}

func (m *Mappings) names(key string, of *Build) *Names {
	if m.loaded[key] == nil {
		lines := of.Lines
		if m.lines != nil && of.Mapping != nil && of.Mapping.Digest() == m.lines.Digest() {
			lines = m.lines
		}
		m.loaded[key] = NewNames(of.Mapping, lines)
		m.loaded[key].r8 = of.R8
	}
	return m.loaded[key]
}

// Loaded returns the mappings that were loaded, in the order of their digests.
func (m *Mappings) Loaded() []*mapping.Mapping {
	if m == nil {
		return nil
	}
	if m.single != nil {
		return []*mapping.Mapping{m.single.Mapping}
	}
	var list []*mapping.Mapping
	for _, d := range slices.Sorted(maps.Keys(m.loaded)) {
		if of := m.loaded[d].mapping; of != nil {
			list = append(list, of)
		}
	}
	return list
}
