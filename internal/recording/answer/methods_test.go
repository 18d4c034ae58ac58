package answer

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
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
	fixture.Write(t, filepath.Join(dir, m.Digest()+".txt"), text.Bytes())
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
		analyze(t, name, text, byMethod)
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

// learning is a recording of a build with methods, for [Methods.Learn].
type learning struct {
	t       *testing.T
	build   *mapping.Mapping
	methods *Methods
	scale   float64
	of      *analysis.Recording
}

func newLearning(t *testing.T, lossy bool, methods ...string) *learning {
	t.Helper()
	l := &learning{t: t, build: build(t, t.TempDir(), mapping.OrderHash, methods...), methods: new(Methods)}
	l.of = &analysis.Recording{Span: time.Hour, Names: resolve.NewNames(l.build, nil)}
	l.scale = l.methods.recording(l.of)
	l.methods.lossy = lossy
	return l
}

// call adds calls, of which some were left out, with the time of those that were recorded, and that of the long ones.
func (l *learning) call(method string, calls, leftOut uint64, total, long time.Duration) {
	l.t.Helper()
	m := trace.Method(id(l.t, l.build, method))
	l.methods.total(&sums.Sum{Method: m, Calls: calls, Records: 2 * calls, Total: total.Nanoseconds(),
		Self: total.Nanoseconds(), Long: long.Nanoseconds()}, l.of, l.scale, false)
	t := l.methods.of(l.of.Names.Method(m), "")
	t.LeftOut += leftOut
	t.made += 2 * float64(leftOut)
	l.methods.made += 2 * float64(calls+leftOut)
}

func (l *learning) learn(p *filter.Profile, budget Budget) *Learned {
	return l.methods.Learn(p, budget, []*mapping.Mapping{l.build})
}

// levels returns the lines of a profile as "get:none bind:full".
func levels(p *filter.Profile) string {
	var list []string
	for _, line := range p.Lines {
		level := "none"
		if line.Traced {
			level = "full"
		}
		list = append(list, line.Method.Class+"."+line.Method.Name+":"+level)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestLearn decides about methods of very many calls: by the time that they show for each, so that one call of millions
// that was interrupted does not keep a method, and long calls among many short ones do.
func TestLearn(t *testing.T) {
	const loop, get, load, find, rare, gated = "a/Loop mix (I)I", "a/Row get ()I", "a/Feed load ()V",
		"a/Cache find ()V", "a/Rare f ()V", "a/Gated f ()V"
	budget := Budget{Calls: 500_000}
	program := func(lossy bool) *learning {
		l := newLearning(t, lossy, loop, get, load, find, rare, gated)
		l.call(loop, 200_000_000, 0, 9*time.Second, 104*ms)
		l.call(get, 1_000_000, 0, time.Second/10, 0)
		l.call(load, 40_000, 0, 3*time.Second, 0)
		l.call(find, 300_000, 0, 4*time.Second, 3500*ms)
		l.call(rare, 900, 0, ms, 0)
		l.call(gated, 1000, 9_000_000, 200*ms, 199*ms) // what was recorded of it looks long
		return l
	}
	p := new(filter.Profile)
	l := program(false).learn(p, budget)
	if got, want := levels(p), "a/Cache.find:full a/Gated.f:none a/Loop.mix:none"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if l.None != 2 || l.Full != 1 || len(l.Worth) != 1 || l.Worth[0].Reason != "its calls of 16 ms or more take 3500 ms" ||
		l.Calls < 12_000_000 || l.Left > 200_000 {
		t.Errorf("%+v", l)
	}
	// Of a method that was let go, too few calls are known.
	gone := program(false)
	gone.methods.of(gone.of.Names.Method(trace.Method(id(t, gone.build, rare))), "").LetGo = true
	withGone := new(filter.Profile)
	gone.learn(withGone, Budget{Calls: 1e9})
	if got, want := levels(withGone), "a/Rare.f:none"; got != want {
		t.Errorf("with a method that was let go %s, want %s", got, want)
	}
	// Where records are lost, counts decide.
	lost := new(filter.Profile)
	program(true).learn(lost, budget)
	if got, want := levels(lost), "a/Gated.f:none a/Loop.mix:none"; got != want {
		t.Errorf("with losses %s, want %s", got, want)
	}
	// A recording of the next build, which is faster, changes nothing.
	next := newLearning(t, false, get, load, find, rare)
	next.call(get, 1_000_000, 0, time.Second/10, 0)
	next.call(load, 40_000, 0, 2*time.Second, 0)
	next.call(find, 300_000, 0, 4*time.Second, 3500*ms)
	before := levels(p)
	if l = next.learn(p, budget); l.None != 0 || l.Kept != 3 || levels(p) != before {
		t.Errorf("the second recording changed the profile: %+v, %s", l, levels(p))
	}
	// What recordings show is added up.
	if line := p.Find(mapping.Identity{Class: "a/Cache", Name: "find", Descriptor: "()V"}); line.Calls != 600_000 ||
		line.Self != 8*time.Second || line.Long != 7*time.Second {
		t.Errorf("%+v", line)
	}
	// A recording of another build without the profile, too: what is decided stays.
	if l = program(false).learn(p, budget); l.None != 0 || levels(p) != before || l.Left > 250_000 {
		t.Errorf("another recording changed the profile: %+v, %s", l, levels(p))
	}
}

// TestLearnSpare leaves out more than what exceeds the budget, as the next build makes the same calls in less time, but
// no method of a few calls, also if methods that are worth them exceed the budget.
func TestLearnSpare(t *testing.T) {
	l := newLearning(t, false, "a/A many ()V", "a/A more ()V", "a/A few ()V", "a/A worth ()V", "a/A run ()V")
	l.call("a/A run ()V", 1, 0, 6*time.Second, 6*time.Second)
	l.call("a/A worth ()V", 60_000, 0, 4*time.Second, 4*time.Second)
	l.call("a/A many ()V", 150_000, 0, ms, 0)
	l.call("a/A more ()V", 30_000, 0, ms, 0)
	l.call("a/A few ()V", 20, 0, ms, 0)
	p := new(filter.Profile)
	l.learn(p, Budget{Calls: 20_000})
	if got, want := levels(p), "a/A.many:none a/A.more:none a/A.worth:full"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p = new(filter.Profile)
	if learned := l.learn(p, Budget{Calls: 25_000}); len(p.Lines) > 0 || learned.Left != learned.Calls {
		t.Errorf("within the budget, %s: %+v", levels(p), learned)
	}
}

// TestLearnOnBusyMachine learns the same if the threads have a processor in a tenth of their time.
func TestLearnOnBusyMachine(t *testing.T) {
	for _, slow := range []time.Duration{1, 10} {
		l := newLearning(t, false, "a/A run ()V", "a/A many ()V", "a/A step ()V")
		l.call("a/A run ()V", 1, 0, slow*10*time.Second, slow*10*time.Second)
		l.call("a/A many ()V", 3_000_000, 0, slow*ms, 0)
		l.call("a/A step ()V", 100_000, 0, slow*time.Second, 0)
		for _, m := range l.methods.list {
			m.Estimate = sums.Estimate{Samples: 10, Known: m.Self, Running: m.Self, CPU: m.Self / int64(slow)}
		}
		p := new(filter.Profile)
		learned := l.learn(p, Budget{Calls: 200_000})
		if got := levels(p); got != "a/A.many:none" || learned.Calls < 200_000 || learned.Calls > 400_000 {
			t.Errorf("%d times slower, %s: %+v", slow, got, learned)
		}
	}
}

// TestLearnDex leaves out methods for the size of dex files: first those that were not called.
func TestLearnDex(t *testing.T) {
	l := newLearning(t, false, "a/A big ()V", "a/A small ()V", "a/A uncalled ()V", "a/B uncalled ()V")
	l.call("a/A big ()V", 10, 0, time.Second, 0)
	l.call("a/A small ()V", 10, 0, ms, 0)
	for _, row := range []struct {
		methods int64
		want    string
	}{{4, ""}, {2, "a/A.uncalled:none a/B.uncalled:none"}, {1, "a/A.small:none a/A.uncalled:none a/B.uncalled:none"}} {
		p := new(filter.Profile)
		learned := l.learn(p, Budget{Calls: 1000, Dex: row.methods * DexOfMethod})
		if got := levels(p); got != row.want || learned.DexLeft != row.methods*DexOfMethod {
			t.Errorf("%d methods: %s, want %s; %+v", row.methods, got, row.want, learned)
		}
	}
}
