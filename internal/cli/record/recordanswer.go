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
	learned := 0
	wanted.Learned = func(methods int) { learned = methods }
	wanted.Profile = func() string {
		if off == 0 || r.con.Quiet {
			return ""
		}
		return r.profile()
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
		r.con.Inform("recording cost: %s%s", analysis.SumCosts(costs), r.cheaper(words, off, learned))
	}
	return failed
}

func (r *recorder) profile() string { return stem(r.recording) + "-profile.txt" }

// cheaper says how the next recording of the program costs less, if methods made so many calls that they were switched
// off. learned is how many the profile leaves out; it is 0 for an answer that writes none.
func (r *recorder) cheaper(recordings []string, off, learned int) string {
	profile := shellWord(r.profile())
	switch {
	case off == 0:
		return ""
	case learned > 0:
		return fmt.Sprintf("; to pay less: record --profile %s (methods left out: %d)", profile, learned)
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
