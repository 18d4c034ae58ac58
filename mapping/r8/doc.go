// Package r8 reads the mapping files (mapping.txt) that R8 and ProGuard write,
// translates names between what is in the app and what is in its source, and
// retraces stack traces.
//
// Names are R8's: a residual name is one in the shrunk program, an original name
// one in the program before. A [Mapping] is made by [Load] or [Parse], is
// immutable, and safe for use by several goroutines.
//
// # Names
//
// Classes, methods and descriptors go in and out as raw modified UTF-8 in
// internal form (JVMS 4.2, 4.4.7), as in a class file and in package mapping,
// whose Identity a [Method] converts to. Only stack traces, which are text, have
// dots and UTF-8.
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
// A method line gives residual lines, the original method, its original lines
// and the residual name. A class before the name (com.example.Util) is where
// the original stood, if not in the class itself. Consecutive lines with one
// residual range are a stack of inlined methods, the innermost first; the last
// of them is the method itself. A line without a range is the whole method.
//
// Comments with JSON belong to the line above. Known are sourceFile,
// partitionSourceFiles, and from the map version on that brought them
// synthesized (1.0), rewriteFrame, outline, outlineCallsite (2.0) and
// residualsignature (2.2). As in R8, what has another id, or is no JSON, or
// comes under a version that is not known or "experimental", is skipped; see
// [Mapping.UnknownVersion].
//
// R8's reader stops at a line that it does not understand, ProGuard's skips it.
// This one stops, with file and line, but takes all that files are known to
// hold: a BOM, CRLF, ranges whose end is 0 or below their start, "->" without
// spaces, '?' and what follows a <clinit> in names, spaces in method names,
// original lines without residual ones. If a residual class is there twice, as
// in files that were put together, the later counts, as in both.
//
// # What is exact
//
// The descriptor of a residual method is what residualsignature says; without
// it, the original's with each class renamed. With this every method of R8 since
// map version 2.2, and of ProGuard without optimization, has an exact answer.
// Where a compiler changed parameters and did not write it down, the answer is
// [Guess], by name. Several originals of one residual method, which merging
// classes makes, are told as [Merged].
//
// # Retracing
//
// What a frame becomes follows R8's retrace: inlined frames, outlines, rewritten
// and synthesized frames, "<OR> " before alternatives. Source files come from
// the mapping, else they are inferred from the class. Recognising a line of text
// is more careful, see [Stack].
//
// # Limits
//
// Memory and time are linear in the file: typically twice its size, more if names
// are much shorter than any that a compiler writes. Files above 1 GiB are refused.
package r8
