package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns the text in a form that is safe in one line of a terminal or a list: control characters, invisible
// format characters and bytes that are not UTF-8 are written as %XX, byte by byte. A name in a jar may hold an escape
// sequence.
func Printable(text string) string {
	clean := true
	for _, c := range text {
		clean = clean && !hidden(c)
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i, c := range text {
		if !hidden(c) {
			b.WriteRune(c)
			continue
		}
		size := utf8.RuneLen(c)
		if c == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		for _, raw := range []byte(text[i : i+size]) {
			fmt.Fprintf(&b, "%%%02X", raw)
		}
	}
	return b.String()
}

// hidden reports whether Printable escapes the character. U+FFFD stands for bytes that are not UTF-8.
func hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError || c == '\u2028' || c == '\u2029'
}
