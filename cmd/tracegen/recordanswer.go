package main

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

	"github.com/tracegen/tracegen/internal/recording/answer"
)

// shownMethods is the number of methods in the table of a recording without stalls.
const shownMethods = 15

// analyze writes the answer.
func (r *recorder) analyze(ctx context.Context) error {
	a := r.analysis(r.format, r.answer)
	failed := a.run(ctx, r.recordings)
	if failed != nil && !errors.As(failed, new(checkFailed)) {
		return fmt.Errorf("%w; the recording is %s, its mapping %s", failed, r.recording, r.mapping)
	}
	if r.format == answersReport && a.stalls == 0 && r.answer == standardOutput {
		if err := r.showMethods(ctx); err != nil {
			return err
		}
	}
	if r.open {
		if err := r.showPage(ctx); err != nil {
			return err
		}
	}
	if !r.con.quiet {
		var words []string
		for _, file := range r.recordings {
			words = append(words, shellWord(file))
		}
		r.con.inform("recorded: %s, with the mapping %s", strings.Join(r.recordings, ", "), r.mapping)
		if !r.open {
			r.con.inform("to look closer: tracegen analyze %s --mapping %s --format html -o %s.html",
				strings.Join(words, " "), shellWord(r.mapping), shellWord(stem(r.recording)))
		}
	}
	return failed
}

// analysis returns the command analyze with some of its options set.
func (r *recorder) analysis(format, output string) *analyzing {
	a := &analyzing{con: r.con}
	a.rows = a.options()
	a.format, a.output, a.named = format, output, true
	a.naming.mapping = r.mapping
	a.naming.messages = r.messages
	return a
}

// showMethods writes what took the most time, for a recording in which nothing was slow.
func (r *recorder) showMethods(ctx context.Context) error {
	fmt.Fprintf(r.con.out, "Nothing took %s or more: --slow lowers this threshold. The methods with the most time:\n\n",
		time.Duration(r.slow))
	var table bytes.Buffer
	a := r.analysis(answersTable, standardOutput)
	a.con = &console{in: r.con.in, out: &table, err: io.Discard} // the first answer had the warnings
	a.sort, a.top = answer.OrderTotal, shownMethods
	if err := a.run(ctx, r.recordings); err != nil && !errors.As(err, new(checkFailed)) {
		return err
	}
	for line := range strings.Lines(table.String()) {
		if strings.HasPrefix(line, "!!!") {
			continue
		}
		if _, err := io.WriteString(r.con.out, line); err != nil {
			return err
		}
	}
	return nil
}

// showPage writes the page and opens it in the browser. If there is no browser, the page's path is enough.
func (r *recorder) showPage(ctx context.Context) error {
	page := stem(r.recording) + ".html"
	a := r.analysis("html", page)
	a.con = &console{in: r.con.in, out: io.Discard, err: io.Discard} // the first answer had the warnings
	err := a.run(ctx, r.recordings)
	if err != nil && !errors.As(err, new(checkFailed)) {
		return err
	}
	if err := openInBrowser(page); err != nil {
		r.con.warn("cannot open %s in a browser: %v", page, err)
		return nil
	}
	if !r.con.quiet {
		r.con.inform("opened in the browser: %s", page)
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
