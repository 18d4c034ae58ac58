package answer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
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

// stallJSON is a stall as JSON.
type stallJSON struct {
	Recording   string                 `json:"recording"`
	Number      int                    `json:"number"`
	Thread      threadJSON             `json:"thread"`
	Sequence    uint64                 `json:"sequence"`
	Begin       time.Duration          `json:"beginNanos"`
	Time        string                 `json:"time,omitempty"`
	Wall        time.Duration          `json:"wallNanos"`
	CPU         time.Duration          `json:"cpuNanos"`
	Suspended   time.Duration          `json:"suspendedNanos"`
	Suspensions []analysis.Suspension  `json:"suspensions"`
	Precision   time.Duration          `json:"precisionNanos"`
	GC          time.Duration          `json:"gcNanos"`
	GCCount     int64                  `json:"gcCount"`
	Reported    bool                   `json:"reported"`
	Ended       bool                   `json:"ended"`
	Kind        analysis.StallKind     `json:"kind"`
	Threshold   time.Duration          `json:"thresholdNanos,omitempty"`
	Message     resolve.Message        `json:"message"`
	Scene       string                 `json:"scene,omitempty"`
	Foreground  bool                   `json:"foreground"`
	PostedBy    *analysis.Poster       `json:"postedBy,omitempty"`
	Verdict     analysis.Verdict       `json:"verdict"`
	Hang        *analysis.Hang         `json:"hang,omitempty"`
	Exit        *analysis.StallExit    `json:"exit,omitempty"`
	Key         string                 `json:"key"`
	DeviceKey   string                 `json:"deviceKey,omitempty"`
	HotPath     []analysis.Step        `json:"hotPath"`
	MostSelf    []analysis.Step        `json:"mostSelf"`
	State       string                 `json:"state"`
	LockOwner   string                 `json:"lockOwner,omitempty"`
	Samples     []analysis.StackSample `json:"samples"`
	Holder      []analysis.StackSample `json:"holderSamples"`
	Before      []analysis.Past        `json:"before"`  // null if not known
	Pending     []analysis.Waiting     `json:"pending"` // null if not known
	Repairs     repairsJSON            `json:"repairs"`

	Machine        []analysis.MachineState `json:"machine,omitempty"`
	NotRecorded    time.Duration           `json:"notRecordedNanos,omitempty"`
	CallersUnknown bool                    `json:"callersUnknown,omitempty"`
}

type threadJSON struct {
	Index uint32 `json:"index"`
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Label string `json:"label"`
	Main  bool   `json:"main"`
}

type repairsJSON struct {
	Unwound   uint64 `json:"unwound"`
	Truncated uint64 `json:"truncated"`
	Open      uint64 `json:"open"`
	Cut       uint64 `json:"cut"`
	Stray     uint64 `json:"stray"`
	Retimed   uint64 `json:"retimed"`
	Gaps      uint64 `json:"gaps"`
	Lost      uint64 `json:"lost"`
	Overfull  uint64 `json:"overfull"`
	Jumps     uint64 `json:"jumps"`
}

type damageJSON struct {
	LostChunks   uint64 `json:"lostChunks"`
	Malformed    uint64 `json:"malformed"`
	SkippedBytes uint64 `json:"skippedBytes"`
	Unknown      uint64 `json:"unknown"`
	Header       bool   `json:"header"`
	Closed       bool   `json:"closed"`
}

type recordingJSON struct {
	Name        string            `json:"name"`
	Digest      string            `json:"digest"`
	Resolved    bool              `json:"resolved"`
	Forced      bool              `json:"forced"`
	Meta        map[string]string `json:"meta"`
	Precision   time.Duration     `json:"precisionNanos"`
	Span        time.Duration     `json:"spanNanos"`
	Stalls      int               `json:"stalls"`
	Threads     int               `json:"threads"`
	Records     uint64            `json:"records"`
	Overwritten uint64            `json:"overwritten"`
	Methods     int               `json:"methods"`
	Unresolved  int               `json:"unresolved"`
	Repairs     repairsJSON       `json:"repairs"`
	Damage      damageJSON        `json:"damage"`
	Parts       int               `json:"parts"`
	Missing     []missingJSON     `json:"missingParts"`
	Exit        *analysis.Exit    `json:"exit,omitempty"`

	Completeness *analysis.Completeness `json:"completeness,omitempty"`

	// Detectors is null if the recording does not say what they did.
	Detectors        []analysis.Detector `json:"detectors"`
	Incidents        []incidentJSON      `json:"incidents"`
	OmittedIncidents int                 `json:"omittedIncidents,omitempty"`
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
	out := stallJSON{
		Recording: s.Recording.Name, Number: s.Number, Thread: threadJSON{s.Thread.Index, s.Thread.ID,
			s.Thread.Name, s.Thread.Label, s.Thread.Main},
		Sequence: s.Sequence, Begin: s.Begin, Wall: s.Wall, CPU: max(s.CPU, -1), Suspended: s.Suspended,
		Suspensions: list(s.Suspensions), Precision: s.Precision, Exit: s.Exit, GC: s.GC,
		GCCount: s.GCCount, Reported: s.Reported, Ended: s.Ended,
		Kind: s.Kind, Threshold: s.Threshold, Message: s.Message, Scene: s.Scene, Foreground: s.Foreground,
		PostedBy: s.PostedBy, Verdict: s.Verdict, Hang: s.Hang, Key: s.Key,
		DeviceKey: s.DeviceKey,
		HotPath:   list(s.HotPath), MostSelf: list(s.MostSelf), State: s.State, LockOwner: s.LockOwner,
		Samples: list(s.Samples), Holder: list(s.Holder),
		Repairs: repairsJSON(s.Repairs), NotRecorded: s.NotRecorded, Machine: s.Machine, CallersUnknown: s.CallersUnknown,
	}
	if !s.Time.IsZero() {
		out.Time = s.Time.Format("2006-01-02T15:04:05.000Z")
	}
	if s.BeforeKnown {
		out.Before = list(s.Before)
	}
	if s.PendingKnown {
		out.Pending = list(s.Pending)
	}
	return j.item(&j.slow, out)
}

// list returns an empty list for none: null says that it is not known.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
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
		meta := r.Meta
		if meta == nil {
			meta = map[string]string{}
		}
		err := j.item(&n, recordingJSON{r.Name, r.Digest, r.Resolved, r.Forced, meta, r.Precision, r.Span, r.Stalls,
			r.Threads,
			r.Records, r.Overwritten, r.Methods, r.Unresolved, repairsJSON(r.Repairs), damageOf(r.Damage), r.Parts,
			missingOf(r.Missing), r.Exit, r.Completeness, r.Detectors, incidentsOf(r), r.OmittedIncidents})
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

func damageOf(d trace.Damage) damageJSON {
	return damageJSON{d.LostChunks, d.Malformed, d.SkippedBytes, d.Unknown, d.Header, d.Closed}
}

// incidentJSON is an incident as JSON.
type incidentJSON struct {
	*analysis.Incident
	Time   string      `json:"time,omitempty"`
	Thread *threadJSON `json:"thread"` // null if it concerns the whole process
}

func incidentsOf(r *analysis.Recording) []incidentJSON {
	all := []incidentJSON{}
	for _, i := range r.Incidents {
		out := incidentJSON{Incident: i}
		if !i.Time.IsZero() {
			out.Time = i.Time.Format("2006-01-02T15:04:05.000Z")
		}
		if t := i.Thread; t != nil {
			out.Thread = &threadJSON{t.Index, t.ID, t.Name, t.Label, t.Main}
		}
		all = append(all, out)
	}
	return all
}
