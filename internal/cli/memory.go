package cli

import (
	"os"
	"runtime/debug"
)

// The garbage collector runs when the heap has grown by growth percent of what is alive, and by spare bytes. Go's
// default, 100 percent and no spare bytes, collects a small heap again and again, and lets a big one take twice the
// memory that it needs. These numbers give fewer collections for about the same peak: for a jar of 17,000 classes, 2
// instead of 8. A build of a few hundred classes needs none.
const (
	growth = 40
	spare  = 38 << 20
	// relaxed and room replace growth and spare in a run that finds nearly all inputs in the cache. Such a run builds
	// one heap and frees little of it, so that collections would take a quarter of the time and find nothing. An app of
	// 60,000 classes then needs no collection at all, and bigger ones need few.
	relaxed = 200
	room    = 448 << 20
)

// ballast is alive for the garbage collector, which knows percentages alone: so many percent of it are the bytes to
// spare. As nothing touches it, it takes no memory of the machine.
var ballast []byte

// SetUpCollector sets up the garbage collector, unless the environment does (GOGC, GOMEMLIMIT).
func SetUpCollector() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		setCollector(growth, spare)
	}
}

// RelaxCollector sets up the garbage collector for a run of so many inputs, of which the cache has so many known ones.
func RelaxCollector(known, inputs int) {
	if ballast != nil && known*10 >= inputs*9 {
		setCollector(relaxed, room)
	}
}

func setCollector(percent, bytes int) {
	ballast = make([]byte, bytes/percent*100)
	debug.SetGCPercent(percent)
}
