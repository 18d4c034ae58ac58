//go:build !linux

package atomicfile

import "os"

// SyncData makes sure that what was written over old content of a file survives a power failure.
func SyncData(f *os.File) error { return f.Sync() }
