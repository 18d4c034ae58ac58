package console

import (
	"bytes"
	"testing"
)

// TestMessagesArePrintable checks that a name from a jar cannot send commands to the terminal.
func TestMessagesArePrintable(t *testing.T) {
	cases := []struct {
		con     Console
		level   Level
		message string
		want    string
	}{
		{Console{}, "error", "a\x1b[2Jb", "tracegen: a%1B[2Jb\n"},
		{Console{}, "warning", "two\nlines\r\n", "tracegen: warning: two\ntracegen: warning: lines\n"},
		{Console{}, LevelInfo, "\n\nx", "tracegen: x\n"},
		{Console{Format: LogJSON}, LevelInfo, "a\x1bb\nc", `{"level":"info","message":"a\u001bb\nc"}` + "\n"},
	}
	for _, c := range cases {
		var b bytes.Buffer
		c.con.Err = &b
		c.con.Print(Message{Level: c.level, Text: c.message})
		if b.String() != c.want {
			t.Errorf("%q: got %q, want %q", c.message, &b, c.want)
		}
	}
}
