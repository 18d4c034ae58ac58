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

	hasStack bool // it says what was called, if only that nothing was
	over     bool // nothing more belongs to it
	skipped  uint64
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
}

func newReport() *Report { return &Report{Facts: map[string]string{}, Wall: -1} }

// owner is what a log says of the device's owner.
var owner = []string{"imei", "uid"}

// forgetOwner removes what goes no further than the log.
func (r *Report) forgetOwner() {
	for _, key := range owner {
		delete(r.Facts, key)
	}
}

// year returns the year in which the log was written; its times have none.
func (r *Report) year() int {
	if n, err := strconv.Atoi(r.Facts["year"]); err == nil && n < 2100 {
		return max(n, 1970)
	}
	return 1970
}

// Nanos reads a time of the log such as "10-29 10:32:13.403", in nanoseconds since 1970. ok is false if text is none.
func (r *Report) Nanos(text string) (nanos int64, ok bool) {
	at, err := time.Parse("2006 01-02 15:04:05.000", strconv.Itoa(r.year())+" "+text)
	if err != nil {
		return 0, false
	}
	return at.UnixNano(), true
}

// FrameMethod returns "class.method" of a frame as Java prints it: "app//a.b.C.m(C.java:1)", "java.base/a.B.m(Native
// Method)", or as Matrix writes it: "a.b.C:m(1)".
func FrameMethod(frame string) string {
	method, _, _ := strings.Cut(frame, "(")
	return strings.Replace(method[strings.LastIndexByte(method, '/')+1:], ":", ".", 1)
}
