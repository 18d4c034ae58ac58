// Package pipeline runs the whole job: it scans the inputs, decides which methods are traced, gives them IDs,
// rewrites the classes, has every rewritten class proven by two referees, and writes the outputs.
//
// # How it goes
//
// [Run] works in two passes over the inputs. The scan reads every class and decides, class by class and in
// parallel, all that depends on the class alone; it keeps names and decisions, no bytes. Then what needs the
// whole is decided in one place: which classes the runtime itself reaches, which Activity gets the focus hook,
// which ID each method has. The second pass reads each class that changes once more, rewrites and checks it, and
// one writer per output puts the entries down in their order, while the others are being worked on. What does
// not change is copied as the compressed bytes that it is.
//
// Nothing is visible before all of it is right: outputs, mapping and lists are written to temporary files and
// renamed together at the end. A class that a referee objects to is put back as it was, its methods lose
// their IDs, and the passes after the scan are run again without it. If its original is no better, that is said
// of the original, not of what was done to it.
//
// The same can be done in three calls, with files between them: [Scan] for some of the inputs, [Assign] for all
// that were scanned, and Run with a [Slice] for those inputs again. What is known of a class is a unit; the files hold
// units, and each call starts from them where Run goes on in memory. They come to the same outputs. Whether a
// referee will object is found out by Scan on trial, and by Run alone when it writes.
//
// [Verify] is the second of these referees by itself, for files of any origin.
//
// Results do not depend on the number of workers: every class has its place in a list before any of them
// starts.
package pipeline

import (
	"io"
	"iter"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Input is one argument: a jar, zip or aar, a .class file, or a directory.
type Input struct {
	Path   string // of the file or directory
	Output string // file or directory to write; unused with Config.Merge
}

// Config says what to do. Inputs, and Merge or each Input's Output, are needed; the zero value of the rest is
// the default.
type Config struct {
	Inputs []Input
	Merge  string // write all inputs into this one jar; of entries of one name the first input's wins

	Filter     *filter.Filter // nil traces whatever is not trivial
	Inject     inject.Options
	FocusHooks bool // let Activities report focus changes

	// RuntimeExternal says that the runtime class is not among the inputs on purpose.
	RuntimeExternal bool

	// AddRequires names the module of the runtime class, which every module among the inputs that holds
	// rewritten classes gets to require; "" changes no module-info, and warns.
	AddRequires string

	// R8 says what the names in the inputs were before they were renamed; nil if they are the original ones. The
	// original ones are those of the mapping, of all lists, of Base, and of Inject.RuntimeClass.
	R8 *r8.Mapping

	Base  *mapping.Mapping   // IDs to keep, or nil
	Prune []*mapping.Mapping // unless empty, retired IDs of Base that none of them has alive are freed
	Order mapping.Order

	Verify       VerifyLevel  // which referees judge
	Surroundings Surroundings // for the types of what is judged; the class path also for rules on supertypes; of the inputs, each sees itself alone

	Level jar.Level // of what is compressed anew
	Jobs  int       // workers; 0 is one per CPU

	// Incremental keeps what Run comes to for later runs, and takes over what earlier ones came to; nil does not.
	Incremental *Incremental

	// Slice says what has been decided already; nil lets Run decide. Of the rest only Inputs, Inject,
	// AddRequires, Verify, Surroundings, Level, Jobs, Incremental, DryRun, Files and Progress are used then, and the result
	// has no mapping.
	Slice *Slice

	DryRun   bool // do everything but compress, and leave no file
	Disabled bool // copy the inputs, with an empty mapping

	// Lines asks for Result.Lines.
	Lines bool
	// Files makes the files to write beside the outputs, once everything is known. They appear together
	// with the outputs or not at all. nil makes none.
	Files func(*Result) ([]File, error)
	// Progress is called now and then with the bytes of input worked on and to work on, both passes
	// counted; from one goroutine at a time. nil hears nothing.
	Progress func(done, total int64)
}

// File is a file to be written beside the outputs.
type File struct {
	Path    string      // where it appears; what is there is replaced
	Content io.WriterTo // what it will hold
}

// Result is what was done.
type Result struct {
	Mapping  *mapping.Mapping     // of every traced method, to the ID that the output holds; nil after [Scan] and with a Slice
	Inputs   []InputResult        // as in Config.Inputs
	Packages []PackageResult      // those with classes that changed, by name
	Skipped  iter.Seq[Skipped]    // methods with code that are not traced, and classes that could not be read, in input order
	Warnings []string             // in input order
	Lines    []mapping.SourceLine // of every traced method of which it is known, if asked for

	Introduced  int      // classes that came out wrong and were put back: a fault of tracegen
	PreExisting int      // classes that were wrong before and are left as they came
	Unknown     []string // classes that the type verifier could not find, sorted, in internal form
	Tolerated   []string // faults, sorted, of classes that have them still: they show only beside this machine's JDK
}

// VerifyLevel says which referees judge every rewritten class.
type VerifyLevel uint8

// The levels.
const (
	VerifyFull        VerifyLevel = iota // is it the original with calls inserted, and does a JVM take it
	VerifyEquivalence                    // the first of these
)

// InputResult counts what was done with one input.
type InputResult struct {
	Path        string // as in Config.Inputs
	Output      string // likewise, or Config.Merge
	Classes     int    // class entries
	Rewritten   int    // of them, classes that changed
	Methods     int    // methods with code, in classes that could be read
	Traced      int    // of them, methods with an ID
	ClassBytes  int64  // of all classes, uncompressed
	OutputBytes int64  // of all classes as written, uncompressed
	Calls       int    // of the runtime, in the classes that changed
}

// PackageResult counts what was inserted into the classes of one package, wherever they lie.
type PackageResult struct {
	Package string // in internal form, "" for the unnamed one
	Calls   int    // of the runtime
	Bytes   int64  // that the classes grew by
}

// Skipped is a method that is not traced, or with an empty Name a class of which no method could be read.
type Skipped struct {
	Input      string // the path of its input
	Entry      string // the class's entry in it
	Class      string // in internal form, as the constant pool has it
	Name       string // likewise
	Descriptor string // likewise
	Reason     filter.Reason
	Detail     string // which rule, which limit, which path of calls
}
