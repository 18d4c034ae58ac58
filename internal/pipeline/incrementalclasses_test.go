package pipeline_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/pipeline"
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
	copied := func(n int) string {
		return fmt.Sprintf(`cache: of inputs that have changed: \d+ classes known, %d copied`, n)
	}
	rows := []struct {
		what   string
		change func([]file) []file
		said   string // with a cache; "" if classes are rejected, when two rounds say it
		left   string // the class that is left as it came
	}{
		{what: "a method of a class for which none asks", said: copied(relatedChanges - 1),
			change: put("b/C0.class", assembly.Class{Name: "b/C0", Methods: []assembly.Method{final}})},
		{what: "a class that is new", said: copied(relatedChanges), change: put("b/New.class",
			assembly.Class{Name: "b/New", Methods: []assembly.Method{final}})},
		{what: "a class that is gone", said: copied(relatedChanges - 1), change: remove("b/C3.class")},
		{what: "another order", said: copied(relatedChanges),
			change: func(files []file) []file { slices.Reverse(files); return files }},
		{what: "the code of the superclass", said: copied(relatedChanges - 1), change: put("a/Base.class",
			assembly.Class{Name: "a/Base", Methods: []assembly.Method{{Access: public, Name: "f", Descriptor: "()V",
				Locals: 1, Code: "nop | return"}}})},
		{what: "a method more in the superclass", said: copied(relatedChanges - 3), change: put("a/Base.class",
			assembly.Class{Name: "a/Base", Methods: []assembly.Method{open, {Access: public, Name: "h",
				Descriptor: "()V", Locals: 1, Code: "return"}}})},
		{what: "a final method in the superclass", change: put("a/Base.class", base), left: "a/Sub.class"},
		{what: "a superclass that is final", left: "a/Sub.class", change: put("a/Base.class", assembly.Class{
			Name: "a/Base", Access: public | classfile.AccFinal})},
		{what: "another superclass", change: put("a/Sub.class", sub), left: "a/User.class"},
		{what: "the superclass is gone", said: copied(relatedChanges - 3), change: remove("a/Base.class")},
		{what: "the superclass elsewhere", said: copied(relatedChanges - 3), change: func(files []file) []file {
			files = remove("a/Base.class")(files)
			return put("c/Base.class", assembly.Class{Name: "a/Base", Methods: []assembly.Method{open}})(files)
		}},
		{what: "another class in the place of the superclass", said: copied(relatedChanges - 3),
			change: put("a/Base.class", assembly.Class{Name: "a/Other", Methods: []assembly.Method{open}})},
		{what: "a superclass that cannot be read", said: copied(relatedChanges - 3), change: func(files []file) []file {
			files = remove("a/Base.class")(files)
			return append(files, file{"a/Base.class", []byte{0xCA, 0xFE}})
		}},
		{what: "a class that was not found", left: "q/Far.class", change: func(files []file) []file {
			files = put("q/Gone.class", assembly.Class{Name: "q/Gone"})(files)
			return put("q/Missing.class", assembly.Class{Name: "q/Missing"})(files)
		}},
		{what: "another superclass for a later release", said: copied(relatedChanges - 2),
			change: put("META-INF/versions/9/a/Base.class", base)},
		{what: "a place twice", said: `cache: of inputs that have changed: \d+ classes known, 0 copied`,
			change: func(files []file) []file { return append(files, files[len(files)-1]) }},
	}
	name := filepath.Join(t.TempDir(), "in.jar")
	for _, row := range rows {
		k := newKept(t)
		c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{name}).Inputs}
		archive(t, name, related()...)
		k.same(t, row.what+", before", c, "r")
		files := row.change(related())
		archive(t, name, files...)
		said := k.same(t, row.what, c, "r")
		says(t, row.what, said, row.said)
		if row.left != "" {
			written := entryOf(t, contents(t, k.path("out/in.jar")), row.left)
			if !bytes.Equal(written, entryOf(t, files, row.left)) {
				t.Errorf("%s: %s is not left as it came", row.what, row.left)
			}
		}
		// What was copied is known as well as what was written.
		for _, c := range []assembly.Class{{Name: "q/Gone"}, {Name: "q/Missing"}, base} {
			files = put(c.Name+".class", c)(files)
		}
		archive(t, name, files...)
		said = k.same(t, row.what+", and other superclasses", c, "r")
		if row.what != "a place twice" {
			says(t, row.what+", and other superclasses", said, `known, 1\d copied`)
		}
		archive(t, name, related()...)
		k.same(t, row.what+", as before", c, "r")
	}
}
