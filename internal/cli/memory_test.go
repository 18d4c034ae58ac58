package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// percent returns by how much the heap may grow until it is collected.
func percent() int64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// keepPercent sets by how much the heap may grow, until the test ends.
func keepPercent(t *testing.T, n int) {
	before := debug.SetGCPercent(n)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// TestTuneCollector checks that the settings in the environment take precedence.
func TestTuneCollector(t *testing.T) {
	keepPercent(t, 100)
	for _, row := range []struct {
		gogc, limit string
		want        int64
	}{{"", "", growth + 100*spare/leastHeap}, {"200", "", 100}, {"", "500MiB", 100}} {
		debug.SetGCPercent(100)
		t.Setenv("GOGC", row.gogc)
		t.Setenv("GOMEMLIMIT", row.limit)
		p := tuneCollector()
		if p != nil {
			p.stop()
		}
		if got := percent(); got != row.want || (p == nil) != (row.want == 100) {
			t.Errorf("GOGC=%q GOMEMLIMIT=%q: the heap grows by %d percent, want %d", row.gogc, row.limit, got, row.want)
		}
	}
}

// TestCollectorFollowsHeap checks that each collection sets the percentage that allows the bytes to spare: it is less
// when more is alive.
func TestCollectorFollowsHeap(t *testing.T) {
	keepPercent(t, 100)
	p := &pacer{}
	p.set(growth, spare, 0)
	p.watch()
	defer p.stop()
	for _, size := range []int{64 << 20, 256 << 20} {
		alive := make([]byte, size)
		runtime.GC()
		most := int64(growth + 100*spare/size)
		for wait := time.Millisecond; percent() > most; wait *= 2 {
			if wait > time.Minute {
				t.Fatalf("%d bytes are alive, and the heap grows by %d percent, want at most %d", size, percent(), most)
			}
			time.Sleep(wait)
		}
		if got := percent(); got <= growth {
			t.Errorf("%d bytes are alive, and the heap grows by %d percent: nothing to spare", size, got)
		}
		runtime.KeepAlive(alive)
	}
}
