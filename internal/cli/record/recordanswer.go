package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/record/launch"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// analyze writes the answer.
func (r *recorder) analyze(ctx context.Context) error {
	var costs []*analysis.Cost
	off := 0
	wanted := cli.Answer{Recordings: r.recordings, Mapping: r.mapping, Format: r.format, Output: r.answer,
		End: func(recording *analysis.Recording) {
			costs = append(costs, recording.Cost)
			if c := recording.Completeness; c != nil {
				off += c.MethodsOff
			}
		}}
	added, all := 0, 0
	if !r.con.Quiet {
		wanted.Profile, wanted.Learned = r.profile(), func(more, methods int) { added, all = more, methods }
	}
	failed := r.analysis.Run(ctx, r.con, wanted)
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
		r.con.Inform("recording cost: %s%s", analysis.SumCosts(costs), r.cheaper(words, off+added > 0, all))
	}
	return failed
}

func (r *recorder) profile() string { return stem(r.recording) + "-profile.txt" }

// cheaper says how the next recording of the program costs less, if there were very many calls. methods is how many the
// profile leaves out; it is 0 for an answer that writes none.
func (r *recorder) cheaper(recordings []string, many bool, methods int) string {
	profile := shellWord(r.profile())
	switch {
	case !many:
		return ""
	case methods > 0:
		return fmt.Sprintf("; to pay less: record --profile %s (methods left out: %d)", profile, methods)
	}
	return fmt.Sprintf("; to pay less: tracegen analyze %s --mapping %s --profile %s, then record --profile %s",
		strings.Join(recordings, " "), shellWord(r.mapping), profile, profile)
}

// shellWord returns a word for a command that the user may type.
func shellWord(word string) string {
	if strings.ContainsAny(word, " \t'\"\\$&|;()<>*?") {
		return launch.ShellQuote(word)
	}
	return word
}
