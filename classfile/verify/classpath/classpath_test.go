package classpath_test

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// writeZip writes a zip file, behind a prefix, of entries in pairs of name and content.
func writeZip(t *testing.T, path, prefix string, entries ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(prefix); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	z.SetOffset(int64(len(prefix)))
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(entries[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func classNamed(name, super string) string {
	return string(crafted.NewClass(52, name, super).Bytes())
}

func TestHierarchyFindsClasses(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	writeZip(t, in("a.jar"), "", "p/A.class", classNamed("p/A", "p/First"), "p/Broken.class", "no class",
		"p/Wrong.class", classNamed("p/Other", "x"))
	writeZip(t, in("b.jar"), "#!/bin/sh\n", "p/A.class", classNamed("p/A", "p/Second"), "p/B.class",
		classNamed("p/B", "p/Second"))
	writeZip(t, in("m.jmod"), "JM\x01\x00", "classes/p/M.class", classNamed("p/M", "p/Module"), "lib/x", "")
	writeZip(t, in("inner.jar"), "", "p/I.class", classNamed("p/I", "p/Library"))
	inner := fixture.Read(t, in("inner.jar"))
	writeZip(t, in("l.aar"), "", "AndroidManifest.xml", "", "classes.jar", string(inner))
	fixture.Directory(t, in("classes/p"))
	fixture.Write(t, in("classes/p/D.class"), classNamed("p/D", "p/Directory"))
	h, err := classpath.Open(in("a.jar"), in("b.jar"), in("m.jmod"), in("l.aar"), in("classes"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for name, super := range map[string]string{
		"p/A": "p/First", "p/B": "p/Second", "p/M": "p/Module", "p/I": "p/Library", "p/D": "p/Directory",
		"p/None": "", "p/Broken": "", "p/Wrong": "", "../classes/p/D": "", "": "",
	} {
		for range 2 { // the second time from the cache
			got := ""
			if info := h.Lookup(name); info != nil {
				got = info.Super
			}
			if got != super {
				t.Errorf("%s extends %q, want %q", name, got, super)
			}
		}
	}
	if unreadable := h.Unreadable(); len(unreadable) != 2 || unreadable["p/Broken"] == nil ||
		unreadable["p/Wrong"] == nil {
		t.Errorf("unreadable: %v", unreadable)
	}
	if _, err := classpath.Open(in("a.jar"), in("none.jar")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// world is a hierarchy in memory.
type world map[string]*types.ClassInfo

// Lookup implements types.Hierarchy.
func (w world) Lookup(name string) *types.ClassInfo { return w[name] }

func TestChainAsksInOrder(t *testing.T) {
	first := world{"A": {Name: "A", Super: "first"}}
	second := world{"A": {Name: "A", Super: "second"}, "B": {Name: "B", Super: "second"}}
	c := classpath.Chain{first, second}
	if c.Lookup("A").Super != "first" || c.Lookup("B").Super != "second" || c.Lookup("C") != nil {
		t.Errorf("A %v, B %v, C %v", c.Lookup("A"), c.Lookup("B"), c.Lookup("C"))
	}
}

// TestHierarchyReadsJDKs: what a JDK has is found in its image and in its jmods, by many goroutines at once.
func TestHierarchyReadsJDKs(t *testing.T) {
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	for _, jdk := range jdks {
		paths := []string{jdk.Home}
		if jmods := filepath.Join(jdk.Home, "jmods"); exists(jmods) {
			paths = append(paths, jmods)
		}
		for _, path := range paths {
			h, err := classpath.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for name, super := range map[string]string{
						"java/lang/Object": "", "java/util/ArrayList": "java/util/AbstractList",
						"java/sql/SQLException": "java/lang/Exception",
						"javax/swing/JFrame":    "java/awt/Frame", "java/lang/Thread$State": "java/lang/Enum",
					} {
						if info := h.Lookup(name); info == nil || info.Super != super {
							t.Errorf("%s: %s is %+v, want one that extends %s", path, name, info, super)
						}
					}
					if info := h.Lookup("java/lang/Nothing"); info != nil {
						t.Errorf("%s: java/lang/Nothing is %+v", path, info)
					}
				})
			}
			all.Wait()
			if info := h.Lookup("java/util/Map"); info == nil || info.AccessFlags&classfile.AccInterface == 0 {
				t.Errorf("%s: java/util/Map is %+v, want an interface", path, info)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestHierarchyRefusesBrokenImages: a damaged lib/modules is an error or lacks classes, and no more.
func TestHierarchyRefusesBrokenImages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "modules")
	for name, data := range map[string][]byte{
		"header only": append([]byte{0xDA, 0xDA, 0xFE, 0xCA}, make([]byte, 24)...),
		"huge table": append([]byte{0xDA, 0xDA, 0xFE, 0xCA}, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF,
			0xFF, 1, 0, 0, 0, 1, 0, 0, 0),
		"cut": {0xDA, 0xDA, 0xFE, 0xCA, 0, 0},
	} {
		fixture.Write(t, path, data)
		if h, err := classpath.Open(path); err == nil {
			t.Errorf("%s: no error", name)
			h.Close()
		}
	}
}

// TestHierarchyReleases: a multi-release jar has the classes that a JVM of release 17 would see.
func TestHierarchyReleases(t *testing.T) {
	dir := t.TempDir()
	entries := func(manifest string) []string {
		return []string{
			"META-INF/MANIFEST.MF", manifest,
			"META-INF/versions/17/p/A.class", classNamed("p/A", "p/New"),
			"META-INF/versions/9/p/A.class", classNamed("p/A", "p/Nine"),
			"p/A.class", classNamed("p/A", "p/Old"),
			"META-INF/versions/18/p/A.class", classNamed("p/A", "p/TooNew"),
			"META-INF/versions/8/p/A.class", classNamed("p/A", "p/NoRelease"),
			"META-INF/versions/11/p/B.class", classNamed("p/B", "p/New"),
		}
	}
	for _, c := range []struct{ name, manifest, a, b string }{
		{"yes.jar", "Manifest-Version: 1.0\r\nmulti-release: TRUE\r\n\r\n", "p/New", "p/New"},
		{"no.jar", "Manifest-Version: 1.0\nMulti-Release: false\n\n", "p/Old", ""},
		{"section.jar", "Manifest-Version: 1.0\n\nName: p/\nMulti-Release: true\n\n", "p/Old", ""},
	} {
		path := filepath.Join(dir, c.name)
		writeZip(t, path, "", entries(c.manifest)...)
		h, err := classpath.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"p/A": c.a, "p/B": c.b} {
			got := ""
			if info := h.Lookup(name); info != nil {
				got = info.Super
			}
			if got != want {
				t.Errorf("%s: %s extends %q, want %q", c.name, name, got, want)
			}
		}
		h.Close()
	}
}

// jlinkMakes matches the classes that jlink writes itself.
var jlinkMakes = regexp.MustCompile(`^java/lang/invoke/.*Holder$|^jdk/internal/module/SystemModules`)

// TestHierarchyReadsCompressedJDKs: the classes of java.base are the same in an image that jlink compressed as in the
// .jmod file that it was made from.
func TestHierarchyReadsCompressedJDKs(t *testing.T) {
	nightly.Only(t, "classes")
	jdk := oracle.NeedJDK(t, 17)
	module := filepath.Join(jdk.Home, "jmods", "java.base.jmod")
	if !exists(module) {
		t.Skipf("skipped: %s has no jmods", jdk.Home)
	}
	want, err := classpath.Open(module)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	z, err := zip.OpenReader(module)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for level, options := range map[string][]string{
		"zip": {"--compress=2"},
	} {
		home := filepath.Join(t.TempDir(), level)
		args := append([]string{"--add-modules", "java.base", "--output", home}, options...)
		fixture.Run(t, exec.Command(filepath.Join(jdk.Home, "bin", "jlink"), args...))
		got, err := classpath.Open(home)
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, f := range z.File {
			name, isClass := strings.CutSuffix(strings.TrimPrefix(f.Name, "classes/"), ".class")
			if !isClass || name == "module-info" || jlinkMakes.MatchString(name) {
				continue
			}
			compared++
			if info := got.Lookup(name); !reflect.DeepEqual(info, want.Lookup(name)) {
				t.Errorf("%s: %s is %+v, want %+v; %v", level, name, info, want.Lookup(name), got.Unreadable()[name])
			}
			if t.Failed() {
				break
			}
		}
		got.Close()
		if compared < 1000 {
			t.Errorf("%s: only %d classes compared", level, compared)
		}
		t.Logf("measured: %s: %d classes of java.base are read from a compressed image", level, compared)
	}
}
