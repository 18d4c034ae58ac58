package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// LogFormat is the format of messages.
type LogFormat uint8

const (
	LogText   LogFormat = iota // lines for people
	LogJSON                    // an object on each line
	LogGitHub                  // workflow commands of GitHub Actions
)

// Console holds the streams that a command reads from (In) and prints to (Out, Err), and the Format of messages.
type Console struct {
	In       io.Reader
	Out, Err io.Writer

	Format  LogFormat
	Quiet   bool // print warnings and errors only
	Verbose bool
	inGroup bool // a group of details has begun, see detail
	// erase erases the progress bar; nil if there is none.
	erase func()
}

// Warn prints a warning: a fault that did not prevent the work.
func (c *Console) Warn(format string, args ...any) {
	c.Print(Message{Level: LevelWarning, Text: fmt.Sprintf(format, args...)})
}

// WarnText prints a warning that is no format.
func (c *Console) WarnText(text string) { c.Warn("%s", text) }

// Inform prints information.
func (c *Console) Inform(format string, args ...any) {
	c.Print(Message{Level: LevelInfo, Text: fmt.Sprintf(format, args...)})
}

// Notify prints a result that a page about the run should show.
func (c *Console) Notify(format string, args ...any) {
	c.Print(Message{Level: LevelNotice, Title: "tracegen", Text: fmt.Sprintf(format, args...)})
}

// Detail prints a message with -v only. On a page of GitHub Actions, successive details are a group that can be opened.
func (c *Console) Detail(format string, args ...any) {
	if !c.Verbose {
		return
	}
	if c.Format == LogGitHub && !c.inGroup {
		c.inGroup = true
		fmt.Fprintln(c.Err, "::group::tracegen: details")
	}
	c.write(Message{Level: LevelInfo, Text: fmt.Sprintf(format, args...)})
}

// Print prints a message that is no detail.
func (c *Console) Print(m Message) {
	c.EndGroup()
	c.write(m)
}

// EndGroup ends the group of details, if there is one.
func (c *Console) EndGroup() {
	if c.inGroup {
		c.inGroup = false
		fmt.Fprintln(c.Err, "::endgroup::")
	}
}

// write writes a message in the format of --log-format.
func (c *Console) write(m Message) {
	c.HideProgress()
	switch c.Format {
	case LogJSON:
		_ = m.WriteJSON(c.Err) // there is nothing left to report an error to
	case LogGitHub:
		_ = m.WriteGitHub(c.Err)
	default:
		_ = m.WriteText(c.Err)
	}
}

// The parts of the line of a progress bar, in columns.
const (
	barWidth   = 30
	barLeast   = 5
	barNumbers = 32 // percentage, frame, and the times behind the bar, with hours
	// usualColumns is the width of a terminal that does not report one, and leastColumns that of one that a bar needs.
	usualColumns = 80
	leastColumns = 20
)

// Progress shows a progress bar if standard error is a terminal; otherwise advance is nil. done removes the bar, so
// that the next output starts on an empty line. done may be called several times.
func (c *Console) Progress(what string) (advance func(done, total int64), done func()) {
	f, isFile := c.Err.(*os.File)
	if c.Quiet || c.Format != LogText || !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	// A line that is wider than the terminal takes several of its lines, and only the last of them can be erased.
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < leastColumns {
		columns = usualColumns
	}
	width := min(barWidth, columns-1-len(what)-barNumbers)
	if width < barLeast {
		return nil, func() {}
	}
	// The bar has no colour codes, so that NO_COLOR needs no handling.
	bar := progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(c.Err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(width),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	var max int64 = 1
	advance = func(done, total int64) {
		if total > max {
			max = total
			bar.ChangeMax64(total)
		}
		// A bar that reaches its end is removed, and would start again if the work has another round.
		_ = bar.Set64(min(done, max-1))
	}
	// Spaces erase the line on every terminal. The package does not erase on Windows.
	c.erase = func() { fmt.Fprintf(c.Err, "\r%s\r", strings.Repeat(" ", columns-1)) }
	return advance, func() {
		c.HideProgress()
		c.erase = nil
	}
}

// HideProgress erases the progress bar, if there is one, before anything else is printed. The next step of the work
// shows it again.
func (c *Console) HideProgress() {
	if c.erase != nil {
		c.erase()
	}
}
