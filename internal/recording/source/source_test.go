package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/trace"
)

// balance is a Handler that checks the times of calls.
type balance struct {
	t     testing.TB
	calls int
	until map[uint32]int64 // by thread: the end of its last segment
}

func (b *balance) Chunk(trace.Chunk) error          { return nil }
func (b *balance) Named(trace.Method, string) error { return nil }

// Segment checks that a segment begins when the one before has ended, and that each call lies in its caller, behind the
// call beside it.
func (b *balance) Segment(s *trace.Segment) error {
	if b.until == nil {
		b.until = map[uint32]int64{}
	}
	if until, ok := b.until[s.Thread]; len(s.Calls) == 0 || ok && s.Begin < until {
		b.t.Errorf("%d calls, begins %d before the one before ends", len(s.Calls), until-s.Begin)
	}
	b.until[s.Thread] = s.End
	b.calls += len(s.Calls)
	last := map[int32]int64{} // by caller: the end of its last call
	for i, c := range s.Calls {
		outer := trace.Call{Begin: s.Begin, End: s.End, Next: int32(len(s.Calls))}
		if c.Parent >= 0 {
			outer = s.Calls[c.Parent]
		}
		if c.Begin < outer.Begin || c.End > outer.End || c.End < c.Begin || c.Next > outer.Next || int(c.Parent) >= i {
			b.t.Errorf("call %d is %+v in %+v", i, c, outer)
		}
		if before, ok := last[c.Parent]; ok && c.Begin < before {
			b.t.Errorf("call %d begins %d before the one beside it ends", i, before-c.Begin)
		}
		last[c.Parent] = c.End
	}
	return nil
}

// transcript is a Handler that writes all that it receives as text.
type transcript struct {
	balance
	strings.Builder
}

func (h *transcript) Chunk(c trace.Chunk) error {
	fmt.Fprintf(h, "%T %+v\n", c, c)
	return nil
}

func (h *transcript) Named(m trace.Method, name string) error {
	fmt.Fprintf(h, "%d is %s\n", m, name)
	return nil
}

func (h *transcript) Segment(s *trace.Segment) error {
	fmt.Fprintf(h, "segment of kind %d on thread %d, %d to %d, %+v\n", s.Kind, s.Thread, s.Begin/1e6, s.End/1e6,
		s.Repairs)
	depths := make([]int, len(s.Calls))
	for i, c := range s.Calls {
		if c.Parent >= 0 {
			depths[i] = depths[c.Parent] + 1
		}
		fmt.Fprintf(h, "%s%d × %d, %d to %d, %d ms", strings.Repeat("  ", depths[i]+1), c.Method, c.Count, c.Begin/1e6,
			c.End/1e6, (c.End-c.Begin)/1e6)
		if c.Marks != 0 {
			fmt.Fprintf(h, ", marks %b", c.Marks)
		}
		fmt.Fprintln(h)
	}
	return h.balance.Segment(s)
}

func transcriptOf(t testing.TB, in io.Reader) string {
	t.Helper()
	s, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	h := transcript{balance: balance{t: t}}
	if err := s.Replay(&h); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&h, "%+v\n", s.Damage())
	return h.String()
}

// TestReports reads what people paste, in every shape.
//
// Invariant: Reports of other tools are read in every shape, also if they are cut off, and no text makes the reader
// panic.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("testdata/reports/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := fixture.Read(t, file)
			got := transcriptOf(t, bytes.NewReader(data))
			golden.Compare(t, strings.TrimSuffix(file, ".txt")+".golden", got)
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
			z.Close()
			if diff := cmp.Diff(got, transcriptOf(t, iotest.OneByteReader(&packed))); diff != "" {
				t.Errorf("compressed, with carriage returns: %s", diff)
			}
		})
	}
}

// TestNoSource has what is refused, and says so.
//
// Invariant: Reports of other tools are read in every shape, also if they are cut off, and no text makes the reader
// panic.
func TestNoSource(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"text":          "nothing of that kind\nat all: 1,2,3\n",
		"a table":       "id,name,a,b\n1,2,3,4\n5,6,7,8\n",
		"a zip":         "PK\x03\x04" + strings.Repeat("\x00", 100),
		"half a header": "TGD1",
		"bad gz":        "\x1f\x8bxxxxxxxxxxxxxxxx",
	} {
		path := filepath.Join(t.TempDir(), "input")
		fixture.Write(t, path, text)
		_, err := Open(path)
		if !errors.Is(err, trace.ErrFormat) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken disk")
	if _, err := New(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v, want the source's error", err)
	}
	s, err := New(io.MultiReader(strings.NewReader("0,1048574,1,5\n"+strings.Repeat("x\n", Sniffed)),
		iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replay(&transcript{balance: balance{t: t}}); !errors.Is(err, broken) {
		t.Errorf("Replay: %v, want the source's error", err)
	}
}

// TestSourceOfRecordings opens recordings as it does texts.
func TestSourceOfRecordings(t *testing.T) {
	files, err := filepath.Glob("../../../trace/testdata/*/*.tgd")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		b := balance{t: t}
		if err := s.Replay(&b); err != nil || b.calls == 0 || s.Reader() == nil || s.Damage().LostChunks != 0 {
			t.Errorf("%s: %v, %d calls, %+v", file, err, b.calls, s.Damage())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzReports reads any text as reports: what the reader reports must be consistent, and must not depend on how the
// text is divided into reads.
//
// Invariant: Reports of other tools are read in every shape, also if they are cut off, and no text makes the reader
// panic.
func FuzzReports(f *testing.F) {
	files, _ := filepath.Glob("testdata/reports/*.txt")
	for _, file := range files {
		data := fixture.Read(f, file)
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := func(in io.Reader) string {
			s := &Source{text: foreign.NewReader(bufio.NewReader(in))}
			h := transcript{balance: balance{t: t}}
			if err := s.Replay(&h); err != nil {
				t.Fatal(err)
			}
			return h.String()
		}
		got := read(strings.NewReader(text))
		if again := read(iotest.HalfReader(strings.NewReader(text))); again != got {
			t.Errorf("%q, then %q", got, again)
		}
		found, _ := foreign.Promising(text)
		if found != strings.Contains(got, "*trace.StallChunk") {
			t.Errorf("a report is promised: %t; %s", found, got)
		}
	})
}

// TestLines makes a tree of the lines of Matrix's reports: what stands for a path has the calls and the time of all
// lines of that path.
//
// Invariant: Reports of other tools are read in every shape, also if they are cut off, and no text makes the reader
// panic.
func TestLines(t *testing.T) {
	type total struct{ calls, millis int64 }
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		lines, want := []string{"0,1048574,1,1000000"}, map[string]total{"1048574": {1, 1000000}}
		path, room := []string{"1048574"}, []int64{1000000} // how much of each caller's time is left
		for range 1 + r.IntN(60) {
			depth := 1 + r.IntN(len(path))
			path, room = path[:depth], room[:depth]
			id, count, cost := strconv.Itoa(1+r.IntN(4)), 1+r.Int64N(9), r.Int64N(room[depth-1]+1)
			room[depth-1] -= cost
			path, room = append(path, id), append(room, cost)
			lines = append(lines, fmt.Sprintf("%d,%s,%d,%d", depth, id, count, cost))
			sum := want[strings.Join(path, " ")]
			want[strings.Join(path, " ")] = total{sum.calls + count, sum.millis + cost}
		}
		s, err := New(strings.NewReader(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		var h treeHandler
		if err := s.Replay(&h); err != nil {
			t.Fatal(err)
		}
		got, paths := map[string]total{}, make([]string, len(h.tree.Nodes))
		for k := 1; k < len(h.tree.Nodes); k++ {
			n := &h.tree.Nodes[k]
			paths[k] = strings.TrimSpace(paths[n.Parent] + " " + strconv.Itoa(int(n.Method)))
			got[paths[k]] = total{int64(n.Calls), n.Total / 1e6}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(total{})); diff != "" {
			t.Fatalf("%s: %s", strings.Join(lines, "\n"), diff)
		}
	}
}

// treeHandler merges all calls.
type treeHandler struct {
	balance
	tree evidence.Tree
}

func (h *treeHandler) Segment(s *trace.Segment) error {
	h.tree.Add(s)
	return nil
}
