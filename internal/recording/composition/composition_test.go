package composition

import (
	"slices"
	"testing"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// execution returns one of milliseconds.
func execution(name string, dirty int32, record, records uint64, begin, lasted int64) trace.Composition {
	return trace.Composition{Composable: name, Dirty: [2]int32{dirty, -1}, Record: record, Records: records,
		Begin: begin * 1e6, Nanos: lasted * 1e6}
}

// names has the methods of a composable, of a lambda in it, of a composable in a class, and of no composable.
type names struct{}

func (names) Name(m trace.Method) (trace.Name, bool) {
	const composable = "(Landroidx/compose/runtime/Composer;I)V"
	all := map[trace.Method]trace.Name{
		1: {Class: "a.FeedKt", Method: "Row", Descriptor: "(ILandroidx/compose/runtime/Composer;I)V"},
		2: {Class: "a.FeedKt", Method: "Row$lambda$1", Descriptor: composable},
		3: {Class: "a.Home$Page", Method: "Content-a1B2c3D", Descriptor: composable},
		4: {Class: "a.FeedKt", Method: "Row", Descriptor: "(I)V"},
	}
	n, ok := all[m]
	return n, ok
}

func segment(first, end uint64, methods ...trace.Method) *trace.Segment {
	s := &trace.Segment{FirstRecord: first, EndRecord: end}
	for _, m := range methods {
		s.Calls = append(s.Calls, trace.Call{Method: m, Count: 1})
	}
	return s
}

// TestSums: executions in executions, one of the same composable in itself, and what their dirty bits say.
func TestSums(t *testing.T) {
	const same, different, static = 1, 2, 3
	parameters := func(states ...int32) (bits int32) {
		for i, s := range states {
			bits |= s << (1 + 3*i)
		}
		return bits
	}
	j := Joiner{Names: names{}}
	j.Chunk(&trace.Compositions{List: []trace.Composition{
		execution("a.Row (Feed.kt:9)", parameters(different, static), 2, 2, 10, 5),
		execution("a.Row (Feed.kt:9)", parameters(different, same), 4, 0, 20, 7),
		execution("a.Feed (Feed.kt:3)", 1, 1, 5, 5, 45),
	}})
	j.Segment(segment(0, 8, 4, 1, 1, 1, 2))
	j.Chunk(&trace.Compositions{List: []trace.Composition{
		execution("a.Row (Feed.kt:9)", parameters(same)|1, 9, 0, 60, 10),
		execution("a.Row (Feed.kt:9)", 0, 9, 2, 55, 20),
		execution("a.Home.Page.Content (Home.kt:1)", 0, 12, 0, 80, 1),
		execution("x", -1, 13, 0, 90, 1),
	}})
	j.Segment(segment(8, 16, 1, 3))
	j.Chunk(&trace.Completeness{})
	c := j.Join()
	row := Composable{Name: "a.Row", File: "Feed.kt", Line: 9, Executed: 4, Again: 2, Itself: 1, Changed: []uint64{1},
		Total: 32 * time.Millisecond, Own: 32 * time.Millisecond, Longest: 20 * time.Millisecond}
	feed := Composable{Name: "a.Feed", File: "Feed.kt", Line: 3, Executed: 1, Again: 1, Itself: 1,
		Total: 45 * time.Millisecond, Own: 33 * time.Millisecond, Longest: 45 * time.Millisecond}
	if len(c.List) != 4 || !equal(c.List[0], feed) || !equal(c.List[1], row) {
		t.Fatalf("%+v", c.List)
	}
	for i, want := range []struct {
		skipped uint64
		known   bool
		times   string
	}{{0, false, "recomposed 1 time"}, {0, true, "composed 4 times (at least 2 of them again)"},
		{0, true, "composed 1 time"}, {0, false, "composed 1 time"}} {
		got, known := c.Skipped(&c.List[i])
		if known != want.known || known && got != want.skipped || c.List[i].Times() != want.times {
			t.Errorf("%s: %d skipped, %t; %s", &c.List[i], got, known, c.List[i].Times())
		}
	}
	if got := c.List[1].String(); got != "a.Row" {
		t.Error(got)
	}
	if got := (&Composable{Name: "a.Row.<anonymous>", Line: 3}).String(); got != "a.Row.<anonymous> of line 3" {
		t.Error(got)
	}
}

func equal(a, b Composable) bool {
	same := slices.Equal(a.Changed, b.Changed)
	a.Changed, b.Changed = nil, nil
	return same && a.String() == b.String() && a.Executed == b.Executed && a.Again == b.Again && a.Itself == b.Itself &&
		a.Total == b.Total && a.Own == b.Own && a.Longest == b.Longest
}

// TestSkipped: a call in which nothing was executed was skipped, unless calls or executions are missing.
//
// Invariant: A composable is said to be skipped only if all its calls and executions are known.
func TestSkipped(t *testing.T) {
	for _, test := range []struct {
		name     string
		lost     uint64
		complete trace.Completeness
		known    bool
	}{
		{"all is there", 0, trace.Completeness{}, true},
		{"executions are lost", 1, trace.Completeness{}, false},
		{"records are lost", 0, trace.Completeness{Lost: 2}, false},
		{"calls are left out", 0, trace.Completeness{Windows: 1}, false},
		{"the method was off", 0, trace.Completeness{Gated: []trace.GatedCalls{{Method: 1}}}, false},
		{"another method was off", 0, trace.Completeness{Gated: []trace.GatedCalls{{Method: 3}}}, true},
	} {
		j := Joiner{Names: names{}}
		j.Chunk(&trace.Compositions{Lost: test.lost, List: []trace.Composition{
			execution("a.Row (Feed.kt:9)", 0, 1, 0, 1, 1), execution("a.Row (Feed.kt:20)", 0, 1, 0, 2, 1)}})
		j.Segment(segment(0, 8, 1, 1, 1, 1, 1))
		j.Chunk(&test.complete)
		c := j.Join()
		got, known := c.Skipped(&c.List[0])
		if known != test.known || known && got != 3 {
			t.Errorf("%s: %d, %t", test.name, got, known)
		}
	}
}

// TestExecuted: what a stall executed, and nothing of other threads or messages.
func TestExecuted(t *testing.T) {
	j := Joiner{Names: names{}}
	for thread := range uint32(2) {
		j.Chunk(&trace.Compositions{Thread: thread, List: []trace.Composition{
			execution("a.Before", 0, 1, 1, 1, 1), execution("a.In", 0, 4, 1, 4, 1), execution("a.In", 0, 5, 1, 5, 1),
			execution("a.Around", 0, 3, 5, 3, 5), execution("a.After", 0, 9, 0, 9, 1)}})
	}
	list := j.Executed(1, 2, 8)
	if len(list) != 2 || list[0].Name != "a.Around" || list[1].Executed != 2 || list[0].Own != 3*time.Millisecond {
		t.Errorf("%+v", list)
	}
	for _, test := range []struct {
		ran  time.Duration
		want string
	}{{4 * time.Millisecond, "a.In"}, {5 * time.Millisecond, ""}} {
		if c := j.Most(1, 2, 8, test.ran); c == nil && test.want != "" || c != nil && c.Name != test.want {
			t.Errorf("%v: %v, want %s", test.ran, c, test.want)
		}
	}
	if got := j.Executed(7, 0, 99); got != nil {
		t.Errorf("%+v", got)
	}
}

// TestNone: a recording without executions has no composables.
func TestNone(t *testing.T) {
	j := Joiner{Names: names{}}
	j.Segment(segment(0, 8, 1))
	j.Chunk(&trace.Completeness{})
	if c := j.Join(); c != nil {
		t.Errorf("%+v", c)
	}
}

// TestMany: a thread that executes for hours does not keep it all.
func TestMany(t *testing.T) {
	j := Joiner{Names: names{}}
	n := uint64(0)
	for range 20 {
		c := &trace.Compositions{}
		for range mostKept / 4 {
			c.List = append(c.List, execution("a.Row", 0, n, 0, int64(n), 1))
			n++
		}
		j.Chunk(c)
		j.Segment(segment(0, n))
	}
	if kept := len(j.threads[0].list); kept > 2*mostKept {
		t.Errorf("%d are kept", kept)
	}
	if c := j.Join(); c.List[0].Executed != n {
		t.Errorf("%d of %d", c.List[0].Executed, n)
	}
}

// TestOf: what is not as Compose's compiler writes it is a name.
func TestOf(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a.b.Feed (Feed.kt:12)", "a.b.Feed|Feed.kt|12"},
		{"a.ComposableSingletons$FeedKt.lambda-1.<anonymous> (Feed.kt:30)", "a.FeedKt.<anonymous>|Feed.kt|30"},
		{"a.Feed (Feed.kt)", "a.Feed (Feed.kt)||0"}, {"a.Feed (Feed.kt:x)", "a.Feed (Feed.kt:x)||0"},
		{"C(Feed):Feed.kt", "C(Feed):Feed.kt||0"}, {"", "||0"},
	} {
		c := Of(test.text)
		got := c.Name + "|" + c.File + "|" + string(rune('0'+c.Line/10)) + string(rune('0'+c.Line%10))
		want := test.want
		if c.Line == 0 {
			got = c.Name + "|" + c.File + "|0"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", test.text, got, want)
		}
	}
}
