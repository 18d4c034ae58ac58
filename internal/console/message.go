package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// Level is the level of a message.
type Level string

// The levels. The work was done in spite of a warning, or of an error that is a failed check.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNotice  Level = "notice" // a result that a page about the run should show
	LevelInfo    Level = "info"
)

// Message is a message of a command for people, or for the program that started it.
type Message struct {
	// Level decides how the message is marked.
	Level Level
	// Text may have several lines.
	Text string
	// Title is a short heading, or "". Only workflow commands have it.
	Title string
	// File is the file that the message is about, or "". Only workflow commands have it.
	File string
	// Guard is the guard that failed, or nil.
	Guard *Guard
	// Fields are further keys of the JSON.
	Fields map[string]any
}

// Guard says for programs which guard failed.
type Guard struct {
	// Name is that of the guard.
	Name string
	// Limit and Value are the limit and the value of the run: numbers in Unit, or digests.
	Limit, Value any
	Unit         string
}

// WriteText writes the message line by line, each behind the name of the program. Only warnings are marked: an error is
// the last line.
func (m Message) WriteText(w io.Writer) error {
	prefix := "tracegen: "
	if m.Level == LevelWarning {
		prefix += "warning: "
	}
	var b strings.Builder
	for _, line := range m.lines() {
		b.WriteString(prefix + line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines returns the lines of the text that are not empty, in a form that is safe on a terminal.
func (m Message) lines() []string {
	var lines []string
	for line := range strings.Lines(m.Text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			lines = append(lines, Printable(line))
		}
	}
	return lines
}

// WriteJSON writes the message as one object on one line, with the keys level (info, warning, error) and message. That
// of a failed guard also has guard, its name, and limit, value and unit, see [Guard]. Fields follow.
func (m Message) WriteJSON(w io.Writer) error {
	if m.Level == LevelNotice {
		m.Level = LevelInfo
	}
	object := struct {
		Level   Level  `json:"level"`
		Message string `json:"message"`
		Guard   string `json:"guard,omitempty"`
		Limit   any    `json:"limit,omitempty"`
		Value   any    `json:"value,omitempty"`
		Unit    string `json:"unit,omitempty"`
	}{Level: m.Level, Message: m.Text}
	if g := m.Guard; g != nil {
		object.Guard, object.Limit, object.Value, object.Unit = g.Name, g.Limit, g.Value, g.Unit
	}
	line, err := json.Marshal(object)
	if err == nil && len(m.Fields) > 0 {
		fields, failed := json.Marshal(m.Fields)
		line, err = append(append(line[:len(line)-1], ','), fields[1:]...), failed
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// WriteGitHub writes the message as a workflow command of GitHub Actions, which makes it an annotation, with all lines
// in one command. Information is written as text.
func (m Message) WriteGitHub(w io.Writer) error {
	if m.Level == LevelInfo {
		return m.writeLog(w)
	}
	file, line := m.File, 0
	if file == "" {
		file, line = placeOf(m.Text)
	}
	title := m.Title
	if m.Guard != nil {
		title = "tracegen: guard " + m.Guard.Name + " failed"
	}
	var properties []string
	add := func(name, value string) {
		if value != "" {
			properties = append(properties, name+"="+commandProperty.Replace(Printable(value)))
		}
	}
	add("title", title)
	add("file", file)
	if line > 0 {
		add("line", strconv.Itoa(line))
	}
	command := "::" + string(m.Level)
	if len(properties) > 0 {
		command += " " + strings.Join(properties, ",")
	}
	_, err := fmt.Fprintf(w, "%s::%s\n", command, commandData.Replace(strings.Join(m.lines(), "\n")))
	return err
}

// writeLog writes the message as text that contains no workflow command. A command in the old form may stand anywhere
// in a line. The name of the program in front of each line prevents the present form, which starts a line.
func (m Message) writeLog(w io.Writer) error {
	m.Text = strings.ReplaceAll(m.Text, "##[", "## [")
	return m.WriteText(w)
}

// These replace the characters that end the data or a property of a workflow command.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// place is how a message names a file and what lies in it: "file!entry", "file:line", or "file: text", at times behind
// the option that names the file.
var place = glob.Regexp(`^(?:--[a-z0-9-]+:? )?(.+?)(?:!|: |:([0-9]+))`)

// placeOf returns the file at the beginning of a message, and the line or 0. It returns "" if there is no such file.
func placeOf(text string) (file string, line int) {
	m := place().FindStringSubmatch(text)
	if m == nil {
		return "", 0
	}
	if info, err := os.Stat(m[1]); err != nil || !info.Mode().IsRegular() {
		return "", 0
	}
	line, _ = strconv.Atoi(m[2])
	return m[1], line
}
