// Package contract holds the names and numbers that instrumented classes, the runtimes that they call, mapping files
// and recordings must agree on. Packages that may not import each other take them from here. A change of one of them is
// a change of file formats.
package contract

// The runtime classes that instrumented classes call, in internal form: that of tracegen's own runtime, which is the
// default, and that of Matrix.
const (
	RuntimeClass       = "dev/tracegen/runtime/AppMethodBeat"
	MatrixRuntimeClass = "com/tencent/matrix/trace/core/AppMethodBeat"
)

// Method IDs have 20 bits. Matrix uses the highest but one for the dispatch of a message.
const (
	// LastMethodID is the highest ID that a method can have; the lowest is 1.
	LastMethodID = DispatchID - 1
	// DispatchID stands for the dispatch of a message by a Looper. Runtimes record it themselves.
	DispatchID = 0xFFFFE
)
