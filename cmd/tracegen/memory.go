package main

import (
	"os"
	"runtime/debug"
)

// The collector runs when the heap has grown by growth percent of what was alive, which counts spare bytes more than
// there are. Go's own choice, by 100 percent, collects a heap that is still small again and again, and lets one that
// has grown big take twice of what it holds. With these numbers there are fewer collections, and the peak is lower: for
// a jar of 17,000 classes 14 instead of 16, and 200 MB instead of 214.
const (
	growth = 40
	spare  = 64 << 20
	// relaxed is the growth for a run that finds nearly everything in a cache, and room what counts as alive besides. It
	// makes one heap of all there is and lets go of none, so that collecting is mostly in vain; it would be a quarter of
	// all work. An app of 60,000 classes needs no collection at all then, and bigger ones few.
	relaxed = 200
	room    = 128 << 20
)

// tuneCollector sets this up, unless the environment says how the collector is to work (GOGC, GOMEMLIMIT). The spare
// bytes have to be kept alive. They are never touched, so that there is no memory behind them.
func tuneCollector() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	debug.SetGCPercent(growth)
	return make([]byte, spare)
}

// relaxCollector is told how many of the inputs are known. What it gives is kept alive as tuneCollector's bytes are.
func relaxCollector(known, inputs int) []byte {
	if known*10 < inputs*9 || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	kept := make([]byte, room) // makes the collector look, while there is nothing else to look at
	debug.SetGCPercent(relaxed)
	return kept
}
