//go:build !unix

package jar

import "os"

// mapFile reads the whole file: mapping would forbid others to replace it on some of these systems.
func mapFile(path string) (data []byte, unmap func() error, mapped bool, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, false, err
}

// release has nothing to do where nothing is mapped.
func release([]byte) {}
