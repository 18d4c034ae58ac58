// Package report renders what a run did: as JSON for programs, as a list of the methods that are not traced,
// and as a summary for people. All three are views of one [Run]; none depends on the time, the machine or the
// number of workers.
//
// # The JSON report
//
// One object. Keys may be added, none will be removed, renamed or given another meaning under the same number
// in "schema". Class and method names are in the text form of package mapping.
//
//	schema     1
//	version    of tracegen
//	options    name of the option -> its value, defaults included, for all that can change the output
//	rules      FILE:LINE: TEXT of every rule, in their order
//	mapping    file, digest, methods, retired, freed (retired IDs that were pruned), headroom (IDs that are left);
//	           base: the file of --base, if any
//	inputs     in order: input, output, classes, rewritten, methods, traced,
//	           classBytes and outputClassBytes (uncompressed, of all classes), calls (inserted), skipped by reason
//	totals     the same numbers, summed up
//	verification  introduced: classes that came out wrong and were put back; preExisting: classes that were wrong
//	           before and left as they came
//	guards     in the order of the help: guard, asked, found (both for people), failed
//	packages   by name: package, traced (methods with an ID), skipped, calls (inserted), addedBytes
//	focus      by class: class, action (add or hook)
//	warnings   in the order in which they came up
//
// A method counts as often as it occurs: a class in two inputs counts in both, though its methods have one ID
// each. A report of assign has neither calls nor sizes of outputs. "methods" under mapping and "traced" under packages count IDs. The calls of the packages add up to those
// of the totals, and their addedBytes to the growth of the class files. [ReadSaved] reads a report back, [Compare]
// compares two.
//
// # The JSON form of a difference
//
// [Difference] is what tracegen diff says of two reports; under the same rules, one object:
//
//	schema     1
//	equal      whether nothing differs
//	old, new   file, version, digest
//	suspicions what a build engineer should look at, for people
//	totals     name, old, new: of counts that differ
//	options    by name: name, old, new; what a side does not have is left out
//	rules      added, removed (without their places), reordered
//	inputs     by last name: name, added, removed, and numbers: name, old, new
//	packages   by name: the same
//	focus      by class, as options
//
// # The JSON form of a verification
//
// [Verification] is what tracegen verify found; under the same rules, one object:
//
//	schema     1
//	version    of tracegen
//	classes    how many were judged
//	findings   in order: path, entry, class, method, descriptor, offset, rule, expected, found, frame (with -v),
//	           level (error, or note where the JVMS is stricter than HotSpot), state (with a baseline: introduced
//	           or pre-existing); what does not apply is left out
//	unknown    classes that could not be found
//	warnings   in the order in which they came up
//
// # The JSON form of an explanation
//
// [Explanation] is what tracegen explain says; under the same rules, one object:
//
//	schema     1
//	version    of tracegen
//	mapping    file, digest: of the mapping that IDs were looked up in, if one was given
//	classes    in input order: class, residual (its name in the input, if that is another), input, entry, reason and detail (only of a class that could not be read), calls
//	           (that it gets), addedBytes, sharedBytes (of these, what no method has for itself), and methods, in
//	           the order of the class file: class, method, descriptor, residual, access, hasCode, traced, id (of a traced one),
//	           mappingId and retired (what the mapping says), reason, detail, line, instructions, invocations
//	           (instructions that call), codeBytes (these are the method's own), calls, addedBytes
//
// # The list of skipped methods
//
// Tab-separated: class, method, descriptor, reason, detail, under a header line of these names, sorted. Names
// are in text form, so no field holds a tab. A class of which no method could be read has one line without
// method and descriptor.
package report
