package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/mapping"
)

// collector is the command collect, in this process.
type collector struct {
	url    string
	cancel context.CancelFunc
	code   chan int
	rest   chan string // what it has printed after the address
}

func startCollect(t *testing.T, args ...string) *collector {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	c := &collector{cancel: cancel, code: make(chan int, 1), rest: make(chan string, 1)}
	go func() {
		c.code <- runTool(ctx, append([]string{"collect", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""),
			io.Discard,
			in)
		in.Close()
	}()
	t.Cleanup(cancel)
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	_, address, found := strings.Cut(first, "listening on ")
	if err != nil || !found {
		t.Fatalf("%q %v", first, err)
	}
	c.url, _, _ = strings.Cut(address, ",")
	go func() {
		rest, _ := io.ReadAll(lines)
		c.rest <- string(rest)
	}()
	return c
}

// stop stops it as a signal does.
func (c *collector) stop(t *testing.T) {
	t.Helper()
	c.cancel()
	select {
	case code := <-c.code:
		if rest := <-c.rest; code != cli.ExitDone || rest != "tracegen: stopped; all that was received is stored\n" {
			t.Fatalf("exit code %d: %s", code, rest)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not stop")
	}
}

func (c *collector) send(t *testing.T, method, path string, body []byte, headers ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body)
	z.Close()
	r, err := http.NewRequest(method, c.url+path, &b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Encoding", "gzip")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", answer.StatusCode, text, err)
	}
	return strings.TrimSpace(string(text))
}

// collectedMapping has the methods that the reports below name.
const collectedMapping = `17,1,com.example.Main onCreate (Landroid.os.Bundle;)V
%d,1,com.example.feed.Feed load (I)V
%d,1,com.example.feed.Row bind ()V
1048574,1,android.os.Handler dispatchMessage (Landroid.os.Message;)V
`

// writeMappings writes the mappings of two builds, in which methods have different IDs.
func writeMappings(t *testing.T, dir string) (digests [2]string, load [2]int) {
	t.Helper()
	load = [2]int{97, 30}
	for i := range digests {
		methods := fmt.Sprintf(collectedMapping, load[i], load[i]+2)
		m, err := mapping.Parse("", methods) // without a header, the digest is computed
		if err != nil {
			t.Fatal(err)
		}
		digests[i] = m.Digest()
		text := "# tracegen-mapping 1\n# digest " + m.Digest() + "\n# runtime dev.tracegen.runtime.AppMethodBeat\n" + methods
		if err := os.WriteFile(filepath.Join(dir, digests[i]+".txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return digests, load
}

// reportKinds are the kinds of [randomReports]. There is no trouble in the last ones, unless a start is slow.
var reportKinds = []string{"message", "message", "message", "idle-handler", "input", "sync-barrier", "hold", "anr",
	"missed-poll", "startup", "scene-frames", "sigquit"}

// randomReports makes reports of two builds: stalls of all kinds and incidents, some without a user, version or calls.
// The reports of one recording are within 20 s, so that stalls cover some incidents.
func randomReports(rnd *rand.Rand, n int, digests [2]string, load [2]int) []byte {
	var b bytes.Buffer
	for k := range n {
		build := rnd.IntN(2)
		code := 9 + 10*build + rnd.IntN(3)
		basic := map[string]any{"package": "com.example", "mapping": digests[build], "what": "Handler (a.b) null: 1"}
		if rnd.IntN(10) > 0 {
			basic["versionName"], basic["versionCode"] = fmt.Sprint("1.", code), strconv.Itoa(code)
		}
		if rnd.IntN(4) > 0 {
			basic["user"] = fmt.Sprint("user", rnd.IntN(30))
		}
		if rnd.IntN(10) > 0 {
			basic["device"] = []string{"Pixel 7", "SM-A515F", "Größe 'M' \"字\" 🙂"}[rnd.IntN(3)]
		}
		if rnd.IntN(5) > 0 {
			basic["scene"], basic["sdk"] = []string{"Feed", "Café ☕"}[rnd.IntN(2)], 23+rnd.IntN(3)
		}
		if thread := rnd.IntN(8); thread > 0 {
			basic["thread"] = []string{"main", "worker"}[thread/7]
		}
		kind := reportKinds[rnd.IntN(len(reportKinds))]
		path := []int{1048574, 17, load[build] + 2*rnd.IntN(2)}[:1+rnd.IntN(3)]
		stack := map[string]any{"hotPath": path}
		if !devicereport.IsStall(kind) || rnd.IntN(8) == 0 {
			frames := []string{"android.os.MessageQueue.nativePollOnce(Native Method)",
				fmt.Sprint("com.example.Screen", rnd.IntN(2), ".show(Screen.java:7)")}
			stack = map[string]any{"samples": []any{map[string]any{"thread": "main", "state": "WAITING", "count": 2,
				"frames": frames}}}
		}
		recording := rnd.IntN(n/6 + 1)
		duration := float64(rnd.IntN(5e6)) / 1000
		timing := map[string]any{"wallMillis": 1_700_000_000_000 + int64(recording)*1e6 + rnd.Int64N(20_000),
			"durationMillis": duration}
		switch rnd.IntN(100) {
		case 0:
			delete(timing, "wallMillis")
		case 1:
			timing["wallMillis"] = int64(253_402_300_799_999)
		case 2:
			delete(timing, "durationMillis")
		case 3, 4, 5, 6, 7, 8, 9:
			timing["suspendedMillis"] = duration // a debugger was attached all the time
		case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30:
			timing["suspendedMillis"] = 100
		}
		text, err := json.Marshal(map[string]any{"format": "tracegen-report", "version": 1, "kind": kind,
			"detector": "looper", "id": fmt.Sprintf("%016x-s%d%04d-1", recording, rnd.IntN(1e6), k), "basic": basic,
			"timing": timing, "stack": stack, "facts": randomFacts(rnd),
			"detectors": map[string]string{"anr": "on", "sigquit": []string{"off", "not available: 字"}[rnd.IntN(2)]}})
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes()
}

// randomFacts makes the facts of an incident. Some ANRs are not confirmed.
func randomFacts(rnd *rand.Rand) map[string]string {
	facts := map[string]string{"slow": []string{"true", "false"}[rnd.IntN(2)]}
	if rnd.IntN(2) == 0 {
		facts["limit-of"], facts["confirmed-by"] = []string{"input", "service"}[rnd.IntN(2)], "waiting-message"
	}
	return facts
}

// readGroups returns what group reports of the directories of a collector.
func readGroups(t *testing.T, args ...string) group.Fleet {
	t.Helper()
	var out, errs bytes.Buffer
	if code := runTool(t.Context(), append([]string{"group", "--format", "json", "--top", "0"}, args...),
		strings.NewReader(""), &out, &errs); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var f group.Fleet
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	return f
}
