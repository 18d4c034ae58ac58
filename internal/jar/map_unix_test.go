//go:build unix

package jar

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenPipe reads an archive from what cannot be mapped, as a shell's <(…) gives it.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	in := container{parts: []part{{name: "a", data: classText}}}.build()
	done := make(chan error)
	go func() { done <- os.WriteFile(path, in, 0) }()
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, err := new(Codec).Read(&a.Entries()[0], nil); err != nil || string(got) != classText {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
