package console

import (
	"bytes"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestWorkflowCommands checks that no text of a message ends a workflow command or begins another one.
//
// Invariant: A name in a class or archive cannot become a workflow command of GitHub Actions.
func TestWorkflowCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	fixture.Write(t, "a:b,c%.jar", "")
	for _, c := range []struct {
		message Message
		want    string
	}{
		{Message{Level: LevelWarning, Text: "two\nlines\r\n"}, "::warning::two%0Alines\n"},
		{Message{Level: LevelError, Text: "5 %\n::error::x"}, "::error::5 %25%0A::error::x\n"},
		{Message{Level: LevelError, Text: "x\x1b\u2028y"}, "::error::x%251B%25E2%2580%25A8y\n"},
		{Message{Level: LevelNotice, Text: "x", Title: "a,b:c\n::error::d%"},
			"::notice title=a%2Cb%3Ac%250A%3A%3Aerror%3A%3Ad%25::x\n"},
		{Message{Level: LevelWarning, Text: "x", File: "a:b,c%.jar"}, "::warning file=a%3Ab%2Cc%25.jar::x\n"},
		{Message{Level: LevelWarning, Text: "a:b,c%.jar!p/A.class: x"},
			"::warning file=a%3Ab%2Cc%25.jar::a:b,c%25.jar!p/A.class: x\n"},
		{Message{Level: LevelWarning, Text: "nosuch.jar!p/A.class: x"}, "::warning::nosuch.jar!p/A.class: x\n"},
		{Message{Level: LevelInfo, Text: "a\n::error::b ##[add-path]/tmp"},
			"tracegen: a\ntracegen: ::error::b ## [add-path]/tmp\n"},
		{Message{Level: LevelError, Text: "growth: 5 %", Guard: &Guard{Name: "growth"}},
			"::error title=tracegen%3A guard growth failed::growth: 5 %25\n"},
	} {
		var b bytes.Buffer
		if err := c.message.WriteGitHub(&b); err != nil || b.String() != c.want {
			t.Errorf("%+v:\n got %q, %v\nwant %q", c.message, &b, err, c.want)
		}
	}
}
