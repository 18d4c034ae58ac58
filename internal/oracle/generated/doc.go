// Package generated makes programs from a seed, and runs them with and without the calls of the runtime.
//
// A program is a class file whose methods are random graphs of blocks. Each block has a number of live locals, some
// statements, and an end: a jump, a branch, a switch, a return or a throw. Exception ranges are random as well: they
// nest, overlap, and cover their own handlers. The types of a local never change, and so every graph passes the
// verifier. Each block takes one unit of fuel from the class host.Host, which the runner has, so that each program
// ends.
//
// Runner is a Java program in testdata that runs many programs in one JVM, the original and its outputs of each exit
// mode, and compares values, exceptions, and stack traces with their line numbers. Its AppMethodBeat compares each exit
// with a shadow stack.
//
// The same Runner runs them on ART, interpreted and compiled. Convert, a Java program in testdata, has D8 make the DEX
// files of all programs in one JVM. A Loader, of which there is one for each virtual machine, makes a class loader for
// each variant of a program, so that programs cannot touch each other although one process runs them.
package generated
