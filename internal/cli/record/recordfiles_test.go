package record

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRecordingsBeside has files of this output, of its parts, of other processes, and of other outputs.
func TestRecordingsBeside(t *testing.T) {
	dir := t.TempDir()
	vector := fixture.Read(t, filepath.Join("..", "..", "..", "trace", "testdata", "vectors", "open.tgd"))
	for _, name := range []string{"app.tgd", "other.tgd", "app-2.tgd", "app.pid12.tgd.txt"} {
		fixture.Write(t, filepath.Join(dir, name), vector)
	}
	r := recorder{recording: filepath.Join(dir, "app.tgd")}
	before := r.recordingsBeside()
	if len(before) != 1 {
		t.Errorf("before: %v", before)
	}
	r.keepNew(before)
	if len(r.recordings) != 0 {
		t.Errorf("new ones: %v", r.recordings)
	}
	for _, name := range []string{"app.tgd", "app.tgd.2", "app.part1.tgd", "app.pid12.tgd", "app.pid12-2.part3.tgd.1"} {
		if err := os.Rename(filepath.Join(dir, "app.tgd"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		r.recordings = nil
		r.keepNew(nil)
		if want := []string{filepath.Join(dir, name)}; !slices.Equal(r.recordings, want) {
			t.Errorf("%v, want %v", r.recordings, want)
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "app.tgd")); err != nil {
			t.Fatal(err)
		}
	}
}
