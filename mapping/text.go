package mapping

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tracegen/tracegen/classfile"
)

// The bytes that stand for themselves in the text form, '!' to '~' without "#%,/": as bit sets for bytes below 64 and
// for bytes from 64 to 127.
const (
	plainLow  uint64 = 1<<64 - 1<<'!' - 1<<'#' - 1<<'%' - 1<<',' - 1<<'/'
	plainHigh uint64 = 1<<63 - 1
)

const hexDigits = "0123456789ABCDEF"

// plain reports whether b stands for itself in the text form.
func plain(b byte) bool {
	if b < 64 {
		return plainLow>>b&1 != 0
	}
	return b < 0x80 && plainHigh>>(b&63)&1 != 0
}

// invisible reports whether r is a control character, a space, a line separator or an invisible format character. The
// list is fixed. With the tables of package unicode, the hashes of text forms, and with them IDs, would change when a
// Go release brings a new version of Unicode.
func invisible(r rune) bool {
	switch {
	case r <= 0x20, r >= 0x7f && r <= 0xa0, r == 0xad, r == 0x1680, r == 0x180e,
		r >= 0x2000 && r <= 0x200f, r >= 0x2028 && r <= 0x202f,
		r >= 0x205f && r <= 0x206f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

// Text returns the text form of a class name, method name or descriptor in MUTF-8 and internal form. The package
// comment describes the text form.
func Text(raw string) string {
	return string(appendText(make([]byte, 0, len(raw)+8), raw))
}

// inText has what each byte is in the text form; 0 for bytes whose characters appendChar writes.
var inText = func() (t [256]byte) {
	for b := range t {
		if plain(byte(b)) && b != '.' {
			t[b] = byte(b)
		}
	}
	t['/'] = '.'
	return t
}()

// appendText appends the text form of raw to dst. It takes eight bytes at a time, as names are most of a mapping.
func appendText(dst []byte, raw string) []byte {
	dst = append(dst, raw...)
	rest := dst[len(dst)-len(raw):]
	for ; len(rest) >= 8; rest = rest[8:] {
		v := binary.LittleEndian.Uint64(rest)
		// The high bit of each byte: whether it is from '$' to '~', and neither '%', ',' nor '.'.
		sure := (v + (0x80-'$')*ones) &^ (v + ones) & unlike(v, '%') & unlike(v, ',') & unlike(v, '.')
		if sure&high != high {
			break
		}
		slashes := ^unlike(v, '/') & high
		binary.LittleEndian.PutUint64(rest, v-slashes>>7) // a '.' is one less than a '/'
	}
	for i, c := range rest {
		b := inText[c]
		if b == 0 {
			left := len(rest) - i
			return appendChars(dst[:len(dst)-left], raw[len(raw)-left:])
		}
		rest[i] = b
	}
	return dst
}

const (
	ones uint64 = 0x0101010101010101
	high        = ones << 7
)

// unlike returns a number that has the high bit of each byte of v that is not b, if no byte of v is above 0x7f.
func unlike(v, b uint64) uint64 { return (v ^ b*ones) + 0x7f*ones }

// appendChars is appendText for names with characters that are not written as one byte, which few have.
func appendChars(dst []byte, raw string) []byte {
	for i := 0; i < len(raw); {
		n := 1
		if b := inText[raw[i]]; b != 0 {
			dst = append(dst, b)
		} else {
			dst, n = appendChar(dst, raw[i:])
		}
		i += n
	}
	return dst
}

// compareText compares the text forms of two names. It makes them only if the first characters that differ are not
// both written as one byte.
func compareText(a, b string) int {
	i, n := 0, min(len(a), len(b))
	x, y := []byte(a), []byte(b)
	for i+8 <= n && binary.LittleEndian.Uint64(x[i:]) == binary.LittleEndian.Uint64(y[i:]) {
		i += 8
	}
	for ; i < n; i++ {
		if a[i] == b[i] {
			continue
		}
		x, y := inText[a[i]], inText[b[i]]
		if x == 0 || y == 0 {
			return strings.Compare(Text(a), Text(b))
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}

// appendSource appends raw with the escapes of the text form, but without changing '.' and '/'. A SourceFile
// attribute is written so, because it is not a class name.
func appendSource(dst []byte, raw string) []byte {
	for i := 0; i < len(raw); {
		if b := raw[i]; b == '/' || plain(b) {
			dst = append(dst, b)
			i++
			continue
		}
		var n int
		dst, n = appendChar(dst, raw[i:])
		i += n
	}
	return dst
}

// appendChar appends the character that raw begins with, or the escape of its first byte, and returns the number of
// bytes of raw that it used. If the character must be escaped and has several bytes, it escapes only the first one:
// the other bytes do not begin a valid character and are escaped by the next calls.
func appendChar(dst []byte, raw string) ([]byte, int) {
	// A lone surrogate is not a character, because UTF-8 cannot express it.
	if r, n := classfile.DecodeMUTF8Rune(raw); n > 1 && utf8.ValidRune(r) && !invisible(r) {
		return utf8.AppendRune(dst, r), n
	}
	b := raw[0]
	return append(dst, '%', hexDigits[b>>4], hexDigits[b&15]), 1
}

// ParseText returns the MUTF-8 name or descriptor that text is the text form of. It fails if text is not valid.
func ParseText(text string) (string, error) {
	raw, err := appendRaw(make([]byte, 0, len(text)), text, false)
	return string(raw), err
}

var (
	errNotUTF8 = errors.New("not UTF-8; convert the file to UTF-8, or write the byte as %XX")
	errEscape  = errors.New("'%' without two hexadecimal digits; a percent sign is written %25")
)

// appendRaw appends the MUTF-8 bytes that text is the text form of. If literal is true, nothing is an escape and
// every character is allowed, because Matrix writes names so.
func appendRaw(dst []byte, text string, literal bool) ([]byte, error) {
	for i := 0; i < len(text); {
		b := text[i]
		switch {
		case b == '.' || b == '/':
			dst = append(dst, '/')
			i++
		case plain(b):
			dst = append(dst, b)
			i++
		case b == '%' && !literal:
			hi, lo := -1, -1
			if i+2 < len(text) {
				hi, lo = unhex(text[i+1]), unhex(text[i+2])
			}
			if hi < 0 || lo < 0 {
				return dst, errEscape
			}
			dst = append(dst, byte(hi<<4|lo))
			i += 3
		case b < 0x80 && !literal:
			return dst, fmt.Errorf("%q must be written %%%02X", b, b)
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				return dst, errNotUTF8
			}
			dst = append(dst, classfile.EncodeMUTF8(text[i:i+n])...)
			i += n
		}
	}
	return dst, nil
}

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}
