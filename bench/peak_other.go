//go:build !unix

package main

import (
	"os"
	"time"
)

// peakMemory is not to be had here.
func peakMemory(*os.ProcessState) int64 { return 0 }

// cpuTime is what this process has used, as far as the system tells: here it does not.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

// childrenTime is not to be had here.
func childrenTime() time.Duration { return 0 }
