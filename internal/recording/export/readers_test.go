package export_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/tracegen/tracegen/internal/oracle"
)

// theReaders are started by the first test that needs them.
var (
	theReaders = sync.OnceValues(func() (*oracle.Readers, error) {
		started = true
		return oracle.FindReaders()
	})
	started bool
)

func TestMain(m *testing.M) {
	code := m.Run()
	if started {
		if r, err := theReaders(); err == nil {
			r.Close()
		}
	}
	os.Exit(code)
}

// found returns the readers, which take their time.
func found(t testing.TB) *oracle.Readers {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: exports are not read by other programs with -short")
	}
	r, err := theReaders()
	oracle.Require(t, err)
	return r
}

func ask(t testing.TB, reader, file string, more map[string]any, result any) {
	t.Helper()
	if err := found(t).Ask(reader, file, more, result); err != nil {
		t.Fatal(err)
	}
}

// readCollapsed adds up the lines.
func readCollapsed(t testing.TB, file string) (map[method]measure, []plainCall) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[method]measure{}
	for line := range strings.Lines(string(data)) {
		stack, number, _ := cutLast(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n <= 0 {
			t.Fatalf("%q: %v", line, err)
		}
		frames := strings.Split(stack, ";")
		for k := range frames {
			frames[k] = withoutMarks(frames[k])
		}
		spend(all, frames[0], frames[1:], n, 0)
	}
	return without(all, func(m *measure) { m.Calls, m.Sum = -1, -1 }), nil
}

// spend adds a path's own time, the outermost frame first.
func spend(all map[method]measure, thread string, frames []string, nanos, calls int64) {
	seen := map[string]bool{}
	for k, f := range frames {
		key := method{thread, f}
		m := all[key]
		if !seen[f] {
			m.Total += nanos
			seen[f] = true
		}
		if k == len(frames)-1 {
			m.Self += nanos
			m.Calls += calls
		}
		all[key] = m
	}
}

func without(all map[method]measure, drop func(*measure)) map[method]measure {
	for key, m := range all {
		drop(&m)
		all[key] = m
	}
	return all
}

func cutLast(s, sep string) (before, after string, found bool) {
	k := strings.LastIndex(s, sep)
	if k < 0 {
		return s, "", false
	}
	return s[:k], s[k+len(sep):], true
}

var marksBehind = regexp.MustCompile(` \[[a-z, ]+\]$`)

// withoutMarks takes away the marks in brackets that stand behind a name.
func withoutMarks(name string) string {
	if strings.HasSuffix(name, " [estimated]") {
		return name
	}
	return marksBehind.ReplaceAllString(name, "")
}

const methodTotals = `with inner_ as (select parent_id, sum(dur) d from slice group by 1)
	select t.name thread, s.name name, count(*) calls, sum(s.dur) total, sum(s.dur - coalesce(i.d, 0)) self
	from slice s left join inner_ i on i.parent_id = s.id join thread_track tt on s.track_id = tt.id join thread t using (utid)
	where %s group by 1, 2`

const methodCalls = `select t.name thread, s.name name, s.ts begin, s.ts + s.dur as finish, s.depth depth
	from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid) where %s order by t.name, s.id`

// processorErrors is what the trace processor found wrong with a trace.
const processorErrors = `select name, value from stats where value > 0 and severity != 'info'`

// processed is what Perfetto's trace processor says of a file: totals, and every call in order.
func processed(t testing.TB, file, where string) (map[method]measure, []plainCall) {
	t.Helper()
	var tables [3][]map[string]any
	ask(t, "perfetto", file, map[string]any{"queries": []string{
		fmt.Sprintf(methodTotals, where), fmt.Sprintf(methodCalls, where), processorErrors}}, &tables)
	for _, row := range tables[2] {
		t.Errorf("%s: trace processor: %v", file, row)
	}
	all := map[method]measure{}
	number := func(v any) int64 { return int64(v.(float64)) }
	for _, row := range tables[0] {
		name := row["name"].(string)
		all[method{row["thread"].(string), name}] = measure{number(row["calls"]), number(row["self"]),
			number(row["total"]), -1}
	}
	var calls []plainCall
	for _, row := range tables[1] {
		name := row["name"].(string)
		calls = append(calls, plainCall{Thread: row["thread"].(string), Name: name, Begin: number(row["begin"]),
			End: number(row["finish"]), Depth: int(number(row["depth"]))})
	}
	return all, calls
}

func readPerfetto(t testing.TB, file string) (map[method]measure, []plainCall) {
	return processed(t, file, "s.category = 'method'")
}

func nanos(micros float64) int64 { return int64(math.Round(micros * 1000)) }

// readFirefox is what the Firefox Profiler makes of a profile.
func readFirefox(t testing.TB, file string) (map[method]measure, []plainCall) {
	var got struct {
		Threads []struct {
			Name      string
			Functions []struct {
				Name                      string
				SelfSamples, TotalSamples float64 // milliseconds
			}
		}
	}
	ask(t, "firefox", file, nil, &got)
	all := map[method]measure{}
	for _, th := range got.Threads {
		for _, f := range th.Functions {
			all[method{th.Name, f.Name}] = measure{-1, nanos(f.SelfSamples * 1000), -1, nanos(f.TotalSamples * 1000)}
		}
	}
	return all, nil
}

// readSpeedscope is what speedscope's table of methods shows, which has two decimals.
func readSpeedscope(t testing.TB, file string) (map[method]measure, []plainCall) {
	return readSpeedscopeProfiles(t, file, false)
}

// readSpeedscopeProfiles reads the profiles with merged calls, or those in the order of time.
func readSpeedscopeProfiles(t testing.TB, file string, merged bool) (map[method]measure, []plainCall) {
	var got struct {
		Profiles []struct {
			Name string
			Rows [][3]string
		}
		Errors []string
	}
	ask(t, "speedscope", file, nil, &got)
	if len(got.Errors) > 0 {
		t.Errorf("%s: speedscope: %s", file, got.Errors)
	}
	all := map[method]measure{}
	for _, p := range got.Profiles {
		thread, _, _ := strings.Cut(p.Name, " of ")
		if strings.HasSuffix(p.Name, ": messages") || strings.HasSuffix(p.Name, ": stalls") ||
			strings.HasSuffix(p.Name, mergedThread) != merged {
			continue
		}
		for _, row := range p.Rows {
			m := all[method{thread, withoutMarks(row[2])}]
			all[method{thread, withoutMarks(row[2])}] = measure{-1, m.Self + shownTime(t, row[1]), -1,
				m.Total + shownTime(t, row[0])}
		}
	}
	return all, nil
}

// shownTime reads "30.00ms (12%)".
func shownTime(t testing.TB, s string) int64 {
	number, _, _ := strings.Cut(s, " ")
	if minutes, seconds, ok := strings.Cut(number, ":"); ok {
		m, err := strconv.ParseFloat(minutes, 64)
		sec, err2 := strconv.ParseFloat(seconds, 64)
		if err != nil || err2 != nil {
			t.Fatalf("speedscope shows %q", s)
		}
		return int64((m*60 + sec) * 1e9)
	}
	units := []struct {
		name  string
		nanos float64
	}{{"ms", 1e6}, {"µs", 1e3}, {"ns", 1}, {"s", 1e9}}
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			v, err := strconv.ParseFloat(n, 64)
			if err != nil {
				t.Fatalf("speedscope shows %q", s)
			}
			return int64(math.Round(v * u.nanos))
		}
	}
	t.Fatalf("speedscope shows %q", s)
	return 0
}

// readProfile reads profile.proto with its own package.
func readProfile(t testing.TB, file string) (map[method]measure, []plainCall) {
	p := parseProfile(t, file)
	all := map[method]measure{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			frames = append([]string{l.Line[0].Function.Name}, frames...)
		}
		spend(all, s.Label["thread"][0], frames, s.Value[0], s.Value[1])
	}
	return without(all, func(m *measure) { m.Sum = -1 }), nil
}

func parseProfile(t testing.TB, file string) *profile.Profile {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(data))
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatal(file, err)
	}
	return p
}

// goPprof is what `go tool pprof` prints.
func goPprof(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool pprof %s: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// readTop is what go tool pprof -top says, of all threads.
func readTop(t testing.TB, file string) (map[method]measure, []plainCall) {
	all := map[method]measure{}
	top := func(index, unit string) [][]string {
		out := goPprof(t, "-top", "-nodecount=1000000", "-nodefraction=0", "-sample_index="+index, "-unit="+unit, file)
		_, table, _ := strings.Cut(out, "cum%\n")
		var rows [][]string
		for line := range strings.Lines(table) {
			rows = append(rows, strings.Fields(line))
		}
		return rows
	}
	number := func(s string) int64 {
		n, err := strconv.ParseFloat(strings.TrimSuffix(s, "ns"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return int64(n)
	}
	for _, row := range top("calls", "count") {
		all[method{"", row[5]}] = measure{number(row[0]), 0, -1, 0}
	}
	for _, row := range top("wall", "ns") {
		m := all[method{"", row[5]}]
		m.Self, m.Total = number(row[0]), number(row[3])
		all[method{"", row[5]}] = m
	}
	return all, nil
}
