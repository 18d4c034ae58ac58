package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/internal/cli"
)

// analyze writes the answer.
func (r *recorder) analyze(ctx context.Context) error {
	failed := r.analysis.Run(ctx, r.con, cli.Answer{Recordings: r.recordings, Mapping: r.mapping, Format: r.format,
		Output: r.answer})
	if failed != nil && !errors.As(failed, new(cli.CheckFailed)) {
		return fmt.Errorf("%w; the recording is %s, its mapping %s", failed, r.recording, r.mapping)
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

// shellWord returns a word for a command that the user may type.
func shellWord(word string) string {
	if strings.ContainsAny(word, " \t'\"\\$&|;()<>*?") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
