// Package runtimejars holds the files of the runtime: the libraries whose classes instrumented classes call. They are
// built from runtime-java by `make runtime` and are part of the repository, so that a clone, or `go install`, needs Go
// alone. A test of this package builds them again and compares them. The package is small
// because its content is the files.
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
	JVMName     = "tracegen-runtime.jar"
	CoreName    = "tracegen-runtime-core.jar"
	AndroidName = "tracegen-runtime-android.aar"
	ReportName  = "tracegen-runtime-report.jar"
	NoOpName    = "tracegen-runtime-noop.jar"
	MatrixName  = "tracegen-runtime-matrix.jar"
	AgentName   = "tracegen-agent.jar"
)

var (
	//go:embed tracegen-runtime.jar
	jvm []byte
	//go:embed tracegen-runtime-core.jar
	core []byte
	//go:embed tracegen-runtime-android.aar
	android []byte
	//go:embed tracegen-runtime-report.jar
	report []byte
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

// JVM returns the jar with AppMethodBeat and the recorder that a program on any JVM needs. It has all of the core.
func JVM() File {
	return File{JVMName, "AppMethodBeat, the recorder, recording on a plain JVM", jvm}
}

// Agent returns the Java agent with which `tracegen record` runs programs. It is not one of [All], because no other
// program needs it.
func Agent() File {
	return File{AgentName, "replaces classes by those that tracegen record has instrumented", agent}
}

// All returns all files that become part of programs, that for a JVM first.
func All() []File {
	return []File{
		JVM(),
		{CoreName, "AppMethodBeat and the recorder for Android apps, without what only a JVM needs", core},
		{AndroidName, "Android: the main looper, idle handlers, frames; needs " + CoreName, android},
		{ReportName, "sends reports of stalls to a collector, on Android and on a JVM", report},
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
		case contract.RuntimeClass + ".class", reporter:
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
	reporter     = "dev/tracegen/runtime/report/Reporter.class"
	matrixDropIn = contract.MatrixRuntimeClass + ".class"
	matrixRules  = "META-INF/proguard/tracegen-runtime-matrix.pro"
)
