// Package pipeline runs the operations on class files from inputs to outputs: it instruments, at once or in phases,
// explains, strips and verifies. Each operation is one function, which puts together the packages and types that do the
// work:
//
//	input         opens archives, directories and class files, and numbers their classes
//	plan          scans each class by itself, decides what needs all classes, and assigns IDs
//	rewriter      applies the decisions to one class, and checks the result
//	typeChecker   is one of the two checks: it has the class path, and which classes a class sees
//	outputWriter  writes archives, directories and class files in the order of entries
//	output        makes what is written appear together
//	results       has what earlier runs have left in the cache
//
// # How it goes
//
// [Run] works in two passes over the inputs. The scan reads every class and finds out, class by class and in
// parallel, all that depends on the class alone; it keeps names and decisions, no bytes. Then what needs the
// whole is decided in one place. The second pass reads each class that changes once more, rewrites and checks it, and
// one writer per output writes the entries in their order, while the workers rewrite those to come. What does
// not change is copied as the compressed bytes that it is.
//
// Nothing is visible before all of it is right: outputs, mapping and lists are written to temporary files and
// renamed together at the end. A class that a check rejects stays as it was, its methods lose
// their IDs, and the second pass is done again without it.
//
// The same can be done in three calls, with files between them: [Scan] for some of the inputs, [Assign] for all
// that were scanned, and [Instrument] for those inputs again. They write the same outputs. Scan finds out by
// a trial whether a check will reject a class; Run finds out when it writes.
//
// [Verify] is one of these checks by itself, for files of any origin. [Explain] makes all decisions and writes nothing.
// [Restore] shows that an output is its input plus calls.
//
// Results do not depend on the number of workers: every class has its number before any of them starts.
package pipeline

import (
	"io"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Input is one argument: a jar, zip or aar, a .class file, or a directory.
type Input struct {
	Path   string // of the file or directory
	Output string // file or directory to write; unused if all inputs are merged, and by operations that write none
}

// BuiltIn is the archive of a runtime that is part of the program.
type BuiltIn struct {
	Name   string // stands for its path in messages
	Data   []byte
	Output string // the file to write; unused if all inputs are merged, and by operations that write none
}

// Config says what [Run] does. Inputs, and Merge or each Input's Output, are needed; the zero value of the rest is
// the default. The other operations take of it what concerns them; [Assign] needs no inputs, and [Scan] no outputs.
type Config struct {
	Inputs []Input
	Flat   bool   // nested archives are not opened
	Merge  string // write all inputs into this one jar; of entries of one name the first input's wins

	Filter *filter.Filter // nil traces whatever is not trivial
	Inject inject.Options
	// CoroutinesIfAny leaves out coroutines unless the inputs have a runtime class with their methods.
	CoroutinesIfAny bool
	FocusHooks      bool // let Activities report focus changes

	// Android is set if the outputs are for Android: a module descriptor that Merge leaves out is no warning then.
	Android bool

	// RuntimeExternal says that the runtime class is not among the inputs on purpose.
	RuntimeExternal bool

	// BuiltIn is the runtime that the run adds behind the inputs if none of them holds the runtime class; nil adds
	// none. It must hold the class under the name in Inject, not renamed.
	BuiltIn *BuiltIn

	// AddRequires names the module of the runtime class, which every module among the inputs that holds
	// rewritten classes gets to require; "" changes no module-info, and warns.
	AddRequires string

	// R8 says what the names in the inputs were before they were renamed; nil if they are the original ones. The
	// original ones are those of the mapping, of all lists, of Base, and of Inject.RuntimeClass.
	R8 *r8.Mapping

	Base  *mapping.Mapping   // IDs to keep, or nil
	Prune []*mapping.Mapping // unless empty, retired IDs of Base that none of them has alive are freed
	Order mapping.Order
	// Messages are rules of filter.ParseMessage: the mapping has the methods that they match.
	Messages []filter.Rule

	Verify VerifyLevel // which checks rewritten classes must pass
	// ClassPath is where the type checker finds classes; its Paths also where supertypes are looked for that rules
	// name. Of the inputs, a class sees its own only.
	ClassPath ClassPath

	Level zipfile.Level // of what is compressed anew
	Jobs  int           // workers; 0 is one per CPU

	// Incremental keeps results for later runs, and reuses those of earlier ones; nil does not.
	Incremental *Incremental

	DryRun   bool // do everything but compress, and leave no file
	Disabled bool // copy the inputs, with an empty mapping

	// Lines asks for Result.Lines.
	Lines bool
	// Files returns the files to write beside the outputs, once everything is known. They appear together
	// with the outputs or not at all. nil writes none.
	Files func(*Result) ([]File, error)
	// Progress is called now and then with the bytes of input worked on and to work on, both passes
	// counted; from one goroutine at a time. It may be nil.
	Progress func(done, total int64)
}

// File is a file to be written beside the outputs.
type File struct {
	Path    string      // where it appears; what is there is replaced
	Content io.WriterTo // what it will hold
}

// VerifyLevel says which checks every rewritten class must pass.
type VerifyLevel uint8

// The levels.
const (
	VerifyFull        VerifyLevel = iota // is it the original with calls inserted, and does a JVM link it
	VerifyEquivalence                    // the first of these
)

// Result is what was done.
type Result struct {
	buildreport.Result
	BuiltIn *buildreport.Input   // the built-in runtime, if the run added it; no other field counts it
	Lines   []mapping.SourceLine // of every traced method of which it is known, if asked for
	Unknown []string             // classes that the type checker could not find, sorted, in internal form
}
