package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/tracegen/tracegen/internal/build/buildreport"
)

// logFormat is the format of messages.
type logFormat uint8

const (
	logText   logFormat = iota
	logJSON             // an object on each line
	logGitHub           // workflow commands of GitHub Actions
)

// console holds the streams that a command reads from and prints to.
type console struct {
	in       io.Reader
	out, err io.Writer

	format  logFormat
	quiet   bool // print warnings and errors only
	verbose bool
	inGroup bool // a group of details has begun, see detail
	// erase erases the progress bar; nil if there is none.
	erase func()

	profiling profiling
	pacer     *pacer // nil if the environment sets up the garbage collector
}

// warn prints a warning: a fault that did not prevent the work.
func (c *console) warn(format string, args ...any) {
	c.print(buildreport.Message{Level: buildreport.LevelWarning, Text: fmt.Sprintf(format, args...)})
}

// warnText prints a warning that is no format.
func (c *console) warnText(text string) { c.warn("%s", text) }

// inform prints information.
func (c *console) inform(format string, args ...any) {
	c.print(buildreport.Message{Level: buildreport.LevelInfo, Text: fmt.Sprintf(format, args...)})
}

// notify prints a result that a page about the run should show.
func (c *console) notify(format string, args ...any) {
	c.print(buildreport.Message{Level: buildreport.LevelNotice, Title: "tracegen", Text: fmt.Sprintf(format, args...)})
}

// detail prints a message with -v only. On a page of GitHub Actions, successive details are a group that can be opened.
func (c *console) detail(format string, args ...any) {
	if !c.verbose {
		return
	}
	if c.format == logGitHub && !c.inGroup {
		c.inGroup = true
		fmt.Fprintln(c.err, "::group::tracegen: details")
	}
	c.write(buildreport.Message{Level: buildreport.LevelInfo, Text: fmt.Sprintf(format, args...)})
}

// fail prints the error that ends a command. That of failed guards is one message for each of them.
func (c *console) fail(err error) {
	for _, one := range joined(err) {
		m := buildreport.Message{Level: buildreport.LevelError, Text: one.Error()}
		if guard := (guardError{}); errors.As(one, &guard) {
			m.Guard = &guard.Guard
		}
		c.print(m)
	}
	c.endGroup()
}

// joined returns the errors that the error of failed checks joins, or the error.
func joined(err error) []error {
	var failed checkFailed
	if !errors.As(err, &failed) {
		return []error{err}
	}
	if list, ok := failed.error.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	return []error{err}
}

// print prints a message that is no detail.
func (c *console) print(m buildreport.Message) {
	c.endGroup()
	c.write(m)
}

// endGroup ends the group of details, if there is one.
func (c *console) endGroup() {
	if c.inGroup {
		c.inGroup = false
		fmt.Fprintln(c.err, "::endgroup::")
	}
}

// write writes a message in the format of --log-format.
func (c *console) write(m buildreport.Message) {
	c.hideProgress()
	switch c.format {
	case logJSON:
		_ = m.WriteJSON(c.err) // there is nothing left to report an error to
	case logGitHub:
		_ = m.WriteGitHub(c.err)
	default:
		_ = m.WriteText(c.err)
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

// progress shows a progress bar if standard error is a terminal; otherwise advance is nil. done removes the bar, so
// that the next output starts on an empty line. done may be called several times.
func (c *console) progress(what string) (advance func(done, total int64), done func()) {
	f, isFile := c.err.(*os.File)
	if c.quiet || c.format != logText || !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
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
		progressbar.OptionSetWriter(c.err),
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
	c.erase = func() { fmt.Fprintf(c.err, "\r%s\r", strings.Repeat(" ", columns-1)) }
	return advance, func() {
		c.hideProgress()
		c.erase = nil
	}
}

// hideProgress erases the progress bar, if there is one, before anything else is printed. The next step of the work
// shows it again.
func (c *console) hideProgress() {
	if c.erase != nil {
		c.erase()
	}
}
