//go:build !windows

package output

import "io/fs"

// idAt returns the ID of the file at path, of which info is.
func idAt(_ string, info fs.FileInfo) FileID { return IDOf(info) }
