package incremental

import (
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/cache"
)

// fileClock is what the clock of a file system has shown. A file that was changed at an earlier time gets another time
// if it is changed from then on, however coarse that clock is. Without it, only a file that has not been changed for
// longer than the step of any clock could be trusted to show the next change: never one that a build has just written.
type fileClock struct {
	device uint64
	shown  int64 // nanoseconds of the Unix epoch
	known  bool
}

// readClock reads the clock of the file system that the cache lies in. If that fails, nothing is known of it.
func readClock(of *cache.Cache) fileClock {
	info, err := of.Touch()
	if err != nil {
		return fileClock{}
	}
	id := output.IDOf(info)
	return fileClock{id.Device, info.ModTime().UnixNano(), id != output.FileID{}}
}

// shows reports whether a file in that state had another time if it had been changed after the clock was read.
func (c fileClock) shows(s fileState) bool {
	return c.known && s.id != output.FileID{} && s.id.Device == c.device && s.modified < c.shown
}
