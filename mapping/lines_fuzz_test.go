package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzParseLines reads anything as a table of source lines, and writes an accepted one again.
func FuzzParseLines(f *testing.F) {
	f.Add(linesHeader + "\n" + digestPrefix + "0123456789abcdef\n1\tA.java\t7\n2\t\t0\n# x\n")
	f.Add(linesHeader + "\r\n" + digestPrefix + "\r\n4294967295\t%41 b.kt\t2147483647\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLines("l.txt", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "l.txt") {
				t.Errorf("error without the file: %v", err)
			}
			return
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n%s%s\n", linesHeader, digestPrefix, l.Digest())
		for _, id := range slices.Sorted(maps.Keys(l.byID)) {
			row := l.byID[id]
			fmt.Fprintf(&b, "%d\t%s\t%d\n", row.ID, appendSource(nil, row.Source), row.First)
		}
		again, err := ParseLines("again.txt", b.String())
		if err != nil || again.digest != l.digest || !maps.Equal(again.byID, l.byID) {
			t.Errorf("%q is read as %v (%v)", b.String(), again, err)
		}
	})
}
