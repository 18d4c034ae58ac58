package export_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// exportOf returns the export of what write writes.
func exportOf(t testing.TB, format string, write func(export.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	v, err := export.New(format, &b, export.Options{})
	if err == nil {
		err = write(v)
	}
	if err == nil {
		err = v.Close()
	}
	if err != nil {
		t.Fatal(format, err)
	}
	return b.Bytes()
}

// exportBytes replays recordings into an exporter, and returns the export.
func exportBytes(t testing.TB, format string, names trace.Names, recordings ...[]byte) []byte {
	t.Helper()
	return exportOf(t, format, func(v export.Writer) error {
		for _, data := range recordings {
			if err := feed(v, names, data); err != nil {
				return err
			}
		}
		return nil
	})
}

// feed has package analysis read whatever trace takes, and an export written of it.
func feed(v export.Writer, names trace.Names, data []byte) error {
	s, err := source.New(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return feedSource(v, names, "a.tgd", s)
}

func feedSource(v export.Writer, names trace.Names, title string, in analysis.Source) error {
	return analysis.Analyze(title, in, analysis.Options{Names: names, Stall: v.Stall,
		Also: func(r *analysis.Recording) (trace.Handler, error) { return v, v.Recording(r) }})
}

// content is a source that hands on what a test says.
type content func(trace.Handler) error

func (c content) Replay(h trace.Handler) error { return c(h) }
func (c content) Damage() trace.Damage         { return trace.Damage{Closed: true} }

// reading is a format and a program that reads it.
type reading struct {
	format, file, by string
	// read returns what the program shows of each method, and every call in its order if it shows them.
	read   func(testing.TB, string) (map[method]measure, []plainCall)
	merged bool  // it does not distinguish threads
	marked bool  // methods with marks are others, so that their totals do not add up
	exact  int64 // how far off it may be: one part of so many, 0 for none
}

func readings() []reading {
	return []reading{
		{format: "collapsed", file: "x.collapsed", by: "the test", read: readCollapsed},
		{format: "speedscope", file: "x.speedscope.json", by: "speedscope", read: readSpeedscope, marked: true,
			exact: 200},
		{format: "html", file: "x.html", by: "its own script", read: readHTML},
		{format: "perfetto", file: "x.perfetto-trace", by: "trace processor", read: readPerfetto},
		{format: "pprof", file: "x.pb.gz", by: "package profile", read: readProfile},
		{format: "pprof", file: "x.pb.gz", by: "go tool pprof", read: readTop, merged: true},
		{format: "firefox", file: "x.firefox.json", by: "Firefox Profiler", read: readFirefox},
	}
}

// totalsRecordings are what totals are compared on. Each has threads with names of their own, but for the vector all
// that takes time is between 0 and some seconds.
func totalsRecordings(t testing.TB) (all [][]byte, distinct []byte) {
	t.Helper()
	start := func(tick string, threads ...string) *recorded {
		r := newRecorded("tickNanos", tick, "clockPeriodMillis", "5", "process", "com.app", "slowMillis", "700")
		r.clock(5_000_000_000, 1_795_000_000_000)
		for k, name := range threads {
			r.thread(uint32(k), name, k == 0)
		}
		return r
	}
	ties := start("1000000", "ties")
	ties.add(0, 0, record{1, 3}, record{2, 3}, record{-2, 3}, record{2, 3}, record{2, 4}, record{-2, 9}, record{-2, 9},
		record{3, 9},
		record{-3, 9}, record{-1, 9}, record{1, 9}, record{-1, 9}, record{1, 9}, record{-1, 12})

	unwound := start("1000000", "unwound", "unwound worker")
	unwound.add(0, 0, wander(1, 30, 40, true)...)
	unwound.add(1, 0, wander(2, 10, 60, false)...)

	open := start("1000", "open", "open worker")
	open.add(0, 0, wander(3, 100, 50, false)...)
	open.add(1, 0, append(wander(4, 5, 20, false), record{trace.MethodDispatch, 2000}, record{7, 2001}, record{7, 2003},
		record{8, 2005}, record{-8, 2009})...)

	apart := start("1000", "apart")
	list := wander(5, 20, 40, false)
	for i := range list {
		list[i].ticks = int64(i)*3 + list[i].ticks%3
	}
	apart.add(0, 0, list...)

	vector, err := os.ReadFile(vectors + "open.tgd")
	if err != nil {
		t.Fatal(err)
	}
	distinct = apart.end()
	return [][]byte{vector, ties.end(), unwound.end(), open.end(), distinct}, distinct
}

// TestTotalsAgree reads each export with programs that are not ours, and compares what they say of each method with a
// replay that is not the views'; where they show single calls, these and how they nest.
//
// Invariant: Other programs read in an export, for each method, what an independent replay reports.
func TestTotalsAgree(t *testing.T) {
	all, distinct := totalsRecordings(t)
	for name, recordings := range map[string][][]byte{"all": all, "distinct": {distinct}} {
		var calls []plainCall
		for _, data := range recordings {
			calls = append(calls, plain(t, data, naming{}, len(calls))...)
		}
		want := measured(calls)
		slices.SortStableFunc(calls, func(a, b plainCall) int { return cmp.Compare(a.Thread, b.Thread) })
		dir := t.TempDir()
		for _, r := range readings() {
			if name == "distinct" && !r.marked {
				continue
			}
			t.Run(name+"/"+r.format+"/"+r.by, func(t *testing.T) {
				file := filepath.Join(dir, r.format+r.file)
				if err := os.WriteFile(file, exportBytes(t, r.format, naming{}, recordings...), 0o644); err != nil {
					t.Fatal(err)
				}
				got, one := r.read(t, file)
				if r.merged {
					compare(t, r, got, together(want), false)
				} else {
					compare(t, r, got, want, r.marked && name == "all")
				}
				if one != nil {
					ignored := cmpopts.IgnoreFields(plainCall{}, "parent", "open", "unwoundOut")
					if diff := gocmp.Diff(calls, one, gocmp.AllowUnexported(plainCall{}), ignored); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}
}

// TestFoldedTotalsAgree reads exports with folded calls with the same programs: the time of each thread is what it is
// with all calls, and there are fewer of them.
//
// Invariant: Other programs read in an export with folded calls the time of each thread that an independent replay
// reports.
func TestFoldedTotalsAgree(t *testing.T) {
	_, data := totalsRecordings(t)
	whole := measured(plain(t, data, naming{}, 0))
	want, merged := map[string]int64{}, int64(0)
	for key, m := range whole {
		want[key.Thread] += m.Self
		merged += m.Self
	}
	for _, r := range readings() {
		if slices.ContainsFunc(export.Formats(), func(f export.Format) bool { return f.Name == r.format && f.Merges }) {
			continue
		}
		t.Run(r.format+"/"+r.by, func(t *testing.T) {
			var b bytes.Buffer
			v, err := export.New(r.format, &b, export.Options{})
			if err == nil {
				err = analyzeInto(v, &analysis.View{Fold: true}, naming{}, data)
			}
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), r.format+r.file)
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			methods, _ := r.read(t, file)
			got, folded := map[string]int64{}, 0
			for key, m := range methods {
				thread := key.Thread
				got[thread] += m.Self
				if strings.Contains(key.Name, " methods") {
					folded++
				}
			}
			want := want
			if r.merged {
				want = map[string]int64{"": merged}
			}
			for thread, nanos := range want {
				off := got[thread] - nanos
				if off != 0 && (r.exact == 0 || max(off, -off) > nanos/r.exact) {
					t.Errorf("thread %q has %d ns, want %d", thread, got[thread], nanos)
				}
			}
			if folded == 0 {
				t.Errorf("no call of several methods is shown: %v", methods)
			}
		})
	}
}

// compare fails if a reader shows other totals than the recording has. A method that took no time may be missing where
// the reader has no calls.
func compare(t *testing.T, r reading, got, want map[method]measure, noTotals bool) {
	t.Helper()
	if len(got) == 0 {
		t.Fatal("nothing was read")
	}
	for key, w := range want {
		g, ok := got[key]
		if !ok && w.Total == 0 && (g.Calls == 0) && r.format != "perfetto" {
			continue
		}
		if !ok {
			t.Errorf("%v is missing: %+v", key, w)
			continue
		}
		if noTotals {
			g.Total = -1
		}
		for _, m := range []struct {
			what      string
			got, want int64
		}{{"calls", g.Calls, w.Calls}, {"self", g.Self, w.Self}, {"sum", g.Sum, w.Sum}, {"total", g.Total, w.Total}} {
			off := m.got - m.want
			if m.got == -1 || off == 0 || r.exact > 0 && max(off, -off) <= m.want/r.exact {
				continue
			}
			t.Errorf("%v: %s is %d, want %d", key, m.what, m.got, m.want)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%v was never called", key)
		}
	}
}

// analyzeInto feeds a writer with a view of recordings, and closes it.
func analyzeInto(v export.Writer, view *analysis.View, names trace.Names, recordings ...[]byte) error {
	for _, data := range recordings {
		s, err := source.New(bytes.NewReader(data))
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
