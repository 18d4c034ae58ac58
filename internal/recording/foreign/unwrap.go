package foreign

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// maxNesting is how deep strings of JSON are in strings of JSON.
const maxNesting = 4

// unwrap hands the lines of a text to line, without what carries them: a program's log, a quotation in mail, markup,
// indentation, strings of JSON. document gets JSON first, and reports whether it has taken it.
func unwrap(text string, line func(string), document func([]byte) bool) {
	unwrapper{line, document}.text(text, 0)
}

type unwrapper struct {
	line     func(string)
	document func([]byte) bool
}

func (u unwrapper) text(text string, depth int) {
	if depth < maxNesting && u.json(text, depth) {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		plain := bare(line)
		switch escaped := strings.Contains(line, `\n`); {
		case depth == maxNesting || !escaped && !strings.HasPrefix(plain, "{"):
			u.line(withoutKeys(plain))
		case u.json(line, depth) || u.json(plain, depth):
		case escaped:
			u.text(unescaped(line), depth+1)
		default:
			u.line(withoutKeys(plain))
		}
	}
}

// json reads a text that is JSON.
func (u unwrapper) json(text string, depth int) bool {
	text = strings.TrimSpace(text)
	var v any
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &v) != nil {
		return false
	}
	if !u.document([]byte(text)) {
		u.strings(v, depth)
	}
	return true
}

// strings reads the strings of a value. Those of an array are lines of one text.
func (u unwrapper) strings(v any, depth int) {
	switch v := v.(type) {
	case string:
		u.text(v, depth+1)
	case []any:
		for _, e := range v {
			u.strings(e, depth)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			u.strings(v[key], depth)
		}
	}
}

var (
	jsonKeys = glob.Regexp(`^(?:[{\[,\s].*)?"[\w.-]+\\*"\s*:\s*\\*"`)
	// jsonElement is a line that is a string in an array.
	jsonElement = glob.Regexp(`^"((?:\\"| |at |- ).*)",?$`)
	jsonEnd     = glob.Regexp(`\\*"\s*(?:[,}\]].*)?$`)
	escape      = glob.Regexp(`\\+(?:["/nrt]|u[0-9a-fA-F]{4})`)
)

// unescaped returns what a line says that is a piece of JSON, or a string in a string: it may be cut off at both ends.
func unescaped(line string) string {
	if last := strings.LastIndex(line, `\n`) + 2; last > 1 {
		line = line[:last] + jsonEnd().ReplaceAllString(line[last:], "")
	}
	return escape().ReplaceAllStringFunc(line, func(e string) string {
		switch c := e[strings.LastIndexByte(e, '\\')+1:]; c[0] {
		case 'n':
			return "\n"
		case 'r':
			return ""
		case 't':
			return "\t"
		case 'u':
			n, _ := strconv.ParseUint(c[1:], 16, 16)
			return string(rune(n))
		default:
			return c
		}
	})
}

var (
	control = glob.Regexp("\x1b\\[[0-9;]*[A-Za-z]|[\u200b\ufeff]|\\*\\*")
	// spaces and quotes of texts that a word processor or a messenger has been at.
	typographic = strings.NewReplacer("\u00a0", " ", "\u201c", `"`, "\u201d", `"`, "\u2026", "...")
	// carriers are what stands before a line, each as the first group. All that fit are removed.
	carriers = []func() *regexp.Regexp{
		glob.Regexp(`^((?:> ?)+)`),       // mail
		glob.Regexp("^(#{1,6} |`{1,3})"), // Markdown
		glob.Regexp(`^([\w./-]+ +\| )`),  // docker compose
		glob.Regexp(`^(<\d+>(?:\d )?)`),  // syslog
		glob.Regexp(`^((?:</?(?:pre|p|code|br|div|span|td|li)\b[^<>]*>)+)`),
		glob.Regexp(`(` + logcatPrefix + `)`),
		// Android Studio's Logcat: 2026-07-01 09:00:01.123  1200-1207  art  shop.demo.app  I  text
		glob.Regexp(`^((?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+-\d+ +\S+ +\S+ +[VDIWEFA] {1,2})`),
		// A time, and what a logger writes behind it.
		glob.Regexp(`^(\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?:\s+|: |$))`),
		glob.Regexp(`^((?:\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]?|std(?:out|err)|[FP])(?:\s+|: |$))`),
		glob.Regexp(`^(\d(?:XM|XE|LK)[A-Z0-9]{3,20}\s+)`),                  // tags of OpenJ9
		glob.Regexp(`^([A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \S+ [^\s:]+: ?)`), // syslog, journalctl
		glob.Regexp(`^(\[[\w#./ :-]+\]:?(?:\s+|$))`),
		glob.Regexp(`^([\w.$]+ +(?:-{1,3}|:)(?:\s|$))`),
		glob.Regexp(`^(\d{1,6}(?:[:|)]|\t) *)`), // an editor's numbers
	}
	// own is how a line begins that nothing carries.
	own = glob.Regexp(`^(?:"|\{"|at |- |\| |#\d|native: |pid: |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$)`)
)

// bare returns a line without what carries it.
func bare(line string) string {
	if strings.ContainsAny(line, "\x1b\u200b\ufeff*") {
		line = control().ReplaceAllString(line, "")
	}
	line = typographic.Replace(line)
	if strings.Contains(line, "&") {
		line = html.UnescapeString(line)
	}
	line = strings.TrimSpace(line)
	if m := jsonElement().FindStringSubmatch(line); m != nil {
		line = unescaped(m[1])
	}
	for range maxCarriers {
		if own().MatchString(line) {
			break
		}
		at := carrierOf(line)
		if at == 0 {
			break
		}
		line = strings.TrimSpace(line[at:])
	}
	return line
}

// withoutKeys returns a line without the keys of JSON that is cut off, and without what carries it behind them.
func withoutKeys(line string) string {
	if at := jsonKeys().FindStringIndex(line); at != nil {
		return bare(line[at[1]:])
	}
	return line
}

// carrierOf returns the length of what stands before a line; 0 if nothing does.
func carrierOf(line string) int {
	for _, c := range carriers {
		if at := c().FindStringSubmatchIndex(line[:min(len(line), maxCarrier)]); at != nil {
			return at[3]
		}
	}
	return 0
}

const (
	maxCarriers = 16  // before a line
	maxCarrier  = 400 // characters
)
