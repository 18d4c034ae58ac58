package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// childStore is the variable that makes the test program a collector.
const childStore = "TRACEGEN_TEST_COLLECT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runChild is a collector that writes its address to standard output. Every batch becomes Parquet files at once, while
// files are merged and the user gone is forgotten, all the time. It ends when its standard input does.
func runChild(dir string) error {
	s, err := Open(dir, Options{Every: time.Nanosecond, NoMaintenance: true,
		Warn: func(err error) { fmt.Fprintln(os.Stderr, err) }})
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { _, err := s.lake.Compact(s.ctx, 2); return err },
		func() error { _, err := s.lake.Forget(s.ctx, []string{"gone"}, nil, false); return err },
	} {
		s.maintained.Go(func() {
			for s.ctx.Err() == nil {
				if err := do(); err != nil && s.ctx.Err() == nil {
					fmt.Fprintln(os.Stderr, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := NewServer(s, testOptions).Serve(ctx, l); err != nil {
		return err
	}
	return s.Close()
}

// child is a collector in a process of its own.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	url    string
	stderr *bytes.Buffer
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^$"), stderr: &bytes.Buffer{}}
	c.cmd.Env = append(os.Environ(), childStore+"="+dir)
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.cmd.Wait()
		t.Fatalf("the collector does not start: %v: %s", err, c.stderr)
	}
	c.url = "http://" + strings.TrimSpace(address)
	return c
}

// sender sends batches until each is answered with 200, in whatever process.
type sender struct {
	name    string
	user    string
	next    int
	pending []byte // the batch that is not answered
	size    int
	sent    int // reports that were answered with 200
}

// run sends batches until the collector does not answer, or until enough are answered; 0 for the pending one alone.
// After each answer, it calls answered.
func (s *sender) run(url string, enough int, answered func()) error {
	for done := 0; s.pending != nil || done < enough; done++ {
		if s.pending == nil {
			var lines []string
			for range 1 + s.next%5 {
				lines = append(lines, strings.ReplaceAll(line(fmt.Sprintf("%s-s%d-0", s.name, s.next), "com."+s.name, "ab"),
					`"ann"`, `"`+s.user+`"`))
				s.next++
			}
			s.pending, s.size = packed(strings.Join(lines, "\n")), len(lines)
		}
		r, err := http.NewRequest("POST", url+"/v1/reports", bytes.NewReader(s.pending))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Encoding", "gzip")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		var o outcome
		err = json.NewDecoder(answer.Body).Decode(&o)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %w", answer.StatusCode, err)
		}
		if o.Accepted+o.Duplicates != s.size {
			return fmt.Errorf("%+v of %d reports", o, s.size)
		}
		s.pending, s.sent = nil, s.sent+s.size
		answered()
	}
	return nil
}

// TestKills kills a collector at random moments while clients send reports and recordings, files are merged, and a user
// is forgotten; the clients send again what was not answered. TRACEGEN_SEED chooses other moments, TRACEGEN_KILLS
// another number.
//
// Invariant: A collector that is killed at any moment has each report and recording that it answered with 200, nothing
// of a user who was forgotten, and nothing damaged.
func TestKills(t *testing.T) {
	nightly.Only(t, "commands")
	kills, _ := strconv.Atoi(cmp.Or(os.Getenv("TRACEGEN_KILLS"), "50"))
	dir := t.TempDir()
	seed, _ := strconv.ParseUint(os.Getenv("TRACEGEN_SEED"), 10, 64)
	rnd := rand.New(rand.NewPCG(1+seed, 2))
	senders := []*sender{{name: "aa", user: "ann"}, {name: "bb", user: "bob"},
		{name: "cc", user: "gone"}}
	content := recordingBytes(t)
	recording := packed(string(content))
	var parts []int // answered with 200
	for k := range kills {
		c := startChild(t, dir)
		after := make(chan struct{}, 1<<16)
		var wg sync.WaitGroup
		for _, s := range senders {
			wg.Go(func() { _ = s.run(c.url, 1<<30, func() { after <- struct{}{} }) })
		}
		wg.Go(func() {
			r, err := http.NewRequest("PUT", fmt.Sprintf("%s/v1/recordings/ab/%d", c.url, k+1), bytes.NewReader(recording))
			if err != nil {
				return
			}
			r.Header.Set("Content-Encoding", "gzip")
			if answer, err := http.DefaultClient.Do(r); err == nil {
				if answer.Body.Close(); answer.StatusCode == http.StatusOK {
					parts = append(parts, k+1)
				}
			}
		})
		for range rnd.IntN(40) {
			select {
			case <-after:
			case <-time.After(2 * time.Minute):
				t.Fatalf("no answer: %s", c.stderr)
			}
		}
		// Somewhere between two answers.
		time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.cmd.Wait()
		wg.Wait()
		if c.stderr.Len() > 0 {
			t.Fatalf("kill %d: %s", k, c.stderr)
		}
		http.DefaultClient.CloseIdleConnections()
	}
	c := startChild(t, dir)
	var want []string
	for _, s := range senders {
		if err := s.run(c.url, 0, func() {}); err != nil {
			t.Fatal(err)
		}
		for n := range s.next {
			if s.user != "gone" {
				want = append(want, fmt.Sprintf("%s-s%d-0", s.name, n))
			}
		}
	}
	c.stdin.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.stderr)
	}
	s, err := Open(dir, Options{NoMaintenance: true})
	if err != nil {
		t.Fatal(err)
	}
	s.closeTime = time.Hour // the last process may not have written all
	if err := s.Close(); err != nil || s.Unfinished() {
		t.Fatal(err, s.Unfinished())
	}
	if _, err = s.lake.Forget(t.Context(), []string{"gone"}, nil, false); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	got := slices.Compact(storedIDs(t, dir))
	if !slices.Equal(got, want) {
		t.Errorf("%d reports are stored, want %d", len(got), len(want))
	}
	for _, n := range parts {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("recordings/none/none/ab.part%d.tgd", n)))
		if err != nil || !bytes.Equal(b, content) {
			t.Errorf("part %d: %v", n, err)
		}
	}
	for _, f := range filesBelow(t, dir) {
		if strings.Contains(f, objects.Temporary) {
			t.Errorf("%s is left", f)
		}
	}
	t.Logf("%d kills with the seed %d, %d reports, %d recordings", kills, seed, len(got), len(parts))
}
