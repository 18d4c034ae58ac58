package collect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
)

// TestOthersKeepNoReportOut has all connections of a collector taken by clients that send nothing, not all, or that do
// not read, and sends a report, which arrives. Nothing times out here but the test.
func TestOthersKeepNoReportOut(t *testing.T) {
	h := NewServer(openStore(t, t.TempDir(), Options{}), testOptions)
	h.SetTokens([]string{"0123456789abcdef"})
	const bearer = "Authorization: Bearer 0123456789abcdef\r\n"
	h.connections, h.deadlines = 8, deadlines{time.Hour, time.Hour, time.Hour, time.Hour}
	address, stop := serve(t, h)
	for what, sent := range map[string]string{
		"nothing":                 "",
		"half a header":           "GET /healthz HTTP/1.1\r\nHost: c",
		"no body":                 "GET /healthz HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n\r\n",
		"a chunked body":          "GET /v1/config HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\n\r\n",
		"answers that wait":       strings.Repeat("GET /v1/config HTTP/1.1\r\nHost: c\r\n\r\n", 2000),
		"no token and no body":    "POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n\r\n",
		"no token, a recording":   "PUT /v1/recordings/ab/1 HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n\r\n",
		"a token and half a body": "POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n" + bearer + "\r\nhalf",
		"a token and half a recording": "PUT /v1/recordings/ab/1 HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n" +
			bearer + "\r\nhalf",
	} {
		for range 3 * h.connections {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go io.WriteString(c, sent)
		}
		body := packed(line("aa-s1-0", "com.a", "ab"))
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /v1/reports HTTP/1.1\r\nHost: c\r\n"+bearer+
			"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != 200 {
			t.Errorf("behind clients that send %s: %v %v", what, answer, err)
		}
		c.Close()
	}
	stop()
}

// TestManyMappings sends the reports of more builds than a segment distinguishes: the others share a file, and none is
// lost.
func TestManyMappings(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	var reports []Accepted
	for k := range 3 * maxPartitions {
		id, digest := fmt.Sprintf("aa-s%d-0", k), fmt.Sprintf("%016x", k)
		reports = append(reports, Accepted{id, "com.a", digest, line(id, "com.a", digest)})
	}
	added, err := s.Add(reports)
	if err := errors.Join(err, s.Close()); err != nil || added != len(reports) {
		t.Fatal(added, err)
	}
	mappings := map[string]bool{}
	files := eachRow(t, dir, func(r *lake.Row) { mappings[*r.Mapping] = true })
	if len(files) != maxPartitions+1 {
		t.Errorf("%d files", len(files))
	}
	if len(mappings) != len(reports) {
		t.Errorf("reports of %d builds, want %d", len(mappings), len(reports))
	}
}

// TestCloseInHaste closes a store that has no time to write files: the reports stay in the log, and the next one
// writes them.
func TestCloseInHaste(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Warn: func(error) {}})
	s.cancel()
	_, err := s.Add([]Accepted{{"aa-s1-0", "com.a", "ab", line("aa-s1-0", "com.a", "ab")}})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if ids := storedIDs(t, dir); len(ids) != 0 {
		t.Fatalf("%q were written", ids)
	}
	if err := openStore(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if ids := storedIDs(t, dir); len(ids) != 1 {
		t.Errorf("%q are there", ids)
	}
}

// TestClockAhead starts a collector once with a clock that is 91 days ahead, and once with one that was never set.
func TestClockAhead(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	var warned []string
	open := func() *Store {
		return openStore(t, dir, Options{Now: c.read, KeepDays: 90, Warn: func(err error) {
			warned = append(warned, err.Error())
		}})
	}
	s := open()
	_, err := s.Add([]Accepted{{"aa-s1-0", "com.a", "ab", line("aa-s1-0", "com.a", "ab")}})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	c.addDays(91)
	for _, id := range []string{"aa-s2-0", "aa-s3-0"} { // the second start sees the report of the first
		s = open()
		_, expired := s.lake.Expire(t.Context(), 90, false)
		_, err = s.Add([]Accepted{{id, "com.a", "ab", line(id, "com.a", "ab")}})
		if err := errors.Join(expired, err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if ids := storedIDs(t, dir); len(ids) != 3 {
		t.Errorf("%q are left", ids)
	}
	if len(warned) == 0 || !strings.Contains(warned[0], "the clock says 2027-02-19") {
		t.Errorf("warnings: %q", warned)
	}
	c.addDays(-55 * 365)
	s = open()
	if _, err := s.Add([]Accepted{{"aa-s4-0", "com.a", "ab", ""}}); !errors.Is(err, ErrClock) {
		t.Error(err)
	}
	if status, answer := send(NewServer(s, testOptions), "GET", "/readyz", nil); status != 503 ||
		!strings.Contains(answer, "clock") {
		t.Error(status, answer)
	}
}

// TestStoreStaysInside has symbolic links in a store, and a umask that keeps others out.
func TestStoreStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are those of Unix")
	}
	dir, outside := t.TempDir(), t.TempDir()
	s := openStore(t, dir, Options{Warn: func(error) {}})
	if err := os.Symlink(outside, filepath.Join(dir, lake.Reports, "package=com.a")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Add([]Accepted{{"aa-s1-0", "com.a", "ab", line("aa-s1-0", "com.a", "ab")},
		{"aa-s2-0", "com.b", "ab", line("aa-s2-0", "com.b", "ab")}})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if files := filesBelow(t, outside); len(files) > 0 {
		t.Errorf("%q are outside of the store", files)
	}
	f, err := objects.CreateTemp(dir, ".x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	a, err1 := f.Stat()
	b, err2 := plain.Stat()
	if err := errors.Join(err1, err2); err != nil || a.Mode() != b.Mode() {
		t.Errorf("mode %v, want that of other files, %v: %v", a.Mode(), b.Mode(), err)
	}
}

// TestReadyWithDisk asks whether a collector is ready whose directory cannot be written any more.
func TestReadyWithDisk(t *testing.T) {
	c := newClock()
	root := t.TempDir()
	dir, away := filepath.Join(root, "store"), filepath.Join(root, "away")
	h := NewServer(openStore(t, dir, Options{Now: c.read}), testOptions)
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Skip(err) // Windows keeps directories with open files in place
		}
	}
	want := func(want int) {
		t.Helper()
		if status, answer := send(h, "GET", "/readyz", nil); status != want || strings.Contains(answer, dir) {
			t.Errorf("%d %s, want %d", status, answer, want)
		}
		if status, answer := send(h, "GET", "/healthz", nil); status != 200 {
			t.Errorf("the process lives: %d %s", status, answer)
		}
	}
	want(200)
	move(dir, away)
	want(200) // what was seen in the last seconds
	c.addDays(1)
	want(503)
	move(away, dir)
	c.addDays(1)
	want(200)
}
