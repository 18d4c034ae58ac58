package mapping

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// tableOf returns a table of the methods, with the places that place returns.
func tableOf(t *testing.T, list []Method, place func(Identity) Place) *methodTable {
	t.Helper()
	table, err := newMethodTable(Counts{}, func(yield func(Method, Facts) bool) {
		for _, m := range list {
			if !yield(m, Facts{Place: place(m.Identity)}) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// placeOf returns the place that a Placer computes.
func placeOf(m Identity) Place {
	var p Placer
	p.Class(m.Class)
	return p.Place(m.Name, m.Descriptor)
}

// TestPlacementOfAll compares both ways to place methods by hash: those of an app, and others whose searches begin so
// close together that nearly all of them collide, or in the end continue at the first ID. Some methods are repeated,
// with other access flags.
//
// Invariant: Without a base mapping, IDs are those that methods get one after the other, in sorted order.
func TestPlacementOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	list := append(synthetic(50_000), oddNames...)
	for _, m := range list[:3000] {
		list = append(list, Method{m.Identity, uint16(rng.IntN(3))})
	}
	list = shuffled(list, rng)
	crowded := func(first, n int) func(Identity) Place {
		places := make(map[Identity]Place)
		return func(m Identity) Place {
			if places[m] == 0 {
				places[m] = Place(first+rng.IntN(n)) | placeOf(m)&placePlain
			}
			return places[m]
		}
	}
	for what, test := range map[string]struct {
		list  []Method
		place func(Identity) Place
		all   bool // placeAll can do it
	}{
		"hashes":      {list, placeOf, true},
		"no places":   {list, func(Identity) Place { return 0 }, true},
		"one group":   {list[:5000], crowded(7, 1), true},
		"few groups":  {list, crowded(100, 60_000), true},
		"up to 1":     {list[:2000], crowded(Capacity-5000, 3000), true},
		"beyond 1":    {list[:2000], crowded(Capacity-1000, 1001), false},
		"one method":  {list[:1], crowded(Capacity, 1), true},
		"two methods": {oddNames[:2], crowded(Capacity, 1), false},
		"none":        {nil, placeOf, true},
	} {
		all := tableOf(t, test.list, test.place).placeAll()
		if (all != nil) != test.all {
			t.Errorf("%s: placed %v, want %v", what, all != nil, test.all)
		}
		inOrder, err := tableOf(t, test.list, test.place).assignInOrder(Options{}, &Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		if all != nil && !reflect.DeepEqual(all, inOrder) {
			t.Errorf("%s: other IDs", what)
		}
	}
}

// TestPlaces compares the places that a Placer computes with those of a table that has none. All methods of a class
// come together, so that the Placer keeps the text of the class.
func TestPlaces(t *testing.T) {
	list := append(synthetic(2000), oddNames...)
	table := tableOf(t, list, func(Identity) Place { return 0 })
	table.findPlaces(len(list), func(i int) uint32 { return uint32(i) })
	var p Placer
	last, plain := "", 0
	for i, m := range list {
		if m.Class != last {
			p.Class(m.Class)
			last = m.Class
		}
		got := p.Place(m.Name, m.Descriptor)
		if got.home() != table.places[i].home() || (got&placePlain != 0) != table.methods[i].plain {
			t.Errorf("%v: place %x, want %x, plain %v", m, got, table.places[i], table.methods[i].plain)
		}
		if got&placePlain != 0 {
			plain++
		}
	}
	if plain < 2000 || plain == len(list) {
		t.Errorf("%d of %d methods are plain", plain, len(list))
	}
}
