package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut shortens a line to a number of characters.
func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:width-2]) + " …"
}

// parametersOf is the parameters of a method, with the last character of its name.
var parametersOf = regexp.MustCompile(`([^\s(])\([^()]+\)`)

// shortened takes parts off the names of methods and classes in a text that is too wide, until there is room for it:
// the packages of all, the parameters, and then the classes of methods, of the longest name first. The methods stay.
// The classes stay too where the name of a method says nothing without one, and if the text is too wide all the same.
func shortened(text string, width int) string {
	tooWide := func() bool { return utf8.RuneCountInString(text) > width }
	if !tooWide() {
		return text
	}
	for _, name := range namesIn(text) {
		text = replaced(text, name, withoutPackage(name))
	}
	if tooWide() {
		text = parametersOf.ReplaceAllString(text, "$1(…)")
	}
	names, withClasses := namesIn(text), text
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, name := range names {
		if method := name[strings.LastIndexByte(name, '.')+1:]; tooWide() && method[0] != '<' {
			text = replaced(text, name, method)
		}
	}
	if tooWide() {
		return withClasses
	}
	return text
}

// betweenNames reports whether a character separates the words of a text.
func betweenNames(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(),;:", r) }

// namesIn returns the words of a text that are names with a package or a class, each once.
func namesIn(text string) []string {
	names := strings.FieldsFunc(text, betweenNames)
	names = slices.DeleteFunc(names, func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return !unicode.IsLetter(first) && first != '_' && first != '$' || strings.LastIndexByte(word, '.') <= 0 ||
			strings.HasSuffix(word, ".")
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// replaced returns a text with a word replaced wherever it stands.
func replaced(text, word, by string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			return b.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		behind, _ := utf8.DecodeRuneInString(text[i+len(word):])
		b.WriteString(text[:i])
		if (i == 0 || betweenNames(before)) && (i+len(word) == len(text) || betweenNames(behind)) {
			b.WriteString(by)
		} else {
			b.WriteString(word)
		}
		text = text[i+len(word):]
	}
}

// withoutPackage returns a class, or a class with its method, without the package. Packages begin with small letters;
// if all words do, the last one but one is the class.
func withoutPackage(name string) string {
	words := strings.Split(name, ".")
	class := slices.IndexFunc(words, func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(first)
	})
	if class < 0 {
		class = max(0, len(words)-2)
	}
	return strings.Join(words[class:], ".")
}
