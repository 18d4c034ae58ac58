package buildreport

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
)

// TestGuards checks limits on both sides of the values.
func TestGuards(t *testing.T) {
	r := sampleRun(t) // 1500 -> 1620 bytes, 8 %; 3 methods, of a base with 1; 9 calls
	base := func(text string) *Baseline {
		t.Helper()
		b, err := ReadBaseline(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	same := base(`{"schema":1,"totals":{"calls":9},"packages":[{"package":"com.example","calls":7},{"package":"","calls":2}]}`)
	fewer := base(`{"schema":1,"totals":{"calls":6},"packages":[{"package":"com.example","calls":4},{"package":"gone","calls":2}]}`)
	empty := base(`{"schema":1,"totals":{"calls":0},"packages":[]}`)
	for _, row := range []struct {
		guard  Guard
		failed bool
		found  string
	}{
		{r.GuardGrowth(8), false,
			"from 1500 to 1620 bytes, by 8.00 %, most in com.example (+100), the unnamed package (+20)"},
		{r.GuardGrowth(7.99), true, "by 8.00 %"},
		{r.GuardRatio(3), false, "3 methods are traced, 1 in old.txt: 3.000"},
		{r.GuardRatio(3.01), true, "3.000"},
		{(&Run{Mapping: r.Mapping}).GuardRatio(5), false, "no base"},
		{r.GuardDigest(r.Mapping.Digest()), false, r.Mapping.Digest()},
		{r.GuardDigest(mapping.Unstamped), true, r.Mapping.Digest()},
		{r.GuardCalls(0, same), false, "9 calls are inserted"},
		{r.GuardCalls(50, fewer), false, "9 calls are inserted"},
		{r.GuardCalls(49.9, fewer), true, "9 calls are inserted, most in com.example (+3)"},
		{r.GuardCalls(1, fewer), true, "most in com.example (+3), the unnamed package (+2)"},
		{r.GuardCalls(5, empty), true, "most in com.example (+7)"},
		{r.GuardIntroduced(), false, "0"},
		{(&Run{Introduced: 1}).GuardIntroduced(), true, "rejected: 1"},
		{r.GuardUnverifiable(), false, "0"},
		{(&Run{PreExisting: 2}).GuardUnverifiable(), true, "left as they are: 2"},
	} {
		if row.guard.Failed != row.failed || !strings.Contains(row.guard.Actual, row.found) || row.guard.Name == "" ||
			row.guard.Expected == "" {
			t.Errorf("%+v, want failed %v and %q", row.guard, row.failed, row.found)
		}
	}
}

// TestBaselineRoundTrip writes the report of a run and reads it as a baseline.
func TestBaselineRoundTrip(t *testing.T) {
	r := sampleRun(t)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	base, err := ReadBaseline(&b)
	if err != nil {
		t.Fatal(err)
	}
	if base.calls != 9 || base.byPackage["com.example"] != 7 || base.byPackage[""] != 2 {
		t.Errorf("%+v", base)
	}
	if g := r.GuardCalls(0, base); g.Failed {
		t.Errorf("against itself: %v", g)
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "not a report, or damaged",
		"{":                                 "not a report, or damaged",
		"{}":                                `key "schema" is missing`,
		"[1]":                               "not a report, or damaged",
		`{"schema":2,"totals":{"calls":0}}`: "schema 2",
		`{"schema":1,"classes":7}`:          `key "totals" is missing`,
		`{"schema":1,"totals":{}}`:          "no number of calls",
		`{"schema":1,"totals":{"calls":3},"packages":[]}`:                                                    "0 calls, but the totals 3",
		`{"schema":1,"totals":{"calls":0},"packages":[{"calls":0}]}`:                                         "has no name",
		`{"schema":1,"totals":{"calls":-1},"packages":[{"package":"a","calls":-1}]}`:                         "a negative number of calls",
		`{"schema":1,"totals":{"calls":2},"packages":[{"package":"a","calls":1},{"package":"a","calls":1}]}`: "package a occurs twice",
	} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadBaseline(strings.NewReader(strings.Repeat(" ", maxSaved+1))); err == nil ||
		!strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("long: %v", err)
	}
}
