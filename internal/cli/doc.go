// Package cli has what the commands share, below their packages: the table of options, arguments and patterns of files,
// checks of what is written, the names of methods for recordings, and the root of the command tree. The commands are in
// the packages below it, by family. A command resolves its options and arguments, calls one of the packages that do the
// work, and prints the result. Results go to standard output, messages to standard error. Every command returns its
// error to [Run], the only function that turns errors into exit codes:
//
//	0  the work is done; there may be warnings
//	1  the work is done, and a check failed: lookup found nothing, verify has findings, or a guard failed
//	2  the work could not be done; nothing was written
//
// A program that was asked to stop by a signal cleans up and ends by this signal, where there are any.
//
// # Options
//
// Each option is one row of a table, of type [Option]. Flags, help, completion, the keys of tracegen.yml,
// the options that scan files and reports record, and cache keys are all made from the rows. To add an option, add a
// row, the field that it sets, and what reads the field.
package cli
