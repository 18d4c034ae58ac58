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
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// pageData is what a page's script reads, but for the calls.
type pageData struct {
	Names      []struct{ Label string }
	Notices    []string
	Recordings []struct {
		Name    string
		Timed   bool
		End     int64
		More    string
		About   []string
		Threads []struct {
			Index  uint32
			Name   string
			Async  bool
			Calls  int
			Events string
			Lane   struct {
				Width         int64
				Longest, Lost string
			}
		}
		Stalls []struct {
			Number        int
			Thread        uint32
			Begin, Wall   int64
			What, Verdict string
			Ended         bool
		}
		more struct {
			Messages [][]struct{ Name, Kind string }
			Windows  [][][2]int64
			Stalls   []struct{ Before, Pending []string }
			Off      [][2]uint64
			Frames   []struct{}
			Facts    [][2]string
			Samples  [][][]int64
		}
	}
}

var scriptElement = regexp.MustCompile(`(?s)<script type="([^"]*)" id="([^"]*)">(.*?)</script>`)

// readPage takes a page apart: its data, and its calls as "depth label begin-end xCount marks" in order of their ends.
func readPage(t testing.TB, html []byte) (pageData, map[string][]string) {
	t.Helper()
	var data pageData
	calls, elements := map[string][]string{}, map[string][]byte{}
	for _, m := range scriptElement.FindAllSubmatch(html, -1) {
		if string(m[2]) == "head" {
			if err := json.Unmarshal(m[3], &data); err != nil {
				t.Fatal(err)
			}
			continue
		}
		deflated, err := base64.StdEncoding.DecodeString(string(m[3]))
		if err != nil {
			t.Fatal(err)
		}
		if elements[string(m[2])], err = io.ReadAll(flate.NewReader(bytes.NewReader(deflated))); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(elements["names"], &data.Names); err != nil {
		t.Fatal(err)
	}
	for k := range data.Recordings {
		r := &data.Recordings[k]
		if err := json.Unmarshal(elements[r.More], &r.more); err != nil {
			t.Fatal(err)
		}
		for _, thread := range r.Threads {
			calls[thread.Events] = readEvents(t, data, elements[thread.Events])
		}
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
	if n := strings.Count(page, "<script"); n != 5 { // the head, the program, names, the recording, one thread
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

// TestHTMLLanes: the time line of a thread has the longest outermost call and what was not recorded at each time, in a
// bounded number of columns, however long the recording is.
func TestHTMLLanes(t *testing.T) {
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
		outermost := func(begin, end int64) trace.Segment {
			return trace.Segment{Kind: trace.SegmentOutermost, Begin: begin * unit, End: end * unit, Calls: []trace.Call{
				{Method: 7, Parent: -1, Next: 1, Count: 1, Begin: begin * unit, End: end * unit}}}
		}
		first, second := outermost(0, 1000), outermost(600_000, 700_000)
		second.Gaps = []trace.Gap{{Kind: trace.GapLost, Begin: 650_000 * unit, End: 700_000 * unit, Records: 9}}
		page := exportOf(t, "html", func(v export.Writer) error {
			return feedSource(v, naming{}, "a.tgd", content(func(h trace.Handler) error {
				return errors.Join(h.Chunk(&trace.Clock{}), h.Segment(&first), h.Segment(&second))
			}))
		})
		data, _ := readPage(t, page)
		lane := data.Recordings[0].Threads[0].Lane
		if n := len(lane.Longest); n > 1024 || n < 512 || len(lane.Lost) != n {
			t.Errorf("unit %d: %d and %d columns", unit, n, len(lane.Lost))
		}
		at := func(begin int64) (longest float64, lost byte) {
			k := begin * unit / lane.Width
			return math.Pow(2, float64(lane.Longest[k]-'!')/3) * 1e3, lane.Lost[k]
		}
		none := lane.Longest[300_000*unit/lane.Width] == ' '
		long, lost := at(620_000)
		_, gap := at(680_000)
		want := min(float64(100_000*unit), math.Pow(2, 31)*1e3) // the longest that a column can say
		if !none || long < want*0.87 || long > want*1.15 || lost != '0' || gap != '9' {
			t.Errorf("unit %d: longest %.0f, want %.0f; lost %c and %c; none %v", unit, long, want, lost, gap, none)
		}
	}
}

// TestHTMLHasEvidence: a page has all of a stall that its text has.
func TestHTMLHasEvidence(t *testing.T) {
	data, _ := readPage(t, exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, demoNames{}, "feed.tgd", new(demo))
	}))
	r := data.Recordings[0]
	if len(r.Stalls) != 5 {
		t.Fatalf("%d stalls: %+v", len(r.Stalls), r.Stalls)
	}
	hang := r.Stalls[len(r.Stalls)-1]
	if hang.Ended || hang.Wall < 700e6 {
		t.Errorf("the hang is %+v", hang)
	}
	first := r.more.Stalls[0]
	if len(first.Before) != 20 || len(first.Pending) != 1 || !strings.HasPrefix(r.Stalls[0].Verdict, "waiting ") {
		t.Errorf("the first stall is %+v with %+v", r.Stalls[0], first)
	}
	if w := r.more.Windows[0]; len(w) != 1 || w[0] != [2]int64{5000e6, 5500e6} {
		t.Errorf("windows %v", w)
	}
	if len(data.Notices) == 0 || !strings.HasPrefix(data.Notices[0], "feed.tgd: 75 % of the calls were recorded") {
		t.Errorf("notices %q", data.Notices)
	}
	if len(r.more.Off) != 1 || data.Names[r.more.Off[0][0]].Label != "com.example.feed.ranking.Ranker.compare" ||
		r.more.Off[0][1] != 6000 {
		t.Errorf("methods that were off: %v", r.more.Off)
	}
	if last := r.About[len(r.About)-1]; !strings.Contains(last, "5 stalls") {
		t.Errorf("about %q", r.About)
	}
}
