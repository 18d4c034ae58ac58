package code_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
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

// corpusJars returns the released jars that this run reads: the small set, with TRACEGEN_CORPUS=full all, with -short
// none.
func corpusJars(t testing.TB) []corpus.Jar {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: no corpus in this run")
	}
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(context.Background(), c.Names(os.Getenv("TRACEGEN_CORPUS") == "full")...)
	oracle.Require(t, err)
	return jars
}

// eachCorpusMethod calls f with the methods of every share-th class of the corpus.
func eachCorpusMethod(t testing.TB, share int, f func(sample)) {
	t.Helper()
	n := 0
	for _, jar := range corpusJars(t) {
		oracle.EachClass(t, jar.Classes, func(name string, data []byte) {
			if n++; n%share != 0 {
				return
			}
			for _, m := range methodsOf(t, jar.Name+"!"+name, data) {
				f(m)
			}
		})
	}
}
