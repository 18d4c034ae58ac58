package classfile

import (
	"strings"
	"unicode"
)

// NameKind is a kind of name. Each kind forbids other characters (JVMS 4.2).
type NameKind uint8

const (
	ClassName  NameKind = iota // of a class or interface, with slashes between its parts
	FieldName                  // of a field or variable
	MethodName                 // of a method: no angle brackets, but for <init> and <clinit>
)

// ValidName reports whether a class file of that major version may have a name. A name of a class is not that of an
// array. Before version 49, names were Java identifiers; since then, all characters are allowed except for a few.
func ValidName(name string, kind NameKind, major int) bool {
	const majorJava5 = 49
	switch {
	case name == "":
		return false
	case kind == MethodName && name[0] == '<':
		return name == "<init>" || name == "<clinit>"
	case major < majorJava5:
		return isIdentifier(name, kind == ClassName)
	}
	bad := uint8(0)
	for i := range len(name) {
		bad |= forbidden[name[i]]
	}
	return bad>>kind&1 == 0 &&
		(kind != ClassName || name[0] != '/' && name[len(name)-1] != '/' && !strings.Contains(name, "//"))
}

// forbidden has a bit for each kind of names that must not have the character.
var forbidden = [256]uint8{
	'.': 1<<ClassName | 1<<FieldName | 1<<MethodName,
	';': 1<<ClassName | 1<<FieldName | 1<<MethodName,
	'[': 1<<ClassName | 1<<FieldName | 1<<MethodName,
	'/': 1<<FieldName | 1<<MethodName,
	'<': 1 << MethodName,
	'>': 1 << MethodName,
}

// isIdentifier reports whether s consists of characters that Java identifiers have. If slashes is set, it may contain
// slashes, but not two in a row. As HotSpot does (skip_over_field_name), it takes only letters, digits, _ and $ of
// ASCII, and asks Character for all others, which are those of two or more bytes: a character with more bytes than it
// needs is among these.
func isIdentifier(s string, slashes bool) bool {
	afterSlash := false
	for i := 0; i < len(s); {
		r, size := DecodeMUTF8Rune(s[i:])
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

// ValidUtf8 reports whether the bytes are modified UTF-8 (JVMS 4.4.7). Up to version 47, a character may have more
// bytes than it needs.
func ValidUtf8(s string, major int) bool {
	const lastLaxMajor = 47
	for i := 0; i < len(s); {
		_, size := DecodeMUTF8Rune(s[i:])
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
