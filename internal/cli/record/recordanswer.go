package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// shownMethods is the number of methods in the table of a recording without stalls.
const shownMethods = 15

// analyze writes the answer.
func (r *recorder) analyze(ctx context.Context) error {
	stalls, failed := r.analysis.Run(ctx, r.con, r.answerIn(r.format, r.answer))
	if failed != nil && !errors.As(failed, new(cli.CheckFailed)) {
		return fmt.Errorf("%w; the recording is %s, its mapping %s", failed, r.recording, r.mapping)
	}
	if r.format == cli.FormatReport && stalls == 0 && r.answer == cli.StandardOutput {
		if err := r.showMethods(ctx); err != nil {
			return err
		}
	}
	if r.open {
		if err := r.showPage(ctx); err != nil {
			return err
		}
	}
	if !r.con.Quiet {
		var words []string
		for _, file := range r.recordings {
			words = append(words, shellWord(file))
		}
		r.con.Inform("recorded: %s, with the mapping %s", strings.Join(r.recordings, ", "), r.mapping)
		if !r.open {
			r.con.Inform("to look closer: tracegen analyze %s --mapping %s --format html -o %s.html",
				strings.Join(words, " "), shellWord(r.mapping), shellWord(stem(r.recording)))
		}
	}
	return failed
}

// answerIn returns the answer of this run in a format.
func (r *recorder) answerIn(format, output string) cli.Answer {
	return cli.Answer{Recordings: r.recordings, Mapping: r.mapping, Format: format, Output: output}
}

// showMethods writes what took the most time, for a recording in which nothing was slow.
func (r *recorder) showMethods(ctx context.Context) error {
	fmt.Fprintf(r.con.Out, "Nothing took %s or more: --slow lowers this threshold. The methods with the most time:\n\n",
		time.Duration(r.slow))
	var table bytes.Buffer
	a := r.answerIn(cli.FormatTable, cli.StandardOutput)
	a.Top = shownMethods
	con := &console.Console{In: r.con.In, Out: &table, Err: io.Discard} // the first answer had the warnings
	if _, err := r.analysis.Run(ctx, con, a); err != nil && !errors.As(err, new(cli.CheckFailed)) {
		return err
	}
	for line := range strings.Lines(table.String()) {
		if strings.HasPrefix(line, "!!!") {
			continue
		}
		if _, err := io.WriteString(r.con.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// showPage writes the page and opens it in the browser. If there is no browser, the page's path is enough.
func (r *recorder) showPage(ctx context.Context) error {
	page := stem(r.recording) + ".html"
	con := &console.Console{In: r.con.In, Out: io.Discard, Err: io.Discard} // the first answer had the warnings
	_, err := r.analysis.Run(ctx, con, r.answerIn("html", page))
	if err != nil && !errors.As(err, new(cli.CheckFailed)) {
		return err
	}
	if err := openInBrowser(page); err != nil {
		r.con.Warn("cannot open %s in a browser: %v", page, err)
		return nil
	}
	if !r.con.Quiet {
		r.con.Inform("opened in the browser: %s", page)
	}
	return nil
}

// openTimeout is how long a program that opens a page may take to fail.
const openTimeout = 10 * time.Second

// openInBrowser starts the system's program that opens files.
func openInBrowser(page string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", page)
	case "darwin":
		cmd = exec.Command("open", page)
	default:
		cmd = exec.Command("xdg-open", page)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(openTimeout):
		return nil // some run as long as the browser does
	}
}

// shellWord returns a word for a command that the user may type.
func shellWord(word string) string {
	if strings.ContainsAny(word, " \t'\"\\$&|;()<>*?") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
