package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// collectCommand measures tracegen collect under load: reports a second, latency and memory.
const collectCommand = "collect"

// load is what the clients of a collector send.
type load struct {
	url      string
	rate     int // reports a second; 0 is as many as the clients can send
	clients  int
	batch    int // reports of a request
	duration time.Duration
}

// loadResult is what the clients have seen.
type loadResult struct {
	reports   int
	latencies []time.Duration
	busy      int // answers with 429 or 503
	bytes     int64
	took      time.Duration
}

func collectMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(collectCommand, flag.ContinueOnError)
	tool := flags.String("tracegen", "./tracegen", "the tracegen `executable`")
	rate := flags.Int("rate", 1000, "reports a second; 0 is as many as possible")
	clients := flags.Int("clients", 32, "`number` of connections")
	batch := flags.Int("batch", 10, "reports of a request")
	duration := flags.Duration("for", time.Minute, "how long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tracegen-collect-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, *tool, "collect", "--store", filepath.Join(dir, "store"), "--listen", "127.0.0.1:0",
		"--every", "10s")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return err
	}
	messages := bufio.NewReader(stderr)
	first, err := messages.ReadString('\n')
	_, address, found := strings.Cut(first, "listening on ")
	if err != nil || !found {
		return fmt.Errorf("%s: %s %w", *tool, first, errors.Join(err, cmd.Wait()))
	}
	go func() { _, _ = io.Copy(os.Stderr, messages) }()
	l := load{rate: *rate, clients: *clients, batch: *batch, duration: *duration}
	l.url, _, _ = strings.Cut(address, ",")
	fmt.Printf("load average before: %s", loadAverage())
	result := l.run(ctx)
	status := processStatus(cmd.Process.Pid, "VmHWM", "RssAnon", "RssFile")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", *tool, err)
	}
	fmt.Printf("load average after: %s", loadAverage())
	result.print(os.Stdout, *batch)
	fmt.Printf("memory: %s; most resident: %d MiB; CPU: %.1f s\n", status, peakMemory(cmd.ProcessState)>>20,
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return printStore(filepath.Join(dir, "store"), result.reports)
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return string(text)
}

// processStatus returns lines of a process's /proc/PID/status.
func processStatus(pid int, names ...string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var found []string
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, ":"); slices.Contains(names, name) {
			found = append(found, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(found, ", ")
}

// printStore prints the size of a store, by kinds of files.
func printStore(dir string, reports int) error {
	var parquet, files, rest int64
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".parquet") {
			parquet, files = parquet+info.Size(), files+1
		} else {
			rest += info.Size()
		}
		return nil
	})
	fmt.Printf("store: %d Parquet files of %d bytes, %d bytes a report; database %d bytes\n", files, parquet,
		parquet/int64(max(1, reports)), rest)
	return err
}

// run sends reports until the time is over.
func (l *load) run(ctx context.Context) loadResult {
	ctx, cancel := context.WithTimeout(ctx, l.duration)
	defer cancel()
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = l.clients
	var mu sync.Mutex
	var all loadResult
	var wg sync.WaitGroup
	start := time.Now()
	for client := range l.clients {
		wg.Go(func() {
			one := l.client(ctx, client, start)
			mu.Lock()
			defer mu.Unlock()
			all.reports, all.busy, all.bytes = all.reports+one.reports, all.busy+one.busy, all.bytes+one.bytes
			all.latencies = append(all.latencies, one.latencies...)
		})
	}
	wg.Wait()
	all.took = time.Since(start)
	return all
}

// client is one client. Its requests have times at which they are due, whether the collector is slow or not: their
// latency counts from then.
func (l *load) client(ctx context.Context, client int, start time.Time) (r loadResult) {
	var interval time.Duration
	due := start
	if l.rate > 0 {
		interval = time.Duration(l.clients) * time.Duration(l.batch) * time.Second / time.Duration(l.rate)
		due = due.Add(interval * time.Duration(client) / time.Duration(l.clients))
	}
	for number := 0; ; {
		select {
		case <-ctx.Done():
			return r
		case <-time.After(time.Until(due)):
		}
		if l.rate == 0 {
			due = time.Now()
		}
		body := l.body(client, number)
		number += l.batch
		status, err := l.send(ctx, body)
		switch {
		case err != nil && ctx.Err() == nil:
			fmt.Fprintln(os.Stderr, "bench:", err)
			return r
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			r.busy++
		case status == http.StatusOK:
			r.reports += l.batch
			r.bytes += int64(len(body))
			r.latencies = append(r.latencies, time.Since(due))
		}
		due = due.Add(interval)
	}
}

func (l *load) send(ctx context.Context, body []byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/v1/reports", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var counted struct{ Accepted, Duplicates int }
	if err := json.NewDecoder(answer.Body).Decode(&counted); err != nil {
		return 0, err
	}
	if answer.StatusCode == http.StatusOK && counted.Accepted != l.batch {
		return 0, fmt.Errorf("%d of %d reports were accepted", counted.Accepted, l.batch)
	}
	return answer.StatusCode, nil
}

// body makes reports of about 2 KB each, as a device sends them: with a hot path, calls, and two stack samples.
func (l *load) body(client, number int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level exists
	for n := range l.batch {
		id := number + n
		fmt.Fprintf(z, `{"format":"tracegen-report","version":1,"id":"%08x%08x-s%d-1","kind":"message","detector":"looper",`,
			client, id/50, id)
		fmt.Fprintf(z, `"basic":{"package":"com.example.app","versionName":"4.%d","versionCode":"4%02d","buildId":"b%d",`+
			`"mapping":"e69c7a6d3eaedd%02x","manufacturer":"maker %d","device":"device %d","abi":"arm64-v8a","sdk":%d,`+
			`"process":"com.example.app","pid":%d,"session":"%016x","user":"%016x","scene":"Screen%d","foreground":true,`+
			`"thread":"main","what":"Handler (android.view.Choreographer$FrameHandler) {%x} null: %d"},`, id%7, id%7, id%7,
			id%7, id%5, id%300, 21+id%16, id%30000, id*7919, id*104729%100000, id%40, id*31, id%9)
		fmt.Fprintf(z, `"timing":{"wallMillis":%d,"durationMillis":%d.25,"suspendedMillis":0,"cpuMillis":%d,"gcCount":1,`+
			`"gcMillis":%d,"ended":true},"cpu":{"load":%d.5,"processors":8,"memoryAvailable":%d},"stack":{"key":"%016x",`+
			`"hotPath":[1048574,17,%d,%d,%d],"calls":[`, 1_763_000_000_000+int64(id)*37, 700+id%3000, 200+id%500, id%90, id%8,
			id*4096, id%500, 97+id%50, 300+id%70, 900+id%90)
		for call := range 12 {
			if call > 0 {
				io.WriteString(z, ",")
			}
			fmt.Fprintf(z, `{"depth":%d,"id":%d,"count":%d,"millis":%d}`, call, 100*call+id%90, 1+id%5, 700-40*call)
		}
		io.WriteString(z, `],"samples":[`)
		for sample := range 2 {
			if sample > 0 {
				io.WriteString(z, ",")
			}
			fmt.Fprintf(z, `{"thread":"main","state":"RUNNABLE","nanos":%d,"count":3,"frames":[`, sample*100_000_000)
			for frame := range 8 {
				if frame > 0 {
					io.WriteString(z, ",")
				}
				fmt.Fprintf(z, `"com.example.app.part%d.Class%d.method%d(Class%d.java:%d)"`, frame, (id+frame)%60, id%11,
					(id+frame)%60, 10+id%400)
			}
			io.WriteString(z, "]}")
		}
		fmt.Fprintf(z, `]},"facts":{},"detectors":{"watchdog":"on","frames":"off"},"recording":"%08x%08x"}`+"\n", client, id/50)
	}
	z.Close()
	return b.Bytes()
}

func (r *loadResult) print(w io.Writer, batch int) {
	slices.Sort(r.latencies)
	at := func(q float64) time.Duration {
		if len(r.latencies) == 0 {
			return 0
		}
		return r.latencies[min(len(r.latencies)-1, int(q*float64(len(r.latencies))))].Round(100 * time.Microsecond)
	}
	fmt.Fprintf(w, "%d reports in %.1f s: %.0f a second, %d to a request, %d bytes compressed each; %d requests were answered "+
		"with 429 or 503\n", r.reports, r.took.Seconds(), float64(r.reports)/r.took.Seconds(), batch,
		r.bytes/int64(max(1, r.reports)), r.busy)
	fmt.Fprintf(w, "latency of a request: p50 %s, p99 %s, longest %s\n", at(0.5), at(0.99), at(1))
}
