package group

import (
	"fmt"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// Stall is a stall of one recording, with names in place of IDs.
type Stall struct {
	// Key is equal for stalls with one hot path; see [analysis.Stall.Key].
	Key string `json:"key"`
	// Recording is what the recording was opened as, and Number counts its stalls from 1. Of a report, Recording is the
	// recording's ID, and Number is 0.
	Recording string `json:"recording"`
	Number    int    `json:"number"`
	// Incident is the kind of an incident, whose Number is that of the device; empty for a stall.
	Incident string `json:"incident,omitempty"`
	// ReportID identifies the stall in a recording with an ID: the report that the device sends of it has the same.
	// ReportKind is "message", "idle-handler", "input", or the kind of an incident; Detector is what found an incident.
	ReportID   string `json:"reportId,omitempty"`
	ReportKind string `json:"reportKind,omitempty"`
	Detector   string `json:"detector,omitempty"`
	// NotCounted is why it does not count; empty if it counts. An incident of which the device sent a report may also be
	// covered by a stall of the same recording: that shows in a [Store] only.
	NotCounted analysis.NotCounted `json:"notCounted,omitempty"`
	// Thread is the name of its thread, empty if it concerns the whole process. Lasted is how long it lasted, with the
	// time in which the process did not run, in nanoseconds.
	Thread string `json:"thread,omitempty"`
	Lasted int64  `json:"lasted,omitempty"`
	// App, Version, Code and Device are what the program said of itself: its package, versionName, versionCode and
	// device; empty if it said nothing.
	App     string `json:"app,omitempty"`
	Version string `json:"version,omitempty"`
	Code    string `json:"code,omitempty"`
	Device  string `json:"device,omitempty"`
	// User is the user of the recording, empty if it has none.
	User string `json:"user,omitempty"`
	// Time is when it began, in milliseconds since 1970, UTC; 0 if that is not known.
	Time int64 `json:"time,omitempty"`
	// Wall is how long it took, without the time in which the process did not run, CPU how long of that on a processor,
	// in nanoseconds; CPU is -1 if it is not known.
	Wall int64 `json:"wall"`
	CPU  int64 `json:"cpu"`
	// Kind is what it was slow for, Verdict says it in words.
	Kind    analysis.Kind `json:"kind"`
	Verdict string        `json:"verdict"`
	// Title says what ran, Scene where the app was.
	Title string `json:"title"`
	Scene string `json:"scene,omitempty"`
	// HotPath has the methods that lead to where the time went, the outermost first; Method is the one to blame.
	HotPath []string `json:"hotPath"`
	Method  string   `json:"method,omitempty"`
}

// userKeys are the keys by which programs name their user; the first that is there counts.
var userKeys = [...]string{"user", "userId", "uid", "uin", "installId", "deviceId"}

// NewStall makes a stall of one that was found in a recording.
func NewStall(s *analysis.Stall) Stall {
	meta := s.Recording.Meta
	c := Stall{
		Key: s.Key, Recording: s.Recording.Name, Number: s.Number,
		App: meta["package"], Version: buildOf(s.Recording).version, Code: buildOf(s.Recording).code, Device: meta["device"],
		Wall: s.Ran.Nanoseconds(), CPU: s.CPU.Nanoseconds(),
		Kind: s.Verdict.Kind, Verdict: s.Verdict.Text, Title: s.Title(), Scene: s.Scene,
		User: userOfMeta(meta), ReportKind: string(s.Kind),
		NotCounted: s.NotCounted(), Thread: s.Thread.Name, Lasted: s.Wall.Nanoseconds(),
	}
	c.setKind(s)
	if !s.Time.IsZero() {
		c.Time = s.Time.UnixMilli()
	}
	if id := meta["recordingId"]; id != "" && s.Reported {
		c.ReportID = stallID(id, s.Sequence, s.Thread.Index)
	}
	for _, step := range s.HotPath {
		c.HotPath = append(c.HotPath, step.Method.Identity())
	}
	if m := s.Verdict.Method; m != nil {
		c.Method = m.Identity()
	}
	return c
}

// stallID returns the ID of the report of a stall: of its recording, its number on its thread, and its thread.
func stallID(recording string, sequence uint64, thread uint32) string {
	return fmt.Sprintf("%s-s%d-%d", recording, sequence, thread)
}

// userOfMeta returns the user of a recording, empty if it has none.
func userOfMeta(meta map[string]string) string {
	for _, key := range userKeys {
		if user := meta[key]; user != "" {
			return user
		}
	}
	return ""
}

// when returns when the stall began, the zero time if that is not known.
func (c *Stall) when() time.Time {
	if c.Time == 0 {
		return time.Time{}
	}
	return time.UnixMilli(c.Time).UTC()
}
