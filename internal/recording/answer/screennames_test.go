package answer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/recording/resolve"
)

// TestLongNamesKeepTheirMethod: where there is no room for a name, its package goes first, then the parameters and the
// class. The method stays, whatever else a line has, and so does the class of a constructor.
func TestLongNamesKeepTheirMethod(t *testing.T) {
	long := strings.Repeat("deep.", 10) + "Outer$" + strings.Repeat("Inner", 12)
	of := func(text string) func(int) string { return func(width int) string { return fitting(text, width) } }
	inPath := func(p []string) func(int) string { return func(width int) string { return pathText(p, width) } }
	longClass, x := strings.Repeat("Long", 9), func(n int) string { return strings.Repeat("x", n) }
	long = "com.example." + long
	row := ranked{MethodTotal: &MethodTotal{LeftOut: 1234,
		Method: resolve.Method{Class: long, Name: "bind", File: "Outer.java", Line: 7}}}
	path := []string{"a.b.Main.run", "a.b.Feed.load", "a.b.Row.bind"}
	for _, c := range []struct {
		name  string
		width int
		got   func(width int) string
		want  string
	}{
		{"nothing to cut", 60, of("own work: a.B.c (own time 1.5 s); CPU 9 %"), "own work: a.B.c (own time 1.5 s); CPU 9 %"},
		{"the package", 60, of("sleep: org.acme.shop.Journal.send (own time 452 ms) in java.lang.Thread.sleep"),
			"sleep: Journal.send (own time 452 ms) in Thread.sleep"},
		{"packages, and a class of small letters", 34, of("own work: a.b.c.d (own time 452 ms)"),
			"own work: c.d (own time 452 ms)"},
		{"the class, of the longest name", 56, of("own work: a." + longClass + ".run (own time 9 s) in java.io.File.list"),
			"own work: run (own time 9 s) in File.list"},
		{"the parameters, before the class", 44, of("own work: a.b.Feed.load(String, int, Supplier) (own time 9 s)"),
			"own work: Feed.load(…) (own time 9 s)"},
		{"not the class of a constructor", 52, of("own work: a.b.Store.<init> (own time 1507 ms) in java.io.File.list"),
			"own work: Store.<init> (own time 1507 ms) in list"},
		{"not the class, if there is no room all the same", 35, of("own work: a.b.Store.load of very long calls " + x(9)),
			"own work: Store.load of very long …"},
		{"a class that a lock is of", 62,
			of("waiting for a lock: shop.Shop.handle, while refresh holds shop.Prices; 8 of 8 samples"),
			"waiting for a lock: Shop.handle, while refresh holds Prices"},
		{"the first part, and not what is behind it", 30, of("own work: org.acme.B.c of very long; CPU 95 %"),
			"own work: B.c of very long"},
		{"no name helps the next part", 40, of("own work: a.B.c; " + x(50)), "own work: a.B.c; " + x(21) + " …"},
		{"a path", 36, inPath(path), "Main.run > Feed.load > Row.bind"},
		{"the middle of a path", 26, inPath(path), "Main.run > … > Row.bind"},
		{"the classes of a path", 20, inPath([]string{"a.Main.run", long + ".load"}), "Main.run > load"},
		{"all but the last method", 18, inPath([]string{"a.Main.run", long + ".bindAllOfThem"}), "… > bindAllOfThem"},
		{"a row of the table", 58, func(int) string { return row.name() }, "bind  [1,234 calls left out]"},
		{"behind a long message", 120, func(int) string {
			c := &cause{count: 1, what: "message of " + long + ", what 7", path: []string{long + ".load"}}
			return new(Screen).lines(c)[1][20:]
		}, "#0: message of Outer$" + strings.Repeat("Inner", 5) + "Inne …: load"},
	} {
		if got := c.got(c.width); got != c.want || utf8.RuneCountInString(got) > c.width {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
