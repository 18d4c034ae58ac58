//go:build !unix

package main

import (
	"os"
	"time"
)

// peakMemory is not available here.
func peakMemory(*os.ProcessState) int64 { return 0 }

// cpuTime is not available here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

// childrenTime is not available here.
func childrenTime() time.Duration { return 0 }
