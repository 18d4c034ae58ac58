//go:build unix

package export_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/recording/export"
)

// counted counts what is written.
type counted struct{ n int64 }

func (c *counted) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExport exports a million records: CPU time of replay and export together, the output's size and speed, and
// the memory in use after the last record, before the exporter is closed.
func BenchmarkExport(b *testing.B) {
	data := million()
	for _, f := range export.Formats() {
		b.Run(f.Name, func(b *testing.B) {
			var out counted
			var held uint64
			var used time.Duration
			for b.Loop() {
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				out.n = 0
				began := cpu()
				v, err := export.New(f.Name, &out, export.Options{})
				if err == nil {
					err = feed(v, naming{}, data)
				}
				if err != nil {
					b.Fatal(err)
				}
				used += cpu() - began
				runtime.GC()
				runtime.ReadMemStats(&after)
				held = max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
				began = cpu()
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
				used += cpu() - began
			}
			seconds := used.Seconds() / float64(b.N)
			b.ReportMetric(seconds*1000, "cpu-ms")
			b.ReportMetric(float64(out.n)/1e6, "out-MB")
			b.ReportMetric(float64(out.n)/1e6/seconds, "out-MB/cpu-s")
			b.ReportMetric(float64(held)/1e6, "held-MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// million is a recording of a million records: some 5,000 messages of 12 methods on two threads.
func million() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "5", "process", "com.app")
	r.clock(0, 1_795_000_000_000)
	r.thread(0, "main", true)
	r.thread(1, "worker", false)
	for thread := range uint32(2) {
		var list []record
		for seed := uint64(thread) << 32; len(list) < 500_000; seed++ {
			last := int64(0)
			if len(list) > 0 {
				last = list[len(list)-1].ticks
			}
			for _, rec := range wander(seed, 40, 200, false) {
				list = append(list, record{rec.id, last + rec.ticks})
			}
		}
		list = list[:500_000]
		for first := 0; first < len(list); first += 1 << 15 {
			r.add(thread, uint64(first), list[first:min(first+1<<15, len(list))]...)
		}
	}
	return r.end()
}
