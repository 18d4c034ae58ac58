// Package program prepares the classes of a program that is to be recorded, and keeps them for later runs.
//
// The program is run with its own archives and directories. The Java agent (runtime-java/agent) replaces each class
// that the JVM loads by its rewritten one. So this package needs the classes alone, wherever they are:
//
//	Gather   opens archives and directories; unpacks archives in archives; puts the classes of a directory, and
//	         nothing else of it, into an archive
//	         ... package pipeline instruments these archives ...
//	WriteClasses  writes all classes that changed into one file for the agent
//	Store    keeps such files in a directory, by the content of the program and the options
//	Status   is the file in which the agent counts what it did
//
// A class is found by its name, its size and its CRC-32. It does not matter which archive it came from.
package program
