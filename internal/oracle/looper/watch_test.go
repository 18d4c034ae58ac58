package looper

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/trace"
)

// TestWatchProofs runs the watchdog and the timer of messages on real Loopers, and reads what they found back from the
// recording.
//
// Invariant: Each detector of long messages finds a real one with its stack, none reports an idle Looper, and the
// recording has what the app's listener got.
func TestWatchProofs(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		for _, w := range p.worlds() {
			t.Run(p.name+" "+string(w), func(t *testing.T) {
				t.Parallel()
				b.proveWatch(t, p, w)
			})
		}
	}
}

// proveWatch runs the proofs about the watchdog and the timer, and checks the recording.
func (b bench) proveWatch(t *testing.T, p platform, w world) {
	t.Helper()
	dir := b.prove(t, p, w, "WatchProofs").recordings
	var files []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "watch.tgd" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 1 {
		t.Fatalf("recordings %q, %v", files, err)
	}
	checkWatched(t, files[0])
}

// checkWatched compares the incidents of a recording with those that each detector must find.
func checkWatched(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64]*trace.Incident{}
	machine := 0
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *trace.Incident:
			found[c.Number] = c
		case *trace.Machine:
			machine++
			if len(c.Facts) == 0 {
				t.Error("the state of the machine is empty")
			}
		}
	}
	var got []string
	for _, i := range found {
		got = append(got, i.Detector+" "+i.Kind)
		if i.End <= i.Begin || len(i.Stacks) == 0 {
			t.Errorf("%s %s: from %d to %d with %d stacks", i.Detector, i.Kind, i.Begin, i.End, len(i.Stacks))
		}
	}
	slices.Sort(got)
	want := []string{"anr anr", "anr lag", "watchdog missed-poll"}
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("the recording has %q, want %q", got, want)
	}
	if machine < 2 {
		t.Errorf("the state of the machine was written %d times, want at least 2", machine)
	}
}
