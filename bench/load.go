package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load is the requests that clients send to collectors. Bodies are made before, as the clients use the same cores.
type load struct {
	urls    []string
	bodies  [][]byte
	batch   int // reports of a body
	rate    int // reports a second; 0 is as many as the collectors take
	clients int
}

// loaded is what the clients have seen.
type loaded struct {
	reports, busy int // busy is how many answers were 429 or 503
	bytes         int64
	latencies     []time.Duration
	took          time.Duration
}

// newBodies makes bodies of reports whose numbers begin with first.
func newBodies(digests []string, first, reports, batch int) [][]byte {
	bodies := make([][]byte, reports/batch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(bodies); i = int(next.Add(1)) - 1 {
				var b bytes.Buffer
				z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level exists
				for n := range batch {
					io.WriteString(z, fleetReport(digests, first+i*batch+n)+"\n")
				}
				z.Close()
				bodies[i] = b.Bytes()
			}
		})
	}
	wg.Wait()
	return bodies
}

// run sends the bodies until the context is canceled. Requests of a rate have times at which they are due, whether the
// collector is slow or not: their latency counts from then.
func (l *load) run(ctx context.Context) (*loaded, error) {
	all := &loaded{}
	var failed error
	var mu sync.Mutex // guards all and failed
	var next atomic.Int64
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.clients}}
	defer client.CloseIdleConnections()
	start := time.Now()
	one := func(i int) error {
		due := time.Now()
		if l.rate > 0 {
			due = start.Add(time.Duration(i*l.batch) * time.Second / time.Duration(l.rate))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(due)):
		}
		status, err := l.send(client, i)
		took := time.Since(due)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			all.reports, all.bytes = all.reports+l.batch, all.bytes+int64(len(l.bodies[i]))
			all.latencies = append(all.latencies, took)
		default:
			all.busy++
		}
		return nil
	}
	for range l.clients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.bodies); i = int(next.Add(1)) - 1 {
				if err := one(i); err != nil {
					mu.Lock()
					defer mu.Unlock()
					if failed = errors.Join(failed, err); ctx.Err() != nil {
						failed = nil
					}
					return
				}
			}
		})
	}
	wg.Wait()
	all.took = time.Since(start)
	slices.Sort(all.latencies)
	return all, failed
}

// send sends a body, and returns the status if that is 200, 429 or 503.
func (l *load) send(client *http.Client, i int) (int, error) {
	r, err := http.NewRequest(http.MethodPost, l.urls[i%len(l.urls)]+"/v1/reports", bytes.NewReader(l.bodies[i]))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var counted struct{ Accepted int }
	switch err := json.NewDecoder(answer.Body).Decode(&counted); {
	case err != nil:
		return 0, err
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable:
	case answer.StatusCode != http.StatusOK || counted.Accepted != l.batch:
		return 0, fmt.Errorf("status %d, %d of %d reports were accepted", answer.StatusCode, counted.Accepted, l.batch)
	}
	return answer.StatusCode, nil
}

// latency returns the quantile of the latencies.
func (l *loaded) latency(q float64) time.Duration {
	if len(l.latencies) == 0 {
		return 0
	}
	return l.latencies[min(len(l.latencies)-1, int(q*float64(len(l.latencies))))].Round(100 * time.Microsecond)
}

// collector is tracegen collect, in a process.
type collector struct {
	cmd *exec.Cmd
	url string
	wal string // the directory of its log
}

// startCollector starts a collector with options as [fleet.collectArgs] returns them.
func startCollector(ctx context.Context, tool string, env []string, args ...string) (*collector, error) {
	c := &collector{wal: args[slices.Index(args, "--wal")+1]}
	c.cmd = exec.CommandContext(ctx, tool, append([]string{"collect", "--listen", "127.0.0.1:0"}, args...)...)
	c.cmd.Env = append(os.Environ(), env...)
	out, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	messages := bufio.NewReader(out)
	first, err := messages.ReadString('\n')
	_, address, found := bytes.Cut([]byte(first), []byte("listening on "))
	if err != nil || !found {
		return nil, fmt.Errorf("the collector does not start: %s %w", first, errors.Join(err, c.cmd.Wait()))
	}
	go func() { _, _ = io.Copy(os.Stderr, messages) }()
	url, _, _ := bytes.Cut(address, []byte(","))
	c.url = string(url)
	return c, nil
}

// stopCollectors ends collectors as a signal does. It returns their CPU time together, and how long they took.
func stopCollectors(all ...*collector) (cpu, took time.Duration, err error) {
	began := time.Now()
	for _, c := range all {
		err = errors.Join(err, c.cmd.Process.Signal(os.Interrupt))
	}
	for _, c := range all {
		err = errors.Join(err, c.cmd.Wait())
		cpu += c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
	}
	return cpu, time.Since(began), err
}
