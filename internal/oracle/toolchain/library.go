package toolchain

import (
	"archive/zip"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// The classes of Android 14, as the tests of package looper run them.
const (
	android34    = "org.robolectric:android-all:14-robolectric-10818077"
	android34Sum = "6be2218c6a53fe3c57bc22ebdc723edcb7270a8a6f187545708aa5c0ed813977"
	// libraryVersion is part of the library's name in the cache. Count it up if the content changes.
	libraryVersion = "1"
)

// corePackages are the packages below java that Android has, but for those in withoutCore.
var corePackages = []string{"io", "lang", "math", "net", "nio", "security", "sql", "text", "time", "util"}

var withoutCore = []string{"java/lang/management/", "java/lang/instrument/", "java/lang/module/"}

// Library returns a jar with the classes that an app of API 34 is compiled against: those of Robolectric's android-all,
// which are Android's own, and those of java.* that it lacks, as Java 8 had them, from the JDK's ct.sym. Of the latter
// it has only packages that Android has, so that a class such as java.lang.management.ManagementFactory is missing as
// on a device.
func Library(t testing.TB) string {
	t.Helper()
	cache, err := oracle.CacheDir("toolchain")
	oracle.Require(t, err)
	final := filepath.Join(cache, "library-34-"+libraryVersion+".jar")
	if _, err := os.Stat(final); err == nil {
		return final
	}
	from, err := oracle.FetchSum(t.Context(), android34, android34Sum)
	oracle.Require(t, err)
	tmp, err := os.MkdirTemp(cache, "library-")
	oracle.Require(t, err)
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "library.jar")
	WithCore(t, made, from, func(name string) bool {
		return path.Ext(name) == ".class" && !strings.HasPrefix(name, "META-INF/")
	})
	oracle.Require(t, os.Rename(made, final))
	return final
}

// WithCore writes a jar of the entries of Robolectric's android-all that a function keeps, and of the classes of java.*
// that it lacks, as Java 8 had them.
func WithCore(t testing.TB, to, androidAll string, keep func(entry string) bool) {
	t.Helper()
	w := newJar(t, to)
	w.add(androidAll, func(name string) (string, bool) { return name, keep(name) })
	w.add(filepath.Join(oracle.NeedJDK(t, 17).Home, "lib", "ct.sym"), coreClass)
	w.close()
}

// coreClass returns the class file's name of an entry of ct.sym, and whether Java 8 and Android have the class. The
// first directory of an entry names the releases that have the class, a digit or letter each; the module follows.
func coreClass(entry string) (string, bool) {
	part := strings.SplitN(entry, "/", 3)
	if len(part) < 3 || !strings.Contains(part[0], "8") || path.Ext(entry) != ".sig" {
		return "", false
	}
	name := strings.TrimSuffix(part[2], ".sig") + ".class"
	packages := strings.Split(name, "/")
	if packages[0] != "java" || !slices.Contains(corePackages, packages[1]) ||
		slices.ContainsFunc(withoutCore, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return "", false
	}
	return name, true
}

// Merge writes the entries of jars into one jar. Of entries with one name the first wins. It leaves out manifests and
// declarations of modules, as the Android Gradle plugin does.
func Merge(t testing.TB, out string, jars ...string) {
	t.Helper()
	w := newJar(t, out)
	for _, jar := range jars {
		w.add(jar, func(name string) (string, bool) {
			return name, name != "META-INF/MANIFEST.MF" && name != "module-info.class" && !strings.HasSuffix(name, "/")
		})
	}
	w.close()
}

// FirstRelease copies a jar without the classes for later releases of Java, which D8 refuses or ignores.
func FirstRelease(t testing.TB, to, from string) {
	t.Helper()
	w := newJar(t, to)
	w.add(from, func(entry string) (string, bool) {
		return entry, !strings.HasPrefix(entry, "META-INF/versions/") && entry != "module-info.class" &&
			!strings.HasSuffix(entry, "/")
	})
	w.close()
}

// A jarWriter writes a jar of other jars' entries.
type jarWriter struct {
	t    testing.TB
	file *os.File
	zip  *zip.Writer
	have map[string]bool
}

func newJar(t testing.TB, file string) *jarWriter {
	t.Helper()
	f, err := os.Create(file)
	oracle.Require(t, err)
	return &jarWriter{t, f, zip.NewWriter(f), map[string]bool{}}
}

// add copies the entries of an archive for which keep returns a name and true. The first of a name stays.
func (w *jarWriter) add(archive string, keep func(entry string) (string, bool)) {
	w.t.Helper()
	z, err := zip.OpenReader(archive)
	oracle.Require(w.t, err)
	defer z.Close()
	for _, f := range z.File {
		name, ok := keep(f.Name)
		if !ok || w.have[name] {
			continue
		}
		w.have[name] = true
		f.Name = name
		oracle.Require(w.t, w.zip.Copy(f))
	}
}

func (w *jarWriter) close() {
	w.t.Helper()
	oracle.Require(w.t, errors.Join(w.zip.Close(), w.file.Close()))
}
