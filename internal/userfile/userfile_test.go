package userfile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRead reads files around the limit, and without one: as it once was, limit+1 overflowed, and the file was empty.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	fixture.Write(t, path, "text")
	for limit, error := range map[int64]string{
		0: "longer than 0 MiB; check the path", 3: "longer than 0 MiB; check the path", 4: "", 5: "", math.MaxInt64: "",
	} {
		data, err := Read(path, limit)
		switch {
		case error == "" && (err != nil || string(data) != "text"):
			t.Errorf("limit %d: %q, %v", limit, data, err)
		case error != "" && (err == nil || err.Error() != path+": "+error || data != nil):
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
	if _, err := ReadSettings(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReadAllFails meets errors before the limit and at it.
func TestReadAllFails(t *testing.T) {
	fault := errors.New("fault")
	for _, limit := range []int64{4, 5} {
		data, err := ReadAll(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("text"))), "a", limit)
		if data != nil || !errors.Is(err, iotest.ErrTimeout) || !strings.HasPrefix(err.Error(), "a: ") {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
	if err := Named("a", &fs.PathError{Op: "read", Path: "b", Err: fault}); err.Error() != "read b: fault" {
		t.Error(err)
	}
}

// TestDevices wants devices to be refused before they are opened.
func TestDevices(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil {
		t.Skip("skipped: no such device here:", err)
	}
	if _, err := Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}
