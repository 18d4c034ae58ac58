package pipeline

import (
	"fmt"
	"sync"

	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
)

// ClassPath says where classes are found that are referred to: first in Paths, then among the inputs, then in the JDK.
type ClassPath struct {
	Paths []string // jars, .aar files, directories of classes
	JDK   string   // a JDK's home directory, its lib/modules or a directory of .jmod files; "" for none
	// Strict makes every class that cannot be found a finding, instead of assuming that it fits.
	Strict bool
}

// openedClassPath is a class path that is opened when it is first needed, and only then. Goroutines may share it.
type openedClassPath struct {
	from ClassPath
	once sync.Once
	err  error

	before, after *classpath.ClassPath // of the inputs

	memory types.Memory // of all checkers, of which each input has one
}

// Lazy returns the class path, not yet opened.
func (p ClassPath) Lazy() *openedClassPath { return &openedClassPath{from: p} }

// Open opens the class path and the JDK, unless it has done so before.
func (o *openedClassPath) Open() error {
	o.once.Do(func() { o.err = o.open() })
	return o.err
}

func (o *openedClassPath) open() error {
	before, err := classpath.Open(o.from.Paths...)
	if err != nil {
		return err
	}
	var jdk []string
	if o.from.JDK != "" {
		jdk = []string{o.from.JDK}
	}
	after, err := classpath.Open(jdk...)
	if err != nil {
		before.Close()
		return fmt.Errorf("JDK: %w", err)
	}
	o.before, o.after = before, after
	return nil
}

// Supertypes returns the superclass, "" for none, and the interfaces that a class of the class path names; found is
// false if it is not there. The JDK's classes are not looked at: which one a machine has must not decide what is
// traced. The class path must be open.
func (o *openedClassPath) Supertypes(class string) (super string, interfaces []string, found bool) {
	info := o.before.Lookup(class)
	if info == nil {
		return "", nil, false
	}
	return info.Super, info.Interfaces, true
}

// Close closes what was opened.
func (o *openedClassPath) Close() {
	if o.before != nil {
		o.before.Close()
		o.after.Close()
	}
}
