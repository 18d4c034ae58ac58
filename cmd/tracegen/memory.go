package main

import (
	"os"
	"runtime/debug"
)

// The garbage collector runs when the heap has grown by growth percent of the live heap, to which spare bytes are
// added. Go's default, 100 percent, collects a small heap again and again, and lets a big one take twice the memory
// that it needs. These numbers give fewer collections for about the same peak: for a jar of 17,000 classes, 3 instead
// of 8. With 64 MB to spare it is 4 or 5, for 2 MB less and 6 percent more processor time.
const (
	growth = 40
	spare  = 96 << 20
	// relaxed and room replace growth and spare in a run that finds nearly all inputs in the cache. Such a run builds
	// one heap and frees little of it, so that collections would take a quarter of the time and find nothing. An app of
	// 60,000 classes then needs no collection at all, and bigger ones need few.
	relaxed = 200
	room    = 128 << 20
)

// tuneCollector sets up the garbage collector, unless the environment does (GOGC, GOMEMLIMIT). The caller must keep the
// returned bytes alive. They are never touched, so that the system backs them with no memory.
func tuneCollector() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	debug.SetGCPercent(growth)
	return make([]byte, spare)
}

// relaxCollector sets up the garbage collector for a run of so many inputs, of which the cache has so many known ones.
// The caller must keep the returned bytes alive.
func relaxCollector(known, inputs int) []byte {
	if known*10 < inputs*9 || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	kept := make([]byte, room) // starts a collection while the heap is still small
	debug.SetGCPercent(relaxed)
	return kept
}
