package launch

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// errQuote is the error of a text in which a quotation mark has no partner.
var errQuote = errors.New("a quotation mark is not closed")

// splitArgfile divides the content of an argument file of java into arguments. White space separates them; a #
// begins a comment that ends with the line; quotation marks group, and a backslash between them escapes the next
// character or joins lines.
func splitArgfile(text string) (args []string, err error) { return split(text, true) }

// splitVariable divides the value of JDK_JAVA_OPTIONS into arguments. Quotation marks group; nothing is escaped.
func splitVariable(text string) (args []string, err error) { return split(text, false) }

// split divides a text into arguments. Only the content of a file has comments, lines and escape sequences.
func split(text string, file bool) (args []string, err error) {
	var arg strings.Builder
	inside, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case file && quote != 0 && c == '\\' && i+1 < len(text):
			i++
			i = unescape(&arg, text, i)
		case file && quote != 0 && (c == '\n' || c == '\r'):
			return nil, errQuote
		case quote != 0:
			arg.WriteByte(c)
		case c == '\'' || c == '"':
			inside, quote = true, c
		case isSpace(c):
			if inside {
				args = append(args, arg.String())
			}
			arg.Reset()
			inside = false
		case file && c == '#':
			arg.Reset() // java drops what stands directly before the comment
			inside = false
			for i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r' {
				i++
			}
		default:
			inside = true
			arg.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if inside {
		args = append(args, arg.String())
	}
	return args, nil
}

// unescape writes what the character at text[i] means behind a backslash, and returns the position of the last
// character that it used: a backslash at the end of a line also skips the white space that the next line begins with.
func unescape(arg *strings.Builder, text string, i int) int {
	switch c := text[i]; c {
	case 'n':
		arg.WriteByte('\n')
	case 'r':
		arg.WriteByte('\r')
	case 't':
		arg.WriteByte('\t')
	case 'f':
		arg.WriteByte('\f')
	case '\n', '\r':
		for i+1 < len(text) && isSpace(text[i+1]) {
			i++
		}
	default:
		arg.WriteByte(c)
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// readArgfile reads the argument file that the argument @name stands for.
func readArgfile(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("argument file of java: %w", err)
	}
	args, err := splitArgfile(string(data))
	if err != nil {
		return nil, fmt.Errorf("argument file of java %s: %w", name, err)
	}
	return args, nil
}
