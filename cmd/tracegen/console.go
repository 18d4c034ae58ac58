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

// console is where a command reads from and prints to.
type console struct {
	in       io.Reader
	out, err io.Writer

	asJSON  bool // --log-format json
	quiet   bool // nothing but warnings and errors
	verbose bool

	profiling profiling
}

// warn tells the user of something that did not keep the work from being done.
func (c *console) warn(format string, args ...any) {
	c.log("warning", fmt.Sprintf(format, args...))
}

// detail is said with -v only.
func (c *console) detail(format string, args ...any) {
	if c.verbose {
		c.log("", fmt.Sprintf(format, args...))
	}
}

// log prints a message, which may have several lines. The level is warning, error, or nothing for what is
// neither. In text, an error needs no word to say so: it is the last line.
func (c *console) log(level, message string) {
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

// progress shows a bar on standard error if somebody is there to see it; if not, advance is nil. done takes the
// bar away again, so that what is printed next starts on a clean line.
func (c *console) progress(what string) (advance func(done, total int64), done func()) {
	f, isFile := c.err.(*os.File)
	if c.quiet || c.asJSON || !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	// Plain characters and no colour codes, so that there is nothing in it for NO_COLOR to take away.
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
		// At its end the bar would be cleared, and begin anew when the work is done over.
		_ = bar.Set64(min(done, max-1))
	}
	return advance, func() { _ = bar.Clear() }
}
