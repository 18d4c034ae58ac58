package classfile_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
)

// mutf8Golden has strings and their modified UTF-8, as Java's DataOutputStream.writeUTF writes it.
var mutf8Golden = []struct{ text, mutf8 string }{
	{"", ""},
	{"java/lang/Object", "java/lang/Object"},
	{"\x7F", "\x7F"},
	{"\x00", "\xC0\x80"},
	{"a\x00b", "a\xC0\x80b"},
	{"\u0080", "\xC2\x80"},
	{"é", "\xC3\xA9"},
	{"\u07FF", "\xDF\xBF"},
	{"\u0800", "\xE0\xA0\x80"},
	{"名", "\xE5\x90\x8D"},
	{"\uD7FF", "\xED\x9F\xBF"},
	{"\uE000", "\xEE\x80\x80"},
	{"\uFFFF", "\xEF\xBF\xBF"},
	{"\U00010000", "\xED\xA0\x80\xED\xB0\x80"},
	{"\U00010400", "\xED\xA0\x81\xED\xB0\x80"},
	{"😀", "\xED\xA0\xBD\xED\xB8\x80"},
	{"\U0010FFFF", "\xED\xAF\xBF\xED\xBF\xBF"},
	{"x😀y\x00", "x\xED\xA0\xBD\xED\xB8\x80y\xC0\x80"},
}

func TestMUTF8(t *testing.T) {
	for _, test := range mutf8Golden {
		if got := classfile.EncodeMUTF8(test.text); got != test.mutf8 {
			t.Errorf("EncodeMUTF8(%q) = % x, want % x", test.text, got, test.mutf8)
		}
		if got, ok := classfile.DecodeMUTF8(test.mutf8); got != test.text || !ok {
			t.Errorf("DecodeMUTF8(% x) = %q, %v; want %q", test.mutf8, got, ok, test.text)
		}
	}
	if got := classfile.EncodeMUTF8("a\xFFb"); got != "a\uFFFDb" {
		t.Errorf("a byte that is no UTF-8 becomes % x", got)
	}
}

// TestMUTF8Exhaustive compares decoding with a table of the encodings of all 65,536 units of UTF-16, made by
// the rules of JVMS 4.4.7, and encoding of every code point with that of its units.
//
// Invariant: Modified UTF-8 is the same after decoding and encoding, and malformed bytes are kept.
func TestMUTF8Exhaustive(t *testing.T) {
	unit := func(u uint16) string {
		switch {
		case u >= 1 && u < 0x80:
			return string([]byte{byte(u)})
		case u < 0x800:
			return string([]byte{0xC0 | byte(u>>6), 0x80 | byte(u)&0x3F})
		}
		return string([]byte{0xE0 | byte(u>>12), 0x80 | byte(u>>6)&0x3F, 0x80 | byte(u)&0x3F})
	}
	units := map[string]rune{}
	for u := range 0x10000 {
		units[unit(uint16(u))] = rune(u)
	}
	for a := range 256 {
		for b := range 256 {
			for _, c := range []byte{0, 0x7F, 0x80, 0x81, 0xA0, 0xBF, 0xC0, 0xFF} {
				s := string([]byte{byte(a), byte(b), c})
				wantRune, wantSize := rune(0), 0
				for n := 1; n <= 3; n++ {
					if r, ok := units[s[:n]]; ok {
						wantRune, wantSize = r, n
					}
				}
				if r, size := classfile.DecodeMUTF8Rune(s); r != wantRune || size != wantSize {
					t.Fatalf("% x starts with %#x of %d bytes, want %#x of %d", s, r, size, wantRune, wantSize)
				}
			}
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		var want string
		for _, u := range utf16.AppendRune(nil, r) {
			want += unit(u)
		}
		if got := classfile.EncodeMUTF8(string(r)); got != want {
			t.Fatalf("%U is % x, want % x", r, got, want)
		}
		if got, size := classfile.DecodeMUTF8Rune(want); got != r || size != len(want) {
			t.Fatalf("% x is %U of %d bytes, want %U", want, got, size, r)
		}
	}
}

// TestMUTF8Java compares with what Java writes for the same strings.
func TestMUTF8Java(t *testing.T) {
	jdk := oracle.NeedJDK(t, 11)
	args := []string{"testdata/WriteUTF.java"}
	for _, test := range mutf8Golden {
		var hex strings.Builder
		for _, u := range utf16.Encode([]rune(test.text)) {
			fmt.Fprintf(&hex, "%04x", u)
		}
		args = append(args, hex.String())
	}
	out, err := exec.Command(jdk.Tool("java"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < len(mutf8Golden) {
		t.Fatalf("java printed %q", out)
	}
	for i, test := range mutf8Golden {
		if want := strings.TrimSpace(lines[i]); fmt.Sprintf("%x", test.mutf8) != want {
			t.Errorf("%q is %x, Java says %s", test.text, test.mutf8, want)
		}
	}
}
