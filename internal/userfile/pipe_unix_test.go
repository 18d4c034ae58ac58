//go:build unix

package userfile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPipe reads a named pipe that has a writer, and gives up on one that has none.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openPipe(path, time.Millisecond); err == nil || !strings.Contains(err.Error(), "no program writes to") {
		t.Errorf("without a writer: %v", err)
	}
	go func() { _ = os.WriteFile(path, []byte("text"), 0) }()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
