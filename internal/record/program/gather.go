package program

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// Gathered is what [Gather] found.
type Gathered struct {
	// Archives are the archives to instrument: those of the program, and those that were made for it.
	Archives []string
	// Libraries are those of them that are not of the program itself.
	Libraries []string
	// Nested is the number of archives that were unpacked from others.
	Nested int
	// Skipped are the errors about archives that cannot be read. The program runs with them all the same, or fails as
	// it does without tracegen.
	Skipped []error
	// Runtime names an archive that holds a runtime class of its own, "" if there is none.
	Runtime string
}

// Gather returns the archives with the classes of a program. containers are its archives and directories. What has to
// be made is written below dir, which must exist: an archive for each directory, with the classes that a JVM finds
// there, and the archives that are inside of others. Of the program itself are directories, what own names, and the
// archives with a class of the project of the main class, see [projectOf]; all, if mainClass is empty.
func Gather(containers, own []string, dir, mainClass string) (*Gathered, error) {
	g := &gathering{dir: dir}
	for _, path := range containers {
		if g.project = ""; !slices.Contains(own, path) {
			g.project = projectOf(mainClass)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("class path: %w", err)
		}
		if info.IsDir() {
			err = g.directory(path)
		} else {
			err = g.archive(path, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return &g.Gathered, nil
}

type gathering struct {
	Gathered
	dir     string
	project string // what the names of classes of the program itself begin with
	number  int
}

// hosts are names of packages that many projects share.
var hosts = []string{"com/github", "com/gitlab", "com/google", "io/github", "io/gitlab", "net/sourceforge",
	"org/apache", "org/eclipse", "org/jetbrains"}

// projectOf returns what the names of the classes of a project begin with, by its main class: the first two parts of
// its package, or three where two are those of a host of projects. A project has more archives than the one with its
// main class, and names its packages alike.
func projectOf(mainClass string) string {
	name := strings.ReplaceAll(mainClass, ".", "/")
	parts := strings.Split(path.Dir(name), "/")
	switch {
	case mainClass == "" || parts[0] == ".":
		return name
	case len(parts) > 2 && slices.Contains(hosts, strings.Join(parts[:2], "/")):
		parts = parts[:3]
	case len(parts) > 2:
		parts = parts[:2]
	}
	return strings.Join(parts, "/") + "/"
}

// layouts are where archives that are programs have the classes of the program.
var layouts = []string{"BOOT-INF/classes/", "WEB-INF/classes/"}

// ofProgram reports whether a class is one of the program itself, by the name of its entry.
func (g *gathering) ofProgram(entry string) bool {
	for _, layout := range layouts {
		entry = strings.TrimPrefix(entry, layout)
	}
	return strings.HasPrefix(entry, g.project)
}

// place returns the path of a new file below dir. Its last element is name, so that messages about it say what it is.
func (g *gathering) place(name string) (string, error) {
	g.number++
	dir := filepath.Join(g.dir, fmt.Sprint(g.number))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// archive adds the archive at file, and those in it; name is its name in messages.
func (g *gathering) archive(file, name string) error {
	a, err := zipfile.Open(file)
	if err != nil {
		g.Skipped = append(g.Skipped, err)
		return nil
	}
	defer a.Close()
	classes, own := false, false
	entries := a.Entries()
	for i := range entries {
		e := &entries[i]
		if strings.HasSuffix("/"+e.Name, "/"+contract.RuntimeClass+".class") {
			g.Runtime = name
		}
		switch strings.ToLower(path.Ext(e.Name)) {
		case ".class":
			classes, own = true, own || g.ofProgram(e.Name)
		case ".jar", ".war", ".rar", ".sar":
			if err := g.nested(e, name); err != nil {
				return err
			}
		}
	}
	if classes {
		g.Archives = append(g.Archives, file)
	}
	if classes && !own {
		g.Libraries = append(g.Libraries, file)
	}
	return nil
}

// nested unpacks an archive that is an entry of another.
func (g *gathering) nested(e *zipfile.Entry, outer string) error {
	var codec zipfile.Codec
	data, err := codec.Read(e, nil)
	if err != nil {
		g.Skipped = append(g.Skipped, err)
		return nil
	}
	if !bytes.HasPrefix(data, []byte("PK")) {
		return nil
	}
	file, err := g.place(path.Base(e.Name))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		return err
	}
	g.Nested++
	return g.archive(file, outer+"!"+e.Name)
}

// directory writes the classes of a directory into an archive.
func (g *gathering) directory(dir string) error {
	file, err := g.place("classes.jar")
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var codec zipfile.Codec
	w, count := zipfile.NewWriter(f, nil), 0
	err = eachClass(dir, func(name string, data []byte) error {
		packed, err := codec.Compress(data, zipfile.LevelStore)
		if err != nil {
			return err
		}
		count++
		return w.Add(name, packed)
	})
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if count > 0 {
		g.Archives = append(g.Archives, file)
	}
	return nil
}

// eachClass visits the classes that a JVM finds in a directory, in the order of names: those whose place is that of
// their package. The directory may be that of a whole project, with other directories of classes in it. Directories
// whose names cannot be parts of packages are not entered.
func eachClass(dir string, visit func(name string, data []byte) error) error {
	return walk(dir, "", nil, func(name string) error {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		c, err := classfile.Parse(data)
		if err != nil {
			return nil // the JVM says so, if it needs the class
		}
		if decoded, ok := classfile.DecodeMUTF8(c.Name()); !ok || decoded+".class" != name {
			return nil
		}
		return visit(name, data)
	})
}

// walk visits the class files below top/below. above are the directories on the way down, which links may lead back to.
func walk(top, below string, above []fs.FileInfo, visit func(name string) error) error {
	dir := filepath.Join(top, filepath.FromSlash(below))
	self, err := os.Stat(dir)
	if err != nil {
		return err
	}
	for _, other := range above {
		if os.SameFile(other, self) {
			return nil
		}
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) && below != "" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(below, e.Name())
		if strings.HasSuffix(e.Name(), ".class") && e.Type().IsRegular() {
			if err := visit(name); err != nil {
				return err
			}
			continue
		}
		if strings.ContainsAny(e.Name(), ".;[") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.IsDir() {
			continue
		}
		if err := walk(top, name, append(above[:len(above):len(above)], self), visit); err != nil {
			return err
		}
	}
	return nil
}

// KeyOf returns the key of a program in a [Store]: the hash of the classes of its containers, in their order, and of
// parts, which say what else the result depends on.
func KeyOf(containers []string, parts ...string) (cache.Key, error) {
	for _, path := range containers {
		h := sha256.New()
		info, err := os.Stat(path)
		if err != nil {
			return cache.Key{}, fmt.Errorf("class path: %w", err)
		}
		if info.IsDir() {
			err = eachClass(path, func(name string, data []byte) error {
				_, err := fmt.Fprintf(h, "%s %d %x\n", name, len(data), sha256.Sum256(data))
				return err
			})
		} else {
			err = hashFile(h, path)
		}
		if err != nil {
			return cache.Key{}, fmt.Errorf("class path: %w", err)
		}
		parts = append(parts, fmt.Sprintf("%t %x", info.IsDir(), h.Sum(nil)))
	}
	return cache.KeyOf(parts...), nil
}

func hashFile(h io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}
