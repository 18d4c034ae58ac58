package collect

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const testToken = "0123456789abcdef"

// bearer is the header of a request with a token.
func bearer(token string) string { return "Authorization: Bearer " + token + "\r\n" }

func withToken(s *Server) { s.SetTokens([]string{testToken}) }

// want sends a request with a token, and wants an answer. It returns how many seconds the answer says to wait.
func (v *virtual) want(what, from, request string, body []byte, status int, headers ...string) (retry int) {
	v.Helper()
	answer, err := v.send(from, request, body, append(headers, bearer(testToken))...)
	if err != nil {
		v.Fatalf("%s: %v", what, err)
	}
	retry, err = strconv.Atoi(answer.Header.Get("Retry-After"))
	if answer.StatusCode != status || status == http.StatusTooManyRequests && (err != nil || retry < 1) {
		v.Errorf("%s: %d, Retry-After %q; want %d", what, answer.StatusCode, answer.Header.Get("Retry-After"), status)
	}
	return retry
}

// manyReports returns a body of n reports.
func manyReports(n int) []byte {
	var b strings.Builder
	for range n {
		b.WriteString(line(fmt.Sprintf("aa-s%d-0", rand.Uint32()), "com.a", "ab") + "\n")
	}
	return packed(b.String())
}

// TestCrowds has thousands of clients beside a device: its report is stored at once, while no time passes for them.
func TestCrowds(t *testing.T) {
	o := testOptions
	o.AddressRate = 200
	crowds := map[string]func(k int) (from, sent string){
		"idle": func(int) (string, string) { return "203.0.113.1", "" },
		"without a token": func(int) (string, string) {
			return "203.0.113.1", "POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n\r\nx"
		},
		"with a token, of one address": func(int) (string, string) {
			return "203.0.113.1", "POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n" + bearer(testToken) +
				"\r\nx"
		},
		"with a token, of many addresses": func(k int) (string, string) {
			return fmt.Sprintf("203.0.%d.%d", k/250, k%250),
				"POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n" + bearer(testToken) + "\r\nx"
		},
		"with large bodies": func(k int) (string, string) {
			return fmt.Sprintf("203.0.%d.%d", k/250, k%250), "POST /v1/reports HTTP/1.1\r\nHost: c\r\n" +
				"Content-Length: 1000000\r\n" + bearer(testToken) + "\r\n" + strings.Repeat("x", 900_000)
		},
		"with recordings": func(k int) (string, string) {
			return fmt.Sprintf("203.0.%d.%d", k/250, k%250), "PUT /v1/recordings/ab/1 HTTP/1.1\r\nHost: c\r\n" +
				"Content-Length: 1000000\r\n" + bearer(testToken) + "\r\nx"
		},
	}
	for what, crowd := range crowds {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, o, withToken, func(v *virtual) {
				n := 4096
				if what == "with large bodies" {
					n = 200
				}
				for k := range n {
					from, sent := crowd(k)
					client, _ := v.dial(from)
					go func() {
						io.WriteString(client, sent)
						_, _ = io.Copy(io.Discard, client)
					}()
				}
				began := time.Now()
				v.want("a report", device, "POST /v1/reports", manyReports(64), 200)
				if took := time.Since(began); took != 0 {
					t.Errorf("the report took %s", took)
				}
				// A recording may have to come again.
				if what != "with recordings" {
					v.want("a recording", device, "PUT /v1/recordings/cd/1", packed("no recording"), 400)
				}
				if took := v.stop(); took > shutdownTime {
					t.Errorf("stopping took %s", took)
				}
			})
		})
	}
}

// TestSlotsOfAddress has one address send as many slow requests as it may, and more.
func TestSlotsOfAddress(t *testing.T) {
	o := testOptions
	o.AddressRate = 1000
	for request, most := range map[string]int{"POST /v1/reports": slotsOfAddress,
		"PUT /v1/recordings/ab/1": slotsOfAddress / uploadSlots} {
		inVirtualTime(t, o, withToken, func(v *virtual) {
			for range most {
				client, _ := v.dial("2001:db8::1")
				go func() {
					fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n%s\r\nx", request, bearer(testToken))
					_, _ = io.Copy(io.Discard, client)
				}()
			}
			time.Sleep(time.Second)
			v.want("one more of the network", "2001:db8::2:3", request, []byte("x"), 429)
			v.want("one of another network", "2001:db8:1::1", request, []byte("x"), 400)
			time.Sleep(time.Minute) // their time is over
			v.want("later", "2001:db8::1", request, []byte("x"), 400)
		})
	}
}

// TestRates sends reports at once until a limit is reached: the client learns when it may come again, and may then.
func TestRates(t *testing.T) {
	o := testOptions
	o.AddressRate, o.MaxBody = 2, 4<<20
	body := manyReports(Burst * o.AddressRate)
	inVirtualTime(t, o, withToken, func(v *virtual) {
		v.want("as many as it may", device, "POST /v1/reports", body, 200)
		v.want("one more", device, "POST /v1/reports", manyReports(1), 200)
		retry := v.want("too many", device, "POST /v1/reports", manyReports(1), 429)
		v.want("another address", "198.51.100.8", "POST /v1/reports", manyReports(1), 200)
		v.want("this machine", "127.0.0.1", "POST /v1/reports", body, 200)
		v.want("this machine again", "::1", "POST /v1/reports", body, 200)
		time.Sleep(time.Duration(retry) * time.Second)
		v.want("in time", device, "POST /v1/reports", manyReports(1), 200)
		v.want("the settings, which count as one", device, "GET /v1/config", nil, 404)
	})
	// What is refused counts too: a body by its inflated size.
	inVirtualTime(t, o, withToken, func(v *virtual) {
		v.want("a bomb", device, "POST /v1/reports", packed(strings.Repeat(" ", 12<<20)), 413)
		v.want("after the bomb", device, "POST /v1/reports", manyReports(1), 429)
		v.want("a wrong token", "198.51.100.8", "GET /healthz", nil, 200)
	})
	o.AddressRate, o.TokenRate = 0, 2
	inVirtualTime(t, o, func(s *Server) { s.SetTokens([]string{testToken, "another-token-00"}) }, func(v *virtual) {
		v.want("as many as it may", device, "POST /v1/reports", body, 200)
		v.want("one more", device, "POST /v1/reports", manyReports(1), 200)
		v.want("the same token", "198.51.100.8", "POST /v1/reports", manyReports(1), 429)
		if a, err := v.send(device, "POST /v1/reports", manyReports(1), bearer("another-token-00")); err != nil ||
			a.StatusCode != 200 {
			t.Error(a, err)
		}
	})
}

// TestGuesses has an address guess tokens: it is not answered whether its later guesses are right.
func TestGuesses(t *testing.T) {
	o := testOptions
	o.AddressRate = 10
	inVirtualTime(t, o, withToken, func(v *virtual) {
		guess := func() int {
			a, err := v.send("203.0.113.1", "POST /v1/reports", nil, bearer(fmt.Sprint("guess-", rand.Uint64())))
			if err != nil {
				t.Fatal(err)
			}
			return a.StatusCode
		}
		n := 0
		for guess() == 401 {
			n++
		}
		if most := Burst*o.AddressRate/guessCost + 1; n > most {
			t.Errorf("%d guesses, want %d at most", n, most)
		}
		v.want("the right one", "203.0.113.1", "POST /v1/reports", manyReports(1), 429)
		v.want("a device", device, "POST /v1/reports", manyReports(1), 200)
	})
}

// TestProxies sends requests through proxies, and with a header that says so.
func TestProxies(t *testing.T) {
	o := testOptions
	for _, text := range []string{"127.0.0.1", "10.0.0.0/8", "fd00::/16"} {
		p, err := ParseProxy(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Proxies = append(o.Proxies, p)
	}
	s := NewServer(openStore(t, t.TempDir(), Options{}), o)
	for _, test := range []struct{ peer, header, want string }{
		{"127.0.0.1:1", "", ""},
		{"127.0.0.1:1", "198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:1", "203.0.113.9, 198.51.100.7", "198.51.100.7"},
		{"[fd00::1]:1", "203.0.113.9, 198.51.100.7,10.9.9.9", "198.51.100.7"},
		{"10.1.2.3:1", "198.51.100.7, nonsense", "10.1.2.3"},
		{"10.1.2.3:1", "10.1.1.1", "10.1.1.1"},
		{"10.1.2.3:1", "::ffff:198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:1", "2001:db8::1:2", "2001:db8::/64"},
		{"[2001:db8::1%eth0]:1", "", "2001:db8::/64"},
		{"198.51.100.7:1", "203.0.113.9", "198.51.100.7"},
		{"[::1]:1", "203.0.113.9", ""},
	} {
		warned := s.Journal.total
		r := &http.Request{RemoteAddr: test.peer, Header: http.Header{}}
		if test.header != "" {
			r.Header.Set("X-Forwarded-For", test.header)
		}
		if got := s.client(r); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
		unknown := test.peer == "198.51.100.7:1" || test.peer == "[::1]:1"
		if s.Journal.total > warned != unknown {
			t.Errorf("%+v: no proxy is known there, %v, and a warning, %v", test, unknown, s.Journal.total > warned)
		}
	}
	for _, bad := range []string{"", "example.com", "10.0.0.0/33", "10.0.0.1:80"} {
		if _, err := ParseProxy(bad); err == nil {
			t.Errorf("%q is a proxy", bad)
		}
	}
}

// TestMeters uses a meter with more addresses than it has places: its size is as before, one that has used little is
// not refused because of the others, and one that has used too much is not forgotten.
func TestMeters(t *testing.T) {
	var now time.Duration
	m := newMeter(1, func() time.Duration { return now })
	m.use("greedy", 10*Burst)
	const addresses = 20_000
	for k := range addresses {
		m.use(fmt.Sprint("greedy ", k), 10*Burst)
	}
	if m.use("greedy", 0) == 0 {
		t.Error("forgotten")
	}
	refused := 0
	for k := range addresses {
		if m.use(fmt.Sprint("modest ", k), 0) > 0 {
			refused++
		}
	}
	if refused > addresses/20 { // 2 % are expected
		t.Errorf("%d of %d are refused for others", refused, addresses)
	}
	alone := newMeter(1, func() time.Duration { return now })
	alone.use("greedy", 10*Burst)
	if wait := alone.use("greedy", 0); wait != 9*Burst*time.Second {
		t.Errorf("refused for %s", wait)
	}
	if now += 9 * Burst * time.Second; alone.use("greedy", 1) > 0 || alone.use("greedy", 0) == 0 {
		t.Error("refused, or not")
	}
}

// TestHugeHeaders sends headers that are too large or too many.
func TestHugeHeaders(t *testing.T) {
	inVirtualTime(t, testOptions, withToken, func(v *virtual) {
		for what, header := range map[string]string{
			"long":       "X: " + strings.Repeat("x", 64<<10) + "\r\n",
			"many":       strings.Repeat("X: x\r\n", 16<<10),
			"long token": bearer(strings.Repeat("x", 64<<10)),
		} {
			if a, err := v.send(device, "POST /v1/reports", nil, header); err != nil || a.StatusCode != 431 {
				t.Errorf("%s: %v %v", what, a, err)
			}
		}
	})
}

// sharedBuffer is a buffer for several goroutines.
type sharedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write appends to the buffer.
func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.Write(p)
}

// String returns what was written.
func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.String()
}

// TestLogAndMetrics has clients do what they can to fill the log and the metrics: a message is logged once in a minute,
// and then how often it came again; the number of series stays as it was; and neither has a token or a user.
//
// Invariant: The log and the metrics of the collector have no token, user or report, and no client can fill them.
func TestLogAndMetrics(t *testing.T) {
	log := new(sharedBuffer)
	o := testOptions
	o.Journal, o.Packages, o.AddressRate = NewJournal(slog.New(slog.NewTextHandler(log, nil))), []string{"com.a"}, 1
	inVirtualTime(t, o, withToken, func(v *virtual) {
		attack := func(network string) {
			v.want("a report", device, "POST /v1/reports", manyReports(1), 200)
			for k := range 20 {
				from := fmt.Sprint(network, k)
				v.want("another package", from, "POST /v1/reports", packed(line("aa-s1-0", fmt.Sprint("com.b", k), "ab")), 200)
				v.want("a bomb", from, "POST /v1/reports", packed(strings.Repeat(" ", 2<<20)), 413)
				v.want("too many", from, "POST /v1/reports", manyReports(1), 429)
				for _, request := range []string{"POST /v1/reports", fmt.Sprint("GET /", k), fmt.Sprint("M", k, " /v1/config"),
					fmt.Sprintf("GET /v1/config?package=com.c%d", k), "GET /v1/%2e%2e/%00"} {
					_, _ = v.send(fmt.Sprint(network, 100+k), request, nil, bearer(fmt.Sprint("guess-", rand.Uint64())))
				}
			}
		}
		scrape := func() string {
			l := &virtual{T: v.T, conns: make(chan net.Conn), closed: make(chan struct{})}
			ended := make(chan error, 1)
			go func() { ended <- v.ServeMetrics(v.T.Context(), l) }()
			defer func() {
				l.Close()
				<-ended
			}()
			client, _ := l.dial(device)
			go io.WriteString(client, "GET /metrics HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n")
			text, err := io.ReadAll(client)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		attack("203.0.113.")
		before, lines := scrape(), strings.Count(log.String(), "\n")
		attack("192.0.2.")
		after := scrape()
		if a, b := strings.Count(before, "\n"), strings.Count(after, "\n"); a != b {
			t.Errorf("%d lines of metrics, and later %d:\n%s", a, b, after)
		}
		if n := strings.Count(log.String(), "\n"); n != lines || n > 10 {
			t.Errorf("%d lines of log, and later %d", lines, n)
		}
		time.Sleep(2 * journalTime)
		synctest.Wait()
		for _, want := range []string{`tracegen_collect_reports_total{result="accepted"} 2`,
			`tracegen_collect_reports_total{result="refused"} 40`,
			`tracegen_collect_requests_total{path="reports",code="413"} 40`,
			`tracegen_collect_refusals_total{limit="no valid token"} 40`,
			`tracegen_collect_reports_seconds_bucket{le="+Inf"} 42`, "tracegen_collect_ready 1"} {
			if !strings.Contains(after, want+"\n") {
				t.Errorf("no %s in\n%s", want, after)
			}
		}
		if !strings.Contains(log.String(), `msg="reports were refused" again=39`) {
			t.Errorf("the log is\n%s", log)
		}
		for _, secret := range []string{testToken, "guess-", "ann", "com.b", "com.c", "aa-s1-0"} {
			if strings.Contains(log.String(), secret) || strings.Contains(after, secret) {
				t.Errorf("%q is in the log or the metrics:\n%s", secret, log)
			}
		}
	})
}

// TestBuilds sends what is of builds whose mapping is there, and of others.
func TestBuilds(t *testing.T) {
	h := NewServer(openStore(t, t.TempDir(), Options{}), testOptions)
	body := packed(line("aa-s1-0", "com.a", "ab") + "\n" + line("aa-s2-0", "com.a", "cd"))
	if _, answer := post(h, body); !strings.Contains(answer, `"accepted":2`) {
		t.Error(answer)
	}
	h.SetBuilds(map[string]bool{"cd": true})
	if _, answer := post(h, body); !strings.Contains(answer, `"duplicates":1,"refused":[{"id":"aa-s1-0"`) ||
		!strings.Contains(answer, "no mapping of this build") {
		t.Error(answer)
	}
	if status, answer := send(h, "PUT", "/v1/recordings/ab/1", nil, headerMapping, "ab"); status != 400 ||
		!strings.Contains(answer, "no mapping of this build") {
		t.Error(status, answer)
	}
	h.SetBuilds(map[string]bool{})
	if _, answer := post(h, body); !strings.Contains(answer, `"accepted":0,"duplicates":0`) {
		t.Error(answer)
	}
}
