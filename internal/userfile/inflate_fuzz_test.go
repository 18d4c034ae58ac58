package userfile

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// FuzzReadInflated reads any bytes as a file that may be compressed.
//
// Invariant: A file is read as what it contains, compressed or not, and never as more bytes than the limit.
func FuzzReadInflated(f *testing.F) {
	pack := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(data)
		w.Close()
		return b.Bytes()
	}
	f.Add([]byte("plain"), uint16(9))
	f.Add(pack([]byte("compressed")), uint16(9))
	f.Add(pack(make([]byte, 1<<16)), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, limit uint16) {
		file := filepath.Join(t.TempDir(), "f")
		read := func(content []byte) ([]byte, error) {
			if err := os.WriteFile(file, content, 0o666); err != nil {
				t.Fatal(err)
			}
			return ReadInflated(file, int64(limit))
		}
		got, err := read(data)
		if err == nil && (len(got) > int(limit) || !IsCompressed(data) && !bytes.Equal(got, data)) {
			t.Errorf("%q is read as %q", data, got)
		}
		got, err = read(pack(data))
		if fits := len(data) <= int(limit); fits != (err == nil) || fits && !bytes.Equal(got, data) {
			t.Errorf("%q, compressed, is read as %q (%v)", data, got, err)
		}
	})
}
