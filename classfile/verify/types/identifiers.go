package types

import (
	"encoding/binary"
	"strings"
	"unicode"

	"github.com/tracegen/tracegen/classfile"
)

// nameKind is a kind of name. Each kind forbids different characters (JVMS 4.2).
type nameKind uint8

const (
	nameOfClass nameKind = iota // slashes between its parts
	nameOfField
	nameOfMethod // no angle brackets
)

// validName reports whether a class file of that version may have the name, of which one of a class is not that of an
// array. Before version 49, names were Java identifiers; since then, all characters are allowed except for a few.
func validName(name string, kind nameKind, major int) bool {
	switch {
	case name == "":
		return false
	case kind == nameOfMethod && name[0] == '<':
		return name == "<init>" || name == "<clinit>"
	case major < majorJava5:
		return isIdentifier(name, kind == nameOfClass)
	}
	bad := uint8(0)
	for i := range len(name) {
		bad |= forbidden[name[i]]
	}
	return bad>>kind&1 == 0 &&
		(kind != nameOfClass || name[0] != '/' && name[len(name)-1] != '/' && !strings.Contains(name, "//"))
}

// forbidden has a bit for each kind of names that must not have the character.
var forbidden = [256]uint8{
	'.': 1<<nameOfClass | 1<<nameOfField | 1<<nameOfMethod,
	';': 1<<nameOfClass | 1<<nameOfField | 1<<nameOfMethod,
	'[': 1<<nameOfClass | 1<<nameOfField | 1<<nameOfMethod,
	'/': 1<<nameOfField | 1<<nameOfMethod,
	'<': 1 << nameOfMethod,
	'>': 1 << nameOfMethod,
}

// isIdentifier reports whether s consists of characters that Java identifiers have. If slashes is set, it may contain
// slashes, but not two in a row. As HotSpot does (skip_over_field_name), it takes only letters, digits, _ and $ of
// ASCII, and asks Character for all others, which are those of two or more bytes: a character with more bytes than it
// needs is among these.
func isIdentifier(s string, slashes bool) bool {
	afterSlash := false
	for i := 0; i < len(s); {
		r, size := classfile.DecodeMUTF8Rune(s[i:])
		if size == 0 {
			r, size = laxRune(s[i:])
		}
		isSlash, ok := size == 1 && r == '/', false
		switch {
		case isSlash:
			ok = slashes && !afterSlash
		case size == 1:
			ok = r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '$' || i > 0 && r >= '0' && r <= '9'
		case size > 1:
			ok = isIdentifierStart(r) || i > 0 && isIdentifierPart(r)
		}
		if !ok {
			return false
		}
		afterSlash = isSlash
		i += size
	}
	return true
}

func isIdentifierStart(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Sc, unicode.Pc)
}

func isIdentifierPart(r rune) bool {
	return isIdentifierStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Cf) ||
		r <= 8 || r >= 0x0E && r <= 0x1B || r >= 0x7F && r <= 0x9F
}

// validUtf8 reports whether the bytes are modified UTF-8 (JVMS 4.4.7). Up to version 47, a character may have more
// bytes than it needs.
func validUtf8(s string, major int) bool {
	const lastLaxMajor = 47
	for i := 0; i < len(s); {
		_, size := classfile.DecodeMUTF8Rune(s[i:])
		if size == 0 && major <= lastLaxMajor {
			_, size = laxRune(s[i:])
		}
		if size == 0 {
			return false
		}
		i += size
	}
	return true
}

// endsPlain reports whether that many bytes at the end are ASCII, and none is zero. For other bytes it may say no.
// Subtracting 1 from each of eight bytes sets the sign bit of a zero, and of bytes above it only. There must be eight.
func endsPlain(data []byte, size int) bool {
	const eight, eachByte, signs = 8, 0x0101010101010101, 0x8080808080808080
	odd := uint64(0)
	for text := data[len(data)-size:]; len(text) >= eight; text = text[eight:] {
		bytes := binary.LittleEndian.Uint64(text)
		odd |= bytes | (bytes - eachByte)
	}
	bytes := binary.LittleEndian.Uint64(data[len(data)-eight:])
	odd |= (bytes | (bytes - eachByte)) >> (64 - eight*uint(size%eight)) // those before are lost
	return odd&signs == 0
}

// laxRune returns the character of two or three bytes with which s begins, whatever its value, and its size, which is 0
// if there is none.
func laxRune(s string) (r rune, size int) {
	switch {
	case s[0]&0xE0 == 0xC0:
		r, size = rune(s[0]&0x1F), 2
	case s[0]&0xF0 == 0xE0:
		r, size = rune(s[0]&0x0F), 3
	}
	if len(s) < size {
		return 0, 0
	}
	for i := 1; i < size; i++ {
		if s[i]&0xC0 != 0x80 {
			return 0, 0
		}
		r = r<<6 | rune(s[i]&0x3F)
	}
	return r, size
}
