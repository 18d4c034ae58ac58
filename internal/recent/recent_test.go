package recent

import "testing"

// TestMap checks that what is asked for stays, what is not goes, and no more is held than two generations.
func TestMap(t *testing.T) {
	var m Map[int, int]
	if _, found := m.Get(1); found {
		t.Error("an empty map has a value")
	}
	const n = 4 * generation
	for i := range n {
		m.Put(i, -i)
		if value, found := m.Get(0); !found || value != 0 {
			t.Fatalf("after %d others, the one that is always asked for is gone", i)
		}
		if len(m.young)+len(m.old) > 2*generation {
			t.Fatalf("%d values are held", len(m.young)+len(m.old))
		}
	}
	if value, found := m.Get(n - 1); !found || value != 1-n {
		t.Errorf("the last is %d, %v", value, found)
	}
	if _, found := m.Get(1); found {
		t.Error("one that nobody asked for is still there")
	}
}
