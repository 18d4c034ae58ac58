package collect

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/oracle"
)

// written returns a log with one segment of some records, of one report each, and the segment.
func written(t testing.TB, records int) (l *wal, name string, data []byte) {
	t.Helper()
	l, err := openWAL(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for k := range records {
		id := fmt.Sprintf("%04x-s1-0", k)
		text := line(id, "com.a", "ab") + "\n"
		of := record{Partition: lake.Partition{App: "com.a", Mapping: "ab"}, received: now.UnixMilli(),
			ids: []lake.IDHash{lake.HashID(id)}}
		if err := l.append(of.encode(nil, []byte(text), l.pack), len(text), now); err != nil {
			t.Fatal(err)
		}
	}
	name = l.open
	l.complete()
	data, err = os.ReadFile(l.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return l, name, data
}

// change replaces a segment, and returns which records are read of it, as the ends of their bodies.
func (l *wal) change(t testing.TB, name string, data []byte) (ends []int64, damaged int64) {
	t.Helper()
	if err := os.WriteFile(l.path(name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := l.read(name, func(r *record) error {
		if len(r.ids) != 1 || r.Date != "2026-11-20" {
			t.Errorf("%+v", r)
		}
		ends = append(ends, r.offset+r.length)
		return nil
	})
	if err != nil && !strings.Contains(err.Error(), "no segment of this version") {
		t.Fatal(err)
	}
	return ends, damaged
}

// TestTornLog cuts a segment off at each byte, and changes each byte.
//
// Invariant: Of a segment that was not written to its end, or is damaged, the collector reads each record that is
// whole, and says what it cannot read, but at the end.
func TestTornLog(t *testing.T) {
	l, name, data := written(t, 4)
	ends, _ := l.change(t, name, data)
	if len(ends) != 4 || ends[3] != int64(len(data)) {
		t.Fatalf("records end at %v of %d", ends, len(data))
	}
	for n := range data {
		whole := 0
		for _, end := range ends {
			if end <= int64(n) {
				whole++
			}
		}
		for _, zeros := range []int{0, 1000} {
			cut := append(bytes.Clone(data[:n]), make([]byte, zeros)...)
			if got, damaged := l.change(t, name, cut); len(got) != whole || damaged != 0 {
				t.Errorf("%d bytes and %d zeros: records that end at %v are read, %d are whole; %d bytes damaged", n, zeros, got,
					whole, damaged)
			}
		}
	}
	lengths := map[int]bool{} // the bytes of lengths: nothing behind is found
	for _, begin := range append([]int64{int64(len(walMagic))}, ends[:3]...) {
		for k := range 4 {
			lengths[int(begin)+k] = true
		}
	}
	for n := range data[len(walMagic):] {
		n += len(walMagic)
		changed := bytes.Clone(data)
		changed[n] ^= 0x55
		got, damaged := l.change(t, name, changed)
		last := int64(n) >= ends[2]
		if !lengths[n] && (len(got) != 3 || (damaged > 0) == last) || len(got) > 3 {
			t.Errorf("byte %d: records that end at %v are read, %d bytes damaged", n, got, damaged)
		}
	}
}

// FuzzLog reads any bytes as a segment.
//
// Invariant: No bytes make the reader of a segment panic, or allocate much more than they have.
func FuzzLog(f *testing.F) {
	l, name, data := written(f, 2)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(l.path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		_, _ = l.read(name, func(*record) error { return nil })
		metrics.Read(sample)
		if n := sample[0].Value.Uint64() - before; n > uint64(4<<20+100*len(data)) {
			t.Errorf("%d bytes allocated for %d", n, len(data))
		}
	})
}

// addOne adds a report.
func addOne(s *Store, n int) error {
	id := fmt.Sprintf("%04x-s1-0", n)
	_, err := s.Add([]Accepted{{id, "com.a", "ab", line(id, "com.a", "ab") + strings.Repeat(" ", 2000)}})
	return err
}

// TestBucketAway has a bucket that answers 503 for some time, one that is full, and a log that becomes full meanwhile.
func TestBucketAway(t *testing.T) {
	if err := oracle.FindObjectStore(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	location := locations(t)["bucket"]()
	server, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL"))
	if err != nil {
		t.Fatal(err)
	}
	type refusing struct {
		code   string
		status int
	}
	var refusal atomic.Pointer[refusing]
	// The signatures of requests have the host that the client asks for, which the proxy keeps.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = server.Scheme, server.Host, r.In.Host
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r := refusal.Load(); r != nil {
			http.Error(w, "<Error><Code>"+r.code+"</Code></Error>", r.status)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	t.Setenv("AWS_ENDPOINT_URL", front.URL)
	stays := make(chan string, 100)
	s := openStore(t, location, Options{Log: t.TempDir(), Every: time.Nanosecond, Warn: func(err error) {
		if strings.Contains(err.Error(), "it stays, and is tried again") {
			stays <- err.Error()
		}
	}})
	h := NewServer(s, testOptions)
	acknowledged := 0
	for _, r := range []refusing{{"SlowDown", 503}, {"XMinioStorageFull", 507}, {"QuotaExceeded", 403}} {
		refusal.Store(&r)
		if err := addOne(s, acknowledged); err != nil {
			t.Fatal(err)
		}
		acknowledged++
		for !strings.Contains(<-stays, r.code) {
			s.seal <- struct{}{}
		}
		if status, _ := send(h, "PUT", "/v1/recordings/ab/1", recordingBytes(t)); status != 503 {
			t.Errorf("%s: a recording that is not stored: %d", r.code, status)
		}
	}
	s.waiting.Add(maxLog)
	if err := addOne(s, 8); !errors.Is(err, errBehind) {
		t.Errorf("the log is full: %v", err)
	}
	if status, _ := post(h, packed(line("aa-s1-0", "com.a", "ab"))); status != 503 {
		t.Errorf("the log is full: %d", status)
	}
	s.waiting.Add(-maxLog)
	refusal.Store(nil)
	if err := errors.Join(addOne(s, 9), s.Close()); err != nil || s.Unfinished() {
		t.Fatal(err, s.Unfinished())
	}
	if ids := storedIDs(t, location); len(ids) != acknowledged+1 {
		t.Errorf("%q are there", ids)
	}
}
