package input_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestSet opens an input of each kind: their classes have one list of numbers, and each is read by its own.
func TestSet(t *testing.T) {
	dir := t.TempDir()
	aar := fixture.Zip(t, "x.txt", "x", "classes.jar", string(fixture.Zip(t, "a/A.class", "A")), "libs/l.jar",
		string(fixture.Zip(t, "META-INF/versions/9/b/B.class", "B")), "other/l.jar", "no jar")
	paths := []string{fixture.Write(t, filepath.Join(dir, "lib.aar"), aar), filepath.Join(dir, "classes"),
		fixture.Write(t, filepath.Join(dir, "E.class"), []byte("E"))}
	fixture.Write(t, filepath.Join(dir, "classes", "c", "C.class"), []byte("C"))
	fixture.Write(t, filepath.Join(dir, "classes", "c", "d", "D.class"), []byte("D"))
	fixture.Write(t, filepath.Join(dir, "classes", "c", "readme"), []byte("text"))
	var inputs []*input.Input
	for i, path := range paths {
		in, err := input.Open(i, path, false)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, in)
	}
	set := input.NewSet(inputs)
	defer set.Close()
	want := []string{"lib.aar!classes.jar!a/A.class A", "lib.aar!libs/l.jar!META-INF/versions/9/b/B.class B",
		"classes!c/C.class C", "classes!c/d/D.class D", "E.class E"}
	if len(set.Classes) != len(want) || set.Classes[1].Release != 9 {
		t.Fatalf("classes %+v", set.Classes)
	}
	var buffer []byte
	for n, c := range set.Classes {
		data, err := set.Read(n, &buffer)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(c.Where(), dir+string(filepath.Separator)) + " " + string(data); got != want[n] {
			t.Errorf("class %d: %s, want %s", n, got, want[n])
		}
		if e, err := set.Entry(n); err != nil || e.Class != n {
			t.Errorf("class %d: entry %+v, %v", n, e, err)
		}
	}
}

// TestLater opens inputs whose containers and classes are known: they stay the same values. An input that was changed
// meanwhile is refused.
func TestLater(t *testing.T) {
	path := fixture.Write(t, filepath.Join(t.TempDir(), "lib.aar"), fixture.Zip(t, "classes.jar",
		string(fixture.Zip(t, "a/A.class", "A", "b/B.class", "B"))))
	before, err := input.Open(0, path, false)
	if err != nil {
		t.Fatal(err)
	}
	known := input.Later(path, before.Containers, before.Classes, false)
	set := input.NewSet([]*input.Input{known})
	if known.Opened() {
		t.Error("it is open before anything is read")
	}
	before.Close()
	var buffer []byte
	if data, err := set.Peek(1, &buffer); err != nil || string(data) != "B" || !known.Opened() {
		t.Errorf("read %q, open: %v: %v", data, known.Opened(), err)
	}
	if nested := known.Containers[0].Entries[0].Nested; nested != known.Containers[1] || nested.Entries[1].Class != 1 {
		t.Errorf("the archive in it is another one: %+v", nested)
	}
	set.Close()

	fixture.Write(t, path, fixture.Zip(t, "classes.jar", string(fixture.Zip(t, "a/A.class", "A", "b/B.class", "longer"))))
	changed := input.Later(path, before.Containers, before.Classes, false)
	defer changed.Close()
	if err := changed.Open(); err == nil || !strings.Contains(err.Error(),
		path+": changed while tracegen was running") {
		t.Errorf("got %v", err)
	}
}
