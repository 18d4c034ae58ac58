package collect

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestFullDisk fills the disk of the log, and that of the store.
//
// Invariant: While a disk is full, the collector refuses reports or keeps them in the log, and has all that it answered
// when there is room again.
func TestFullDisk(t *testing.T) {
	for _, full := range []string{"log", "store"} {
		t.Run(full, func(t *testing.T) {
			dir := t.TempDir()
			disk := oracle.MountSmallDisk(t, filepath.Join(dir, full), 1<<20)
			every := 24 * time.Hour
			if full == "store" {
				every = time.Nanosecond // each report is a segment, which is to be written at once
			}
			s, err := Open(filepath.Join(dir, "store"), Options{Log: filepath.Join(dir, "log"), Every: every,
				NoMaintenance: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			s.closeTime, s.log.zeros = time.Hour, 1
			if err := addOne(s, 0); err != nil {
				t.Fatal(err)
			}
			disk.Leave(disk.Used(), 0)
			acknowledged := 1
			for k := 1; k <= 100; k++ {
				if err := addOne(s, k); err == nil {
					acknowledged++
				} else if full == "store" || !strings.Contains(err.Error(), "cannot be written") {
					t.Fatal(err)
				}
			}
			if full == "store" {
				if ids := storedIDs(t, filepath.Join(dir, "store")); len(ids) > 1 {
					t.Errorf("%d reports are written to a full disk", len(ids)-1)
				}
			} else if acknowledged > 60 || s.Writable() == nil {
				t.Errorf("%d reports are acknowledged, writable: %v", acknowledged, s.Writable())
			}
			disk.Leave(disk.Used(), 1000)
			if err := addOne(s, 200); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil || s.Unfinished() {
				t.Fatal(err, s.Unfinished())
			}
			if ids := storedIDs(t, filepath.Join(dir, "store")); len(ids) != acknowledged+1 {
				t.Errorf("%d reports are there, want %d", len(ids), acknowledged+1)
			}
		})
	}
}
