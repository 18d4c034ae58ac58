package mapping

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ raw, text string }{
		{"com/example/Foo", "com.example.Foo"},
		{"(ILjava/lang/String;[[J)V", "(ILjava.lang.String;[[J)V"},
		{"<init>", "<init>"},
		{"lambda$f$1", "lambda$f$1"},
		{"Foo$2", "Foo$2"},
		{"a/b.c", "a.b%2Ec"}, // not a/b/c
		{"is it, really #1 100%", "is%20it%2C%20really%20%231%20100%25"},
		{"%20", "%2520"},
		{"\x01\t\n\x7f", "%01%09%0A%7F"},
		{"\xc2\x80\xc2\x85\xc2\xa0", "%C2%80%C2%85%C2%A0"},
		{"größe/名前", "größe.名前"},
		{"a\xc0\x80b", "a%C0%80b"},                         // embedded NUL
		{"\x00", "%00"},                                    // which MUTF-8 does not have
		{"\xed\xa0\xbd\xed\xb8\x80", "😀"},                  // a pair
		{"\xf0\x9f\x98\x80", "%F0%9F%98%80"},               // plain UTF-8 is not MUTF-8
		{"x\xed\xa0\xbd", "x%ED%A0%BD"},                    // lone, at the end
		{"\xed\xa0\xbdx", "%ED%A0%BDx"},                    // lone high
		{"\xed\xb8\x80\xed\xa0\xbd", "%ED%B8%80%ED%A0%BD"}, // the wrong way round
		{"\xc1\x81\xe0\x80\xaf", "%C1%81%E0%80%AF"},        // over-long
		{"\xe5\x90", "%E5%90"},                             // cut off
		{"\xff\x80", "%FF%80"},
		{"\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf\xe3\x80\x80", "%E2%80%A8%E2%80%AE%EF%BB%BF%E3%80%80"},
		{"", ""},
	} {
		if got := Text(test.raw); got != test.text {
			t.Errorf("Text(%q) = %q, want %q", test.raw, got, test.text)
		}
		if got, err := ParseText(test.text); err != nil || got != test.raw {
			t.Errorf("ParseText(%q) = %q, %v, want %q", test.text, got, err, test.raw)
		}
	}
}

func TestParseTextNotCanonical(t *testing.T) {
	for _, test := range []struct{ text, raw, err string }{
		{text: "com/example/Foo", raw: "com/example/Foo"},
		{text: "%41%ed%a0%bd%ed%b8%80", raw: "A\xed\xa0\xbd\xed\xb8\x80"},
		{text: "100%", err: "'%' without two hexadecimal digits"},
		{text: "%4", err: "'%' without two hexadecimal digits"},
		{text: "%4G", err: "'%' without two hexadecimal digits"},
		{text: "a b", err: "' ' must be written %20"},
		{text: "a,b", err: "',' must be written %2C"},
		{text: "a\x7fb", err: "must be written %7F"},
		{text: "a\x00b", err: "must be written %00"},
		{text: "\xff", err: "not UTF-8"},
		{text: "\xed\xa0\xbd", err: "not UTF-8"},
	} {
		raw, err := ParseText(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("ParseText(%q): %v, want an error with %q", test.text, err, test.err)
			}
			continue
		}
		if err != nil || raw != test.raw {
			t.Errorf("ParseText(%q) = %q, %v, want %q", test.text, raw, err, test.raw)
		}
	}
}

// TestTextAtAnyPlace checks that what a byte is in the text form does not depend on its place in a name, nor on its
// neighbours.
func TestTextAtAnyPlace(t *testing.T) {
	for b := range 256 {
		for _, others := range []string{"a", "/", "$", "~", ".", "\xff"} {
			for length := range 20 {
				for at := range length {
					raw := []byte(strings.Repeat(others, length))
					raw[at] = byte(b)
					if got, want := Text(string(raw)), string(appendChars(nil, string(raw))); got != want {
						t.Fatalf("%q -> %q, want %q", raw, got, want)
					}
				}
			}
		}
	}
}

// FuzzText checks that any bytes can be converted to text form and back, and that the text contains nothing that would
// end a line or a field.
//
// Invariant: Every name survives writing and reading, and breaks no line.
func FuzzText(f *testing.F) {
	for _, raw := range []string{"com/example/Foo", "a.b", "\xc0\x80", "\xed\xa0\xbd\xed\xb8\x80", "\xed\xa0\xbd",
		"%41", "é "} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text := Text(raw)
		back, err := ParseText(text)
		if err != nil || back != raw {
			t.Fatalf("%q -> %q -> %q, %v", raw, text, back, err)
		}
		for _, r := range text {
			if r <= ' ' || r == ',' || r == '#' || r == '\ufffd' && !strings.Contains(raw, "\ufffd") {
				t.Fatalf("%q -> %q holds %q", raw, text, r)
			}
		}
	})
}

// TestCompareText compares the order of strings of unusual bytes, which often begin alike, with that of their text
// forms.
func TestCompareText(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func(alphabet string) string {
		b := make([]byte, rng.IntN(6))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 200_000 {
		alphabet := "ab/-0$("
		if rng.IntN(2) == 0 {
			alphabet += ".#% ,\x00\x7f\x80\xbf\xc3\xed\xa0\xff"
		}
		start := random(alphabet) + random(alphabet) + random(alphabet) + random(alphabet)
		a, b := start+random(alphabet), start+random(alphabet)
		if got, want := compareText(a, b), strings.Compare(Text(a), Text(b)); got != want {
			t.Fatalf("%q and %q: %d, want %d", a, b, got, want)
		}
	}
}
