package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/tracegen/tracegen/internal/report"
)

// console holds the streams that a command reads from and prints to.
type console struct {
	in       io.Reader
	out, err io.Writer

	asJSON  bool // --log-format json
	quiet   bool // print warnings and errors only
	verbose bool
	// clear removes the progress bar while a message is printed; nil if there is none.
	clear func()

	profiling profiling
}

// warn prints a warning: a fault that did not prevent the work.
func (c *console) warn(format string, args ...any) {
	c.log("warning", fmt.Sprintf(format, args...))
}

// detail prints a message with -v only.
func (c *console) detail(format string, args ...any) {
	if c.verbose {
		c.log("", fmt.Sprintf(format, args...))
	}
}

// log prints a message, which may have several lines. The level is "warning", "error", or "" for information. In text,
// an error is not marked as one: it is the last line.
func (c *console) log(level, message string) {
	if c.clear != nil {
		c.clear()
	}
	if c.asJSON {
		if level == "" {
			level = "info"
		}
		line, err := json.Marshal(struct {
			Level   string `json:"level"`
			Message string `json:"message"`
		}{level, message})
		if err == nil {
			fmt.Fprintf(c.err, "%s\n", line)
		}
		return
	}
	prefix := "tracegen: "
	if level == "warning" {
		prefix += "warning: "
	}
	for line := range strings.Lines(message) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			fmt.Fprintln(c.err, prefix+report.Printable(line))
		}
	}
}

// progress shows a progress bar if standard error is a terminal; otherwise advance is nil. done removes the bar, so
// that the next message starts on an empty line.
func (c *console) progress(what string) (advance func(done, total int64), done func()) {
	f, isFile := c.err.(*os.File)
	if c.quiet || c.asJSON || !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	// The bar has no colour codes, so that NO_COLOR needs no handling.
	bar := progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(c.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
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
	c.clear = func() { _ = bar.Clear() }
	return advance, func() {
		c.clear()
		c.clear = nil
	}
}
