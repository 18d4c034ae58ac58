package types

import (
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

// validName reports whether a class file of that version may have the name. Before version 49, names were Java
// identifiers; since then, all characters are allowed except for a few.
func validName(name string, kind nameKind, major int) bool {
	if name == "" {
		return false
	}
	if kind == nameOfMethod && name[0] == '<' {
		return name == "<init>" || name == "<clinit>"
	}
	if kind == nameOfClass && name[0] == '[' {
		return validField(name, major)
	}
	if major < majorJava5 {
		return name[0] != '<' && identifierSize(name, kind == nameOfClass) == len(name)
	}
	return validUnqualified(name, kind)
}

// validUnqualified is validName for version 49 and newer, except for <init>, <clinit> and arrays.
func validUnqualified(name string, kind nameKind) bool {
	if kind == nameOfClass && isPlainClassName(name) || kind != nameOfClass && isPlainName(name) {
		return true
	}
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '.', ';', '[':
			return false
		case '/':
			if kind != nameOfClass || i == 0 || i+1 == len(name) || name[i+1] == '/' {
				return false
			}
		case '<', '>':
			if kind == nameOfMethod {
				return false
			}
		}
	}
	return name != ""
}

// identifierSize returns the size of the Java identifier with which s begins, 0 if there is none. If slashes is set, it
// may contain slashes, but not two in a row. As HotSpot does (skip_over_field_name), it takes only letters, digits, _
// and $ of ASCII, and asks Character for all others, which are those of two or more bytes: a character with more bytes
// than it needs is among these.
func identifierSize(s string, slashes bool) int {
	afterSlash := false
	i := 0
	for i < len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || i > 0 && c >= '0' && c <= '9':
			afterSlash = false
			i++
			continue
		case c == '/' && slashes:
			if afterSlash {
				return 0
			}
			afterSlash = true
			i++
			continue
		case c < 0x80:
			return i
		}
		r, size := classfile.DecodeMUTF8Rune(s[i:])
		if size == 0 {
			r, size = laxRune(s[i:])
		}
		if size == 0 || !isIdentifierStart(r) && (i == 0 || !isIdentifierPart(r)) {
			return i
		}
		afterSlash = false
		i += size
	}
	return i
}

func isIdentifierStart(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Sc, unicode.Pc)
}

func isIdentifierPart(r rune) bool {
	return isIdentifierStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Cf) ||
		r <= 8 || r >= 0x0E && r <= 0x1B || r >= 0x7F && r <= 0x9F
}

// fieldSize returns the size of the field descriptor (JVMS 4.3.2) with which s begins, 0 if there is none.
func fieldSize(s string, major int) int {
	const maxDimensions = 255
	i := 0
	for i < len(s) && s[i] == '[' {
		i++
	}
	if i == len(s) || i > maxDimensions {
		return 0
	}
	switch s[i] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		return i + 1
	case 'L':
		name := s[i+1:]
		end := strings.IndexByte(name, ';')
		if major < majorJava5 {
			end = identifierSize(name, true)
		}
		if end > 0 && end < len(name) && name[end] == ';' &&
			(major < majorJava5 || validUnqualified(name[:end], nameOfClass)) {
			return i + end + 2
		}
	}
	return 0
}

// validField reports whether the string is a field descriptor.
func validField(descriptor string, major int) bool {
	return descriptor != "" && fieldSize(descriptor, major) == len(descriptor)
}

// argumentWords returns the number of words that the arguments in a method descriptor (JVMS 4.3.3) take, without this,
// and whether the descriptor is valid for a method of that name. <init> and <clinit> must not have a result.
func argumentWords(name, descriptor string, major int) (words int, ok bool) {
	if descriptor == "" || descriptor[0] != '(' || name == "<clinit>" && major >= majorNoFailover &&
		descriptor != "()V" {
		return 0, false
	}
	d := descriptor[1:]
	for d != "" && d[0] != ')' {
		size := fieldSize(d, major)
		if size == 0 {
			return 0, false
		}
		words++
		if d[0] == 'J' || d[0] == 'D' {
			words++
		}
		d = d[size:]
	}
	if d == "" {
		return 0, false
	}
	result := d[1:]
	special := name != "" && name[0] == '<'
	return words, result == "V" || !special && validField(result, major)
}

// validUtf8 reports whether the bytes are modified UTF-8 (JVMS 4.4.7). Up to version 47, a character may have more
// bytes than it needs.
func validUtf8(s string, major int) bool {
	const lastLaxMajor = 47
	for i := 0; i < len(s); {
		if c := s[i]; c > 0 && c < 0x80 {
			i++
			continue
		}
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
