package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The garbage collector runs when the heap has grown by growth percent of what is alive, and by spare bytes. Go's
// default, 100 percent and no spare bytes, collects a small heap again and again, and lets a big one take twice the
// memory that it needs. These numbers give fewer collections for about the same peak: for a jar of 17,000 classes, 2
// instead of 8. A build of a few hundred classes needs none.
const (
	growth = 40
	spare  = 38 << 20
)

// leastHeap is what GOGC is applied to while less is alive: with 100 percent, a collection starts at 4 MB.
const leastHeap = 4 << 20

// SetUpCollector sets up the garbage collector, unless the environment does (GOGC, GOMEMLIMIT).
func SetUpCollector() { tuneCollector() }

// pacer sets how far the heap may grow until it is collected. Go's garbage collector knows percentages only, so that
// each collection needs another one.
type pacer struct {
	mu      sync.Mutex
	percent int64 // of what is alive
	bytes   int64 // added to that
	stopped bool
}

// tuneCollector sets up the garbage collector, unless the environment does (GOGC, GOMEMLIMIT).
func tuneCollector() *pacer {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	p := &pacer{}
	p.set(growth, spare, 0)
	p.watch()
	return p
}

// set lets the heap grow by percent of what is alive, and by bytes.
func (p *pacer) set(percent, bytes, alive int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.percent, p.bytes = percent, bytes
	p.apply(alive)
}

func (p *pacer) apply(alive int64) {
	debug.SetGCPercent(int(p.percent + 100*p.bytes/max(alive, leastHeap)))
}

// watch applies the numbers to what is alive after each collection.
func (p *pacer) watch() {
	type unreachable struct{ _ *pacer } // with a pointer, so that it shares its memory with no other object
	runtime.AddCleanup(new(unreachable), func(p *pacer) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.stopped {
			p.apply(liveHeap())
			p.watch()
		}
	}, p)
}

// stop leaves the garbage collector as it is.
func (p *pacer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

// liveHeap returns how many bytes the last collection has found alive, 0 if there was none.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
