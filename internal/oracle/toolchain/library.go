package toolchain

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
func Library(ctx context.Context) (string, error) {
	cache, err := oracle.CacheDir("toolchain")
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "library-34-"+libraryVersion+".jar")
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	from, err := oracle.FetchSum(ctx, android34, android34Sum)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, "library-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "library.jar")
	err = WithCore(made, from, func(name string) bool {
		return path.Ext(name) == ".class" && !strings.HasPrefix(name, "META-INF/")
	})
	if err != nil {
		return "", fmt.Errorf("library: %w", err)
	}
	return final, os.Rename(made, final)
}

// WithCore writes a jar of the entries of Robolectric's android-all that a function keeps, and of the classes of java.*
// that it lacks, as Java 8 had them.
func WithCore(to, androidAll string, keep func(entry string) bool) error {
	j, err := oracle.FindJDK(17)
	if err != nil {
		return err
	}
	w, err := newJar(to)
	if err != nil {
		return err
	}
	kept := func(name string) (string, bool) { return name, keep(name) }
	return errors.Join(w.add(androidAll, kept), w.add(filepath.Join(j.Home, "lib", "ct.sym"), coreClass), w.close())
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
func Merge(out string, jars ...string) error {
	w, err := newJar(out)
	if err != nil {
		return err
	}
	keep := func(name string) (string, bool) {
		return name, name != "META-INF/MANIFEST.MF" && name != "module-info.class" && !strings.HasSuffix(name, "/")
	}
	for _, jar := range jars {
		if err := w.add(jar, keep); err != nil {
			return errors.Join(err, w.close())
		}
	}
	return w.close()
}

// FirstRelease copies a jar without the classes for later releases of Java, which D8 refuses or ignores.
func FirstRelease(to, from string) error {
	w, err := newJar(to)
	if err != nil {
		return err
	}
	keep := func(entry string) (string, bool) {
		return entry, !strings.HasPrefix(entry, "META-INF/versions/") && entry != "module-info.class" &&
			!strings.HasSuffix(entry, "/")
	}
	return errors.Join(w.add(from, keep), w.close())
}

// A jarWriter writes a jar of other jars' entries.
type jarWriter struct {
	file *os.File
	zip  *zip.Writer
	have map[string]bool
}

func newJar(file string) (*jarWriter, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return &jarWriter{f, zip.NewWriter(f), map[string]bool{}}, nil
}

// add copies the entries of an archive for which keep returns true, under the names that it returns.
func (w *jarWriter) add(archive string, keep func(entry string) (string, bool)) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		name, ok := keep(f.Name)
		if !ok || w.have[name] {
			continue
		}
		w.have[name] = true
		raw, err := f.OpenRaw()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, f.Name, err)
		}
		header := f.FileHeader
		header.Name = name
		to, err := w.zip.CreateRaw(&header)
		if err != nil {
			return err
		}
		if _, err := io.Copy(to, raw); err != nil {
			return fmt.Errorf("%s: %s: %w", archive, f.Name, err)
		}
	}
	return nil
}

func (w *jarWriter) close() error { return errors.Join(w.zip.Close(), w.file.Close()) }
