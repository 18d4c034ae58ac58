package answer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// JSON writes answers for programs: one object, as they come. docs/analyze.schema.json has its schema; keys are added,
// never renamed or removed.
type JSON struct {
	w          *bufio.Writer
	recordings []*analysis.Recording
	slow       int
}

// NewJSON begins the object. version is the program's.
func NewJSON(w io.Writer, version string) (*JSON, error) {
	j := &JSON{w: bufio.NewWriter(w)}
	v, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(j.w, "{\"schema\":1,\"version\":%s,\n\"stalls\":[", v)
	return j, err
}

// missingJSON is what is missing between two parts; to is 0 if that is not known.
type missingJSON struct {
	From    int           `json:"from"`
	To      int           `json:"to"`
	Nanos   time.Duration `json:"nanos"`
	Deleted bool          `json:"deleted"`
}

// Stall writes a stall.
func (j *JSON) Stall(s *analysis.Stall) error {
	if s.WallUnknown {
		unknown := *s
		unknown.Wall = -1
		s = &unknown
	}
	return j.item(&j.slow, struct {
		Recording string `json:"recording"`
		*analysis.Stall
	}{s.Recording.Name, s})
}

// item writes one element of an array, which has n before it.
func (j *JSON) item(n *int, value any) error {
	if *n > 0 {
		j.w.WriteByte(',')
	}
	*n++
	j.w.WriteByte('\n')
	e := json.NewEncoder(j.w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// End takes a recording that has been read.
func (j *JSON) End(r *analysis.Recording) error {
	j.recordings = append(j.recordings, r)
	return nil
}

// Close writes the rest: the recordings, and the methods if there are any. top is how many, 0 for all.
func (j *JSON) Close(m *Methods, by Order, top int) error {
	j.w.WriteString("],\n\"recordings\":[")
	n := 0
	for _, r := range j.recordings {
		err := j.item(&n, struct {
			*analysis.Recording
			Missing    []missingJSON `json:"missingParts"`
			Coroutines *Coroutines   `json:"coroutines,omitempty"`
			Compose    *Compositions `json:"compose,omitempty"`
		}{r, missingOf(r.Missing), coroutinesOf(r), compositionsOf(r)})
		if err != nil {
			return err
		}
	}
	j.w.WriteString("],\n\"methods\":[")
	n = 0
	for i, t := range m.Sorted(by) {
		if i == top && top > 0 {
			break
		}
		if err := j.item(&n, t); err != nil {
			return err
		}
	}
	j.w.WriteString("]}\n")
	return j.w.Flush()
}

func missingOf(missing []trace.MissingParts) []missingJSON {
	out := []missingJSON{}
	for _, m := range missing {
		out = append(out, missingJSON{m.From, m.To, time.Duration(m.End - m.Begin), m.Deleted})
	}
	return out
}
