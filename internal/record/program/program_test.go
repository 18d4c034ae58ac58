package program_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/record/program"
)

// class returns a class file; different texts make different files.
func class(name, text string) string {
	return string(assembly.Class{Name: name, Super: "java/lang/Object", Methods: []assembly.Method{
		{Access: 9, Name: text, Descriptor: "()V", Stack: 1, Locals: 1, Code: "return"}}}.Bytes())
}

// names returns the entries of archives, the classes only.
func names(t *testing.T, archives []string) (all []string) {
	t.Helper()
	for _, path := range archives {
		for _, e := range fixture.Unpack(t, fixture.Read(t, path)) {
			if strings.HasSuffix(e.Name, ".class") {
				all = append(all, e.Name)
			}
		}
	}
	return all
}

// TestGather finds classes in archives, in archives in these, and in directories, where only those count that a JVM
// would find.
func TestGather(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	inner := string(fixture.Zip(t, "c/C.class", class("c/C", "m")))
	library := string(fixture.Zip(t, "b/B.class", class("b/B", "m"), "x/inner.jar", inner))
	app := fixture.Write(t, filepath.Join(dir, "app.war"), fixture.Zip(t, "WEB-INF/classes/a/A.class", class("a/A", "m"),
		"WEB-INF/lib/l.jar", library, "docs/not.jar", "text"))
	classes := filepath.Join(dir, "classes")
	fixture.Write(t, filepath.Join(classes, "d", "D.class"), class("d/D", "m"))
	fixture.Write(t, filepath.Join(classes, "E.class"), class("E", "m"))
	fixture.Write(t, filepath.Join(classes, "build", "f", "F.class"), class("f/F", "m")) // of another directory of classes
	fixture.Write(t, filepath.Join(classes, ".git", "G.class"), class(".git/G", "m"))
	fixture.Write(t, filepath.Join(classes, "d", "broken.class"), "no class")
	fixture.Write(t, filepath.Join(classes, "big.bin"), strings.Repeat("x", 1<<16))
	if err := os.Symlink(classes, filepath.Join(classes, "loop")); err != nil {
		t.Log(err) // not on Windows
	}
	plugin := fixture.Write(t, filepath.Join(dir, "plugin.jar"),
		string(fixture.Zip(t, "p/P.class", class("p/P", "m"))))
	broken := fixture.Write(t, filepath.Join(dir, "broken.jar"), "no archive")
	g, err := program.Gather([]string{app, classes, broken, plugin}, []string{plugin}, work, "a.Main")
	if err != nil {
		t.Fatal(err)
	}
	got := names(t, g.Archives)
	slices.Sort(got)
	want := []string{"E.class", "WEB-INF/classes/a/A.class", "b/B.class", "c/C.class", "d/D.class",
		"p/P.class"}
	if !slices.Equal(got, want) || g.Nested != 2 {
		t.Errorf("found %q, %d nested", got, g.Nested)
	}
	libraries := names(t, g.Libraries)
	slices.Sort(libraries)
	if want := []string{"b/B.class", "c/C.class"}; !slices.Equal(libraries, want) {
		t.Errorf("the libraries have %q", libraries)
	}
	if len(g.Skipped) != 1 || !strings.Contains(g.Skipped[0].Error(), broken) {
		t.Errorf("skipped: %v", g.Skipped)
	}
}

// TestProjects takes the archives of the project of the main class for the program itself.
func TestProjects(t *testing.T) {
	for _, c := range []struct{ main, class, want string }{
		{"com.example.shop.Main", "com/example/core/A.class", "own"},
		{"com.example.shop.Main", "com/other/A.class", "library"},
		{"com.example.shop.Main", "BOOT-INF/classes/com/example/A.class", "own"},
		{"org.apache.catalina.startup.Bootstrap", "org/apache/catalina/A.class", "own"},
		{"org.apache.catalina.startup.Bootstrap", "org/apache/tomcat/A.class", "library"},
		{"org.apache.Main", "org/apache/A.class", "own"},
		{"shop.MainKt", "shop/db/A.class", "own"},
		{"shop.MainKt", "shopping/A.class", "library"},
		{"Main", "Main.class", "own"},
		{"Main", "com/example/A.class", "library"},
		{"", "com/example/A.class", "own"},
	} {
		archive := fixture.Write(t, filepath.Join(t.TempDir(), "a.jar"), fixture.Zip(t, c.class, class("A", "m")))
		g, err := program.Gather([]string{archive}, nil, t.TempDir(), c.main)
		if err != nil {
			t.Fatal(err)
		}
		got := "own"
		if len(g.Libraries) > 0 {
			got = "library"
		}
		if got != c.want {
			t.Errorf("%s beside the main class %q: %s, want %s", c.class, c.main, got, c.want)
		}
	}
}

// TestKeyOf changes what a program consists of. What is no class of a directory makes no difference.
func TestKeyOf(t *testing.T) {
	dir := t.TempDir()
	archive := fixture.Write(t, filepath.Join(dir, "app.jar"), fixture.Zip(t, "A.class", class("A", "m")))
	classes := filepath.Join(dir, "classes")
	b := fixture.Write(t, filepath.Join(classes, "B.class"), class("B", "m"))
	keys := map[cache.Key]string{}
	key := func(what string, fresh bool, parts ...string) {
		t.Helper()
		k, err := program.KeyOf([]string{archive, classes}, parts...)
		if err != nil {
			t.Fatal(err)
		}
		if other, known := keys[k]; known == fresh {
			t.Errorf("%s: the key is that of %q", what, other)
		}
		keys[k] = what
	}
	key("the first", true, "x")
	key("the same", false, "x")
	key("other options", true, "y")
	fixture.Write(t, filepath.Join(classes, "notes.txt"), "notes")
	key("a file that is no class", false, "x")
	fixture.Write(t, b, class("B", "n"))
	key("another class", true, "x")
	fixture.Write(t, archive, fixture.Zip(t, "A.class", class("A", "n")))
	key("another archive", true, "x")
	if _, err := program.KeyOf([]string{filepath.Join(dir, "missing")}); err == nil {
		t.Error("a missing archive is no error")
	}
}

// TestWriteClasses writes the classes that changed, in the order of Java's hash codes.
func TestWriteClasses(t *testing.T) {
	dir := t.TempDir()
	longer := func(name string) string { return class(name, strings.Repeat("long", 200)) }
	before := fixture.Write(t, filepath.Join(dir, "a.jar"), fixture.Zip(t, "Aa.class", class("Aa", "m"),
		"BB.class", class("BB", "m"), "p/Same.class", class("p/Same", "m"), "p/Ünï.class", class("p/Ünï", "m")))
	after := fixture.Write(t, filepath.Join(dir, "b.jar"), fixture.Zip(t, "Aa.class", longer("Aa"),
		"BB.class", longer("BB"), "p/Same.class", class("p/Same", "m"), "p/Ünï.class", longer("p/Ünï")))
	file := filepath.Join(dir, "classes")
	pair := program.Pair{Original: before, Rewritten: after}
	count, err := program.WriteClasses(file, []program.Pair{pair, pair})
	if err != nil || count != 3 {
		t.Fatalf("%d classes, %v", count, err)
	}
	data := fixture.Read(t, file)
	if string(data[:8]) != "TGCLASS1" || binary.BigEndian.Uint32(data[8:]) != 3 {
		t.Fatalf("the file begins with %q", data[:16])
	}
	var hashes []int32
	for i := range 3 {
		row := data[16+32*i:]
		hashes = append(hashes, int32(binary.BigEndian.Uint32(row)))
		offset, stored := binary.BigEndian.Uint64(row[24:]), binary.BigEndian.Uint32(row[16:])
		if offset+uint64(stored) > uint64(len(data)) {
			t.Errorf("row %d ends behind the file", i)
		}
	}
	// "Aa" and "BB" have the same hash code in Java; that of "p/Ünï" was computed by Java.
	if want := []int32{2112, 2112, 105049598}; !slices.Equal(hashes, want) {
		t.Errorf("hash codes %v, want %v", hashes, want)
	}
}

// TestWriteClassesOfOneHash writes a class that did not change if a changed one has its hash, which other versions of
// it have, and others by chance: so the agent knows it. One of another hash is left out.
func TestWriteClassesOfOneHash(t *testing.T) {
	dir := t.TempDir()
	const version = "META-INF/versions/9/Aa.class"
	rest := []string{version, class("Aa", "n"), "BB.class", class("BB", "m"), "C.class", class("C", "m")}
	longer := class("Aa", strings.Repeat("long", 200))
	before := fixture.Write(t, filepath.Join(dir, "a.jar"),
		fixture.Zip(t, append([]string{"Aa.class", class("Aa", "m")}, rest...)...))
	after := fixture.Write(t, filepath.Join(dir, "b.jar"),
		fixture.Zip(t, append([]string{"Aa.class", longer}, rest...)...))
	file := filepath.Join(dir, "classes")
	// The second pair has the class that changed in the first one.
	pairs := []program.Pair{{Original: before, Rewritten: after}, {Original: before, Rewritten: before}}
	if count, err := program.WriteClasses(file, pairs); err != nil || count != 3 {
		t.Fatalf("%d classes, %v", count, err)
	}
	data := fixture.Read(t, file)
	var sizes []uint32
	for i := range 3 {
		sizes = append(sizes, binary.BigEndian.Uint32(data[16+32*i+12:]))
	}
	slices.Sort(sizes)
	if want := []uint32{0, 0, uint32(len(longer))}; !slices.Equal(sizes, want) {
		t.Errorf("sizes of rewritten classes: %d, want %d", sizes, want)
	}
}

// TestStatus reads what the agent would write.
func TestStatus(t *testing.T) {
	file, err := program.NewStatus("x/classes")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	data := fixture.Read(t, file)
	binary.BigEndian.PutUint32(data[8:], 1)
	binary.BigEndian.PutUint32(data[12:], 20)
	binary.BigEndian.PutUint32(data[1000:], 1)
	binary.BigEndian.PutUint32(data[16:], 3)
	binary.BigEndian.PutUint16(data[20:], 3)
	copy(data[22:], "a/B")
	fixture.Write(t, file, string(data))
	want := program.Counts{JVMs: 1, Programs: 1, Replaced: 20, Differing: 3, First: "a.B"}
	if got, err := program.ReadStatus(file); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, damaged := range []string{"", "short", strings.Repeat("x", 4096)} {
		fixture.Write(t, file, damaged)
		if _, err := program.ReadStatus(file); err == nil {
			t.Errorf("%d damaged bytes are no error", len(damaged))
		}
	}
	if _, err := program.NewStatus(strings.Repeat("x/", 2000)); err == nil {
		t.Error("a path that is too long is no error")
	}
}

// put stores a program with one file.
func put(t *testing.T, s *program.Store, key cache.Key, text string) string {
	t.Helper()
	dir, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, filepath.Join(dir, "file"), text)
	final, err := s.Commit(key, dir)
	if err != nil {
		t.Fatal(err)
	}
	return final
}

// TestStore keeps programs, finds none that is damaged, and removes those that were not used for the longest time.
func TestStore(t *testing.T) {
	base := t.TempDir()
	s, err := program.OpenStore(filepath.Join(base, "programs"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	key := cache.KeyOf("a")
	if _, ok := s.Find(key); ok {
		t.Error("an empty store has a program")
	}
	dir := put(t, s, key, "content")
	if got, ok := s.Find(key); !ok || got != dir {
		t.Errorf("found %q, %v", got, ok)
	}
	fixture.Write(t, filepath.Join(dir, "file"), "cut")
	if _, ok := s.Find(key); ok {
		t.Error("a damaged program is found")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a damaged program stays")
	}
	dir = put(t, s, key, "content")
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"b", "c"} {
		d := put(t, s, cache.KeyOf(name), strings.Repeat(name, 600))
		if err := os.Chtimes(filepath.Join(d, "complete"), old, old); err != nil {
			t.Fatal(err)
		}
		old = old.Add(time.Hour)
	}
	killed, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	running, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(killed, old, old); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, filepath.Join(base, "programs", "notes"), "foreign")
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(base, "programs"))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(running), "notes", filepath.Base(dir), cache.KeyOf("c").String()}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

// TestStoreAtOnce stores and finds one program by many goroutines. What is found is complete.
func TestStoreAtOnce(t *testing.T) {
	s, err := program.OpenStore(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if dir, ok := s.Find(cache.KeyOf("x")); ok {
					if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != "content" {
						t.Errorf("found %q, %v", data, err)
					}
				} else {
					put(t, s, cache.KeyOf("x"), "content")
				}
				if err := s.Trim(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
