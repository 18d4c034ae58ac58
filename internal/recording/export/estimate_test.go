package export_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// longNames has a long name for every method from 50 on.
type longNames struct{ naming }

func (n longNames) Name(m trace.Method) (trace.Name, bool) {
	if m < 50 || m >= 100 {
		return n.naming.Name(m)
	}
	return trace.Name{Class: "com.example." + strings.Repeat("generated.", 6) + "C" + string('A'+rune(m%26)),
		Method: "accept" + string('a'+rune(m%26)), Descriptor: "()V"}, true
}

// phases is a recording of 180,000 calls. The first 140,000 have few names and take no time; the others have long
// names and take some time.
func phases() []byte {
	r := newRecorded("tickNanos", "1000", "process", "com.app")
	r.clock(0, 1_795_000_000_000)
	r.thread(0, "main", true)
	var list []record
	now := int64(0)
	for k := range int64(90_000) {
		id, took := 1+k%2, int64(0)
		if k >= 70_000 {
			id, took = 50+k%49, 1+k%3
		}
		list = append(list, record{id, now}, record{id + 1, now}, record{-id - 1, now + took}, record{-id, now + took})
		now += took
	}
	for first := 0; first < len(list); first += 1 << 15 {
		r.add(0, uint64(first), list[first:min(first+1<<15, len(list))]...)
	}
	return r.end()
}

// analyzeInto feeds a writer with a view of recordings, and closes it.
func analyzeInto(v export.Writer, view *analysis.View, names trace.Names, recordings ...[]byte) error {
	for _, data := range recordings {
		s, err := trace.NewSource(bytes.NewReader(data))
		if err == nil {
			err = analysis.Analyze("a.tgd", s, analysis.Options{Names: names, Stall: v.Stall, View: view,
				Also: func(r *analysis.Recording) (trace.Handler, error) { return v, v.Recording(r) }})
		}
		if err != nil {
			return err
		}
	}
	return v.Close()
}

// TestEstimate estimates the size of exports, of small and large recordings, with all calls and with short calls
// folded.
//
// Invariant: The estimated size of an export is more than half of its size, and less than twice its size.
func TestEstimate(t *testing.T) {
	recordings, _ := totalsRecordings(t)
	sets := map[string][][]byte{"several": recordings, "everything": {full()}, "phases": {phases()}}
	if !testing.Short() {
		sets["million"] = [][]byte{million()}
	}
	vectorFiles, err := filepath.Glob(vectors + "*.tgd")
	if err != nil || len(vectorFiles) == 0 {
		t.Fatal(vectorFiles, err)
	}
	for _, file := range vectorFiles {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sets[filepath.Base(file)] = [][]byte{data}
	}
	sampled := 0
	for name, set := range sets {
		for view, what := range map[*analysis.View]string{nil: "all", {Resolution: 5e6}: "folded",
			{Least: 2e6}: "at least 2 ms"} {
			for _, f := range export.Formats() {
				if f.Merges || view != nil && (name == "million" || name == "phases") {
					continue
				}
				e, err := export.NewEstimator(f.Name, export.Options{})
				if err != nil {
					t.Fatal(err)
				}
				failed := analyzeInto(e, view, longNames{}, set...)
				var out bytes.Buffer
				v, err := export.New(f.Name, &out, export.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := analyzeInto(v, view, longNames{}, set...); err != nil || failed != nil {
					if err == nil || failed == nil || err.Error() != failed.Error() {
						t.Errorf("%s of %s: the export fails with %v, its estimate with %v", f.Name, name, err, failed)
					}
					continue // an ART trace has room for 71 minutes
				}
				got, real := e.Estimate(), int64(out.Len())
				if got.Bytes <= real/2 || got.Bytes >= 2*real {
					t.Errorf("%s of %s, %s: estimated %d bytes, are %d", f.Name, name, what, got.Bytes, real)
				}
				if got.Events <= 1<<17 && got.Bytes != real {
					t.Errorf("%s of %s, %s: %d events are all in the sample, but %d bytes were estimated instead of %d",
						f.Name, name, what, got.Events, got.Bytes, real)
				}
				if got.Bytes != real {
					sampled++
				}
			}
		}
	}
	if sampled == 0 {
		t.Error("no recording is so large that only a sample was exported")
	}
}

// TestMergedSize checks that the size of a format that merges calls is known before anything is written.
func TestMergedSize(t *testing.T) {
	for _, f := range export.Formats() {
		if !f.Merges {
			continue
		}
		refused := errors.New("refused")
		for _, answer := range []error{nil, refused} {
			var out bytes.Buffer
			size := int64(-1)
			v, err := export.New(f.Name, &out, export.Options{Size: func(bytes int64) error {
				if out.Len() > 0 {
					t.Errorf("%s: %d bytes were written before the size was reported", f.Name, out.Len())
				}
				size = bytes
				return answer
			}})
			if err == nil {
				err = feed(v, naming{}, full())
			}
			if err != nil {
				t.Fatal(err)
			}
			err = v.Close()
			if !errors.Is(err, answer) || answer == nil && size != int64(out.Len()) || answer != nil && out.Len() != 0 {
				t.Errorf("%s: error %v, size %d, written %d", f.Name, err, size, out.Len())
			}
		}
	}
}

// TestLimited checks that no more than the limit is written.
func TestLimited(t *testing.T) {
	var out bytes.Buffer
	tooLarge := errors.New("too large")
	w := &export.Limited{W: &out, Left: 10, Err: tooLarge}
	for _, step := range []struct {
		text string
		err  error
	}{{"12345", nil}, {"67890", nil}, {"x", tooLarge}} {
		if _, err := w.Write([]byte(step.text)); !errors.Is(err, step.err) {
			t.Errorf("write %q: %v, want %v", step.text, err, step.err)
		}
	}
	if out.String() != "1234567890" {
		t.Errorf("written: %q", &out)
	}
}

// million is a recording of a million records: some 5,000 messages of 12 methods on two threads.
func million() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "5", "process", "com.app")
	r.clock(0, 1_795_000_000_000)
	r.thread(0, "main", true)
	r.thread(1, "worker", false)
	for thread := range uint32(2) {
		var list []record
		for seed := uint64(thread) << 32; len(list) < 500_000; seed++ {
			last := int64(0)
			if len(list) > 0 {
				last = list[len(list)-1].ticks
			}
			for _, rec := range wander(seed, 40, 200, false) {
				list = append(list, record{rec.id, last + rec.ticks})
			}
		}
		list = list[:500_000]
		for first := 0; first < len(list); first += 1 << 15 {
			r.add(thread, uint64(first), list[first:min(first+1<<15, len(list))]...)
		}
	}
	return r.end()
}
