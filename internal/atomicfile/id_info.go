//go:build !windows

package atomicfile

import "io/fs"

// IDAt returns the ID of the file at path, of which info is.
func IDAt(_ string, info fs.FileInfo) ID { return IDOf(info) }
