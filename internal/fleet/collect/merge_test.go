package collect

import (
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// putMerge returns a change that announces a merge in a directory.
func putMerge(dir string, text []byte) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket(bucketMerges).Put([]byte(filepath.ToSlash(dir)), text) }
}
