package foreign

import (
	"bufio"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// FuzzReader reads any text, with a large buffer and with the smallest one.
//
// Invariant: The reports found in a text do not depend on how it is read, and no text makes their reader panic.
func FuzzReader(f *testing.F) {
	f.Add("maybe happens Jankiness!(712ms)\n|* stack:\n|*\t\t0,97,1,2859\n|*\t\t1,98,1,30\n")
	f.Add(`{"tag":"Trace_EvilMethod","stack":"0,97,1,2859\n1,98,1,30\n","stackKey":"97|","scene":"a.B"}`)
	f.Add("Application Not Responding for at least 5000 ms.\n12:00\nat a.b.C.d(E.java:7)\n\"main\" prio=5 tid=1\n")
	f.Add("11-22 10:00:00.000 1 2 I Matrix: Thread: main (state = RUNNABLE)\na.b.c(D.java)\n-----\nkey : value\n")
	f.Fuzz(func(t *testing.T, text string) {
		read := func(size int) (all []*Report, skipped uint64) {
			p := NewReader(bufio.NewReaderSize(strings.NewReader(text), size))
			for {
				r, err := p.Next()
				if errors.Is(err, io.EOF) {
					return all, p.Skipped()
				}
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r)
			}
		}
		wide, skipped := read(1 << 16)
		narrow, same := read(16)
		if skipped != same || !reflect.DeepEqual(wide, narrow) {
			t.Errorf("%d reports in one go, %d in pieces", len(wide), len(narrow))
		}
		if len(wide) > len(text)/4+1 {
			t.Errorf("%d reports in %d bytes", len(wide), len(text))
		}
		Promising(text)
	})
}
