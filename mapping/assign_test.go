package mapping

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// synthetic returns n different methods, ordered by class.
func synthetic(n int) []Method {
	list := make([]Method, 0, n)
	for i := range n {
		class := i / 12
		list = append(list, Method{Identity{
			fmt.Sprintf("com/example/app/feature%d/screen%d/Presenter%d", class%37, class%1009, class),
			fmt.Sprintf("method%d", i%12),
			"(Landroid/content/Context;Ljava/lang/String;I)Ljava/lang/Object;",
		}, 1})
	}
	return list
}

// asManyAsFit returns as many methods as there are IDs, which tests do not change.
var asManyAsFit = sync.OnceValue(func() []Method { return synthetic(Capacity) })

func shuffled(list []Method, rng *rand.Rand) []Method {
	list = slices.Clone(list)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Invariant: The mapping does not depend on the order of the inputs.
func TestOrderOfInputDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := append(synthetic(20_000), oddNames...)
	base := mustAssign(t, list[5_000:], Options{})
	for _, o := range []Options{{}, {Order: OrderCompact}, {Base: base}, {Base: base, Order: OrderCompact}} {
		want := written(t, mustAssign(t, list[:15_000], o))
		for range 3 {
			other := shuffled(list[:15_000], rng)
			twice := Method{other[0].Identity, 0x1041} // the lowest access flags win
			if got := written(t, mustAssign(t, append(other, twice), o)); got != want {
				t.Errorf("%+v: another mapping for another order of the methods", o.Order)
			}
		}
	}
}

func TestCompactIsSortedAndDense(t *testing.T) {
	m := mustAssign(t, oddNames, Options{Order: OrderCompact})
	last, next := "", uint32(1)
	for e := range m.All() {
		key := string(appendKey(nil, e.Identity))
		if e.ID != next || key <= last {
			t.Errorf("%d %q after %q", e.ID, key, last)
		}
		last, next = key, next+1
	}
}

// TestPlacement compares placement with a literal implementation of the documentation that tries ID after ID. The
// first tenth of the IDs is taken, so that many methods collide.
func TestPlacement(t *testing.T) {
	base := mustAssign(t, synthetic(100_000), Options{Order: OrderCompact})
	fresh := oddNames
	for i := range 1000 {
		fresh = append(fresh, Method{Identity{"x/Y", fmt.Sprintf("m%d", i), "()V"}, 1})
	}
	m := mustAssign(t, append(synthetic(100_000), fresh...), Options{Base: base})

	used := map[uint32]bool{}
	for e := range base.All() {
		used[e.ID] = true
	}
	fresh = slices.SortedFunc(slices.Values(fresh), func(a, b Method) int {
		return strings.Compare(string(appendKey(nil, a.Identity)), string(appendKey(nil, b.Identity)))
	})
	for _, f := range fresh {
		sum := sha256.Sum256(appendKey(nil, f.Identity))
		mod := new(big.Int).Mod(new(big.Int).SetBytes(sum[:]), big.NewInt(1_048_573))
		id := uint32(mod.Int64()) + 1
		for used[id] {
			if id++; id > Capacity {
				id = 1
			}
		}
		used[id] = true
		if got, ok := m.ByMethod(f.Identity); !ok || got != id {
			t.Errorf("%v: ID %d, want %d", f, got, id)
		}
	}
}

// TestFreeIDs takes IDs at random until few are left, and compares the set with a linear search.
func TestFreeIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	free := &idSet{}
	taken := make([]bool, Capacity+1)
	take := func(id int) { free.add(uint32(id)); taken[id] = true }
	check := func(from int) {
		t.Helper()
		want := from
		for taken[want] {
			if want++; want > Capacity {
				want = 1
			}
		}
		if got := free.free(uint32(from)); int(got) != want {
			t.Fatalf("free(%d) = %d, want %d", from, got, want)
		}
	}
	for _, from := range []int{1, 63, 64, 4095, 4096, Capacity} {
		check(from)
	}
	for id := 1; id <= Capacity; id++ {
		if id%70_000 != 1 && id%300_000 != 64 { // what is left is far apart
			take(id)
		}
	}
	for id := 1; id <= Capacity; id += 70_000 {
		for range 5 {
			check(1 + rng.IntN(Capacity))
		}
		check(Capacity)
		check(id)
		check(id + 1)
		take(id)
	}
	check(300_065) // goes round to 64, with two other words below and above
}

func TestFull(t *testing.T) {
	list := asManyAsFit()
	full := mustAssign(t, list, Options{})
	if full.Headroom() != 0 || full.Len() != Capacity {
		t.Fatalf("Len %d, Headroom %d", full.Len(), full.Headroom())
	}
	next := uint32(1)
	for e := range full.All() { // so that every ID was given once
		if e.ID != next {
			t.Fatalf("ID %d, want %d", e.ID, next)
		}
		next++
	}
	one := methods("com/example/more/More|one|()V", "More|one|()V")
	for name, test := range map[string]struct {
		list []Method
		base *Mapping
		want []string
	}{
		"one too many": {append(one[1:], list...), nil, []string{"1048574 methods", "0 retired", "make 1048574",
			"1048573 IDs exist", "com.example.app.feature"}},
		"retired": {one, full, []string{"2 methods", "1048573 retired", "com.example.more (1)",
			"the unnamed package (1)", "- block: PACKAGE.**", "without a base"}},
	} {
		m, err := Assign(test.list, Options{Base: test.base})
		var fullErr *FullError
		if m != nil || !errors.As(err, &fullErr) {
			t.Fatalf("%s: %v, want a FullError", name, err)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
		if len(fullErr.Packages) > 10 || !slices.IsSortedFunc(fullErr.Packages,
			func(a, b PackageCount) int { return b.Methods - a.Methods }) {
			t.Errorf("%s: packages %v", name, fullErr.Packages)
		}
	}
}

// TestIDUsage compares the usage with one that was counted by hand.
func TestIDUsage(t *testing.T) {
	var list []Method
	add := func(n int, class string) {
		for i := range n {
			list = append(list, Method{Identity{class, fmt.Sprintf("m%d", i), "()V"}, 1})
		}
	}
	add(40, "com/app/feed/FeedBinding")
	add(30, "com/app/feed/row/RowBinding$Inner")
	add(20, "com/app/home/Home_Factory")
	add(5, "org/lib/deep/inside/A")
	add(3, "org/lib/deep/inside/er/B$$Lambda")
	add(4, "Main")
	add(2, "odd name/C")
	d := mustAssign(t, list, Options{}).IDUsage()
	want := IDUsage{Methods: 104,
		Packages: []PackageCount{{"com.app.feed", 40}, {"com.app.feed.row", 30}, {"com.app.home", 20},
			{"org.lib.deep.inside", 5},
			{"", 4}, {"org.lib.deep.inside.er", 3}, {"odd%20name", 2}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"104 methods and 0 retired IDs make 104", "com.app.feed (40)"} {
		if !strings.Contains(d.String(), text) {
			t.Errorf("%q does not say %q", d.String(), text)
		}
	}
	if strings.Contains(d.String(), "--prune") {
		t.Errorf("%q: nothing is retired", d.String())
	}
}

// TestPrune checks that pruning frees the IDs that no living method of the given mappings has, and no others.
//
// Invariant: An ID is freed only by pruning, and only if no given mapping uses it.
func TestPrune(t *testing.T) {
	first := mustAssign(t, methods("a/A|one|()V", "a/A|two|()V", "a/A|three|()V", "a/A|stays|()V"), Options{})
	second := mustAssign(t, methods("a/A|two|()V", "a/A|three|()V", "a/A|stays|()V"), Options{Base: first})
	third := mustAssign(t, methods("a/A|three|()V", "a/A|stays|()V"), Options{Base: second})
	other := mustAssign(t, methods("z/Z|z|()V"), Options{})
	names := func(m *Mapping) (names []string) {
		for e := range m.Retired() {
			names = append(names, e.Name)
		}
		slices.Sort(names)
		return names
	}
	for name, test := range map[string]struct {
		list    []Method
		prune   []*Mapping
		retired []string
	}{
		"not asked for":       {methods("a/A|stays|()V"), nil, []string{"one", "three", "two"}},
		"no mapping has them": {methods("a/A|stays|()V"), []*Mapping{other}, []string{"three"}},
		"what is retired elsewhere is not had": {methods("a/A|stays|()V"), []*Mapping{second},
			[]string{"three", "two"}},
		"one is enough": {methods("a/A|stays|()V"), []*Mapping{other, first}, []string{"one", "three", "two"}},
		"back again":    {methods("a/A|stays|()V", "a/A|one|()V"), []*Mapping{other}, []string{"three"}},
	} {
		m := mustAssign(t, test.list, Options{Base: third, Prune: test.prune})
		if got := names(m); !slices.Equal(got, test.retired) {
			t.Errorf("%s: retired %v, want %v", name, got, test.retired)
		}
		if got, want := m.Freed(third), 4-len(test.list)-len(test.retired); got != want {
			t.Errorf("%s: %d freed, want %d", name, got, want)
		}
		for e := range m.All() {
			if old, ok := first.ByMethod(e.Identity); !ok || old != e.ID {
				t.Errorf("%s: %v had ID %d", name, e, old)
			}
		}
	}
	// What counts is the ID: in that mapping another method has it, and its recordings would be read wrongly.
	id, _ := first.ByMethod(methods("a/A|one|()V")[0].Identity)
	foreign, err := Parse("foreign", fmt.Sprintf("%d,1,b.B x ()V\n", id))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(mustAssign(t, nil, Options{Base: third, Prune: []*Mapping{foreign}})); !slices.Equal(got,
		[]string{"one", "stays", "three"}) {
		t.Errorf("retired %v", got)
	}
	// An ID that was freed is the first to be used again.
	compact := mustAssign(t, methods("a/A|one|()V", "a/A|stays|()V"), Options{Order: OrderCompact})
	gone := mustAssign(t, methods("a/A|stays|()V"), Options{Base: compact})
	m := mustAssign(t, methods("a/A|new|()V", "a/A|stays|()V"),
		Options{Base: gone, Order: OrderCompact, Prune: []*Mapping{other}})
	if id, _ := m.ByMethod(methods("a/A|new|()V")[0].Identity); id != 1 {
		t.Errorf("the new method has ID %d", id)
	}
}

func TestAssignRefuses(t *testing.T) {
	for _, test := range []struct {
		list []Method
		o    Options
		want string
	}{
		{list: methods("|f|()V"), want: `class ""`},
		{list: methods("a/A||()V"), want: `class "a.A", method ""`},
		{list: methods("a/A|f|"), want: `descriptor ""`},
		{o: Options{Prune: []*Mapping{mustAssign(t, nil, Options{})}}, want: "without a base"},
		{o: Options{Base: matrixBase(t, "1,1,a.A f\n")}, want: "a.A f (ID 1): the method has no descriptor"},
		{o: Options{Order: 7}, want: "ID order 7"},
		{o: Options{Focus: []Focus{{"a/A", "ad"}}}, want: `action "ad" is neither`},
		{o: Options{Focus: []Focus{{"", FocusAdd}}}, want: `class ""`},
		{o: Options{Focus: []Focus{{"a/A", FocusAdd}, {"a/A", FocusHook}}}, want: "a.A: both"},
	} {
		if m, err := Assign(test.list, test.o); m != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %v: %v, want an error with %q", test.list, test.o, err, test.want)
		}
	}
}

// matrixBase parses a mapping in the format of Matrix.
func matrixBase(t *testing.T, text string) *Mapping {
	t.Helper()
	m, err := Parse("base", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Matrix omits the descriptor of a native method. Such a mapping is still valid as a base mapping.
func TestNativeMethodsOfMatrixBase(t *testing.T) {
	base := matrixBase(t, "7,257,a.A nat\n8,1,a.A f ()V\n")
	m := mustAssign(t, methods("a/A|f|()V"), Options{Base: base})
	if id, _ := m.ByMethod(Identity{"a/A", "f", "()V"}); id != 8 {
		t.Errorf("ID %d", id)
	}
}

// TestEvolutions changes an app a thousand times; the base mapping of each build is that of the build before. A method
// that stays keeps its ID, a method that comes back gets its old ID, and no ID ever belongs to two methods.
//
// Invariant: A method that stays in the app keeps its ID, and no ID ever stands for two methods.
func TestEvolutions(t *testing.T) {
	for order, steps := range map[Order]int{OrderHash: 1000, OrderCompact: 300} {
		rng := rand.New(rand.NewPCG(3, uint64(order)))
		owner, ids := map[uint32]Identity{}, map[Identity]uint32{}
		app := map[Identity]bool{}
		var base *Mapping
		name := func() Identity {
			return Identity{fmt.Sprintf("p%d/C%d", rng.IntN(3), rng.IntN(10)), fmt.Sprintf("m%d", rng.IntN(20)), "()V"}
		}
		for step := range steps {
			for range rng.IntN(20) {
				app[name()] = true // may have been there, now or once
			}
			for id := range app {
				if rng.IntN(30) == 0 {
					delete(app, id)
				}
			}
			var list []Method
			for id := range maps.Keys(app) {
				list = append(list, Method{id, uint16(rng.IntN(4))})
			}
			m := mustAssign(t, list, Options{Base: base, Order: order})
			if step%50 == 0 {
				var err error
				if m, err = Parse("evolution", written(t, m)); err != nil {
					t.Fatal(err)
				}
			}
			if m.Len() != len(app) || len(slices.Collect(m.Retired())) != len(ids)+news(list, ids)-len(app) {
				t.Fatalf("step %d: %d methods of %d, %d retired", step, m.Len(), len(app),
					Capacity-m.Headroom()-m.Len())
			}
			for e := range m.All() {
				if !app[e.Identity] {
					t.Fatalf("step %d: %v is not in the app", step, e)
				}
				if old, ok := ids[e.Identity]; ok && old != e.ID {
					t.Fatalf("step %d: %v had ID %d", step, e, old)
				}
				if o, ok := owner[e.ID]; ok && o != e.Identity {
					t.Fatalf("step %d: %v has the ID of %v", step, e, o)
				}
				ids[e.Identity], owner[e.ID] = e.ID, e.Identity
			}
			last := uint32(0)
			for e := range m.Retired() {
				if ids[e.Identity] != e.ID || app[e.Identity] || e.ID <= last {
					t.Fatalf("step %d: retired %v after ID %d", step, e, last)
				}
				last = e.ID
			}
			base = m
		}
	}
}

// news counts the methods that never had an ID.
func news(list []Method, ids map[Identity]uint32) int {
	n := 0
	for _, m := range list {
		if _, ok := ids[m.Identity]; !ok {
			n++
		}
	}
	return n
}
