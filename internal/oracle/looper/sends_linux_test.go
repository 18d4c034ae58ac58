package looper

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestSends runs the proofs about reports on the oldest version, the newest one where every thread's files can be
// observed, and the newest one.
//
// Invariant: Reports of an app are sent in good moments only, and its main thread touches no file for that.
//
// Invariant: Only settings that the team has signed change the runtime, and they can switch it off at once.
func TestSends(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range []platform{platforms[0], platforms[2], platforms[3]} {
		t.Run(p.name, func(t *testing.T) { b.prove(t, p, stock, "SendProofs") })
	}
}

// A receiver is a collector that answers badly in a random order. What it answers badly it may have stored before.
type receiver struct {
	*httptest.Server
	schema *jsonschema.Schema

	mu      sync.Mutex
	random  *rand.Rand
	healthy bool
	taken   map[string]string
	answers map[string]int
	faults  []string
}

func newReceiver(t *testing.T, seed uint64) *receiver {
	t.Helper()
	r := &receiver{schema: reportSchema(t), random: rand.New(rand.NewPCG(seed, 16)), taken: map[string]string{},
		answers: map[string]int{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// ServeHTTP stores the reports of a request and answers well or badly.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	lines, err := readLines(req.Body)
	if err != nil {
		return // the process was killed while it sent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := "200"
	if !r.healthy {
		answer = []string{"200", "200", "200", "429", "500", "half", "nothing"}[r.random.IntN(7)]
	}
	r.answers[answer]++
	switch stores := r.random.IntN(2) == 0; {
	case answer == "429":
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case answer == "500" && !stores:
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	accepted, duplicates := 0, 0
	for _, line := range lines {
		id, err := checkReport(r.schema, line)
		if err != nil {
			r.faults = append(r.faults, err.Error())
		}
		before, twice := r.taken[id]
		switch {
		case !twice:
			accepted++
			r.taken[id] = string(line)
		case before != string(line):
			r.faults = append(r.faults, "the report "+id+" came with another content")
		default:
			duplicates++
			r.answers["reports that came again"]++
		}
	}
	text := fmt.Sprintf(`{"accepted":%d,"duplicates":%d,"refused":[]}`, accepted, duplicates)
	switch answer {
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "half":
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		io.WriteString(w, text[:len(text)/2])
	case "nothing":
		panic(http.ErrAbortHandler)
	default:
		io.WriteString(w, text)
	}
}

func readLines(body io.Reader) ([][]byte, error) {
	z, err := gzip.NewReader(body)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), nil
}

// checkReport returns the ID of a report, and what is wrong with it.
func checkReport(schema *jsonschema.Schema, line []byte) (string, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return "", fmt.Errorf("no JSON: %w: %.200s", err, line)
	}
	var head struct{ ID string }
	if err := json.Unmarshal(line, &head); err != nil {
		return "", fmt.Errorf("%w: %.200s", err, line)
	}
	return head.ID, schema.Validate(doc)
}

// A sendRun starts SendKills. All runs share an outbox, so that each finds what those before have left.
type sendRun struct {
	java []string
	dir  string
}

// start runs the process until it is killed after a random time of at most most, or until it ends by itself if that is
// 0. It returns the IDs of the reports that were on the disk.
func (s sendRun) start(t *testing.T, address string, seed uint64, most time.Duration) []string {
	t.Helper()
	args := append(s.java[1:len(s.java):len(s.java)], "SendKills", s.dir, address, strconv.FormatUint(seed, 10))
	drain := most == 0
	if drain {
		args = append(args, "1", "drain")
	} else {
		args = append(args, "0")
	}
	moment := func(ended <-chan struct{}) { <-ended }
	if !drain {
		moment = oracle.After(time.Duration(rand.New(rand.NewPCG(seed, 17)).Int64N(int64(most))))
	}
	k, err := oracle.Victim{Command: exec.CommandContext(t.Context(), s.java[0], args...), Moment: moment,
		Ready: func(line string) bool { return strings.HasPrefix(line, "begins") }}.Kill()
	if err != nil || drain && (k.Exit != nil || !slices.Contains(k.Lines, "drained")) {
		t.Errorf("run %d: %v, %v\n%s", seed, err, k.Exit, k.Errors)
	}
	var written []string
	for _, line := range k.Lines {
		if id, ok := strings.CutPrefix(line, "written "); ok {
			written = append(written, id)
		}
	}
	return written
}

// reportsIn returns the reports in an outbox by ID. Each file that has the name of a report must be whole.
func reportsIn(t *testing.T, schema *jsonschema.Schema, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".report") {
			continue
		}
		text := fixture.Read(t, filepath.Join(dir, e.Name()))
		sum, line, _ := bytes.Cut(bytes.TrimSuffix(text, []byte("\n")), []byte(" "))
		if string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(line)) {
			t.Errorf("%s is damaged: %.100q", e.Name(), text)
			continue
		}
		id, err := checkReport(schema, line)
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		if _, twice := all[id]; twice {
			t.Errorf("%s: the report %s is there twice", e.Name(), id)
		}
		all[id] = string(line)
	}
	return all
}

// TestCorpusSendKills kills processes while they report, and while they report and send to a collector that answers
// 200, 429, 500, half an answer and nothing.
//
// Invariant: However often an app is killed while it reports or sends, no report that was written is lost, none is
// damaged, and the collector takes none twice.
func TestCorpusSendKills(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	j := oracle.NeedJDK(t, 17)
	// Not on Android's classes, which take seconds to start: nothing of them is used here.
	java := []string{j.Tool("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m", "-Xshare:auto", "-cp",
		b.path}
	reporting, uploading := 20, 10
	if os.Getenv("TRACEGEN_CORPUS") == "full" {
		reporting, uploading = 1000, 100
	}
	t.Run("reporting", func(t *testing.T) { reportingKills(t, java, reporting) })
	t.Run("uploading", func(t *testing.T) { uploadingKills(t, java, uploading) })
}

// perOutbox is how many processes use an outbox one after the other.
const perOutbox = 20

// moreKills is how many processes are killed beyond those that are asked for, if none of these did anything in its
// time: how soon one does depends on the machine.
const moreKills = 8

// longestLife returns how long a process lives at most: a moment, and each time twice as long beyond kills.
func longestLife(k, kills int) time.Duration { return 400 * time.Millisecond << max(0, k-kills+1) }

func reportingKills(t *testing.T, java []string, kills int) {
	schema := reportSchema(t)
	var lost, written, found, torn int
	for k := 0; k < kills || written == 0 && k < kills+moreKills; {
		run := sendRun{java, filepath.Join(t.TempDir(), "outbox")}
		var ids []string
		for n := 0; n < perOutbox && (k < kills || n == 0); n++ {
			ids = append(ids, run.start(t, "none", uint64(k), longestLife(k, kills))...)
			k++
		}
		if _, err := os.Stat(run.dir); err != nil && len(ids) == 0 {
			continue // every process was killed before its first report
		}
		reports := reportsIn(t, schema, run.dir)
		for _, id := range ids {
			if _, ok := reports[id]; !ok {
				lost++
				t.Errorf("the report %s was written and is lost", id)
			}
		}
		left, err := filepath.Glob(filepath.Join(run.dir, "*.tmp"))
		if err != nil {
			t.Fatal(err)
		}
		written, found, torn = written+len(ids), found+len(reports), torn+len(left)
		if t.Failed() {
			return
		}
	}
	t.Logf("measured: %d kills: %d reports were written by the processes' own account, %d whole files, %d temporary "+
		"files, %d reports lost, 0 damaged", kills, written, found, torn, lost)
	if written == 0 {
		t.Error("no process has written a report")
	}
}

func uploadingKills(t *testing.T, java []string, kills int) {
	run := sendRun{java, filepath.Join(t.TempDir(), "outbox")}
	r := newReceiver(t, 0)
	var ids []string
	arrived := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.taken) > 0
	}
	for k := 0; k < kills || !arrived() && k < kills+moreKills; k++ {
		ids = append(ids, run.start(t, r.URL, uint64(k), longestLife(k, kills))...)
	}
	before := arrived()
	r.mu.Lock()
	r.healthy = true
	r.mu.Unlock()
	waiting := reportsIn(t, r.schema, run.dir)
	ids = append(ids, run.start(t, r.URL, uint64(kills+moreKills), 0)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	lost := 0
	for _, id := range ids {
		if r.taken[id] == "" {
			lost++
			t.Errorf("the report %s was written and has not arrived", id)
		}
	}
	for id, line := range waiting {
		if r.taken[id] != line {
			t.Errorf("the report %s has not arrived as it was in the outbox", id)
		}
	}
	for _, fault := range r.faults {
		t.Error(fault)
	}
	if !before || r.answers["200"] == 0 {
		t.Error("nothing arrived before the last process")
	}
	if left := reportsIn(t, r.schema, run.dir); len(left) > 0 {
		t.Errorf("%d reports are left", len(left))
	}
	answers, err := json.Marshal(r.answers)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("measured: %d kills: %d reports were written, %d waited at the end, %d arrived, %d lost, %d damaged; "+
		"answers %s",
		kills, len(ids), len(waiting), len(r.taken), lost, len(r.faults), answers)
}
