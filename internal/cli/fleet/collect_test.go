package fleet

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
