package pipeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// member is a class of the archive that the tests of this file change.
type member struct {
	name, super string
	final       bool   // the class, or its method m if it has one that is not static
	methods     int    // static ones
	salt        int    // in the code
	own         bool   // it has a method m that is not static
	cast        string // a method returns an object of the first class as one of the second: "a/A b/B"
	dup         bool   // the entry is there twice, the second one with another salt
}

func (m *member) file() file {
	c := assembly.Class{Name: m.name, Super: m.super, Access: classfile.AccPublic}
	access := uint16(classfile.AccPublic)
	switch {
	case m.final && m.own:
		access |= classfile.AccFinal
	case m.final:
		c.Access |= classfile.AccFinal
	}
	for i := range m.methods {
		c.Methods = append(c.Methods, assembly.Method{Access: static, Name: "s" + strconv.Itoa(i), Descriptor: "()V",
			Code: strings.Repeat("nop | ", m.salt) + "return"})
	}
	if m.own {
		c.Methods = append(c.Methods, assembly.Method{Access: access, Name: "m", Descriptor: "()V", Locals: 1,
			Code: "return"})
	}
	if from, to, ok := strings.Cut(m.cast, " "); ok {
		c.Methods = append(c.Methods, assembly.Method{Access: static, Name: "cast", Locals: 1, Stack: 1,
			Descriptor: "(L" + from + ";)L" + to + ";", Code: "aload_0 | areturn"})
	}
	return classFile(c)
}

func files(members []member) (list []file) {
	for _, m := range members {
		list = append(list, m.file())
		if m.dup {
			m.salt++
			list = append(list, m.file())
		}
	}
	return list
}

// members are classes of which some decide whether a JVM links others.
func members() []member {
	list := []member{
		{name: "app/Base", methods: 1, own: true}, {name: "app/Sub", super: "app/Base", methods: 2, own: true},
		{name: "app/Type", methods: 1}, {name: "app/Impl", super: "app/Type", methods: 1},
		{name: "app/Cast", cast: "app/Impl app/Type"}, {name: "app/User", cast: "app/Impl lib/Unknown", methods: 1},
		{name: "app/Other", cast: "app/Sub lib/Other", methods: 1},
	}
	for i := range 4 {
		list = append(list, member{name: fmt.Sprint("app/C", i), methods: 3})
	}
	return list
}

// TestRandomChanges changes an archive at random, again and again.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestRandomChanges(t *testing.T) {
	jarFile := filepath.Join(t.TempDir(), "app.jar")
	k := newKept(t)
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{jarFile}).Inputs, Jobs: 2}
	random := rand.New(rand.NewPCG(1, 2))
	list := members()
	var before [][]file
	for step := range 60 {
		list[random.IntN(len(list))].salt = random.IntN(20)
		m := &list[random.IntN(len(list))]
		switch random.IntN(24) {
		case 0:
			m.final = !m.final
		case 1:
			m.own = !m.own
		case 2:
			m.methods = random.IntN(4)
		case 3:
			if m.name != "app/Base" && m.name != "app/Type" { // of a circle, any would be rejected
				m.super = []string{"", "app/Base", "app/Type", "lib/Unknown"}[random.IntN(4)]
			}
		case 4:
			m.cast = []string{"", "app/Impl app/Type", "app/Sub app/Base", "app/C1 app/Type"}[random.IntN(4)]
		case 5:
			m.dup = true
		case 6:
			i := random.IntN(len(list))
			*m, list[i] = list[i], *m
		default:
			m.salt = random.IntN(20)
		}
		next := files(list)
		if random.IntN(6) == 0 && len(before) > 0 {
			next = before[random.IntN(len(before))]
		}
		before = append(before, next)
		for i := range list {
			list[i].dup = false
		}
		archive(t, jarFile, next...)
		if random.IntN(8) == 0 {
			if err := os.Remove(k.path("out/app.jar")); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if k.same(t, fmt.Sprint("step ", step), c, "r"); t.Failed() {
			t.Fatalf("%+v", list)
		}
	}
	if slices.ContainsFunc(k.said, func(s string) bool { return strings.Contains(s, "damaged") }) {
		t.Errorf("%q", k.said)
	}
}

// TestRandomBytes changes bytes of compiled classes in an archive, so that some are no classes any more, and others are
// not those that a JVM links.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestRandomBytes(t *testing.T) {
	var original []file
	root := filepath.Join("..", "..", "..", "testdata", "classes", "bin", "g")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".class" {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		original = append(original, file{filepath.ToSlash(name), data})
		return err
	})
	if err != nil || len(original) < 5 {
		t.Fatalf("%d classes, error %v", len(original), err)
	}
	jarFile := filepath.Join(t.TempDir(), "app.jar")
	k := newKept(t)
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{jarFile}).Inputs, Jobs: 2}
	random := rand.New(rand.NewPCG(3, 4))
	now := slices.Clone(original)
	for step := range 40 {
		i := random.IntN(len(now))
		switch random.IntN(8) {
		case 0:
			now = slices.Clone(original)
		case 1, 2:
			now[i] = original[i]
		case 3:
			now[i], now[0] = now[0], now[i]
			original[i], original[0] = original[0], original[i]
		default:
			data := slices.Clone(now[i].data)
			data[10+random.IntN(len(data)-10)] = byte(random.IntN(256))
			now[i].data = data
		}
		archive(t, jarFile, now...)
		if k.same(t, fmt.Sprint("step ", step), c, "r"); t.Failed() {
			t.FailNow()
		}
	}
}

// TestToleratedFaultIsNotedAgain has a class with a fault that shows only beside the JDK's classes, in an output that
// is reused.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestToleratedFaultIsNotedAgain(t *testing.T) {
	dir := t.TempDir()
	jarFile, jdk := filepath.Join(dir, "app.jar"), filepath.Join(dir, "jdk")
	for name, super := range map[string]string{"java/lang/Object": "-", "java/lang/String": "", "java/lang/Integer": ""} {
		write(t, filepath.Join(jdk, filepath.FromSlash(name)+".class"), assembly.Class{Name: name, Super: super}.Bytes())
	}
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{jarFile}).Inputs,
		ClassPath: pipeline.ClassPath{JDK: jdk}}
	k := newKept(t)
	list := append(members(), member{name: "app/Faulty", cast: "java/lang/Integer java/lang/String"})
	archive(t, jarFile, files(list)...)
	k.same(t, "a fault", c, "r")
	says(t, "again", k.same(t, "a fault, again", c, "r"), "1 outputs left alone")
}
