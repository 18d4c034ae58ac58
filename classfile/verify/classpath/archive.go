package classpath

import (
	"strconv"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/zipfile"
)

// archive is a jar, .aar or .jmod file.
type archive struct {
	*zipfile.Archive
	once    sync.Once
	entries map[string]*zipfile.Entry // by class name
	inner   *archive                  // classes.jar of an .aar
}

// moduleClasses is the directory of classes in a .jmod file.
const moduleClasses = "classes/"

func (a *archive) class(name string, codec *zipfile.Codec) ([]byte, error) {
	a.once.Do(func() { a.index(codec) })
	if e, found := a.entries[name]; found {
		return codec.Read(e, nil)
	}
	if a.inner != nil {
		return a.inner.class(name, codec)
	}
	return nil, nil
}

// The directories of a multi-release jar that hold classes for one release, and the releases that are considered.
const (
	versionsDirectory = "META-INF/versions/"
	firstRelease      = 9
	latestRelease     = 17
)

// index finds the entry of each class.
func (a *archive) index(codec *zipfile.Codec) {
	isModule := strings.HasSuffix(a.Name(), ".jmod")
	a.entries = map[string]*zipfile.Entry{}
	releases := map[string]int{}
	multiRelease := strings.EqualFold(strings.TrimSpace(a.MainAttributes()["multi-release"]), "true")
	entries := a.Entries()
	for i := range entries {
		e := &entries[i]
		if e.Name == "classes.jar" {
			if data, err := codec.Read(e, nil); err == nil {
				if inner, err := zipfile.New(a.Name()+"!"+e.Name, data); err == nil {
					a.inner = &archive{Archive: inner}
				}
			}
			continue
		}
		name, isClass := strings.CutSuffix(e.Name, ".class")
		if isClass && isModule {
			name, isClass = strings.CutPrefix(name, moduleClasses)
		}
		release := 0
		if multiRelease {
			name, release = cutRelease(name)
		}
		if _, twice := a.entries[name]; isClass && (!twice || release > releases[name]) {
			a.entries[name], releases[name] = e, release
		}
	}
}

// cutRelease splits the path of a class for one release in a multi-release jar into the name of the class and the
// release. It returns every other path unchanged, with release 0, also paths of classes for releases after 17: no class
// has such a name.
func cutRelease(path string) (name string, release int) {
	within, ok := strings.CutPrefix(path, versionsDirectory)
	number, name, inside := strings.Cut(within, "/")
	release, err := strconv.Atoi(number)
	if !ok || !inside || err != nil || release < firstRelease || release > latestRelease {
		return path, 0
	}
	return name, release
}
