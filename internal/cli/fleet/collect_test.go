package fleet

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestKilledCommandLeavesNothing has a store with what a command left when it was killed, which may have rows of a user
// who is forgotten, and two commands at a time.
func TestKilledCommandLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks that a rename leaves alone")
	}
	k := keeping{store: t.TempDir()}
	fixture.Write(t, filepath.Join(k.store, "tracegen-collect"), "tracegen-collect 2\n")
	left := filepath.Join(k.store, ".tracegen-0.tmp")
	fixture.Write(t, filepath.Join(left, ".tracegen-0.parquet"), "rows")
	err := k.run(t.Context(), func(ctx context.Context, first *lake.Lake) error {
		if filepath.Dir(first.Temp) != k.store || !atomicfile.IsTemporary(filepath.Base(first.Temp)) {
			t.Errorf("what it leaves in %s is not removed later", first.Temp)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", left, err)
		}
		err := k.run(ctx, func(context.Context, *lake.Lake) error { return nil })
		_, running := os.Stat(first.Temp)
		return errors.Join(err, running)
	})
	if err != nil {
		t.Error(err)
	}
	err = k.run(t.Context(), func(context.Context, *lake.Lake) error { return context.Canceled })
	if errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted; run the command again") {
		t.Errorf("some of a command that was interrupted is done: %v", err)
	}
}

// TestCollectStopsInTime stops a collector whose disk, bucket or mappings hang.
func TestCollectStopsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		free := make(chan error)
		defer func() { free <- nil }()
		began := time.Now()
		time.AfterFunc(time.Hour, cancel)
		err := stopInTime(ctx, func(context.Context) error { return <-free })
		if err == nil || !strings.Contains(err.Error(), "did not stop") {
			t.Error(err)
		}
		if took := time.Since(began) - time.Hour; took >= 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
