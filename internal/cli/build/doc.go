// Package build has the commands that instrument classes: instrument, its three steps scan, assign and instrument
// --slice, and explain, strip, verify, diff and runtime.
//
// What instrument, scan, assign, explain and record share is the type settings: groups of options, each with its rows
// in options.go, and what follows from them. Its method resolve brings together the command line, tracegen.yml and the
// preset. cachekeys.go and origin.go make the records of options.
package build
