package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// buffer is what Matrix's decoder is given: records with milliseconds, and when the message ended.
type buffer struct {
	strict  bool
	end     int64
	records []Record
}

// matrixDecodes has Matrix's published TraceDataUtils (0.6.0, the newest in Maven's central repository) decode buffers.
// It returns the lines of each report.
func matrixDecodes(t *testing.T, buffers []buffer) [][]string {
	t.Helper()
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	dir, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	a := oracle.Artifact{Group: "com.tencent.matrix", Name: "matrix-trace-canary", Version: "0.6.0", Type: "aar"}
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, []oracle.Artifact{a}))
	classes, err := corpus.ClassesOfAAR(filepath.Join(dir, a.File()), filepath.Join(t.TempDir(), "classes.jar"))
	oracle.Require(t, err)
	// The stand-ins come first: Matrix's own need Android.
	path := t.TempDir() + string(os.PathListSeparator) + classes
	out, _, _ := strings.Cut(path, string(os.PathListSeparator))
	compile := exec.CommandContext(t.Context(), jdk.Tool("javac"), "-nowarn", "-d", out, "-cp", classes, "-sourcepath",
		"testdata/matrix", "testdata/matrix/Decode.java",
		"testdata/matrix/com/tencent/matrix/util/MatrixLog.java",
		"testdata/matrix/com/tencent/matrix/trace/core/AppMethodBeat.java")
	if text, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var in bytes.Buffer
	for _, b := range buffers {
		strict := "0"
		if b.strict {
			strict = "1"
		}
		fmt.Fprint(&in, strict, " ", b.end)
		for _, r := range b.records {
			fmt.Fprintf(&in, " %x", uint64(r))
		}
		in.WriteByte('\n')
	}
	run := exec.CommandContext(t.Context(), jdk.Tool("java"), "-cp", path, "Decode")
	run.Stdin = &in
	var problems strings.Builder
	run.Stderr = &problems
	text, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	var reports [][]string
	for line := range strings.Lines(string(text)) {
		reports = append(reports, strings.Fields(line))
	}
	if len(reports) != len(buffers) {
		t.Fatalf("%d reports of %d buffers: %s", len(reports), len(buffers), text)
	}
	return reports
}

// byPath sums up the lines of a report by the path that leads to them.
func byPath(lines []string) map[string]total {
	sums := map[string]total{}
	var path []string
	for _, line := range lines {
		var depth, count, cost int64
		fields := strings.Split(line, ",")
		for i, n := range []*int64{&depth, nil, &count, &cost} {
			if n != nil {
				*n, _ = strconv.ParseInt(fields[i], 10, 64)
			}
		}
		path = append(path[:min(int(depth), len(path))], fields[1])
		sum := sums[strings.Join(path, " ")]
		sum.Calls += count
		sum.Nanos += cost
		sums[strings.Join(path, " ")] = sum
	}
	return sums
}

// ofTree sums up a tree in the same way.
func ofTree(tree *Tree, unit int64) map[string]total {
	sums := map[string]total{}
	paths := make([]string, len(tree.Nodes))
	for k := 1; k < len(tree.Nodes); k++ {
		n := &tree.Nodes[k]
		paths[k] = strings.TrimSpace(paths[n.Parent] + " " + strconv.Itoa(int(n.Method)))
		sums[paths[k]] = total{int64(n.Calls), n.Total / unit}
	}
	return sums
}

// oursOf replays a buffer.
func oursOf(t *testing.T, records []Record) (map[string]total, *collect) {
	t.Helper()
	c := replayed(t, records, len(records))
	var tree Tree
	for i := range c.segments {
		tree.Add(&c.segments[i])
	}
	return ofTree(&tree, 1), c
}

// messagesOf divides a thread's records into messages; times begin at 0.
func messagesOf(records []Record) (messages [][]Record) {
	var m []Record
	for _, r := range records {
		m = append(m, r)
		if !r.Entry() && r.ID() == MethodDispatch {
			first := m[0].Ticks()
			for i := range m {
				m[i] = m[i]&^timeMask | Record(m[i].Ticks()-first)
			}
			messages, m = append(messages, m), nil
		}
	}
	return messages
}

// TestMatrixAgrees: where Matrix's decoder is right, ours says the same of the same records. TestLines of package
// source reads the lines of such reports.
//
// Invariant: The replay agrees with Matrix's decoder wherever that one is right, and keeps what that one loses.
func TestMatrixAgrees(t *testing.T) {
	var buffers []buffer
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		g := program{methods: 1 + r.IntN(30), fanout: 1 + r.IntN(6), depth: 2 + r.IntN(30), message: 30,
			step: 1 + r.Int64N(40)}
		for _, m := range messagesOf(g.trace(r, 200)) {
			buffers = append(buffers, buffer{true, 0, m})
		}
	}
	for _, file := range recordings(t) {
		if filepath.Base(filepath.Dir(file)) != "recorded" {
			continue
		}
		r, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var records []Record
		for {
			c, err := r.Next()
			if err != nil {
				break
			}
			if c, ok := c.(*Records); ok {
				records = append(records, c.List...)
			}
		}
		r.Close()
		messages := messagesOf(records)
		for _, m := range messages[:min(len(messages), 5)] {
			buffers = append(buffers, buffer{true, 0, m})
		}
	}
	calls := 0
	for i, report := range matrixDecodes(t, buffers) {
		sums := byPath(report)
		ours, c := oursOf(t, buffers[i].records)
		calls += c.calls
		if diff := cmp.Diff(sums, ours); diff != "" || len(sums) == 0 {
			t.Fatalf("buffer %d: Matrix, then ours: %s", i, diff)
		}
	}
	t.Logf("measured: %d buffers with %d calls", len(buffers), calls)
}

// TestMatrixLoses has the faults of Matrix's decoder that make it lose what was recorded, each as Matrix has it and as
// we do.
//
// Invariant: The replay agrees with Matrix's decoder wherever that one is right, and keeps what that one loses.
func TestMatrixLoses(t *testing.T) {
	in, out := entry, exit
	const d = MethodDispatch
	deep := []Record{in(d, 0)}
	const depth = 50_000
	for i := range int64(depth) {
		deep = append(deep, in(Method(1+i%7), i))
	}
	for i := range int64(depth) {
		deep = append(deep, out(Method(1+(depth-1-i)%7), depth+i))
	}
	deep = append(deep, out(d, 2*depth))
	cases := []struct {
		name   string
		buffer buffer
		matrix string // what it says, or how that begins
		ours   string // calls as "method@begin-end" in the order of their begins
	}{
		{"1: without a dispatch", buffer{true, 50, []Record{in(1, 0), in(2, 10), out(2, 40), out(1, 50)}}, "",
			"1@0-50 2@10-40"},
		{"2: nanoseconds taken for milliseconds", buffer{true, 488371224,
			[]Record{in(d, 0), in(1, 5), in(2, 10), out(2, 40)}},
			"0,1048574,1,488371224 1,1,1,488371219 2,2,1,30", "1048574@0-40 1@5-40 2@10-40"},
		{"3: an open root, not strict", buffer{false, 50, []Record{in(1, 0), in(2, 10), out(2, 40)}}, "",
			"1@0-40 2@10-40"},
		{"4: one millisecond back", buffer{true, 50, []Record{in(d, 0), in(1, 5), in(2, 11), out(2, 10), out(1, 40),
			out(d, 50)}},
			"", "1048574@0-50 1@5-40 2@10-10"},
		{"5: a stray exit", buffer{false, 50, []Record{in(1, 0), in(2, 10), out(9, 20), out(2, 30), out(1, 50)}},
			"0,9,1,20", "1@0-50 2@10-30"},
		{"5: exits that an exception passed", buffer{true, 50,
			[]Record{in(d, 0), in(1, 5), in(2, 10), in(3, 15), out(3, 20), out(1, 40), out(d, 50)}},
			"0,1048574,1,50 1,1,1,35 3,3,1,5", "1048574@0-50 1@5-40 2@10-40 3@15-20"},
		{"6: exactly five seconds", buffer{true, 6000, []Record{in(d, 0), in(1, 0), out(1, 10), in(1, 10), out(1, 5010),
			out(d, 5010)}},
			"0,1048574,1,5010 1,1,2,20", "1048574@0-5010 1@0-10 1@10-5010"},
		{"7: a dispatch in an open one", buffer{true, 60, []Record{in(d, 0), in(1, 5), in(d, 20), in(2, 25), out(2, 30),
			out(d, 60)}},
			"0,1048574,1,40 1,2,1,5 0,1048574,1,60 1,1,1,55", "1048574@0-20 1@5-20 1048574@20-60 2@25-30"},
		{"8: deep", buffer{true, 2 * depth, deep}, "StackOverflowError", ""},
	}
	var buffers []buffer
	for _, c := range cases {
		buffers = append(buffers, c.buffer)
	}
	reports := matrixDecodes(t, buffers)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := replayed(t, c.buffer.records, len(c.buffer.records))
			var calls []string
			for _, s := range got.segments {
				for _, call := range s.Calls {
					calls = append(calls, fmt.Sprintf("%d@%d-%d", call.Method, call.Begin, call.End))
				}
			}
			if text := strings.Join(calls, " "); c.ours != "" && text != c.ours {
				t.Errorf("we say %s, want %s", text, c.ours)
			}
			if matrix := strings.Join(reports[i], " "); matrix != c.matrix {
				t.Errorf("Matrix says %.200q, not %q", matrix, c.matrix)
			}
			if c.ours == "" && (got.repairs != (Repairs{}) || got.calls != len(c.buffer.records)/2) {
				t.Errorf("%d calls, %+v", got.calls, got.repairs)
			}
		})
	}
}
