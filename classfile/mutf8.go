package classfile

import (
	"strings"
	"unicode/utf8"
)

// DecodeMUTF8 converts modified UTF-8 (JVMS 4.4.7) to UTF-8. ok is false if s is malformed or holds a
// surrogate without its partner, which UTF-8 cannot express; the string returned is then s itself.
//
// Modified UTF-8 differs from UTF-8 in two things: NUL is the two bytes C0 80, and a code point above
// U+FFFF is written as its two surrogates, three bytes each.
func DecodeMUTF8(s string) (decoded string, ok bool) {
	if isPlainASCII(s) {
		return s, true
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := DecodeMUTF8Rune(s[i:])
		if size == 0 || r >= 0xD800 && r <= 0xDFFF {
			return s, false
		}
		b.WriteRune(r)
		i += size
	}
	return b.String(), true
}

// EncodeMUTF8 converts UTF-8 to modified UTF-8 (JVMS 4.4.7). A byte of s that is not part of valid UTF-8
// becomes U+FFFD.
func EncodeMUTF8(s string) string {
	if isPlainASCII(s) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for _, r := range s {
		switch {
		case r == 0:
			b = append(b, 0xC0, 0x80)
		case r > 0xFFFF:
			r -= 0x10000
			b = appendThreeBytes(b, 0xD800+r>>10)
			b = appendThreeBytes(b, 0xDC00+r&0x3FF)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

func isPlainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == 0 || s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func appendThreeBytes(b []byte, r rune) []byte {
	return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// DecodeMUTF8Rune decodes the first code point of s, joining surrogate pairs; a lone surrogate is returned
// as it is. size is the number of its bytes, 0 if s is empty or starts with malformed bytes: a zero byte, an
// F0 to FF byte, a missing continuation, or more bytes than the value needs (NUL excepted).
func DecodeMUTF8Rune(s string) (r rune, size int) {
	r, size = decodeMUTF8Unit(s)
	if size != 3 || r < 0xD800 || r > 0xDBFF {
		return r, size
	}
	if low, n := decodeMUTF8Unit(s[size:]); n == 3 && low >= 0xDC00 && low <= 0xDFFF {
		return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), 6
	}
	return r, size
}

// decodeMUTF8Unit decodes one UTF-16 code unit of one to three bytes; size is 0 if it is malformed.
func decodeMUTF8Unit(s string) (r rune, size int) {
	if s == "" {
		return 0, 0
	}
	continuation := func(i int) bool { return i < len(s) && s[i]&0xC0 == 0x80 }
	switch c := s[0]; {
	case c > 0 && c < 0x80:
		return rune(c), 1
	case c&0xE0 == 0xC0 && continuation(1):
		r = rune(c&0x1F)<<6 | rune(s[1]&0x3F)
		if r < 0x80 && r != 0 {
			return 0, 0
		}
		return r, 2
	case c&0xF0 == 0xE0 && continuation(1) && continuation(2):
		r = rune(c&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
		if r < 0x800 {
			return 0, 0
		}
		return r, 3
	}
	return 0, 0
}
