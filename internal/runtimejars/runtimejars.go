// Package runtimejars holds the files of the runtime: the libraries whose classes instrumented classes call. They are
// built from runtime-java by `make runtime` and are part of the repository, so that a clone, or `go install`, needs Go
// alone. A test of this package builds them again and compares them.
package runtimejars

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the files
	"io/fs"
	"slices"

	"github.com/tracegen/tracegen/internal/contract"
)

// The names of the files.
const (
	CoreName    = "tracegen-runtime.jar"
	AndroidName = "tracegen-runtime-android.aar"
	NoOpName    = "tracegen-runtime-noop.jar"
	MatrixName  = "tracegen-runtime-matrix.jar"
	AgentName   = "tracegen-agent.jar"
)

var (
	//go:embed tracegen-runtime.jar
	core []byte
	//go:embed tracegen-runtime-android.aar
	android []byte
	//go:embed tracegen-runtime-noop.jar
	noOp []byte
	//go:embed tracegen-runtime-matrix.jar
	matrix []byte
	//go:embed tracegen-agent.jar
	agent []byte
)

// File is one of the files. Its data must not be changed.
type File struct {
	Name    string // of the file, without a directory
	Content string // what it is for, in a few words
	Data    []byte // an archive
}

// Core returns the jar with AppMethodBeat and the recorder: the one that a program on any JVM needs.
func Core() File {
	return File{CoreName, "AppMethodBeat, the recorder, recording on a plain JVM", core}
}

// Agent returns the Java agent with which `tracegen record` runs programs. It is not one of [All], because no other
// program needs it.
func Agent() File {
	return File{AgentName, "replaces classes by those that tracegen record has instrumented", agent}
}

// All returns all files that become part of programs, the core first.
func All() []File {
	return []File{
		Core(),
		{AndroidName, "Android: the main looper, idle handlers, frames; needs " + CoreName, android},
		{NoOpName, "the public names of all others, doing nothing, for builds that do not record", noOp},
		{MatrixName, "the class that --preset matrix calls; needs " + CoreName, matrix},
	}
}

// IsRuntime reports whether the data is a file of the runtime, of any version: an archive with a class of its packages,
// or an .aar of its package.
func IsRuntime(data []byte) bool {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false
	}
	for _, f := range r.File {
		switch f.Name {
		case contract.RuntimeClass + ".class":
			return true
		case matrixDropIn:
			// Matrix's own library has the class too, but no rules of ours.
			return slices.ContainsFunc(r.File, func(f *zip.File) bool { return f.Name == matrixRules })
		case "AndroidManifest.xml":
			text, err := fs.ReadFile(r, f.Name)
			return err == nil && bytes.Contains(text, []byte(`package="dev.tracegen.runtime.android"`))
		}
	}
	return false
}

const (
	matrixDropIn = contract.MatrixRuntimeClass + ".class"
	matrixRules  = "META-INF/proguard/tracegen-runtime-matrix.pro"
)
