package collect

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// virtual is a server in a bubble of synctest, whose time passes when all goroutines wait. Its connections are in
// memory and have no buffer: what is written waits until the other end reads it.
type virtual struct {
	*testing.T
	*Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	cancel context.CancelFunc
	ended  chan error
}

// inVirtualTime runs a test with a server, which prepare may change before it serves.
func inVirtualTime(t *testing.T, o ServerOptions, prepare func(s *Server), test func(v *virtual)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := NewServer(openStore(t, t.TempDir(), Options{Now: newClock().read}), o)
		v := &virtual{T: t, Server: server, conns: make(chan net.Conn),
			closed: make(chan struct{}), cancel: cancel, ended: make(chan error, 1)}
		prepare(v.Server)
		go func() { v.ended <- v.Serve(ctx, v) }()
		test(v)
		v.stop()
		time.Sleep(time.Minute) // clients that sleep see that they are alone
	})
}

// stop stops the server as SIGTERM does, and returns how long that took.
func (v *virtual) stop() time.Duration {
	began := time.Now()
	v.cancel()
	if err := <-v.ended; err != nil {
		v.Error(err)
	}
	v.ended <- nil // for the next call
	return time.Since(began)
}

// Accept is for [net.Listener].
func (v *virtual) Accept() (net.Conn, error) {
	select {
	case c := <-v.conns:
		return c, nil
	case <-v.closed:
		return nil, net.ErrClosed
	}
}

// Close is for [net.Listener].
func (v *virtual) Close() error {
	v.once.Do(func() { close(v.closed) })
	return nil
}

// Addr is for [net.Listener].
func (v *virtual) Addr() net.Addr { return &net.TCPAddr{} }

// virtualEnd is the server's end of a connection.
type virtualEnd struct {
	net.Conn
	from  string
	ended chan time.Time // has room for one
}

// RemoteAddr returns the address of the client.
func (e *virtualEnd) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(e.from), 7))
}

// Close notes when it is called first.
func (e *virtualEnd) Close() error {
	select {
	case e.ended <- time.Now():
	default:
	}
	return e.Conn.Close()
}

// dial connects from an address. ended gets the time when the server closes the connection.
func (v *virtual) dial(from string) (client net.Conn, ended chan time.Time) {
	client, server := net.Pipe()
	end := &virtualEnd{server, from, make(chan time.Time, 1)}
	v.conns <- end
	v.Cleanup(func() { client.Close() })
	return client, end.ended
}

// send sends a request from an address, and returns the answer.
func (v *virtual) send(from, request string, body []byte, headers ...string) (*http.Response, error) {
	client, _ := v.dial(from)
	defer client.Close()
	return v.exchange(client, request, body, headers...)
}

func (v *virtual) exchange(client net.Conn, request string, body []byte, headers ...string) (*http.Response, error) {
	go fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: c\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n%s\r\n%s", request,
		len(body), strings.Join(headers, ""), body)
	answer, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err == nil {
		answer.Body.Close()
	}
	return answer, err
}

const device = "198.51.100.7"

// slowly writes a text byte by byte, one in each pause.
func slowly(w io.Writer, text string, pause time.Duration) {
	for k := range text {
		if _, err := io.WriteString(w, text[k:k+1]); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// TestDeadlines has clients that are slow in each part of a request, and sees how long the server keeps their
// connections: as long as its deadlines say, to the second.
//
// Invariant: A connection has a deadline for everything that it does until the next answer was read.
func TestDeadlines(t *testing.T) {
	report := packed(line("aa-s1-0", "com.a", "ab"))
	post := fmt.Sprintf("POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n",
		len(report))
	recording := "PUT /v1/recordings/ab/1 HTTP/1.1\r\nHost: c\r\nContent-Length: 1000000\r\n\r\n"
	for _, test := range []struct {
		name   string
		client func(c net.Conn)
		want   time.Duration
		answer string // that the client sees, if it reads
	}{
		{"nothing", func(net.Conn) {}, usual.header, ""},
		{"half a header", func(c net.Conn) { io.WriteString(c, post[:30]) }, usual.header, ""},
		{"a header byte by byte", func(c net.Conn) { slowly(c, post, time.Second) }, usual.header, ""},
		{"half a body", func(c net.Conn) { io.WriteString(c, post+"half") }, usual.body, "408"},
		{"a body byte by byte", func(c net.Conn) {
			io.WriteString(c, post)
			slowly(c, string(report), time.Second)
		}, usual.body, "408"},
		{"a recording byte by byte", func(c net.Conn) {
			io.WriteString(c, recording)
			slowly(c, strings.Repeat("x", 100), time.Second)
		}, usual.body, "408"},
		{"a recording that pauses", func(c net.Conn) {
			io.WriteString(c, recording)
			io.WriteString(c, strings.Repeat("x", 500_000))
		}, usual.body, "408"},
		{"an answer that is not read", func(c net.Conn) { io.WriteString(c, post+string(report)) },
			usual.body + usual.answer, "-"},
		{"answers that are not read", func(c net.Conn) {
			io.WriteString(c, strings.Repeat("GET /healthz HTTP/1.1\r\nHost: c\r\n\r\n", 9))
		}, usual.body + usual.answer, "-"},
		{"refusals that are not read", func(c net.Conn) {
			io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: c\r\nContent-Length: 9\r\n\r\n", 9))
		}, usual.body + usual.answer, "-"},
		{"an answer that is read byte by byte", func(c net.Conn) {
			go io.WriteString(c, post+string(report))
			for one := make([]byte, 1); ; time.Sleep(time.Second) {
				if _, err := c.Read(one); err != nil {
					return
				}
			}
		}, usual.body + usual.answer, "-"},
		{"no further request", func(c net.Conn) { io.WriteString(c, post+string(report)) }, 2 * usual.idle, "200"},
		{"half a further request", func(c net.Conn) { io.WriteString(c, post+string(report)+post[:9]) }, 2 * usual.idle,
			"200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			longer := func(s *Server) { s.deadlines.idle = 2 * usual.idle } // than a request
			inVirtualTime(t, testOptions, longer, func(v *virtual) {
				began := time.Now()
				client, ended := v.dial(device)
				go test.client(client)
				answer := make(chan string, 1)
				if test.answer == "-" {
					answer <- "-"
				} else {
					go func() {
						text, _ := io.ReadAll(client)
						_, status, _ := strings.Cut(string(text[:min(12, len(text))]), " ")
						answer <- status
					}()
				}
				// After an error, the server waits a moment, so that the client sees the answer.
				if got := (<-ended).Sub(began); got < test.want || got > test.want+restTime+time.Second {
					t.Errorf("closed after %s, want %s", got, test.want)
				}
				if got := <-answer; got != test.answer {
					t.Errorf("the client sees %q, want %q", got, test.answer)
				}
			})
		})
	}
}

// TestHandshakesEnd has clients of TLS that say nothing, or half a handshake, and some that do not read when the server
// stops. HTTP/2 is not offered.
func TestHandshakesEnd(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(100, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secure := func(s *Server) {
		s.SetCertificate(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
	}
	inVirtualTime(t, testOptions, secure, func(v *virtual) {
		began := time.Now()
		for name, sent := range map[string]string{"nothing": "", "half a hello": "\x16\x03\x01\x02\x00\x01\x00\x01"} {
			client, ended := v.dial(device)
			go io.WriteString(client, sent)
			if got := (<-ended).Sub(began).Truncate(time.Second); got != usual.header {
				t.Errorf("%s: closed after %s", name, got)
			}
			began = time.Now()
		}
		client, _ := v.dial(device)
		secured := tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if answer, err := v.exchange(secured, "GET /healthz", nil); err != nil || answer.StatusCode != 200 {
			t.Error(answer, err)
		}
		if p := secured.ConnectionState().NegotiatedProtocol; p == "h2" {
			t.Error("HTTP/2 is spoken")
		}
		for range 9 {
			client, _ := v.dial(device)
			// TLS 1.3 would have the client read tickets.
			secured := tls.Client(client, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
			fmt.Fprint(secured, "POST /v1/reports HTTP/1.1\r\nHost: c\r\nContent-Length: 1000\r\n\r\nx")
		}
		time.Sleep(time.Second)
		if took := v.stop(); took > shutdownTime {
			t.Errorf("stopping took %s", took)
		}
	})
}

// TestNoHTTP2 speaks HTTP/2, which would be many requests on a connection, without being asked.
func TestNoHTTP2(t *testing.T) {
	inVirtualTime(t, testOptions, withToken, func(v *virtual) {
		client, _ := v.dial(device)
		go io.WriteString(client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
			strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9))
		if text, _ := io.ReadAll(client); !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
			t.Errorf("it is answered with %q", text)
		}
	})
}
