package collect

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The names of the counters.
const (
	countRequests  = "tracegen_collect_requests_total"
	countReports   = "tracegen_collect_reports_total"
	countRefusals  = "tracegen_collect_refusals_total"
	countClosed    = "tracegen_collect_connections_closed_total"
	countBytes     = "tracegen_collect_body_bytes_total"
	histogramTimes = "tracegen_collect_reports_seconds"
)

// figures are the counters of a server, for Prometheus. The values of labels are constants of this package, or statuses
// of answers: no client can make a new one.
type figures struct {
	mu     sync.Mutex
	counts map[string]map[string]float64 // by name and labels
	times  [len(bounds) + 1]uint64       // how many bodies took so long, see bounds
	sum    float64                       // of the times, in seconds
}

// bounds are those of the histogram, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// newFigures returns figures in which the events that an alert waits for have the value 0, so that their first one is
// seen.
func newFigures() *figures {
	f := &figures{counts: map[string]map[string]float64{}}
	for _, result := range []string{"accepted", "duplicate", "refused"} {
		f.add(countReports, 0, "result", result)
	}
	for _, path := range []string{"reports", "recordings"} {
		f.add(countRequests, 0, "path", path, "code", "200")
	}
	f.add(countBytes, 0)
	return f
}

// add adds to a counter. The labels are names and values in turn.
func (f *figures) add(name string, n float64, labels ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts[name] == nil {
		f.counts[name] = map[string]float64{}
	}
	f.counts[name][labelText(labels)] += n
}

// labelText returns labels as the format has them.
func labelText(labels []string) string {
	var pairs []string
	for k := 0; k+1 < len(labels); k += 2 {
		pairs = append(pairs, labels[k]+"="+strconv.Quote(labels[k+1]))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// took adds to the histogram that a body of reports was answered so long after it had arrived.
func (f *figures) took(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, _ := slices.BinarySearch(bounds[:], d.Seconds())
	f.times[k]++
	f.sum += d.Seconds()
}

// write writes the counters and the histogram.
func (f *figures) write(w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, family := range [][2]string{
		{countRequests, "Requests by path and status of the answer."},
		{countReports, "Reports of the bodies that were answered with 200."},
		{countRefusals, "Requests that a limit refused, and those without a token."},
		{countClosed, "Connections that the collector closed."},
		{countBytes, "Bytes of bodies as they arrived."},
	} {
		head(w, family[0], "counter", family[1])
		for _, labels := range slices.Sorted(maps.Keys(f.counts[family[0]])) {
			fmt.Fprintf(w, "%s%s %v\n", family[0], labels, f.counts[family[0]][labels])
		}
	}
	head(w, histogramTimes, "histogram", "Time from the arrival of a whole body of reports until its answer.")
	var n uint64
	for k, times := range f.times {
		bound := "+Inf"
		if n += times; k < len(bounds) {
			bound = fmt.Sprint(bounds[k])
		}
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", histogramTimes, bound, n)
	}
	fmt.Fprintf(w, "%s_sum %v\n%s_count %d\n", histogramTimes, f.sum, histogramTimes, n)
}

func head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// metrics answers a scrape of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	b := bufio.NewWriter(w)
	defer b.Flush() // the client may be gone
	s.figures.write(b)
	gauge := func(name, help string, value float64) {
		head(b, name, "gauge", help)
		fmt.Fprintf(b, "%s %v\n", name, value)
	}
	ready := 1.0
	if s.unready() != "" {
		ready = 0
	}
	s.Journal.mu.Lock()
	warnings := s.Journal.total
	s.Journal.mu.Unlock()
	head(b, "tracegen_collect_warnings_total", "counter", "Warnings of the log, with those that it only counts.")
	fmt.Fprintf(b, "tracegen_collect_warnings_total %d\n", warnings)
	gauge("tracegen_collect_ready", "1 if the collector takes reports, as /readyz says.", ready)
	gauge("tracegen_collect_store_bytes", "Size of the store and of the write-ahead log.", float64(s.store.Used()))
	gauge("tracegen_collect_store_limit_bytes", "What they may have; 0 for no limit.", float64(s.store.MaxBytes))
	gauge("tracegen_collect_log_bytes", "Size of the write-ahead log: reports that are not in the store yet.",
		float64(s.store.waiting.Load()))
	if l := s.listener.Load(); l != nil {
		l.mu.Lock()
		open := len(l.open)
		l.mu.Unlock()
		gauge("tracegen_collect_connections", "Connections that are open.", float64(open))
	}
	gauge("tracegen_collect_bodies_bytes", "Memory of bodies in progress that counts against its limit.",
		float64(2*bodyBudget-s.bodies.left.Load()-s.arriving.left.Load()))
	head(b, "tracegen_collect_expires_timestamp_seconds", "gauge", "When the certificate and the settings expire.")
	expires := func(t time.Time, labels ...string) {
		fmt.Fprintf(b, "tracegen_collect_expires_timestamp_seconds%s %d\n", labelText(labels), t.Unix())
	}
	if c := s.certificate.Load(); c != nil {
		expires(c.Leaf.NotAfter, "what", "certificate")
	}
	if c := s.configs.Load(); c != nil {
		for _, app := range slices.Sorted(maps.Keys(c.byPackage)) {
			expires(time.UnixMilli(c.byPackage[app].expires), "what", "settings", "package", app)
		}
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	gauge("go_memory_bytes", "Memory that the process has from the system.",
		float64(samples[0].Value.Uint64()-samples[1].Value.Uint64()))
	gauge("go_goroutines", "Goroutines.", float64(samples[2].Value.Uint64()))
	gauge("process_start_time_seconds", "When the process began.", float64(s.began.Unix()))
}
