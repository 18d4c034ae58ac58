package symbolize

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// symbolizer knows the IDs 1 to 99, and has odd names among them.
func symbolizer(t testing.TB) *Symbolizer {
	t.Helper()
	var methods []mapping.Method
	for i := range 97 {
		methods = append(methods, mapping.Method{Identity: mapping.Identity{Class: "com/example/C" +
			string(rune('a'+i%26)), Name: "m" + strings.Repeat("x", i/26), Descriptor: "()V"}})
	}
	methods = append(methods, mapping.Method{Identity: mapping.Identity{Class: "a/\"q\\u", Name: "a,b c\n",
		Descriptor: "()V"}},
		mapping.Method{Identity: mapping.Identity{Class: "a/é", Name: "<init>", Descriptor: "()V"}})
	m, err := mapping.Assign(methods, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	retrace, err := r8.Parse("r8",
		"com.Foo -> a.b:\n 1:1:void in():5:5 -> a\n 1:1:void out():6 -> a\n")
	if err != nil {
		t.Fatal(err)
	}
	return &Symbolizer{Mapping: m, R8: retrace}
}

func symbolized(t testing.TB, s *Symbolizer, in io.Reader) (string, Counts) {
	t.Helper()
	var b strings.Builder
	counts, err := s.Copy(&b, in)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), counts
}

// shapes has a text in every shape.
var shapes = []string{
	`{"stack":"0,1,1,9\n1,2,1,5\n1,99,1,3\n1,98,1,1\n","stackKey":"1|98|","threadStack":"\tat a.b.a(X:1)\n\tat a.b.a(X:1)"}` + "\n",
	"x: {\"s\":\"{\\\"stack\\\":\\\"0,1,1,9\\\\n1,3,1,5\\\\n\\\"}\"}\n",
	"stack = 0,1,1,9\r\n1,2,1,9\r\n\r\nend\r\n",
	"0,1048574,1,9\n\n1,2,1,9\n\n2,777777,1,9\n",
	"0,1,1,9\n1,2,1,9\n2,3,1,9",
	"[id count cost]\n.1 1 1\n..98 1 1\n...777777 1 1\nx\n.1 1 1\n",
	"\tat a.b.a(X:1)\n",
}

// TestTwice holds that what was symbolized is left alone, and that how the text
// comes makes no difference.
//
// Invariant: Symbolizing a text twice changes nothing more.
func TestTwice(t *testing.T) {
	s := symbolizer(t)
	all := append(shapes, strings.Join(shapes, "\n"))
	for _, text := range all {
		once, counts := symbolized(t, s, strings.NewReader(text))
		if once == text {
			t.Errorf("nothing found in %q", text)
		}
		if slow, n := symbolized(t, s, iotest.OneByteReader(strings.NewReader(text))); slow != once || n != counts {
			t.Errorf("byte by byte: %q, not %q", slow, once)
		}
		if twice, _ := symbolized(t, s, strings.NewReader(once)); twice != once {
			t.Errorf("twice: %q, not %q", twice, once)
		}
	}
}

// TestJSON holds that JSON stays JSON, and what the names are in it.
//
// Invariant: Every ID that Matrix prints is recognised, and JSON stays valid JSON.
func TestJSON(t *testing.T) {
	got, counts := symbolized(t, symbolizer(t), strings.NewReader(shapes[0]))
	var report struct{ Stack, StackKey, ThreadStack string }
	if err := json.Unmarshal([]byte(got), &report); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	lines := strings.Split(report.Stack, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[1], "1,2,1,5,") {
		t.Errorf("stack: %q", lines)
	}
	for _, line := range lines[:4] {
		class, method, _ := strings.Cut(strings.SplitN(line, ",", 5)[4], ".")
		if strings.ContainsAny(class+method, "\"\\\n, ") {
			t.Errorf("a name with what must be escaped: %q", line)
		}
	}
	want := "\tat com.Foo.in(Foo.java:5)\n\tat com.Foo.out(Foo.java:6)\n"
	if report.ThreadStack != want+strings.TrimSuffix(want, "\n") {
		t.Errorf("threadStack: %q", report.ThreadStack)
	}
	if counts != (Counts{IDs: 4, Unknown: 0, Frames: 2}) {
		t.Errorf("counts: %+v", counts)
	}
}

// TestUntouched holds that what only looks alike stays as it is, even though the
// mapping has nearly every number in it.
//
// Invariant: Text without IDs is copied byte by byte.
func TestUntouched(t *testing.T) {
	s := symbolizer(t)
	for _, text := range []string{
		"12,5,3,1\n",
		"0,5,3,1\n1,6,3,1\n",
		"id,a,b,c\n1,17,1,5\n2,18,1,5\n3,19,1,5\n",
		"0,10,1,5\n1,20,1,9\n2,30,1,17\n3,40,1,33\n",
		"0,1,1,5\n70000,2,1,5\n1,2,1,5\n1,2,1,5\n",
		"0,100001,1,9\n1,100002,1,5\n1,100003,1,5\n",
		"0,1,1,9,x\n1,2,1,5,x\n1,3,1,5,x\n",
		"10.0.0.1,1,2,3\n2026-11-21 10:00:00,123,4,5\n1,2,3,4.5\n",
		"stack = 3,1,1,9\nstack: none\nstack=1,2,3\n",
		"stackKey = 17\nstack overflow: 12|13|\n",
		".1 1 1\n..2 1 1\n",
		"0,0,0,0\n0,1048575,1,1\n0,1,0,1\n",
		"\xff\x00,\r\r\n0,1,1,9\r2,2\n",
		strings.Repeat("x", 200_000) + "0,1,1,1\n",
	} {
		if got, n := symbolized(t, s, strings.NewReader(text)); got != text || n != (Counts{}) {
			t.Errorf("%.200q became %.200q, %+v", text, got, n)
		}
	}
	if got, n := symbolized(t, &Symbolizer{}, strings.NewReader(strings.Join(shapes, ""))); got != strings.Join(shapes,
		"") || n != (Counts{}) {
		t.Errorf("without mappings: %q", got)
	}
}

// TestInteractive holds that a line comes out before the next is there.
func TestInteractive(t *testing.T) {
	in, feed := io.Pipe()
	out, drain := io.Pipe()
	go func() {
		symbolizer(t).Copy(drain, in)
		drain.Close()
	}()
	buf := make([]byte, 100)
	for range 3 {
		go feed.Write([]byte(shapes[6]))
		read := make(chan int, 1)
		go func() { n, _ := io.ReadAtLeast(out, buf, 1); read <- n }()
		select {
		case <-read:
		case <-time.After(3 * time.Minute):
			t.Fatal("nothing came out while the input waited")
		}
	}
	feed.Close()
}

// TestErrors holds that errors of reading and writing come back, after what was
// read before them.
func TestErrors(t *testing.T) {
	var b strings.Builder
	if _, err := symbolizer(t).Copy(&b, io.MultiReader(strings.NewReader("0,1,1,9\nx"),
		iotest.ErrReader(io.ErrUnexpectedEOF))); err != io.ErrUnexpectedEOF &&
		!strings.Contains(err.Error(), "unexpected EOF") || b.String() != "0,1,1,9\nx" {
		t.Errorf("%v, %q", err, b.String())
	}
	closed, w := io.Pipe()
	closed.Close()
	if _, err := symbolizer(t).Copy(w, strings.NewReader("x\n")); err == nil {
		t.Error("no error from a closed pipe")
	}
}

// FuzzCopy holds that any text is copied without a panic, that nothing is lost of
// it, and that doing it twice changes no more.
//
// Invariant: Text without IDs is copied byte by byte.
//
// Invariant: Symbolizing a text twice changes nothing more.
func FuzzCopy(f *testing.F) {
	for _, text := range shapes {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := symbolizer(t)
		s.R8 = nil // frames are left out and added; FuzzRetrace is about them
		got, _ := symbolized(t, s, strings.NewReader(text))
		if strings.Contains(text, "stackKey") {
			return // there names take the place of digits
		}
		i := 0
		for k := 0; k < len(got) && i < len(text); k++ {
			if got[k] == text[i] {
				i++
			}
		}
		if i < len(text) {
			t.Fatalf("%q lost something of %q", got, text)
		}
		if twice, _ := symbolized(t, s, strings.NewReader(got)); twice != got {
			t.Fatalf("twice: %q, not %q", twice, got)
		}
	})
}
