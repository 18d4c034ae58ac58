package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	if !r.con.Quiet {
		var words []string
		for _, file := range r.recordings {
			words = append(words, shellWord(file))
		}
		r.con.Inform("recorded: %s, with the mapping %s", strings.Join(r.recordings, ", "), r.mapping)
		r.con.Inform("to look closer: tracegen analyze %s --mapping %s --format html -o %s.html",
			strings.Join(words, " "), shellWord(r.mapping), shellWord(stem(r.recording)))
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

// shellWord returns a word for a command that the user may type.
func shellWord(word string) string {
	if strings.ContainsAny(word, " \t'\"\\$&|;()<>*?") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
