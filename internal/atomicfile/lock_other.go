//go:build !linux && !darwin

package atomicfile

import (
	"io/fs"
	"os"
)

// TryLock does nothing: this system has no locks that a rename leaves alone.
func TryLock(*os.File) (got, supported bool) { return false, false }

// IsOwn reports nothing here, so that files of killed runs are left alone.
func IsOwn(fs.FileInfo) bool { return false }

func keepLock(*os.File) *os.File { return nil }
