package foreign

import (
	"strconv"
	"strings"
	"time"
)

// Report is what a device wrote of one stall: a tree of calls, or stacks.
type Report struct {
	// Facts are its keys and values.
	Facts map[string]string
	// Key is that of Matrix's stack, empty if there is none.
	Key string
	// Lines are the calls of a tree, Stacks the stacks that were taken.
	Lines  []Line
	Stacks []Stack
	// Wall is how many milliseconds a headline says that it took, -1 if none does.
	Wall int64

	written   time.Time // when the log was written; zero if it does not say so
	hasStack  bool      // it says what was called, if only that nothing was
	over      bool      // nothing more belongs to it
	mentioned bool      // Wall is of a sentence that may also be in a text with the stacks of all threads
	thread    string    // that of the sentence; empty if it names none
	skipped   uint64
}

// Line is a call of a tree.
type Line struct {
	Record
	// Name is the method's, if one was put there.
	Name string
}

// Stack is a stack that was taken.
type Stack struct {
	// At is when, as the log says it; see [Report.Nanos].
	At string
	// Thread is the name of its thread, empty for the main one.
	Thread string
	// State is Java's name of the thread's state, empty if none is said.
	State string
	// Frames are as Java prints them, the innermost first.
	Frames []string

	symbols []string // frames of Java that stand among those of native code
}

func newReport() *Report { return &Report{Facts: map[string]string{}, Wall: -1} }

// owner is what a log says of the device's owner.
var owner = []string{"imei", "uid"}

// finish removes what goes no further than the log, and decides what a stack is made of.
func (r *Report) finish() {
	for i := range r.Stacks {
		if s := &r.Stacks[i]; len(s.Frames) == 0 {
			s.Frames = s.symbols
		}
	}
	for _, key := range owner {
		delete(r.Facts, key)
	}
}

// Millis returns how many milliseconds the report says that it took; -1 if it does not say so.
func (r *Report) Millis() int64 {
	n := r.Wall
	if stated, ok := millis(r.Facts["cost"]); ok {
		n = stated
	} else if stated, ok := millis(r.Facts["time"]); ok && n < 0 && len(r.Lines) == 0 {
		n = stated // BlockCanary's; that of Matrix is when it was, which is longer than any stall
	}
	if n < 0 {
		from, dated := r.Nanos(r.Facts["time-start"], 0)
		until, ended := r.Nanos(r.Facts["time-end"], from)
		if dated && ended && until >= from {
			n = (until - from) / 1e6
		}
	}
	return min(n, MaxMillis)
}

// measured reports whether the report is of a tool that measures time: a stack alone may also be of a thread dump, and
// facts of the text around it.
func (r *Report) measured() bool {
	return len(r.Lines) > 0 || r.Wall >= 0 && !r.mentioned || r.Facts["time-start"] != "" || r.Facts["detail"] != ""
}

// MaxMillis is the longest duration that is believed, in milliseconds: 24 days.
const MaxMillis = 1 << 31

// millis reads a duration in milliseconds, with its unit or without.
func millis(text string) (n int64, ok bool) {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "ms"))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0) || f > MaxMillis {
		return 0, false
	}
	return int64(f), true
}

// tooLate is how much later than the log was written nothing in it can be: its times have no zone.
const tooLate = 36 * time.Hour

// Nanos reads a time of the log such as "10-29 10:32:13.403", in nanoseconds since 1970. It has no year: it was before
// the log was written, and not half a year before from, unless that is 0. ok is false if text is none.
func (r *Report) Nanos(text string, from int64) (nanos int64, ok bool) {
	year := 1970
	if !r.written.IsZero() {
		year = r.written.Year()
	}
	at, err := time.Parse("2006 01-02 15:04:05.000", strconv.Itoa(year)+" "+text)
	if err != nil {
		return 0, false
	}
	if !r.written.IsZero() && at.Sub(r.written) > tooLate {
		at = at.AddDate(-1, 0, 0)
	}
	if half := 183 * 24 * time.Hour; from != 0 && from-at.UnixNano() > half.Nanoseconds() {
		at = at.AddDate(1, 0, 0)
	}
	return at.UnixNano(), true
}

// FrameMethod returns "class.method" of a frame as Java prints it: "app//a.b.C.m(C.java:1)", "java.base/a.B.m(Native
// Method)", or as Matrix writes it: "a.b.C:m(1)".
func FrameMethod(frame string) string {
	method, _, _ := strings.Cut(frame, "(")
	if class, rest, hidden := strings.Cut(method, "/0x"); hidden && !strings.Contains(class, "$$Lambda") {
		method = class + rest[max(0, strings.IndexByte(rest, '.')):] // a class that the JDK makes: a.B$MH/0x0a.invoke
	}
	module, _, _ := strings.Cut(method, "$$Lambda") // behind which there may be a number: a.B$$Lambda/0x0a.run
	return strings.Replace(method[strings.LastIndexByte(module, '/')+1:], ":", ".", 1)
}
