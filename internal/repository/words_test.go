package repository

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// wordTable is the file with the table of words. The rules about words do not read it.
const wordTable = "internal/repository/words_test.go"

// avoidedWord is a word that source code and documents must not contain, also not as a part of a name.
type avoidedWord struct {
	forms   string // the forms of the word, separated by blanks
	instead string // better words
	unless  string // the word is allowed in a line that contains one of these texts, separated by commas
}

// avoidedWords are metaphors and vague words that were in use for things that have a name (see the glossary in
// ARCHITECTURE.md), and words without a clear subject.
var avoidedWords = []avoidedWord{
	{forms: "appoint appoints appointed appointing", instead: "open, create"},
	{forms: "sustain sustains sustained sustaining", instead: "reject"},
	{forms: "settle settles settled settling", instead: "decide, assign, wait"},
	{forms: "foresee foresees foreseen", instead: "predict; for a scan: rejection"},
	{forms: "referee referees", instead: "equivalence check, type check; in tests: oracle"},
	{forms: "judge judges judged judging judgement", instead: "check, compare, decide"},
	{forms: "objection objections", instead: "finding, rejection"},
	{forms: "vouch vouches vouched", instead: "check, guarantee"},
	{forms: "surroundings", instead: "class path"},
	{forms: "desk desks", instead: "scratch memory"},
	{forms: "sight sights", instead: "file status"},
	{forms: "voice voices", instead: "log, message"},
	{forms: "furniture", instead: "the name of the thing"},
	{forms: "jank janks", instead: "stall", unless: "frame,jankstats"},
	{forms: "stretch stretches", instead: "segment"},
	{forms: "mend mends mended mending", instead: "repair"},
	{forms: "cunning cunningly", instead: "malicious, clever"},
	{forms: "tell tells told telling", instead: "report, print, distinguish"},
	{forms: "gives", instead: "returns, reports, writes, results in", unless: "gives up"},
	{forms: "hears heard", instead: "receives"},
	{forms: "nobody somebody anybody everybody", instead: "no program, the caller, a user"},
	{forms: "whoever whomever", instead: "name the subject: users who, a caller that"},
}

// avoidedPhrases are phrases of lower-case words with their replacement.
var avoidedPhrases = [][2]string{
	{"what became of", "the outcome of"},
	{"what comes of", "the result of"},
	{"has a say", "decides, is used"},
	{"have a say", "decide, are used"},
	{"is asked for by", "is enabled by"},
	{"of no account", "ignored"},
	{"is to be had", "is available"},
	{"of the house", "of the repository"},
}

// maxColumns is the number of characters that a line of source code may have. A tab counts as one.
const maxColumns = 120

// plainText reports whether the rules about words are for a file: sources, scripts and documents. Test inputs, the
// published measurements and the changelog, which describes older versions, are left out.
func plainText(p string) bool {
	if inTestdata(p) || p == wordTable || p == "CHANGELOG.md" || strings.HasPrefix(p, "bench/runs/") {
		return false
	}
	return slices.Contains([]string{".go", ".java", ".md", ".mjs", ".sh"}, path.Ext(p)) || p == "Makefile" ||
		strings.HasPrefix(p, ".ci/")
}

// namedWords returns the words of a line in lower case. Names are split at capitals, so that "toldOf" has two words.
func namedWords(line string) []string {
	var words []string
	start, last := -1, rune(0)
	for i, r := range line {
		switch {
		case !unicode.IsLetter(r):
			if start >= 0 {
				words = append(words, strings.ToLower(line[start:i]))
			}
			start = -1
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(last):
			words = append(words, strings.ToLower(line[start:i]))
			start = i
		}
		last = r
	}
	if start >= 0 {
		words = append(words, strings.ToLower(line[start:]))
	}
	return words
}

// allowedIn reports whether a line in lower case may contain the word.
func allowedIn(lower string, w avoidedWord) bool {
	return w.unless != "" && slices.ContainsFunc(strings.Split(w.unless, ","), func(s string) bool {
		return strings.Contains(lower, s)
	})
}

// avoidedIn returns the avoided words and phrases of a line, each with its replacement.
func avoidedIn(line string, byForm map[string]avoidedWord) []string {
	var found []string
	lower := strings.ToLower(line)
	for _, word := range namedWords(line) {
		w, avoided := byForm[word]
		if avoided && !allowedIn(lower, w) {
			found = append(found, fmt.Sprintf("avoid %q; better: %s", word, w.instead))
		}
	}
	for _, phrase := range avoidedPhrases {
		if strings.Contains(lower, phrase[0]) {
			found = append(found, fmt.Sprintf("avoid %q; better: %s", phrase[0], phrase[1]))
		}
	}
	return found
}

// unclearWords lists the avoided words in sources and documents.
func unclearWords(t *sourceTree) []string {
	byForm := map[string]avoidedWord{}
	for _, w := range avoidedWords {
		for _, form := range strings.Fields(w.forms) {
			byForm[form] = w
		}
	}
	var found []string
	for _, p := range t.paths {
		if !plainText(p) {
			continue
		}
		for _, why := range avoidedIn(p, byForm) {
			found = append(found, p+": the name of the file: "+why)
		}
		text, _ := t.text(p)
		n := 0
		for line := range strings.Lines(text) {
			n++
			for _, why := range avoidedIn(line, byForm) {
				found = append(found, fmt.Sprintf("%s:%d: %s", p, n, why))
			}
		}
	}
	return found
}

// rawStringLines returns the lines with Go's raw strings, by file and number: a line break would change their value.
func rawStringLines(t *sourceTree) map[string]map[int]bool {
	lines := map[string]map[int]bool{}
	for _, f := range t.gos {
		lines[f.path] = map[int]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
				for k := t.fset.Position(lit.Pos()).Line; k <= t.fset.Position(lit.End()).Line; k++ {
					lines[f.path][k] = true
				}
			}
			return true
		})
	}
	return lines
}

// longLines lists the lines of Go and Java sources that are too long. Test inputs and raw strings are left out.
func longLines(t *sourceTree) []string {
	var found []string
	raw := rawStringLines(t)
	for _, p := range t.paths {
		if ext := path.Ext(p); inTestdata(p) || ext != ".go" && ext != ".java" {
			continue
		}
		text, _ := t.text(p)
		n := 0
		for line := range strings.Lines(text) {
			n++
			if columns := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); columns > maxColumns && !raw[p][n] {
				found = append(found, fmt.Sprintf("%s:%d: %d columns, at most %d are allowed", p, n, columns, maxColumns))
			}
		}
	}
	return found
}

// Invariant: No source file or document contains a word that the table of avoided words lists.
func TestWordRuleFindsPlantedFaults(t *testing.T) {
	one := func(p, text string) map[string]string { return map[string]string{p: text} }
	checkPlanted(t, unclearWords, []planted{
		{"clean", one("a/a.go", "package a\n\n// A returns an object: frames of a window.\nfunc A() {}\n"), nil},
		{"comment", one("a/a.go", "package a\n\n// A tells B.\n"), []string{`a/a.go:3: avoid "tells"; better: report`}},
		{"message", one("a/a.go", "package a\n\nvar a = \"Nobody\"\n"), []string{`avoid "nobody"`}},
		{"part of a name", one("a/a.go", "package a\n\nvar refereeVoice int\n"), []string{`"referee"`, `"voice"`}},
		{"part of a word", one("a/a.go", "package a\n\nvar desktop, recommended, insights int\n"), nil},
		{"java", one("j/A.java", "/** Told. */\n"), []string{"j/A.java:1"}},
		{"document", one("docs/a.md", "Rules have a say.\n"), []string{`avoid "have a say"; better: decide`}},
		{"jank of frames", one("docs/a.md", "janks of frames; it gives up\njanks\n"), []string{"docs/a.md:2"}},
		{"file name", one("a/desk.go", "package a\n"), []string{"a/desk.go: the name of the file"}},
		{"test input", one("a/testdata/a.md", "It tells.\n"), nil},
		{"changelog", one("CHANGELOG.md", "It tells.\n"), nil},
	})
}

// Invariant: No line of Go or Java source is longer than 120 characters.
func TestLineRuleFindsPlantedFaults(t *testing.T) {
	line := func(n int) string { return "package a\n\n//" + strings.Repeat("ä", n-2) + "\n" }
	checkPlanted(t, longLines, []planted{
		{"at the limit", map[string]string{"a/a.go": line(maxColumns), "a/A.java": line(maxColumns)}, nil},
		{"one over", map[string]string{"a/a.go": line(maxColumns + 1)}, []string{"a/a.go:3: 121 columns"}},
		{"java", map[string]string{"a/A.java": line(maxColumns + 1)}, []string{"a/A.java:3"}},
		{"raw string", map[string]string{"a/a.go": "package a\n\nvar a = `" + strings.Repeat("a", maxColumns) + "`\n"}, nil},
		{"document", map[string]string{"a.md": line(maxColumns + 1)}, nil},
		{"test input", map[string]string{"a/testdata/A.java": line(maxColumns + 1)}, nil},
	})
}
