package export_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/export"
	"github.com/tracegen/tracegen/trace"
)

// pageData is what a page's script reads.
type pageData struct {
	Names      []struct{ Label string }
	Recordings []struct {
		Name    string
		Timed   bool
		End     int64
		Threads []struct {
			Name     string
			Calls    int
			Events   string
			Messages []struct{ Name, Kind string }
		}
		Stalls []struct {
			Wall          int64
			What, Verdict string
			Facts         [][2]string
		}
	}
}

var scriptElement = regexp.MustCompile(`(?s)<script type="([^"]*)" id="([^"]*)">(.*?)</script>`)

// readPage takes a page apart: its data, and its calls as "depth label begin-end xCount marks" in order of their ends.
func readPage(t testing.TB, html []byte) (pageData, map[string][]string) {
	t.Helper()
	var data pageData
	calls := map[string][]string{}
	for _, m := range scriptElement.FindAllSubmatch(html, -1) {
		if string(m[2]) == "recordings" {
			if err := json.Unmarshal(m[3], &data); err != nil {
				t.Fatal(err)
			}
			continue
		}
		deflated, err := base64.StdEncoding.DecodeString(string(m[3]))
		if err != nil {
			t.Fatal(err)
		}
		events, err := io.ReadAll(flate.NewReader(bytes.NewReader(deflated)))
		if err != nil {
			t.Fatal(err)
		}
		calls[string(m[2])] = readEvents(t, data, events)
	}
	return data, calls
}

func readEvents(t testing.TB, data pageData, events []byte) []string {
	t.Helper()
	var calls, open []string
	var begun []uint64
	now := uint64(0)
	number := func() uint64 {
		n, size := binary.Uvarint(events)
		if size <= 0 {
			t.Fatal("cut event")
		}
		events = events[size:]
		return n
	}
	for len(events) > 0 {
		head := number()
		now += head >> 2
		if head&1 == 1 {
			label, count := data.Names[number()].Label, uint64(1)
			if head&3 == 3 {
				count = number()
			}
			open, begun = append(open, fmt.Sprintf("%s x%d", label, count)), append(begun, now)
			continue
		}
		marks := uint64(0)
		if head&3 == 2 {
			marks = number()
		}
		k := len(open) - 1
		calls = append(calls, fmt.Sprintf("%d %s %d-%d m%d", k, open[k], begun[k], now, marks))
		open, begun = open[:k], begun[:k]
	}
	if len(open) > 0 {
		t.Errorf("not left: %s", open)
	}
	return calls
}

func TestHTMLHoldsEveryCall(t *testing.T) {
	data, calls := readPage(t, exported(t, "html", vectors+"every.tgd", vectors+"many.tgd"))
	if len(data.Recordings) != 2 {
		t.Fatalf("%d recordings, want 2", len(data.Recordings))
	}
	r := data.Recordings[0]
	got := calls[r.Threads[0].Events]
	want := []string{"2 #1048573 x1 ", "1 #1 x1 ", "0 android.os.Handler.dispatchMessage x1 "}
	if len(got) < len(want) {
		t.Fatal(got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("call %d is %q, want %q", i, got[i], w)
		}
	}
	for _, r := range data.Recordings {
		for _, thread := range r.Threads {
			if n := len(calls[thread.Events]); n != thread.Calls {
				t.Errorf("%s: %s has %d calls and says %d", r.Name, thread.Name, n, thread.Calls)
			}
		}
	}
	if len(r.Stalls) != 2 || r.Stalls[0].Wall != 900e6 || r.Stalls[0].What != "message of a.B, what 1" {
		t.Errorf("stalls %+v", r.Stalls)
	}
}

// hostile is a recording whose strings want to be part of the page.
func hostile(v export.Writer) error {
	const evil = `</script><script src="http://x.test/"></script><!-- {{title}} {{page.js}}`
	s := trace.Segment{Begin: 1, End: 9, Calls: []trace.Call{{Method: trace.FirstNamed, Parent: -1, Next: 1, Count: 3,
		Begin: 1, End: 9, Marks: trace.MarkOpen}}}
	return feedSource(v, nil, evil, content(func(h trace.Handler) error {
		return errors.Join(h.Named(trace.FirstNamed, evil), h.Chunk(&trace.Threads{List: []trace.Thread{{Name: evil}}}),
			h.Segment(&s), h.Chunk(&trace.StallChunk{Begin: 1, Wall: 8, CPU: -1, GCMillis: -1, Description: evil,
				Scene: evil, LockOwner: evil}))
	}))
}

func TestHTMLKeepsStringsInTheirPlace(t *testing.T) {
	var b bytes.Buffer
	v, err := export.New("html", &b, export.Options{})
	if err == nil {
		err = hostile(v)
	}
	if err == nil {
		err = v.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if n := strings.Count(page, "<script"); n != 3 { // the data, one thread, the program
		t.Errorf("%d script elements", n)
	}
	if strings.Contains(page, "<!--") {
		t.Error("a comment begins")
	}
	data, calls := readPage(t, b.Bytes())
	r := data.Recordings[0]
	if got := calls[r.Threads[0].Events]; len(got) != 1 || !strings.HasSuffix(got[0], " x3 0-8 m1") {
		t.Errorf("calls %q", got)
	}
	if len(r.Stalls) != 1 || !strings.HasPrefix(r.Stalls[0].Verdict, "cause unknown: ") {
		t.Errorf("stalls %+v", r.Stalls)
	}
}

// TestOutermostCallsHaveNames: what a recording says of an outermost call is its method's ID.
func TestOutermostCallsHaveNames(t *testing.T) {
	page := exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, naming{}, "a.tgd", content(func(h trace.Handler) error {
			return h.Chunk(&trace.StallChunk{Begin: 1, Wall: 8, Description: "method 7"})
		}))
	})
	data, _ := readPage(t, page)
	name, _ := naming{}.Name(7)
	if got := data.Recordings[0].Stalls[0].What; got != "call of "+name.String() {
		t.Errorf("what ran is %q", got)
	}
}

func TestHTMLMakesNoRequest(t *testing.T) {
	page := string(exported(t, "html", vectors+"every.tgd"))
	for _, way := range []string{"http:", "https:", "//www", " src=", "href=", "url(", "@import", "fetch(",
		"XMLHttpRequest", "WebSocket", "import("} {
		if strings.Contains(page, way) {
			t.Errorf("the page has %q", way)
		}
	}
	if !strings.Contains(page, `content="default-src 'none';`) {
		t.Error("the page does not forbid requests")
	}
}
