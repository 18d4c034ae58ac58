// Package buildreport writes the results of package pipeline: for programs as JSON, SARIF and tab-separated lists, for
// people as text. A [Run] becomes a report, a summary and a list of skipped methods; a [Verification] and an
// [Explanation] are the output of the commands verify and explain, and a [MappingDifference] that of diff. Guards are
// limits that a [Run] is held to. No output depends on the time, the machine or the number of workers.
//
// # The JSON report
//
// A report is one object. Class and method names are in the text form of package mapping. A later version may add keys;
// it raises "schema" if it removes or renames a key, or changes its meaning.
//
//	schema     1
//	version    of tracegen
//	options    the options that can change the output: name and value, defaults included
//	rules      FILE:LINE: TEXT of each rule, in their order
//	mapping    file, digest, methods, retired, freed (retired IDs that were pruned), headroom (number of free IDs);
//	           base: the file of --base, if any
//	inputs     in order: input, output, classes, rewritten, methods, traced, classBytes and outputClassBytes
//	           (uncompressed, of all classes), calls (inserted), skipped (number of methods by reason)
//	runtime    input (a name), output and version of the built-in runtime, if the run added it; no number counts it
//	totals     the sums of the numbers of inputs
//	scope      own and libraries: methods and traced of the program itself and of --libraries, if any class is of these
//	verification  introduced: number of rewritten classes that were rejected; preExisting: number of classes that were
//	           left as they are because of pre-existing findings; unchecked: because a check reached its limit
//	guards     the enabled guards: guard, expected, actual (both for people), failed, limit and value (numbers, or
//	           digests), unit (percent, ratio, classes, "classes and methods", or digest)
//	packages   by name: package, traced (methods with an ID), skipped, calls (inserted), addedBytes
//	focus      by class: class, action (add or hook)
//	leftOut    entries that --merge leaves out, in order: input, entry, first (the input whose entry is written)
//	warnings   in the order in which they occurred
//
// A method counts as often as it occurs: a class in two inputs counts in both, though each method has one ID. But
// "methods" in mapping and "traced" in packages count IDs. The calls of the packages add up to the calls of the totals,
// and their addedBytes to the growth of the class files. A report of assign has neither calls nor the sizes of outputs.
//
// # The JSON form of a verification
//
// A [Verification] is one object:
//
//	schema     1
//	version    of tracegen
//	classes    number of classes that were checked
//	findings   in order: path, entry, class, method, descriptor, offset, rule, expected, found, frame (with -v), level
//	           (error, or note where the JVMS is stricter than HotSpot), state (with a baseline: introduced or
//	           pre-existing); keys that do not apply are omitted
//	unknown    classes that were not found
//	warnings   in the order in which they occurred
//
// # The list of skipped methods
//
// The list has one line per method, sorted: class, method, descriptor, reason and detail, separated by tabs, below a
// header line with these names. Names are in text form, so that no field contains a tab. A class of which no method
// could be read has one line without method and descriptor.
package buildreport
