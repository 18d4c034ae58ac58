package code_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// sample is a method with code.
type sample struct {
	name   string // the class file, the method's name and its descriptor
	class  *classfile.Class
	method *classfile.Member
	code   classfile.Code
}

// methodsOf returns the methods of a class that have code.
func methodsOf(t testing.TB, file string, data []byte) (methods []sample) {
	t.Helper()
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for i := range c.Methods() {
		m := &c.Methods()[i]
		body, ok, err := c.Code(m)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if ok {
			methods = append(methods, sample{file + " " + m.Name + m.Descriptor, c, m, body})
		}
	}
	return methods
}

// sampleFiles returns the paths of the classes of testdata.
func sampleFiles(t testing.TB) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(crafted.Committed(t)))
}

// sampleMethods returns the methods of the classes of testdata.
func sampleMethods(t testing.TB) (methods []sample) {
	t.Helper()
	committed := crafted.Committed(t)
	for _, path := range slices.Sorted(maps.Keys(committed)) {
		methods = append(methods, methodsOf(t, path, committed[path])...)
	}
	return methods
}
