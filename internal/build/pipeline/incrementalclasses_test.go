package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// related are classes of which some decide about others: whether a/User may return a Sub as a Base, whether a/Sub may
// override f, and whether q/Far may return what is not there.
func related() []file {
	method := assembly.Method{Access: public, Name: "f", Descriptor: "()V", Locals: 1, Code: "return"}
	returning := func(name, descriptor string) file {
		return classFile(assembly.Class{Name: name, Methods: []assembly.Method{{Access: static, Name: "g",
			Descriptor: descriptor, Stack: 1, Locals: 1, Code: "aload_0 | areturn"}}})
	}
	files := []file{
		classFile(assembly.Class{Name: "java/lang/Object", Super: "-"}),
		classFile(assembly.Class{Name: "a/Base", Methods: []assembly.Method{method}}),
		classFile(assembly.Class{Name: "a/Sub", Super: "a/Base", Methods: []assembly.Method{method}}),
		returning("a/User", "(La/Sub;)La/Base;"),
		returning("q/Far", "(Lq/Missing;)Lq/Gone;"),
	}
	for i := range 12 {
		files = append(files, class(fmt.Sprint("b/C", i), "f", "g"))
	}
	return files
}

// twice is the row in which nothing is copied.
const twice = "a place twice"

// relatedChanges is the number of related classes that get calls.
const relatedChanges = 16

// TestIncrementalClasses changes classes of a jar that others ask for, and some that none asks for. Which others are
// rewritten shows in how many are copied.
//
// Invariant: A class is copied from an earlier output only if no other one that its check looked for has changed in
// what it is to others, has come, or has gone.
func TestIncrementalClasses(t *testing.T) {
	final := assembly.Method{Access: public | classfile.AccFinal, Name: "f", Descriptor: "()V", Locals: 1, Code: "return"}
	put := func(path string, c assembly.Class) func([]file) []file {
		return func(files []file) []file {
			for i := range files {
				if files[i].name == path {
					files[i].data = c.Bytes()
					return files
				}
			}
			return append(files, file{path, c.Bytes()})
		}
	}
	remove := func(path string) func([]file) []file {
		return func(files []file) []file {
			return slices.DeleteFunc(files, func(f file) bool { return f.name == path })
		}
	}
	base := assembly.Class{Name: "a/Base", Methods: []assembly.Method{final}}
	open := final
	open.Access = public
	sub := assembly.Class{Name: "a/Sub", Methods: []assembly.Method{open}} // does not extend Base
	rows := []struct {
		what   string
		change func([]file) []file
		copied int    // classes
		left   string // the class that is left as it came: there are two rounds then, and copied is not looked at
	}{
		{what: "a method of a class for which none asks", copied: relatedChanges - 1,
			change: put("b/C0.class", assembly.Class{Name: "b/C0", Methods: []assembly.Method{final}})},
		{what: "the code of two classes", copied: relatedChanges - 2, change: func(files []file) []file {
			longer := []assembly.Method{{Access: static, Name: "f", Descriptor: "()V", Code: "nop | return"},
				{Access: static, Name: "g", Descriptor: "()V", Code: "nop | return"}}
			files = put("b/C1.class", assembly.Class{Name: "b/C1", Methods: longer})(files)
			return put("b/C2.class", assembly.Class{Name: "b/C2", Methods: longer})(files)
		}},
		{what: "a class that refers to unknown ones no more", copied: relatedChanges - 1,
			change: put("q/Far.class", assembly.Class{Name: "q/Far", Methods: []assembly.Method{open}})},
		{what: "the case of a name", copied: relatedChanges - 1, change: func(files []file) []file {
			files = remove("b/C3.class")(files)
			return put("b/c3.class", assembly.Class{Name: "b/c3", Methods: []assembly.Method{open}})(files)
		}},
		{what: "a class that is new", copied: relatedChanges, change: put("b/New.class",
			assembly.Class{Name: "b/New", Methods: []assembly.Method{final}})},
		{what: "a class that is gone", copied: relatedChanges - 1, change: remove("b/C3.class")},
		{what: "another order", copied: relatedChanges,
			change: func(files []file) []file { slices.Reverse(files); return files }},
		{what: "the code of the superclass", copied: relatedChanges - 1, change: put("a/Base.class",
			assembly.Class{Name: "a/Base", Methods: []assembly.Method{{Access: public, Name: "f", Descriptor: "()V",
				Locals: 1, Code: "nop | return"}}})},
		{what: "a method more in the superclass", copied: relatedChanges - 3, change: put("a/Base.class",
			assembly.Class{Name: "a/Base", Methods: []assembly.Method{open, {Access: public, Name: "h",
				Descriptor: "()V", Locals: 1, Code: "return"}}})},
		{what: "a final method in the superclass", change: put("a/Base.class", base), left: "a/Sub.class"},
		{what: "a superclass that is final", left: "a/Sub.class", change: put("a/Base.class", assembly.Class{
			Name: "a/Base", Access: public | classfile.AccFinal})},
		{what: "another superclass", change: put("a/Sub.class", sub), left: "a/User.class"},
		{what: "the superclass is gone", copied: relatedChanges - 3, change: remove("a/Base.class")},
		{what: "the superclass elsewhere", copied: relatedChanges - 3, change: func(files []file) []file {
			files = remove("a/Base.class")(files)
			return put("c/Base.class", assembly.Class{Name: "a/Base", Methods: []assembly.Method{open}})(files)
		}},
		{what: "another class in the place of the superclass", copied: relatedChanges - 3,
			change: put("a/Base.class", assembly.Class{Name: "a/Other", Methods: []assembly.Method{open}})},
		{what: "a superclass that cannot be read", copied: relatedChanges - 3, change: func(files []file) []file {
			files = remove("a/Base.class")(files)
			return append(files, file{"a/Base.class", []byte{0xCA, 0xFE}})
		}},
		{what: "a class that was not found", left: "q/Far.class", change: func(files []file) []file {
			files = put("q/Gone.class", assembly.Class{Name: "q/Gone"})(files)
			return put("q/Missing.class", assembly.Class{Name: "q/Missing"})(files)
		}},
		{what: "another superclass for a later release", copied: relatedChanges - 2,
			change: put("META-INF/versions/9/a/Base.class", base)},
		{what: twice, change: func(files []file) []file { return append(files, files[len(files)-1]) }},
	}
	dir := t.TempDir()
	name, other := filepath.Join(dir, "in.jar"), filepath.Join(dir, "other.jar")
	archive(t, other, class("d/D0", "f"), class("d/D1", "f"), class("d/D2", "f"))
	for _, merged := range []bool{false, true} {
		for _, row := range rows {
			what := fmt.Sprintf("%s, merged: %v", row.what, merged)
			k := newKept(t)
			c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{name}).Inputs}
			if merged {
				c.Inputs, c.Merge = []pipeline.Input{{Path: other}, {Path: name}}, "in.jar"
				row.copied += 3
			}
			archive(t, name, related()...)
			k.same(t, what+", before", c, "r")
			files := row.change(related())
			archive(t, name, files...)
			said := k.same(t, what, c, "r")
			if row.left == "" {
				says(t, what, said, fmt.Sprintf(`known, %d copied`, row.copied))
			} else if written := entryOf(t, contents(t, k.path("out/in.jar")), row.left); !bytes.Equal(written,
				entryOf(t, files, row.left)) {
				t.Errorf("%s: %s is not left as it came", what, row.left)
			}
			// The facts are in two parts now, and come from another run.
			k.same(t, what+", again", c, "r")
			if err := os.RemoveAll(k.path("out")); err != nil {
				t.Fatal(err)
			}
			k.same(t, what+", outputs gone", c, "r")
			// What was copied is known as well as what was written.
			for _, c := range []assembly.Class{{Name: "q/Gone"}, {Name: "q/Missing"}, base} {
				files = put(c.Name+".class", c)(files)
			}
			archive(t, name, files...)
			said = k.same(t, what+", and other superclasses", c, "r")
			if row.what != twice {
				says(t, what+", and other superclasses", said, `known, 1\d copied`)
			}
			archive(t, name, related()...)
			k.same(t, what+", as before", c, "r")
		}
	}
}

// TestIncrementalMergedClasses merges a jar with another one in front, which at times has a class of that: the class of
// the jar is left out then, so that others do not find it.
//
// Invariant: A class is copied from an earlier output only if no other one that its check looked for has changed in
// what it is to others, has come, or has gone.
func TestIncrementalMergedClasses(t *testing.T) {
	dir := t.TempDir()
	front, name, behind := filepath.Join(dir, "front.jar"), filepath.Join(dir, "in.jar"), filepath.Join(dir, "classes")
	archive(t, name, related()...)
	write(t, filepath.Join(behind, "e", "E.class"), class("e/E", "f").data)
	k := newKept(t)
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Merge: "all.jar",
		Inputs: []pipeline.Input{{Path: front}, {Path: name}, {Path: behind}}}
	own := []file{class("d/D0", "f"), class("d/D1", "f")}
	winner := classFile(assembly.Class{Name: "a/Base", Methods: []assembly.Method{{Access: public, Name: "f",
		Descriptor: "()V", Locals: 1, Code: "return"}}})
	archive(t, front, own...)
	k.same(t, "before", c, "r")
	archive(t, front, append(own, winner)...)
	// a/Base comes from another input, of which a/Sub and a/User see nothing. e/E is in a directory.
	says(t, "a class in front", k.same(t, "a class in front", c, "r"), fmt.Sprintf(`known, %d copied`, 2+relatedChanges-3))
	archive(t, front, append([]file{class("d/D2", "f"), winner}, own...)...)
	says(t, "another", k.same(t, "another", c, "r"), fmt.Sprintf(`known, %d copied`, 3+relatedChanges-1))
	archive(t, front, own...)
	says(t, "as before", k.same(t, "as before", c, "r"), `1 copied, 0 written`)
	// The output before is neither in its place nor in the cache, that with a class in front is in the cache.
	archive(t, front, append([]file{class("d/D2", "f")}, own...)...)
	write(t, filepath.Join(behind, "e", "E.class"), class("e/E", "f", "g").data)
	says(t, "a class of the directory", k.same(t, "a class of the directory", c, "r"),
		fmt.Sprintf(`known, %d copied`, 2+relatedChanges-3))
	slices.Reverse(own)
	archive(t, front, own...)
	says(t, "a class less", k.same(t, "a class less", c, "r"), fmt.Sprintf(`known, %d copied`, 2+relatedChanges))
	// Now that with the class of the directory is.
	if err := os.Remove(k.path("out/all.jar")); err != nil {
		t.Fatal(err)
	}
	archive(t, front, own[:1]...)
	says(t, "one more, and no output", k.same(t, "one more, and no output", c, "r"),
		fmt.Sprintf(`known, %d copied`, 1+relatedChanges))
}
