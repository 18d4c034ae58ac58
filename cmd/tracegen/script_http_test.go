package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tracegen/tracegen/internal/oracle"
)

// scriptPort sets a variable to the address of a port that was free a moment ago.
func scriptPort(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 1, "port VARIABLE")
	address, err := oracle.FreeAddress()
	ts.Check(err)
	ts.Setenv(args[0], address)
}

// scriptCertificate makes a certificate that its own key has signed.
func scriptCertificate(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 2, "certificate CERT KEY")
	ts.Check(writeCertificate(ts.MkAbs(args[0]), ts.MkAbs(args[1]), 1))
}

// writeCertificate makes a certificate with a serial number for the address of this machine.
func writeCertificate(certFile, keyFile string, serial int64) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}

// requestLimit is far beyond what an answer needs; it ends a script whose server has not started.
const requestLimit = 5 * time.Minute

// scriptRequest sends a request, with a file as its compressed body, and prints the status and the answer. It waits for
// a server that has just been started.
func scriptRequest(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 3, "request METHOD URL TOKEN [FILE]")
	var body bytes.Buffer
	if len(args) > 3 {
		w := gzip.NewWriter(&body)
		io.WriteString(w, ts.ReadFile(args[3]))
		ts.Check(w.Close())
	}
	// The certificate of a script is signed by its own key.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, args[0], args[1], bytes.NewReader(body.Bytes()))
		ts.Check(err)
		if body.Len() > 0 {
			r.Header.Set("Content-Encoding", "gzip")
		}
		if args[2] != "" {
			r.Header.Set("Authorization", "Bearer "+args[2])
		}
		answer, err := client.Do(r)
		if err != nil && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		ts.Check(err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%d\n%s\n", answer.StatusCode, text)
		return
	}
}
