package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// transcript is a Handler that writes all that it receives as text.
type transcript struct {
	balance
	strings.Builder
}

func (h *transcript) Chunk(c Chunk) error {
	fmt.Fprintf(h, "%s\n", show(c))
	return nil
}

func (h *transcript) Named(m Method, name string) error {
	fmt.Fprintf(h, "%d is %s\n", m, name)
	return nil
}

func (h *transcript) Segment(s *Segment) error {
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
	s, err := NewSource(in)
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
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := transcriptOf(t, bytes.NewReader(data))
			golden := strings.TrimSuffix(file, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
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
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenSource(path)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken disk")
	if _, err := NewSource(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v, want the source's error", err)
	}
	s, err := NewSource(io.MultiReader(strings.NewReader("0,1048574,1,5\n"+strings.Repeat("x\n", sniffed)),
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
	for _, file := range recordings(t) {
		s, err := OpenSource(file)
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
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
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
		if foreign.Promising(text) != strings.Contains(got, "*trace.StallChunk") {
			t.Errorf("a report is promised: %t; %s", foreign.Promising(text), got)
		}
	})
}
