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
)

// SetUpCollector sets up the garbage collector, unless the environment does (GOGC, GOMEMLIMIT). The caller keeps the
// ballast alive: the collector knows percentages alone, and growth percent of the ballast are the bytes to spare. As
// nothing touches it, it takes no memory of the machine.
func SetUpCollector() (ballast []byte) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	debug.SetGCPercent(growth)
	return make([]byte, spare/growth*100)
}
