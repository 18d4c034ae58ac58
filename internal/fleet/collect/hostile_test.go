package collect

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMixedBody sends reports that are new, twice in the body, known from before, and refused, between empty lines: the
// answer counts each line once.
//
// Invariant: The answer to a body counts each of its reports once: as accepted, as a duplicate, or as refused.
func TestMixedBody(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	o := testOptions
	o.Packages = []string{"com.a"}
	h := NewServer(s, o)
	if status, answer := post(h, packed(line("aa-s1-0", "com.a", "ab"))); status != 200 {
		t.Fatal(status, answer)
	}
	version := strings.Replace(line("aa-s5-0", "com.a", "ab"), `"version":1`, `"version":2`, 1)
	long := strings.Replace(line("aa-s6-0", "com.a", "ab"), `"stack"`,
		`"later":[`+strings.Repeat("1,", 40<<10)+`1],"stack"`, 1)
	status, answer := post(h, packed(strings.Join([]string{"", line("aa-s7-0", "../a", "ab"),
		line("aa-s1-0", "com.a", "ab"),
		line("aa-s2-0", "com.a", "ab"), "\r", line("aa-s3-0", "com.b", "ab"), line("aa-s2-0", "com.a", "ab") + "\r",
		version, "\t ", long, line("aa-s4-0", "com.a", "cd"), line("aa-s5-0", "com.a", "ab")}, "\n")))
	var got outcome
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 {
		t.Fatal(status, answer)
	}
	want := []refusal{{"aa-s7-0", "basic.package"}, {"aa-s3-0", "takes nothing of this package"},
		{"aa-s5-0", "version"}, {"aa-s6-0", "at most 65536"}}
	same := slices.EqualFunc(got.Refused, want, func(a, b refusal) bool {
		return a.ID == b.ID && strings.Contains(a.Why, b.Why)
	})
	if got.Accepted != 3 || got.Duplicates != 2 || !same {
		t.Error(answer)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if ids := storedIDs(t, dir); !slices.Equal(ids, []string{"aa-s1-0", "aa-s2-0", "aa-s4-0", "aa-s5-0"}) {
		t.Errorf("%q", ids)
	}
}

// TestLongReports sends reports that are too long to be parsed: one that has an ID is refused alone, everything else
// with its body.
func TestLongReports(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	h := NewServer(s, testOptions)
	good := line("aa-s1-0", "com.a", "ab")
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct {
		name, line, why string
		status          int
	}{
		{"no report", `{"a":"` + strings.Repeat("x", 70<<10) + `"}`, "no field", 400},
		{"deep", with(`"timing"`, `"x":`+strings.Repeat("[", 50_000)+strings.Repeat("]", 50_000)+`,"timing"`),
			"exceeded max depth", 400},
		{"number", with("900}", strings.Repeat("9", 70<<10)+"}"), "at most 65536", 200},
		{"cut off", strings.TrimSuffix(good, "}") + `,"x":"` + strings.Repeat("x", 70<<10), "unexpected end", 400},
		{"with an ID", with(`"timing"`, `"x":[`+strings.Repeat("{},", 50_000)+`{}],"timing"`), "at most 65536", 200},
	} {
		status, answer := post(h, packed(c.line))
		if status != c.status || !strings.Contains(answer, c.why) || len(answer) > 400 {
			t.Errorf("%s: %d %.500s", c.name, status, answer)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if ids := storedIDs(t, dir); len(ids) > 0 {
		t.Errorf("stored %q", ids)
	}
}

// TestBodiesTakeBoundedMemory sends bodies that are short on the wire and take much when they are read. The bytes that
// are allocated while a body is handled are limited by its inflated size, whatever it contains.
//
// Invariant: What the collector allocates for a body of reports is limited by the inflated size of the body.
func TestBodiesTakeBoundedMemory(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	o := testOptions
	o.MaxBody = 2 << 20
	h := NewServer(s, o)
	noise := rand.New(rand.NewPCG(7, 7))
	// Some noise, so that the body does not inflate too much.
	filled := func(text string, n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(text)
			if b.Len()%4096 < len(text) {
				fmt.Fprintf(&b, "%s", strings.Repeat(" ", int(noise.Uint32()%64)))
			}
		}
		return b.String()
	}
	head := `{"format":"tracegen-report","version":1,"id":"aa-s1-0","kind":"message","x":`
	for _, c := range []struct {
		name, text string
		status     int
		want       string
	}{
		{"a million empty lines", strings.Repeat("\n", 1_000_000), 400, "no report"},
		{"a million lines", filled("{}\n", 3<<20), 400, "line 1: no field"},
		{"a million refused reports", filled(`{"format":"tracegen-report","id":"a-i1"}`+"\n", 20<<20), 413,
			"more than 10000 reports"},
		{"a million reports", filled(`{"format":"tracegen-report","version":1,"id":"a-i1","kind":"x"}`+"\n", 20<<20), 413,
			"more than 10000 reports"},
		{"an array of millions", head + "[" + filled("1,", 20<<20) + "1]}", 200, "at most 65536"},
		{"an array of millions of objects", head + "[" + filled("{},", 20<<20) + "1]}", 200, "at most 65536"},
		{"an object of millions", head + `1,"a":{"b":1` + filled(`,"c":1`, 20<<20) + "}}", 200, "at most 65536"},
		{"millions of members", head + "1" + filled(`,"c":1`, 20<<20) + "}", 200, "at most 65536"},
		{"a long string", head + `"` + filled(`\u00e9`, 20<<20) + `"}`, 200, "at most 65536"},
		{"a bomb", strings.Repeat(" ", 30<<20), 413, "times its size"},
	} {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		io.WriteString(z, c.text)
		z.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, answer := post(h, b.Bytes())
		runtime.ReadMemStats(&after)
		if status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%s (%d bytes): %d %.300s", c.name, b.Len(), status, answer)
		}
		// A text that grows is copied several times.
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(12<<20+10*len(c.text)); got > limit {
			t.Errorf("%s: %d MiB were allocated, at most %d are allowed", c.name, got>>20, limit>>20)
		} else {
			t.Logf("%s: %.1f times its size", c.name, float64(got)/float64(len(c.text)))
		}
	}
}

// serve has a server listen on a free port. stop ends it, and waits until it has ended.
func serve(t *testing.T, h *Server) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	return l.Addr().String(), func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestEndlessBodies sends bodies that never end over a connection: the server answers, and reads no more.
func TestEndlessBodies(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	h := NewServer(s, testOptions)
	// What ends a body here is its size. A machine that has much to do may need long to send so much.
	h.deadlines.body = time.Hour
	address, stop := serve(t, h)
	random := make([]byte, 64<<10)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	for _, c := range []struct {
		name, method, path, encoding string
		content                      []byte
		want                         string
	}{
		{"zeros", "POST", "/v1/reports", "gzip", make([]byte, 64<<10), "has more than 1048576 bytes"},
		{"noise", "POST", "/v1/reports", "gzip", random, "has more than 1048576 bytes"},
		{"not compressed", "POST", "/v1/reports", "", random, "has more than 1048576 bytes"},
		{"lines", "POST", "/v1/reports", "", bytes.Repeat([]byte("\n"), 64<<10), "has more than 1048576 bytes"},
		{"no gzip", "POST", "/v1/reports", "gzip", []byte("\x1f\x8c"), "has more than 1048576 bytes"},
		{"recording", "PUT", "/v1/recordings/ab/1", "gzip", random, "has more than 4194304 bytes"},
	} {
		// The server closes the connection; the client may see that before the answer, but not each time.
		var answer *http.Response
		var body *io.PipeReader
		for try := 0; answer == nil && try < 20; try++ {
			var in *io.PipeWriter
			body, in = io.Pipe()
			go func() {
				w := io.Writer(in)
				if c.encoding == "gzip" && len(c.content) > 2 {
					w = gzip.NewWriter(in)
				}
				for {
					if _, err := w.Write(c.content); err != nil {
						return
					}
				}
			}()
			r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+c.path, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Encoding", c.encoding)
			if answer, err = http.DefaultTransport.RoundTrip(r); err != nil {
				t.Logf("%s: %v", c.name, err)
				body.Close()
			}
		}
		if answer == nil {
			t.Errorf("%s: not answered", c.name)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		body.Close()
		if answer.StatusCode/100 != 4 || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %s", c.name, answer.StatusCode, text)
		}
	}
	stop()
	if left := h.bodies.left.Load(); left != bodyBudget {
		t.Errorf("%d bytes of the budget were not put back", bodyBudget-left)
	}
}

// TestSlowBodies sends bodies that stop before their end: the server does not wait for them, and says so.
func TestSlowBodies(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	h := NewServer(s, testOptions)
	h.deadlines.body = 100 * time.Millisecond
	address, stop := serve(t, h)
	body := packed(line("aa-s1-0", "com.a", "ab"))
	for _, request := range []string{"POST /v1/reports", "PUT /v1/recordings/ab/1"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		// It ends a test whose server waits.
		_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
		fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: collector\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", request,
			len(body), body[:len(body)/2])
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") ||
			!strings.Contains(string(answer), "did not arrive in time") {
			t.Errorf("%s: %q %v", request, answer, err)
		}
		c.Close()
	}
	stop()
}
