// Package r8 reads the mapping files (mapping.txt) that R8 and ProGuard write, translates names of the app into names
// of its source, and retraces stack traces.
//
// The terms are R8's: a residual name is a name in the shrunk program, an original name is one in the program
// before shrinking. A [Mapping] is made by [Load] or [Parse]. It is immutable and safe for use by several goroutines.
//
// # Names
//
// Classes, methods and descriptors are passed and returned as modified UTF-8 in internal form (JVMS 4.2, 4.4.7), as
// in a class file and in package mapping; a [Method] can be converted to its Identity. Only stack traces, which are
// text, contain dots and UTF-8.
//
// # The file
//
//	# compiler: R8
//	# {"id":"com.android.tools.r8.mapping","version":"2.2"}
//	com.example.Foo -> a.b:
//	# {"id":"sourceFile","fileName":"Foo.kt"}
//	    int count -> a
//	    1:3:int bar(int):10:12 -> a
//	    4:4:void com.example.Util.check(int):31:31 -> a
//	    4:4:int bar(int):13 -> a
//	    # {"id":"com.android.tools.r8.residualsignature","signature":"(I)La/c;"}
//
// A method line contains residual lines, the original method, its original lines and the residual name. A class
// before the original name (com.example.Util) is the method's original class, if that is not the class of the
// section. Consecutive lines with the same residual range are a stack of inlined methods: the innermost is the first,
// and the last one is the residual method itself. A line without a range stands for the whole method.
//
// A comment with JSON belongs to the line before it. The known ones are sourceFile, partitionSourceFiles, and, if the
// file has at least the map version that introduced them, synthesized (1.0), rewriteFrame, outline, outlineCallsite
// (2.0) and residualsignature (2.2). As in R8, a comment is skipped if it has another id, is not JSON, or is in a
// file of a version that is unknown or "experimental"; see [Mapping.UnknownVersion].
//
// R8's reader fails at a line that it does not understand, ProGuard's skips the line. This reader fails and returns
// file and line, but it accepts everything that such files are known to contain: a byte order mark, CRLF, ranges
// whose end is 0 or below their start, "->" without spaces, names with '?' or with text after <clinit>, spaces in
// method names, original lines without residual ones. If a residual class occurs twice, as in concatenated files, the
// later one counts, as in both readers.
//
// # Exact answers
//
// Several methods of a class can have the same residual name, and then only the descriptor distinguishes them. The
// descriptor of a residual method is the one in residualsignature; without it, it is the original descriptor in which
// each class is renamed. So the answer is exact for every method that R8 wrote since map version 2.2, and for
// ProGuard without optimization. If a compiler changed the parameters of a method without writing it down, the method
// is found by its name alone, which is a guess. If classes were merged, a residual method can have several originals.
// [Mapping.Identify] chooses one name for each method.
//
// # Retracing
//
// Frames are retraced as by R8's retrace: inlined frames, outlines, rewritten and synthesized frames, "<OR> " before
// alternatives. Source files come from the mapping, or else are inferred from the class. Fewer lines of text are
// taken for frames and headers than by R8, see [Stack].
//
// # Limits
//
// Memory and time are linear in the size of the file. The memory is typically twice that size, and more only if names
// are much shorter than the names that compilers write. Files above 1 GiB are refused.
package r8
