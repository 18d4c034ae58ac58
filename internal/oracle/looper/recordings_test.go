package looper

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// A recording is the content of one file, sorted.
type recording struct {
	meta    trace.Meta
	damage  trace.Damage
	end     trace.End
	stalls  []trace.StallChunk
	pending []trace.Pending
	records []trace.Records
	frames  []trace.Frame
}

// readRecordings reads every recording that the proofs wrote below a directory.
func readRecordings(t *testing.T, dir string) []recording {
	t.Helper()
	var all []recording
	for _, path := range recordingPaths(t, dir) {
		all = append(all, readRecording(t, path))
	}
	return all
}

func recordingPaths(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*/no_backup/recordings/*.tgd*", "*/no_backup/tracegen/*.tgd*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	return all
}

func readRecording(t *testing.T, path string) recording {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all recording
	for {
		chunk, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch c := chunk.(type) {
		case *trace.Meta:
			all.meta = *c
		case *trace.Records:
			all.records = append(all.records, *c)
		case *trace.StallChunk:
			all.stalls = append(all.stalls, *c)
		case *trace.Pending:
			all.pending = append(all.pending, *c)
		case *trace.Frames:
			all.frames = append(all.frames, c.List...)
		case *trace.End:
			all.end = *c
		}
	}
	all.damage = r.Damage()
	return all
}

// check compares a recording with the mapping and the platform, and checks what must hold for any recording.
func (r recording) check(t *testing.T, b bench, p platform) {
	t.Helper()
	if d := r.damage; d != (trace.Damage{Closed: true}) {
		t.Errorf("damage: %+v", d)
	}
	if got := r.meta.MappingID(); got != b.digest {
		t.Errorf("the recording is of the mapping %s, want %s", got, b.digest)
	}
	if got := r.meta.Values["package"]; got != appPackage {
		t.Errorf("package %q", got)
	}
	var records uint64
	for _, c := range r.records {
		records += uint64(len(c.List))
		for _, rec := range c.List {
			if _, ok := b.methods.ByID(rec.ID()); !ok {
				t.Fatalf("the record %#x has the ID of no method", uint64(rec))
			}
		}
	}
	if records != r.end.Records {
		t.Errorf("%d records, the last chunk says %d", records, r.end.Records)
	}
	for _, pending := range r.pending {
		if pending.Available == p.lockFree {
			t.Errorf("pending messages: available %v", pending.Available)
		}
	}
}

// entries returns the methods that were entered in a stall, by name.
func (r recording) entries(b bench, s trace.StallChunk) string {
	var names []string
	for _, c := range r.records {
		for k, rec := range c.List {
			at := c.First + uint64(k)
			if e, ok := b.methods.ByID(rec.ID()); ok && c.Thread == s.Thread && at >= s.FirstRecord && at < s.EndRecord &&
				rec.Entry() && e.Name != "took" {
				names = append(names, e.Name)
			}
		}
	}
	return strings.Join(names, " ")
}

// feedEntries are the methods that run in a message that opens a feed.
const feedEntries = "dispatchMessage open load rest decode rest decode rest decode rest bind layout rest rest"

// checkFeeds compares the recordings of RecordingProofs with what the app did: one slow message of the main looper, one
// on a thread, one in an idle handler. It returns the number of slow messages. There are more if the machine was so
// slow that a proof had to try again.
func checkFeeds(t *testing.T, all []recording, b bench, p platform, w world) (stalls int) {
	t.Helper()
	for _, r := range all {
		r.check(t, b, p)
		for _, j := range r.stalls {
			stalls++
			if got := r.entries(b, j); got != feedEntries {
				t.Errorf("%s: entries %q, want %q", j.Description, got, feedEntries)
			}
		}
	}
	want := 2
	if p.seesIdleHandlers(w) {
		want++
	}
	if stalls < want {
		t.Errorf("%d slow messages in %d recordings, want %d", stalls, len(all), want)
	}
	t.Logf("measured: %s: %d recordings read back, %d slow messages, every method in place", p.name, len(all), stalls)
	return stalls
}

// checkAnswers compares the report about the same recordings, with so many slow messages, with what the app did: it
// slept, in one method.
func checkAnswers(t *testing.T, dir string, b bench, p platform, w world, stalls int) {
	t.Helper()
	mappings, err := resolve.OpenMappings(b.mapping, nil)
	if err != nil {
		t.Fatal(err)
	}
	ran, inTime := map[string]int{}, 0
	countStall := func(s *analysis.Stall) error {
		m := s.Message
		ran[m.Kind]++
		if s.State != trace.ThreadState(5).String() {
			return nil // the sampler came late, and the proof has tried again
		}
		v := s.Verdict
		// On a busy machine some samples show that it had slept, and waited for a processor.
		if isMixed := v.Kind == analysis.KindMixed && v.Causes[0].Kind == analysis.KindSleep; !isMixed {
			inTime++
			if v.Kind != analysis.KindSleep || v.Likely != (s.CPU < 0) {
				t.Errorf("%s: the verdict is %s: %s", m, v.Kind, v.Text)
			}
		}
		if v.Method == nil || v.Method.Identity() != "app.Feed.rest" {
			t.Errorf("%s: the verdict is %s: %s", m, v.Kind, v.Text)
		}
		if m.Kind == "message" && (m.Handler != "RecordingProofs$FeedHandler" || *m.What != 1) ||
			m.Kind == "idle handler" && m.Handler != "RecordingProofs$SlowIdle" {
			t.Errorf("%q is read as %s", m.Text, m)
		}
		if (s.Pending != nil) == p.lockFree {
			t.Errorf("%s: pending messages are available: %t", m, s.Pending != nil)
		}
		if s.Repairs != (trace.Repairs{}) || !s.Reported {
			t.Errorf("%s: repairs %+v, reported %t", m, s.Repairs, s.Reported)
		}
		return nil
	}
	for _, path := range recordingPaths(t, dir) {
		r, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := analysis.Analyze(path, r, analysis.Options{Mappings: mappings, Stall: countStall}); err != nil {
			t.Error(err)
		}
		r.Close()
	}
	if inTime == 0 {
		t.Error("no slow message has a verdict that it slept")
	}
	idle := 0
	if p.seesIdleHandlers(w) {
		idle++
	}
	if ran["message"] != stalls-idle || ran["idle handler"] != idle || len(ran) != 1+idle {
		t.Errorf("slow were %v, want %d messages and %d idle handlers", ran, stalls-idle, idle)
	}
}

// checkFrames checks that the recordings of FrameProofs have at least one frame for each that was drawn while frames
// were recorded.
func checkFrames(t *testing.T, all []recording, b bench, p platform) {
	t.Helper()
	frames, records := 0, uint64(0)
	for _, r := range all {
		r.check(t, b, p)
		frames += len(r.frames)
		records += r.end.Records + r.end.Overwritten
		for _, f := range r.frames {
			if f.Start < f.VSync || f.End < f.Start {
				t.Errorf("a frame that was due at %d began at %d and ended at %d", f.VSync, f.Start, f.End)
			}
		}
	}
	if frames == 0 || records == 0 {
		t.Errorf("%d frames and %d records in %d recordings", frames, records, len(all))
	}
	t.Logf("measured: %s: %d frames and %d records read back", p.name, frames, records)
}

// checkVsyncs checks the recordings of VsyncProofs: every frame that was drawn is there, none twice, and with the rate
// that the display had.
func checkVsyncs(t *testing.T, dir string, p platform) {
	t.Helper()
	var drawn []trace.Frame
	rates := map[float64]int{}
	for _, path := range recordingPaths(t, dir) {
		frames := readRecording(t, path).frames
		switch filepath.Base(path) {
		case "drawn.tgd":
			drawn = frames
		case "rates.tgd":
			for _, f := range frames {
				rates[float64(f.RefreshHz)]++
			}
		}
	}
	if len(drawn) < 150 || len(drawn) > 155 {
		t.Errorf("%d frames in the recording, 150 were drawn", len(drawn))
	}
	for k, f := range drawn {
		if f.RefreshHz != 60 || k > 0 && f.VSync <= drawn[k-1].VSync {
			t.Errorf("frame %d: %+v", k, f)
		}
	}
	if rates[60] < 20 || rates[120] < 20 || len(rates) != 2 {
		t.Errorf("frames by refresh rate: %v, want some of 60 Hz and some of 120 Hz", rates)
	}
	t.Logf("measured: %s: %d frames read back, and by refresh rate %v", p.name, len(drawn), rates)
}
