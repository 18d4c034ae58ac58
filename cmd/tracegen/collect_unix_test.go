//go:build unix

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// reloaded is a collector in a process of its own, whose files the test changes.
type reloaded struct {
	*testing.T
	dir, address string
	cmd          *exec.Cmd
	messages     chan string
}

func startReloaded(t *testing.T) *reloaded {
	t.Helper()
	c := &reloaded{T: t, dir: t.TempDir(), messages: make(chan string, 100)}
	key := fixture.Read(t, "../../internal/fleet/collect/testdata/signing.pem")
	c.write("signing.pem", string(key))
	c.settings(1)
	c.cmd = exec.Command("tracegen", "collect", "--store", "collected", "--listen", "127.0.0.1:0",
		"--token-file", "tokens", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--config", "config",
		"--config-key", "signing.pem")
	c.cmd.Dir = c.dir
	out, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.messages <- lines.Text()
		}
		close(c.messages)
	}()
	_, address, _ := strings.Cut(c.message("listening on https://"), "listening on https://")
	c.address, _, _ = strings.Cut(address, ",")
	return c
}

func (c *reloaded) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	fixture.Directory(c, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// settings writes tokens, certificate and configuration with a number.
func (c *reloaded) settings(n int64) {
	c.Helper()
	c.write("tokens", fmt.Sprintf("token-number-%04d\n", n))
	c.write("config/a.properties", fmt.Sprintf("package = com.a\nserial = %d\nexpires = 4102444800000\n", n))
	if err := writeCertificate(filepath.Join(c.dir, "cert.pem"), filepath.Join(c.dir, "key.pem"), n); err != nil {
		c.Fatal(err)
	}
}

// message waits for a message with a text.
func (c *reloaded) message(with string) string {
	c.Helper()
	late := time.After(2 * time.Minute)
	for {
		select {
		case text, open := <-c.messages:
			if strings.Contains(text, with) {
				return text
			}
			if !open {
				c.Fatalf("the collector has ended before a message with %q", with)
			}
		case <-late:
			c.Fatalf("no message with %q", with)
		}
	}
}

// send sends a request over a connection of its own, and returns the status, the answer, and the number of the
// certificate.
func (c *reloaded) send(method, path, token string, body []byte) (status int, text string, certificate int64) {
	c.Helper()
	// The certificates are signed by their own keys.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := http.NewRequest(method, "https://"+c.address+path, bytes.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Encoding", "gzip")
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer.StatusCode, string(content), answer.TLS.PeerCertificates[0].SerialNumber.Int64()
}

// want wants the settings with a number, and neither those before nor those behind.
func (c *reloaded) want(what string, n int64) {
	c.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, `{"format":"tracegen-report","version":1,"id":"a-i1","kind":"x"}`)
	z.Close()
	for k := n - 1; k <= n+1; k++ {
		status, text, certificate := c.send("POST", "/v1/reports", fmt.Sprintf("token-number-%04d", k), b.Bytes())
		if (status == http.StatusOK) != (k == n) || certificate != n {
			c.Errorf("%s: token %d: %d %s; certificate %d, want %d", what, k, status, text, certificate, n)
		}
	}
	if _, text, _ := c.send("GET", "/v1/config?package=com.a", "", nil); !strings.Contains(text,
		fmt.Sprintf("\nserial = %d\n", n)) {
		c.Errorf("%s: configuration %q, want serial %d", what, text, n)
	}
}

// TestCollectReadsSettingsAgain changes the files of a collector that serves HTTPS, and sends SIGHUP.
//
// Invariant: SIGHUP makes the collector take over tokens, certificate and configuration, or none of them if one has an
// error.
func TestCollectReadsSettingsAgain(t *testing.T) {
	c := startReloaded(t)
	hangup := func(message string) {
		t.Helper()
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		c.message(message)
	}
	c.want("at the start", 1)
	// A connection that is open when the certificate is replaced goes on.
	kept, err := tls.Dial("tcp", c.address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	lines := bufio.NewReader(kept)
	again := func() {
		t.Helper()
		fmt.Fprint(kept, "GET /v1/config?package=com.a HTTP/1.1\r\nHost: c\r\n\r\n")
		answer, err := http.ReadResponse(lines, nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Fatal(err)
		}
	}
	again()
	c.settings(2)
	c.want("before the signal", 1)
	hangup("tokens, certificate and configuration were read again")
	again()
	c.want("after the signal", 2)
	for _, bad := range []struct{ file, text, want string }{
		{"tokens", "short\n", "token-file"},
		{"tokens", "", "token-file"},
		{"config/a.properties", "package = com.a\nserial = x\nexpires = 1\n", "serial"},
		{"config/b.properties", "package = com.a\nserial = 9\nexpires = 1\n", "com.a"},
		{"cert.pem", "no certificate", "cert.pem"},
		{"key.pem", "", "cert.pem"},
		{"signing.pem", "no key", "signing.pem"},
	} {
		signing := fixture.Read(t, filepath.Join(c.dir, "signing.pem"))
		c.settings(3)
		c.write(bad.file, bad.text)
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if text := c.message("stay as they were"); !strings.Contains(text, bad.want) {
			t.Errorf("%s: %s", bad.file, text)
		}
		c.want("bad "+bad.file, 2)
		c.write("signing.pem", string(signing))
		os.Remove(filepath.Join(c.dir, "config/b.properties"))
	}
	c.settings(3)
	hangup("were read again")
	c.want("all files are good again", 3)

	// What does not speak TLS, or an old version of it, gets nothing.
	answer, err := http.Post("http://"+c.address+"/v1/reports", "", strings.NewReader("{}"))
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("plain HTTP: %d", answer.StatusCode)
		}
	}
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", c.address, old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is accepted")
	}
	c.want("after bad clients", 3)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.message("stopped; all that was received is stored")
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
