package answer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// build writes a mapping of methods, each "class name descriptor", below dir, and returns it.
func build(t *testing.T, dir string, order mapping.Order, methods ...string) *mapping.Mapping {
	t.Helper()
	var list []mapping.Method
	for _, m := range methods {
		f := strings.Fields(m)
		list = append(list, mapping.Method{Identity: mapping.Identity{Class: f[0], Name: f[1], Descriptor: f[2]}})
	}
	m, err := mapping.Assign(list, mapping.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := m.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, m.Digest()+".txt"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return m
}

// id returns a method's ID in a mapping.
func id(t *testing.T, m *mapping.Mapping, method string) uint32 {
	t.Helper()
	f := strings.Fields(method)
	n, ok := m.ByMethod(mapping.Identity{Class: f[0], Name: f[1], Descriptor: f[2]})
	if !ok {
		t.Fatalf("%s has no ID", method)
	}
	return n
}

const ms = time.Millisecond

const (
	load = "a/Feed load ()V"
	bind = "a/Row bind (I)V"
	draw = "a/Row draw ()V"
)

// record makes records of "+load@0 -load@5", in which a word stands for a method.
func record(t *testing.T, m *mapping.Mapping, text string) string {
	t.Helper()
	for word, method := range map[string]string{"load": load, "bind": bind, "draw": draw} {
		if strings.Contains(text, word) {
			text = strings.ReplaceAll(text, word, fmt.Sprint(id(t, m, method)))
		}
	}
	return `list="` + text + `"`
}

// TestAcrossBuilds: methods of several builds, whose IDs differ, are one by their names, and so are hot paths; what has
// no name stays apart.
func TestAcrossBuilds(t *testing.T) {
	dir := t.TempDir()
	old := build(t, dir, mapping.OrderHash, load, bind, draw)
	methods := []string{load, bind, draw}
	for k := range 2000 {
		methods = append(methods, fmt.Sprintf("a/Gen%d m ()V", k))
	}
	compact := build(t, dir, mapping.OrderCompact, methods...)
	mappings, err := resolve.OpenMappings(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var slow []*analysis.Stall
	byMethod := analysis.Options{Mappings: mappings,
		Stall: func(s *analysis.Stall) error { slow = append(slow, s); return nil }}
	var totals Methods
	totals.Connect(&byMethod)
	for name, m := range map[string]*mapping.Mapping{"old": old, "new": compact} {
		text := `
meta mappingId=` + m.Digest() + ` slowMillis=700 clockPeriodMillis=5 records=all versionName=` + name + ` versionCode=7
clock now=0 wall=1700000000000
thread index=0 name=main main=1
records thread=0 first=0 ` + record(t, m, "+1048574@0 +load@0 +bind@0 -bind@10 +1048000@10 -1048000@20 +bind@20 -bind@900 -load@900 -1048574@900") + `
stall thread=0 sequence=0 begin=0 wall=900 first=0 end=10 what="Handler (a.H) null: 1"
end`
		if err := analyze(t, name, text, byMethod); err != nil {
			t.Fatal(err)
		}
	}
	if len(slow) != 2 || slow[0].Key != slow[1].Key || len(slow[0].HotPath) != 3 {
		t.Fatalf("hot paths differ: %+v", slow)
	}
	if id0, id1 := slow[0].HotPath[1].Method.ID, slow[1].HotPath[1].Method.ID; id0 == id1 {
		t.Errorf("both builds have the ID %d, and nothing is tested", id0)
	}
	for _, s := range slow {
		if v := s.Recording.Version(); v != s.Recording.Name+" (7)" || !s.Recording.Resolved ||
			s.Recording.Unresolved != 1 || s.Recording.Methods != 4 {
			t.Errorf("%s: version %q, resolved %t, %d of %d unresolved", s.Recording.Name, v, s.Recording.Resolved,
				s.Recording.Unresolved, s.Recording.Methods)
		}
	}
	var lines []string
	for _, m := range totals.Sorted(OrderSelf) {
		lines = append(lines, fmt.Sprintf("%s self %d total %d calls %d longest %d slow %d", m.Method.Identity(),
			m.Self/1e6, m.Total/1e6, m.Calls, m.Longest/1e6, m.Stalls))
	}
	want := []string{
		"a.Row.bind self 1780 total 1780 calls 4 longest 880 slow 2",
		"#1048000 self 10 total 10 calls 1 longest 10 slow 0",
		"#1048000 self 10 total 10 calls 1 longest 10 slow 0",
		"android.os.Handler.dispatchMessage self 0 total 1800 calls 2 longest 900 slow 2",
		"a.Feed.load self 0 total 1800 calls 2 longest 900 slow 2",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") &&
		got != strings.Join([]string{want[0], want[1], want[2], want[4], want[3]}, "\n") {
		t.Errorf("methods:\n%s", got)
	}
}

// TestSuggest has a getter that is called a million times, as users.md's row 21 asks: the rule for it is a rule, and
// takes nothing else away.
func TestSuggest(t *testing.T) {
	const get, nestedGet, slowGet, hot, odd = "a/Row get ()I", "a/Row$Inner get ()I", "a/Other get ()I",
		"a/Feed load ()V", "a/Odd*Name get ()I"
	m := build(t, t.TempDir(), mapping.OrderHash, get, nestedGet, slowGet, hot, odd)
	methods := new(Methods)
	names := resolve.NewNames(m, nil)
	recording := &analysis.Recording{Records: 5_040_000, Span: 10 * time.Second, Names: names}
	scale := methods.recording(recording)
	call := func(method string, calls uint64, mean, longest time.Duration) {
		methods.total(&sums.Sum{Method: trace.Method(id(t, m, method)), Calls: calls, Records: 2 * calls,
			Total: int64(calls) * mean.Nanoseconds(), Self: int64(calls) * mean.Nanoseconds(),
			Longest: longest.Nanoseconds()}, recording, scale, false)
	}
	call(get, 1_000_000, time.Microsecond, 5*ms)
	call(nestedGet, 20_000, 10*time.Microsecond, 40*ms)
	call(slowGet, 900_000, time.Millisecond, 10*ms)
	call(hot, 300_000, time.Microsecond, 2*ms)
	call(odd, 300_000, time.Microsecond, 2*ms)
	methods.hot(&analysis.Stall{Recording: recording,
		HotPath: []analysis.Step{{Method: names.Method(trace.Method(id(t, m, hot)))}}})
	b := methods.Suggest([]*mapping.Mapping{m})
	if b.Records != 2_000_000 || b.Of != 5_040_000 || len(b.Methods) != 1 {
		t.Errorf("%d of %d records of %d methods", b.Records, b.Of, len(b.Methods))
	}
	want := []string{`block: "a.Row#get()I"`, `allow: "a.Row$Inner#get()I"`}
	if strings.Join(b.Rules, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules %q, want %q", b.Rules, want)
	}
	reasons := map[string]string{}
	for _, r := range b.Refused {
		reasons[r.Method.Method.Identity()] = r.Reason
	}
	for method, reason := range map[string]string{"a.Other.get": "on average",
		"a.Feed.load":    "on the hot path of 1 stall",
		"a.Odd*Name.get": "no rule", "a.Row$Inner.get": "one call took 40 ms"} {
		if !strings.Contains(reasons[method], reason) {
			t.Errorf("%s is refused for %q, want %q", method, reasons[method], reason)
		}
	}
	var text bytes.Buffer
	if err := b.WriteConfig(&text); err != nil {
		t.Fatal(err)
	}
	config, err := filter.ParseConfig("hot.yml", text.Bytes(), nil, os.ReadFile)
	if err != nil || len(config.Rules) != 2 || !strings.Contains(config.Rules[0].String(), ": block ") ||
		!strings.Contains(config.Rules[1].String(), ": allow ") {
		t.Errorf("%v, rules %v of\n%s", err, config.Rules, &text)
	}
	if !strings.Contains(text.String(),
		"# Saved: 2000000 of 5040000 records (39.7 %), 200000 a second, 3 ms at 3 ns for an entry and an exit\n") {
		t.Errorf("what is saved is not said:\n%s", &text)
	}
}
