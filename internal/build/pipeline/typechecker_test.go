package pipeline

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// entry is an entry of an archive.
func at(dir string, c assembly.Class) fixture.Entry {
	return fixture.Entry{Name: dir + c.Name + ".class", Data: string(c.Bytes())}
}

// jar is an archive of classes. Without java/lang/Object, the checker would assume that what it cannot see fits.
func jar(t *testing.T, entries ...fixture.Entry) []byte {
	t.Helper()
	return fixture.Pack(t, append(entries, at("", assembly.Class{Name: "java/lang/Object", Super: "-"}))...)
}

// set writes archives, a.jar, b.jar and so on, or .aar, and returns them as inputs, with the names of all classes.
func set(t *testing.T, suffix string, archives ...[]byte) (*input.Set, []string) {
	t.Helper()
	dir := t.TempDir()
	var inputs []*input.Input
	for i, data := range archives {
		path := filepath.Join(dir, string(rune('a'+i))+suffix)
		fixture.Write(t, path, data)
		in, err := input.Open(i, path, false)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, in)
	}
	s := input.NewSet(inputs)
	t.Cleanup(func() { s.Close() })
	var names []string
	for _, c := range s.Classes {
		directory, _ := input.ReleaseOf(c.Name)
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(c.Name, directory), ".class"))
	}
	return s, names
}

func staticClass(name, descriptor, code string) assembly.Class {
	return assembly.Class{Name: name, Methods: []assembly.Method{{Access: classfile.AccPublic | classfile.AccStatic,
		Name: "f", Descriptor: descriptor, Stack: 1, Locals: 1, Code: code}}}
}

// TestChecker checks rewritten classes beside originals with and without the same faults. A method that returns a class
// as another one is right if that is its superclass, and a fault if it is not.
//
// Invariant: A fault that the original has too is not reported as introduced.
func TestChecker(t *testing.T) {
	sub := assembly.Class{Name: "p/Sub", Super: "p/Base"}
	base, other := assembly.Class{Name: "p/Base"}, assembly.Class{Name: "p/Other"}
	right := staticClass("p/User", "(Lp/Sub;)Lp/Base;", "aload_0 | areturn")
	wrong := staticClass("p/User", "(Lp/Sub;)Lp/Other;", "aload_0 | areturn")
	unknown := staticClass("p/User", "(Lq/Missing;)Lq/Gone;", "aload_0 | areturn")
	s, names := set(t, ".jar", jar(t, at("", right), at("", sub), at("", base), at("", other)))
	opened := ClassPath{}.Lazy()
	defer opened.Close()
	c, err := newTypeChecker(opened, s, names)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name                string
		original, rewritten assembly.Class
		detail              string // begin of the rejection, "" for none
		preExisting         bool
		unknown             []string
	}{
		{name: "right", original: right, rewritten: right},
		{name: "introduced", original: right, rewritten: wrong, detail: "p/User"},
		{name: "in the original too", original: wrong, rewritten: wrong, detail: "pre-existing: p/User",
			preExisting: true},
		{name: "classes that are not there", original: unknown, rewritten: unknown, unknown: []string{"q/Gone",
			"q/Missing"}},
	}
	for _, test := range tests {
		rejection := c.Check(0, test.original.Parse(), test.rewritten.Parse())
		switch {
		case (rejection != nil) != (test.detail != ""):
			t.Errorf("%s: rejection %+v", test.name, rejection)
		case rejection != nil && (!strings.HasPrefix(rejection.Detail, test.detail) ||
			rejection.PreExisting != test.preExisting):
			t.Errorf("%s: rejection %+v, want %q", test.name, rejection, test.detail)
		}
		for _, name := range c.TakeUnknown(0) {
			if !slices.Contains(test.unknown, name) {
				t.Errorf("%s: %s is unknown", test.name, name)
			}
			test.unknown = slices.DeleteFunc(test.unknown, func(s string) bool { return s == name })
		}
		if len(test.unknown) > 1 { // the checker need not look for both
			t.Errorf("%s: %s were not noted", test.name, test.unknown)
		}
	}
	if unknown := c.TakeUnknown(0); unknown != nil {
		t.Errorf("unknown classes were kept: %v", unknown)
	}
}

// TestViews checks one class as that of several files, which see other classes of the name p/Sub: only some of them
// extend p/Base.
//
// Invariant: A class sees the classes of its own file first, and of a multi-release file those for its own release.
func TestViews(t *testing.T) {
	user := staticClass("p/User", "(Lp/Sub;)Lp/Base;", "aload_0 | areturn")
	base := assembly.Class{Name: "p/Base"}
	extends, extendsNot := assembly.Class{Name: "p/Sub", Super: "p/Base"}, assembly.Class{Name: "p/Sub"}
	s, names := set(t, ".jar",
		jar(t, at("", user), at("", base), at("", extends)),
		jar(t, at("", user), at("", base), at("", extendsNot)),
		jar(t, at("", user), at("", base), at("", extends), at("META-INF/versions/9/", extendsNot),
			at("META-INF/versions/9/", user), at("META-INF/versions/11/", extends), at("META-INF/versions/11/", user)),
		jar(t, at("", user))) // sees no other, unless it may see other inputs
	opened := ClassPath{}.Lazy()
	defer opened.Close()
	if err := opened.Open(); err != nil {
		t.Fatal(err)
	}
	all := newTypeViews(opened, s, 0, len(names), namedClassesOf(&infoReader{set: s}, names, 0, 0),
		namedClassesOf(&infoReader{set: s}, names, 0, len(names)), false)
	own, err := newTypeChecker(opened, s, names)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"a.jar!p/User.class": 0, "b.jar!p/User.class": 1, "c.jar!p/User.class": 0,
		"c.jar!META-INF/versions/9/p/User.class": 1, "c.jar!META-INF/versions/11/p/User.class": 0,
		"d.jar!p/User.class": 0}
	users := 0
	for n, name := range names {
		if name != "p/User" {
			continue
		}
		users++
		where := filepath.Base(s.Classes[n].Container.Name) + "!" + s.Classes[n].Name
		if got := all.Check(n, user.Parse()).Findings; len(got) != want[where] {
			t.Errorf("%s: findings %v, want %d", where, got, want[where])
		}
		own.Check(n, user.Parse(), user.Parse())
	}
	if users != len(want) {
		t.Errorf("%d classes checked", users)
	}
	for i := range 4 {
		if missing := own.TakeUnknown(i); (len(missing) > 0) != (i == 3) {
			t.Errorf("input %d does not find %v", i, missing)
		}
	}
}

// TestViewsOfOneInput checks a class in two archives of one input, each of which has a p/Sub of its own.
func TestViewsOfOneInput(t *testing.T) {
	user := staticClass("p/User", "(Lp/Sub;)Lp/Base;", "aload_0 | areturn")
	base := assembly.Class{Name: "p/Base"}
	s, names := set(t, ".aar", fixture.Zip(t, "classes.jar",
		string(jar(t, at("", user), at("", base), at("", assembly.Class{Name: "p/Sub", Super: "p/Base"}))),
		"libs/x.jar", string(jar(t, at("", user), at("", assembly.Class{Name: "p/Sub"})))))
	opened := ClassPath{}.Lazy()
	defer opened.Close()
	if err := opened.Open(); err != nil {
		t.Fatal(err)
	}
	v := newTypeViews(opened, s, 0, len(names), namedClassesOf(&infoReader{set: s}, names, 0, len(names)),
		namedClassesOf(&infoReader{set: s}, names, 0, 0), false)
	var findings []int
	for n, name := range names {
		if name == "p/User" {
			findings = append(findings, len(v.Check(n, user.Parse()).Findings))
		}
	}
	if !slices.Equal(findings, []int{0, 1}) {
		t.Errorf("findings %v", findings)
	}
}

// TestSupertypes looks classes up on the class path. The JDK's are not there.
func TestSupertypes(t *testing.T) {
	dir := t.TempDir()
	c := assembly.Class{Name: "p/A", Super: "p/S", Interfaces: []string{"p/I"}}
	fixture.Directory(t, filepath.Join(dir, "p"))
	fixture.Write(t, filepath.Join(dir, "p", "A.class"), c.Bytes())
	opened := ClassPath{Paths: []string{dir}}.Lazy()
	defer opened.Close()
	if err := opened.Open(); err != nil {
		t.Fatal(err)
	}
	super, interfaces, found := opened.Supertypes("p/A")
	if super != "p/S" || !slices.Equal(interfaces, []string{"p/I"}) || !found {
		t.Errorf("p/A extends %s, implements %v, found: %v", super, interfaces, found)
	}
	if _, _, found := opened.Supertypes("java/lang/String"); found {
		t.Error("a class of the JDK is found")
	}
	missing := ClassPath{Paths: []string{filepath.Join(dir, "none.jar")}}.Lazy()
	if err := missing.Open(); err == nil || missing.Open() != err {
		t.Errorf("a file that is missing: %v, then %v", err, missing.Open())
	}
}
