package mapping

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindBySource finds what the compiler has made of a function by the function's name, and not by more than a name.
func TestFindBySource(t *testing.T) {
	m := mustAssign(t, methods(
		"a/Feed|load$default|(La/Feed;)V", // 1
		"a/Feed|load-a1B2c3D|(I)V",        // 2
		"a/Feed|save|()V",                 // 3
		"a/Feed$load$1|invoke|()V",        // 4
		"a/Feed$load$1$2|run|()V",         // 5
		"a/Feed$other$1|invoke|()V",       // 6
		"b/Feed$load$1|invoke|()V",        // 7
	), Options{Order: OrderCompact})
	for _, test := range []struct {
		pattern string
		want    []uint32
	}{
		{"a.Feed#load", []uint32{1, 2, 4, 5}},
		{"a.Feed.load", []uint32{1, 2, 4, 5}},
		{"a/Feed load", []uint32{1, 2, 4, 5}},
		{"a.*#lo*", []uint32{1, 2, 4, 5}},
		{"#load", []uint32{1, 2, 4, 5, 7}},
		{"a.Feed", []uint32{1, 2, 3}},
		{"a.Feed#load(I)V", nil},
		{"a.Feed$load$1", []uint32{4}},
		{"a.Feed#load-a1B2c3D", []uint32{2}},
	} {
		p, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for e := range m.Find(p) {
			got = append(got, e.ID)
			if !p.Match(e.Identity) || !p.MatchClass(e.Class) {
				t.Errorf("%s matches %s in a mapping alone", test.pattern, e.Line())
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.pattern, got, test.want)
		}
	}
}

// TestFind looks for methods by patterns of all kinds. Match must match those that Find yields, and MatchClass their
// classes.
func TestFind(t *testing.T) {
	list := methods(
		"a/A|f|()V",                    // 1
		"a/A|f|(ILjava/lang/String;)I", // 2
		"a/A|g|()V",                    // 3, retired below
		"a/A$B|f|()V",                  // 4
		"a/b/C|<init>|()V",             // 5
		"a/b/C|a b|()V",                // 6
		"org/Größe|messen|([Lorg/X;)V", // 7
		"organizer/D|run|()V",          // 8
	)
	base := mustAssign(t, list, Options{Order: OrderCompact})
	m := mustAssign(t, append(list[:2:2], list[3:]...), Options{Base: base})
	const d = DispatchID
	for _, test := range []struct {
		pattern string
		want    []uint32
	}{
		{"1", []uint32{1}},
		{"3-5", []uint32{4, 5, 3}}, // a retired one comes last
		{"9", nil},
		{"1048574", []uint32{d}},
		{"8-1048574", []uint32{8, d}},
		{"a.A", []uint32{1, 2, 3}},
		{"a/A", []uint32{1, 2, 3}},
		{"a.A#f", []uint32{1, 2}},
		{"a.A.f", []uint32{1, 2}},
		{"a.A.f()V", []uint32{1}},
		{"a/A f", []uint32{1, 2}},
		{"a.A#f()V", []uint32{1}},
		{"a.A#f()", []uint32{1}},
		{"a.A f (ILjava.lang.String;)I", []uint32{2}},
		{"a/A#f(ILjava/lang/String;)I", []uint32{2}},
		{"a.A#f(I*)I", nil},
		{"a.A#f(I**)I", []uint32{2}},
		{"a.A#g()V", []uint32{3}},
		{"#f", []uint32{1, 2, 4}},
		{"a.A$*", []uint32{4}},
		{"a.*", []uint32{1, 2, 4, 3}},
		{"a.**", []uint32{1, 2, 4, 5, 6, 3}},
		{"**", []uint32{1, 2, 4, 5, 6, 7, 8, d, 3}},
		{"?.?", []uint32{1, 2, 3}},
		{"a.**.C", []uint32{5, 6}},
		{"a.**.A", []uint32{1, 2, 3}},
		{"**.A", []uint32{1, 2, 3}},
		{"**.a.A#f", []uint32{1, 2}},
		{"org.*", []uint32{7}},
		{"org.Gr??e", []uint32{7}},
		{"org/Größe", []uint32{7}},
		{"org", nil},
		{"a.b.C#a b", []uint32{6}},
		{"a.b.C a%20b", []uint32{6}},
		{"a.b.C#<init>", []uint32{5}},
		{"android.os.Handler", []uint32{d}},
		{"android.os.Handler#dispatchMessage(Landroid/os/Message;)V", []uint32{d}},
		{"/^a\\.A /", []uint32{1, 2, 3}},
		{"/dispatch|run/", []uint32{8, d}},
		{"/(?i)GRÖSSE|größe/", []uint32{7}},
		{"nothing.Here", nil},
	} {
		p, err := ParsePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		var got []uint32
		for e := range m.Find(p) {
			got = append(got, e.ID)
			if e.Retired != (e.ID == 3) {
				t.Errorf("%s: %v", test.pattern, e)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.pattern, diff)
		}
		for _, method := range list {
			e, _ := m.ByIdentity(method.Identity)
			if matches := p.Match(method.Identity); matches != (!p.ByID() && slices.Contains(got, e.ID)) {
				t.Errorf("%s: %v: Match says %v", test.pattern, method, matches)
			} else if matches && !p.MatchClass(method.Class) {
				t.Errorf("%s: %v is matched, its class is not", test.pattern, method)
			}
		}
		for n := range test.want { // stopping early must not panic
			for range m.Find(p) {
				if n--; n < 0 {
					break
				}
			}
		}
	}
}

// TestMatchClass asks for a class that has none of the methods.
func TestMatchClass(t *testing.T) {
	for text, want := range map[string]bool{"com.app.Foo.bar": false, "com.app.Foo": false, "com.app.*": true,
		"com.app.F": false, "#x": true} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchClass("com/app/Bar"); got != want {
			t.Errorf("%s matches com.app.Bar: %v", text, got)
		}
	}
}

// TestFindDispatchOnce checks that the dispatch is yielded once, also if no method is living.
func TestFindDispatchOnce(t *testing.T) {
	gone := mustAssign(t, nil, Options{Base: mustAssign(t, methods("a/A|f|()V"), Options{Order: OrderCompact})})
	for _, pattern := range []string{"1-1048574", "**"} {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var ids []uint32
		for e := range gone.Find(p) {
			ids = append(ids, e.ID)
		}
		if diff := cmp.Diff([]uint32{DispatchID, 1}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestParsePatternRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                     "empty pattern",
		" ":                    "want class",
		"0":                    "IDs run from 1",
		"1048575":              "IDs run from 1",
		"99999999999999999999": "IDs run from 1",
		"7-3":                  "ends before it begins",
		"/(/":                  "missing closing )",
		"a b c d":              "want class",
	} {
		if _, err := ParsePattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", pattern, err, want)
		}
	}
}
